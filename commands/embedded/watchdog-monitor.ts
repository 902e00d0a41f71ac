// Checks the watchdog of an embedded server from a process that holds the server: a watchdog that was killed or is frozen
// restarts nothing.

import { setTimeout as delay } from 'node:timers/promises'

export interface WatchdogMonitor {
  /** Resolves with the reason when the server could not be brought back; never otherwise. */
  lost: Promise<Error>
  /** Ends after the current check. */
  stop(): Promise<void>
}

interface MonitorOptions {
  /** A value that changes while the watchdog runs; undefined when it is gone. Called often, so it is cheap. */
  pulse(): number | undefined
  /**
   * Starts another watchdog, and the server if it is gone. `last` is the pulse that was found: with another one now,
   * another holder was faster.
   */
  restore(last: number | undefined): Promise<void>
  /** A watchdog whose pulse stays the same for this long is frozen. */
  silentAfterMs: number
  checkEveryMs?: number
  /** How often `restore` may fail in a row, with growing pauses between. */
  tries?: number
}

const CHECK_EVERY_MS = 2_000

export function monitorWatchdog({
  pulse,
  restore,
  silentAfterMs,
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
      silentMs = found === last ? silentMs + checkEveryMs : 0
      last = found
      if (found !== undefined && silentMs < silentAfterMs) continue
      try {
        await restore(found)
        failures = 0
        silentMs = 0
      } catch (error) {
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
