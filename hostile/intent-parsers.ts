// The parsers of Authorize through the public port: actions, tokens, policies, mandates, schedules, and what stands
// around them.

import { mutateBytes } from './mutate-bytes.ts'
import { mutateJson } from './mutate-json.ts'
import { mutateText } from './mutate-text.ts'
import { hold, type Parser } from './parser.ts'
import type { Dice } from './random.ts'
import { type Header, JSON_BODY, jsonOf, type Web } from './web.ts'
import { requestBytes } from './wire.ts'

// Mutated revocations, policies and readings end what later requests would use.
const INTENT_REFUSALS = [
  'agent_suspended',
  'backend_capability_missing',
  'device_revoked',
  'precondition_failed',
  'session_canary_locked',
  'agent_session_revoked',
]
const ACTION = {
  action_description: 'Order paper',
  action_payload: { amount: '20.00', currency: 'EUR', country: 'DE', items: [{ name: 'A4', count: 5 }] },
}
const CONTEXT = { transaction_amount: '20.00', require_biometric: false, x: 'ab' }
const RULES = {
  rules: [
    { id: 'a', when: { field: 'context.x', op: 'matches', value: '^(?:a|b){2,9}$' }, require: { deny: true } },
    {
      id: 'b',
      when: { not: { all: [{ field: 'time.hour', op: 'between', value: [1, '5'] }] } },
      require: { hardware: true },
    },
    {
      id: 'c',
      shadow: true,
      when: { any: [{ field: 'action_payload.country', op: 'not_in', value: ['DE', 'FR'] }] },
      require: { deny: true },
    },
    {
      id: 'd',
      when: { any: { in: 'action_payload.items', as: 'item', when: { field: 'item.count', op: 'gt', value: 5 } } },
      require: { biometric: true },
    },
  ],
}
const MANDATE = {
  principal: 'owner@example.com',
  description: 'Paper',
  timezone: 'Europe/Berlin',
  constraints: {
    min_amount: '0.01',
    max_amount: '500.00',
    currency: 'EUR',
    action_types: ['purchase'],
    counterparties: ['Paper mill'],
    window: { weekdays: [1, 2, 3, 4, 5], from: '08:00', to: '24:00' },
  },
  budget: { limit: '5000.00', currency: 'EUR', period: 'week', max_count: 1_000_000 },
  not_before: '2026-01-01T00:00:00Z',
  heartbeat: { interval_seconds: 3_600, reactivation_window_seconds: 60 },
}
const SCHEDULE = {
  counterparty: 'Paper mill',
  amount: { type: 'max', value: '20', currency: 'EUR' },
  frequency: 'FREQ=MONTHLY;BYMONTHDAY=1,-1',
  anchor_at: '2026-01-01T00:00:00Z',
  timezone: 'Europe/Berlin',
  occurrences: 12,
}
const FREQUENCIES = [
  SCHEDULE.frequency,
  'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29',
  'FREQ=WEEKLY;BYDAY=MO,FR;INTERVAL=2',
  'monthly',
]

// The keys of RFC 8037 A.2 and RFC 7517 A.1.
const KEYS = [
  { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' },
  {
    kty: 'EC',
    crv: 'P-256',
    x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
    y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
  },
]

interface Sending {
  method?: string
  headers?: readonly Header[]
}

export async function intentParsers(web: Web): Promise<Parser[]> {
  const { auth, ask, post } = web
  const soon = new Date(Date.now() + 86_400_000).toISOString()
  const agent = await ask('/v1/agents', jsonOf({ name: 'Buyer', owner: 'owner@example.com' }))
  const mandate = await ask('/v1/mandates', jsonOf({ ...MANDATE, expires_at: soon }))
  const request = {
    ...ACTION,
    action_type: 'purchase',
    context: CONTEXT,
    agent_session_id: 'hostile',
    device_id: 'phone',
    ttl_seconds: 3_600,
  }
  const issue = async () => (await ask('/v1/intent/authorize', jsonOf(request))).intent_token as string
  const tokens = [await issue(), await issue()]
  const [token = ''] = tokens
  const authorize = [
    jsonOf({ ...request, context_evidence: { page: 'cart' }, audience: 'tool:paper', metadata: { order: 1 } }),
    jsonOf({ ...request, agent_id: agent.agent_id, mandate_id: mandate.mandate_id }),
  ]
  const check = { ...ACTION, context: CONTEXT, execute: false, intent_token: token }
  hold((await ask('/v1/intent/verify', jsonOf(check))).valid === true, 'the token that is mutated is valid')
  const evaluation = {
    subject: { type: 'agent_session', id: 'hostile' },
    action: { name: ACTION.action_description, properties: ACTION.action_payload },
    resource: { type: 'tool', id: 'paper' },
    context: { intent_token: token },
  }

  const parser: Web['parser'] = (name, make, options) =>
    web.parser(name, make, { ...options, refusals: INTENT_REFUSALS })
  const json = (path: string, seeds: readonly object[], dice: Dice, { method = 'POST', headers = [] }: Sending = {}) =>
    requestBytes({ method, path, headers: [auth, JSON_BODY, ...headers] }, mutateJson(seeds.map(jsonOf), dice))
  const posted = (path: string, ...seeds: object[]) => parser(`POST ${path}`, (dice) => json(path, seeds, dice))

  return [
    parser('POST /v1/intent/authorize', (dice) => post('/v1/intent/authorize', mutateJson(authorize, dice), JSON_BODY)),
    posted('/v1/intent/verify', { ...check, receipt: true }, { ...check, execute: true }),
    parser(
      'POST /v1/intent/verify: tokens',
      (dice) => {
        const body = { ...check, intent_token: hostileToken(tokens, dice) }
        return post('/v1/intent/verify', jsonOf(body), JSON_BODY)
      },
      {
        after({ valid }, sent) {
          const isIssued = tokens.some((one) => sent.includes(`"${one}"`))
          hold(valid !== true || isIssued, 'only a token that was issued, byte for byte, is valid')
        },
      },
    ),
    posted('/v1/access/evaluation', evaluation),
    posted('/v1/access/evaluations', {
      evaluations: [evaluation, evaluation],
      options: { evaluations_semantic: 'execute_all' },
    }),
    posted('/v1/intent/challenges', { ...ACTION, agent_session_id: 'hostile', device_id: 'phone' }),
    posted(
      '/v1/intent/revocations',
      { scope: 'session', agent_session_id: 'other', reason: 'lost', expires_at: soon },
      { scope: 'token', jti: 'a', reason: 'lost' },
    ),
    posted('/v1/policy/validate', { document: RULES }),
    posted('/v1/policy/analyze', { document: RULES }),
    posted('/v1/policy/simulate', { document: RULES, input: { ...ACTION, context: CONTEXT } }),
    posted('/v1/policy/replay', { document: RULES, from: '2026-01-01T00:00:00Z', to: soon }),
    posted(
      '/v1/mandates',
      { ...MANDATE, expires_at: soon },
      { ...MANDATE, parent_mandate_id: mandate.mandate_id, expires_at: soon },
    ),
    parser('PATCH /v1/mandates/:id', (dice) =>
      json(
        `/v1/mandates/${mandate.mandate_id}`,
        [
          {
            constraints: { max_amount: 400 },
            instruments: ['card:4242'],
            budget: { limit: 4_000, max_count: 9 },
            expires_at: soon,
          },
        ],
        dice,
        {
          method: 'PATCH',
        },
      ),
    ),
    posted('/v1/schedules', SCHEDULE),
    parser('POST /v1/schedules: frequencies', (dice) =>
      post(
        '/v1/schedules',
        jsonOf({ ...SCHEDULE, frequency: mutateText(FREQUENCIES, dice, 1_000).toWellFormed() }),
        JSON_BODY,
      ),
    ),
    posted(
      '/v1/agents',
      { name: 'Buyer', owner: 'owner@example.com', metadata: { team: 'a' } },
      ...KEYS.map((public_key) => ({ name: 'Buyer', owner: 'owner@example.com', public_key })),
    ),
    parser('POST /v1/agents: coordinates of keys', (dice) => {
      const key = dice.pick(KEYS)
      const x = mutateText([key.x, '', '='], dice, 100).toWellFormed()
      return post('/v1/agents', jsonOf({ name: 'Buyer', owner: 'o', public_key: { ...key, x } }), JSON_BODY)
    }),
    posted('/v1/decisions/verify-chain', { from: 0, limit: 256 }),
    parser('PUT /v1/policy', (dice) =>
      json('/v1/policy', [{ document: RULES }], dice, {
        method: 'PUT',
        headers: [['If-Match', dice.once(4) ? mutateText(['"0"', '*'], dice, 20) : '*']],
      }),
    ),
  ]
}

/** A JWS with another header, payload or signature, or text that only resembles one. */
function hostileToken(tokens: readonly string[], dice: Dice): string {
  const parts = dice.pick(tokens).split('.')
  const at = dice.below(parts.length)
  const part = Buffer.from(parts[at] ?? '', 'base64url')
  switch (dice.below(4)) {
    case 0:
      return mutateText(tokens, dice, 20_000).toWellFormed()
    case 1:
      // Leaves the token unchanged: one in a few must be valid, or nothing is tested.
      return parts.join('.')
    case 2:
      return parts
        .with(at, (at === 2 ? mutateBytes([part], dice) : mutateJson([part], dice)).toString('base64url'))
        .join('.')
    default:
      return parts.with(at, mutateBytes([part, ...tokens.map(Buffer.from)], dice).toString('base64url')).join('.')
  }
}
