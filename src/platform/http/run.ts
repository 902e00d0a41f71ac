// The steps of every request, in the order that decides what a caller learns: who, may they, what do they say, then the
// feature, then its answer through the declared view.

import { Readable } from 'node:stream'
import { Failure } from '#src/failure.ts'
import { checkContentType, DEFAULT_BODY_BYTES, hasBody, openBody, readJson } from './body.ts'
import { authorize } from './caller.ts'
import {
  type Answer,
  type Caller,
  type ErasedHandler,
  type Exchange,
  isReply,
  type Request,
  type Route,
} from './endpoint.ts'
import { invalidRequest, type Parsed, parseQuery, parseWith, pointerOf } from './validate.ts'

const JSON_TYPES = ['application/json']

/** Runs one request through its route. */
export async function runRoute(route: Route, handler: ErasedHandler, exchange: Exchange): Promise<Answer> {
  const caller = route.public === undefined ? await exchange.authenticate(exchange.req) : undefined
  if (caller !== undefined) authorize(route, caller, exchange.params)
  const params = parseParams(route, exchange.params)
  const query = parseQuery(route.query, exchange.search)

  if (route.rawBody !== undefined) {
    checkContentType(exchange.req, route.rawBody.contentTypes)
    if (!query.ok) throw invalidRequest(query.errors)
    const stream = openBody(exchange.req, exchange.res, { maxBytes: maxBytesOf(route), pace: exchange.pace })
    // A refusal may come before anyone reads it; its error then belongs to nobody.
    stream.on('error', () => {})
    try {
      const request = requestOf(exchange, caller, params, query.value, undefined, stream)
      return answerOf(route, await handler(request))
    } finally {
      stream.destroy()
    }
  }

  const { body, heldBytes } = await readBody(route, exchange)
  try {
    if (!query.ok || !body.ok) throw invalidRequest([query, body].flatMap((one) => (one.ok ? [] : one.errors)))
    const request = requestOf(exchange, caller, params, query.value, body.value, undefined)
    return answerOf(route, await handler(request))
  } finally {
    exchange.budget.give(heldBytes)
  }
}

// A public route's handler has no `caller` in its type, and finds none here.
function requestOf(
  { req, res, requestId }: Exchange,
  caller: Caller | undefined,
  params: unknown,
  query: unknown,
  body: unknown,
  stream: Readable | undefined,
): Request<unknown, unknown, unknown> {
  let signal: AbortSignal | undefined
  return {
    caller: caller as Caller,
    params,
    query,
    body,
    requestId,
    header(name) {
      const value = req.headers[name.toLowerCase()]
      return Array.isArray(value) ? value.join(', ') : value
    },
    get stream() {
      if (stream === undefined) throw new Error('only a route that declares rawBody has a stream')
      return stream
    },
    // Most handlers wait for nothing, and an AbortController per request is not free.
    get signal() {
      signal ??= signalOf(res)
      return signal
    },
  }
}

function signalOf(res: Exchange['res']): AbortSignal {
  const controller = new AbortController()
  if (res.destroyed) controller.abort()
  else {
    res.once('close', () => {
      if (!res.writableFinished) controller.abort()
    })
  }
  return controller.signal
}

// What a path's own pattern can't express (a chunk's index) names no resource when it is wrong.
function parseParams(route: Route, params: Record<string, string>): unknown {
  const hasNul = Object.values(params).some((value) => value.includes('\0'))
  const parsed = route.params === undefined ? undefined : route.params.safeParse(params)
  if (hasNul || parsed?.success === false) throw new Failure('not_found', 'There is nothing at this address.')
  return parsed === undefined ? params : parsed.data
}

async function readBody(
  route: Route,
  { req, res, pace, budget }: Exchange,
): Promise<{ body: Parsed; heldBytes: number }> {
  if (route.body === undefined) return { body: { ok: true, value: undefined }, heldBytes: 0 }
  if (!hasBody(req)) return { body: parseWith(route.body, undefined, 'body'), heldBytes: 0 }
  checkContentType(req, JSON_TYPES)
  const { value, heldBytes } = await readJson(req, res, { maxBytes: maxBytesOf(route), pace, budget })
  try {
    return { body: parseWith(route.body, value, 'body'), heldBytes }
  } catch (error) {
    budget.give(heldBytes)
    throw error
  }
}

function maxBytesOf(route: Route): number {
  return route.maxBodyBytes ?? DEFAULT_BODY_BYTES
}

function answerOf(route: Route, returned: unknown): Answer {
  if (isStreamReply(returned)) {
    if (route.streams === undefined || !route.status.includes(returned.status)) {
      returned.stream.destroy()
      throw new Error(`${route.method} ${route.path} does not declare the stream or the status ${returned.status}`)
    }
    const { status, stream, headers } = returned
    return { status, stream, headers: { 'Content-Type': route.streams.contentType, ...headers } }
  }
  const { status, body, headers } = isReply(returned)
    ? returned
    : { status: route.status[0] ?? 200, body: returned, headers: undefined }
  if (!route.status.includes(status)) throw new Error(`${route.method} ${route.path} does not declare status ${status}`)
  const viewed = route.view.safeParse(body)
  if (!viewed.success) {
    const places = viewed.error.issues.slice(0, 10).map((issue) => `${pointerOf(issue.path, 'body')} ${issue.code}`)
    throw new Error(`the answer of ${route.method} ${route.path} does not fit its view: ${places.join(', ')}`)
  }
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...headers },
    text: JSON.stringify(viewed.data),
  }
}

function isStreamReply(value: unknown): value is { status: number; stream: Readable; headers: Record<string, string> } {
  return typeof value === 'object' && value !== null && 'stream' in value && value.stream instanceof Readable
}
