import { afterAll, describe, expect, it } from 'vitest'
import { allRoutes } from '#src/app.ts'
import { describeRoutes } from '#src/platform/http/openapi.ts'
import { inOrder } from '#src/platform/http/routing.ts'
import { makeServices, routesOf } from '../support/services.ts'

// The complete table of scopes per route: a changed scope changes one line here and one line there.
const SCOPES: Record<string, string> = {
  'POST /v1/media': 'attest',
  'GET /v1/media/:id': 'verify',
  'GET /v1/media/:id/metadata': 'verify',
  'GET /v1/media/:id/thumbnail': 'verify',
  'POST /v1/claims/attest': 'attest',
  'POST /v1/claims/attest/sessions': 'attest',
  'GET /v1/claims/attest/sessions': 'attest',
  'GET /v1/claims/attest/sessions/:id': 'attest',
  'PUT /v1/claims/attest/sessions/:id/chunks/:index': 'attest',
  'GET /v1/attestations/:id': 'attest',
  'POST /v1/attestations/:id/retry': 'attest',
  'POST /v1/claims/batches': 'attest',
  'GET /v1/claims/batches': 'attest',
  'GET /v1/claims/batches/:id': 'attest',
  'GET /v1/claims/batches/:id/rejected': 'attest',
  'GET /v1/claims/batches/:id/results': 'attest',
  'POST /v1/claims/batches/:id/cancel': 'attest',
  'GET /v1/claims': 'verify',
  'GET /v1/claims/:id': 'verify',
  'GET /v1/claims/:id/attestations': 'verify',
  'GET /v1/claims/:id/timeline': 'verify',
  'GET /v1/claims/:id/evidence': 'verify',
  'DELETE /v1/claims/:id': 'admin',
  'GET /v1/claims/:id/duplicates': 'verify',
  'POST /v1/cases': 'escalate',
  'GET /v1/analytics/claims': 'verify',
  'GET /v1/analytics/factors': 'escalate',
  'GET /v1/analytics/decisions': 'admin',
  'GET /v1/cases': 'escalate',
  'GET /v1/cases/counts': 'escalate',
  'GET /v1/cases/:id': 'escalate',
  'GET /v1/cases/:id/entries': 'escalate',
  'POST /v1/cases/:id/transitions': 'escalate',
  'POST /v1/cases/:id/notes': 'escalate',
  'PATCH /v1/cases/:id': 'escalate',
  'POST /v1/admin/devices': 'admin',
  'POST /v1/admin/devices/batches': 'admin',
  'GET /v1/admin/devices': 'admin',
  'GET /v1/admin/devices/:id': 'admin',
  'PATCH /v1/admin/devices/:id': 'admin',
  'POST /v1/admin/devices/:id/revoke': 'admin',
  'POST /v1/admin/devices/challenges': 'admin',
  'POST /v1/admin/devices/:id/attestation': 'admin',
  'POST /v1/admin/devices/attestations': 'admin',
  'GET /v1/admin/devices/counts': 'admin',
  'GET /v1/admin/devices/:id/history': 'admin',
  'POST /v1/admin/root-cas': 'admin',
  'GET /v1/admin/root-cas': 'admin',
  'GET /v1/admin/root-cas/:id': 'admin',
  'DELETE /v1/admin/root-cas/:id': 'admin',
  'POST /v1/admin/c2pa-anchors': 'admin',
  'GET /v1/admin/c2pa-anchors': 'admin',
  'GET /v1/admin/c2pa-anchors/:id': 'admin',
  'DELETE /v1/admin/c2pa-anchors/:id': 'admin',
  'POST /v1/media/screen': 'screen',
  'GET /v1/media/screenings': 'screen',
  'GET /v1/media/screenings/:id': 'screen',
  'POST /v1/media/screenings/batches': 'screen',
  'GET /v1/media/screenings/batches': 'screen',
  'GET /v1/media/screenings/batches/:id': 'screen',
  'GET /v1/media/screenings/batches/:id/rejected': 'screen',
  'POST /v1/agents': 'intent',
  'GET /v1/agents': 'intent',
  'GET /v1/agents/:id': 'intent',
  'PATCH /v1/agents/:id': 'escalate',
  'POST /v1/agents/:id/suspend': 'escalate',
  'POST /v1/agents/:id/unsuspend': 'escalate',
  'POST /v1/agents/:id/retire': 'escalate',
  'GET /v1/agents/sessions': 'intent',
  'POST /v1/agents/:id/sessions': 'intent',
  'GET /v1/agents/:id/sessions': 'intent',
  'GET /v1/agents/:id/sessions/:session': 'intent',
  'POST /v1/agents/:id/sessions/:session/end': 'intent',
  'GET /v1/trace/models': 'intent',
  'GET /v1/trace/models/:id': 'intent',
  'GET /v1/trace/session-locks': 'escalate',
  'GET /v1/trace/session-locks/:id': 'escalate',
  'POST /v1/trace/session-locks/:id/clear': 'escalate',
  'GET /v1/trace/kill-switch': 'admin',
  'PUT /v1/trace/kill-switch': 'admin',
  'POST /v1/trace/kill-switch/preview': 'admin',
  'POST /v1/trace/check': 'intent',
  'POST /v1/trace/models/:id/graphs': 'intent',
  'POST /v1/trace/diffs': 'intent',
  'GET /v1/trace/diffs': 'intent',
  'GET /v1/trace/diffs/:id': 'intent',
  'GET /v1/trace/diffs/:id/report': 'intent',
  'POST /v1/trace/diffs/:id/cancel': 'intent',
  'POST /v1/trace/eval-sets': 'intent',
  'GET /v1/trace/eval-sets': 'intent',
  'GET /v1/trace/eval-sets/:id': 'intent',
  'DELETE /v1/trace/eval-sets/:id': 'intent',
  'POST /v1/trace/inferences': 'intent',
  'GET /v1/trace/traces': 'intent',
  'GET /v1/trace/traces/:id': 'intent',
  'GET /v1/trace/traces/:id/tokens': 'intent',
  'GET /v1/trace/traces/:id/texts': 'escalate',
  'DELETE /v1/trace/traces/:id/texts': 'admin',
  'POST /v1/trace/traces/:id/interventions': 'intent',
  'POST /v1/trace/jobs': 'intent',
  'GET /v1/trace/jobs': 'intent',
  'GET /v1/trace/jobs/:id': 'intent',
  'GET /v1/trace/jobs/:id/manifest': 'intent',
  'POST /v1/trace/jobs/:id/cancel': 'intent',
  'POST /v1/trace/shares': 'intent',
  'GET /v1/trace/shares': 'intent',
  'GET /v1/trace/shares/:id': 'intent',
  'POST /v1/trace/shares/:id/revoke': 'intent',
  'GET /v1/trace/shares/:id/views': 'intent',
  'GET /v1/trace/disclosure-requests': 'escalate',
  'GET /v1/trace/disclosure-requests/:id': 'escalate',
  'POST /v1/trace/disclosure-requests/:id/grant': 'escalate',
  'POST /v1/trace/disclosure-requests/:id/deny': 'escalate',
  'POST /v1/trace/disclosure-requests/:id/revoke': 'escalate',
  'GET /v1/account': 'admin',
  'PATCH /v1/account': 'admin',
  'GET /v1/account/invoices': 'admin',
  'GET /v1/account/plan': 'admin',
  'GET /v1/account/usage': 'admin',
  'GET /v1/account/screening': 'admin',
  'PUT /v1/account/screening': 'admin',
  'GET /v1/account/risk-policy': 'admin',
  'PUT /v1/account/risk-policy': 'admin',
  'GET /v1/account/risk-policy/versions': 'admin',
  'GET /v1/account/risk-policy/versions/:version': 'admin',
  'POST /v1/account/risk-policy/dry-run': 'admin',
  'GET /v1/account/reevaluations': 'admin',
  'GET /v1/account/reevaluations/:id': 'admin',
  'GET /v1/attestations/:id/results': 'attest',
  'GET /v1/auth/sso/config': 'admin',
  'PUT /v1/auth/sso/config': 'admin',
  'DELETE /v1/auth/sso/config': 'admin',
  'POST /v1/auth/sso/config/verify-domain': 'admin',
  'POST /v1/auth/scim-tokens': 'admin',
  'GET /v1/auth/scim-tokens': 'admin',
  'DELETE /v1/auth/scim-tokens/:id': 'admin',
  'POST /v1/account/keys': 'admin',
  'GET /v1/account/keys': 'admin',
  'GET /v1/account/keys/:id': 'admin',
  'PATCH /v1/account/keys/:id': 'admin',
  'DELETE /v1/account/keys/:id': 'admin',
  'POST /v1/account/keys/:id/revoke': 'admin',
  'POST /v1/account/keys/:id/rotate': 'admin',
  'GET /v1/decisions': 'admin',
  'GET /v1/decisions/:id': 'verify',
  'GET /v1/decisions/:id/explain': 'admin',
  'GET /v1/decisions/:id/proof': 'admin',
  'GET /v1/decisions/checkpoints': 'admin',
  'GET /v1/decisions/consistency': 'admin',
  'GET /v1/decisions/export': 'admin',
  'POST /v1/decisions/verify-chain': 'admin',
  'GET /v1/analytics/mandate-spend': 'verify',
  'GET /v1/analytics/approvals': 'verify',
  'GET /v1/analytics/unexecuted': 'verify',
  'GET /v1/account/audit': 'admin',
  'GET /v1/account/audit/:id': 'admin',
  'GET /v1/account/audit/export': 'admin',
  'GET /v1/account/products': 'admin',
  'PUT /v1/account/products': 'admin',
  'POST /v1/webhook-endpoints': 'admin',
  'GET /v1/webhook-endpoints': 'admin',
  'GET /v1/webhook-endpoints/:id': 'admin',
  'PATCH /v1/webhook-endpoints/:id': 'admin',
  'DELETE /v1/webhook-endpoints/:id': 'admin',
  'POST /v1/webhook-endpoints/:id/rotate-secret': 'admin',
  'GET /v1/webhook-endpoints/:id/stats': 'admin',
  'POST /v1/webhook-endpoints/:id/test': 'admin',
  'GET /v1/webhook-endpoints/:id/deliveries': 'admin',
  'GET /v1/webhook-endpoints/:id/deliveries/:delivery_id': 'admin',
  'POST /v1/webhook-endpoints/:id/deliveries/:delivery_id/redeliver': 'admin',
  'POST /v1/webhook-endpoints/:id/recover': 'admin',
  'GET /v1/webhook-endpoints/:id/recoveries': 'admin',
  'GET /v1/webhook-endpoints/:id/recoveries/:recovery_id': 'admin',
  'GET /v1/webhook-deliveries': 'admin',
  'GET /v1/webhook-deliveries/:delivery_id': 'admin',
  'GET /v1/webhook-deliveries/export': 'admin',
  'GET /v1/events': 'admin',
  'GET /v1/events/pull': 'admin',
  'GET /v1/events/:id': 'admin',
  'GET /v1/event-consumers': 'admin',
  'GET /v1/event-consumers/:name': 'admin',
  'PUT /v1/event-consumers/:name': 'admin',
  'DELETE /v1/event-consumers/:name': 'admin',
  'GET /v1/policy/webhook-secret': 'admin',
  'POST /v1/policy/webhook-secret/rotate': 'admin',
  'POST /v1/org/users/invite': 'admin',
  'GET /v1/org/invites': 'admin',
  'GET /v1/org/invites/:id': 'admin',
  'POST /v1/org/invites/:id/resend': 'admin',
  'DELETE /v1/org/invites/:id': 'admin',
  'GET /v1/org/users': 'admin',
  'GET /v1/org/users/:id': 'admin',
  'PATCH /v1/org/users/:id': 'admin',
  'PATCH /v1/trace/shares/:id': 'intent',
  'DELETE /v1/org/users/:id': 'admin',
  'GET /v1/policy': 'admin',
  'PUT /v1/policy': 'admin',
  'POST /v1/policy/validate': 'admin',
  'POST /v1/policy/analyze': 'admin',
  'POST /v1/policy/simulate': 'admin',
  'POST /v1/policy/replay': 'admin',
  'GET /v1/policy/shadow-report': 'admin',
  'GET /v1/policy/versions': 'admin',
  'GET /v1/policy/versions/:version': 'admin',
  'POST /v1/policy/rollback': 'admin',
  'POST /v1/intent/authorize': 'intent',
  'POST /v1/intent/challenges': 'intent',
  'POST /v1/intent/verify': 'verify',
  'GET /v1/intent/executions/:jti': 'verify',
  'POST /v1/intent/executions/:jti/outcome': 'verify',
  'POST /access/v1/evaluation': 'verify',
  'POST /access/v1/evaluations': 'verify',
  'POST /v1/access/evaluation': 'verify',
  'POST /v1/access/evaluations': 'verify',
  'GET /v1/intents': 'intent',
  'POST /v1/intent/revocations': 'intent',
  'GET /v1/intent/revocations': 'intent',
  'GET /v1/intent/revocations/:id': 'intent',
  'GET /v1/intent/status/:jti': 'verify',
  'POST /v1/clinical/prescribers': 'admin',
  'GET /v1/clinical/prescribers': 'admin',
  'GET /v1/clinical/prescribers/:id': 'admin',
  'PATCH /v1/clinical/prescribers/:id': 'admin',
  'POST /v1/clinical/prescribers/:id/suspend': 'admin',
  'POST /v1/clinical/prescribers/:id/reinstate': 'admin',
  'GET /v1/clinical/prescribers/:id/facts': 'admin',
  'POST /v1/clinical/prescribers/:id/facts': 'admin',
  'POST /v1/clinical/prescribers/:id/facts/:fact_id/end': 'admin',
  'GET /v1/clinical/incident-reports': 'admin',
  'GET /v1/clinical/incident-reports/:day': 'admin',
  'POST /v1/clinical/orders': 'intent',
  'GET /v1/clinical/orders': 'intent',
  'GET /v1/clinical/orders/:id': 'intent',
  'PATCH /v1/clinical/orders/:id': 'intent',
  'POST /v1/clinical/orders/:id/challenge': 'intent',
  'POST /v1/clinical/orders/:id/sign': 'intent',
  'POST /v1/clinical/orders/:id/cosign': 'escalate',
  'POST /v1/clinical/orders/:id/decline': 'escalate',
  'POST /v1/clinical/orders/:id/cancel': 'intent',
  'GET /v1/clinical/exclusion-lists/leie': 'admin',
  'POST /v1/clinical/exclusion-lists/leie/import': 'admin',
  'GET /v1/clinical/exclusion-lists/sam': 'admin',
  'POST /v1/clinical/exclusion-lists/sam/import': 'admin',
  'GET /v1/clinical/exclusion-imports': 'admin',
  'GET /v1/clinical/exclusion-imports/:id': 'admin',
  'GET /v1/clinical/exclusion-screenings': 'admin',
  'GET /v1/clinical/exclusion-screenings/:id/changes': 'admin',
  'GET /v1/clinical/exclusion-reviews': 'admin',
  'GET /v1/clinical/exclusion-reviews/:id': 'admin',
  'POST /v1/clinical/exclusion-reviews/:id/decision': 'admin',
  'GET /v1/clinical/policy': 'admin',
  'PUT /v1/clinical/policy': 'admin',
  'GET /v1/clinical/policy/versions': 'admin',
  'GET /v1/clinical/policy/versions/:version': 'admin',
  'GET /v1/clinical/formulary': 'admin',
  'GET /v1/clinical/formulary/entries': 'admin',
  'PUT /v1/clinical/formulary': 'admin',
  'POST /v1/mandates': 'escalate',
  'GET /v1/mandates': 'intent',
  'GET /v1/mandates/:id': 'intent',
  'GET /v1/mandates/:id/spend': 'intent',
  'PATCH /v1/mandates/:id': 'intent',
  'POST /v1/mandates/:id/revoke': 'intent',
  'POST /v1/mandates/:id/heartbeat': 'intent',
  'POST /v1/intent/stop': 'escalate',
  'POST /v1/intent/resume': 'escalate',
  'GET /v1/intent/stop': 'escalate',
  'POST /v1/schedules': 'escalate',
  'GET /v1/schedules': 'intent',
  'GET /v1/schedules/cycles': 'intent',
  'GET /v1/schedules/:id': 'intent',
  'GET /v1/schedules/:id/preview': 'intent',
  'POST /v1/schedules/:id/pause': 'intent',
  'POST /v1/schedules/:id/resume': 'escalate',
  'POST /v1/schedules/:id/cancel': 'intent',
  'GET /v1/approvals': 'intent',
  'GET /v1/approvals/:id': 'intent',
  'POST /v1/approvals/:id/challenge': 'escalate',
  'POST /v1/approvals/:id/approve': 'escalate',
  'POST /v1/approvals/:id/deny': 'escalate',
}
// What a key may know of itself, whatever its scopes, and what shows each key what its scopes let it read.
const ANY_KEY = ['GET /v1/auth/session', 'GET /v1/overview', 'GET /v1/search']
// No key may do this, whatever its scopes.
const SESSIONS_ONLY: string[] = [
  'DELETE /v1/account/closure',
  'DELETE /v1/auth/session',
  'DELETE /v1/auth/sessions',
  'DELETE /v1/auth/sessions/:id',
  'DELETE /v1/org/users/me',
  'DELETE /v1/passkeys/:id',
  'GET /v1/account/closure',
  'GET /v1/account/exports',
  'GET /v1/account/exports/:id',
  'GET /v1/account/exports/:id/download',
  'GET /v1/auth/sessions',
  'GET /v1/passkeys',
  'GET /v1/passkeys/:id',
  'PATCH /v1/passkeys/:id',
  'POST /v1/account/closure',
  'POST /v1/account/export',
  'POST /v1/auth/sso/link',
  'POST /v1/clinical/prescribers/:id/facts/challenge',
  'POST /v1/clinical/prescribers/:id/facts/confirm',
  'POST /v1/passkeys/register',
  'POST /v1/passkeys/registration-options',
  'PUT /v1/account/plan',
]
const PUBLIC = [
  'GET /',
  'GET /.well-known/authzen-configuration',
  'GET /.well-known/jwks.json',
  'GET /.well-known/svc-configuration',
  'GET /app',
  'GET /app/*path',
  'GET /app/assets/:name',
  'GET /approve',
  'GET /docs',
  'GET /docs/:folder/:name',
  'GET /docs/:name',
  'GET /docs/api-reference',
  'GET /docs/assets/:name',
  'GET /docs/decisions',
  'GET /docs/errors',
  'GET /docs/events',
  'GET /docs/roles',
  'GET /docs/search.json',
  'GET /health',
  'GET /login',
  'GET /login/invite',
  'GET /login/link',
  'GET /login/sso',
  'GET /orders',
  'GET /passkeys',
  'GET /share',
  'GET /v1/auth/sso/start',
  'GET /v1/changelog',
  'GET /v1/event-types',
  'GET /v1/event-types/:type',
  'GET /v1/intent/status-lists/:id',
  'GET /v1/jwks',
  'GET /v1/openapi.json',
  'GET /v1/reason-codes',
  'GET /v1/roles',
  'GET /v1/trace/shares/view',
  'POST /v1/auth/magic-link',
  'POST /v1/auth/magic-link/verify',
  'POST /v1/auth/sso/callback',
  'POST /v1/org/invites/accept',
  'POST /v1/trace/shares/:id/disclosure-requests',
  'POST /v1/trace/shares/:id/disclosure-requests/:request_id/verify',
]

describe('the routes', () => {
  // Parts connect when they are used; describing routes uses none.
  const services = makeServices()
  const routes = allRoutes({
    routes: routesOf(services),
    jwks: async () => ({ keys: [] }),
    baseUrl: 'http://localhost',
  })
  const scoped = () => routes.filter(({ scope }) => scope !== undefined)
  afterAll(() => services.close())

  it('have exactly one scope each, or take any key, sessions or directories only, or are public for a stated reason', () => {
    const open = routes.filter((route) => route.public !== undefined)
    const ofAnyKey = routes.filter(({ takesAnyKey }) => takesAnyKey === true)
    const ofSessions = routes.filter(
      (route) => route.scope === undefined && route.permission !== undefined && route.takesAnyKey !== true,
    )
    const ofDirectories = routes.filter(({ takesDirectory }) => takesDirectory === true)
    expect(scoped().length + open.length + ofSessions.length + ofAnyKey.length + ofDirectories.length).toBe(
      routes.length,
    )
    // Tokens of directories call SCIM, and nothing else does.
    expect(ofDirectories).toEqual(routes.filter(({ path }) => path.startsWith('/v1/scim/')))
    expect(ofAnyKey.map((route) => `${route.method} ${route.path}`)).toEqual(ANY_KEY)
    expect(ofSessions.map((route) => `${route.method} ${route.path}`).sort()).toEqual(SESSIONS_ONLY)
    expect(Object.fromEntries(scoped().map((route) => [`${route.method} ${route.path}`, route.scope]))).toEqual(SCOPES)
    expect(open.map((route) => `${route.method} ${route.path}`).sort()).toEqual(PUBLIC)
    for (const route of open) expect(route.public?.length, route.path).toBeGreaterThan(10)
  })

  it('name the permission of sessions, beside the scope of keys', () => {
    expect(scoped().filter(({ permission }) => permission === undefined)).toEqual([])
  })

  it('are reached, each by its own address', () => {
    const shadows = (first: string, later: string) => {
      const [left, right] = [first.split('/'), later.split('/')]
      return left.length === right.length && left.every((one, index) => one.startsWith(':') || one === right[index])
    }
    const ordered = inOrder(routes)
    const hidden = ordered.flatMap(({ method, path }, index) =>
      ordered
        .slice(index + 1)
        .filter((later) => later.method === method && shadows(path, later.path))
        .map((later) => `${method} ${later.path} is hidden by ${path}`),
    )
    expect(hidden).toEqual([])
  })

  it('support Idempotency-Key wherever they change something', async () => {
    const { paths } = await describeRoutes(routes, { baseUrl: 'http://localhost' })
    for (const { method, path, isIdempotent, ...route } of routes) {
      // Directories send no such header.
      if (route.public !== undefined || route.takesDirectory === true) continue
      expect(isIdempotent, `${method} ${path}`).toBe(method !== 'GET')
      const operation = paths[path.replaceAll(/:([A-Za-z_]+)/g, '{$1}')]?.[method.toLowerCase()]
      expect(JSON.stringify(operation).includes('IdempotencyKey"'), `${method} ${path}`).toBe(method !== 'GET')
    }
  })

  it('keep account data from publishable keys, which many callers share', () => {
    const owned =
      /^\/v1\/(account|org|policy|webhook-endpoints|webhook-deliveries|events|event-consumers|auth\/sso\/config)(\/|$)/
    for (const route of scoped().filter(({ path }) => owned.test(path))) {
      expect(route.needsAccountKey, `${route.method} ${route.path}`).toBe(true)
    }
  })

  it('are all in the OpenAPI document, with a summary and a shape for each answer', async () => {
    interface Operation {
      summary?: string
      responses?: Record<string, unknown>
    }
    const { paths } = await describeRoutes(routes, { baseUrl: 'http://localhost' })
    for (const route of routes.filter(({ isPage }) => isPage !== true)) {
      const path = route.path.replaceAll(/:([A-Za-z_]+)/g, '{$1}')
      const operation: Operation | undefined = paths[path]?.[route.method.toLowerCase()]
      expect(operation?.summary, `${route.method} ${path}`).toBeTruthy()
      for (const status of route.status) expect(Object.keys(operation?.responses ?? {})).toContain(String(status))
    }
  })
})
