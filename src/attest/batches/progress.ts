// The progress of a batch, computed from its lines by state.

import type { LineCount } from './rows.ts'

export interface Progress {
  states: Record<'queued' | 'running' | 'evaluated' | 'failed' | 'cancelled', number>
  /** Lines in a final state. */
  settled: number
  risks: Record<'passed' | 'review' | 'failed', number>
  /** Null when nothing was evaluated recently, or no line is open. */
  ratePerSecond: number | null
  estimatedFinishAt: Date | null
}

/** The window of the rate: long enough to smooth short pauses, short enough to show that workers were added. */
export const RECENT_MS = 30_000

/** @param running how many of the queued lines a worker is evaluating. */
export function measureProgress(
  counts: readonly LineCount[],
  { running, createdAt, now }: { running: number; createdAt: Date; now: Date },
): Progress {
  const linesOf = (matches: (one: LineCount) => boolean) =>
    counts.reduce((sum, one) => sum + (matches(one) ? one.lines : 0), 0)
  const inState = (status: LineCount['status']) => linesOf((one) => one.status === status)
  const atRisk = (riskStatus: LineCount['riskStatus']) => linesOf((one) => one.riskStatus === riskStatus)

  const open = inState('queued')
  const busy = Math.min(running, open)
  const ended = { evaluated: inState('evaluated'), failed: inState('failed'), cancelled: inState('cancelled') }
  const recent = counts.reduce((sum, one) => sum + one.recent, 0)
  const windowMs = Math.min(RECENT_MS, Math.max(1_000, now.getTime() - createdAt.getTime()))
  const rate = open > 0 && recent > 0 ? (recent * 1_000) / windowMs : null
  return {
    states: { queued: open - busy, running: busy, ...ended },
    settled: ended.evaluated + ended.failed + ended.cancelled,
    risks: { passed: atRisk('passed'), review: atRisk('review'), failed: atRisk('failed') },
    ratePerSecond: rate === null ? null : Math.round(rate * 100) / 100,
    estimatedFinishAt: rate === null ? null : new Date(now.getTime() + (open / rate) * 1_000),
  }
}
