// The public application: every route, as one request listener. No I/O of its own.

import Router from '@koa/router'
import type { Span } from '@opentelemetry/api'
import Koa, { type Context } from 'koa'
import { z } from 'zod'
import { notesOf } from '#src/docs/notes.ts'
import { type Prepared, prepare } from '#src/docs/prepared.ts'
import { docsRoutes } from '#src/docs/routes.ts'
import { Failure } from '#src/failure.ts'
import { note, within } from '#src/platform/context.ts'
import { createBudget, DEFAULT_PACE, type Pace } from '#src/platform/http/body.ts'
import { createAuthenticator, type FindKey } from '#src/platform/http/caller.ts'
import { type Answer, type Exchange, publicEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import type { FindEffect, KeepStatus } from '#src/platform/http/idempotency.ts'
import { describeRoutes, type Notes } from '#src/platform/http/openapi.ts'
import { represent } from '#src/platform/http/represent.ts'
import { commonHeaders, problemOf, toFailure } from '#src/platform/http/respond.ts'
import { send } from '#src/platform/http/send.ts'
import { newAccountId } from '#src/platform/ids.ts'
import type { Log } from '#src/platform/log.ts'
import type { Metrics } from '#src/platform/metrics.ts'
import { attributesOf, failSpan, inServerSpan, traceresponseOf } from '#src/platform/trace.ts'

export interface AppDeps {
  /** The features' routes. */
  routes: Route[]
  /** The prose of the API reference; without it, that of the service's own routes. */
  notes?: Notes
  findKey: FindKey
  /** What an earlier request with the same Idempotency-Key did. */
  findEffect: FindEffect
  keepStatus?: KeepStatus
  /** Public keys only; the view drops every other member. */
  jwks: () => Promise<{ keys: object[] }>
  /** The API's public address. */
  baseUrl: string
  log: Log
  metrics: Metrics
  now?: () => Date
  pace?: Pace
  bodyBudgetBytes?: number
}

const UNMATCHED = 'unmatched'

// JSON bodies in memory, over all requests: a dozen of the largest, or thousands of the usual size.
const BODY_BUDGET_BYTES = 256 * 1024 * 1024

export function createApp(deps: AppDeps): Koa {
  const { log, metrics, findEffect, keepStatus, pace = DEFAULT_PACE } = deps
  const baseUrl = deps.baseUrl.replace(/\/+$/, '')
  const routes = allRoutes({ ...deps, baseUrl })
  const identify = createAuthenticator({ findKey: deps.findKey, ...(deps.now === undefined ? {} : { now: deps.now }) })
  const authenticate: typeof identify = async (req) => {
    const caller = await identify(req)
    note({ account: caller.accountId })
    return caller
  }
  const budget = createBudget(deps.bodyBudgetBytes ?? BODY_BUDGET_BYTES)

  // Exact paths only: a proxy's rule or a log entry for /v1/claims must not also match /V1/Claims/.
  const router = new Router({ sensitive: true, strict: true })
  for (const route of inOrder(routes)) {
    router.register(route.path, [route.method], (ctx) => {
      if (!isOfShape(pathOf(ctx), route.path)) return serve(ctx, UNMATCHED, async () => refuseUnmatched(ctx, baseUrl))
      return serve(ctx, route.path, (requestId) => {
        const { req, res, params, querystring: search } = ctx
        return route.handle({ req, res, params, search, requestId, authenticate, findEffect, keepStatus, pace, budget })
      })
    })
  }

  const app = new Koa()
  app.use(router.routes())
  app.use((ctx) => serve(ctx, UNMATCHED, async () => refuseUnmatched(ctx, baseUrl)))
  app.on('error', (error: Error) => log.debug({ err: error }, 'connection'))
  return app

  function serve(ctx: Context, path: string, produce: (requestId: string) => Promise<Answer>): Promise<void> {
    const subject = { requestId: newAccountId('req'), route: `${ctx.method} ${path}` }
    const describe = () => ({
      // The route's path as declared. The paths that strangers request are unbounded, so they name no span.
      name: path === UNMATCHED ? ctx.method : subject.route,
      kind: 'server' as const,
      attributes: { 'http.request.method': ctx.method, 'http.route': path, ...attributesOf(subject) },
    })
    return within(subject, () =>
      inServerSpan(ctx.get('traceparent'), describe, (span) => answer(ctx, path, subject.requestId, span, produce)),
    )
  }

  async function answer(
    ctx: Context,
    path: string,
    requestId: string,
    span: Span,
    produce: (requestId: string) => Promise<Answer>,
  ): Promise<void> {
    const { req, res } = ctx
    const startedAt = performance.now()
    const traceresponse = traceresponseOf(span)
    const finish = async (answer: Answer) => {
      answer.headers = Object.assign(commonHeaders(requestId, ctx.path), answer.headers)
      if (traceresponse !== undefined) answer.headers.traceresponse = traceresponse
      return send(req, res, await represent(req, answer))
    }
    const refuse = (error: unknown): Answer => {
      const failure = toFailure(error)
      logFailure(log, failure)
      span.setAttribute('countersign.code', failure.code)
      return problemOf(failure, { baseUrl, requestId })
    }
    // The client left. An error that the handler then throws is not ours, and the answer has no reader.
    const leave = (error: unknown): Answer => {
      log.debug({ err: error }, 'the client left')
      return { status: 499, headers: {}, text: '' }
    }
    // Koa's own respond supports neither early answers to unfinished uploads nor streams that break.
    ctx.respond = false
    try {
      await finish(
        await produce(requestId).catch((error: unknown) => (req.socket.destroyed ? leave(error) : refuse(error))),
      )
    } catch (error) {
      const problem = refuse(error)
      if (res.headersSent) res.destroy()
      else await finish(problem)
    } finally {
      // 499: the client left before its answer (nginx's number, which dashboards know).
      const status = res.headersSent ? res.statusCode : 499
      const seconds = (performance.now() - startedAt) / 1000
      metrics.observeRequest(ctx.method, path, status, seconds)
      span.setAttribute('http.response.status_code', status)
      if (status >= 500) failSpan(span, String(status))
      if (log.isLevelEnabled('debug')) log.debug({ status, seconds }, 'answered')
    }
  }
}

/** All routes, as mounted and as described: the features' routes and the service's own public ones. */
export function allRoutes({
  routes,
  notes = notesOf([]),
  jwks,
  baseUrl,
}: Pick<AppDeps, 'routes' | 'notes' | 'jwks' | 'baseUrl'>): Route[] {
  const own = [healthRoute(), ...jwksRoutes(jwks), openapiRoute(() => describeRoutes(all, { baseUrl, notes }))]
  const all: Route[] = [...routes, ...own, ...docsRoutes({ routes: () => all, notes, baseUrl })]
  const seen = new Set<string>()
  for (const { method, path } of all) {
    const name = `${method} ${shapeOf(path)}`
    if (seen.has(name)) throw new Error(`two routes answer ${method} ${path}`)
    seen.add(name)
  }
  return all
}

function healthRoute(): Route {
  return publicEndpoint(
    {
      method: 'GET',
      path: '/health',
      operationId: 'getHealth',
      tag: 'Service',
      summary: 'Whether this process answers at all',
      public: 'Load balancers have no key',
      view: z.object({ status: z.literal('ok') }).meta({ id: 'Health' }),
      status: [200],
    },
    async () => ({ status: 'ok' as const }),
  )
}

function jwksRoutes(jwks: AppDeps['jwks']): Route[] {
  const text = { kty: z.string(), crv: z.string(), x: z.string(), y: z.string(), kid: z.string() }
  const marks = { alg: z.string().optional(), use: z.string().optional(), env: z.string().optional() }
  const key = z.object({ ...text, ...marks, family: z.string().optional() }).meta({ id: 'PublicKey' })
  const jwksView = z.object({ keys: z.array(key) }).meta({ id: 'Jwks' })
  return (
    [
      ['/.well-known/jwks.json', 'getJwks'],
      ['/v1/jwks', 'getJwksV1'],
    ] as const
  ).map(([path, operationId]) =>
    publicEndpoint(
      {
        method: 'GET',
        path,
        operationId,
        tag: 'Service',
        summary: 'Public keys that verify our tokens and signed results (RFC 7517)',
        public: 'Every holder of a token or a result must be able to check it',
        view: jwksView,
        status: [200],
      },
      async () => {
        const { keys } = await jwks()
        return reply(200, { keys: keys as z.input<typeof key>[] }, { 'Cache-Control': 'public, max-age=300' })
      },
    ),
  )
}

function openapiRoute(describe: () => object): Route {
  const route = publicEndpoint(
    {
      method: 'GET',
      path: '/v1/openapi.json',
      operationId: 'getOpenapiDocument',
      tag: 'Service',
      summary: 'This interface as an OpenAPI 3.1 document',
      public: 'Client generators have no key',
      view: z.looseObject({ openapi: z.string() }),
      status: [200],
    },
    async () => ({ openapi: '3.1.1' }),
  )
  // Written at the first request: most processes never get one, and it takes a fifth of a second.
  let prepared: Prepared | undefined
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=300' }
  const handle = async ({ req }: Exchange) => {
    prepared ??= prepare(JSON.stringify(describe()), headers)
    return prepared.answer(req.headers['accept-encoding'])
  }
  return { ...route, handle }
}

/** In the router's order: `/v1/claims/batches` must come before `/v1/claims/:id`. */
export function inOrder(routes: readonly Route[]): Route[] {
  // One character per segment, so that any two paths compare in the same order.
  const rank = ({ path }: Route) => path.replaceAll(/[^/]+/g, (segment) => (segment.startsWith(':') ? '1' : '0'))
  return routes.toSorted((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0))
}

interface Layer {
  path: string
  methods: string[]
}

/** Parameters may have different names on different methods. */
function isOfShape(path: string | undefined, other: string): boolean {
  return path === other || (path !== undefined && shapeOf(path) === shapeOf(other))
}

function shapeOf(path: string): string {
  return path.replaceAll(/:[A-Za-z0-9_]+/g, ':')
}

/**
 * The most exact declared path that matches the request's address. It decides the answer, whichever methods it takes.
 */
function pathOf(ctx: Context): string | undefined {
  const layers: Layer[] = ctx.matched ?? []
  return layers[0]?.path
}

// The route table is public, so a wrong address or method is reported before a key is required.
function refuseUnmatched(ctx: Context, baseUrl: string): never {
  const layers: Layer[] = ctx.matched ?? []
  const path = pathOf(ctx)
  const methods = [
    ...new Set(layers.filter((layer) => isOfShape(path, layer.path)).flatMap((layer) => layer.methods)),
  ].sort()
  if (methods.length === 0) {
    throw new Failure(
      'not_found',
      `There is nothing at this address. All addresses are at ${baseUrl}/docs/api-reference.`,
    )
  }
  const allow = methods.join(', ')
  throw new Failure('method_not_allowed', {
    detail: `This address answers ${allow}, and not ${ctx.method}.`,
    headers: { Allow: allow },
  })
}

function logFailure(log: Log, failure: Failure): void {
  const { code, status } = failure
  if (code === 'internal_error') log.error({ code, status, err: failure.cause }, 'internal error')
  else if (status >= 500) log.warn({ code, status, err: failure.cause }, 'unavailable')
  else log.info({ code, status }, 'refused')
}
