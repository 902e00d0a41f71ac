// System role: the clock works for all accounts at once.

import { PLANS } from '#src/catalogue/access.ts'
import { PLAN_LIMITS } from '#src/catalogue/plans.ts'
import type { Tx } from '#src/platform/db/database.ts'

/** false while another process folds. */
export async function tryLockFold(tx: Tx): Promise<boolean> {
  const [row] = await tx.query<{ isMine: boolean }>(
    `SELECT pg_try_advisory_xact_lock(hashtextextended('usage fold', 0)) AS "isMine"`,
  )
  return row?.isMine === true
}

export interface TouchedMonth {
  accountId: string
  /** Its first day. */
  month: string
}

/**
 * Adds up to `limit` entries to the sums of their days, and marks them. One statement: an entry is in the sums and
 * marked, or neither. An entry that another transaction has marked meanwhile is skipped.
 */
export async function foldEntries(tx: Tx, limit: number): Promise<{ count: number; touched: TouchedMonth[] }> {
  const rows = await tx.query<TouchedMonth & { count: number }>(
    `WITH folded AS (
       UPDATE usage_entries SET folded_at = now()
       WHERE folded_at IS NULL
         AND ctid = ANY(ARRAY(SELECT ctid FROM usage_entries WHERE folded_at IS NULL LIMIT $1))
       RETURNING account_id, environment, operation, (at AT TIME ZONE 'UTC')::date AS day, units
     ), summed AS (
       SELECT account_id, environment, day, operation, sum(units) AS units, count(*) AS count
       FROM folded GROUP BY 1, 2, 3, 4
     ), added AS (
       INSERT INTO usage_days (account_id, environment, day, operation, units)
       SELECT account_id, environment, day, operation, units FROM summed ORDER BY 1, 2, 3, 4
       ON CONFLICT ON CONSTRAINT usage_days_pkey DO UPDATE SET units = usage_days.units + excluded.units
     )
     SELECT account_id AS "accountId", date_trunc('month', day)::date::text AS month, sum(count)::bigint AS count
     FROM summed GROUP BY 1, 2`,
    [limit],
  )
  return { count: rows.reduce((sum, { count }) => sum + count, 0), touched: rows }
}

/** The shares of the cap at which people are told, by the kind of the notice. */
const NOTICE_SHARES = { usage_80: 0.8, usage_100: 1 } as const
export type NoticeKind = keyof typeof NOTICE_SHARES
export const NOTICE_KINDS = Object.keys(NOTICE_SHARES) as [NoticeKind, ...NoticeKind[]]

/** Writes the notices that are due by the sums. Each is written once per account and month. */
export async function insertDueNotices(tx: Tx, touched: readonly TouchedMonth[]): Promise<void> {
  if (touched.length === 0) return
  await tx.query(
    `INSERT INTO account_notices (account_id, kind, month, plan, cap, used)
     SELECT account.id, level.kind, summed.month, account.plan, plan.cap, summed.units
     FROM (
       SELECT touched.account_id, touched.month, sum(usage_days.units)::bigint AS units
       FROM unnest($1::text[], $2::date[]) AS touched (account_id, month)
       JOIN usage_days ON usage_days.account_id = touched.account_id AND usage_days.environment = 'live'
         AND usage_days.day >= touched.month AND usage_days.day < touched.month + interval '1 month'
       GROUP BY 1, 2
     ) AS summed
     JOIN accounts account ON account.id = summed.account_id
     JOIN unnest($3::text[], $4::bigint[]) AS plan (name, cap) ON plan.name = account.plan
     JOIN unnest($5::text[], $6::numeric[]) AS level (kind, share) ON summed.units >= plan.cap * level.share
     ON CONFLICT DO NOTHING`,
    [
      touched.map(({ accountId }) => accountId),
      touched.map(({ month }) => month),
      PLANS,
      PLANS.map((plan) => PLAN_LIMITS[plan].monthly.operations),
      NOTICE_KINDS,
      NOTICE_KINDS.map((kind) => NOTICE_SHARES[kind]),
    ],
  )
}

export async function findUntoldNotices(tx: Tx, limit: number): Promise<{ accountId: string }[]> {
  return tx.query(
    `SELECT account_id AS "accountId" FROM account_notices WHERE notified_at IS NULL
     GROUP BY account_id ORDER BY min(created_at) LIMIT $1`,
    [limit],
  )
}

/** Deletes entries that were folded and are older than `days`. Returns how many. */
export async function purgeFoldedEntries(tx: Tx, days: number, limit: number): Promise<number> {
  const gone = await tx.query(
    `DELETE FROM usage_entries WHERE ctid = ANY(ARRAY(
       SELECT ctid FROM usage_entries WHERE at < now() - $1 * interval '1 day' AND folded_at IS NOT NULL LIMIT $2))
     RETURNING 1`,
    [days, limit],
  )
  return gone.length
}
