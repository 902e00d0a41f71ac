import type { Plan } from '#src/catalogue/access.ts'
import type { Statement, Tx } from '#src/platform/db/database.ts'
import type { NoticeKind } from './fold-rows.ts'

export interface NoticeRow {
  kind: NoticeKind
  /** 2026-11 */
  month: string
  /** When the notice was written. */
  plan: Plan
  cap: number
  used: number
  createdAt: Date
}

const NOTICE = `kind, to_char(month, 'YYYY-MM') AS month, plan, cap, used, created_at AS "createdAt"`

/** Selects the `NoticeRow`s of the current month. */
export function selectNotices(accountId: string): Statement {
  return {
    text: `SELECT ${NOTICE} FROM account_notices
     WHERE account_id = $1 AND month = date_trunc('month', now() AT TIME ZONE 'UTC')::date ORDER BY created_at, cap, kind DESC`,
    values: [accountId],
  }
}

/** Marks the notices of the account that were not mailed yet, and returns them. */
export async function markNoticesTold(tx: Tx): Promise<NoticeRow[]> {
  return tx.query<NoticeRow>(
    `UPDATE account_notices SET notified_at = now() WHERE notified_at IS NULL RETURNING ${NOTICE}`,
  )
}

/** Returns the recipients of notices: the owners and admins of the account. */
export async function findTold(tx: Tx): Promise<{ email: string }[]> {
  return tx.query(
    `SELECT email FROM users WHERE deprovisioned_at IS NULL AND role IN ('owner', 'admin') ORDER BY id LIMIT 100`,
  )
}

/** @param month 2026-11 */
export async function findNotice(tx: Tx, month: string, kind: string): Promise<NoticeRow | undefined> {
  const [row] = await tx.query<NoticeRow>(
    `SELECT ${NOTICE} FROM account_notices WHERE month = ($1 || '-01')::date AND kind = $2`,
    [month, kind],
  )
  return row
}
