import { IDS } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const rule = {
  id: 'wire-over-10k',
  enabled: true,
  shadow: false,
  description: 'Large wires need a device with a secure element.',
  priority: 100,
  when: {
    all: [
      { field: 'action_type', op: 'eq', value: 'wire' },
      { field: 'context.transaction_amount', op: 'gt', value: 10_000 },
    ],
  },
  require: { min_tier: 'strongbox' },
  reason: 'wire_over_10k',
}
const orderRule = {
  id: 'known-suppliers-only',
  enabled: true,
  shadow: false,
  priority: 100,
  when: {
    not: {
      all: {
        in: 'action_payload.items',
        as: 'item',
        when: { field: 'item.supplier', op: 'in', value: ['Example Mill', 'Example Garage'] },
      },
    },
  },
  require: { deny: true },
}
const approvals = { require_human_session: true, separation_of_duties: true }
const document = {
  name: 'default',
  default_rules: { biometric_flag: true, hardware_above: 500 },
  approvals,
  require_bindings: true,
  rules: [rule],
}

const version = {
  version: 3,
  digest: 'b5d4045c3f466fa91fe2cc6abe79232a1a57cdf104f7a26e716e0a1e2789df78',
  rolled_back_to: null,
  changed_at: '2026-11-20T15:11:02.000Z',
  changed_by: { type: 'key', id: IDS.key, label: 'deployments' },
}
const current = {
  ...version,
  document,
  builtin_rules: [
    {
      id: 'default:biometric_flag',
      description: 'context.require_biometric requires a token that is bound to a biometric.',
      priority: 0,
      enabled: true,
      shadow: false,
      when: { field: 'context.require_biometric', op: 'eq', value: true },
      require: { biometric: true },
      reason: 'biometric_required',
    },
  ],
}
const list = { object: 'list', has_more: false, next_cursor: null }
const from = '2026-11-01T00:00:00.000Z'
const to = '2026-11-20T00:00:00.000Z'
const ETAG = 'The ETag of the version to replace, such as `"3"`, or `*` for any.'

const finding = {
  code: 'shadowed_by',
  rule_id: 'wire-over-20k',
  pointer: '/rules/1',
  other_rule_id: 'wire-over-10k',
  detail: 'never gives the reason: wherever it refuses, wire-over-10k refuses first',
}

const simulation = {
  policy_version: 3,
  would_be_valid: false,
  reason: 'wire_over_10k',
  matched_rule_id: 'wire-over-10k',
  refusals: [
    {
      reason: 'wire_over_10k',
      matched_rule_id: 'wire-over-10k',
      kind: 'tier',
      priority: 100,
      webhook_reason: 'the partner is not known',
      canary_set: 'default',
      canary_readings: [],
    },
  ],
  results: [
    {
      rule_id: 'wire-over-10k',
      effect: 'tier',
      matched: true,
      met: false,
      shadow: false,
      error: 'context.x: is not a string',
      note: 'policy_webhook_pending',
    },
  ],
  shadow: [],
  needs: [
    { kind: 'webhook', rule_id: 'ask-partner', url: 'https://policy.example.com/ask', timeout_ms: 3_000 },
    { kind: 'canary', rule_id: 'calm', set: 'default', families: ['deception'], mode: 'strict', max_age_s: 300 },
  ],
}

const replay = {
  ...list,
  data: [
    {
      decision_id: 'dec_test_01m7x7ere1ey09f3faaz5qa7a5',
      jti: null,
      at: '2026-11-20T15:11:02.000Z',
      before: { valid: true, reason: null },
      after: { valid: false, reason: 'wire_over_10k', matched_rule_id: 'wire-over-10k' },
    },
  ],
  looked: 812,
  looked_to: '2026-11-19T22:04:40.120Z',
  would_change: 1,
  unaffected: 9,
  unknown: 0,
  rules: [{ rule_id: 'wire-over-10k', refused_before: 0, refuses_after: 1 }],
}

export const NOTES: Record<string, Note> = {
  'GET /v1/policy': {
    description:
      'Per account and environment. `version` 0 is the defaults, which count until a policy is set. To change it, change ' +
      '`document` and send it back, with the ETag as `If-Match`. See the [guide]({base_url}/docs/authorize/policy).',
    answers: { 200: { example: current } },
  },
  'PUT /v1/policy': {
    description:
      'Makes a new version, which counts for every decision from now on; the same document again makes none. ' +
      'Without `If-Match` the answer is 428, and with the ETag of another version 412. Unknown members and fields are ' +
      'refused: they could be constraints. Try the document first: `/validate`, `/analyze`, `/simulate` and `/replay`.',
    headers: { 'If-Match': `Required. ${ETAG}` },
    examples: {
      'A rule for large wires': { document },
      'A rule for each item of an order': { document: { ...document, rules: [orderRule] } },
    },
    answers: { 200: { example: current } },
    problems: ['precondition_failed', 'precondition_required'],
  },
  'POST /v1/policy/validate': {
    description:
      'Whether PUT would accept the document. Pointers begin at the document. `findings` names deny rules of a valid document ' +
      'that a missing field turns off; they are accepted.',
    examples: { 'A rule for large wires': { document } },
    answers: {
      200: {
        example: {
          valid: false,
          errors: [{ pointer: '/rules/0/when/op', code: 'required', detail: 'is required' }],
          findings: [],
        },
      },
    },
  },
  'POST /v1/policy/analyze': {
    description:
      'A finding that says always or never is proven, whatever the facts; that there is none proves nothing. ' +
      '`ineffective_when_missing` is about deny rules, `unknown_policy_field` about stored documents. No ' +
      'webhook is called: `webhook_unreachable` is about its address, and `webhook_without_secret` means that the account has ' +
      'no secret to sign questions with, so that each of them goes unanswered and refuses.',
    examples: { 'The stored policy': {}, 'A document': { document } },
    answers: { 200: { example: { findings: [finding], complete: true } } },
  },
  'POST /v1/policy/simulate': {
    description:
      'Evaluates the stored policy, one of its versions or a document that is sent, and asks no webhook and no canary: `needs` says ' +
      'what verify would ask, and `answers` can say what they would answer.',
    examples: {
      'A wire': {
        input: {
          action_type: 'wire',
          context: { transaction_amount: 12_000 },
          device: { id: 'dev_test_01m7x7ere1ey09f3faaz5qa7a5', tier: 'tee', enrolled: true },
        },
      },
      'A document, and the answer of its webhook': {
        document,
        input: { action_type: 'wire' },
        answers: {
          webhooks: { 'ask-partner': { decision: 'deny', reason: 'the partner is not known' } },
          canaries: {},
          approvals: { 'wire-over-10k': 'covered' },
        },
      },
    },
    answers: { 200: { example: simulation } },
    problems: ['not_found'],
  },
  'POST /v1/policy/replay': {
    description:
      'Evaluates the document over the facts that verify recorded. A page examines at most 2,000 decisions, and fewer where ' +
      'they or the document are long; ask for the next one while `has_more`, and add the numbers up. Answers of webhooks and canaries are those of then.',
    examples: { 'Three weeks': { document, from, to, limit: 100 } },
    answers: { 200: { example: replay } },
  },
  'GET /v1/policy/shadow-report': {
    description:
      'From the rule results on record. A page examines at most 2,000 decisions, and fewer where they are long: ask for the next ' +
      'one while `has_more`, and add the numbers of each rule up. As lines, a rule has one for each page.',
    answers: {
      200: {
        example: {
          ...list,
          from,
          to,
          looked: 812,
          looked_to: '2026-11-19T22:04:40.120Z',
          data: [
            {
              rule_id: 'new-limit',
              matched: 40,
              would_deny: 3,
              would_allow: 37,
              shadow_webhook_unevaluated: 0,
              errors: 0,
              divergent: 2,
              examples: ['dec_test_01m7x7ere1ey09f3faaz5qa7a5'],
            },
          ],
        },
      },
    },
  },
  'GET /v1/policy/versions': {
    description: 'A version never changes. `policy_version` of a decision is one of these, or 0.',
    answers: { 200: { example: { ...list, data: [{ ...version, name: 'default', rules: 1 }] } } },
  },
  'GET /v1/policy/versions/:version': {
    description: '0 is the defaults.',
    answers: { 200: { example: current } },
    problems: ['not_found'],
  },
  'POST /v1/policy/rollback': {
    description: 'The earlier document becomes a version of its own: the history stays as it was.',
    headers: { 'If-Match': `Optional. ${ETAG}` },
    examples: { 'To version 2': { version: 2 } },
    answers: { 200: { example: { ...current, version: 4, rolled_back_to: 2 } } },
    problems: ['precondition_failed', 'not_found', 'conflict'],
  },
}
