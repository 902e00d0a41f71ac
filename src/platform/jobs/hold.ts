// Jobs of a closed account wait. Their time is moved out of reach and back again, so that nothing else has to know of
// closed accounts: the dispatcher takes what is due.

import type { QueueName } from '#src/catalogue/queues.ts'
import type { Tx } from '#src/platform/db/database.ts'

// Jobs are due within days: whatever is due after half of it is held.
const HOLD = `interval '100 years'`
const IS_HELD = `run_at > now() + interval '50 years'`
const STEP = 2_000

/** Holds waiting jobs of the tenant except those of some queues. Returns whether there may be more. */
export async function holdJobs(tx: Tx, except: readonly QueueName[]): Promise<boolean> {
  const held = await tx.query(
    `UPDATE jobs SET run_at = run_at + ${HOLD} WHERE id = ANY(ARRAY(
       SELECT id FROM jobs WHERE state = 'queued' AND queue <> ALL($1) AND NOT (${IS_HELD})
       ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1`,
    [except, STEP],
  )
  return held.length === STEP
}

/** Gives held jobs of the tenant their time back. Returns whether there may be more. */
export async function releaseJobs(tx: Tx): Promise<boolean> {
  const released = await tx.query(
    `UPDATE jobs SET run_at = run_at - ${HOLD} WHERE id = ANY(ARRAY(
       SELECT id FROM jobs WHERE state = 'queued' AND ${IS_HELD} ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING 1`,
    [STEP],
  )
  return released.length === STEP
}
