// Access is decided when a request begins. A download or an upload may go on for an hour after that, so it is decided
// again every few seconds: a removed user, an ended session and a revoked key stop what they began.

import type { Failure } from '#src/failure.ts'
import { toFailure } from './respond.ts'

/** Rejects with the refusal when the caller of a request may no longer make it. */
export type Recheck = () => Promise<unknown>

// A request reads one row for it, together with those of other requests.
const CHECK_MS = 2_000
// While Postgres can't be reached this is unknown; a restart of it must not cut downloads.
const MAX_UNKNOWN_MS = 30_000

/**
 * Calls `onLost` once, when access is lost. Returns what ends the watch.
 * @param everyMs How often it asks.
 */
export function watchAccess(
  recheck: Recheck | undefined,
  onLost: (refusal: Failure) => void,
  { everyMs = CHECK_MS, maxUnknownMs = MAX_UNKNOWN_MS } = {},
): () => void {
  if (recheck === undefined) return () => {}
  let isAsking = false
  let knownAt = performance.now()
  const timer = setInterval(() => {
    if (isAsking) return
    isAsking = true
    void ask()
  }, everyMs)
  let isOver = false

  async function ask(): Promise<void> {
    try {
      await recheck?.()
      knownAt = performance.now()
    } catch (error) {
      const failure = toFailure(error)
      const isRefused = failure.status === 401 || failure.status === 403
      if (!isOver && (isRefused || performance.now() - knownAt > maxUnknownMs)) {
        end()
        onLost(failure)
      }
    } finally {
      isAsking = false
    }
  }

  function end(): void {
    isOver = true
    clearInterval(timer)
  }
  return end
}
