import { afterAll, expect, it } from 'vitest'
import { AUDIT_ACTIONS } from '#src/catalogue/audit.ts'
import { PERMISSIONS } from '#src/catalogue/permissions.ts'
import type { Route } from '#src/platform/http/endpoint.ts'
import { makeServices, routesOf } from '../support/services.ts'

// A route declares the action of its entry in the audit log (`audits`), and a test file that gets an answer from it
// fails at its end when the log has no such entry (test/support/service.ts).

const services = makeServices()
const routes = routesOf(services)
afterAll(() => services.close())

/** Administrative routes without an entry, each with the reason. */
const UNAUDITED: Record<string, string> = {
  'POST /v1/auth/sso/link': 'it changes nothing; the login that links is recorded',
  'POST /v1/admin/devices/challenges': 'a challenge changes nothing; the enrollment that answers it is recorded',
  'POST /v1/passkeys/registration-options': 'a challenge changes nothing; the registration that answers it is recorded',
  'POST /v1/account/risk-policy/dry-run': 'it changes nothing',
  'POST /v1/policy/analyze': 'it changes nothing',
  'POST /v1/policy/replay': 'it changes nothing',
  'POST /v1/trace/kill-switch/preview': 'it changes nothing',
  'POST /v1/policy/simulate': 'it changes nothing',
  'POST /v1/policy/validate': 'it changes nothing',
  'POST /v1/decisions/verify-chain': 'it changes nothing',
  'PUT /v1/event-consumers/:name': 'a consumer reports its position as often as it reads',
  'POST /v1/webhook-endpoints/:id/test': 'it changes nothing, and the delivery log of the endpoint shows the ping',
}
// What must not be read unseen.
const READS = [
  'GET /v1/claims/:id/evidence',
  'GET /v1/decisions/:id/explain',
  'GET /v1/media/:id',
  'GET /v1/media/:id/thumbnail',
  'GET /v1/trace/traces/:id/texts',
]

const nameOf = ({ method, path }: Route) => `${method} ${path}`

// Cases and screenings have histories of their own, and their routes other scopes.
function isAdministrative({ method, scope, permission, isAccountLevel }: Route): boolean {
  if (method === 'GET') return false
  const isOfAccount = isAccountLevel === true || (permission !== undefined && !PERMISSIONS[permission].isScoped)
  return scope === 'admin' || isOfAccount
}

it('every administrative route names its entry in the audit log, or the reason for none', () => {
  const silent = routes.filter((route) => isAdministrative(route) && route.audits === undefined).map(nameOf)
  expect(silent.sort()).toEqual(Object.keys(UNAUDITED).sort())
})

it('every route that shows a photo, a video, evidence or the facts of a decision names the entry of the read', () => {
  const recorded = routes.filter(({ method, audits }) => method === 'GET' && audits?.endsWith('.read')).map(nameOf)
  expect(recorded.sort()).toEqual(READS)
  const streaming = routes.filter(({ method, permission, streams }) => method === 'GET' && permission && streams)
  const silent = streaming.filter(({ audits }) => audits === undefined).map(nameOf)
  // Lines of results, without media; one order, as JSON or FHIR; graphs of what the account's own models said.
  expect(silent).toEqual([
    'GET /v1/claims/batches/:id/results',
    'GET /v1/clinical/orders/:id',
    'GET /v1/trace/jobs/:id/manifest',
  ])
})

it('no route names an action that the catalogue lacks', () => {
  const named = routes.flatMap(({ audits }) => audits ?? [])
  expect(named.filter((action) => !Object.hasOwn(AUDIT_ACTIONS, action))).toEqual([])
})
