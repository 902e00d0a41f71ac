// Schedules and the cycles that were executed. A cycle is claimed by its row: there is one per schedule and cycle, however
// many transactions want it.

import { decimalOf } from '#src/platform/amounts.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { AmountType, ScheduleStatus } from './judge.ts'

export interface ScheduleRow {
  id: string
  /** As it was set: that a schedule is exhausted follows from its cycles. */
  status: 'active' | 'paused' | 'cancelled'
  counterparty: string
  amountType: AmountType
  /** Decimal text, as `formatAmount` writes it. */
  amount: string
  currency: string
  frequency: string
  /** ISO 8601. */
  anchorAt: string
  timezone: string
  windowSeconds: number
  occurrences: number
  consumeMissed: boolean
  /** How many cycles were executed. */
  executed: number
  /** The latest cycle that was executed. */
  last: { cycle: number; jti: string; at: string } | null
  createdBy: string
  createdAt: Date
  /** Of pausing, resuming and cancelling; null while there was none. */
  changedBy: string | null
  changedAt: Date | null
}

export interface NewCycle {
  scheduleId: string
  /** As `scheduleFactsOf` says. */
  cycle: number
  jti: string
  /** Of the action; decimal text. */
  amount: string
}

export interface ReleasedCycle {
  schedule_id: string
  cycle: number
  /** Decimal text. */
  amount: string
  currency: string
}

type BareRow = Omit<ScheduleRow, 'amount' | 'anchorAt'> & { amount: string; anchorAt: Date }

const SCHEDULE = `s.id, s.status, s.counterparty, s.amount_type AS "amountType", s.amount, s.currency, s.frequency,
  s.anchor_at AS "anchorAt", s.timezone, s.window_seconds AS "windowSeconds", s.occurrences,
  s.consume_missed AS "consumeMissed", s.executed, s.created_by AS "createdBy", s.created_at AS "createdAt",
  s.changed_by AS "changedBy", s.changed_at AS "changedAt",
  (SELECT json_build_object('cycle', c.cycle, 'jti', c.jti, 'at', c.executed_at) FROM schedule_cycles c
   WHERE c.schedule_id = s.id ORDER BY c.cycle DESC LIMIT 1) AS last`

const LOCKS = { share: 'FOR SHARE', update: 'FOR NO KEY UPDATE' } as const

/**
 * With a lock, the row is read after it was had: its statements are sent together, so nothing waits between them.
 * @param lock `update` before `claimCycle`; `share` for a decision that claims nothing; `none` to read it without a lock.
 */
export async function readScheduleRow(
  tx: Tx,
  id: string,
  lock: 'none' | 'share' | 'update',
): Promise<ScheduleRow | undefined> {
  // The cycles of a statement that waited for the lock would be those of before: it is had by a statement of its own.
  const [, [row]] = await Promise.all([
    lock === 'none' ? undefined : tx.query(`SELECT 1 FROM schedules WHERE id = $1 ${LOCKS[lock]}`, [id]),
    tx.query<BareRow>(`SELECT ${SCHEDULE} FROM schedules s WHERE s.id = $1`, [id]),
  ])
  return row === undefined ? undefined : toRow(row)
}

/**
 * Claims a cycle for a token, in the transaction that executes it. False, and nothing is changed, when the cycle is claimed
 * already, the token has claimed one, the schedule is not active, or all its occurrences are used.
 */
export async function claimCycle(tx: Tx, scope: Scope, { scheduleId, cycle, jti, amount }: NewCycle): Promise<boolean> {
  const [, claimed] = await Promise.all([
    tx.query('SELECT 1 FROM schedules WHERE id = $1 FOR NO KEY UPDATE', [scheduleId]),
    tx.query(
      `WITH claimed AS (
         INSERT INTO schedule_cycles (account_id, environment, schedule_id, cycle, jti, amount, currency, executed_at)
         SELECT $1, $2, id, $4::integer, $5, $6::numeric, currency, clock_timestamp() FROM schedules
         WHERE id = $3 AND status = 'active' AND executed < occurrences AND (NOT consume_missed OR $4::integer <= occurrences)
         ON CONFLICT DO NOTHING RETURNING schedule_id)
       UPDATE schedules s SET executed = s.executed + 1 FROM claimed WHERE s.id = claimed.schedule_id RETURNING 1`,
      [scope.accountId, scope.environment, scheduleId, cycle, jti, amount],
    ),
  ])
  return claimed.length > 0
}

/** Gives back the cycle that a token claimed; undefined when it claimed none. */
export async function releaseCycle(tx: Tx, _scope: Scope, jti: string): Promise<ReleasedCycle | undefined> {
  const [, [gone]] = await Promise.all([
    tx.query(
      `SELECT 1 FROM schedules WHERE id = (SELECT schedule_id FROM schedule_cycles WHERE jti = $1) FOR NO KEY UPDATE`,
      [jti],
    ),
    tx.query<ReleasedCycle>(
      `WITH gone AS (DELETE FROM schedule_cycles WHERE jti = $1 RETURNING schedule_id, cycle, amount, currency)
       UPDATE schedules s SET executed = s.executed - 1 FROM gone WHERE s.id = gone.schedule_id
       RETURNING gone.schedule_id, gone.cycle, gone.amount, gone.currency`,
      [jti],
    ),
  ])
  return gone === undefined ? undefined : { ...gone, amount: decimalOf(gone.amount) }
}

export type NewSchedule = Omit<ScheduleRow, 'status' | 'executed' | 'last' | 'changedBy' | 'changedAt'> & {
  /** When the window of the last cycle closes, where missed cycles count; else null. */
  endsAt: Date | null
}

export async function insertSchedule(tx: Tx, { accountId, environment }: Scope, row: NewSchedule): Promise<void> {
  await tx.query(
    `INSERT INTO schedules (account_id, environment, id, counterparty, amount_type, amount, currency, frequency, anchor_at,
       timezone, window_seconds, occurrences, consume_missed, ends_at, created_by, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`,
    [
      accountId,
      environment,
      row.id,
      row.counterparty,
      row.amountType,
      row.amount,
      row.currency,
      row.frequency,
      row.anchorAt,
      row.timezone,
      row.windowSeconds,
      row.occurrences,
      row.consumeMissed,
      row.endsAt,
      row.createdBy,
      row.createdAt,
    ],
  )
}

/** Under the lock of the row. */
export async function updateStatus(
  tx: Tx,
  id: string,
  { status, by, at }: { status: ScheduleRow['status']; by: string; at: Date },
): Promise<void> {
  await tx.query('UPDATE schedules SET status = $2, changed_by = $3, changed_at = $4 WHERE id = $1', [
    id,
    status,
    by,
    at,
  ])
}

export interface ScheduleFilter extends TimeRange {
  /** Any of these. */
  status?: readonly ScheduleStatus[] | undefined
  counterparty?: string | undefined
}

// As `statusOf`: which schedules have used all their cycles.
const EXHAUSTED = `CASE WHEN s.consume_missed
  THEN s.ends_at <= clock_timestamp()
    OR EXISTS (SELECT FROM schedule_cycles c WHERE c.schedule_id = s.id AND c.cycle = s.occurrences)
  ELSE s.executed >= s.occurrences END`

const IS_IN: Record<ScheduleStatus, string> = {
  cancelled: `s.status = 'cancelled'`,
  exhausted: `(s.status <> 'cancelled' AND ${EXHAUSTED})`,
  active: `(s.status = 'active' AND NOT ${EXHAUSTED})`,
  paused: `(s.status = 'paused' AND NOT ${EXHAUSTED})`,
}

/** Newest first. @param through Inclusive; `before` is exclusive. */
export async function listSchedules(
  tx: Tx,
  scope: Scope,
  filter: ScheduleFilter,
  { before, through, limit }: { before: string | undefined; through?: string | undefined; limit: number },
): Promise<ScheduleRow[]> {
  const { where, values } = conditionsOf(scope, filter)
  if (before !== undefined) where.push(`s.id < $${values.push(before)}`)
  if (through !== undefined) where.push(`s.id <= $${values.push(through)}`)
  const rows = await tx.adhoc<BareRow>(
    `SELECT ${SCHEDULE} FROM schedules s WHERE ${where.join(' AND ')} ORDER BY s.id DESC LIMIT $${values.push(limit)}`,
    values,
  )
  return rows.map(toRow)
}

export interface ExecutedCycle {
  jti: string
  /** Decimal text. */
  amount: string
  executedAt: Date
}

/** The executed ones of these cycles, by `<schedule> <cycle>`. */
export async function findExecuted(
  tx: Tx,
  cycles: readonly { scheduleId: string; cycle: number }[],
): Promise<Map<string, ExecutedCycle>> {
  if (cycles.length === 0) return new Map()
  const rows = await tx.query<ExecutedCycle & { place: string }>(
    `SELECT schedule_id || ' ' || cycle AS place, jti, amount, executed_at AS "executedAt" FROM schedule_cycles
     WHERE schedule_id = ANY($1::text[]) AND (schedule_id, cycle) IN (SELECT * FROM unnest($1::text[], $2::integer[]))`,
    [cycles.map(({ scheduleId }) => scheduleId), cycles.map(({ cycle }) => cycle)],
  )
  return new Map(rows.map(({ place, ...row }) => [place, { ...row, amount: decimalOf(row.amount) }]))
}

export async function countSchedules(tx: Tx, scope: Scope, filter: ScheduleFilter): Promise<number> {
  const { where, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`schedules s WHERE ${where.join(' AND ')}`), values)
  return row?.count ?? 0
}

function conditionsOf({ environment }: Scope, { status, counterparty, from, to }: ScheduleFilter) {
  const values: unknown[] = []
  const where = [
    'true',
    ...(counterparty === undefined ? [] : [`s.counterparty = $${values.push(counterparty)}`]),
    ...conditionsOfRange(values, { type: 'sch', environment, alias: 's' }, { from, to }),
  ]
  if (status !== undefined) where.push(`(${status.map((one) => IS_IN[one]).join(' OR ')})`)
  return { where, values }
}

function toRow(row: BareRow): ScheduleRow {
  return { ...row, amount: decimalOf(row.amount), anchorAt: row.anchorAt.toISOString() }
}
