// What refuses an order, as it is now. Pure: verify, the preflight of authorize and explanations judge the same facts alike. The
// first refusal in the published order of the reasons is the answer; final states come before what could still be repaired.

import type { ClinicalRule } from '../prescribers/policy-document.ts'
import type { DrugSchedule } from '../prescribers/substances.ts'
import type { Tier } from '../prescribers/tier.ts'
import type { OrderStatus } from './state.ts'

export interface ClinicianFacts {
  tier: Tier
  /** Schedules of the DEA registrations that are in force. */
  dea_schedules: readonly DrugSchedule[]
  /** What the exclusion lists say. */
  exclusion: 'clear' | 'review' | 'excluded'
}

export interface OrderFacts {
  status: OrderStatus
  schedule: DrugSchedule
  refills: number
  prescriber: ClinicianFacts
  /** The clinician who co-signed the present content; null: nobody did. */
  cosigner: ClinicianFacts | null
  /** How the prescriber signed the present content. */
  signature: 'none' | 'session' | 'passkey'
  /** ISO 8601: when the last signature that was needed came; null while one is missing. */
  authorized_at: string | null
  /** The rule that the clinical policy has for the schedule now. */
  rule: ClinicalRule
  /** An exclusion list is missing or outdated, and the policy refuses then. */
  is_denied_as_stale: boolean
}

/** The order that a token is bound to. */
export interface BoundOrder {
  order_id: string
  /** Hash of its present content: see content.ts. */
  order_hash: string
  /** Hash of the payload that the signers saw; null: the order names none. */
  payload_hash: string | null
  facts: OrderFacts
}

export const ORDER_REASONS = [
  'prescriber_excluded',
  'order_declined',
  'prescriber_tier_insufficient',
  'controlled_substance_cosign_required',
] as const

/** Rules that stand for what refuses an order without a reason of its own, in their order. */
export const ORDER_RULES = [
  'clinical:order_cancelled',
  'clinical:order_expired',
  'clinical:order_unsigned',
  'clinical:schedule_denied',
  'clinical:refills_exceeded',
  'clinical:validity_over',
  'clinical:exclusion_review',
  'clinical:list_stale',
] as const
export type OrderRule = (typeof ORDER_RULES)[number]

export type OrderRefusal =
  | { reason: (typeof ORDER_REASONS)[number] }
  | { reason: 'policy_denied'; matched_rule_id: OrderRule }

const DAY_MS = 86_400_000

/** undefined: the order authorizes. @param at ISO 8601: the time of the decision. */
export function judgeOrder(order: OrderFacts, at: string): OrderRefusal | undefined {
  const { status, rule, cosigner, prescriber } = order
  const clinicians = cosigner === null ? [prescriber] : [prescriber, cosigner]
  if (clinicians.some(({ exclusion }) => exclusion === 'excluded')) return { reason: 'prescriber_excluded' }
  if (status === 'declined') return { reason: 'order_declined' }
  if (!clinicians.every((one) => isSufficient(one, order))) return { reason: 'prescriber_tier_insufficient' }
  // An order that waits for a co-signature is not authorized by a rule that has stopped asking for one.
  const needsCosigner = rule.cosign || status === 'pending_cosign'
  if (needsCosigner && cosigner === null) return { reason: 'controlled_substance_cosign_required' }
  const denied = DENIALS.find(([, isDenied]) => isDenied(order, at))
  return denied === undefined ? undefined : { reason: 'policy_denied', matched_rule_id: denied[0] }
}

// Tier 3 says that there is a registration, and not for which schedules.
function isSufficient({ tier, dea_schedules }: ClinicianFacts, { rule, schedule }: OrderFacts): boolean {
  return tier >= rule.tier && (rule.tier < 3 || schedule === 'none' || dea_schedules.includes(schedule))
}

const DENIALS: readonly [OrderRule, (order: OrderFacts, at: string) => boolean][] = [
  ['clinical:order_cancelled', ({ status }) => status === 'cancelled'],
  ['clinical:order_expired', ({ status }) => status === 'expired'],
  [
    'clinical:order_unsigned',
    ({ signature, rule }) => signature === 'none' || (rule.passkey && signature !== 'passkey'),
  ],
  ['clinical:schedule_denied', ({ rule }) => rule.deny],
  ['clinical:refills_exceeded', ({ refills, rule }) => refills > rule.maxRefills],
  [
    'clinical:validity_over',
    ({ authorized_at: from, rule: { validityDays: days } }, at) =>
      from !== null && days !== null && Date.parse(at) >= Date.parse(from) + days * DAY_MS,
  ],
  [
    'clinical:exclusion_review',
    ({ prescriber, cosigner }) => prescriber.exclusion === 'review' || cosigner?.exclusion === 'review',
  ],
  ['clinical:list_stale', ({ is_denied_as_stale: isDenied }) => isDenied],
]
