// The mandates themselves. A change first locks its row and then asks for the time, so that what waited for a decision is
// judged after it.

import type { ActionPointers } from '#src/authorize/action-amounts.ts'
import { decimalOf } from '#src/platform/amounts.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'
import { oldRows } from '#src/platform/retention.ts'
import type { BudgetPeriod, MandateBudget, MandateConstraints, MandateStatus } from './judge.ts'
import {
  CLOCK,
  lapsesAtOf,
  MANDATE_STATUSES,
  missedAtOf,
  periodEndOf,
  periodStartOf,
  statusOf,
  TERMINAL_STATUSES,
} from './state.ts'

/** What a mandate allows, and how long. All of it can only become less. */
export interface MandateTerms {
  agentId: string | null
  constraints: MandateConstraints
  budget: MandateBudget | null
  notBefore: Date | null
  /** null: any. */
  instruments: string[] | null
  expiresAt: Date
  heartbeat: MandateHeartbeat | null
}

export interface MandateHeartbeat {
  intervalSeconds: number
  windowSeconds: number
}

export interface NewMandate extends MandateTerms {
  id: string
  principal: string
  description: string
  timezone: string
  pointers: ActionPointers
  /** Root first; empty: a root. */
  ancestors: readonly string[]
  createdBy: string
}

export interface MandateRow {
  id: string
  parentId: string | null
  /** Root first; the mandate itself is last. */
  path: string[]
  agentId: string | null
  principal: string
  description: string
  timezone: string
  constraints: MandateConstraints
  pointers: ActionPointers
  limit: string | null
  currency: string | null
  period: BudgetPeriod | null
  maxCount: number | null
  periodStart: string | null
  periodEnd: string | null
  /** In the current period; numeric text. */
  spent: string
  /** Executions in the current period. */
  count: number
  /** What the budgets of all levels leave; numeric text. */
  remaining: string | null
  notBefore: Date | null
  instruments: string[] | null
  expiresAt: Date
  intervalSeconds: number | null
  windowSeconds: number | null
  lastCheckInAt: Date | null
  /** When a check-in is missed, and since when none counts any more. */
  missedAt: Date | null
  lapsesAt: Date | null
  /** The first of the chain's, in the order of `MANDATE_STATUSES`. */
  status: MandateStatus
  /** By itself. */
  ownStatus: MandateStatus
  /** The level that has `status`. */
  statusOf: string
  revokedAt: Date | null
  revokedBy: string | null
  revokedReason: string | null
  createdBy: string
  createdAt: Date
  updatedAt: Date
  /** Counts narrowings and the revocation. */
  version: number
}

/**
 * False when the clock of Postgres allows no such expiry.
 * @throws with the SQLSTATE 22023 when Postgres knows no such time zone.
 */
export async function insertMandate(tx: Tx, { accountId, environment }: Scope, mandate: NewMandate): Promise<boolean> {
  const { id, ancestors, budget, heartbeat } = mandate
  const inserted = await tx.query(INSERT, [
    accountId,
    environment,
    id,
    ancestors.at(-1) ?? null,
    [...ancestors, id],
    mandate.agentId,
    mandate.principal,
    mandate.description,
    mandate.timezone,
    JSON.stringify(mandate.constraints),
    JSON.stringify(mandate.pointers),
    budget?.limit ?? null,
    budget?.currency ?? null,
    budget?.period ?? null,
    mandate.expiresAt,
    heartbeat?.intervalSeconds ?? null,
    heartbeat?.windowSeconds ?? null,
    mandate.createdBy,
    budget?.max_count ?? null,
    mandate.notBefore,
    mandate.instruments,
  ])
  return inserted.length > 0
}

// Times as callers see them, in milliseconds: a check-in is judged by the time that is shown.
const NOW = `date_trunc('milliseconds', clock.at)`
const INSERT = `WITH ${CLOCK}
  INSERT INTO mandates (account_id, environment, id, parent_id, path, agent_id, principal, description, timezone,
    constraints, pointers, budget_limit, budget_currency, budget_period, started_on, expires_at,
    heartbeat_interval_seconds, heartbeat_window_seconds, last_check_in_at, created_by, created_at, updated_at,
    budget_max_count, not_before, instruments)
  SELECT $1, $2, $3, $4, $5::text[], $6, $7, $8, $9, $10::jsonb, $11::jsonb, $12::numeric, $13, $14,
    (clock.at AT TIME ZONE $9)::date, $15::timestamptz, $16::integer, $17::integer,
    CASE WHEN $16::integer IS NOT NULL THEN ${NOW} END, $18, ${NOW}, ${NOW},
    $19::integer, $20::timestamptz, $21::text[]
  FROM clock WHERE $15::timestamptz > clock.at AND $15::timestamptz <= ${NOW} + interval '366 days'
  RETURNING 1`

/** The mandate as it is after every other transaction that depends on it or changes it has ended. */
export async function lockMandate(tx: Tx, id: string): Promise<MandateRow | undefined> {
  const [, row] = await Promise.all([
    tx.query('SELECT 1 FROM mandates WHERE id = $1 FOR NO KEY UPDATE', [id]),
    findMandate(tx, id),
  ])
  return row
}

export async function findMandate(tx: Tx, id: string): Promise<MandateRow | undefined> {
  const [row] = await tx.query<MandateRow>(`${SELECT} WHERE m.id = $1`, [id])
  return row
}

/** The budget in the columns of a row; null: none. */
export function budgetOf({
  limit,
  currency,
  period,
  maxCount,
}: Pick<MandateRow, 'limit' | 'currency' | 'period' | 'maxCount'>): MandateBudget | null {
  if (limit === null || currency === null || period === null) return null
  return { limit: decimalOf(limit), currency, period, ...(maxCount !== null && { max_count: maxCount }) }
}

export interface MandateFilter extends TimeRange {
  /** Any of these. */
  status?: readonly MandateStatus[] | undefined
  agentId?: string | undefined
  parentId?: string | undefined
}

/** Newest first. */
export async function listMandates(
  tx: Tx,
  scope: Scope,
  filter: MandateFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<MandateRow[]> {
  const { where, values } = conditionsOf(scope, filter)
  if (before !== undefined) where.push(`m.id < $${values.push(before)}`)
  const page = `WHERE ${where.join(' AND ')} ORDER BY m.id DESC LIMIT $${values.push(limit)}`
  return tx.adhoc<MandateRow>(`${SELECT} ${page}`, values)
}

export async function countMandates(tx: Tx, scope: Scope, filter: MandateFilter): Promise<number> {
  const { where, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(
    `WITH ${CLOCK} ${countOf(`clock, mandates m WHERE ${where.join(' AND ')}`)}`,
    values,
  )
  return row?.count ?? 0
}

/** Under `lockMandate`. `restartsHeartbeat`: the next check-in is due an interval from now. */
export async function narrowMandate(
  tx: Tx,
  id: string,
  { agentId, constraints, budget, notBefore, instruments, expiresAt, heartbeat }: MandateTerms,
  { restartsHeartbeat }: { restartsHeartbeat: boolean },
): Promise<void> {
  await tx.query(
    `WITH ${CLOCK} UPDATE mandates SET agent_id = $2, constraints = $3::jsonb, budget_limit = $4::numeric,
       budget_currency = $5, budget_period = $6, expires_at = $7, heartbeat_interval_seconds = $8,
       heartbeat_window_seconds = $9, updated_at = ${NOW}, version = version + 1, budget_max_count = $11::integer, not_before = $12,
       instruments = $13::text[],
       last_check_in_at = CASE WHEN $10::boolean THEN ${NOW} ELSE last_check_in_at END
     FROM clock WHERE id = $1`,
    [
      id,
      agentId,
      JSON.stringify(constraints),
      budget?.limit ?? null,
      budget?.currency ?? null,
      budget?.period ?? null,
      expiresAt,
      heartbeat?.intervalSeconds ?? null,
      heartbeat?.windowSeconds ?? null,
      restartsHeartbeat,
      budget?.max_count ?? null,
      notBefore,
      instruments,
    ],
  )
}

/** False when it was revoked before. */
export async function revokeMandate(tx: Tx, id: string, by: { id: string; reason: string }): Promise<boolean> {
  const changed = await tx.query(
    `WITH ${CLOCK} UPDATE mandates SET revoked_at = ${NOW}, revoked_by = $2, revoked_reason = $3, updated_at = ${NOW},
       version = version + 1
     FROM clock WHERE id = $1 AND revoked_at IS NULL RETURNING 1`,
    [id, by.id, by.reason],
  )
  return changed.length > 0
}

/**
 * Records that the agent is there. Under `lockMandate`. undefined: the mandate has no heartbeat, or its state or that of an
 * ancestor is final by now.
 */
export async function checkIn(tx: Tx, id: string): Promise<{ at: Date } | undefined> {
  const [row] = await tx.query<{ at: Date }>(CHECK_IN, [id])
  return row
}

const TERMINAL = TERMINAL_STATUSES.map((status) => `'${status}'`).join(', ')
const CHECK_IN = `WITH ${CLOCK} UPDATE mandates m SET last_check_in_at = ${NOW} FROM clock
  WHERE m.id = $1 AND m.last_check_in_at IS NOT NULL AND NOT EXISTS (
    SELECT FROM mandates level WHERE level.id = ANY(m.path) AND ${statusOf('level')} IN (${TERMINAL}))
  RETURNING last_check_in_at AS at`

const RANK = `array_position(ARRAY[${MANDATE_STATUSES.map((status) => `'${status}'`).join(', ')}], level.status)`

// The standing of the levels of a chain together.
const CHAIN = `CROSS JOIN LATERAL (
    SELECT (array_agg(level.status ORDER BY ${RANK}, level.depth DESC))[1] AS status,
      (array_agg(level.id ORDER BY ${RANK}, level.depth DESC))[1] AS "statusOf", min(level.remaining) AS remaining
    FROM (
      SELECT a.id, cardinality(a.path) AS depth, ${statusOf('a')} AS status,
        CASE WHEN a.budget_limit IS NOT NULL THEN greatest(a.budget_limit - coalesce(s.spent, 0), 0) END AS remaining
      FROM mandates a
      LEFT JOIN LATERAL (SELECT spent FROM mandate_spend
        WHERE mandate_id = a.id AND period_start = ${periodStartOf('a')}) s ON true
      WHERE a.id = ANY(m.path)
    ) level
  ) chain`

const SELECT = `WITH ${CLOCK}
  SELECT m.id, m.parent_id AS "parentId", m.path, m.agent_id AS "agentId", m.principal, m.description, m.timezone,
    m.constraints, m.pointers, m.budget_limit AS "limit", m.budget_currency AS currency, m.budget_period AS period,
    m.budget_max_count AS "maxCount", m.not_before AS "notBefore", m.instruments, coalesce(own.executions, 0) AS count,
    (${periodStartOf('m')})::text AS "periodStart", ${periodEndOf('m')}::text AS "periodEnd",
    coalesce(own.spent, 0)::numeric(20, 4)::text AS spent, chain.remaining, m.expires_at AS "expiresAt",
    m.heartbeat_interval_seconds AS "intervalSeconds", m.heartbeat_window_seconds AS "windowSeconds",
    m.last_check_in_at AS "lastCheckInAt", ${missedAtOf('m')} AS "missedAt",
    ${lapsesAtOf('m')} AS "lapsesAt",
    chain.status, chain."statusOf", ${statusOf('m')} AS "ownStatus", m.revoked_at AS "revokedAt",
    m.revoked_by AS "revokedBy", m.revoked_reason AS "revokedReason", m.created_by AS "createdBy",
    m.created_at AS "createdAt", m.updated_at AS "updatedAt", m.version
  FROM clock, mandates m ${CHAIN}
  LEFT JOIN LATERAL (SELECT spent, executions FROM mandate_spend
    WHERE mandate_id = m.id AND period_start = ${periodStartOf('m')}) own ON true`

function conditionsOf({ environment }: Scope, filter: MandateFilter): { where: string[]; values: unknown[] } {
  const values: unknown[] = []
  const where = ['true']
  const add = (condition: (parameter: string) => string, value: unknown) => {
    if (value !== undefined) where.push(condition(`$${values.push(value)}`))
  }
  add((p) => `m.agent_id = ${p}`, filter.agentId)
  add((p) => `m.parent_id = ${p}`, filter.parentId)
  where.push(...conditionsOfRange(values, { type: 'mnd', environment, alias: 'm' }, filter))
  if (filter.status !== undefined) where.push(`(${filter.status.map(isInState).join(' OR ')})`)
  return { where, values }
}

// One look-up of the chain per row, without the sums that a row in the answer has beside it (OFFSET 0: never a join).
function isInState(status: MandateStatus): string {
  const anyLevel = (condition: string) =>
    `EXISTS (SELECT FROM mandates level WHERE level.id = ANY(m.path) AND ${statusOf('level')} ${condition} OFFSET 0)`
  const worse = MANDATE_STATUSES.slice(0, MANDATE_STATUSES.indexOf(status)).map((one) => `'${one}'`)
  const isWorse = worse.length === 0 ? 'false' : anyLevel(`IN (${worse.join(', ')})`)
  return status === 'active' ? `NOT ${isWorse}` : `${anyLevel(`= '${status}'`)} AND NOT ${isWorse}`
}

/** All that are old, with their children: in accounts whose keys are published. */
export const purgeMandates = oldRows({ table: 'mandates', idType: 'mnd', age: 'created_at' })
