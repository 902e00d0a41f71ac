// Requests of the honest tenant about its agents, their tokens and their canary readings. What one request makes, later
// ones use.

import { DEFAULT_CLINICAL_POLICY } from '#src/authorize/prescribers/policy-document.ts'
import type { Ask } from './steady.ts'

interface Asking {
  get(path: string): Ask
  send(method: 'POST' | 'PUT' | 'PATCH', path: string, body: unknown, more?: Partial<Ask>): Ask
}

interface Issued {
  jti: string
  intent_token: string
}

const ACTION = {
  action_description: 'Order paper',
  action_payload: { amount: '20.00', currency: 'EUR', country: 'DE' },
}
const SESSION = 'honest-session'
const DEVICE = 'honest-device'
const KILL_SWITCH = { mode: 'monitor', max_age_s: 300, families: [] }
const ANY_VERSION = { headers: { 'content-type': 'application/json', 'If-Match': '*' } }
const NO_LIST = { body: 'LASTNAME,FIRSTNAME\n', headers: { 'content-type': 'text/csv' } }
// What is made and not yet used.
const MOST_KEPT = 40

/** Routes that are not called: they stop the tenant, replace a secret, or need a trip of a canary. */
export const INTENT_NOT_CALLED: readonly string[] = [
  // Jobs of models take seconds of a core each, and what is made of them needs one that has ended; the rest needs a person.
  'DELETE /v1/trace/eval-sets/:id',
  'DELETE /v1/trace/traces/:id/texts',
  'GET /v1/trace/diffs/:id',
  'GET /v1/trace/diffs/:id/report',
  'GET /v1/trace/disclosure-requests/:id',
  'GET /v1/trace/eval-sets/:id',
  'GET /v1/trace/jobs/:id',
  'GET /v1/trace/jobs/:id/manifest',
  'GET /v1/trace/shares/:id',
  'GET /v1/trace/shares/:id/views',
  'GET /v1/trace/shares/view',
  'GET /v1/trace/traces/:id/texts',
  'GET /v1/trace/traces/:id/tokens',
  'POST /v1/trace/diffs',
  'POST /v1/trace/diffs/:id/cancel',
  'POST /v1/trace/disclosure-requests/:id/deny',
  'POST /v1/trace/disclosure-requests/:id/grant',
  'POST /v1/trace/disclosure-requests/:id/revoke',
  'POST /v1/trace/eval-sets',
  'POST /v1/trace/jobs',
  'POST /v1/trace/jobs/:id/cancel',
  'POST /v1/trace/kill-switch/preview',
  'POST /v1/trace/models/:id/graphs',
  'POST /v1/trace/shares',
  'PATCH /v1/trace/shares/:id',
  'POST /v1/trace/shares/:id/disclosure-requests',
  'POST /v1/trace/shares/:id/disclosure-requests/:request_id/verify',
  'POST /v1/trace/shares/:id/revoke',
  'POST /v1/trace/traces/:id/interventions',
  'GET /v1/trace/session-locks/:id',
  // These need an import, a screening or a review, which jobs make.
  'GET /v1/clinical/exclusion-imports/:id',
  'GET /v1/clinical/exclusion-screenings/:id/changes',
  'GET /v1/clinical/exclusion-reviews/:id',
  'POST /v1/clinical/exclusion-reviews/:id/decision',
  // An order is signed by the passkey of a prescriber.
  'POST /v1/clinical/orders',
  'GET /v1/clinical/orders/:id',
  'PATCH /v1/clinical/orders/:id',
  'POST /v1/clinical/orders/:id/challenge',
  'POST /v1/clinical/orders/:id/sign',
  'POST /v1/clinical/orders/:id/cosign',
  'POST /v1/clinical/orders/:id/decline',
  'POST /v1/clinical/orders/:id/cancel',
  // A prescriber is a user of the account.
  'POST /v1/clinical/prescribers',
  'GET /v1/clinical/prescribers/:id',
  'PATCH /v1/clinical/prescribers/:id',
  'POST /v1/clinical/prescribers/:id/suspend',
  'POST /v1/clinical/prescribers/:id/reinstate',
  'GET /v1/clinical/prescribers/:id/facts',
  'POST /v1/clinical/prescribers/:id/facts',
  'POST /v1/clinical/prescribers/:id/facts/:fact_id/end',
  'POST /v1/clinical/prescribers/:id/facts/challenge',
  'POST /v1/clinical/prescribers/:id/facts/confirm',
  'POST /v1/intent/resume',
  'POST /v1/intent/stop',
  'POST /v1/policy/webhook-secret/rotate',
  'POST /v1/trace/session-locks/:id/clear',
]

const READS = [
  '/.well-known/authzen-configuration',
  '/.well-known/svc-configuration',
  '/v1/agents',
  '/v1/agents/sessions',
  '/v1/clinical/exclusion-imports',
  '/v1/clinical/exclusion-lists/leie',
  '/v1/clinical/exclusion-lists/sam',
  '/v1/clinical/exclusion-reviews',
  '/v1/clinical/exclusion-screenings',
  '/v1/clinical/formulary',
  '/v1/clinical/formulary/entries',
  '/v1/clinical/orders',
  '/v1/clinical/policy',
  '/v1/clinical/policy/versions',
  '/v1/clinical/prescribers',
  '/v1/intent/revocations',
  '/v1/intent/stop',
  '/v1/intents',
  '/v1/mandates',
  '/v1/policy/webhook-secret',
  '/v1/schedules',
  '/v1/schedules/cycles',
  '/share',
  '/v1/trace/diffs',
  '/v1/trace/disclosure-requests',
  '/v1/trace/eval-sets',
  '/v1/trace/jobs',
  '/v1/trace/kill-switch',
  '/v1/trace/models',
  '/v1/trace/session-locks',
  '/v1/trace/shares',
  '/v1/trace/traces',
]

export function intentRequests({ get, send }: Asking): Record<string, () => Ask | undefined> {
  const issued: Issued[] = []
  const executed: string[] = []
  const revocations: string[] = []
  const traces: string[] = []
  const agents: string[] = []
  const suspended: string[] = []
  const schedules: string[] = []
  const paused: string[] = []
  const mandates: string[] = []
  const sessions: { agentId: string; id: string }[] = []

  const keep = <Item>(items: Item[], item: Item) => void (items.push(item) > MOST_KEPT && items.shift())
  const idOf = (member: string) => (body: Buffer) => String(JSON.parse(body.toString())[member])
  const withFirst =
    <Item>(items: readonly Item[], make: (item: Item) => Ask) =>
    () => {
      const [item] = items
      return item === undefined ? undefined : make(item)
    }
  const withLast =
    <Item>(items: Item[], make: (item: Item) => Ask) =>
    () => {
      const item = items.pop()
      return item === undefined ? undefined : make(item)
    }
  const evaluation = ({ intent_token }: Issued) => ({
    subject: { type: 'agent_session', id: SESSION },
    action: { name: ACTION.action_description, properties: ACTION.action_payload },
    resource: { type: 'tool', id: 'paper' },
    context: { intent_token },
  })
  const evaluationsAt = (path: string) => ({
    [`POST ${path}/evaluation`]: withFirst(issued, (one) => send('POST', `${path}/evaluation`, evaluation(one))),
    [`POST ${path}/evaluations`]: withFirst(issued, (one) =>
      send('POST', `${path}/evaluations`, { evaluations: [evaluation(one), evaluation(one)] }),
    ),
  })

  return {
    ...Object.fromEntries(READS.map((path) => [`GET ${path}`, () => get(path)])),

    'GET /v1/trace/models/:id': () => get('/v1/trace/models/countersign-tiny'),
    'POST /v1/trace/inferences': () =>
      send('POST', '/v1/trace/inferences', { prompt: 'List the open tickets', max_tokens: 4 }),

    'POST /v1/agents': () =>
      send(
        'POST',
        '/v1/agents',
        { name: 'Buyer', owner: 'owner@example.com' },
        {
          after: (body) => keep(agents, idOf('agent_id')(body)),
        },
      ),
    'GET /v1/agents/:id': withFirst(agents, (id) => get(`/v1/agents/${id}`)),
    'PATCH /v1/agents/:id': withFirst(agents, (id) => send('PATCH', `/v1/agents/${id}`, { name: 'Buyer of paper' })),
    'POST /v1/agents/:id/suspend': withLast(agents, (id) =>
      send('POST', `/v1/agents/${id}/suspend`, { reason: 'review' }, { after: () => keep(suspended, id) }),
    ),
    'POST /v1/agents/:id/unsuspend': withLast(suspended, (id) =>
      send('POST', `/v1/agents/${id}/unsuspend`, {}, { headers: {}, body: '' }),
    ),
    'POST /v1/agents/:id/retire': withLast(suspended, (id) =>
      send('POST', `/v1/agents/${id}/retire`, { reason: 'replaced' }),
    ),
    'POST /v1/agents/:id/sessions': withFirst(agents, (agentId) =>
      send(
        'POST',
        `/v1/agents/${agentId}/sessions`,
        {},
        {
          after: (body) => keep(sessions, { agentId, id: idOf('agent_session_id')(body) }),
        },
      ),
    ),
    'GET /v1/agents/:id/sessions': withFirst(agents, (id) => get(`/v1/agents/${id}/sessions`)),
    'GET /v1/agents/:id/sessions/:session': withFirst(sessions, ({ agentId, id }) =>
      get(`/v1/agents/${agentId}/sessions/${id}`),
    ),
    'POST /v1/agents/:id/sessions/:session/end': withLast(sessions, ({ agentId, id }) =>
      send('POST', `/v1/agents/${agentId}/sessions/${id}/end`, {}, { headers: {}, body: '' }),
    ),

    'POST /v1/schedules': () =>
      send('POST', '/v1/schedules', scheduleOf(new Date()), {
        after: (body) => keep(schedules, idOf('schedule_id')(body)),
      }),
    'GET /v1/schedules/:id': withFirst(schedules, (id) => get(`/v1/schedules/${id}`)),
    'GET /v1/schedules/:id/preview': withFirst(schedules, (id) => get(`/v1/schedules/${id}/preview`)),
    'POST /v1/schedules/:id/pause': withLast(schedules, (id) =>
      send('POST', `/v1/schedules/${id}/pause`, {}, { headers: {}, body: '', after: () => keep(paused, id) }),
    ),
    'POST /v1/schedules/:id/resume': withFirst(paused, (id) =>
      // A schedule that was resumed before is active.
      send('POST', `/v1/schedules/${id}/resume`, {}, { headers: {}, body: '', status: [200, 409] }),
    ),
    'POST /v1/schedules/:id/cancel': withLast(paused, (id) =>
      send('POST', `/v1/schedules/${id}/cancel`, {}, { headers: {}, body: '' }),
    ),

    'POST /v1/intent/authorize': () => {
      const body = { ...ACTION, agent_session_id: SESSION, device_id: DEVICE, audience: 'tool:paper' }
      return send('POST', '/v1/intent/authorize', body, {
        after: (answer) => keep(issued, JSON.parse(answer.toString())),
      })
    },
    'POST /v1/intent/challenges': () =>
      send('POST', '/v1/intent/challenges', { ...ACTION, agent_session_id: SESSION, device_id: DEVICE }),
    'POST /v1/intent/verify': withFirst(issued, ({ jti, intent_token }) =>
      send(
        'POST',
        '/v1/intent/verify',
        { ...ACTION, intent_token },
        {
          after: () => void (executed.includes(jti) || keep(executed, jti)),
        },
      ),
    ),
    ...evaluationsAt('/v1/access'),
    ...evaluationsAt('/access/v1'),
    'GET /v1/intent/status/:jti': withFirst(issued, ({ jti }) => get(`/v1/intent/status/${jti}`)),
    'GET /v1/intent/status-lists/:id': withFirst(issued, ({ intent_token }) => get(statusListOf(intent_token))),
    'GET /v1/intent/executions/:jti': withFirst(executed, (jti) => get(`/v1/intent/executions/${jti}`)),
    'POST /v1/intent/executions/:jti/outcome': withLast(executed, (jti) =>
      // The token may be verified again meanwhile, and its outcome is recorded once.
      send('POST', `/v1/intent/executions/${jti}/outcome`, { status: 'succeeded' }, { status: [200, 409] }),
    ),
    'POST /v1/intent/revocations': withLast(issued, ({ jti }) =>
      send(
        'POST',
        '/v1/intent/revocations',
        { scope: 'token', jti, reason: 'cancelled' },
        {
          after: (body) => keep(revocations, idOf('revocation_id')(body)),
        },
      ),
    ),
    'GET /v1/intent/revocations/:id': withFirst(revocations, (id) => get(`/v1/intent/revocations/${id}`)),

    'POST /v1/mandates': () =>
      send('POST', '/v1/mandates', mandate(), { after: (body) => keep(mandates, idOf('mandate_id')(body)) }),
    'GET /v1/mandates/:id': withFirst(mandates, (id) => get(`/v1/mandates/${id}`)),
    'GET /v1/mandates/:id/spend': withFirst(mandates, (id) => get(`/v1/mandates/${id}/spend`)),
    'PATCH /v1/mandates/:id': withFirst(mandates, (id) =>
      send('PATCH', `/v1/mandates/${id}`, { constraints: { max_amount: 500 } }),
    ),
    'POST /v1/mandates/:id/heartbeat': withFirst(mandates, (id) =>
      send('POST', `/v1/mandates/${id}/heartbeat`, {}, { headers: {}, body: '' }),
    ),
    'POST /v1/mandates/:id/revoke': withLast(mandates, (id) =>
      send('POST', `/v1/mandates/${id}/revoke`, { reason: 'over' }),
    ),

    'GET /v1/clinical/policy/versions/:version': () => get('/v1/clinical/policy/versions/0'),
    'PUT /v1/clinical/policy': () =>
      send('PUT', '/v1/clinical/policy', { document: DEFAULT_CLINICAL_POLICY }, ANY_VERSION),
    // Their jobs refuse the files, so that no list of the tenant grows.
    'POST /v1/clinical/exclusion-lists/leie/import': () =>
      send('POST', '/v1/clinical/exclusion-lists/leie/import', {}, NO_LIST),
    'POST /v1/clinical/exclusion-lists/sam/import': () =>
      send('POST', '/v1/clinical/exclusion-lists/sam/import', {}, NO_LIST),
    'PUT /v1/clinical/formulary': () =>
      send(
        'PUT',
        '/v1/clinical/formulary',
        {},
        {
          body: 'rxcui,schedule\n1049502,II\n',
          headers: { ...ANY_VERSION.headers, 'content-type': 'text/csv' },
        },
      ),
    'PUT /v1/trace/kill-switch': () => send('PUT', '/v1/trace/kill-switch', { document: KILL_SWITCH }, ANY_VERSION),
    'POST /v1/trace/check': () => {
      const readings = [{ family: 'exfiltration', score: 0.1 }]
      const reading = { readings, reading_at: new Date().toISOString(), canary_set: 'default-v1' }
      return send(
        'POST',
        '/v1/trace/check',
        { ...reading, agent_session_id: SESSION },
        {
          after: (body) => keep(traces, idOf('trace_id')(body)),
        },
      )
    },
    'GET /v1/trace/traces/:id': withFirst(traces, (id) => get(`/v1/trace/traces/${id}`)),
  }
}

const scheduleOf = (anchor: Date) => ({
  counterparty: 'Paper mill',
  amount: { type: 'max', value: '20', currency: 'EUR' },
  frequency: 'FREQ=MONTHLY;BYMONTHDAY=1,-1',
  anchor_at: new Date(Date.UTC(anchor.getUTCFullYear(), anchor.getUTCMonth())).toISOString(),
  timezone: 'UTC',
  occurrences: 12,
})
function mandate() {
  return {
    principal: 'owner@example.com',
    description: 'Paper',
    constraints: { max_amount: 500, currency: 'EUR' },
    budget: { limit: 5_000, currency: 'EUR', period: 'month', max_count: 1_000 },
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    heartbeat: { interval_seconds: 3_600 },
  }
}

/** The path of the status list that a token names. */
function statusListOf(token: string): string {
  const [, payload = ''] = token.split('.')
  const { status } = JSON.parse(Buffer.from(payload, 'base64url').toString())
  return new URL(status.status_list.uri).pathname
}
