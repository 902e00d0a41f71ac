// Checks the watchdog of an embedded server from a process that holds the server: a watchdog that was killed or is frozen
// restarts nothing.

import { setTimeout as delay } from 'node:timers/promises'
import type { UsableTime } from '../usable-time.ts'

export interface WatchdogMonitor {
  /** Resolves with the reason when the server could not be brought back; never otherwise. */
  lost: Promise<Error>
  /** Ends after the current check; aborts a restoration. */
  stop(): Promise<void>
}

interface MonitorOptions {
  /** A value that changes while the watchdog runs; undefined when it is gone. Called often, so it is cheap. */
  pulse(): number | undefined
  /**
   * Starts another watchdog, and the server if it is gone. `last` is the pulse that was found: with another one now,
   * another holder was faster.
   */
  restore(last: number | undefined, signal: AbortSignal): Promise<void>
  /** A watchdog whose pulse stays the same for this long, in which it could have changed it, is frozen. */
  silentAfterMs: number
  /** For how much of a period the watchdog could have changed its pulse. Default: for all of it. */
  usableMs?: UsableTime
  checkEveryMs?: number
  /** How often `restore` may fail in a row, with growing pauses between. */
  tries?: number
}

const CHECK_EVERY_MS = 2_000

export function monitorWatchdog({
  pulse,
  restore,
  silentAfterMs,
  usableMs = async (elapsedMs) => elapsedMs,
  checkEveryMs = CHECK_EVERY_MS,
  tries = 5,
}: MonitorOptions): WatchdogMonitor {
  const stopping = new AbortController()
  const { promise: lost, resolve: lose } = Promise.withResolvers<Error>()

  const ended = (async () => {
    let last = pulse()
    let silentMs = 0
    for (let failures = 0; !stopping.signal.aborted; ) {
      // This timer keeps no process alive.
      await delay(checkEveryMs * 2 ** failures, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
      if (stopping.signal.aborted) continue
      const found = pulse()
      // Counted by checks: while this process does not run either (a laptop asleep), no time passes.
      const countedMs = await usableMs(checkEveryMs)
      silentMs = found === last ? silentMs + countedMs : 0
      last = found
      if (found !== undefined && silentMs < silentAfterMs) continue
      try {
        await restore(found, stopping.signal)
        failures = 0
        silentMs = 0
      } catch (error) {
        if (stopping.signal.aborted) return
        failures += 1
        if (failures < tries) continue
        lose(error instanceof Error ? error : new Error(String(error)))
        return
      }
    }
  })()

  return {
    lost,
    stop() {
      stopping.abort()
      return ended
    },
  }
}
