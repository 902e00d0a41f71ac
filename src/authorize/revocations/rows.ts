// What was revoked, and whether an account has stopped everything. A revocation marks the tokens that it ends in their own rows
// (src/authorize/tokens/revoked-rows.ts), so that a verify finds it with the token.

import type { Statement, Tx } from '#src/platform/db/database.ts'
import type { RevokedScope } from '../tokens/rows.ts'

/** Why a token, or a new one, is refused. */
export interface LiveRevocation {
  /** null: of a device that was revoked in its registry before revocations were kept. */
  revocationId: string | null
  scope: RevokedScope
  at: Date
}

/** Whom a decision asks about. Without `jti`: whether a new token may be issued. */
export interface RevocationSubjects {
  jti?: string | undefined
  agentSessionId: string
  deviceId: string
}

/** For `readTenant`: one row, or none. */
export function selectRevocation({ jti, agentSessionId, deviceId }: RevocationSubjects): Statement {
  return { text: LIVE, values: [jti ?? null, agentSessionId, deviceId] }
}

/** Read it under the shared locks of the session and the device, and for a token after `lockIntent`. */
export async function readRevocation(tx: Tx, subjects: RevocationSubjects): Promise<LiveRevocation | undefined> {
  const { text, values } = selectRevocation(subjects)
  const [row] = await tx.query<LiveRevocation>(text, values)
  return row
}

const LIVE = `SELECT * FROM (
    SELECT revocation_id AS "revocationId", revoked_scope AS scope, revoked_at AS at, 1 AS rank
    FROM intents WHERE jti = $1 AND revocation_id IS NOT NULL
    UNION ALL
    SELECT id, scope, created_at, 2 FROM revocations
    WHERE subject_id = $2 AND scope = 'session' AND (expires_at IS NULL OR expires_at > clock_timestamp())
    UNION ALL
    SELECT id, scope, created_at, 3 FROM revocations
    WHERE subject_id = $3 AND scope = 'device' AND (expires_at IS NULL OR expires_at > clock_timestamp())
    UNION ALL
    SELECT NULL, 'device', revoked_at, 4 FROM devices WHERE id = $3 AND revoked_at IS NOT NULL
  ) found ORDER BY rank, at LIMIT 1`

export interface LiveStop {
  reason: string
  at: Date
}

/** For `readTenant`: one row, or none. */
export function selectStop(): Statement {
  return { text: STOP, values: [] }
}

/** undefined: nothing is stopped. */
export async function readStop(tx: Tx): Promise<LiveStop | undefined> {
  const [row] = await tx.query<LiveStop>(STOP)
  return row
}

const STOP = 'SELECT reason, stopped_at AS at FROM stops WHERE resumed_at IS NULL'
