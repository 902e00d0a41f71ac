// What callers see of an order: every member that is signed, by its name in the hash, so that a client can compute `order_hash` from
// the answer alone.

import { z } from 'zod'
import { hashedObject } from '#src/authorize/policy/json-object.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import { actorView } from '#src/platform/http/actor.ts'
import { rowVersion } from '#src/platform/http/versions.ts'
import { asWritten, extended, timestampView as time } from '#src/platform/http/views.ts'
import { challengeView } from '../passkeys/views.ts'
import { usState } from '../prescribers/bodies.ts'
import { scheduleSchema, tierSchema } from '../prescribers/policy-document.ts'
import { signatureAct } from './bodies.ts'
import { CURRENT_STATEMENT, HASH_VERSION, STATEMENTS } from './content.ts'
import type { OpenedOrder } from './orders.ts'
import { CANCEL_REASONS, DECLINE_REASONS } from './rows.ts'
import type { OrderChallenge } from './signing.ts'
import { actsIn, ORDER_ACTS, ORDER_STATUSES } from './state.ts'

export const orderStatus = z.enum(ORDER_STATUSES).meta({ id: 'OrderStatus' })

const signatureView = z
  .object({
    act: signatureAct,
    revision: z.number().int().describe('Edit of the order that was signed.'),
    order_hash: z.string(),
    prescriber_id: z.string().describe('Who signed.'),
    signed_by: actorView,
    method: z
      .enum(['passkey', 'session'])
      .meta({ id: 'SignatureMethod' })
      .describe('session: the signed-in person confirmed, where the policy asks for no passkey.'),
    passkey_id: z.string().nullable(),
    statement_version: z.string().describe('Version of the statement that the signer saw.'),
    signed_at: time,
    voided_at: time.nullable().describe('When an edit voided it.'),
  })
  .meta({ id: 'OrderSignature' })

const needsView = z
  .object({
    deny: z.boolean(),
    tier: tierSchema,
    passkey: z.boolean(),
    cosign: z.boolean(),
    max_refills: z.number().int(),
    validity_days: z.number().int().nullable(),
  })
  .meta({ id: 'OrderNeeds', description: 'The rule that the clinical policy has now for the schedule of the order.' })

const medicationView = z
  .object({ rxnorm: z.string().nullable(), name: z.string() })
  .meta({ id: 'OrderedMedication', verbatim: true })
const quantityView = z
  .object({ value: z.string().describe('Decimal with the digits that were sent.'), unit: z.string().nullable() })
  .meta({ id: 'OrderedQuantity', verbatim: true })

export const orderView = z
  .object({
    order_id: z.string(),
    status: orderStatus,
    version: rowVersion.describe('Counts all changes. The `ETag` has it.'),
    revision: z.number().int().describe('Counts edits, each of which voids the signatures.'),
    order_hash: z
      .string()
      .describe('SHA-256 in base64url of the canonical JSON of what is signed: see the guide Clinician orders.'),
    hash_version: z.literal(HASH_VERSION),
    prescriber_id: z.string(),
    prescriber_npi: z.string(),
    patient_ref: z.string(),
    encounter_ref: z.string().nullable(),
    medication: medicationView,
    schedule: scheduleSchema.describe('The strictest of what was asked for, the formulary and the table.'),
    schedule_source: z
      .enum(['request', 'formulary', 'table'])
      .meta({ id: 'ScheduleSource' })
      .describe('Which of the three decided.'),
    schedule_substance: z
      .string()
      .nullable()
      .describe('Substance of 21 CFR 1308 that was found, if the table decided.'),
    schedule_requested: scheduleSchema,
    quantity: quantityView,
    refills: z.number().int(),
    sig: z.string(),
    us_state: usState.nullable(),
    action_payload: asWritten(hashedObject.meta({ id: 'OrderPayload', verbatim: true })).nullable(),
    resource: z.string().nullable().describe('Text of the FHIR resource as it came; null for an order in JSON.'),
    resource_hash: z.string().nullable().describe('SHA-256 in base64url of that text.'),
    needs: needsView,
    allowed_acts: z.array(z.enum(ORDER_ACTS).meta({ id: 'OrderAct' })).describe('What is possible in this status.'),
    warnings: z
      .array(z.enum(['leie_stale', 'sam_stale']).meta({ id: 'OrderWarning' }))
      .describe('Exclusion lists that are missing or outdated.'),
    signatures: z.array(signatureView).describe('Also those that an edit voided.'),
    authorized_at: time.nullable(),
    expires_at: time,
    ended_at: time.nullable().describe('When it was executed, declined or cancelled.'),
    ended_by: actorView.nullable(),
    ended_reason: z
      .enum([...new Set([...DECLINE_REASONS, ...CANCEL_REASONS])])
      .meta({ id: 'OrderEndReason' })
      .nullable(),
    decision_id: z.string().nullable().describe('Decision that executed it.'),
    created_by: actorView,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Order' })

const statementView = z
  .object({ version: z.string(), text: z.string().describe('Show it to the signer (21 CFR 1311.140(a)(3)).') })
  .meta({ id: 'SigningStatement' })
const signerView = z
  .object({ first: z.string(), last: z.string(), npi: z.string(), dea_numbers: z.array(z.string()) })
  .meta({
    id: 'OrderPrescriber',
    description: 'Name and registrations of the prescriber, which the signer has to see.',
  })

export const orderChallengeView = extended(
  challengeView,
  {
    act: signatureAct,
    order_hash: z.string().describe('What is signed: compare it with the hash of what you show.'),
    statement: statementView,
    prescriber: signerView,
    order: orderView,
  },
  { id: 'OrderChallenge' },
)

const WARNINGS = { leie: 'leie_stale', sam: 'sam_stale' } as const

export function toOrderView({ row, sealed, ...order }: OpenedOrder): z.input<typeof orderView> {
  const { content, resource } = sealed
  const { maxRefills: max_refills, validityDays: validity_days, ...needs } = order.needs
  return {
    order_id: row.id,
    status: row.status,
    version: row.version,
    revision: row.revision,
    order_hash: row.orderHash,
    hash_version: HASH_VERSION,
    prescriber_id: row.prescriberId,
    prescriber_npi: order.npi,
    ...content,
    schedule: row.schedule,
    schedule_source: row.scheduleSource,
    schedule_substance: sealed.substance,
    schedule_requested: sealed.requested_schedule,
    us_state: row.usState as z.input<typeof usState> | null,
    action_payload: sealed.action_payload,
    resource,
    resource_hash: resource === null ? null : sha256Base64url(resource),
    needs: { ...needs, max_refills, validity_days },
    allowed_acts: actsIn(row.status),
    warnings: order.staleLists.map((list) => WARNINGS[list]),
    signatures: order.signatures.map((one) => ({
      act: one.act,
      revision: one.revision,
      order_hash: one.orderHash,
      prescriber_id: one.prescriberId,
      signed_by: order.actors(one.userId),
      method: one.passkeyId === null ? 'session' : 'passkey',
      passkey_id: one.passkeyId,
      statement_version: one.statementVersion,
      signed_at: one.signedAt.toISOString(),
      voided_at: one.voidedAt?.toISOString() ?? null,
    })),
    authorized_at: row.authorizedAt?.toISOString() ?? null,
    expires_at: row.expiresAt.toISOString(),
    ended_at: row.endedAt?.toISOString() ?? null,
    ended_by: order.actors(row.endedBy),
    ended_reason: row.endedReason,
    decision_id: row.decisionId,
    created_by: order.actors(row.createdBy),
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}

export function toChallengeView({
  challenge,
  act,
  order,
  prescriber,
}: OrderChallenge): z.input<typeof orderChallengeView> {
  const { first, last, deaNumbers } = prescriber
  return {
    ...challenge,
    act,
    order_hash: order.row.orderHash,
    statement: { version: CURRENT_STATEMENT, text: STATEMENTS[CURRENT_STATEMENT] },
    prescriber: { first, last, npi: order.npi, dea_numbers: deaNumbers },
    order: toOrderView(order),
  }
}
