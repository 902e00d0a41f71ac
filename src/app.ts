// The public application: mounts the routes on Koa and orders the middleware. No I/O and no product of its own.

import Koa from 'koa'
import type { RefusalAudit } from '#src/account/audit/refusals.ts'
import { createDashboardFiles, type DashboardFiles } from '#src/dashboard/files.ts'
import { dashboardRoutes } from '#src/dashboard/routes.ts'
import { eventTypeRoutes } from '#src/docs/event-types.ts'
import { notesOf } from '#src/docs/notes.ts'
import { docsRoutes } from '#src/docs/routes.ts'
import { Failure } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import { createFairBudget } from '#src/platform/fair-budget.ts'
import { createAnswering, UNMATCHED } from '#src/platform/http/answering.ts'
import {
  createAuthenticator,
  type FindDirectory,
  type FindKey,
  type FindSession,
  type Visit,
} from '#src/platform/http/caller.ts'
import { addressBlock, createClientAddress } from '#src/platform/http/client-address.ts'
import type { Caller, FindOverCap, Route } from '#src/platform/http/endpoint.ts'
import type { FindEffect, KeepStatus } from '#src/platform/http/idempotency.ts'
import type { RequestLimits } from '#src/platform/http/limits.ts'
import { DEFAULT_MINIMUM_RATE, type MinimumRate } from '#src/platform/http/minimum-rate.ts'
import { describeRoutes, type Notes } from '#src/platform/http/openapi.ts'
import type { Refused } from '#src/platform/http/principal.ts'
import {
  type AnswerRoute,
  collectionOf,
  createRouting,
  inOrder,
  refuseUnmatched,
  shapeOf,
} from '#src/platform/http/routing.ts'
import type { SessionCookies } from '#src/platform/http/session-cookie.ts'
import type { Log } from '#src/platform/log.ts'
import type { Metrics } from '#src/platform/metrics.ts'
import { serviceRoutes } from './service-routes.ts'

export interface AppDeps {
  /** The features' routes. */
  routes: Route[]
  /** The prose of the API reference; without it, that of the service's own routes. */
  notes?: Notes
  findKey: FindKey
  findSession?: FindSession
  findDirectory?: FindDirectory | undefined
  cookies: SessionCookies
  /** Addresses and ranges of the proxies whose X-Forwarded-For counts. */
  trustedProxies?: readonly string[]
  /** Without it, requests are not counted. */
  limits?: RequestLimits | undefined
  /** Without it no month is used up. */
  findOverCap?: FindOverCap
  /** Records refusals of acts that have entries in the audit log. Without it none is recorded. */
  recordRefusal?: RefusalAudit['recordAct']
  /** What an earlier request with the same Idempotency-Key did. */
  findEffect: FindEffect
  keepStatus?: KeepStatus
  /** Public keys only; the view drops every other member. */
  jwks: () => Promise<{ keys: object[] }>
  /** The API's public address. */
  baseUrl: string
  /** Without it, those of dashboard/dist. */
  dashboard?: DashboardFiles
  log: Log
  metrics: Metrics
  now?: () => Date
  pace?: MinimumRate
  bodyBudgetBytes?: number
}

// JSON bodies in memory, over all requests: a dozen of the largest, or thousands of the usual size. One account gets half.
const BODY_BUDGET_BYTES = 256 * 1024 * 1024

export function createApp(deps: AppDeps): Koa {
  const { log, metrics, recordRefusal, findOverCap, findEffect, keepStatus, limits, pace = DEFAULT_MINIMUM_RATE } = deps
  const baseUrl = deps.baseUrl.replace(/\/+$/, '')
  const routes = allRoutes({ ...deps, baseUrl })
  const clientAddress = createClientAddress(deps.trustedProxies ?? [], createHopWarning(log))
  const identify = createAuthenticator({
    findKey: deps.findKey,
    findSession: deps.findSession,
    findDirectory: deps.findDirectory,
    cookies: deps.cookies,
    clientAddress,
    ...(limits === undefined ? {} : { countGuess: limits.countGuess }),
    ...(deps.now === undefined ? {} : { now: deps.now }),
  })
  const count = async (caller: Caller, route: Pick<Route, 'isEmergency'>, headers: Record<string, string>) => {
    if (limits === undefined) return undefined
    const { headers: limitHeaders, refusal } = await limits.admit(caller, route)
    Object.assign(headers, limitHeaders)
    return refusal
  }
  const authenticate = async (visit: Visit, headers: Record<string, string>) => {
    const caller = await identify(visit)
    note({ account: caller.accountId })
    const refusal = await count(caller, visit.route, headers)
    if (refusal !== undefined) throw refusal
    return caller
  }
  const budget = createFairBudget(deps.bodyBudgetBytes ?? BODY_BUDGET_BYTES)

  const answer = createAnswering({ baseUrl, log, metrics })

  const routing = createRouting()
  for (const route of inOrder(routes)) {
    const run: AnswerRoute = (ctx, params) => {
      const { req, res, querystring: search } = ctx
      let known: Refused | undefined
      const onKnown = (by: Refused) => {
        known = by
      }
      const handle = (requestId: string, headers: Record<string, string>) =>
        route.handle({
          req,
          res,
          params,
          search,
          requestId,
          clientAddress,
          authenticate: (visit) => authenticate({ ...visit, onKnown }, headers),
          identify,
          countAgain: (caller) => count(caller, route, headers),
          findOverCap,
          findEffect,
          keepStatus,
          pace,
          openHold: (caller) => budget.open(caller?.accountId ?? addressBlock(clientAddress(req))),
        })
      if (route.audits === undefined || recordRefusal === undefined) {
        return answer(ctx, route.path, handle, route.errorForm)
      }
      const record = async (requestId: string, headers: Record<string, string>) => {
        try {
          return await handle(requestId, headers)
        } catch (error) {
          if (known !== undefined && isRefusedAct(error)) await recordRefusal(known, route, error.code)
          throw error
        }
      }
      return answer(ctx, route.path, record, route.errorForm)
    }
    routing.add(route, run)
  }

  const app = new Koa()
  app.use(routing.middleware)
  // Addresses below a collection of another protocol have errors in its form, whether a route answers them or not.
  const forms = new Map(
    routes.flatMap(({ path, errorForm: form }) => (form ? [[collectionOf(path), form] as const] : [])),
  )
  app.use((ctx) => answer(ctx, UNMATCHED, async () => refuseUnmatched(ctx, baseUrl), forms.get(collectionOf(ctx.path))))
  app.on('error', (error: Error) => log.debug({ err: error }, 'connection error'))
  return app
}

// A closed or suspended account gets no entries: it knows why it is refused, and may be erased meanwhile.
function isRefusedAct(error: unknown): error is Failure {
  if (!(error instanceof Failure)) return false
  return error.code === 'session_required' || (error.status === 403 && error.code !== 'account_suspended')
}

const HOP_WARNING_PERIOD_MS = 60_000
const MAX_HOP_LENGTH = 100

// Limits, allow lists and the audit log are about the proxy then, and not about the caller: an operator must hear of it.
function createHopWarning(log: Log): (hop: string, proxy: string) => void {
  let warnedAt = Number.NEGATIVE_INFINITY
  return (hop, proxy) => {
    if (performance.now() - warnedAt < HOP_WARNING_PERIOD_MS) return
    warnedAt = performance.now()
    const detail = `${proxy} sent ${JSON.stringify(hop.slice(0, MAX_HOP_LENGTH))}`
    log.warn({ detail }, 'a trusted proxy sent no address in X-Forwarded-For: its own counts as the caller')
  }
}

/** All routes, as mounted and as described: the features' routes and the service's own public ones. */
export function allRoutes({
  routes,
  notes = notesOf([]),
  jwks,
  baseUrl,
  dashboard = createDashboardFiles(),
}: Pick<AppDeps, 'routes' | 'notes' | 'jwks' | 'baseUrl' | 'dashboard'>): Route[] {
  const own = serviceRoutes({ jwks, baseUrl, describe: () => describeRoutes(all, { baseUrl, notes }) })
  const all: Route[] = [
    ...routes,
    ...own,
    ...eventTypeRoutes(notes),
    ...docsRoutes({ routes: () => all, notes, baseUrl }),
    ...dashboardRoutes(dashboard),
  ]
  const seen = new Set<string>()
  for (const { method, path } of all) {
    const name = `${method} ${shapeOf(path)}`
    if (seen.has(name)) throw new Error(`two routes answer ${method} ${path}`)
    seen.add(name)
  }
  return all
}
