import { DIGEST, IDS } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

export const document = {
  require_attestation: true,
  require_biometric: false,
  require_gps: true,
  require_session_nonce: false,
  thresholds: { review: 25, failed: 50 },
  geofence_m: 500,
}

const current = {
  version: 3,
  digest: DIGEST,
  changed_at: '2026-11-20T15:11:02.000Z',
  changed_by: { type: 'key', id: IDS.key, label: 'deployments' },
  document,
}

const list = { object: 'list', has_more: false, next_cursor: null }

export const NOTES: Record<string, Note> = {
  'GET /v1/account/risk-policy': {
    description:
      'Each environment of an account has its own policy. `version` 0 is the defaults, which apply until a policy is ' +
      'set. To change it, change `document` and send it back, with the ETag as `If-Match`.',
    answers: { 200: { example: current } },
  },
  'PUT /v1/account/risk-policy': {
    description:
      'Makes a new version, which applies to every later result; the same document again makes none. ' +
      'Without `If-Match` the answer is 428, and with the ETag of another version 412. Results that the new policy judges ' +
      'differently are re-evaluated at bulk priority: `GET /v1/account/reevaluations` shows the progress. Try a ' +
      'dry run first.',
    headers: { 'If-Match': 'Required. The ETag of the version to replace, such as `"3"`, or `*` for any.' },
    examples: { 'A fence of 500 m, and a fix required': { document } },
    answers: { 200: { example: current } },
    problems: ['precondition_failed', 'precondition_required'],
  },
  'GET /v1/account/risk-policy/versions': {
    description: 'A version never changes. `policy_version` of a result is one of these, or 0.',
    answers: { 200: { example: { ...list, data: [current] } } },
  },
  'GET /v1/account/risk-policy/versions/:version': {
    description: 'Version 0 is the defaults.',
    answers: { 200: { example: current } },
    problems: ['not_found'],
  },
}
