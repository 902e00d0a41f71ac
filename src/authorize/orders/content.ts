// What a clinician signs: every member that the page shows, and nothing that is not signed. The hash is over the canonical JSON of
// all of it, so a change of any member is another order to sign.

import type { DrugSchedule } from '#src/authorize/prescribers/substances.ts'
import { canonicalize, type JsonObject } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SealedColumn } from '#src/platform/crypto/sealed-columns.ts'
import type { Bound } from '../passkeys/assertions.ts'
import { hashCanonical } from '../tokens/format.ts'

/** Personal: it is sealed at rest, and it is in no log, event or mail. */
export interface OrderContent {
  patient_ref: string
  encounter_ref: string | null
  medication: { rxnorm: string | null; name: string }
  quantity: { value: string; unit: string | null }
  refills: number
  sig: string
}

export interface SignedOrder extends OrderContent {
  order_id: string
  prescriber_id: string
  /** The schedule that was decided, which may be stricter than the requested one. */
  schedule: DrugSchedule
  /** Where it is dispensed, since an exclusion may be waived in one state. */
  us_state: string | null
  action_payload: JsonObject | null
  /** SHA-256 in base64url of the FHIR resource as it came, whose further members are signed with it; null for JSON. */
  resource_hash: string | null
}

/** First member of what is hashed: another form of content gets another version. */
export const HASH_VERSION = 1

/** SHA-256 in base64url without padding. */
export function hashOrder(order: SignedOrder): string {
  return sha256Base64url(canonicalize({ version: HASH_VERSION, ...named(order) }))
}

// Members are listed, so that a member which a caller adds for another purpose does not change the hash.
function named(order: SignedOrder): JsonObject {
  const { medication, quantity } = order
  return {
    order_id: order.order_id,
    prescriber_id: order.prescriber_id,
    patient_ref: order.patient_ref,
    encounter_ref: order.encounter_ref,
    medication: { rxnorm: medication.rxnorm, name: medication.name },
    schedule: order.schedule,
    us_state: order.us_state,
    quantity: { value: quantity.value, unit: quantity.unit },
    refills: order.refills,
    sig: order.sig,
    action_payload: order.action_payload,
    resource_hash: order.resource_hash,
  }
}

/** What of an order stands sealed in its row. */
export interface SealedOrder {
  content: OrderContent
  action_payload: JsonObject | null
  /** Schedule that the caller named, before the other sources. */
  requested_schedule: DrugSchedule
  /** The substance of the table that decided the schedule. */
  substance: string | null
  /** Text of the FHIR resource as it came; null for JSON. */
  resource: string | null
}

const useOf = (id = '') => `order content ${id}`

export const SEALED_CONTENT: SealedColumn = {
  table: 'orders',
  column: 'sealed_content',
  of: 'environment',
  id: 'id',
  use: ({ id }) => useOf(id),
}

export function sealContent(sealer: Sealer, id: string, order: SealedOrder): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify(order)), useOf(id))
}

export function openContent(sealer: Sealer, { id, sealedContent }: { id: string; sealedContent: Buffer }): SealedOrder {
  return JSON.parse(sealer.open(sealedContent, useOf(id)).toString()) as SealedOrder
}

export const SIGNATURE_ACTS = ['sign', 'cosign'] as const
export type SignatureAct = (typeof SIGNATURE_ACTS)[number]

/** Versions of the statement that signers see; a stored version never changes (21 CFR 1311.140(a)(3)). */
export const STATEMENTS = {
  '1':
    'By completing the two-factor authentication protocol at this time, you are legally signing the prescription(s) and ' +
    'authorizing the transmission of the above information to the pharmacy for dispensing. The two-factor ' +
    'authentication protocol may only be completed by the practitioner whose name and DEA registration number appear above.',
} as const
export type StatementVersion = keyof typeof STATEMENTS
export const CURRENT_STATEMENT: StatementVersion = '1'

/** What a signature is bound to, beside the nonce of its challenge. */
export interface SignatureBinding {
  order_id: string
  order_hash: string
  act: SignatureAct
  statement_version: StatementVersion
}

/**
 * What the challenge of a passkey hashes, so that an assertion serves for no other order, content, act or statement. It names no
 * agent session, as every action of an agent does: a confirmation of an action is no signature.
 */
export function boundOfSignature({ order_id, order_hash, act, statement_version }: SignatureBinding): Bound {
  return {
    action_hash: order_hash,
    payload_hash: hashCanonical({ subject: 'clinician_order', order_id, order_hash, act, statement_version }),
    agent_session_id: null,
    device_id: null,
  }
}
