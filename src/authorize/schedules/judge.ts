// What a standing schedule says of an action: a pure function over the schedule as it was read and its cycle at the time
// of the decision. The first reason of the published order answers.

import type { ActionAmounts } from '#src/authorize/action-amounts.ts'
import { parseAmount } from '#src/platform/amounts.ts'
import type { JsonObject } from '#src/platform/crypto/canonical.ts'
import { calendarOf } from './calendar.ts'
import type { ScheduleRow } from './rows.ts'

export type AmountType = 'fixed' | 'max'

/** Plain JSON: part of the facts of a verification. */
export interface ScheduleFacts {
  schedule_id: string
  status: 'active' | 'paused' | 'cancelled'
  counterparty: string
  /** `value`: decimal text. */
  amount: { type: AmountType; value: string; currency: string }
  occurrences: number
  /** Cycles that count: executed ones, and with `consume_missed` those that were missed too. */
  used: number
  /** At the time of the decision. null: the first cycle has not begun. */
  cycle: ScheduleCycle | null
  /** The token that executed this cycle. */
  executed_by: string | null
  /** For fields `schedule.*` of the policy. */
  attributes: JsonObject
}

/** Its execution window: from `opens_at` on, and before `closes_at`. */
export interface ScheduleCycle {
  number: number
  opens_at: string
  closes_at: string
}

export const SCHEDULE_REASONS = [
  'schedule_counterparty_mismatch',
  'schedule_amount_exceeded',
  'schedule_already_executed',
  'schedule_occurrences_exhausted',
  'schedule_window_missed',
] as const
export type ScheduleReason = (typeof SCHEDULE_REASONS)[number]

/** Whether the token was executed before: by the attempt that is repeated now, or by another one. */
export type PriorExecution = 'none' | 'same_attempt' | 'other_attempt'

/** A token that asks for a cycle. */
export interface ScheduleUse {
  /** ISO 8601: the time for which the facts were made. */
  at: string
  /**
   * A retry of the execution that used a cycle is not asked for a cycle again. Whether the schedule was paused or
   * cancelled since is asked.
   */
  prior: PriorExecution
}

/** undefined: the schedule allows the action. */
export function judgeSchedule(
  facts: ScheduleFacts,
  action: ActionAmounts,
  { at, prior }: ScheduleUse,
): { reason: ScheduleReason } | undefined {
  const { status, cycle } = facts
  if (action.counterparty !== facts.counterparty) return { reason: 'schedule_counterparty_mismatch' }
  if (!isAmountAllowed(facts.amount, action)) return { reason: 'schedule_amount_exceeded' }
  const isRetry = prior === 'same_attempt'
  if (prior === 'other_attempt' || (facts.executed_by !== null && !isRetry))
    return { reason: 'schedule_already_executed' }
  if (status === 'cancelled' || (!isRetry && facts.used >= facts.occurrences)) {
    return { reason: 'schedule_occurrences_exhausted' }
  }
  const isOpen = cycle !== null && at >= cycle.opens_at && at < cycle.closes_at
  return status === 'paused' || !(isOpen || isRetry) ? { reason: 'schedule_window_missed' } : undefined
}

/** What a decision at a time reads of a schedule. */
export function scheduleFactsOf(row: ScheduleRow, at: Date): ScheduleFacts {
  const cycle = cycleOf(row, at)
  const executedBy = cycle !== null && row.last?.cycle === cycle.number ? row.last.jti : null
  const used = usedBy(row, at, cycle)
  const amount = { type: row.amountType, value: row.amount, currency: row.currency }
  return {
    schedule_id: row.id,
    status: row.status,
    counterparty: row.counterparty,
    amount,
    occurrences: row.occurrences,
    used,
    cycle,
    executed_by: executedBy,
    attributes: {
      id: row.id,
      status: statusOf(row, used),
      counterparty: row.counterparty,
      amount_type: amount.type,
      amount: amount.value,
      currency: amount.currency,
      frequency: row.frequency,
      timezone: row.timezone,
      window_seconds: row.windowSeconds,
      occurrences: row.occurrences,
      used,
      remaining: Math.max(0, row.occurrences - used),
      cycle: cycle?.number ?? null,
      cycle_opens_at: cycle?.opens_at ?? null,
      cycle_closes_at: cycle?.closes_at ?? null,
    },
  }
}

export type ScheduleStatus = ScheduleFacts['status'] | 'exhausted'

/** @param used As in the facts. */
export function statusOf(
  { status, occurrences }: Pick<ScheduleRow, 'status' | 'occurrences'>,
  used: number,
): ScheduleStatus {
  return status !== 'cancelled' && used >= occurrences ? 'exhausted' : status
}

/** The execution window of a cycle ends with the cycle at the latest. */
export function windowOf(
  { beginsAt, endsAt, number }: { beginsAt: number; endsAt: number; number: number },
  windowSeconds: number,
): ScheduleCycle {
  const closesAt = Math.min(endsAt, beginsAt + windowSeconds * 1_000)
  return { number, opens_at: new Date(beginsAt).toISOString(), closes_at: new Date(closesAt).toISOString() }
}

function cycleOf(row: ScheduleRow, at: Date): ScheduleCycle | null {
  const span = calendarOf(row).cycleAt(at.getTime())
  return span === undefined ? null : windowOf(span, row.windowSeconds)
}

// A cycle whose window has closed is used whether it was executed or not, where missed ones count.
function usedBy({ consumeMissed, executed, last }: ScheduleRow, at: Date, cycle: ScheduleCycle | null): number {
  if (!consumeMissed || cycle === null) return executed
  const isOver = last?.cycle === cycle.number || at.toISOString() >= cycle.closes_at
  return isOver ? cycle.number : cycle.number - 1
}

// Missing or malformed members are null.
function isAmountAllowed({ type, value, currency }: ScheduleFacts['amount'], action: ActionAmounts): boolean {
  const units = action.amount === null ? undefined : parseAmount(action.amount)
  const limit = parseAmount(value)
  if (units === undefined || limit === undefined || units < 0n || action.currency !== currency) return false
  return type === 'fixed' ? units === limit : units <= limit
}
