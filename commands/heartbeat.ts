// Checks whether a child still runs its event loop. A frozen process (SIGSTOP, an endless loop) does not exit, so only
// this detects it.

export interface Heartbeat {
  /** Records that the child has answered. */
  answered(): void
  stop(): void
}

interface HeartbeatOptions {
  /** Sends the child a message that it answers. */
  ask(): void
  /** Called once, when the child has not answered for `silentAfterMs`. */
  onSilent(): void
  silentAfterMs: number
  /** Monotonic milliseconds. */
  now?: () => number
  /** For tests: calls back repeatedly, and returns a function that stops it. */
  every?: (periodMs: number, check: () => void) => () => void
}

const CHECKS = 6

export function watchHeartbeat({
  ask,
  onSilent,
  silentAfterMs,
  now = () => performance.now(),
  every = everyByTimer,
}: HeartbeatOptions): Heartbeat {
  const checkEveryMs = silentAfterMs / CHECKS
  let silentMs = 0
  let checkedAt = now()

  const stop = every(checkEveryMs, () => {
    const elapsedMs = now() - checkedAt
    checkedAt += elapsedMs
    // When this process did not run either (a laptop asleep, everything stopped), the child could not answer: such a
    // gap counts as one check.
    silentMs += Math.min(elapsedMs, checkEveryMs)
    if (silentMs < silentAfterMs) return ask()
    stop()
    onSilent()
  })
  ask()
  return {
    answered() {
      silentMs = 0
    },
    stop,
  }
}

function everyByTimer(periodMs: number, check: () => void): () => void {
  const timer = setInterval(check, periodMs)
  return () => clearInterval(timer)
}
