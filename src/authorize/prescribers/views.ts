import { z } from 'zod'
import { actorView } from '#src/platform/http/actor.ts'
import { rowVersion } from '#src/platform/http/versions.ts'
import { timestampView as time } from '#src/platform/http/views.ts'
import { controlledSchedule, endReason, identityMethod, suspensionReason, usState } from './bodies.ts'
import { tierSchema } from './policy-document.ts'
import type { ShownFact, ShownPrescriber } from './prescribers.ts'
import { FACT_KINDS, FACT_STATUSES } from './rows.ts'

export const prescriberView = z
  .object({
    prescriber_id: z.string(),
    user_id: z.string(),
    npi: z.string(),
    first: z.string(),
    last: z.string(),
    dob: z.iso.date().nullable(),
    tier: tierSchema.describe(
      'Tier at this moment: facts, their expiry, a suspension and the passkeys of the user decide.',
    ),
    suspended_at: time.nullable(),
    suspended_by: actorView.nullable(),
    suspended_reason: suspensionReason.nullable(),
    version: rowVersion,
    created_by: actorView,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Prescriber' })

const factWarning = z.enum(['dea_initial_differs']).meta({
  id: 'PrescriberFactWarning',
  description: 'dea_initial_differs: the second letter of the number is not the initial of the last name, nor 9.',
})

export const factView = z
  .object({
    fact_id: z.string(),
    prescriber_id: z.string(),
    kind: z.enum(FACT_KINDS).meta({ id: 'PrescriberFactKind' }),
    status: z
      .enum(FACT_STATUSES)
      .meta({ id: 'PrescriberFactStatus' })
      .describe('entered counts for tiers 1 and 2; confirmed for tier 3 too; expired and ended for none.'),
    method: identityMethod.nullable().describe('Set for the kind identity.'),
    us_state: usState.nullable().describe('Set for the kind licence.'),
    number: z.string().nullable(),
    schedules: z.array(controlledSchedule).nullable().describe('Set for the kind dea.'),
    expires_at: time.nullable(),
    warnings: z.array(factWarning),
    entered_by: actorView,
    entered_at: time,
    confirmed_by: actorView.nullable(),
    confirmed_at: time.nullable(),
    ended_by: actorView.nullable(),
    ended_at: time.nullable(),
    ended_reason: endReason.nullable(),
  })
  .meta({ id: 'PrescriberFact' })

export const confirmedFactsView = z
  .object({ prescriber_id: z.string(), tier: tierSchema, facts: z.array(factView) })
  .meta({ id: 'ConfirmedPrescriberFacts' })

export function toPrescriberView({ person, ...row }: ShownPrescriber): z.input<typeof prescriberView> {
  return {
    prescriber_id: row.id,
    user_id: row.userId,
    npi: row.npi,
    first: person.first,
    last: person.last,
    dob: person.dob,
    tier: row.tier,
    suspended_at: row.suspendedAt?.toISOString() ?? null,
    suspended_by: row.suspendedBy,
    suspended_reason: row.suspendedReason,
    version: row.version,
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}

export function toFactView(row: ShownFact): z.input<typeof factView> {
  return {
    fact_id: row.id,
    prescriber_id: row.prescriberId,
    kind: row.kind,
    status: row.status,
    method: row.method,
    us_state: row.state as z.input<typeof usState> | null,
    number: row.number,
    schedules: row.schedules,
    expires_at: row.expiresAt?.toISOString() ?? null,
    warnings: row.hasForeignInitial ? ['dea_initial_differs'] : [],
    entered_by: row.enteredBy,
    entered_at: row.enteredAt.toISOString(),
    confirmed_by: row.confirmedBy,
    confirmed_at: row.confirmedAt?.toISOString() ?? null,
    ended_by: row.endedBy,
    ended_at: row.endedAt?.toISOString() ?? null,
    ended_reason: row.endedReason,
  }
}
