// Ends issued tokens: in their own rows, where every later verify sees it, and in the public status lists, where others see it
// within a minute. Both in the revoking transaction.

import type { Tx } from '#src/platform/db/database.ts'
import type { RevokedScope } from './rows.ts'

const COLUMN: Record<RevokedScope, string> = { token: 'jti', session: 'agent_session_id', device: 'device_id' }

/**
 * Marks the tokens of the subject that have not expired and are not marked, in one statement however many there are. A
 * token that is named by its jti is marked also after its exp. Returns how many were marked.
 */
export async function revokeIntents(
  tx: Tx,
  { scope, subjectId }: { scope: RevokedScope; subjectId: string },
  revocationId: string,
): Promise<number> {
  const [row] = await tx.query<{ count: number }>(REVOKE[scope], [subjectId, revocationId, scope])
  return row?.count ?? 0
}

const REVOKE: Record<RevokedScope, string> = {
  token: revokeText('token', ''),
  session: revokeText('session', 'AND expires_at > clock_timestamp()'),
  device: revokeText('device', 'AND expires_at > clock_timestamp()'),
}

// Rows are locked in one order: the revocations of a session and of its device may run at the same time.
function revokeText(scope: RevokedScope, condition: string): string {
  return `WITH mine AS (
      SELECT jti FROM intents WHERE ${COLUMN[scope]} = $1 ${condition} AND revocation_id IS NULL
      ORDER BY jti FOR NO KEY UPDATE
    ), ended AS (
      UPDATE intents SET revocation_id = $2, revoked_scope = $3, revoked_at = clock_timestamp()
      WHERE jti = ANY(ARRAY(SELECT jti FROM mine))
      RETURNING environment, status_list, status_index, expires_at
    ), told AS (
      INSERT INTO status_bits (environment, list, index, expires_at)
      SELECT environment, status_list, status_index, expires_at FROM ended
      ON CONFLICT DO NOTHING
    )
    SELECT count(*) AS count FROM ended`
}
