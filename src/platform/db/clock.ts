// One clock for all processes: that of Postgres. Times that a process writes, signs or compares must not depend on its
// machine: receivers refuse a signature that is ten minutes old, and a capture made now must not lie in the future.

import type { Database, Tx } from './database.ts'

export interface Clock {
  now(): Date
  /**
   * Reads from Postgres how far this machine's clock is off. Throws when Postgres does not answer: then the last offset
   * stays.
   */
  sync(): Promise<void>
  /** Syncs every half minute, until `close`. */
  keep(): void
  close(): void
}

interface ClockDeps {
  db: Pick<Database, 'readSystem'>
  /** Called when the machine's clock was found off, or right again. */
  onOffset?: (offsetMs: number) => void
  /** The machine's clock, milliseconds of Unix time. */
  machine?: () => number
}

const EVERY_MS = 30_000
// Two synchronized clocks differ by less, and so does the error that a slow answer adds.
const TOLERATED_MS = 1_000

export function createClock({ db, onOffset = () => {}, machine = () => Date.now() }: ClockDeps): Clock {
  let offsetMs = 0
  let timer: NodeJS.Timeout | undefined

  async function sync(): Promise<void> {
    let before = machine()
    const [row] = await db.readSystem<{ ms: number }>('clock', () => {
      // The connection is open, so that only the statement is timed.
      before = machine()
      return { text: 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms', values: [] }
    })
    const after = machine()
    if (row === undefined) return
    const measuredMs = row.ms - (before + after) / 2
    const isRight = Math.abs(measuredMs) <= TOLERATED_MS + (after - before) / 2
    const found = isRight ? 0 : Math.round(measuredMs)
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

/** The time of Postgres as this statement runs. `now()` is that of the transaction's begin: before the locks that it waited for. */
export async function readClock(tx: Pick<Tx, 'query'>): Promise<Date> {
  const [row] = await tx.query<{ at: Date }>('SELECT clock_timestamp() AS at')
  if (row === undefined) throw new Error('Postgres answered a SELECT without FROM with no row')
  return row.at
}
