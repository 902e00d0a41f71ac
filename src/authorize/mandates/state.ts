// The state of a mandate and the period of its budget, as SQL over a row of `mandates` and an instant. Every reader and every
// guarded change uses these expressions, so that no two of them see another state. Nothing of it is stored: a job
// that sets states would be late.

import type { MandateStatus } from './judge.ts'

/** After the interval, for a check-in that is on its way. */
const HEARTBEAT_GRACE_SECONDS = 60

/** What stands before all that reads the clock: one moment for a whole statement, whatever its number of rows. */
export const CLOCK = 'clock AS MATERIALIZED (SELECT clock_timestamp() AS at)'

/** In the order of the reasons of verify: the first that a level of a chain has is the state of the chain. */
export const MANDATE_STATUSES = [
  'revoked',
  'expired',
  'lapsed',
  'suspended',
  'active',
] as const satisfies readonly MandateStatus[]

/** From these no request returns. */
export const TERMINAL_STATUSES = ['revoked', 'expired', 'lapsed'] as const satisfies readonly MandateStatus[]

/** Of the row by itself: those of its ancestors count too. @param at An SQL expression. */
export function statusOf(row: string, at = 'clock.at'): string {
  return `CASE
    WHEN ${row}.revoked_at IS NOT NULL THEN 'revoked'
    WHEN ${row}.expires_at <= ${at} THEN 'expired'
    WHEN ${at} > ${lapsesAtOf(row)} THEN 'lapsed'
    WHEN ${at} > ${missedAtOf(row)} THEN 'suspended'
    ELSE 'active' END`
}

/** The last instant of a check-in in time; null without a heartbeat. */
export function missedAtOf(row: string): string {
  return `(${row}.last_check_in_at + make_interval(secs => ${row}.heartbeat_interval_seconds + ${HEARTBEAT_GRACE_SECONDS}))`
}

/** The last instant at which a check-in makes the mandate active again. */
export function lapsesAtOf(row: string): string {
  return `(${missedAtOf(row)} + make_interval(secs => ${row}.heartbeat_window_seconds))`
}

/** The calendar date in the mandate's zone on which the period of `at` begins, a week on Monday; null without a budget. */
export function periodStartOf(row: string, at = 'clock.at'): string {
  const local = `(${at} AT TIME ZONE ${row}.timezone)`
  return `CASE ${row}.budget_period
    WHEN 'day' THEN ${local}::date
    WHEN 'week' THEN date_trunc('week', ${local})::date
    WHEN 'month' THEN date_trunc('month', ${local})::date
    WHEN 'year' THEN date_trunc('year', ${local})::date
    WHEN 'total' THEN ${row}.started_on END`
}

/** The date on which the next period begins; null for a total, which has no other. */
export function periodEndOf(row: string, at = 'clock.at'): string {
  return endAfter(periodStartOf(row, at), row)
}

/** The date on which the period that began on `start` ends; null for a total. @param start An SQL expression. */
export function endAfter(start: string, row: string): string {
  return `(${start} + CASE ${row}.budget_period WHEN 'day' THEN interval '1 day' WHEN 'week' THEN interval '1 week'
    WHEN 'month' THEN interval '1 month' WHEN 'year' THEN interval '1 year' END)::date`
}

/** What the clocks of the mandate's zone show: an ISO 8601 weekday and `HH:MM`. */
export function localOf(row: string, at = 'clock.at'): { weekday: string; time: string } {
  const local = `(${at} AT TIME ZONE ${row}.timezone)`
  return { weekday: `extract(isodow FROM ${local})::integer`, time: `to_char(${local}, 'HH24:MI')` }
}
