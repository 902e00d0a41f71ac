// Checks whether a child still runs its event loop. A frozen process (SIGSTOP, an endless loop) does not exit, so only
// this detects it. A slow one, which gets no processor time, is not frozen.

import type { UsableTime } from './usable-time.ts'

export interface Heartbeat {
  /** Records that the child has answered. */
  answered(): void
  stop(): void
}

interface HeartbeatOptions {
  /** Sends the child a message that it answers. */
  ask(): void
  /** Called once, when the child has not answered in `silentAfterMs` in which it could have. */
  onSilent(): void
  silentAfterMs: number
  /** For how much of a period the child could have answered. Default: for all of it. */
  usableMs?: UsableTime
  /** Monotonic milliseconds. */
  now?: () => number
  /** For tests: calls back repeatedly, and returns a function that stops it. */
  every?: (periodMs: number, check: () => Promise<void>) => () => void
}

const CHECKS = 6

export function watchHeartbeat({
  ask,
  onSilent,
  silentAfterMs,
  usableMs = async (elapsedMs) => elapsedMs,
  now = () => performance.now(),
  every = everyByTimer,
}: HeartbeatOptions): Heartbeat {
  const checkEveryMs = silentAfterMs / CHECKS
  let silentMs = 0
  let answers = 0
  let checkedAt = now()
  let isChecking = false
  let isStopped = false

  const stopChecks = every(checkEveryMs, async () => {
    if (isChecking) return
    isChecking = true
    const elapsedMs = now() - checkedAt
    checkedAt += elapsedMs
    const answersBefore = answers
    // When this process did not run either (a laptop asleep, everything stopped), the child could not answer: such a
    // gap counts as one check.
    const countedMs = await usableMs(Math.min(elapsedMs, checkEveryMs))
    isChecking = false
    if (isStopped) return
    if (answers === answersBefore) silentMs += countedMs
    if (silentMs < silentAfterMs) return ask()
    stop()
    onSilent()
  })
  const stop = () => {
    isStopped = true
    stopChecks()
  }
  ask()
  return {
    answered() {
      answers += 1
      silentMs = 0
    },
    stop,
  }
}

function everyByTimer(periodMs: number, check: () => Promise<void>): () => void {
  const timer = setInterval(() => void check(), periodMs)
  return () => clearInterval(timer)
}
