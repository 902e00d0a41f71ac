// Facts of a valid verification, and for each reason the smallest change that makes it true alone. Changes of different
// reasons touch different members, so that any of them can be true at once.

import type { ApprovalFacts } from '#src/authorize/approvals/facts.ts'
import type { VerifyFacts } from '#src/authorize/intents/facts.ts'
import type { VerifyReason } from '#src/authorize/intents/reasons.ts'
import type { MandateFacts, MandateLevel } from '#src/authorize/mandates/judge.ts'
import type { BoundOrder, ClinicianFacts, OrderFacts, OrderRule } from '#src/authorize/orders/judge.ts'
import { compilePolicy } from '#src/authorize/policy/compile.ts'
import { documentSchema, type PolicyRule } from '#src/authorize/policy/document.ts'
import type { ScheduleFacts } from '#src/authorize/schedules/judge.ts'

type Change = (facts: VerifyFacts) => VerifyFacts

interface Cause {
  reason: VerifyReason
  /** Of several causes of one reason. */
  name?: string
  change?: Change
  rule?: Pick<PolicyRule, 'require'>
}

const at = '2026-11-20T15:11:04.310Z'

export const VALID_FACTS: VerifyFacts = {
  at,
  token: {
    jti: 'jti_test_01m7x7p3s2e6ts0a9n3v8wq5hc',
    expires_at: '2026-11-20T15:16:00.000Z',
    audience: null,
    action_hash: 'a',
    payload_hash: 'p',
    context_hash: 'c',
    trace_id: 'trc_test_01m7x7p3s2e6ts0a9n3v8wq5hd',
    reading_hash: 'r',
    agent_id: 'agt_test_01m7x7p3s2e6ts0a9n3v8wq5he',
    agent_session_id: 'session',
    device_id: 'device',
    mandate_id: null,
    schedule_id: null,
    order_id: null,
    order_hash: null,
    biometric: false,
    single_use: false,
  },
  token_problem: null,
  request: {
    action_description: 'Pay',
    action_payload: { amount: '100', currency: 'EUR', counterparty: 'Example Garage' },
    action_hash: 'a',
    payload_hash: 'p',
    context_hash: null,
    context: null,
    trace_id: null,
    agent_session_id: null,
    device_id: null,
    audience: null,
    counterparty: null,
    execute: true,
  },
  authorized: { action_type: null, context: null },
  stop: null,
  revocation: null,
  lock: null,
  agent: { id: 'agt_test_01m7x7p3s2e6ts0a9n3v8wq5he', status: 'active', attributes: {} },
  device: { id: 'device', tier: 'none', enrolled: false },
  session: { id: 'session', status: 'unregistered' },
  reading_hash: 'r',
  canary: null,
  canary_trip: null,
  execution: null,
  mandate: null,
  schedule: null,
  order: null,
  approvals: [],
  answers: { webhooks: {}, canaries: {}, approvals: {} },
}

const token =
  (members: Partial<NonNullable<VerifyFacts['token']>>): Change =>
  (facts) => ({
    ...facts,
    token: facts.token && { ...facts.token, ...members },
  })
const request =
  (members: Partial<VerifyFacts['request']>): Change =>
  (facts) => ({
    ...facts,
    request: { ...facts.request, ...members },
  })
const read =
  (members: Partial<VerifyFacts>): Change =>
  (facts) => ({ ...facts, ...members })
const context =
  (members: Record<string, number | boolean>): Change =>
  (facts) => ({
    ...facts,
    request: { ...facts.request, context: { ...facts.request.context, ...members } },
  })
const answer =
  (kind: 'webhooks' | 'canaries', rule: string, given: unknown): Change =>
  (facts) => ({
    ...facts,
    answers: { ...facts.answers, [kind]: { ...facts.answers[kind], [rule]: given } },
  })

const LATER = '2026-11-21T00:00:00.000Z'
const EARLIER = '2026-11-20T15:00:00.000Z'

export const LEVEL: MandateLevel = {
  mandate_id: 'mnd_test_1',
  status: 'active',
  revoked_at: null,
  expires_at: LATER,
  timezone: 'UTC',
  heartbeat: null,
  constraints: {},
  budget: { limit: '1000', currency: 'EUR', period: 'day' },
  period: { start: '2026-11-20', end: '2026-11-21' },
  spent: '0',
  count: 0,
  local: { weekday: 5, time: '16:11' },
}
export const MANDATE: MandateFacts = {
  mandate_id: 'mnd_test_1',
  levels: [LEVEL],
  agent_id: null,
  pointers: {},
  attributes: { id: 'mnd_test_1' },
}
export const SCHEDULE: ScheduleFacts = {
  schedule_id: 'sch_test_1',
  status: 'active',
  counterparty: 'Example Garage',
  amount: { type: 'max', value: '1000', currency: 'EUR' },
  occurrences: 12,
  used: 1,
  cycle: { number: 2, opens_at: EARLIER, closes_at: LATER },
  executed_by: null,
  attributes: { id: 'sch_test_1' },
}
const CLINICIAN: ClinicianFacts = { tier: 3, dea_schedules: ['II'], exclusion: 'clear' }
/** An order of schedule II that is signed and co-signed. */
export const ORDER: BoundOrder = {
  order_id: 'ord_test_1',
  order_hash: 'o',
  payload_hash: 'p',
  facts: {
    status: 'authorized',
    schedule: 'II',
    refills: 0,
    prescriber: CLINICIAN,
    cosigner: CLINICIAN,
    signature: 'passkey',
    authorized_at: EARLIER,
    rule: { deny: false, tier: 3, passkey: true, cosign: true, maxRefills: 0, validityDays: null },
    is_denied_as_stale: false,
  },
}
export const APPROVAL: ApprovalFacts = {
  approval_id: 'apr_test_1',
  origin: 'authorize',
  status: 'pending',
  rules: [],
  expires_at: LATER,
  decided_at: null,
  usable_until: null,
}

/** Under a mandate that differs by this. Causes that were changed before stay. */
const level =
  (members: Partial<MandateLevel>): Change =>
  (facts) => {
    const [before = LEVEL] = facts.mandate?.levels ?? []
    return token({ mandate_id: 'mnd_test_1' })({
      ...facts,
      mandate: { ...MANDATE, levels: [{ ...before, ...members }] },
    })
  }
const schedule =
  (members: Partial<ScheduleFacts>): Change =>
  (facts) =>
    token({ schedule_id: 'sch_test_1' })({ ...facts, schedule: { ...(facts.schedule ?? SCHEDULE), ...members } })
const boundOrder =
  (change: (order: BoundOrder) => BoundOrder): Change =>
  (facts) =>
    token({ order_id: ORDER.order_id, order_hash: ORDER.order_hash })({
      ...facts,
      order: change(facts.order ?? ORDER),
    })
/** Facts about an order that authorizes, but for the members that are given. */
const order = (change: Partial<OrderFacts> | ((before: OrderFacts) => Partial<OrderFacts>)): Change =>
  boundOrder((bound) => {
    const members = typeof change === 'function' ? change(bound.facts) : change
    return { ...bound, facts: { ...bound.facts, ...members } }
  })
/** An order has one status: the cause before this one keeps it. */
const ended = (status: OrderFacts['status']) =>
  order((before) => ({ status: before.status === 'authorized' ? status : before.status }))
const prescriber = (members: Partial<ClinicianFacts>) =>
  order((before) => ({ prescriber: { ...before.prescriber, ...members } }))
const rule = (members: Partial<OrderFacts['rule']>) => order((before) => ({ rule: { ...before.rule, ...members } }))
const denied = (name: OrderRule, change: Change): Cause => ({ reason: 'policy_denied', name, change })
const approval =
  (members: Partial<ApprovalFacts>): Change =>
  (facts) => {
    const approval_id = `apr_test_${facts.approvals.length + 1}`
    return { ...facts, approvals: [...facts.approvals, { ...APPROVAL, approval_id, ...members }] }
  }

const documentApproval = { min_approvals: 1, ttl_seconds: 3_600, require_passkey: false }
const canary = { require: { canary: { set: 'set', mode: 'strict' as const } } }
const webhook = { require: { webhook: { url: 'https://policy.example.com/', timeout_ms: 1_000 } } }

// A mandate that is revoked does not say any more that it missed its check-in.
function heartbeat(facts: VerifyFacts): VerifyFacts {
  const isRevoked = facts.mandate?.levels[0]?.status === 'revoked'
  return isRevoked ? facts : level({ status: 'suspended' })(facts)
}

/** In the published order. */
export const CAUSES: readonly Cause[] = [
  { reason: 'invalid_token', change: request({ device_id: 'another' }) },
  { reason: 'approval_denied', change: approval({ status: 'denied', decided_at: EARLIER }) },
  { reason: 'approval_expired', change: approval({ status: 'expired', expires_at: at }) },
  { reason: 'token_expired', change: token({ expires_at: at }) },
  {
    reason: 'token_expired',
    name: 'after its approval',
    change: approval({ status: 'approved', decided_at: EARLIER, usable_until: at }),
  },
  { reason: 'token_revoked', change: read({ revocation: { scope: 'session', at } }) },
  { reason: 'session_canary_locked', change: read({ lock: { lock_id: 'lck_test_1' } }) },
  {
    reason: 'agent_suspended',
    change: read({ agent: { id: 'agt_test_01m7x7p3s2e6ts0a9n3v8wq5he', status: 'suspended', attributes: {} } }),
  },
  { reason: 'action_hash_mismatch', change: request({ action_hash: 'b' }) },
  { reason: 'payload_hash_mismatch', change: request({ payload_hash: 'b' }) },
  {
    reason: 'payload_hash_mismatch',
    name: 'by an edit',
    change: boundOrder((bound) => ({ ...bound, order_hash: 'e' })),
  },
  {
    reason: 'payload_hash_mismatch',
    name: 'of the order',
    change: boundOrder((bound) => ({ ...bound, payload_hash: 'e' })),
  },
  { reason: 'context_hash_mismatch', change: request({ context_hash: 'b' }) },
  { reason: 'canary_reading_mismatch', change: read({ reading_hash: 'b' }) },
  {
    reason: 'token_already_executed',
    change: (facts) => level({})({ ...facts, execution: { at, is_retry: false } }),
  },
  { reason: 'token_already_executed', name: 'by another token', change: ended('executed') },
  { reason: 'mandate_revoked', change: level({ status: 'revoked', revoked_at: at }) },
  { reason: 'mandate_expired', change: level({ expires_at: at }) },
  { reason: 'mandate_heartbeat_lapsed', change: heartbeat },
  { reason: 'mandate_constraint_violated', change: level({ constraints: { max_amount: '99.99' } }) },
  { reason: 'mandate_budget_exceeded', change: level({ spent: '900.01' }) },
  { reason: 'schedule_counterparty_mismatch', change: schedule({ counterparty: 'Example Books' }) },
  {
    reason: 'schedule_amount_exceeded',
    change: schedule({ amount: { type: 'max', value: '99.99', currency: 'EUR' } }),
  },
  { reason: 'schedule_already_executed', change: schedule({ executed_by: 'jti_test_other' }) },
  { reason: 'schedule_occurrences_exhausted', change: schedule({ used: 12 }) },
  { reason: 'schedule_window_missed', change: schedule({ cycle: { number: 2, opens_at: EARLIER, closes_at: at } }) },
  { reason: 'prescriber_excluded', change: prescriber({ exclusion: 'excluded' }) },
  { reason: 'order_declined', change: ended('declined') },
  { reason: 'prescriber_tier_insufficient', change: prescriber({ tier: 2 }) },
  { reason: 'controlled_substance_cosign_required', change: order({ cosigner: null }) },
  { reason: 'biometric_required', change: context({ require_biometric: true }) },
  // In the payload: a context of another amount contradicts it, which mandates and schedules refuse.
  {
    reason: 'hardware_required_above_500',
    change: request({ action_payload: { ...VALID_FACTS.request.action_payload, amount: '500.01' } }),
  },
  { reason: 'policy_denied', name: 'by the stop', change: read({ stop: { reason: 'incident', at } }) },
  denied('clinical:order_cancelled', ended('cancelled')),
  denied('clinical:order_expired', ended('expired')),
  denied('clinical:order_unsigned', order({ signature: 'session' })),
  denied('clinical:schedule_denied', rule({ deny: true })),
  denied('clinical:refills_exceeded', order({ refills: 1 })),
  denied('clinical:validity_over', rule({ validityDays: -1 })),
  denied(
    'clinical:exclusion_review',
    order((before) => ({
      prescriber:
        before.prescriber.exclusion === 'excluded' ? before.prescriber : { ...before.prescriber, exclusion: 'review' },
    })),
  ),
  denied('clinical:list_stale', order({ is_denied_as_stale: true })),
  { reason: 'policy_denied', name: 'by a rule', rule: { require: { deny: true } } },
  { reason: 'policy_biometric_required', rule: { require: { biometric: true } } },
  { reason: 'policy_hardware_required', rule: { require: { hardware: true } } },
  { reason: 'policy_tier_required', rule: { require: { min_tier: 'strongbox' } } },
  {
    reason: 'canary_tripped',
    rule: canary,
    change: answer('canaries', 'canary_tripped', {
      tripped: true,
      families: ['exfiltration'],
      set: 'set',
      readings: [],
      source: 'client',
    }),
  },
  { reason: 'canary_unavailable', rule: canary, change: answer('canaries', 'canary_unavailable', 'unavailable') },
  {
    reason: 'policy_webhook_denied',
    rule: webhook,
    change: answer('webhooks', 'policy_webhook_denied', { decision: 'deny', reason: 'no' }),
  },
  {
    reason: 'policy_webhook_unavailable',
    rule: webhook,
    change: answer('webhooks', 'policy_webhook_unavailable', 'unavailable'),
  },
  { reason: 'approval_pending', rule: { require: { approval: documentApproval } } },
]

/** The facts and the policy under which exactly these causes are given. Rules have the reason as their id. */
export function factsWith(causes: readonly Cause[]) {
  const facts = causes.reduce((changed, { change }) => change?.(changed) ?? changed, VALID_FACTS)
  const rules = causes.flatMap(({ reason, rule }) =>
    rule === undefined ? [] : [{ id: reason, priority: CAUSES.findIndex((one) => one.reason === reason), ...rule }],
  )
  return { facts, policy: compilePolicy(documentSchema.parse({ rules })) }
}
