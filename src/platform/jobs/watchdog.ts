// Decides whether a worker is stuck: jobs wait, the process runs, and nothing is finished or renewed.

export interface Watchdog {
  /** A job was finished, or a lease renewed. */
  progressed(): void
  /** Counts once. Called every `checkEveryMs`. */
  check(): Promise<void>
  /** Why the worker is stuck; undefined while it is not. */
  reason(): string | undefined
}

interface WatchdogOptions {
  queue: string
  stuckAfterMs: number
  checkEveryMs: number
  /** Jobs that wait for this worker. A throw counts as none: an engine that is away is no reason to exit. */
  countWaiting(): Promise<number>
  onStuck(reason: string): void
  /** Monotonic milliseconds. */
  now?: () => number
}

export function createWatchdog(options: WatchdogOptions): Watchdog {
  const { queue, stuckAfterMs, checkEveryMs, countWaiting, onStuck, now = () => performance.now() } = options
  let progress = 0
  // How long jobs have waited without progress, counted only while this process ran; undefined while none wait.
  let starved: { forMs: number; lastCheckAt: number } | undefined
  let reason: string | undefined
  let isChecking = false

  async function countOnce(): Promise<void> {
    const before = progress
    const checkedAt = now()
    const waiting = await countWaiting().catch(() => 0)
    // The count may take seconds. A job finished meanwhile is progress.
    if (waiting === 0 || progress !== before) {
      starved = undefined
      return
    }
    // A frozen process (SIGSTOP, a paused virtual machine) did not fail to work in that time: a gap counts as two
    // checks.
    const sinceMs = starved === undefined ? 0 : Math.min(checkedAt - starved.lastCheckAt, 2 * checkEveryMs)
    starved = { forMs: (starved?.forMs ?? 0) + sinceMs, lastCheckAt: checkedAt }
    if (starved.forMs < stuckAfterMs) return
    reason = `${queue} jobs wait, and nothing was finished or renewed for ${stuckAfterMs / 1_000} s`
    onStuck(reason)
  }

  return {
    progressed() {
      progress += 1
      starved = undefined
    },
    async check() {
      if (isChecking || reason !== undefined) return
      isChecking = true
      await countOnce().finally(() => {
        isChecking = false
      })
    },
    reason: () => reason,
  }
}
