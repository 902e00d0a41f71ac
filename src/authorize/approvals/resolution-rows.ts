import type { Statement, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { ApprovalStatus } from './facts.ts'

/** An approval that has ended. */
export interface Resolved {
  id: string
  jti: string
  status: Exclude<ApprovalStatus, 'pending'>
  endedAt: Date
}

export type CancelledSubject = { jti: string } | { agentSessionId: string } | { deviceId: string }

/** In one statement, however many there are. Rows are locked in one order: a session and its device may end at one time. */
export async function cancelPending(tx: Tx, subject: CancelledSubject): Promise<string[]> {
  const { text, value } = cancelOf(subject)
  const rows = await tx.query<{ id: string }>(text, [value])
  return rows.map(({ id }) => id).toSorted()
}

function cancelOf(subject: CancelledSubject): { text: string; value: string } {
  if ('jti' in subject) return { text: CANCEL_OF_TOKEN, value: subject.jti }
  return 'deviceId' in subject
    ? { text: CANCEL_OF_DEVICE, value: subject.deviceId }
    : { text: CANCEL_OF_SESSION, value: subject.agentSessionId }
}

const CANCEL_OF_TOKEN = cancelText('jti')
const CANCEL_OF_SESSION = cancelText('agent_session_id')
const CANCEL_OF_DEVICE = cancelText('device_id')

function cancelText(column: string): string {
  return `WITH mine AS (
      SELECT id FROM approvals
      WHERE ${column} = $1 AND NOT is_told AND outcome IS NULL AND expires_at > clock_timestamp()
      ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE approvals SET outcome = 'cancelled', decided_at = clock_timestamp()
    WHERE id = ANY(ARRAY(SELECT id FROM mine)) AND outcome IS NULL RETURNING id`
}

/** In all accounts: what has ended and is not told, oldest first. */
export function findUntold(limit: number): Statement {
  return {
    text: `(SELECT account_id AS "accountId", environment, id FROM approvals
        WHERE NOT is_told AND outcome IS NULL AND expires_at <= clock_timestamp() ORDER BY expires_at LIMIT $1)
      UNION ALL (SELECT account_id, environment, id FROM approvals
        WHERE NOT is_told AND outcome IS NOT NULL ORDER BY decided_at LIMIT $1)`,
    values: [limit],
  }
}

/** Marks ended approvals that were not told yet. Rows that another transaction holds are left for the next time. */
export async function markTold(tx: Tx, ids: readonly string[]): Promise<Resolved[]> {
  if (ids.length === 0) return []
  return tx.query<Resolved>(
    `UPDATE approvals SET is_told = true WHERE id = ANY(ARRAY(
       SELECT id FROM approvals WHERE id = ANY($1::text[]) AND NOT is_told
         AND (outcome IS NOT NULL OR expires_at <= clock_timestamp()) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED))
     RETURNING id, jti, coalesce(outcome, 'expired') AS status, coalesce(decided_at, expires_at) AS "endedAt"`,
    [ids],
  )
}

/** In all accounts: which of some approvals have ended. */
export function findEnded(waited: readonly (Scope & { id: string })[]): Statement {
  return {
    text: `SELECT id FROM unnest($1::text[], $2::text[], $3::text[]) AS waited (account_id, environment, id)
      JOIN approvals a USING (account_id, environment, id)
      WHERE a.outcome IS NOT NULL OR a.expires_at <= clock_timestamp()`,
    values: [
      waited.map(({ accountId }) => accountId),
      waited.map(({ environment }) => environment),
      waited.map(({ id }) => id),
    ],
  }
}
