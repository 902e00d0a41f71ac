// What a mandate says of an action: a pure function over the mandate and its ancestors, as they were read. Each level is
// judged alone, and the first reason of the published order that any level gives is the answer: the order of the levels
// does not matter.

import type { ActionAmounts, ActionPointers } from '#src/authorize/action-amounts.ts'
import { formatAmount, parseAmount } from '#src/platform/amounts.ts'
import type { Json, JsonObject } from '#src/platform/crypto/canonical.ts'

/** `suspended`: a check-in is missed and still possible. `lapsed`: it is not possible any more. */
export type MandateStatus = 'active' | 'suspended' | 'lapsed' | 'expired' | 'revoked'
export type BudgetPeriod = 'total' | 'day' | 'week' | 'month' | 'year'

/** When actions may run, in the mandate's time zone. */
export interface MandateWindow {
  /** ISO 8601: 1 is Monday. Every day when absent. */
  weekdays?: number[]
  /** `HH:MM`, inclusive. */
  from?: string
  /** `HH:MM`, exclusive; `24:00` is the end of the day. */
  to?: string
}

export interface MandateConstraints {
  /** Decimal text. */
  min_amount?: string
  /** Decimal text. */
  max_amount?: string
  currency?: string
  action_types?: string[]
  counterparties?: string[]
  window?: MandateWindow
}

export interface MandateBudget {
  /** Decimal text. */
  limit: string
  currency: string
  period: BudgetPeriod
  /** Executions in one period. */
  max_count?: number
}

/** A mandate or one of its ancestors as plain JSON, all of it read at one moment by the clock of Postgres. */
export interface MandateLevel {
  mandate_id: string
  /** Its own: that of its ancestors is in their levels. */
  status: MandateStatus
  revoked_at: string | null
  expires_at: string
  timezone: string
  heartbeat: { interval_seconds: number; reactivation_window_seconds: number; last_check_in_at: string } | null
  constraints: MandateConstraints
  /** ISO 8601: no action may run before it. */
  not_before?: string
  /** The payment instruments that actions may name. */
  instruments?: string[]
  budget: MandateBudget | null
  /** The calendar dates, in the mandate's zone, from which and before which the budget counts. null: no budget. */
  period: { start: string; end: string | null } | null
  /** In this period; decimal text. */
  spent: string
  /** Executions in this period. */
  count: number
  /** What the clocks of its zone show: an ISO 8601 weekday and `HH:MM`. */
  local: { weekday: number; time: string }
}

export interface MandateFacts {
  mandate_id: string
  /** Root first; the mandate itself is last. */
  levels: MandateLevel[]
  /** The only agent that may act under it. null: any. */
  agent_id: string | null
  /** Where its actions have what is compared. The same for all levels: the root names them. */
  pointers: ActionPointers
  /** For fields `mandate.*` of the policy. */
  attributes: JsonObject
}

export type MandateReason =
  | 'mandate_revoked'
  | 'mandate_expired'
  | 'mandate_heartbeat_lapsed'
  | 'mandate_constraint_violated'
  | 'mandate_budget_exceeded'

/** What a `MandateDetail` can name. `agent_id`: the mandate is of another agent, which only verify knows of. */
export const MANDATE_CONSTRAINTS = [
  'amount',
  'min_amount',
  'max_amount',
  'currency',
  'action_types',
  'counterparties',
  'instruments',
  'not_before',
  'window',
  'budget',
  'max_count',
  'agent_id',
] as const
export type MandateConstraint = (typeof MANDATE_CONSTRAINTS)[number]

// No interface: it is assignable to Json.
export type MandateDetail = {
  constraint: MandateConstraint
  expected: Json
  /** null: the action has none, or it can't be read. */
  actual: Json
  /** Of the budget: decimal text, or how many executions. */
  remaining?: string
  /** The level that refuses: the mandate or one of its ancestors. */
  mandate_id: string
}

export interface MandateRefusal {
  reason: MandateReason
  mandate_detail?: MandateDetail
}

/**
 * undefined: the mandate allows the action.
 * @param at ISO 8601: the time of the decision, which is not before the facts were read.
 */
export function judgeMandate(
  { levels }: MandateFacts,
  action: ActionAmounts,
  at: string,
  /** This token was charged before: the budget is not asked again. */
  { isCharged }: { isCharged: boolean },
): MandateRefusal | undefined {
  const has = (...statuses: MandateStatus[]) => levels.some(({ status }) => statuses.includes(status))
  if (has('revoked')) return { reason: 'mandate_revoked' }
  if (has('expired') || levels.some(({ expires_at }) => at >= expires_at)) return { reason: 'mandate_expired' }
  if (has('suspended', 'lapsed')) return { reason: 'mandate_heartbeat_lapsed' }
  for (const [constraint, isBroken] of CONSTRAINTS) {
    for (const level of levels) {
      const broken = isBroken(level, action, at)
      if (broken !== undefined) {
        const mandate_detail = { constraint, ...broken, mandate_id: level.mandate_id }
        return { reason: 'mandate_constraint_violated', mandate_detail }
      }
    }
  }
  return isCharged ? undefined : judgeBudgets(levels, action)
}

/** What the budgets of all levels leave, as decimal text; null without a budget. @param charged Since the facts were read. */
export function remainingOf(
  { levels }: { levels: readonly MandateLevel[] },
  charged: string | null = null,
): string | null {
  const tightest = tightestOf(levels)
  if (tightest === undefined) return null
  const left = tightest.left - (charged === null ? 0n : unitsOf(charged))
  return formatAmount(left < 0n ? 0n : left)
}

/** How many executions the budgets of all levels leave; null where none counts them. */
export function remainingCountOf({ levels }: { levels: readonly MandateLevel[] }): number | null {
  const left = levels.flatMap(({ budget, count }) =>
    budget?.max_count === undefined ? [] : [Math.max(0, budget.max_count - count)],
  )
  return left.length === 0 ? null : Math.min(...left)
}

/** The currency in which a level limits amounts. */
export function currencyOf({ constraints, budget }: Pick<MandateLevel, 'constraints' | 'budget'>): string | undefined {
  return constraints.currency ?? budget?.currency
}

/** Of decimal text that was checked when it was written. */
export function unitsOf(text: string): bigint {
  const units = parseAmount(text)
  if (units === undefined) throw new Error('a mandate has an amount that is none')
  return units
}

type Broken = Pick<MandateDetail, 'expected' | 'actual'>

// What a mandate does not limit is not compared.
const CONSTRAINTS: readonly [
  MandateConstraint,
  (level: MandateLevel, action: ActionAmounts, at: string) => Broken | undefined,
][] = [
  [
    'amount',
    ({ constraints, budget }, { amount }) => {
      const { min_amount: least, max_amount: most } = constraints
      const isLimited = least !== undefined || most !== undefined || budget !== null
      return isLimited && (amount === null || unitsOf(amount) < 0n)
        ? { expected: '0 or more', actual: amount }
        : undefined
    },
  ],
  [
    'min_amount',
    ({ constraints: { min_amount: least } }, { amount }) =>
      least !== undefined && amount !== null && unitsOf(amount) < unitsOf(least)
        ? { expected: least, actual: amount }
        : undefined,
  ],
  [
    'max_amount',
    ({ constraints: { max_amount: most } }, { amount }) =>
      most !== undefined && amount !== null && unitsOf(amount) > unitsOf(most)
        ? { expected: most, actual: amount }
        : undefined,
  ],
  [
    'currency',
    (level, { currency: actual }) => {
      const expected = currencyOf(level)
      return expected !== undefined && actual !== expected ? { expected, actual } : undefined
    },
  ],
  [
    'action_types',
    ({ constraints }, { action_type: actual, contradicted }) =>
      outside(constraints.action_types, actual) ?? contradicted.action_type,
  ],
  [
    'counterparties',
    ({ constraints }, { counterparty: actual, contradicted }) =>
      outside(constraints.counterparties, actual) ?? contradicted.counterparty,
  ],
  ['instruments', ({ instruments }, { instrument: actual }) => outside(instruments, actual)],
  [
    'not_before',
    ({ not_before: expected }, _action, at) =>
      expected !== undefined && at < expected ? { expected, actual: at } : undefined,
  ],
  [
    'window',
    ({ constraints: { window }, local }) =>
      window === undefined || isOpen(window, local) ? undefined : { expected: { ...window }, actual: { ...local } },
  ],
]

function outside(expected: string[] | undefined, actual: string | null): Broken | undefined {
  if (expected === undefined || (actual !== null && expected.includes(actual))) return undefined
  return { expected, actual }
}

function isOpen({ weekdays, from, to }: MandateWindow, { weekday, time }: MandateLevel['local']): boolean {
  if (weekdays !== undefined && !weekdays.includes(weekday)) return false
  return (from === undefined || time >= from) && (to === undefined || time < to)
}

function judgeBudgets(levels: readonly MandateLevel[], { amount }: ActionAmounts): MandateRefusal | undefined {
  const tightest = tightestOf(levels)
  if (tightest === undefined || amount === null || unitsOf(amount) <= tightest.left) return judgeCounts(levels)
  const { level, left, limit } = tightest
  return {
    reason: 'mandate_budget_exceeded',
    mandate_detail: {
      constraint: 'budget',
      expected: limit,
      actual: amount,
      remaining: formatAmount(left),
      mandate_id: level.mandate_id,
    },
  }
}

function judgeCounts(levels: readonly MandateLevel[]): MandateRefusal | undefined {
  for (const { budget, count, mandate_id } of levels) {
    const most = budget?.max_count
    if (most === undefined || count < most) continue
    return {
      reason: 'mandate_budget_exceeded',
      mandate_detail: { constraint: 'max_count', expected: most, actual: count + 1, remaining: '0', mandate_id },
    }
  }
  return undefined
}

interface Left {
  level: MandateLevel
  limit: string
  left: bigint
}

/** The level whose budget leaves the least. All budgets of a chain have one currency. */
function tightestOf(levels: readonly MandateLevel[]): Left | undefined {
  let tightest: Left | undefined
  for (const level of levels) {
    if (level.budget === null) continue
    const { limit } = level.budget
    // A budget that was narrowed below what is spent leaves nothing.
    const rest = unitsOf(limit) - unitsOf(level.spent)
    const left = rest < 0n ? 0n : rest
    if (tightest === undefined || left < tightest.left) tightest = { level, limit, left }
  }
  return tightest
}
