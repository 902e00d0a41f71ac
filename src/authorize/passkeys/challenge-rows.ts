// What people are asked to confirm. Challenges expire by Postgres's clock.

import type { Statement, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'

export interface NewPasskeyChallenge {
  id: string
  challenge: Buffer
  nonce: Buffer
  actionHash: string
  payloadHash: string
  agentSessionId: string | null
  deviceId: string | null
  approvalId: string | null
  /** User whose passkey has to confirm; null: any user of the account. */
  userId: string | null
}

export interface PasskeyChallengeRow extends NewPasskeyChallenge {
  expiresAt: Date
  isExpired: boolean
  isConsumed: boolean
}

const CHALLENGE = `id, challenge, nonce, action_hash AS "actionHash", payload_hash AS "payloadHash",
  agent_session_id AS "agentSessionId", device_id AS "deviceId", approval_id AS "approvalId", user_id AS "userId",
  expires_at AS "expiresAt", expires_at <= clock_timestamp() AS "isExpired", consumed_at IS NOT NULL AS "isConsumed"`

/** Returns when it expires. */
export async function insertChallenge(
  tx: Tx,
  { accountId, environment }: Scope,
  row: NewPasskeyChallenge,
  seconds: number,
): Promise<Date> {
  const [made] = await tx.query<{ expiresAt: Date }>(
    `INSERT INTO passkey_challenges (account_id, environment, id, challenge, nonce, action_hash, payload_hash,
       agent_session_id, device_id, approval_id, user_id, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, clock_timestamp() + make_interval(secs => $12))
     RETURNING expires_at AS "expiresAt"`,
    [
      accountId,
      environment,
      row.id,
      row.challenge,
      row.nonce,
      row.actionHash,
      row.payloadHash,
      row.agentSessionId,
      row.deviceId,
      row.approvalId,
      row.userId,
      seconds,
    ],
  )
  if (made === undefined) throw new Error('an insert returned no row')
  return made.expiresAt
}

/** For `readTenant`: one `PasskeyChallengeRow`, or none. */
export function selectChallenge(id: string): Statement {
  return { text: `SELECT ${CHALLENGE} FROM passkey_challenges WHERE id = $1`, values: [id] }
}

export async function findChallenge(tx: Tx, id: string): Promise<PasskeyChallengeRow | undefined> {
  const [row] = await tx.query<PasskeyChallengeRow>(`SELECT ${CHALLENGE} FROM passkey_challenges WHERE id = $1`, [id])
  return row
}

/** Counts once: undefined for one that was consumed before, or has expired. Returns when. */
export async function consumeChallenge(tx: Tx, id: string): Promise<Date | undefined> {
  const [row] = await tx.query<{ at: Date }>(
    `UPDATE passkey_challenges SET consumed_at = clock_timestamp()
     WHERE id = $1 AND consumed_at IS NULL AND expires_at > clock_timestamp() RETURNING consumed_at AS at`,
    [id],
  )
  return row?.at
}
