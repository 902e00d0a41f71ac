import { IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'

const IMPORT_ID = 'exi_test_01m7x7ennfe7dsmvdzwjp06y9x'
const SCREENING_ID = 'exs_test_01m7x7ere1ey09f3faaz5qa7a5'
const REVIEW_ID = 'exr_test_01m7x7ere1ey09f3faaz5qa7a6'
const PRESCRIBER_ID = 'prs_test_01m7x7ennfe7dsmvdzwjp06y9x'
const FILE_HASH = 'b5d4045c3f466fa91fe2cc6abe79232a1a57cdf104f7a26e716e0a1e2789df78'
const ROW_HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
const KEY = { type: 'key', id: IDS.key, label: 'compliance' } as const
const GUIDE = 'See the [guide]({base_url}/docs/authorize/clinical#exclusion-lists).'

const QUEUED = {
  exclusion_import_id: IMPORT_ID,
  list: 'sam',
  kind: 'full',
  file_name: 'SAM_Exclusions_Public_Extract_V2_26324.ZIP',
  status: 'queued',
  failure: null,
  sha256: FILE_HASH,
  size: 10_212_004,
  force: false,
  rows: null,
  list_date: null,
  requested_by: KEY,
  created_at: '2026-11-20T15:00:00.000Z',
  finished_at: null,
} as const
const SUCCEEDED = {
  ...QUEUED,
  status: 'succeeded',
  rows: 150_000,
  list_date: '2026-11-20',
  finished_at: '2026-11-20T15:00:31.000Z',
}

const SCREENING = {
  exclusion_screening_id: SCREENING_ID,
  cause: 'sam',
  status: 'succeeded',
  failure: null,
  screened: 240,
  changed: 1,
  created_at: '2026-11-20T15:00:31.000Z',
  finished_at: '2026-11-20T15:00:33.000Z',
}

const REVIEW = {
  exclusion_review_id: REVIEW_ID,
  prescriber_id: PRESCRIBER_ID,
  list: 'sam',
  row_hash: ROW_HASH,
  list_date: '2026-11-20',
  matched_on: 'name_state',
  status: 'open',
  reason: null,
  decided_by: null,
  decided_at: null,
  created_at: '2026-11-20T15:00:33.000Z',
}
const CLEARED = {
  ...REVIEW,
  status: 'cleared',
  reason: 'npi_differs',
  decided_by: KEY,
  decided_at: '2026-11-20T16:00:00.000Z',
}

export const NOTES: Record<string, Note> = {
  'GET /v1/clinical/exclusion-lists/leie': {
    description: `The file that prescribers are compared with: the account’s own, or else the operator’s. ${GUIDE}`,
    answers: {
      200: {
        example: {
          list: 'leie',
          list_date: '2026-11-20',
          rows: 150_000,
          source: 'account',
          exclusion_import_id: IMPORT_ID,
          changed_at: '2026-11-20T15:00:31.000Z',
          is_stale: false,
        },
      },
    },
  },
  'POST /v1/clinical/exclusion-lists/leie/import': {
    description:
      'The body is the file as its publisher offers it. It is read by a job; a file that can’t replace the list in force ends the import ' +
      `as failed, and the list stays. ${GUIDE}`,
    answers: {
      202: {
        headers: { Location: 'Address of the import.' },
        example: { ...QUEUED, list: 'leie', file_name: 'UPDATED.csv' },
      },
    },
    problems: ['invalid_request', 'insufficient_role', 'payload_too_large', 'service_unavailable'],
  },
  'GET /v1/clinical/exclusion-lists/sam': {
    description: `The file that prescribers are compared with: the account’s own, or else the operator’s. ${GUIDE}`,
    answers: {
      200: {
        example: {
          list: 'sam',
          list_date: '2026-11-20',
          rows: 150_000,
          source: 'account',
          exclusion_import_id: IMPORT_ID,
          changed_at: '2026-11-20T15:00:31.000Z',
          is_stale: false,
        },
      },
    },
  },
  'POST /v1/clinical/exclusion-lists/sam/import': {
    description:
      'The body is the file as its publisher offers it. It is read by a job; a file that can’t replace the list in force ends the import ' +
      `as failed, and the list stays. ${GUIDE}`,
    answers: { 202: { headers: { Location: 'Address of the import.' }, example: QUEUED } },
    problems: ['invalid_request', 'insufficient_role', 'payload_too_large', 'service_unavailable'],
  },
  'GET /v1/clinical/exclusion-imports': {
    description: 'Imports of the account. Those of the operator are not among them.',
    answers: { 200: { example: listed(SUCCEEDED) } },
  },
  'GET /v1/clinical/exclusion-imports/:id': {
    description: 'With `wait`, it answers when the import has ended.',
    answers: { 200: { example: SUCCEEDED } },
    problems: ['environment_mismatch', 'not_found'],
  },
  'GET /v1/clinical/exclusion-screenings': {
    description:
      'All prescribers are compared after each import, after changes of prescribers, and once a day. It informs: an order is always ' +
      'compared with the lists in force itself.',
    answers: { 200: { example: listed(SCREENING) } },
  },
  'GET /v1/clinical/exclusion-screenings/:id/changes': {
    description: 'Statuses without regard to waivers, which hold in one state only.',
    answers: {
      200: {
        example: listed({
          prescriber_id: PRESCRIBER_ID,
          status_before: 'clear',
          status: 'review',
          evidence: [{ list: 'sam', row_hash: ROW_HASH, list_date: '2026-11-20', matched_on: 'name_state' }],
          changed_at: '2026-11-20T15:00:32.000Z',
        }),
      },
    },
    problems: ['environment_mismatch', 'not_found'],
  },
  'GET /v1/clinical/exclusion-reviews': {
    description: 'Matches by the name, which a person has to clear or confirm.',
    answers: { 200: { example: listed(REVIEW) } },
  },
  'GET /v1/clinical/exclusion-reviews/:id': {
    description: 'The row is found in the published list by the name of the prescriber.',
    answers: { 200: { example: REVIEW } },
    problems: ['environment_mismatch', 'not_found'],
  },
  'POST /v1/clinical/exclusion-reviews/:id/decision': {
    description:
      'The decision holds for the prescriber and the row, in later files too. The opposite decision replaces it. A match by NPI, or by ' +
      'name and birth date, excludes whatever was decided.',
    examples: { cleared: { decision: 'cleared', reason: 'npi_differs' } },
    answers: { 200: { example: CLEARED } },
    problems: ['environment_mismatch', 'not_found', 'invalid_state_transition'],
  },
}
