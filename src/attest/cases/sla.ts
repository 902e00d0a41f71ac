// The due dates of a case: when its review should begin, and when its decision is due. Pure. While information is
// awaited from outside, the decision's clock is paused: the due date moves by the duration of the pause.

import type { CaseState } from './machine.ts'

export interface SlaSettings {
  /**
   * Time from opening to the beginning of the review. Business days are Monday to Friday in UTC; holidays differ by
   * place and don't count.
   */
  reviewBusinessDays: number
  /** Time from opening, or reopening, to the decision, in calendar days, the unit of prompt-payment rules. */
  decisionDays: number
}

export interface SlaClock {
  reviewDueAt: Date
  decisionDueAt: Date
  /** Since when the decision's clock is paused. */
  pausedAt: Date | null
}

const DAY_MS = 24 * 3_600_000

export function startClock(now: Date, { reviewBusinessDays, decisionDays }: SlaSettings): SlaClock {
  return {
    reviewDueAt: addBusinessDays(now, reviewBusinessDays),
    decisionDueAt: addDays(now, decisionDays),
    pausedAt: null,
  }
}

/** The clock after a transition: it pauses, continues, or restarts when a case is reopened. */
export function turnClock(
  clock: SlaClock,
  { from, to, isReopened }: { from: CaseState; to: CaseState; isReopened: boolean },
  now: Date,
  settings: SlaSettings,
): SlaClock {
  if (isReopened) return { ...clock, decisionDueAt: addDays(now, settings.decisionDays), pausedAt: null }
  if (to === 'info_requested') return { ...clock, pausedAt: now }
  if (from !== 'info_requested') return clock
  return { ...clock, decisionDueAt: shifted(clock, now), pausedAt: null }
}

/** Sets the due date. During a pause, the clock continues from it. */
export function setDue(clock: SlaClock, state: CaseState, dueAt: Date, now: Date): SlaClock {
  if (state === 'open') return { ...clock, reviewDueAt: dueAt }
  return { ...clock, decisionDueAt: dueAt, pausedAt: clock.pausedAt === null ? null : now }
}

/** When the decision is due, or would be if the pause ended now. */
export function shifted({ decisionDueAt, pausedAt }: SlaClock, now: Date): Date {
  if (pausedAt === null) return decisionDueAt
  // The clocks of processes differ: a pause is never negative.
  return new Date(decisionDueAt.getTime() + Math.max(0, now.getTime() - pausedAt.getTime()))
}

/** The next due date; null once the case is closed. */
export function dueOf(clock: SlaClock, state: CaseState, isClosed: boolean, now: Date): Date | null {
  if (isClosed) return null
  return state === 'open' ? clock.reviewDueAt : shifted(clock, now)
}

/** The same time of day, this many weekdays later. */
export function addBusinessDays(from: Date, days: number): Date {
  let at = from
  for (let left = days; left > 0; ) {
    at = addDays(at, 1)
    const weekday = at.getUTCDay()
    if (weekday !== 0 && weekday !== 6) left -= 1
  }
  return at
}

function addDays(from: Date, days: number): Date {
  return new Date(from.getTime() + days * DAY_MS)
}
