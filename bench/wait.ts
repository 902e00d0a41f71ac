import { setTimeout as delay } from 'node:timers/promises'
import type { QueueName } from '#src/catalogue/queues.ts'
import type { Stage } from './stage.ts'

// Each poll costs the measured machine.
const EVERY_MS = 250
const DEADLINE_MS = 600_000

/** Waits until no job of the queue is open. @throws {Error} when one died, or after ten minutes. */
export async function untilSettled(stage: Stage, queue: QueueName = 'attest'): Promise<void> {
  await until(async () => {
    const [row] = await stage.owner<{ open: boolean; dead: boolean }>(
      // Each is one probe of an index: a question that reads the table would count as time of the stores.
      `SELECT coalesce((SELECT lane FROM jobs WHERE queue = $1 AND state = 'queued' ORDER BY lane LIMIT 1),
         (SELECT lane FROM jobs WHERE queue = $1 AND state = 'dispatched' ORDER BY lane LIMIT 1)) IS NOT NULL AS open,
         (SELECT settled_at FROM jobs WHERE queue = $1 AND state = 'dead' ORDER BY settled_at LIMIT 1) IS NOT NULL AS dead`,
      [queue],
    )
    if (row?.dead) throw new Error(`a ${queue} job died`)
    return row?.open === false
  })
}

export async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error('a benchmark waited for ten minutes')
    await delay(EVERY_MS)
  }
}
