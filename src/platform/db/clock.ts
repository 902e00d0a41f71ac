// One clock for all processes: Postgres's. What a process dates, signs or compares must not depend on the machine that it
// runs on: receivers refuse a signature of ten minutes ago, and a capture of this moment must not lie in the future.

import type { Database } from './database.ts'

export interface Clock {
  now(): Date
  /** Asks Postgres how far this machine's clock is off. Throws when it can't be asked: then the last answer stays. */
  sync(): Promise<void>
  /** Asks again every half minute, until `close`. */
  keep(): void
  close(): void
}

interface ClockDeps {
  db: Pick<Database, 'system'>
  /** Told when the machine's clock was found off, or right again. */
  onOffset?: (offsetMs: number) => void
  /** The machine's clock, milliseconds of Unix time. */
  machine?: () => number
}

const EVERY_MS = 30_000
// Two clocks that are kept differ by less, and so does what a slow answer makes of equal ones.
const TOLERATED_MS = 1_000

export function createClock({ db, onOffset = () => {}, machine = () => Date.now() }: ClockDeps): Clock {
  let offsetMs = 0
  let timer: NodeJS.Timeout | undefined

  async function sync(): Promise<void> {
    const asked = await db.system('clock', async (tx) => {
      // The connection stands: what is timed is the question alone.
      await tx.query('SELECT 1')
      const before = machine()
      const [row] = await tx.query<{ ms: number }>(
        'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms',
      )
      const after = machine()
      return row && { offsetMs: row.ms - (before + after) / 2, uncertainMs: (after - before) / 2 }
    })
    if (asked === undefined) return
    const isRight = Math.abs(asked.offsetMs) <= TOLERATED_MS + asked.uncertainMs
    const found = isRight ? 0 : Math.round(asked.offsetMs)
    if (Math.abs(found - offsetMs) > TOLERATED_MS) onOffset(found)
    offsetMs = found
  }

  return {
    now: () => new Date(machine() + offsetMs),
    sync,
    keep() {
      timer ??= setInterval(() => void sync().catch(() => {}), EVERY_MS).unref()
    },
    close() {
      clearInterval(timer)
      timer = undefined
    },
  }
}
