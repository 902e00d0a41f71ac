import type { Database } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'

// Small steps: a delete of a million rows at once would hold its snapshot for minutes and bloat the hot table.
const STEP = 5_000

/**
 * Deletes jobs that succeeded or were cancelled over a day ago. Dead jobs stay until an operator has handled them.
 * Returns how many.
 */
export async function purgeSettledJobs(db: Database): Promise<number> {
  for (let total = 0; ; ) {
    const gone = await db.system('retention', (tx) =>
      tx.query(
        `DELETE FROM jobs WHERE id = ANY(ARRAY(SELECT id FROM jobs WHERE state IN ('succeeded', 'cancelled')
           AND settled_at < now() - interval '24 hours' LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING id`,
        [STEP],
      ),
    )
    total += gone.length
    if (gone.length < STEP) return total
  }
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
