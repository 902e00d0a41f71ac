import { ASSERTION } from '#src/authorize/passkeys/notes.ts'
import { ACTORS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { VERIFY_REASONS, type VerifyReason } from './reasons.ts'

const JTI = 'jti_test_01m7x7p3s2e6ts0a9n3v8wq5hc'
const HASH = '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'

const action = {
  action_description: 'Pay 120.00 EUR to Example Garage for invoice 2026-118',
  action_payload: { action_type: 'payment', amount: '120.00', currency: 'EUR', counterparty: 'Example Garage' },
}

const authorized = {
  intent_token:
    'eyJhbGciOiJFUzI1NiIsInR5cCI6ImludGVudCtqd3QiLCJraWQiOiJ4WTVWOUd0OEI1VnBiX0NLdmVEYzUzdzdOQmlXR0t2YzVDTnVBTUN3TDJNIn0.eyJqdGkiOiIuLi4ifQ.c2lnbmF0dXJl',
  jti: JTI,
  expires_at: '2026-11-20T15:16:00.000Z',
  bindings: {
    action_hash: HASH,
    payload_hash: HASH,
    context_hash: null,
    trace_id: null,
    reading_hash: null,
    agent_id: 'agt_test_01m7x7p0d7c4e4hv6x9s8n1q0t',
    agent_session_id: 'checkout-81723',
    device_id: 'laptop-4',
    mandate_id: null,
    schedule_id: null,
    order_id: null,
    order_hash: null,
    biometric: false,
    single_use: false,
    audience: null,
    policy_version: 3,
  },
  preflight: { would_be_valid: true, reason: null },
}

const { single_use: _, context_hash: __, reading_hash: ___, ...bound } = authorized.bindings
const issued = {
  jti: JTI,
  status: 'active',
  authorized_by: ACTORS.key,
  ...bound,
  created_at: '2026-11-20T15:11:00.000Z',
  expires_at: authorized.expires_at,
  executed_at: '2026-11-20T15:11:04.310Z',
  outcome: null,
  outcome_at: null,
  revocation_id: null,
  revoked_scope: null,
  revoked_at: null,
}

const APPROVAL_ID = 'apr_test_01m7x7p4a2c4e4hv6x9s8n1q0t'
const MANDATE_ID = 'mnd_test_01m7x7nza2c4e4hv6x9s8n1q0t'

const waiting = {
  ...authorized,
  expires_at: '2026-11-20T16:16:00.000Z',
  approval_id: APPROVAL_ID,
  approval: {
    approval_id: APPROVAL_ID,
    status: 'pending',
    min_approvals: 2,
    roles: ['approver', 'owner'],
    require_passkey: false,
    rule_ids: ['wire-over-10k'],
    expires_at: '2026-11-20T16:11:00.000Z',
  },
  preflight: { would_be_valid: false, reason: 'approval_pending' },
}

const valid = {
  valid: true,
  reason: null,
  detail: 'The action may run now.',
  jti: JTI,
  decision_id: 'dec_test_01m7x7p6k2v4c8d5t1h7y2b3ka',
  evaluated_at: '2026-11-20T15:11:04.310Z',
}

const receipted = {
  ...valid,
  detail: 'The action was executed before: do not run it again.',
  already_executed: true,
  receipt: 'eyJhbGciOiJFUzI1NiIsInR5cCI6InZlcmlmeS1yZWNlaXB0K2p3dCJ9.eyJ2YWxpZCI6dHJ1ZX0.c2lnbmF0dXJl',
}

const refused = (reason: VerifyReason, members: object) => ({
  ...valid,
  valid: false,
  reason,
  detail: VERIFY_REASONS[reason],
  ...members,
})

const ANSWERS = {
  valid,
  repeated: receipted,
  denied: refused('policy_denied', { matched_rule_id: 'no-wires-at-night' }),
  webhook: refused('policy_webhook_denied', {
    matched_rule_id: 'ask-treasury',
    webhook_reason: 'The supplier is not approved.',
  }),
  unanswered: refused('policy_webhook_unavailable', {
    matched_rule_id: 'ask-treasury',
    unavailable_check: 'webhook',
    webhook_unavailable_cause: 'timeout',
  }),
  unread: refused('canary_unavailable', {
    matched_rule_id: 'no-exfiltration',
    unavailable_check: 'canary',
    canary_set: 'default',
  }),
  revoked: refused('token_revoked', { revoked_scope: 'session' }),
  under_a_mandate: { ...valid, mandate_remaining: '380' },
  over_budget: refused('mandate_budget_exceeded', {
    mandate_detail: {
      constraint: 'budget',
      expected: '500',
      actual: '120',
      remaining: '80',
      mandate_id: MANDATE_ID,
    },
    mandate_remaining: '80',
  }),
  under_a_schedule: { ...valid, schedule_cycle: 3 },
  waiting: refused('approval_pending', { approval_id: APPROVAL_ID, matched_rule_id: 'wire-over-10k' }),
  tripped: refused('canary_tripped', {
    matched_rule_id: 'no-exfiltration',
    canary_set: 'default',
    canary_readings: [{ family: 'exfiltration', score: 0.93, threshold: 0.8, tripped: true }],
    lock_id: 'lck_test_01m7x7p9d2c4e4hv6x9s8n1q0t',
  }),
}

const executed = {
  jti: JTI,
  status: 'executed',
  executed_at: '2026-11-20T15:11:04.310Z',
  outcome_at: null,
  action_hash: HASH,
  payload_hash: HASH,
}

export const NOTES: Record<string, Note> = {
  'POST /v1/intent/authorize': {
    description: `Issues a token that is bound to exactly this action: to the description byte for byte, and to the payload as
canonical JSON (RFC 8785). The party that runs the action presents the token with the same description and payload to
\`POST /v1/intent/verify\`. The token holds hashes only.

With \`single_use\` the token can be executed once. Without it, a token that no mandate, schedule or approval binds stays valid after an
execution.

\`agent_session_id\` and \`device_id\` are any strings of yours; ids of this service (\`ses_\`, \`dev_\`) bring the session's agent and
the device's hardware tier. \`trace_id\` binds the trace's stored canary reading; with \`inference_input\` a model of the service takes
one first, and a model that can't is an error. A trace of another session or agent is refused. Where the kill switch refuses a check of that
reading, or of the session's newest trip, authorize refuses with 409 \`canary_tripped\`, on the ledger, and locks as a check does.
\`context\` is what rules of the policy read.

\`mandate_id\`, \`schedule_id\` or \`order_id\` (one of them) names what the token is issued under; verify compares the payload with it and charges it, or executes the order.
A mandate with an agent is for that agent only. \`passkey_assertion\` binds the token to the person who confirmed exactly this action
with a passkey: ask for a challenge with \`POST /v1/intent/challenges\`.

Where a rule of the policy requires an approval and nothing else refuses, people are asked: the answer has \`approval_id\`, and the
token lives 300 seconds longer than its approval can be decided. Once approved, it is valid for \`ttl_seconds\` from the decision on,
never longer than it lives, and for one execution.

\`preflight\` says what verify would answer now. A rule that asks a webhook shows as \`policy_webhook_pending\`: it is asked at verify only.
A canary condition is judged by the stored reading of the token's trace. Where that is missing, too old or not enough, it shows as
\`canary_unavailable\` with mode \`strict\`, and passes with \`best_effort\`; verify may be given another \`trace_id\` or an \`inference_input\`, and then answers by that.

A repeat with the same Idempotency-Key returns the same token to the same principal until the token expires; then
\`intent_token\` is null.`,
    examples: {
      payment: {
        ...action,
        agent_session_id: 'checkout-81723',
        device_id: 'laptop-4',
        agent_id: 'agt_test_01m7x7p0d7c4e4hv6x9s8n1q0t',
        context: { transaction_amount: '120.00' },
        ttl_seconds: 300,
        single_use: true,
      },
      'Confirmed with a passkey, under a mandate': {
        ...action,
        agent_session_id: 'checkout-81723',
        device_id: 'laptop-4',
        mandate_id: MANDATE_ID,
        passkey_assertion: ASSERTION,
        ttl_seconds: 300,
        single_use: false,
      },
    },
    answers: { 200: { examples: { authorized, waiting } } },
    problems: [
      'environment_mismatch',
      'backend_capability_missing',
      'not_found',
      'agent_session_ended',
      'agent_session_revoked',
      'device_revoked',
      'agent_suspended',
      'session_canary_locked',
      'canary_tripped',
      'account_stopped',
    ],
  },
  'POST /v1/intent/verify': {
    description: `Answers whether this action may run now, and records the answer in the decision ledger. A refusal is an answer: the
status is 200, \`valid\` is false and \`reason\` says why. Any other status is no permission either.

With \`execute\` (the default) the first valid answer marks the token as executed, and its caller runs the action and reports the
outcome. **Send an Idempotency-Key for each attempt to run an action**: it tells a repeat, whose first answer was lost, from a second
payment. The same caller with the same key is answered valid again, with \`already_executed\`. A request without a key repeats nothing.

Under a mandate the first valid execution charges its budget and those of all mandates above it, under a schedule it uses the cycle.
Then every other caller, every other key and every request without a key is refused, with \`schedule_already_executed\` under a schedule and
\`token_already_executed\` under a mandate, after an approval, or with \`single_use\`. A token without any of these stays valid, with
\`already_executed\`.

\`agent_session_id\`, \`device_id\`, \`audience\` and \`context_evidence\` are compared where they are given. Where the policy has \`require_bindings\`, a binding that the request leaves out is answered as if it differed.

\`execute: false\` answers what executing would answer this caller with this key, uses nothing up and opens no approval.
\`mandate_remaining\` and \`schedule_cycle\` say how things stand after this answer. Under load of one mandate the status may be 503 with
\`Retry-After\`: repeat with the same key.

A policy that was tightened since authorize may require an approval now: an execution opens it, once for each token.

\`receipt: true\` adds a JWS of the answer (type \`verify-receipt+jwt\`, by a record key).`,
    headers: {
      'Idempotency-Key':
        'Names one attempt to run the action: a repeat with the same key is the same execution, and without a key nothing is a ' +
        'repeat. The answer is always evaluated anew. A key ' +
        'that has executed a token answers 422 idempotency_key_reused for any other token or action, as long as the token is kept. The ' +
        'successor of a rotated API key is another caller.',
    },
    examples: { payment: { intent_token: authorized.intent_token, ...action, execute: true, receipt: false } },
    answers: { 200: { examples: ANSWERS } },
    problems: ['environment_mismatch'],
  },
  'GET /v1/intents': {
    description:
      'Lists issued tokens and their outcomes. Only the answer of authorize has the token itself. `status` is the ' +
      'same as in GET /v1/intent/status/{jti}: an executed token stays active until it expires. Tokens that expired a ' +
      'month ago are not listed.',
    answers: { 200: { example: listed(issued) } },
    problems: ['environment_mismatch'],
  },
  'GET /v1/intent/executions/:jti': {
    description: 'Shows when the action of a token was executed, and how it ended if that was reported.',
    answers: { 200: { example: executed } },
    problems: ['environment_mismatch'],
  },
  'POST /v1/intent/executions/:jti/outcome': {
    description: `Reports once how an executed action ended. Only the caller that executed it may; the successor
of a rotated API key is the same caller here. \`failed\` and \`not_run\` give back what the execution charged to a mandate, or the cycle
of a schedule. They do not make the token usable again, and an order stays executed.`,
    examples: { succeeded: { status: 'succeeded' } },
    answers: { 200: { example: { ...executed, status: 'succeeded', outcome_at: '2026-11-20T15:11:09.120Z' } } },
    problems: ['environment_mismatch', 'invalid_state_transition', 'conflict'],
  },
}
