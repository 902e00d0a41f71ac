// Decides whether a worker is stuck: jobs wait, the process runs, and nothing is finished or renewed. One that gets no
// processor time is slow, not stuck.

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
  /** Milliseconds in which this process could have worked, since any fixed time. */
  usable?: () => number
}

export function createWatchdog(options: WatchdogOptions): Watchdog {
  const { queue, stuckAfterMs, checkEveryMs, countWaiting, onStuck } = options
  const { now = () => performance.now(), usable = readUsableMs } = options
  let progress = 0
  // How long jobs have waited without progress, counted only while this process could work; undefined while none wait.
  let starved: { forMs: number; lastCheckAt: number; usableMs: number } | undefined
  let reason: string | undefined
  let isChecking = false

  async function countOnce(): Promise<void> {
    const before = progress
    const checkedAt = now()
    const usableMs = usable()
    const waiting = await countWaiting().catch(() => 0)
    // The count may take seconds. A job finished meanwhile is progress.
    if (waiting === 0 || progress !== before) {
      starved = undefined
      return
    }
    // A frozen process (SIGSTOP, a paused virtual machine) did not fail to work in that time: a gap counts as two
    // checks.
    const sinceMs =
      starved === undefined
        ? 0
        : Math.min(checkedAt - starved.lastCheckAt, usableMs - starved.usableMs, 2 * checkEveryMs)
    starved = { forMs: (starved?.forMs ?? 0) + sinceMs, lastCheckAt: checkedAt, usableMs }
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

// The time in which the event loop had nothing to do, and the processor time of the main thread. The rest it had something
// to do and no processor.
function readUsableMs(): number {
  const { user, system } = process.threadCpuUsage()
  return performance.eventLoopUtilization().idle + (user + system) / 1_000
}
