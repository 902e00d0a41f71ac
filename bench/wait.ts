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
      `SELECT EXISTS (SELECT FROM jobs WHERE queue = $1 AND state IN ('queued', 'dispatched', 'running')) AS open,
         EXISTS (SELECT FROM jobs WHERE queue = $1 AND state = 'dead') AS dead`,
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
