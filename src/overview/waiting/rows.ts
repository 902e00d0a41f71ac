// SQL that counts what waits. A count ends a row after the cap, and reads an index that holds only the rows that wait. Times
// are compared with now(): an index can't be searched by clock_timestamp(), which changes from row to row.

import type { Tx } from '#src/platform/db/database.ts'

/** Counts go no further: more than a thousand of anything is not worked off by looking at each. */
export const COUNT_CAP = 1_000
/** Certificates and keys that end within this many days are shown. */
export const EXPIRY_DAYS = 30

export interface CappedCount {
  count: number
  capped: boolean
}

/** @param found How many were found when the count went one further than the cap. */
export function cappedAt(found: number): CappedCount {
  return { count: Math.min(found, COUNT_CAP), capped: found > COUNT_CAP }
}

/** @param rows What follows FROM. */
function capped(rows: string): string {
  return `SELECT least(count(*), ${COUNT_CAP})::int AS count, count(*) > ${COUNT_CAP} AS capped
    FROM (SELECT FROM ${rows} LIMIT ${COUNT_CAP + 1}) AS counted`
}

async function countBy(tx: Tx, statement: string, values: readonly unknown[] = []): Promise<CappedCount> {
  const [row] = await tx.query<CappedCount>(statement, values)
  if (row === undefined) throw new Error('an aggregate returned no row')
  return row
}

const UNASSIGNED = capped('cases WHERE closed_at IS NULL AND assignee IS NULL')
const MINE = capped('cases WHERE closed_at IS NULL AND assignee = $1')
const OVERDUE = capped('cases WHERE closed_at IS NULL AND due_at <= now()')

/** @param userId null: the caller is a key, to which no case is assigned. */
export async function countCases(tx: Tx, userId: string | null) {
  const [unassigned, mine, overdue] = await Promise.all([
    countBy(tx, UNASSIGNED),
    userId === null ? null : countBy(tx, MINE, [userId]),
    countBy(tx, OVERDUE),
  ])
  return { unassigned, mine, overdue }
}

// A job names what it works on, and that names its batch. A queue's lane is the account.
const runningBatches = (queue: 'attest' | 'screen', table: 'attestations' | 'screenings', id: string) => `
  WITH open AS MATERIALIZED (
    (SELECT payload FROM jobs WHERE queue = '${queue}' AND lane = $1 AND state = 'dispatched' LIMIT ${COUNT_CAP})
    UNION ALL
    (SELECT payload FROM jobs WHERE queue = '${queue}' AND lane = $1 AND state = 'queued' LIMIT ${COUNT_CAP})
  )
  SELECT count(DISTINCT batch_id)::int AS count, (SELECT count(*) >= ${COUNT_CAP} FROM open) AS capped
  FROM open CROSS JOIN LATERAL (SELECT batch_id FROM ${table} WHERE id = payload ->> '${id}' LIMIT 1) AS subject`

const RUNNING_BATCHES = runningBatches('attest', 'attestations', 'attestationId')
const RUNNING_SCREENINGS = runningBatches('screen', 'screenings', 'screeningId')
const DEAD_JOBS = capped(`jobs WHERE state = 'dead' AND queue = ANY($1::text[])`)

/** With jobs that ended without a result: they go on when the operator has them run again. */
export async function countCaptures(tx: Tx, accountId: string) {
  const [running, failed] = await Promise.all([
    countBy(tx, RUNNING_BATCHES, [accountId]),
    countBy(tx, DEAD_JOBS, [['attest', 'compare', 'reevaluate']]),
  ])
  return { running, failed }
}

export async function countScreenings(tx: Tx, accountId: string) {
  const [running, failed] = await Promise.all([
    countBy(tx, RUNNING_SCREENINGS, [accountId]),
    countBy(tx, DEAD_JOBS, [['screen']]),
  ])
  return { running, failed }
}

export async function countTraceJobs(tx: Tx): Promise<CappedCount> {
  return countBy(tx, DEAD_JOBS, [['trace', 'diff']])
}

const FAILING = capped(
  `webhook_endpoints WHERE deleted_at IS NULL AND status = 'enabled' AND circuit_opened_at IS NOT NULL`,
)
const DISABLED = capped(`webhook_endpoints WHERE deleted_at IS NULL AND status = 'disabled'`)
const FAILED_DELIVERIES = capped('deliveries WHERE failed_at IS NOT NULL')

export async function countWebhooks(tx: Tx) {
  const [failing, disabled, failedDeliveries] = await Promise.all([
    countBy(tx, FAILING),
    countBy(tx, DISABLED),
    countBy(tx, FAILED_DELIVERIES),
  ])
  return { failing, disabled, failedDeliveries }
}

const SOON = `not_after > now() AND not_after <= now() + interval '${EXPIRY_DAYS} days'`
const EXPIRING_DEVICES = capped(`devices WHERE revoked_at IS NULL AND ${SOON}`)
const EXPIRING_ROOTS = capped(`root_cas WHERE ${SOON}`)
const EXPIRING_ANCHORS = capped(`c2pa_anchors WHERE ${SOON}`)

/** Enrollments of devices end with their certificates. */
export async function countExpiring(tx: Tx) {
  const [devices, rootCas, anchors] = await Promise.all([
    countBy(tx, EXPIRING_DEVICES),
    countBy(tx, EXPIRING_ROOTS),
    countBy(tx, EXPIRING_ANCHORS),
  ])
  return { devices, rootCas, anchors }
}

const SUSPENDED = capped(`(SELECT agent_id FROM agent_suspensions WHERE held_by = 'manual') AS suspension`)
const HELD = capped(`(SELECT DISTINCT agent_id FROM agent_suspensions WHERE held_by <> 'manual') AS suspension`)

export async function countAgents(tx: Tx) {
  const [suspended, heldByLock] = await Promise.all([countBy(tx, SUSPENDED), countBy(tx, HELD)])
  return { suspended, heldByLock }
}

const LOCKS = capped('session_locks WHERE cleared_at IS NULL')

export async function countLocks(tx: Tx): Promise<CappedCount> {
  return countBy(tx, LOCKS)
}

export async function findStop(tx: Tx): Promise<Date | null> {
  const [row] = await tx.query<{ at: Date }>('SELECT stopped_at AS at FROM stops WHERE resumed_at IS NULL LIMIT 1')
  return row?.at ?? null
}

const EXPIRING_KEYS = capped(`api_keys WHERE revoked_at IS NULL AND successor_id IS NULL AND expires_at > now()
  AND expires_at <= now() + interval '${EXPIRY_DAYS} days'`)

/** Without those that were rotated: another key has taken their place. */
export async function countKeys(tx: Tx): Promise<CappedCount> {
  return countBy(tx, EXPIRING_KEYS)
}

/** The highest notice of the month. */
export async function findUsageNotice(tx: Tx): Promise<'usage_80' | 'usage_100' | null> {
  const [row] = await tx.query<{ kind: 'usage_80' | 'usage_100' }>(
    `SELECT kind FROM account_notices WHERE month = date_trunc('month', now() AT TIME ZONE 'UTC')::date
     ORDER BY created_at DESC, cap DESC, kind LIMIT 1`,
  )
  return row?.kind ?? null
}
