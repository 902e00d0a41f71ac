// The stops of an account in an environment, with who made and who lifted each. Decisions read the one in force by
// `readStop` (rows.ts).

import type { Tx } from '#src/platform/db/database.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { newId } from '#src/platform/ids.ts'
import { oldRows } from '#src/platform/retention.ts'

export interface StopRow {
  id: string
  reason: string
  stoppedBy: string
  stoppedAt: Date
  resumedBy: string | null
  resumedAt: Date | null
}

const STOP = `id, reason, stopped_by AS "stoppedBy", stopped_at AS "stoppedAt", resumed_by AS "resumedBy",
  resumed_at AS "resumedAt"`

/**
 * Returns the stop in force, else the last one. The order is by the database's clock: ids have the clocks of processes,
 * which may differ.
 */
export async function findLastStop(tx: Tx): Promise<StopRow | undefined> {
  const [row] = await tx.query<StopRow>(
    `SELECT ${STOP} FROM stops ORDER BY resumed_at IS NULL DESC, stopped_at DESC, id DESC LIMIT 1`,
  )
  return row
}

/** undefined while one is in force. */
export async function insertStop(tx: Tx, acting: Acting, reason: string): Promise<StopRow | undefined> {
  const { accountId, environment, principal } = acting
  const [row] = await tx.query<StopRow>(
    `INSERT INTO stops (account_id, environment, id, reason, stopped_by) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT DO NOTHING RETURNING ${STOP}`,
    [accountId, environment, newId('stp', environment), reason, actorOf(principal).id],
  )
  return row
}

/** undefined when none is in force. */
export async function endStop(tx: Tx, { principal }: Acting): Promise<StopRow | undefined> {
  const [row] = await tx.query<StopRow>(
    `UPDATE stops SET resumed_by = $1, resumed_at = clock_timestamp() WHERE resumed_at IS NULL RETURNING ${STOP}`,
    [actorOf(principal).id],
  )
  return row
}

/** All that are old: in accounts whose keys are published. */
export const purgeStops = oldRows({ table: 'stops', idType: 'stp', age: 'stopped_at' })
