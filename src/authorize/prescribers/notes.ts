import { IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { ASSERTION } from '../passkeys/notes.ts'
import { DEFAULT_CLINICAL_POLICY } from './policy-document.ts'

const ID = 'prs_test_01m7x7ennfe7dsmvdzwjp06y9x'
const FACT_ID = 'pfa_test_01m7x7ere1ey09f3faaz5qa7a5'
const USER_ID = 'usr_01m7x7ennfe7dsmvdzwjp06y9x'
const DIGEST = 'b5d4045c3f466fa91fe2cc6abe79232a1a57cdf104f7a26e716e0a1e2789df78'
const KEY = { type: 'key', id: IDS.key, label: 'credentialing' } as const
const OWNER = { type: 'user', id: 'usr_01m7x7ere1ey09f3faaz5qa7a5', label: 'mika@example.com' } as const
const GUIDE = 'See the [guide]({base_url}/docs/authorize/clinical).'
const IF_MATCH = { 'If-Match': 'Required. The ETag of the version to replace, such as `"3"`, or `*` for any.' }

const PRESCRIBER = {
  prescriber_id: ID,
  user_id: USER_ID,
  npi: '1234567893',
  first: 'Robin',
  last: 'Example',
  dob: '1980-05-01',
  tier: 3,
  suspended_at: null,
  suspended_by: null,
  suspended_reason: null,
  version: 1,
  created_by: KEY,
  created_at: '2026-11-20T15:00:00.000Z',
  updated_at: '2026-11-20T15:00:00.000Z',
} as const

const ENTERED = {
  fact_id: FACT_ID,
  prescriber_id: ID,
  kind: 'dea',
  status: 'entered',
  method: null,
  us_state: null,
  number: 'BE1234563',
  schedules: ['II', 'III', 'IV', 'V'],
  expires_at: '2028-06-30T00:00:00.000Z',
  warnings: [],
  entered_by: KEY,
  entered_at: '2026-11-20T15:00:00.000Z',
  confirmed_by: null,
  confirmed_at: null,
  ended_by: null,
  ended_at: null,
  ended_reason: null,
} as const
const CONFIRMED = { ...ENTERED, status: 'confirmed', confirmed_by: OWNER, confirmed_at: '2026-11-20T15:11:00.000Z' }
const ENDED = {
  ...CONFIRMED,
  status: 'ended',
  ended_by: KEY,
  ended_at: '2026-11-21T09:00:00.000Z',
  ended_reason: 'revoked',
}
const SUSPENDED = {
  ...PRESCRIBER,
  tier: 0,
  version: 2,
  suspended_at: '2026-11-21T09:00:00.000Z',
  suspended_by: KEY,
  suspended_reason: 'licence',
}

const VERSION = { version: 3, digest: DIGEST, changed_at: '2026-11-20T15:11:02.000Z', changed_by: KEY }
const POLICY = { ...VERSION, document: DEFAULT_CLINICAL_POLICY, warnings: [] }
const FORMULARY = { ...VERSION, entries: 2 }

export const NOTES: Record<string, Note> = {
  'GET /v1/clinical/prescribers': {
    description: `The tier is that of this moment. Filters take one user or one NPI. ${GUIDE}`,
    answers: { 200: { example: listed(PRESCRIBER) } },
  },
  'GET /v1/clinical/prescribers/:id': {
    description: `No tier is stored: an expiry or a suspension counts at once. ${GUIDE}`,
    answers: { 200: { example: PRESCRIBER } },
    problems: ['not_found'],
  },
  'POST /v1/clinical/prescribers': {
    description:
      'Names and birth date are sealed at rest. A check digit can’t tell which digit is wrong: the error says what the last one ' +
      `would be. Licences and the registration are entered as facts, which somebody else confirms. ${GUIDE}`,
    examples: {
      'With a licence and a registration': {
        user_id: USER_ID,
        npi: '1234567893',
        first: 'Robin',
        last: 'Example',
        dob: '1980-05-01',
        state_licenses: [{ us_state: 'CA', number: 'A123456', expires_at: '2027-12-31T00:00:00Z' }],
        dea: { number: 'BE1234563', schedules: ['II', 'III', 'IV', 'V'], expires_at: '2028-06-30T00:00:00Z' },
      },
    },
    answers: { 200: { example: { ...PRESCRIBER, tier: 0 } } },
    problems: ['limit_reached', 'prescriber_exists'],
  },
  'PATCH /v1/clinical/prescribers/:id': {
    description:
      'The identity was checked for another name, birth date or NPI, so the facts of the kind identity end, and the tier is 0 until ' +
      'one is entered and confirmed again.',
    headers: IF_MATCH,
    examples: { 'Another last name': { last: 'Sample' } },
    answers: { 200: { example: { ...PRESCRIBER, last: 'Sample', tier: 0, version: 2 } } },
    problems: ['not_found', 'precondition_failed', 'precondition_required', 'prescriber_exists'],
  },
  'POST /v1/clinical/prescribers/:id/suspend': {
    description: 'One person suffices. The tier is 0, and orders are refused, from the next decision on.',
    examples: { 'The licence is under review': { reason: 'licence' } },
    answers: { 200: { example: SUSPENDED } },
    problems: ['not_found'],
  },
  'POST /v1/clinical/prescribers/:id/reinstate': {
    description:
      'The facts that were confirmed count as entered by you: for tier 3, somebody else confirms them again with a passkey.',
    answers: { 200: { example: { ...PRESCRIBER, tier: 2, version: 3 } } },
    problems: ['invalid_state_transition', 'not_found'],
  },
  'GET /v1/clinical/prescribers/:id/facts': {
    description: 'Includes facts that have expired or were ended.',
    answers: { 200: { example: listed(CONFIRMED) } },
    problems: ['not_found'],
  },
  'POST /v1/clinical/prescribers/:id/facts': {
    description:
      'Counts for tiers 1 and 2 at once, and for tier 3 when a second person has confirmed it. `warnings` tells of what is unusual ' +
      'and may be right.',
    examples: {
      'A DEA registration': {
        kind: 'dea',
        number: 'BE1234563',
        schedules: ['II', 'III', 'IV', 'V'],
        expires_at: '2028-06-30T00:00:00Z',
      },
      'An identity': { kind: 'identity', method: 'in_person' },
    },
    answers: { 200: { example: ENTERED } },
    problems: ['limit_reached', 'not_found'],
  },
  'POST /v1/clinical/prescribers/:id/facts/:fact_id/end': {
    description: 'One person suffices. A fact that has ended stays as it is.',
    examples: { 'The registration was revoked': { reason: 'revoked' } },
    answers: { 200: { example: ENDED } },
    problems: ['not_found'],
  },
  'POST /v1/clinical/prescribers/:id/facts/challenge': {
    description:
      'For the passkeys of the signed-in person, for two minutes, once, and for exactly these facts. Refused at once where the ' +
      'person may not confirm them.',
    examples: { 'One fact': { fact_ids: [FACT_ID] } },
    answers: {
      200: {
        example: {
          challenge_id: 'pkc_test_01m7x7ennfe7dsmvdzwjp06y9x',
          challenge: 'q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s',
          expires_at: '2026-11-20T15:02:00.000Z',
          options: {
            challenge: 'q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s',
            rpId: 'claims.example.com',
            timeout: 120_000,
            allowCredentials: [],
            userVerification: 'required',
          },
        },
      },
    },
    problems: ['confirmer_not_eligible', 'invalid_state_transition', 'not_found'],
  },
  'POST /v1/clinical/prescribers/:id/facts/confirm': {
    description:
      'A prescriber of tier 3 confirms, or an owner while no other prescriber has tier 3; never the person who entered a fact, and never the ' +
      'prescriber. All facts are confirmed, or none.',
    examples: { 'One fact': { fact_ids: [FACT_ID], passkey_assertion: ASSERTION } },
    answers: { 200: { example: { prescriber_id: ID, tier: 3, facts: [CONFIRMED] } } },
    problems: ['confirmer_not_eligible', 'invalid_state_transition', 'not_found'],
  },
  'GET /v1/clinical/policy': {
    description: `Per account and environment. \`version\` 0 is the defaults. ${GUIDE}`,
    answers: { 200: { example: POLICY } },
  },
  'PUT /v1/clinical/policy': {
    description:
      'Makes a new version, which applies to every later decision; the same document again makes none. Refills of schedule II are 0, ' +
      'and of schedules III and IV at most 5 within 181 days, as 21 CFR 1306 demands.',
    headers: IF_MATCH,
    examples: { 'The defaults': { document: DEFAULT_CLINICAL_POLICY } },
    answers: { 200: { example: POLICY } },
    problems: ['precondition_failed', 'precondition_required'],
  },
  'GET /v1/clinical/policy/versions': {
    description: 'A version never changes.',
    answers: { 200: { example: listed(POLICY) } },
  },
  'GET /v1/clinical/policy/versions/:version': {
    description: 'Version 0 is the defaults.',
    answers: { 200: { example: POLICY } },
    problems: ['not_found'],
  },
  'GET /v1/clinical/formulary': {
    description:
      '`version` 0 is an empty formulary. `digest` is that of the object of all concepts and their schedules.',
    answers: { 200: { example: FORMULARY } },
  },
  'GET /v1/clinical/formulary/entries': {
    description: 'NDJSON has the whole formulary.',
    answers: { 200: { example: listed({ rxcui: '1049502', schedule: 'II' }) } },
  },
  'PUT /v1/clinical/formulary': {
    description:
      'A first line `rxcui,schedule`, then a line for each concept, at most 50,000: the schedule is `none`, `I`, `II`, `III`, `IV` or ' +
      '`V`. Everything is replaced, or nothing. Pointers of errors count the lines after the first, from 1.',
    headers: IF_MATCH,
    answers: { 200: { example: FORMULARY } },
    problems: ['precondition_failed', 'precondition_required'],
  },
}
