// What was spent under mandates: one row for each period of a budget, changed by guarded statements only, and one for each
// charge of a token, so that exactly what was charged is released.

import { decimalOf } from '#src/platform/amounts.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { idsBefore, type Scope } from '#src/platform/ids.ts'
import type { PurgeStep } from '#src/platform/retention.ts'
import type { MandateFacts } from './judge.ts'
import { endAfter } from './state.ts'

export interface MandateCharge {
  jti: string
  /** Facts that this transaction read under `lock: 'update'`. */
  facts: MandateFacts
  /** Decimal text; null where the action has none: then no level has a budget. */
  amount: string | null
}

export interface ReleasedCharge {
  mandate_id: string
  /** A calendar date in the mandate's time zone. */
  period_start: string
  /** Decimal text. */
  amount: string
  currency: string
}

/**
 * Charges the budget of every level, root first, in one round trip. false: one of them has not enough left, and nothing of
 * this transaction may be kept. A token is charged once: a second time is an error of the primary key.
 */
export async function chargeMandate(
  tx: Tx,
  { accountId, environment }: Scope,
  { jti, facts, amount }: MandateCharge,
): Promise<boolean> {
  const charges = facts.levels.flatMap(({ mandate_id, budget, period }, index) =>
    budget === null || period === null
      ? []
      : [{ id: mandate_id, depth: index + 1, start: period.start, currency: budget.currency }],
  )
  if (charges.length === 0) return true
  if (amount === null) return false
  const charged = await tx.query(CHARGE, [
    accountId,
    environment,
    jti,
    amount,
    charges.map(({ id }) => id),
    charges.map(({ depth }) => depth),
    charges.map(({ start }) => start),
    charges.map(({ currency }) => currency),
  ])
  return charged.length === charges.length
}

// The rows of the select are inserted in its order. The limits are those of the row as it is now, not of the facts.
// When a level has not enough left, neither row changes. A level whose limit was narrowed below what is spent still
// allows an action of 0.
const CHARGE = `WITH level AS (
    SELECT given.*, m.budget_limit, m.budget_max_count
    FROM unnest($5::text[], $6::integer[], $7::date[], $8::text[]) AS given (mandate_id, depth, period_start, currency)
    JOIN mandates m ON m.account_id = $1 AND m.environment = $2 AND m.id = given.mandate_id
  ), charged AS (
    INSERT INTO mandate_spend AS spend (account_id, environment, mandate_id, period_start, spent, executions)
    SELECT $1, $2, mandate_id, period_start, $4::numeric, 1 FROM level WHERE $4::numeric BETWEEN 0 AND budget_limit ORDER BY depth
    ON CONFLICT ON CONSTRAINT mandate_spend_pkey DO UPDATE
      SET spent = spend.spent + EXCLUDED.spent, executions = spend.executions + EXCLUDED.executions
      WHERE (SELECT (EXCLUDED.spent = 0 OR spend.spent + EXCLUDED.spent <= budget_limit)
          AND (budget_max_count IS NULL OR spend.executions < budget_max_count)
        FROM level WHERE level.mandate_id = spend.mandate_id)
    RETURNING mandate_id
  )
  INSERT INTO mandate_charges (account_id, environment, jti, mandate_id, depth, period_start, amount, currency)
  SELECT $1, $2, $3, mandate_id, depth, period_start, $4::numeric, currency FROM level JOIN charged USING (mandate_id)
  RETURNING 1`

/**
 * Credits exactly what the token was charged: the same periods of the same levels. Takes the locks of their mandates, root
 * first. Empty: nothing was charged, or it was credited before.
 */
export async function releaseMandate(
  tx: Tx,
  { accountId, environment }: Scope,
  jti: string,
): Promise<ReleasedCharge[]> {
  const [, released] = await Promise.all([
    tx.query(LOCK_CHARGED, [jti]),
    tx.query<ReleasedCharge>(RELEASE, [accountId, environment, jti]),
  ])
  return released.map((charge) => ({ ...charge, amount: decimalOf(charge.amount) }))
}

const LOCK_CHARGED = `SELECT 1 FROM mandates WHERE id IN (SELECT mandate_id FROM mandate_charges WHERE jti = $1)
  ORDER BY cardinality(path) FOR NO KEY UPDATE`

const RELEASE = `WITH released AS (
    UPDATE mandate_charges SET released_at = clock_timestamp()
    WHERE account_id = $1 AND environment = $2 AND jti = $3 AND released_at IS NULL
    RETURNING mandate_id, depth, period_start, amount, currency
  ), credited AS (
    UPDATE mandate_spend SET spent = spent - amount, executions = greatest(executions - 1, 0) FROM released
    WHERE mandate_spend.account_id = $1 AND mandate_spend.environment = $2
      AND mandate_spend.mandate_id = released.mandate_id AND mandate_spend.period_start = released.period_start
    RETURNING 1
  )
  SELECT mandate_id, period_start::text, amount, currency FROM released ORDER BY depth`

export interface SpendDay {
  /** Day in UTC. */
  date: string
  currency: string
  /** Without those that were given back. */
  executions: number
  /** Decimal text. */
  committed: string
  reserved: string
  released: string
}

/** Charges of a mandate in a range, counted up to `most`. */
export async function countCharges(
  tx: Tx,
  mandateId: string,
  { from, to, most }: { from: Date; to: Date; most: number },
): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM (
       SELECT FROM mandate_charges WHERE mandate_id = $1 AND charged_at >= $2 AND charged_at < $3 LIMIT $4) charge`,
    [mandateId, from, to, most],
  )
  return row?.count ?? 0
}

/** The charges of a mandate, those of its children included, by day. What has no outcome yet is reserved. */
export async function sumByDay(tx: Tx, mandateId: string, { from, to }: { from: Date; to: Date }): Promise<SpendDay[]> {
  return tx.query<SpendDay>(
    `SELECT to_char(charged_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS date, currency,
       count(*) FILTER (WHERE released_at IS NULL)::int AS executions,
       coalesce(sum(amount) FILTER (WHERE released_at IS NULL AND NOT is_open), 0)::text AS committed,
       coalesce(sum(amount) FILTER (WHERE released_at IS NULL AND is_open), 0)::text AS reserved,
       coalesce(sum(amount) FILTER (WHERE released_at IS NOT NULL), 0)::text AS released
     FROM mandate_charges CROSS JOIN LATERAL (
       SELECT EXISTS (SELECT FROM intents WHERE jti = mandate_charges.jti AND outcome IS NULL OFFSET 0) AS is_open) token
     WHERE mandate_id = $1 AND charged_at >= $2 AND charged_at < $3
     GROUP BY 1, 2 ORDER BY 1, 2`,
    [mandateId, from, to],
  )
}

/** Deletes charges of tokens whose outcome can't be reported any more. */
export const purgeCharges: PurgeStep = async (tx, { environment }, { before, limit }) => {
  const gone = await tx.query(
    `DELETE FROM mandate_charges WHERE ctid = ANY(ARRAY(
       SELECT ctid FROM mandate_charges WHERE jti < $1 AND charged_at < $2 ORDER BY jti LIMIT $3)) RETURNING 1`,
    [idsBefore('jti', environment, before), before, limit],
  )
  return gone.length
}

/** Deletes sums of periods that ended, and of mandates that were deleted. The sum of a total stays with its mandate. */
export const purgeSpend: PurgeStep = async (tx, _scope, { before, limit }) => {
  const gone = await tx.query(
    `DELETE FROM mandate_spend WHERE ctid = ANY(ARRAY(
       SELECT s.ctid FROM mandate_spend s LEFT JOIN mandates m ON m.id = s.mandate_id
       WHERE m.id IS NULL
         OR ${endAfter('s.period_start', 'm')} <= ($1::timestamptz AT TIME ZONE m.timezone)::date
       LIMIT $2)) RETURNING 1`,
    [before, limit],
  )
  return gone.length
}
