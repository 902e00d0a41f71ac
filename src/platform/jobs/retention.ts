// What the process `clock` deletes of the queues: settled and dead jobs, and workers that are gone. Jobs by the hundred
// thousand, so in steps: one long delete would hold its snapshot, and each look for due jobs would pass over what it kept.

import type { Database } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { deleteInSteps } from '#src/platform/retention.ts'

/**
 * Deletes jobs that succeeded or were cancelled over a day ago. Dead jobs stay until an operator has handled them.
 * Returns how many.
 */
export function purgeSettledJobs(db: Pick<Database, 'system'>): Promise<number> {
  return deleteInSteps(db, (tx, limit) =>
    tx.query(
      `DELETE FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM jobs WHERE state IN ('succeeded', 'cancelled')
         AND settled_at < now() - interval '24 hours' LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING id`,
      [limit],
    ),
  )
}

/**
 * Deletes a tenant's jobs that died before `before`, whether or not an operator has seen them. For accounts whose keys
 * are published.
 */
export async function purgeDeadJobs(db: Database, { accountId, environment }: Scope, before: Date): Promise<number> {
  const gone = await db.system('retention', (tx) =>
    tx.query(
      `DELETE FROM jobs WHERE account_id = $1 AND environment = $2 AND state = 'dead' AND settled_at < $3 RETURNING id`,
      [accountId, environment, before],
    ),
  )
  return gone.length
}

/** Deletes workers that ended without unregistering. */
export async function purgeSilentWorkers(db: Database): Promise<number> {
  const gone = await db.system('retention', (tx) =>
    tx.query(`DELETE FROM workers WHERE heartbeat_at < now() - interval '10 minutes' RETURNING id`),
  )
  return gone.length
}
