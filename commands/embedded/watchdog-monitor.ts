// Checks the watchdog of an embedded server from a process that holds the server: a killed watchdog restarts nothing.

import { setTimeout as delay } from 'node:timers/promises'

export interface WatchdogMonitor {
  /** Resolves with the reason when the server could not be brought back; never otherwise. */
  lost: Promise<Error>
  /** Ends after the current check. */
  stop(): Promise<void>
}

interface MonitorOptions {
  /** Whether the watchdog runs. Called often, so it is cheap. */
  isWatched(): boolean
  /** Starts another watchdog, and the server if it is gone. */
  restore(): Promise<void>
  checkEveryMs?: number
  /** How often `restore` may fail in a row, with growing pauses between. */
  tries?: number
}

const CHECK_EVERY_MS = 2_000

export function monitorWatchdog({
  isWatched,
  restore,
  checkEveryMs = CHECK_EVERY_MS,
  tries = 5,
}: MonitorOptions): WatchdogMonitor {
  const stopping = new AbortController()
  const { promise: lost, resolve: lose } = Promise.withResolvers<Error>()

  const ended = (async () => {
    for (let failures = 0; !stopping.signal.aborted; ) {
      // This timer keeps no process alive.
      await delay(checkEveryMs * 2 ** failures, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
      if (stopping.signal.aborted || isWatched()) continue
      try {
        await restore()
        failures = 0
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
