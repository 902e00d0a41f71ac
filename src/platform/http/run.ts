// The steps of every request, in an order that decides what a caller learns: authentication, authorization, validation,
// then the feature, then its answer through the declared view.

import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { Failure } from '#src/failure.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import type { Hold } from '#src/platform/fair-budget.ts'
import { failpoint } from '#src/platform/jobs/failpoint.ts'
import { decodeBase64, freeInline } from '#src/platform/owned-bytes.ts'
import {
  bodyTypesOf,
  checkContentType,
  DEFAULT_BODY_BYTES,
  DEFAULT_BODY_VALUES,
  hasBody,
  isOfMediaType,
  JSON_TYPES,
  openBody,
  readBytes,
  readJson,
} from './body.ts'
import {
  type Answer,
  type Caller,
  type Exchange,
  type Handlers,
  isReply,
  type Request,
  type Route,
} from './endpoint.ts'
import { createFingerprintTap, fingerprintInSlices, fingerprintOf } from './fingerprint.ts'
import { checkSameRequest, createIdempotencyKey, type IdempotencyKey, parseIdempotencyKey } from './idempotency.ts'
import { prefersLines, streamPages } from './list-lines.ts'
import { createLongStrings, type LongStrings } from './long-strings.ts'
import { NDJSON_TYPE } from './ndjson.ts'
import type { Page } from './page.ts'
import { invalidRequest, type Parsed, parseInSlices, parseQuery, parseWith, pointerOf } from './validate.ts'
import { watchAccess } from './watch-access.ts'

// How old the decision about access may be when a handler starts, and when the answer of one that waited is sent.
const ACCESS_AGE_MS = 2_000

/** Runs one request through its route. */
export async function runRoute(route: Route, handlers: Handlers, exchange: Exchange): Promise<Answer> {
  const { req, params: named } = exchange
  const visit = { req, route, params: named }
  const caller = route.public === undefined ? await exchange.authenticate(visit) : undefined
  const isMetered = caller !== undefined && route.meters !== undefined
  const overCap = isMetered ? await exchange.findOverCap?.(caller) : undefined
  const startedAt = performance.now()
  try {
    const recheck = caller && (() => exchange.identify(visit))
    const answer = await runAdmitted(route, handlers, exchange, { caller, overCap, recheck })
    // What happened while a caller waited is for those who still may know it. Other changes have ended by then, some of
    // them the access itself: their answer is sent.
    const mayWait = route.method === 'GET' || route.waits === true
    if (mayWait && performance.now() - startedAt > ACCESS_AGE_MS) await recheckAnswer(answer, recheck)
    return recheck !== undefined && 'stream' in answer ? { ...answer, recheck } : answer
  } catch (error) {
    throw overCap !== undefined && comesAfterCap(error) ? overCap : error
  }
}

async function recheckAnswer(answer: Answer, recheck: (() => Promise<Caller>) | undefined): Promise<void> {
  try {
    await recheck?.()
  } catch (error) {
    if ('stream' in answer) answer.stream.destroy()
    throw error
  }
}

// What is wrong with the request itself is no longer of interest when it is refused anyway. What is wrong with its
// Idempotency-Key is: a repeat of what was counted before may still be answered.
function comesAfterCap(error: unknown): boolean {
  return (
    error instanceof Failure && error.status < 500 && error.status !== 402 && !error.code.startsWith('idempotency_')
  )
}

interface Admitted {
  caller: Caller | undefined
  overCap: Failure | undefined
  recheck: (() => Promise<Caller>) | undefined
}

async function runAdmitted(
  route: Route,
  handlers: Handlers,
  exchange: Exchange,
  { caller, overCap, recheck }: Admitted,
): Promise<Answer> {
  const params = parseParams(route, exchange.params)
  const query = parseQuery(route.query, exchange.search, { ignoresUnknown: route.ignoresUnknownQuery === true })
  const key = readIdempotencyKey(route, exchange, caller)

  if (route.rawBody !== undefined) {
    checkContentType(exchange.req, route.rawBody.contentTypes)
    if (!query.ok || !key.ok) throw findingsOf(query, key)
    const tap = key.value === undefined || route.rawBody.isHashed ? undefined : createFingerprintTap(key.value)
    const stream = openBody(exchange.req, exchange.res, {
      maxBytes: maxBytesOf(route),
      pace: exchange.pace,
      kept: route.rawBody.isKept === true ? 'lines' : 'nothing',
      tap,
    })
    // A refusal may come before the stream has a reader; the stream's error then has no handler.
    stream.on('error', () => {})
    const endWatch = watchAccess(recheck, (refusal) => stream.destroy(refusal))
    try {
      const request = requestOf(exchange, caller, {
        params,
        query: query.value,
        body: undefined,
        key: key.value,
        stream,
        overCap,
      })
      return await answerOnce(route, handlers, request, exchange)
    } finally {
      endWatch()
      stream.destroy()
    }
  }

  const startedAt = performance.now()
  const hold = exchange.openHold(caller)
  try {
    const { json, digest, body, isLarge, taken } = await readBody(route, exchange, hold)
    // A body may arrive for minutes: a user who was removed meanwhile changes nothing any more.
    const isSlow = performance.now() - startedAt > ACCESS_AGE_MS
    const current = isSlow ? ((await recheck?.()) ?? caller) : caller
    if (!query.ok || !key.ok || !body.ok) {
      freeInline(taken?.values() ?? [])
      throw findingsOf(query, key, body)
    }
    key.value?.bodyIs(digest ?? (isLarge ? await fingerprintInSlices(json, taken) : fingerprintOf(json, taken)))
    const said = { params, query: query.value, body: body.value, key: key.value, taken, overCap }
    return await answerOnce(route, handlers, requestOf(exchange, current, said), exchange)
  } finally {
    hold.release()
  }
}

// If the request is a repeat, the replay takes precedence over every error on the way.
async function answerOnce(
  route: Route,
  { handler, replay }: Handlers,
  request: Request<unknown, unknown, unknown>,
  { findEffect, keepStatus, search }: Exchange,
): Promise<Answer> {
  const { idempotencyKey: key, overCap } = request
  try {
    if (overCap !== undefined && route.knowsRepeats !== true) throw overCap
    const answer =
      route.isList && prefersLines(request.header('accept'))
        ? await answerLines(route, handler, request, search)
        : answerOf(route, await handler(request))
    if (key !== undefined && replay !== undefined && answer.status !== key.status) {
      // If this fails, the request has still succeeded: a replay then only has the older status.
      await keepStatus?.(key, answer.status).catch(() => {})
    }
    if (route.method !== 'GET') failpoint('web:answering')
    return key?.isReplayed === true ? markReplayed(answer) : answer
  } catch (error) {
    const isRefusal = error instanceof Failure && error.status < 500
    if (!isRefusal || key?.fingerprint() === undefined || replay === undefined) throw error
    const effect = await findEffect(key)
    if (effect !== undefined) checkSameRequest(key, effect)
    if (effect === undefined || effect.subject === null) throw error
    const shown = answerOf(route, await replay(request, effect.subject, effect.status))
    return markReplayed({ ...shown, status: effect.status })
  }
}

async function answerLines(
  route: Route,
  handler: Handlers['handler'],
  request: Request<unknown, unknown, unknown>,
  search: string,
): Promise<Answer> {
  const stream = await streamPages(request.query as Record<string, unknown>, {
    schema: route.query,
    isLimited: new URLSearchParams(search).has('limit'),
    readPage: async (query) => {
      // Derived and not copied: some members are getters, one of which throws where there is no body.
      const returned = await handler(Object.assign(Object.create(request), { query }))
      return viewedBy(route, isReply(returned) ? returned.body : returned) as Page<unknown>
    },
  })
  return { status: 200, stream, headers: { 'Content-Type': NDJSON_TYPE, Vary: 'Accept', ...cachingOf(route, 200) } }
}

function markReplayed(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, 'Idempotent-Replayed': 'true' } }
}

function readIdempotencyKey(
  route: Route,
  { req, params }: Exchange,
  caller: Caller | undefined,
): Parsed<IdempotencyKey | undefined> {
  if (!route.isIdempotent || caller === undefined) return { ok: true, value: undefined }
  const parsed = parseIdempotencyKey(headerOf(req, 'idempotency-key'))
  if (!parsed.ok) return parsed
  if (parsed.value === undefined) return { ok: true, value: undefined }
  const { accountId, environment, principal } = caller
  const name = `${route.method} ${route.path}`
  const status = route.status[0] ?? 200
  const place = { scope: { accountId, environment }, principal, route: name, path: params, status }
  return { ok: true, value: createIdempotencyKey(parsed.value, place) }
}

function findingsOf(...parts: Parsed<unknown>[]): Failure {
  return invalidRequest(parts.flatMap((one) => (one.ok ? [] : one.errors)))
}

interface Said {
  params: unknown
  query: unknown
  body: unknown
  key: IdempotencyKey | undefined
  stream?: Readable
  overCap: Failure | undefined
  taken?: LongStrings['taken'] | undefined
}

// The handler of a public route has no `caller` in its type, and gets none here.
function requestOf(
  { req, res, requestId, clientAddress, countAgain }: Exchange,
  caller: Caller | undefined,
  { params, query, body, key, stream, taken, overCap }: Said,
): Request<unknown, unknown, unknown> {
  let signal: AbortSignal | undefined
  return {
    caller: caller as Caller,
    params,
    query,
    body,
    idempotencyKey: key,
    overCap,
    countAgain: () => countAgain(caller as Caller),
    requestId,
    get origin() {
      return { ip: clientAddress(req), userAgent: headerOf(req, 'user-agent') ?? null }
    },
    header: (name) => headerOf(req, name.toLowerCase()),
    bytesOf: (base64) => taken?.get(base64) ?? decodeBase64(base64),
    get stream() {
      if (stream === undefined) throw new Error('only a route that declares rawBody has a stream')
      return stream
    },
    // Most handlers never wait, and an AbortController per request costs time.
    get signal() {
      signal ??= signalOf(res)
      return signal
    },
  }
}

function headerOf(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
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

// A parameter that the path's pattern can't check (a chunk's index) names no resource when it is wrong.
function parseParams(route: Route, params: Record<string, string>): unknown {
  const hasNul = Object.values(params).some((value) => value.includes('\0'))
  const parsed = route.params === undefined ? undefined : parseWith(route.params, params, 'body')
  const errors = parsed?.ok === false ? parsed.errors : []
  if (hasNul || errors.length > 0) {
    const forms = errors.map(({ pointer, detail }) => `its ${pointer.slice(1)} ${detail}`)
    const why = forms.length === 0 ? '' : `: ${forms.join(', and ')}`
    throw new Failure('not_found', `This address does not exist${why}.`)
  }
  return parsed?.ok === true ? parsed.value : params
}

interface ReadBody {
  json: Json | undefined
  /** SHA-256 of a body that is not read as JSON. */
  digest?: Buffer
  body: Parsed
  /** Work on it must be cut into slices. */
  isLarge: boolean
  taken?: LongStrings['taken'] | undefined
}

async function readBody(route: Route, { req, res, pace }: Exchange, hold: Hold): Promise<ReadBody> {
  const none = { json: undefined, isLarge: false }
  if (route.body === undefined) return { ...none, body: { ok: true, value: undefined } }
  if (!hasBody(req)) return { ...none, body: parseWith(route.body, undefined, 'body') }
  const { otherBody } = route
  checkContentType(req, bodyTypesOf(route), route.wrongContentType)
  if (otherBody !== undefined && isOfMediaType(req, otherBody.contentType)) {
    const bytes = await readBytes(req, res, { maxBytes: maxBytesOf(route), pace, hold })
    return { ...none, digest: sha256(bytes), body: { ok: true, value: await otherBody.read(bytes) } }
  }
  const longStrings = route.inlineBytes === undefined ? undefined : createLongStrings()
  const { value, isLarge } = await readJson(req, res, {
    maxBytes: maxBytesOf(route),
    maxValues: route.maxBodyValues ?? DEFAULT_BODY_VALUES,
    pace,
    hold,
    longStrings,
  })
  const json = longStrings?.place(value, route.inlineBytes ?? '') ?? value
  const body = isLarge ? await parseInSlices(route.body, json) : parseWith(route.body, json, 'body')
  return { json, body, isLarge, taken: longStrings?.taken }
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
  const { status, body, headers, cookies } = isReply(returned)
    ? returned
    : { status: route.status[0] ?? 200, body: returned, headers: undefined, cookies: undefined }
  if (!route.status.includes(status)) throw new Error(`${route.method} ${route.path} does not declare status ${status}`)
  const given = { ...cachingOf(route, status), ...headers }
  // RFC 9110 15.3.5: a 204 has no body.
  if (status === 204) return { status, headers: given, text: '', ...(cookies === undefined ? {} : { cookies }) }
  return {
    status,
    headers: {
      'Content-Type': (route.jsonTypes ?? JSON_TYPES)[0],
      ...(route.isList && { Vary: 'Accept' }),
      ...given,
    },
    text: JSON.stringify(viewedBy(route, body)),
    ...(cookies === undefined ? {} : { cookies }),
  }
}

function viewedBy(route: Route, body: unknown): unknown {
  const viewed = route.view.safeParse(body)
  if (viewed.success) return viewed.data
  const places = viewed.error.issues.slice(0, 10).map((issue) => `${pointerOf(issue.path, 'body')} ${issue.code}`)
  throw new Error(`the answer of ${route.method} ${route.path} does not fit its view: ${places.join(', ')}`)
}

// A caller may store what it read, and must revalidate it each time: see represent.ts.
function cachingOf(route: Route, status: number): Record<string, string> {
  return route.method === 'GET' && route.public === undefined && status === 200
    ? { 'Cache-Control': 'private, no-cache' }
    : {}
}

function isStreamReply(value: unknown): value is { status: number; stream: Readable; headers: Record<string, string> } {
  return typeof value === 'object' && value !== null && 'stream' in value && value.stream instanceof Readable
}
