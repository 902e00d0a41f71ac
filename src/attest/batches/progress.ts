// The progress of a batch, computed from its lines by status.

import type { WorkStatus } from '#src/platform/http/views.ts'
import type { BatchSummary, LineCount, UnfinishedCount } from './rows.ts'

export type BatchCounts = Record<WorkStatus, number>

export interface Progress {
  counts: BatchCounts
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
  const ended = { succeeded: inState('evaluated'), failed: inState('failed'), cancelled: inState('cancelled') }
  const recent = counts.reduce((sum, one) => sum + one.recent, 0)
  const windowMs = Math.min(RECENT_MS, Math.max(1_000, now.getTime() - createdAt.getTime()))
  const rate = open > 0 && recent > 0 ? (recent * 1_000) / windowMs : null
  return {
    counts: { queued: open - busy, running: busy, ...ended },
    settled: ended.succeeded + ended.failed + ended.cancelled,
    risks: { passed: atRisk('passed'), review: atRisk('review'), failed: atRisk('failed') },
    ratePerSecond: rate === null ? null : Math.round(rate * 100) / 100,
    estimatedFinishAt: rate === null ? null : new Date(now.getTime() + (open / rate) * 1_000),
  }
}

/** The counts of a batch in a list, where its lines with a result are not counted but follow from the others. */
export function countsFrom(
  { accepted }: Pick<BatchSummary, 'accepted'>,
  unfinished: readonly Omit<UnfinishedCount, 'batchId'>[],
  running: number,
): BatchCounts {
  const linesOf = (status: UnfinishedCount['status']) =>
    unfinished.reduce((sum, one) => sum + (one.status === status ? one.lines : 0), 0)
  const open = linesOf('queued')
  const busy = Math.min(running, open)
  const [failed, cancelled] = [linesOf('failed'), linesOf('cancelled')]
  return {
    queued: open - busy,
    running: busy,
    succeeded: Math.max(0, accepted - open - failed - cancelled),
    failed,
    cancelled,
  }
}

/** A cancelled batch ends when the evaluations that had started have. */
export function statusOf(counts: BatchCounts, { cancelledAt }: Pick<BatchSummary, 'cancelledAt'>): WorkStatus {
  if (counts.queued + counts.running > 0) {
    const hasBegun = counts.running + counts.succeeded + counts.failed + counts.cancelled > 0
    return hasBegun ? 'running' : 'queued'
  }
  return cancelledAt === null ? 'succeeded' : 'cancelled'
}
