// The bodies of requests about prescribers. Reasons are closed lists, and no member takes a free text.

import { z } from 'zod'
import { timestamp, visibleText } from '#src/platform/http/params.ts'
import { passkeyAssertion } from '../passkeys/bodies.ts'
import { findDeaProblem, findNpiProblem, type NumberProblem } from './check-digits.ts'
import { type PrescriberPerson, US_STATES } from './person.ts'
import { END_REASONS, type FactTerms, IDENTITY_METHODS, SUSPENSION_REASONS } from './rows.ts'
import { CONTROLLED } from './substances.ts'

const MAX_FACTS_AT_ONCE = 20

function checkedNumber(schema: z.ZodString, find: (number: string) => NumberProblem | undefined) {
  return schema.superRefine((number, context) => {
    const problem = find(number)
    if (problem !== undefined) {
      context.addIssue({ code: 'custom', message: problem.detail, params: { code: problem.code } })
    }
  })
}

const npi = checkedNumber(z.string().max(20), findNpiProblem).describe(
  'National Provider Identifier. When its check digit is wrong, the error says what the last digit would be.',
)
export const npiFilter = npi
const deaNumber = checkedNumber(z.string().max(20), findDeaProblem).describe('DEA registration number of a prescriber.')
const name = visibleText(100)
const dob = z.iso
  .date()
  .refine((date) => date >= '1900-01-01', { message: 'must not lie before 1900', params: { code: 'out_of_range' } })
  .nullable()
  .describe('Birth date. Without one, entries of the LEIE that have the name are reviewed and never matched.')

export const usState = z.enum(US_STATES).meta({ id: 'UsState' })
export const identityMethod = z.enum(IDENTITY_METHODS).meta({
  id: 'IdentityMethod',
  description:
    'credential_service_provider: 21 CFR 1311.105; in_person: by the credentialing office of an institution, 21 CFR 1311.110.',
})
export const controlledSchedule = z.enum(CONTROLLED).meta({ id: 'ControlledSchedule' })
export const endReason = z.enum(END_REASONS).meta({ id: 'FactEndReason' })
export const suspensionReason = z.enum(SUSPENSION_REASONS).meta({ id: 'SuspensionReason' })

const number = z
  .string()
  .regex(/^[A-Za-z0-9.\-/]{1,40}$/, 'must have 1 to 40 letters, digits, dots, hyphens or slashes')
const schedules = z
  .array(controlledSchedule)
  .min(1)
  .max(CONTROLLED.length)
  .transform((values) => [...new Set(values)].toSorted())
  .describe('Schedules that the registration covers.')

const licence = { us_state: usState, number, expires_at: timestamp }
const registration = { number: deaNumber, schedules, expires_at: timestamp }

export const factRequest = z
  .discriminatedUnion('kind', [
    z
      .strictObject({ kind: z.literal('identity'), method: identityMethod, expires_at: timestamp.optional() })
      .meta({ id: 'IdentityFactRequest' }),
    z.strictObject({ kind: z.literal('licence'), ...licence }).meta({ id: 'LicenceFactRequest' }),
    z.strictObject({ kind: z.literal('dea'), ...registration }).meta({ id: 'DeaFactRequest' }),
  ])
  .meta({ id: 'CreatePrescriberFactRequest' })

export const prescriberRequest = z.strictObject({
  user_id: z.string().max(64).describe('Member of the account whose passkeys sign. A user is one prescriber at most.'),
  npi,
  first: name,
  last: name,
  dob: dob.default(null),
  state_licenses: z
    .array(z.strictObject(licence).meta({ id: 'StateLicense' }))
    .max(MAX_FACTS_AT_ONCE)
    .default([])
    .describe('Facts of the kind licence, entered with the prescriber.'),
  dea: z.strictObject(registration).meta({ id: 'DeaRegistration' }).optional().describe('A fact of the kind dea.'),
})

export const prescriberChange = z
  .strictObject({ npi: npi.optional(), first: name.optional(), last: name.optional(), dob: dob.optional() })
  .refine((request) => Object.values(request).some((value) => value !== undefined), 'must change something')

const factIds = z
  .array(z.string().max(64))
  .min(1)
  .max(MAX_FACTS_AT_ONCE)
  .refine((ids) => new Set(ids).size === ids.length, {
    message: 'must name each fact once',
    params: { code: 'duplicate' },
  })
  .describe('Facts of the prescriber whose status is entered: all of them are confirmed, or none.')

export const factChallengeRequest = z.strictObject({ fact_ids: factIds })
export const confirmationRequest = z.strictObject({ fact_ids: factIds, passkey_assertion: passkeyAssertion })
export const endFactRequest = z.strictObject({
  reason: endReason.exclude(['person_changed']).meta({ id: 'GivenFactEndReason' }),
})
export const suspensionRequest = z.strictObject({ reason: suspensionReason })

export interface NewPrescriber extends PrescriberPerson {
  userId: string
  npi: string
  facts: FactTerms[]
}

export type PersonChange = Partial<PrescriberPerson & { npi: string }>

export function toNewPrescriber(body: z.output<typeof prescriberRequest>): NewPrescriber {
  const { user_id: userId, npi: given, first, last, dob: born, state_licenses: licences, dea } = body
  const facts = [
    ...licences.map((one) => toFactTerms({ kind: 'licence', ...one })),
    ...(dea === undefined ? [] : [toFactTerms({ kind: 'dea', ...dea })]),
  ]
  return { userId, npi: given, first, last, dob: born, facts }
}

export function toFactTerms(body: z.output<typeof factRequest>): FactTerms {
  const expiresAt = body.expires_at === undefined ? null : new Date(body.expires_at)
  const none = { method: null, state: null, number: null, schedules: null, expiresAt }
  if (body.kind === 'identity') return { ...none, kind: 'identity', method: body.method }
  if (body.kind === 'licence') return { ...none, kind: 'licence', state: body.us_state, number: body.number }
  return { ...none, kind: 'dea', number: body.number, schedules: body.schedules }
}
