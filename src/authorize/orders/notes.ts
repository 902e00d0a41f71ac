import { z } from 'zod'
import { listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { IF_MATCH as ANY_IF_MATCH } from '#src/platform/http/versions.ts'
import { ASSERTION } from '../passkeys/notes.ts'
import { CURRENT_STATEMENT, STATEMENTS } from './content.ts'
import { FHIR_TYPE } from './fhir.ts'

const ID = 'ord_test_01m7x7k8d2e6ts0a9n3v8wq5hc'
const PRESCRIBER_ID = 'prs_test_01m7x7ennfe7dsmvdzwjp06y9x'
const SECOND_ID = 'prs_test_01m7x7ere1ey09f3faaz5qa7a5'
const HASH = 'Wl1FhBqzD6vUgXZ9n2mJ0c4yP8rTQe5sKa7iL3oNwYk'
const USER = { type: 'user', id: 'usr_01m7x7ennfe7dsmvdzwjp06y9x', label: 'robin@example.com' } as const
const SECOND = { type: 'user', id: 'usr_01m7x7ere1ey09f3faaz5qa7a5', label: 'mika@example.com' } as const
const GUIDE = 'See the [guide]({base_url}/docs/authorize/clinical#orders).'
const IF_MATCH = { 'If-Match': `Required. ${ANY_IF_MATCH['If-Match'].replace('Optional. ', '')}` }

const BODY = {
  prescriber_id: PRESCRIBER_ID,
  patient_ref: 'Patient/123',
  encounter_ref: 'Encounter/456',
  medication: { rxnorm: '1049502', name: 'Oxycodone 10 mg oral tablet', schedule: 'II' },
  quantity: { value: '30', unit: 'tablet' },
  refills: 0,
  sig: 'One tablet every 6 hours as needed for pain',
  us_state: 'CA',
  action_payload: { action: 'transmit', pharmacy: '1234567' },
}
const DRAFT = {
  order_id: ID,
  status: 'draft',
  version: 1,
  revision: 1,
  order_hash: HASH,
  hash_version: 1,
  prescriber_id: PRESCRIBER_ID,
  prescriber_npi: '1234567893',
  patient_ref: BODY.patient_ref,
  encounter_ref: BODY.encounter_ref,
  medication: { rxnorm: '1049502', name: BODY.medication.name },
  schedule: 'II',
  schedule_source: 'request',
  schedule_substance: null,
  schedule_requested: 'II',
  quantity: BODY.quantity,
  refills: 0,
  sig: BODY.sig,
  us_state: BODY.us_state,
  action_payload: BODY.action_payload,
  resource: null,
  resource_hash: null,
  needs: { deny: false, tier: 3, passkey: true, cosign: true, max_refills: 0, validity_days: null },
  allowed_acts: ['edit', 'sign', 'decline', 'cancel'],
  warnings: [],
  signatures: [],
  authorized_at: null,
  expires_at: '2026-11-23T15:00:00.000Z',
  ended_at: null,
  ended_by: null,
  ended_reason: null,
  decision_id: null,
  created_by: USER,
  created_at: '2026-11-20T15:00:00.000Z',
  updated_at: '2026-11-20T15:00:00.000Z',
}
const SIGNATURE = {
  act: 'sign',
  revision: 1,
  order_hash: HASH,
  prescriber_id: PRESCRIBER_ID,
  signed_by: USER,
  method: 'passkey',
  passkey_id: 'psk_01m7x7ennfe7dsmvdzwjp06y9x',
  statement_version: CURRENT_STATEMENT,
  signed_at: '2026-11-20T15:01:00.000Z',
  voided_at: null,
}
const PENDING = {
  ...DRAFT,
  status: 'pending_cosign',
  version: 2,
  allowed_acts: ['edit', 'cosign', 'decline', 'cancel'],
  signatures: [SIGNATURE],
}
const COSIGNATURE = {
  ...SIGNATURE,
  act: 'cosign',
  prescriber_id: SECOND_ID,
  signed_by: SECOND,
  signed_at: '2026-11-20T15:05:00.000Z',
}
const AUTHORIZED = {
  ...PENDING,
  status: 'authorized',
  version: 3,
  allowed_acts: ['edit', 'decline', 'cancel', 'execute'],
  signatures: [SIGNATURE, COSIGNATURE],
  authorized_at: '2026-11-20T15:05:00.000Z',
}
const ended = (status: string, reason: string, by: object) => ({
  ...PENDING,
  status,
  version: 3,
  allowed_acts: [],
  ended_at: '2026-11-20T15:05:00.000Z',
  ended_by: by,
  ended_reason: reason,
})
const CHALLENGE = 'q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s'

const resource = z
  .looseObject({ resourceType: z.literal('MedicationRequest') })
  .meta({ id: 'MedicationRequest', verbatim: true, description: 'MedicationRequest of FHIR R4.' })
const REQUEST = {
  resourceType: 'MedicationRequest',
  status: 'active',
  intent: 'order',
  medicationCodeableConcept: {
    coding: [{ system: 'http://www.nlm.nih.gov/research/umls/rxnorm', code: '1049502' }],
    text: BODY.medication.name,
  },
  subject: { reference: BODY.patient_ref },
  requester: { identifier: { system: 'http://hl7.org/fhir/sid/us-npi', value: '1234567893' } },
  dosageInstruction: [{ text: BODY.sig }],
  dispenseRequest: { numberOfRepeatsAllowed: 0, quantity: { value: 30, unit: 'tablet' } },
}
const FHIR_BODY = { [FHIR_TYPE]: { schema: resource, examples: { 'A MedicationRequest': REQUEST } } }
const FHIR_ANSWER = { stream: { schema: resource } }
const SIGNING = [
  'challenge_act_mismatch',
  'challenge_expired',
  'clinical_policy_denied',
  'invalid_state_transition',
  'not_found',
  'passkey_required',
  'payload_hash_mismatch',
  'prescriber_excluded',
  'prescriber_tier_insufficient',
  'signer_mismatch',
] as const

export const NOTES: Record<string, Note> = {
  'GET /v1/clinical/orders': {
    description:
      'An open order that was not executed within 72 hours is expired. NDJSON has everything that matches: an export for ' +
      `inspections. ${GUIDE}`,
    answers: { 200: { example: listed(AUTHORIZED) } },
  },
  'GET /v1/clinical/orders/:id': {
    description:
      `With \`Accept: ${FHIR_TYPE}\` a MedicationRequest: the resource as it came, with its extensions and the digits of its ` +
      `decimals, and our status in an extension. ${GUIDE}`,
    answers: { 200: { example: AUTHORIZED, ...FHIR_ANSWER } },
    problems: ['not_found'],
  },
  'POST /v1/clinical/orders': {
    description:
      'The schedule is the strictest of the request, the formulary and the substances of 21 CFR 1308 in the name of the ' +
      `medication. A FHIR resource names the prescriber by NPI in \`requester.identifier\`. ${GUIDE}`,
    examples: { 'A controlled substance': BODY },
    bodies: FHIR_BODY,
    answers: { 200: { example: DRAFT, ...FHIR_ANSWER } },
  },
  'PATCH /v1/clinical/orders/:id': {
    description:
      'Another content has another hash, and both signatures are void. An order that was made from a FHIR resource is edited by ' +
      'sending the whole resource.',
    headers: IF_MATCH,
    examples: { 'Another dose': { sig: 'One tablet every 8 hours as needed for pain' } },
    bodies: FHIR_BODY,
    answers: {
      200: {
        example: { ...DRAFT, version: 3, revision: 2, sig: 'One tablet every 8 hours as needed for pain' },
        ...FHIR_ANSWER,
      },
    },
    problems: ['invalid_state_transition', 'not_found', 'precondition_failed', 'precondition_required'],
  },
  'POST /v1/clinical/orders/:id/challenge': {
    description:
      'For two minutes, once, for this act and exactly this content. Show the signer the order, the prescriber and the statement; ' +
      'compare `order_hash` with the hash of what you show. A key gets a challenge for the passkeys of every user.',
    examples: { 'For the prescriber': { act: 'sign' }, 'For the second clinician': { act: 'cosign' } },
    answers: {
      200: {
        example: {
          challenge_id: 'pkc_test_01m7x7ennfe7dsmvdzwjp06y9x',
          challenge: CHALLENGE,
          expires_at: '2026-11-20T15:02:00.000Z',
          options: {
            challenge: CHALLENGE,
            rpId: 'claims.example.com',
            timeout: 120_000,
            allowCredentials: [],
            userVerification: 'required',
          },
          act: 'sign',
          order_hash: HASH,
          statement: { version: CURRENT_STATEMENT, text: STATEMENTS[CURRENT_STATEMENT] },
          prescriber: { first: 'Robin', last: 'Example', npi: '1234567893', dea_numbers: ['BE1234563'] },
          order: DRAFT,
        },
      },
    },
    problems: ['cosigner_same_npi', 'cosigner_same_user', 'invalid_state_transition', 'not_found', 'signer_mismatch'],
  },
  'POST /v1/clinical/orders/:id/sign': {
    description:
      'The signed-in prescriber, or a passkey of the prescriber that a key passes on. Without a passkey only where the policy asks ' +
      'for none, and the prescriber is signed in. What verify would refuse is not signed.',
    examples: { 'With a passkey': { passkey_assertion: ASSERTION } },
    answers: { 200: { example: PENDING } },
    problems: SIGNING,
  },
  'POST /v1/clinical/orders/:id/cosign': {
    description: 'Another prescriber, by user and NPI, of the tier that the policy asks for and on no exclusion list.',
    examples: { 'With a passkey': { passkey_assertion: ASSERTION } },
    answers: { 200: { example: AUTHORIZED } },
    problems: [...SIGNING, 'cosigner_same_npi', 'cosigner_same_user'],
  },
  'POST /v1/clinical/orders/:id/decline': {
    description:
      'Another prescriber who is signed in declines, or a caller with a key. It is possible until the order is executed.',
    examples: { 'The dose is too high': { reason: 'dose' } },
    answers: { 200: { example: ended('declined', 'dose', SECOND) } },
    problems: ['cosigner_same_npi', 'cosigner_same_user', 'invalid_state_transition', 'not_found', 'signer_mismatch'],
  },
  'POST /v1/clinical/orders/:id/cancel': {
    description: 'Possible until the order is executed.',
    examples: { 'It is not needed any more': { reason: 'no_longer_needed' } },
    answers: { 200: { example: ended('cancelled', 'no_longer_needed', USER) } },
    problems: ['invalid_state_transition', 'not_found'],
  },
}
