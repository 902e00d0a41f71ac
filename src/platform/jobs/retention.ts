import type { Database } from '#src/platform/db/database.ts'

// Small steps: a delete of a million rows at once would hold its snapshot for minutes and bloat the hot table.
const STEP = 5_000

/** Deletes jobs that ended well a day ago; dead ones stay until an operator has looked. Answers how many. */
export async function forgetSettledJobs(db: Database): Promise<number> {
  for (let total = 0; ; ) {
    const gone = await db.system('retention', (tx) =>
      tx.query(
        `DELETE FROM jobs WHERE id IN (SELECT id FROM jobs WHERE state IN ('succeeded', 'cancelled')
           AND settled_at < now() - interval '24 hours' LIMIT $1) RETURNING id`,
        [STEP],
      ),
    )
    total += gone.length
    if (gone.length < STEP) return total
  }
}

/** Forgets workers that ended without a word. */
export async function forgetSilentWorkers(db: Database): Promise<number> {
  const gone = await db.system('retention', (tx) =>
    tx.query(`DELETE FROM workers WHERE heartbeat_at < now() - interval '10 minutes' RETURNING id`),
  )
  return gone.length
}
