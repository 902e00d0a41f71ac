// How many processes of one kind are alive, in the table in which workers say so too. Asked in the background: between
// two answers the last one counts, also while Postgres is away.

import { randomUUID } from 'node:crypto'
import type { Database } from '#src/platform/db/database.ts'
import { recordProcess, removeProcess } from '#src/platform/jobs/live-rows.ts'

export interface LiveProcesses {
  /** This one included. */
  count(): number
  /** Says that this process is alive, now and until `stop`. */
  start(): Promise<void>
  stop(): Promise<void>
}

const EVERY_MS = 5_000

export function createLiveProcesses({ db, kind }: { db: Pick<Database, 'writeSystem'>; kind: string }): LiveProcesses {
  const id = randomUUID()
  let count = 1
  let timer: NodeJS.Timeout | undefined

  async function beat(): Promise<void> {
    const rows = await db.writeSystem<{ others: number }>(`count ${kind} processes`, () => recordProcess({ id, kind }))
    count = 1 + (rows[0]?.others ?? 0)
  }

  return {
    count: () => count,
    async start() {
      timer ??= setInterval(() => void beat().catch(() => {}), EVERY_MS).unref()
      await beat().catch(() => {})
    },
    async stop() {
      clearInterval(timer)
      await db.writeSystem(`remove ${kind} process`, () => removeProcess(id)).catch(() => {})
    },
  }
}
