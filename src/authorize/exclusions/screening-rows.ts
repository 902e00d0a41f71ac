// ExclusionScreenings of all prescribers of an account, and what each of them found changed.

import { SERVICE_ACCOUNT_ID } from '#src/account/keys/accounts.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Environment, Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import type { ListName } from './formats.ts'
import type { ExclusionEvidence, ExclusionStatus } from './judge.ts'

export type ScreeningCause = ListName | 'prescribers'

export interface ExclusionScreeningRow {
  id: string
  cause: ScreeningCause
  status: 'queued' | 'running' | 'succeeded' | 'failed'
  failureDetail: string | null
  screened: number
  changed: number
  createdAt: Date
  finishedAt: Date | null
}

const SCREENING = `id, cause, status, failure_detail AS "failureDetail", screened, changed, created_at AS "createdAt",
  finished_at AS "finishedAt"`

/** With its job, unless one of the same cause waits to begin: that one sees everything too. */
export async function queueScreening(
  tx: Tx,
  scope: Scope,
  { id, cause, at }: { id: string; cause: ScreeningCause; at: Date },
): Promise<void> {
  const { accountId, environment } = scope
  // The operator's lists have no prescribers of their own: accounts are screened by the clock.
  if (accountId === SERVICE_ACCOUNT_ID) return
  const inserted = await tx.query(
    `INSERT INTO exclusion_screenings (account_id, environment, id, cause, created_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (account_id, environment, cause) WHERE status = 'queued' DO NOTHING RETURNING 1`,
    [accountId, environment, id, cause, at],
  )
  if (inserted.length === 0) return
  await enqueue(tx, 'exclusions', scope, [{ payload: { exclusionScreeningId: id }, priority: 'bulk' }])
}

/** Starts it, or starts it anew; undefined when it has ended. */
export async function startScreening(tx: Tx, id: string): Promise<ExclusionScreeningRow | undefined> {
  const [row] = await tx.query<ExclusionScreeningRow>(
    `UPDATE exclusion_screenings SET status = 'running', screened = 0 WHERE id = $1 AND status IN ('queued', 'running')
     RETURNING ${SCREENING}`,
    [id],
  )
  return row
}

export async function addScreened(tx: Tx, id: string, count: number): Promise<void> {
  await tx.query(`UPDATE exclusion_screenings SET screened = screened + $2 WHERE id = $1 AND status = 'running'`, [
    id,
    count,
  ])
}

/** Returns how many prescribers changed; undefined when it had ended. */
export async function finishScreening(tx: Tx, id: string): Promise<number | undefined> {
  const [row] = await tx.query<{ changed: number }>(
    `UPDATE exclusion_screenings SET status = 'succeeded', finished_at = now(),
       changed = (SELECT count(*) FROM exclusion_changes c WHERE c.screening_id = $1)
     WHERE id = $1 AND status = 'running' RETURNING changed`,
    [id],
  )
  return row?.changed
}

export async function failScreening(tx: Tx, id: string, detail: string): Promise<void> {
  await tx.query(
    `UPDATE exclusion_screenings SET status = 'failed', failure_detail = $2, finished_at = now()
     WHERE id = $1 AND status IN ('queued', 'running')`,
    [id, detail.slice(0, 500)],
  )
}

export async function requeueScreening(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `UPDATE exclusion_screenings s SET status = 'queued', failure_detail = NULL, finished_at = NULL
     WHERE id = $1 AND status = 'failed'
       AND NOT EXISTS (SELECT FROM exclusion_screenings o WHERE o.cause = s.cause AND o.status = 'queued')`,
    [id],
  )
}

export async function findScreening(
  tx: Tx,
  { accountId, environment }: Scope,
  id: string,
): Promise<ExclusionScreeningRow | undefined> {
  const [row] = await tx.query<ExclusionScreeningRow>(
    `SELECT ${SCREENING} FROM exclusion_screenings WHERE account_id = $1 AND environment = $2 AND id = $3`,
    [accountId, environment, id],
  )
  return row
}

export interface ExclusionScreeningFilter extends TimeRange {
  statuses: readonly string[] | undefined
}

const SCREENINGS_THAT = `exclusion_screenings WHERE account_id = $1 AND environment = $2 AND ($3::text[] IS NULL OR status = ANY($3))
  AND ($4::timestamptz IS NULL OR created_at >= $4) AND ($5::timestamptz IS NULL OR created_at < $5)`
const screeningValues = ({ accountId, environment }: Scope, { statuses, from, to }: ExclusionScreeningFilter) => [
  ...[accountId, environment, statuses ?? null, from ?? null, to ?? null],
]

/** Newest first. */
export async function listScreenings(
  tx: Tx,
  scope: Scope,
  { before, limit, ...filter }: ExclusionScreeningFilter & { before: string | undefined; limit: number },
): Promise<ExclusionScreeningRow[]> {
  return tx.query<ExclusionScreeningRow>(
    `SELECT ${SCREENING} FROM ${SCREENINGS_THAT} AND ($6::text IS NULL OR id < $6) ORDER BY id DESC LIMIT $7`,
    [...screeningValues(scope, filter), before ?? null, limit],
  )
}

export async function countScreenings(tx: Tx, scope: Scope, filter: ExclusionScreeningFilter): Promise<number> {
  const [row] = await tx.query<{ count: number }>(countOf(SCREENINGS_THAT), screeningValues(scope, filter))
  return row?.count ?? 0
}

export interface ChangeRow {
  prescriberId: string
  statusBefore: ExclusionStatus
  status: ExclusionStatus
  evidence: ExclusionEvidence[]
  changedAt: Date
}

/** Statuses as the screenings until now left them: of a prescriber without a change, clear. */
export async function findStatuses(
  tx: Tx,
  { accountId, environment }: Scope,
  ids: readonly string[],
): Promise<Map<string, ExclusionStatus>> {
  const rows = await tx.query<{ id: string; status: ExclusionStatus }>(
    `SELECT id, c.status FROM unnest($1::text[]) AS p (id) CROSS JOIN LATERAL (
       SELECT status FROM exclusion_changes WHERE prescriber_id = p.id AND account_id = $2 AND environment = $3
       ORDER BY screening_id DESC LIMIT 1) c`,
    [ids, accountId, environment],
  )
  return new Map(rows.map(({ id, status }) => [id, status]))
}

export async function insertChanges(
  tx: Tx,
  { accountId, environment }: Scope,
  { screeningId, changes }: { screeningId: string; changes: readonly ChangeRow[] },
): Promise<void> {
  if (changes.length === 0) return
  await tx.query(
    `INSERT INTO exclusion_changes (account_id, environment, screening_id, prescriber_id, status_before, status, evidence, changed_at)
     SELECT $1, $2, $3, prescriber_id, status_before, status, evidence, changed_at
     FROM unnest($4::text[], $5::text[], $6::text[], $7::jsonb[], $8::timestamptz[])
       AS c (prescriber_id, status_before, status, evidence, changed_at)
     -- A screening that begins anew.
     ON CONFLICT (screening_id, account_id, environment, prescriber_id) DO NOTHING`,
    [
      ...[accountId, environment, screeningId],
      changes.map(({ prescriberId }) => prescriberId),
      changes.map(({ statusBefore }) => statusBefore),
      changes.map(({ status }) => status),
      changes.map(({ evidence }) => JSON.stringify(evidence)),
      changes.map(({ changedAt }) => changedAt),
    ],
  )
}

/** In the order of the prescribers' ids. */
export async function listChanges(
  tx: Tx,
  { accountId, environment }: Scope,
  { screeningId, after, limit }: { screeningId: string; after: string | undefined; limit: number },
): Promise<ChangeRow[]> {
  return tx.query<ChangeRow>(
    `SELECT prescriber_id AS "prescriberId", status_before AS "statusBefore", status, evidence, changed_at AS "changedAt"
     FROM exclusion_changes WHERE screening_id = $3 AND account_id = $1 AND environment = $2 AND prescriber_id > $4
     ORDER BY prescriber_id LIMIT $5`,
    [accountId, environment, screeningId, after ?? '', limit],
  )
}

/** An account whose prescribers are to be compared with the lists. */
export interface DueScreening {
  accountId: string
  environment: Environment
  cause: ScreeningCause
}

/** A day after the last screening, exclusions have begun and ended although no list was imported. System role. */
const SCREENED_FOR = `interval '1 day'`

/**
 * Accounts where a list in force or a prescriber is newer than the last screening, or the last screening is a day old.
 * @param after Scope after which the page begins.
 */
export async function findDueScreenings(
  tx: Tx,
  { after, limit }: { after: Scope | undefined; limit: number },
): Promise<DueScreening[]> {
  return tx.query<DueScreening>(
    `WITH account AS (
       SELECT account_id, environment, max(updated_at) AS changed_at FROM prescribers
       WHERE (account_id, environment) > ($1, $2) GROUP BY 1, 2 ORDER BY 1, 2)
     SELECT a.account_id AS "accountId", a.environment, COALESCE(p.list, 'prescribers') AS cause
     FROM account a
     CROSS JOIN LATERAL (SELECT COALESCE(max(created_at), '-infinity') AS at FROM exclusion_screenings s
       WHERE s.account_id = a.account_id AND s.environment = a.environment) last
     LEFT JOIN LATERAL (SELECT o.list FROM exclusion_pointers o WHERE o.changed_at >= last.at
       AND ((o.account_id = a.account_id AND o.environment = a.environment) OR (o.account_id = $3 AND NOT EXISTS (
         SELECT FROM exclusion_pointers own WHERE own.account_id = a.account_id AND own.environment = a.environment
           AND own.list = o.list))) ORDER BY o.changed_at DESC LIMIT 1) p ON true
     WHERE p.list IS NOT NULL OR a.changed_at >= last.at OR last.at < clock_timestamp() - ${SCREENED_FOR}
     ORDER BY 1, 2 LIMIT $4`,
    [after?.accountId ?? '', after?.environment ?? '', SERVICE_ACCOUNT_ID, limit],
  )
}
