import { every, type Loop } from '#src/platform/jobs/loops.ts'
import type { Log } from '#src/platform/log.ts'
import type { Duplicates } from './duplicates.ts'

// How long a finding may wait for somebody to look for it, on an idle system.
const LOOK_EVERY_MS = 1_000

/** Works on what waits to be compared until closed; closing waits for the pictures that are being hashed. */
export function runDuplicates({ duplicates, log }: { duplicates: Pick<Duplicates, 'round'>; log: Log }): Loop {
  const controller = new AbortController()
  const loop = every(
    LOOK_EVERY_MS,
    async () => {
      while ((await duplicates.round(controller.signal)) > 0 && !controller.signal.aborted);
    },
    log,
  )
  return {
    close() {
      controller.abort()
      return loop.close()
    },
  }
}
