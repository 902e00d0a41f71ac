// The clinical policy of an account: what an order of each schedule needs. Defaults are those of the federal rules where they say
// something, and refills of controlled substances can't be set above them.

import { z } from 'zod'
import { type DrugSchedule, SCHEDULES } from './substances.ts'

export const scheduleSchema = z
  .enum(SCHEDULES.toReversed() as unknown as typeof SCHEDULES)
  .meta({ id: 'DrugSchedule', description: 'Schedule of 21 CFR 1308; none: not a controlled substance.' })

export const tierSchema = z.literal([0, 1, 2, 3]).meta({
  id: 'PrescriberTier',
  description: '0 unverified, 1 identity verified, 2 licensed, 3 registered with the DEA.',
})

/** 21 CFR 1306.22(a): six months after the date of issue, taken as the shortest six months. */
const SIX_MONTHS_DAYS = 181

interface Limits {
  refills: number
  days: number
}

function ruleSchema({ refills, days }: Limits) {
  return z.strictObject({
    deny: z.boolean().default(false).describe('No order of this schedule is authorized.'),
    tier: tierSchema.describe('Tier that the prescriber, and a co-signer, must have.'),
    passkey: z.boolean().describe('The prescriber signs with a passkey.'),
    cosign: z.boolean().describe('A second prescriber has to co-sign.'),
    max_refills: z.number().int().min(0).max(refills),
    validity_days: z
      .number()
      .int()
      .min(1)
      .max(days)
      .nullable()
      .describe('Days after its authorization during which an order may be executed; null: no limit of its own.'),
  })
}

const MAX_REFILLS = 99
const rule = ruleSchema({ refills: MAX_REFILLS, days: 366 }).meta({ id: 'ClinicalRule' })
// 21 CFR 1306.12(a): a prescription of schedule II is not refilled.
const ruleOfTwo = ruleSchema({ refills: 0, days: 366 }).meta({ id: 'ClinicalRuleWithoutRefills' })
// 21 CFR 1306.22(a): five refills within six months.
const ruleOfThree = ruleSchema({ refills: 5, days: SIX_MONTHS_DAYS }).meta({ id: 'ClinicalRuleOfSixMonths' })

export const clinicalPolicySchema = z
  .strictObject({
    schedules: z
      .strictObject({ none: rule, I: ruleOfTwo, II: ruleOfTwo, III: ruleOfThree, IV: ruleOfThree, V: rule })
      .meta({ id: 'ClinicalRules' }),
    allow_stale: z
      .boolean()
      .default(false)
      .describe('Orders are authorized although an exclusion list is missing or outdated.'),
  })
  .meta({ id: 'ClinicalPolicyDocument', verbatim: true })

export type ClinicalPolicyDocument = z.output<typeof clinicalPolicySchema>

export interface ClinicalRule {
  deny: boolean
  tier: 0 | 1 | 2 | 3
  passkey: boolean
  cosign: boolean
  maxRefills: number
  validityDays: number | null
}

const controlled = { deny: false, tier: 3, passkey: true, cosign: false } as const

export const DEFAULT_CLINICAL_POLICY: ClinicalPolicyDocument = {
  schedules: {
    none: { deny: false, tier: 2, passkey: false, cosign: false, max_refills: MAX_REFILLS, validity_days: null },
    // No accepted medical use (21 U.S.C. 812(b)(1)).
    I: { ...controlled, deny: true, max_refills: 0, validity_days: null },
    II: { ...controlled, cosign: true, max_refills: 0, validity_days: null },
    III: { ...controlled, max_refills: 5, validity_days: SIX_MONTHS_DAYS },
    IV: { ...controlled, max_refills: 5, validity_days: SIX_MONTHS_DAYS },
    V: { ...controlled, max_refills: MAX_REFILLS, validity_days: null },
  },
  allow_stale: false,
}

/** What an order of a schedule needs. */
export function ruleOf({ schedules }: ClinicalPolicyDocument, schedule: DrugSchedule): ClinicalRule {
  const { max_refills: maxRefills, validity_days: validityDays, ...rest } = schedules[schedule]
  return { ...rest, maxRefills, validityDays }
}
