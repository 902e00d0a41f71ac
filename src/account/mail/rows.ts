import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { deleteInSteps } from '#src/platform/retention.ts'

export type MailStatus = 'pending' | 'sent' | 'dropped' | 'failed'

export interface MailRow {
  id: string
  kind: string
  recipient: string
  subjectId: string
  status: MailStatus
}

/** The transaction is a system one, or a tenant one of the scope. */
export async function insertMail(
  tx: Tx,
  { accountId, environment }: Scope,
  row: Omit<MailRow, 'status'>,
): Promise<void> {
  await tx.query(
    `INSERT INTO mails (account_id, environment, id, kind, recipient, subject_id) VALUES ($1, $2, $3, $4, $5, $6)`,
    [accountId, environment, row.id, row.kind, row.recipient, row.subjectId],
  )
}

export async function findMail(tx: Tx, id: string): Promise<MailRow | undefined> {
  const [row] = await tx.query<MailRow>(
    `SELECT id, kind, recipient, subject_id AS "subjectId", status FROM mails WHERE id = $1`,
    [id],
  )
  return row
}

/** Ends a pending mail. */
export async function settleMail(
  tx: Tx,
  id: string,
  { status, reason = null }: { status: Exclude<MailStatus, 'pending'>; reason?: string | null },
): Promise<void> {
  await tx.query(`UPDATE mails SET status = $2, reason = $3, settled_at = now() WHERE id = $1 AND status = 'pending'`, [
    id,
    status,
    reason,
  ])
}

/** Undoes the failure of a mail that is sent again. */
export async function reopenMail(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `UPDATE mails SET status = 'pending', reason = NULL, settled_at = NULL WHERE id = $1 AND status = 'failed'`,
    [id],
  )
}

/** Deletes mails older than `before`; returns how many. They name people. */
export function purgeMails(db: Pick<Database, 'system'>, before: Date): Promise<number> {
  return deleteInSteps(db, (tx, limit) =>
    tx.query(
      `DELETE FROM mails WHERE (account_id, environment, id) IN
         (SELECT account_id, environment, id FROM mails WHERE created_at < $1 LIMIT $2) RETURNING 1`,
      [before, limit],
    ),
  )
}
