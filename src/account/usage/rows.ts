import type { Plan, Product } from '#src/catalogue/access.ts'
import { type MeteredOperation, WAITING_QUEUES } from '#src/catalogue/metered.ts'
import type { Statement, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'

// Months and days are those of UTC, by the clock of Postgres: `at` and the limits of a month can't disagree.
const THIS_MONTH = `date_trunc('month', now() AT TIME ZONE 'UTC')`
const UNFOLDED = `SELECT (at AT TIME ZONE 'UTC')::date AS day, operation, units FROM usage_entries WHERE folded_at IS NULL`

/**
 * An operation that only the cap counts: one unit for each that is given back this month and was counted in an earlier one.
 * Without it, giving back what an earlier month's cap let through would be room beyond this month's.
 */
const EARLIER_GIVE_BACKS = 'given_back_of_earlier_month'

/** Adds the first count of some subjects. A subject that has one is not counted again. */
export async function insertUsageEntries(
  tx: Tx,
  scope: Scope,
  operation: MeteredOperation,
  counted: readonly { subjectId: string; units: number }[],
): Promise<void> {
  await tx.query(
    `INSERT INTO usage_entries (account_id, environment, operation, subject_id, units)
     SELECT $1, $2, $3, subject_id, units FROM unnest($4::text[], $5::int[]) AS counted (subject_id, units)
     ON CONFLICT DO NOTHING`,
    [
      scope.accountId,
      scope.environment,
      operation,
      counted.map(({ subjectId }) => subjectId),
      counted.map(({ units }) => units),
    ],
  )
}

export interface CountedLine {
  id: string
  batchId: string
}

export interface LineTurn {
  lines: readonly CountedLine[]
  /** -1 gives back what their batch has counted, 1 counts again what was given back. */
  units: 1 | -1
}

/**
 * A line is counted as its last entry says, and one without entries as its batch is. A line that is where it should be already
 * is left alone. Retention deletes entries: of a line whose own and whose batch's are gone nothing is given back, and it counts
 * when it is tried again, as it was given back before.
 */
export async function turnLines(
  tx: Tx,
  scope: Scope,
  operation: MeteredOperation,
  { lines, units }: LineTurn,
): Promise<void> {
  await tx.query(
    `WITH wanted AS MATERIALIZED (
       SELECT line.id, coalesce(own.turn, 0) + 1 AS turn, coalesce(own.at, batch.at) AS counted_at
       FROM unnest($4::text[], $5::text[]) AS line (id, batch_id)
       LEFT JOIN LATERAL (
         SELECT turn, units, at FROM usage_entries
         WHERE operation = $3 AND subject_id = line.id ORDER BY turn DESC LIMIT 1
       ) AS own ON true
       LEFT JOIN LATERAL (
         SELECT at FROM usage_entries WHERE operation = $3 AND subject_id = line.batch_id AND turn = 0
       ) AS batch ON true
       WHERE coalesce(own.units > 0, batch.at IS NOT NULL) = ($6::int = -1)
     ), turned AS (
       INSERT INTO usage_entries (account_id, environment, operation, subject_id, turn, units)
       SELECT $1, $2, $3, id, turn, $6::int FROM wanted
       ON CONFLICT DO NOTHING RETURNING subject_id, turn
     )
     INSERT INTO usage_entries (account_id, environment, operation, subject_id, turn, units)
     SELECT $1, $2, $7, wanted.id, wanted.turn, 1 FROM turned JOIN wanted ON wanted.id = turned.subject_id
     WHERE $6::int = -1 AND wanted.counted_at < ${THIS_MONTH} AT TIME ZONE 'UTC'
     ON CONFLICT DO NOTHING`,
    [
      scope.accountId,
      scope.environment,
      operation,
      lines.map(({ id }) => id),
      lines.map((one) => one.batchId),
      units,
      EARLIER_GIVE_BACKS,
    ],
  )
}

export interface UseRow {
  /** Of this month: the sums and what they do not have yet. */
  used: number
  /** Accepted and not counted yet. */
  waiting: number
  resetsAt: Date
}

// A job without a lease and one with a lease both take up room. The limit keeps a long backlog from being read whole.
const WAITING = WAITING_QUEUES.map(({ queue, countsBulkAtOnce }) => {
  const jobs = `FROM jobs WHERE queue = '${queue}' AND lane = $1${countsBulkAtOnce ? ' AND priority = 0' : ''}`
  return `(SELECT count(*) FROM (SELECT ${jobs} AND state = 'queued' LIMIT $2) AS queued)
    + (SELECT count(*) ${jobs} AND state = 'dispatched')`
}).join(' + ')

/** Selects one `UseRow` of the scope. Of what waits, at most `limit` of each queue are counted. */
export function selectUse(accountId: string, limit: number): Statement {
  return {
    text: `SELECT
        ((SELECT coalesce(sum(units), 0) FROM usage_days WHERE day >= ${THIS_MONTH}::date)
       + (SELECT coalesce(sum(units), 0) FROM usage_entries
          WHERE folded_at IS NULL AND at >= ${THIS_MONTH} AT TIME ZONE 'UTC'))::bigint AS used,
      ${WAITING} AS waiting,
      (${THIS_MONTH} + interval '1 month') AT TIME ZONE 'UTC' AS "resetsAt"`,
    values: [accountId, limit],
  }
}

export interface MonthRow {
  /** 2026-11 */
  month: string
  isCurrent: boolean
  resetsAt: Date
  /** Also of the operations that only the cap counts. */
  days: { day: string; operation: string; units: number }[]
}

/** Selects one `MonthRow` of the scope. @param month Undefined: the current one. */
export function selectMonth(month: string | undefined): Statement {
  return {
    text: `WITH wanted AS (SELECT coalesce(to_date($1::text, 'YYYY-MM'), ${THIS_MONTH}::date) AS start)
     SELECT to_char(start, 'YYYY-MM') AS month, start = ${THIS_MONTH}::date AS "isCurrent",
       (start + interval '1 month') AT TIME ZONE 'UTC' AS "resetsAt",
       (SELECT coalesce(jsonb_agg(jsonb_build_object('day', day, 'operation', operation, 'units', units) ORDER BY day), '[]')
        FROM (
          SELECT day, operation, sum(units) AS units
          FROM (SELECT day, operation, units FROM usage_days WHERE day >= start AND day < start + interval '1 month'
                UNION ALL ${UNFOLDED}) AS counted
          WHERE day >= start AND day < start + interval '1 month' GROUP BY day, operation HAVING sum(units) <> 0
        ) AS summed) AS days
     FROM wanted`,
    values: [month ?? null],
  }
}

export interface StatementRow {
  month: string
  startsAt: Date
  endsAt: Date
  isFinal: boolean
  units: Record<string, number>
}

/**
 * Selects `StatementRow`s of the scope, newest first: each month from the account's first to the current one.
 * @param before A month.
 */
export function selectStatements(
  accountId: string,
  { before, limit }: { before: string | undefined; limit: number },
): Statement {
  return {
    text: `WITH months AS (
       SELECT month FROM accounts, generate_series(${THIS_MONTH},
         date_trunc('month', accounts.created_at AT TIME ZONE 'UTC'), interval '-1 month') AS month
       WHERE accounts.id = $1 AND ($2::text IS NULL OR month < to_date($2, 'YYYY-MM'))
       ORDER BY month DESC LIMIT $3
     )
     SELECT to_char(month, 'YYYY-MM') AS month, month AT TIME ZONE 'UTC' AS "startsAt",
       (month + interval '1 month') AT TIME ZONE 'UTC' AS "endsAt",
       -- A transaction that began before the end commits soon after it.
       now() AT TIME ZONE 'UTC' >= month + interval '1 month 1 hour' AS "isFinal", coalesce(units, '{}') AS units
     FROM months LEFT JOIN LATERAL (
       SELECT jsonb_object_agg(operation, units) AS units FROM (
         SELECT operation, sum(units) AS units
         FROM (SELECT day, operation, units FROM usage_days WHERE day >= month AND day < month + interval '1 month'
               UNION ALL ${UNFOLDED}) AS counted
         WHERE day >= month AND day < month + interval '1 month' GROUP BY operation
       ) AS summed
     ) AS summed ON true
     ORDER BY months.month DESC`,
    values: [accountId, before ?? null, limit],
  }
}

/** Selects the number of statements: the months of the account. */
export function countStatements(accountId: string): Statement {
  return {
    text: `SELECT count(*) AS count FROM accounts, generate_series(
       date_trunc('month', accounts.created_at AT TIME ZONE 'UTC'), ${THIS_MONTH}, interval '1 month') AS month
     WHERE accounts.id = $1`,
    values: [accountId],
  }
}

export interface OwnAccountRow {
  id: string
  name: string
  plan: Plan
  products: Product[]
  createdAt: Date
  closedAt: Date | null
  erasedAfter: Date | null
  /** Counts the changes of its name, plan and products. */
  version: number
}

/** Selects one `OwnAccountRow`. */
export function selectAccount(accountId: string): Statement {
  return {
    text: `SELECT id, name, plan, products, created_at AS "createdAt", closed_at AS "closedAt",
       erased_after AS "erasedAfter", version FROM accounts WHERE id = $1`,
    values: [accountId],
  }
}

/** For the erasure of an account: deletes some of its entries, sums and notices; returns how many. */
export async function eraseUsage(tx: Tx, limit: number): Promise<number> {
  let count = 0
  for (const table of ['usage_entries', 'usage_days', 'account_notices']) {
    const gone = await tx.query(
      `DELETE FROM ${table} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${table} LIMIT $1)) RETURNING 1`,
      [limit],
    )
    count += gone.length
  }
  return count
}
