// Schedules and the cycles that were executed. A cycle is claimed by its row: there is one per schedule and cycle, however
// many transactions want it.

import { formatAmount, parseAmount } from '#src/platform/amounts.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { AmountType } from './judge.ts'

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
 * @param lock `update` before `claimCycle`; `share` for a decision that claims nothing; `none` for a first look.
 */
export async function readScheduleRow(
  tx: Tx,
  id: string,
  lock: 'none' | 'share' | 'update',
): Promise<ScheduleRow | undefined> {
  const read = () => tx.query<BareRow>(`SELECT ${SCHEDULE} FROM schedules s WHERE s.id = $1`, [id])
  if (lock === 'none') return toRow(await read())
  // The cycles of a statement that waited for the lock would be those of before.
  const [, rows] = await Promise.all([tx.query(`SELECT 1 FROM schedules WHERE id = $1 ${LOCKS[lock]}`, [id]), read()])
  return toRow(rows)
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
  return gone === undefined ? undefined : { ...gone, amount: shortest(gone.amount) }
}

function toRow([row]: readonly BareRow[]): ScheduleRow | undefined {
  return row === undefined ? undefined : { ...row, amount: shortest(row.amount), anchorAt: row.anchorAt.toISOString() }
}

/** Numeric of Postgres comes with all its decimals. */
function shortest(amount: string): string {
  const units = parseAmount(amount)
  if (units === undefined) throw new Error('a schedule has an amount that is none')
  return formatAmount(units)
}
