// SQL that adds up entries of the ledger. What an entry says is in its text: the members of `inputs` that the features of
// Authorize write. Amounts are added as decimals, in Postgres.

import type { ApprovalStatus } from '#src/authorize/approvals/facts.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { DecisionEntry } from '#src/platform/ledger/entry.ts'
import { conditionsOf, type DecisionFilter } from '#src/platform/ledger/rows.ts'

export interface Range {
  /** Inclusive. */
  from: Date
  /** Exclusive. */
  to: Date
}

/** Entries of a kind in a range, counted up to `most`. */
export async function countUpTo(
  tx: Tx,
  scope: Scope,
  filter: Range & Pick<DecisionFilter, 'kinds'>,
  most: number,
): Promise<number> {
  const { conditions, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(
    `SELECT count(*)::int AS count FROM (
       SELECT FROM decisions WHERE ${conditions.join(' AND ')} LIMIT $${values.push(most)}) entry`,
    values,
  )
  return row?.count ?? 0
}

export interface SpendRow {
  mandateId: string
  /** When the budget's period began; '' where the mandate has none. */
  periodStart: string
  /** '' where its executions named no amount. */
  currency: string
  executions: number
  /** Decimals. */
  charged: string
  released: string
  spent: string
}

export type SpendKey = Pick<SpendRow, 'mandateId' | 'periodStart' | 'currency'>

interface SpendPage {
  mandateId: string | undefined
  below: SpendKey | undefined
  limit: number
}

/** What the executions of a range charged, and what their outcomes gave back. The newest mandate and period first. */
export async function sumSpend(
  tx: Tx,
  scope: Scope,
  range: Range,
  { mandateId, below, limit }: SpendPage,
): Promise<SpendRow[]> {
  const { conditions, values } = conditionsOf(scope, { ...range, kinds: ['execute'] })
  const wanted = mandateId === undefined ? 'IS NOT NULL' : `= $${values.push(mandateId)}`
  const from =
    below === undefined
      ? ''
      : `WHERE (mandate_id, period_start, currency) <
           ($${values.push(below.mandateId)}, $${values.push(below.periodStart)}, $${values.push(below.currency)})`
  return tx.adhoc<SpendRow>(
    `WITH executed AS MATERIALIZED (
       SELECT jti, entry::jsonb -> 'inputs' AS inputs FROM decisions WHERE ${conditions.join(' AND ')}
     ), charge AS (
       SELECT jti, (inputs ->> 'mandate_id') COLLATE "C" AS mandate_id,
         coalesce(inputs ->> 'period_start', '') COLLATE "C" AS period_start,
         coalesce(inputs ->> 'currency', '') COLLATE "C" AS currency,
         coalesce((inputs ->> 'amount')::numeric, 0) AS amount
       FROM executed WHERE inputs ->> 'mandate_id' ${wanted}
     ), sums AS (
       SELECT mandate_id, period_start, currency, count(*)::int AS executions, sum(charge.amount) AS charged,
         coalesce(sum(charge.amount) FILTER (WHERE is_released), 0) AS released
       FROM charge CROSS JOIN LATERAL (
         -- All of it, or nothing. Where no level has a budget, the outcome has no amount.
         SELECT EXISTS (SELECT FROM decisions
           WHERE jti = charge.jti AND kind = 'outcome' AND reason IN ('failed', 'not_run') OFFSET 0) AS is_released
       ) outcome
       GROUP BY mandate_id, period_start, currency
     )
     SELECT mandate_id AS "mandateId", period_start AS "periodStart", currency, executions,
       trim_scale(charged)::text AS charged, trim_scale(released)::text AS released,
       trim_scale(charged - released)::text AS spent
     FROM sums ${from} ORDER BY mandate_id DESC, period_start DESC, currency DESC LIMIT $${values.push(limit)}`,
    values,
  )
}

export interface ApprovalAges {
  counts: { ageClass: number; status: ApprovalStatus; count: number }[]
  /** Median age of approvals that persons decided; null without any. */
  medianSeconds: number | null
  p95Seconds: number | null
  oldestPending: { approvalId: string; askedAt: Date } | null
}

/**
 * The approvals that were asked for in a range, by how long they took or have been waiting.
 * @param bounds Seconds at which the age classes 1, 2, ... begin; class 0 begins at 0.
 */
export async function countApprovals(
  tx: Tx,
  scope: Scope,
  range: Range,
  bounds: readonly number[],
): Promise<ApprovalAges> {
  const { conditions, values } = conditionsOf(scope, { ...range, kinds: ['approval'] })
  const [row] = await tx.adhoc<ApprovalAges>(
    `WITH asked AS MATERIALIZED (
       SELECT at, jti, entry::jsonb -> 'inputs' AS inputs FROM decisions WHERE ${conditions.join(' AND ')}
     ), judged AS MATERIALIZED (
       SELECT asked.at AS asked_at, asked.inputs ->> 'approval_id' AS approval_id,
         -- The clock tells an expiry some seconds later.
         coalesce(ended.state, CASE WHEN due.at <= now() THEN 'expired' ELSE 'pending' END) AS state,
         greatest(0, extract(epoch FROM coalesce(ended.at, least(due.at, now())) - asked.at))::float8 AS seconds
       FROM asked CROSS JOIN LATERAL (SELECT (asked.inputs ->> 'expires_at')::timestamptz AS at) due
       LEFT JOIN LATERAL (
         SELECT inputs ->> 'status' AS state, coalesce((inputs ->> 'ended_at')::timestamptz, at) AS at
         FROM (SELECT id, at, entry::jsonb -> 'inputs' AS inputs FROM decisions
           WHERE jti = asked.jti AND kind = 'approval_decision'
             AND reason IN ('approval_approved', 'approval_denied', 'approval_expired', 'approval_cancelled') OFFSET 0) entry
         WHERE inputs ->> 'approval_id' = asked.inputs ->> 'approval_id' ORDER BY id LIMIT 1
       ) ended ON true
     ), counts AS (
       SELECT width_bucket(seconds, $${values.push(bounds)}::float8[]) AS age_class, state, count(*)::int AS count
       FROM judged GROUP BY 1, 2
     )
     SELECT
       (SELECT coalesce(jsonb_agg(jsonb_build_object('ageClass', age_class, 'status', state, 'count', count)), '[]')
          FROM counts) AS counts,
       (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) FROM judged WHERE state IN ('approved', 'denied'))
         AS "medianSeconds",
       (SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds) FROM judged WHERE state IN ('approved', 'denied'))
         AS "p95Seconds",
       (SELECT jsonb_build_object('approvalId', approval_id, 'askedAt', asked_at) FROM judged WHERE state = 'pending'
          ORDER BY asked_at LIMIT 1) AS "oldestPending"`,
    values,
  )
  if (row === undefined) throw new Error('a statement without FROM returned no row')
  const { oldestPending: oldest } = row
  return { ...row, oldestPending: oldest && { ...oldest, askedAt: new Date(oldest.askedAt) } }
}

/** Authorizations of a range, newest first, each with whether its token was executed. @param below An id. */
export async function scanAuthorized(
  tx: Tx,
  scope: Scope,
  range: Range,
  { below, limit }: { below: string | undefined; limit: number },
): Promise<{ id: string; isExecuted: boolean }[]> {
  const { conditions, values } = conditionsOf(scope, { ...range, kinds: ['authorize'] })
  if (below !== undefined) conditions.push(`id < $${values.push(below)}`)
  return tx.adhoc(
    `SELECT id, EXISTS (SELECT FROM decisions WHERE jti = authorized.jti AND kind = 'execute' OFFSET 0) AS "isExecuted"
     FROM (SELECT id, jti FROM decisions WHERE ${conditions.join(' AND ')} AND jti IS NOT NULL
       ORDER BY id DESC LIMIT $${values.push(limit)}) authorized ORDER BY id DESC`,
    values,
  )
}

/** What of an entry a policy makes long is left in Postgres. */
type ShortEntry = Omit<DecisionEntry, 'rule_results'>

export interface UnexecutedRow {
  entry: ShortEntry
  /** The last verification of the token, if there was one. */
  last: ShortEntry | null
}

/** Newest first. */
export async function findAuthorized(tx: Tx, ids: readonly string[]): Promise<UnexecutedRow[]> {
  return tx.query<UnexecutedRow>(
    `SELECT authorized.entry::jsonb - 'rule_results' AS entry, (SELECT entry::jsonb - 'rule_results' FROM decisions
         WHERE jti = authorized.jti AND kind = 'verify' ORDER BY id DESC LIMIT 1) AS last
     FROM decisions authorized WHERE authorized.id = ANY($1::text[]) ORDER BY authorized.id DESC`,
    [ids],
  )
}
