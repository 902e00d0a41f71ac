// The bodies of requests about orders. What a person signs is taken as it was sent: no member is trimmed.

import { z } from 'zod'
import { hashedObject } from '#src/authorize/policy/json-object.ts'
import type { JsonObject } from '#src/platform/crypto/canonical.ts'
import { shownText } from '#src/platform/http/params.ts'
import { passkeyAssertion } from '../passkeys/bodies.ts'
import { usState } from '../prescribers/bodies.ts'
import { scheduleSchema } from '../prescribers/policy-document.ts'
import type { DrugSchedule } from '../prescribers/substances.ts'
import { type OrderContent, SIGNATURE_ACTS } from './content.ts'
import { parseMedicationRequest } from './fhir.ts'
import { CANCEL_REASONS, DECLINE_REASONS } from './rows.ts'

const reference = shownText(200)
const medication = z
  .strictObject({
    rxnorm: z
      .string()
      .regex(/^[0-9]{1,8}$/, 'must be a concept id of RxNorm, of 1 to 8 digits')
      .nullable()
      .default(null)
      .describe('Concept id of RxNorm (RXCUI).'),
    name: shownText(500),
    schedule: scheduleSchema
      .default('none')
      .describe('Schedule that you know. The formulary and the table of 21 CFR 1308 can only make it stricter.'),
  })
  .meta({ id: 'OrderedMedicationRequest' })
const quantity = z
  .strictObject({
    value: z
      .string()
      .regex(/^(?=.*[1-9])[0-9]{1,9}(?:\.[0-9]{1,6})?$/, 'must be a decimal above zero, such as "30" or "2.50"')
      .describe('Decimal, whose digits are kept as they are.'),
    unit: shownText(50).nullable().default(null),
  })
  .meta({ id: 'OrderedQuantityRequest' })
const payload = hashedObject
  .meta({ id: 'OrderPayload', verbatim: true })
  .describe('`action_payload` of the intent token that will execute the order. It is signed with the order.')

const members = {
  patient_ref: reference.describe('Your reference of the patient, such as `Patient/123`. Sealed at rest.'),
  encounter_ref: reference.nullable().default(null),
  medication,
  quantity,
  refills: z.number().int().min(0).max(99),
  sig: shownText(1_000).describe('Directions for use.'),
  us_state: usState
    .nullable()
    .default(null)
    .describe('State where it is dispensed: an exclusion of the LEIE that is waived there does not count.'),
  action_payload: payload.nullable().default(null),
}

/** What a request says that an order is, whatever its form. */
export interface OrderDraft {
  /** The prescriber: by id, or by number where a FHIR resource names one. */
  prescriber: { id: string } | { npi: string }
  content: OrderContent
  requested: DrugSchedule
  /** Concepts and names that the schedule is decided by. */
  concepts: { rxnorms: readonly string[]; names: readonly string[] }
  usState: string | null
  payload: JsonObject | null
  /** Text of the FHIR resource. */
  resource: string | null
}

/** The members that a change in JSON names. */
export type OrderChange = { [Name in keyof typeof members]?: z.output<(typeof members)[Name]> }

export const orderRequest = z
  .strictObject({ prescriber_id: z.string().max(64), ...members })
  .transform(({ prescriber_id: id, ...given }) => toDraft({ id }, given))

/** Members of a change have no defaults: what it does not name stays. */
export const orderChange = z
  .strictObject({
    patient_ref: members.patient_ref.optional(),
    encounter_ref: reference.nullable().optional(),
    medication: medication.optional(),
    quantity: quantity.optional(),
    refills: members.refills.optional(),
    sig: members.sig.optional(),
    us_state: usState.nullable().optional(),
    action_payload: payload.nullable().optional(),
  })
  .refine((request) => Object.values(request).some((value) => value !== undefined), 'must change something')
  .transform((given): { change: OrderChange } | { draft: OrderDraft } => ({
    change: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  }))

export type OrderMembers = Required<OrderChange>

export function toDraft(prescriber: OrderDraft['prescriber'], given: OrderMembers): OrderDraft {
  const { medication: ordered, us_state: usState, action_payload, ...rest } = given
  const { rxnorm, name, schedule } = ordered
  return {
    prescriber,
    content: { ...rest, medication: { rxnorm, name } },
    requested: schedule,
    concepts: { rxnorms: rxnorm === null ? [] : [rxnorm], names: [name] },
    usState,
    payload: action_payload,
    resource: null,
  }
}

/** A MedicationRequest of FHIR R4 in place of JSON. It has no schedule: the formulary and the table decide. */
export async function readResource(bytes: Buffer): Promise<OrderDraft> {
  const { content, npi, concepts, text } = await parseMedicationRequest(bytes)
  return { prescriber: { npi }, content, requested: 'none', concepts, usState: null, payload: null, resource: text }
}

export const signatureAct = z.enum(SIGNATURE_ACTS).meta({ id: 'SignatureAct' })
export const orderChallengeRequest = z.strictObject({ act: signatureAct })
export const signRequest = z.strictObject({
  passkey_assertion: passkeyAssertion
    .optional()
    .describe('Required where `needs.passkey` of the order says so, and for API keys.'),
})
export const cosignRequest = z.strictObject({ passkey_assertion: passkeyAssertion })
export const declineReason = z.enum(DECLINE_REASONS).meta({ id: 'DeclineReason' })
export const cancelReason = z.enum(CANCEL_REASONS).meta({ id: 'OrderCancelReason' })
export const declineRequest = z.strictObject({ reason: declineReason })
export const cancelRequest = z.strictObject({ reason: cancelReason })
