// Jobs of a closed account wait. Their time is moved out of reach and back again, so that nothing else has to know of
// closed accounts: the dispatcher takes what is due. Each step first locks the row of the account, which closing and
// reopening lock as well: no step can work on an account that has changed meanwhile.

import type { QueueName } from '#src/catalogue/queues.ts'
import type { Tx } from '#src/platform/db/database.ts'

// Jobs are due within days: whatever is due in the next century is held.
const HOLD = `interval '100 years'`
// The condition of jobs_held_idx.
const IS_HELD = `run_at > timestamptz '2100-01-01 00:00:00+00'`
const STEP = 2_000

/**
 * Holds waiting jobs of the tenant except those of some queues, while its account is closed. Returns whether there may be
 * more.
 */
export async function holdJobs(tx: Tx, exceptFor: (erasedAfter: Date) => readonly QueueName[]): Promise<boolean> {
  const [account] = await tx.query<{ erasedAfter: Date }>(
    'SELECT erased_after AS "erasedAfter" FROM accounts WHERE closed_at IS NOT NULL FOR SHARE',
  )
  if (account === undefined) return false
  const held = await tx.query(
    `UPDATE jobs SET run_at = run_at + ${HOLD} WHERE id = ANY(ARRAY(
       SELECT id FROM jobs WHERE state = 'queued' AND queue <> ALL($1) AND NOT (${IS_HELD})
       ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1`,
    [exceptFor(account.erasedAfter), STEP],
  )
  return held.length === STEP
}

/**
 * System role. Which of these accounts have jobs that are not held. One pass over the jobs that wait, which are a million
 * at times: no index finds those of an account.
 */
export async function findWithJobsToHold(tx: Tx, accountIds: readonly string[]): Promise<Set<string>> {
  if (accountIds.length === 0) return new Set()
  const rows = await tx.query<{ id: string }>(
    `SELECT DISTINCT account_id AS id FROM jobs
     WHERE state = 'queued' AND NOT (${IS_HELD}) AND account_id = ANY($1::text[])`,
    [accountIds],
  )
  return new Set(rows.map(({ id }) => id))
}

/** System role. Whether the account has jobs of the queue that run, or will run: all that have not ended and are not held. */
export async function hasJobsToRun(tx: Tx, accountId: string, queue: QueueName): Promise<boolean> {
  const rows = await tx.query(
    `SELECT 1 FROM jobs WHERE queue = $2 AND account_id = $1
       AND (state = 'dispatched' OR (state = 'queued' AND NOT (${IS_HELD}))) LIMIT 1`,
    [accountId, queue],
  )
  return rows.length > 0
}

/** Gives held jobs of the tenant their time back, while its account is open. Returns whether there may be more. */
export async function releaseJobs(tx: Tx): Promise<boolean> {
  const open = await tx.query('SELECT 1 FROM accounts WHERE closed_at IS NULL FOR SHARE')
  if (open.length === 0) return false
  const released = await tx.query(
    `UPDATE jobs SET run_at = run_at - ${HOLD} WHERE id = ANY(ARRAY(
       SELECT id FROM jobs WHERE state = 'queued' AND ${IS_HELD} ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)) RETURNING 1`,
    [STEP],
  )
  return released.length === STEP
}

/** System role. Open accounts with jobs that are held: the release of their reopening failed. */
export async function findOpenWithHeldJobs(tx: Tx): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `SELECT id FROM accounts WHERE closed_at IS NULL
       AND EXISTS (SELECT FROM jobs WHERE account_id = accounts.id AND state = 'queued' AND ${IS_HELD})`,
  )
  return rows.map(({ id }) => id)
}
