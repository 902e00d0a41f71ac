import { IDS } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { document } from '../policy/notes.ts'

const REEVALUATION = 'ree_test_01m7x7m5s9qk2d4t8w1r6y0zbc'

const reevaluation = {
  reevaluation_id: REEVALUATION,
  cause: 'device_revoked',
  device_id: IDS.device,
  status: 'running',
  failure: null,
  searched_at: '2026-11-20T15:12:00.400Z',
  looked: 412,
  touched: 412,
  pending: 96,
  changed: 316,
  unchanged: 0,
  skipped: 0,
  failed: 0,
  created_at: '2026-11-20T15:12:00.000Z',
  finished_at: null,
}

const list = { object: 'list', has_more: false, next_cursor: null }

export const NOTES: Record<string, Note> = {
  'POST /v1/account/risk-policy/dry-run': {
    description:
      'Judges stored facts by the policy in the body, and lists each claim that would change with its standing ' +
      'before and after. Nothing is written, and no event is sent. A page examines 2,000 claims at most, and may ' +
      'have fewer changes than `limit` and more to come: follow `next_cursor` to the end and add up `looked` and ' +
      '`would_change`.',
    examples: { 'This month': { document, created_gte: '2026-11-01T00:00:00Z', limit: 100 } },
    answers: {
      200: {
        example: {
          ...list,
          data: [
            {
              claim_id: IDS.claim,
              reference: 'CLM-2026-0042',
              before: { risk_status: 'passed', risk_score: 0, provenance_status: 'verified' },
              after: { risk_status: 'passed', risk_score: 0, provenance_status: 'verified' },
              added_factors: [],
              removed_factors: [],
              added_advisories: ['geofence_mismatch'],
              removed_advisories: [],
            },
          ],
          looked: 831,
          would_change: 1,
          unknown: 0,
        },
      },
    },
  },
  'GET /v1/account/reevaluations': {
    description:
      'Each cause has one re-evaluation: a revoked device, a new list of revoked attestation keys, another risk ' +
      'policy, a late screening. Re-evaluations are kept for a month; the results that they replaced stay.',
    answers: { 200: { example: { ...list, data: [reevaluation] } } },
  },
  'GET /v1/account/reevaluations/:id': {
    description: '`wait` keeps the request open until the re-evaluation has ended, for that many seconds at most.',
    answers: { 200: { example: reevaluation } },
  },
  'GET /v1/attestations/:id/results': {
    description:
      'The list is empty while the first result is valid. The current result is in the attestation; the factors of ' +
      'earlier results are in their `result_jws`.',
    answers: {
      200: {
        example: {
          ...list,
          data: [
            {
              number: 1,
              evaluated_at: '2026-11-20T15:11:04.310Z',
              replaced_at: '2026-11-20T15:12:03.100Z',
              replaced_for: [REEVALUATION],
              risk_status: 'passed',
              risk_score: 0,
              provenance_status: 'verified',
              hardware_tier: 'tee',
              rules_version: 'attest-rules/7',
              policy_version: 2,
              result_jws: 'eyJhbGciOiJFUzI1NiJ9.e30.c2ln',
            },
          ],
        },
      },
    },
  },
}
