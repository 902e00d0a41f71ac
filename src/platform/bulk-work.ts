// Transactions of thousands of lines. An account has at most one in a process at a time, and few run at once: each holds one of
// the process's connections for seconds. What waits is bounded in number and in time.

import { createFairSemaphore } from './fair-semaphore.ts'

/**
 * Lines that one statement stores. 250 at a time reach 0.54 of the rate of bare INSERTs, 50 only 0.49; 250 certificate chains
 * are about 1 MB. More lines would keep a session of Postgres, which has no priorities, busy for longer in one go: 250 take 15
 * to 50 ms.
 */
export const PART_LINES = 250

/** Cuts lines into parts of `PART_LINES` at most. Lines of two chunks are never in one part. */
export async function* inParts<Line>(
  chunks: Iterable<readonly Line[]> | AsyncIterable<readonly Line[]>,
): AsyncGenerator<readonly Line[], void> {
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length; from += PART_LINES) yield chunk.slice(from, from + PART_LINES)
  }
}

// A bulk transaction takes seconds and one of the process's few connections, which single calls need too: the default is
// four. A third large one would cost the others time, because they keep Postgres busy.
const LARGE_AT_ONCE = 2
const SMALL_AT_ONCE = 1
// What waits is kept in memory or on disk, of the account's own share.
const MAX_WAITING_EACH = 8
// An idle connection is cut after 120 s, and a work waits twice: behind its own account's, and behind others.
const MAX_WAIT_MS = 50_000

/**
 * Runs a bulk transaction when it is the account's turn. Sandbox and live of an account are one, and so are the callers of a
 * published key.
 * @throws {Failure} `service_unavailable` with Retry-After when too many of the account wait, or one for too long.
 */
export type BulkWork = <R>(account: string, lines: number, work: () => Promise<R>) => Promise<R>

/** @param connections The process's, for tenants. */
export function createBulkWork({ connections }: { connections: number }): BulkWork {
  const refusal = {
    detail: 'Other batches or imports of this account are being accepted. Retry.',
    retryAfterSeconds: 5,
  }
  const shared = { slotsEach: 1, maxWaiting: Number.POSITIVE_INFINITY, maxWaitMs: MAX_WAIT_MS, refusal }
  const own = createFairSemaphore({ ...shared, slots: Number.POSITIVE_INFINITY, maxWaitingEach: MAX_WAITING_EACH })
  const large = createFairSemaphore({
    ...shared,
    slots: Math.max(1, Math.min(LARGE_AT_ONCE, connections - 1)),
    maxWaitingEach: 1,
  })
  // Work of one part does not wait for the thousands of lines of another account.
  const small = createFairSemaphore({ ...shared, slots: SMALL_AT_ONCE, maxWaitingEach: 1 })
  return (account, lines, work) => own(account, () => (lines <= PART_LINES ? small : large)(account, work))
}
