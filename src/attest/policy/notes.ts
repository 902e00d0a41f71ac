import type { Note } from '#src/platform/http/openapi.ts'

export const policy = {
  require_attestation: true,
  require_biometric: false,
  require_gps: true,
  require_session_nonce: false,
  thresholds: { review: 25, failed: 50 },
  geofence_m: 500,
}

const current = {
  version: 3,
  ...policy,
  changed_at: '2026-11-20T15:11:02.000Z',
  changed_by: 'key_test_01m7x7enn9exb9d4gh0kbvf97d',
}

const list = { object: 'list', has_more: false, next_cursor: null }

export const NOTES: Record<string, Note> = {
  'GET /v1/account/risk-policy': {
    description:
      'Per account and environment. `version` 0 is the defaults, which count until a policy is set. Send the ETag as ' +
      '`If-Match` with a change.',
    answers: { 200: { example: current } },
  },
  'PUT /v1/account/risk-policy': {
    description:
      'Makes a new version, which counts for every result from now on; the same policy again makes none. With ' +
      '`If-Match` only the version that was read is replaced, any other is 412. Results that the new policy judges ' +
      'differently are re-evaluated at bulk priority: `GET /v1/account/reevaluations` shows the progress. Try a ' +
      'dry run first.',
    headers: { 'If-Match': 'The ETag of the version to replace; without it the current one is replaced.' },
    examples: { 'A fence of 500 m, and a fix required': policy },
    answers: { 200: { example: current } },
    problems: ['precondition_failed'],
  },
  'GET /v1/account/risk-policy/versions': {
    description: 'A version never changes. `policy_version` of a result is one of these, or 0.',
    answers: { 200: { example: { ...list, data: [current] } } },
  },
}
