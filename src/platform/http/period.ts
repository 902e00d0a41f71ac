// The period of a report by day. Days are those of UTC; the first and the last may be parts of a day.

import type { ScopedType } from '#src/catalogue/ids.ts'
import { invalidField } from '#src/failure.ts'
import { type Environment, firstIdAt } from '#src/platform/ids.ts'
import { timestamp } from './params.ts'
import { timestampView } from './views.ts'

/** A quarter of a year. */
export const MAX_PERIOD_DAYS = 92
const DEFAULT_PERIOD_DAYS = 30
const DAY_MS = 86_400_000

/** Spread into the query of a report by day. */
export const periodQuery = {
  from: timestamp
    .optional()
    .describe(`Start, inclusive; ${DEFAULT_PERIOD_DAYS} days before \`to\` when absent, at most ${MAX_PERIOD_DAYS}.`),
  to: timestamp.optional().describe('End, exclusive; now when absent.'),
}

/** Spread into its answer. */
export const periodView = {
  from: timestampView.describe('Start of the period that was read.'),
  to: timestampView.describe('End of the period that was read, exclusive.'),
}

export interface Period {
  /** Inclusive. */
  from: Date
  /** Exclusive. */
  to: Date
}

/** @throws {Failure} `invalid_request` at `?from`. */
export function periodOf(query: { from?: string | undefined; to?: string | undefined }, now: Date): Period {
  const to = query.to === undefined ? now : new Date(query.to)
  const from = query.from === undefined ? new Date(to.getTime() - DEFAULT_PERIOD_DAYS * DAY_MS) : new Date(query.from)
  if (from >= to) throw invalidField('?from', 'out_of_range', 'must be before `to`')
  if (to.getTime() - from.getTime() > MAX_PERIOD_DAYS * DAY_MS) {
    throw invalidField('?from', 'out_of_range', `must be at most ${MAX_PERIOD_DAYS} days before \`to\``)
  }
  return { from, to }
}

export function toPeriodView({ from, to }: Period) {
  return { from: from.toISOString(), to: to.toISOString() }
}

/** The days of a period in their order, such as 2026-11-20, each with the bounds of the ids that were made on it. */
export function daysOf(
  { from, to }: Period,
  { type, environment }: { type: ScopedType; environment: Environment },
): { days: string[]; lowest: string[]; above: string[] } {
  const starts = [from]
  for (let at = nextDay(from); at < to; at = nextDay(at)) starts.push(at)
  const bounds = [...starts, to].map((at) => firstIdAt(type, environment, at))
  return {
    days: starts.map((at) => at.toISOString().slice(0, 10)),
    lowest: bounds.slice(0, -1),
    above: bounds.slice(1),
  }
}

function nextDay(at: Date): Date {
  return new Date(Math.floor(at.getTime() / DAY_MS + 1) * DAY_MS)
}
