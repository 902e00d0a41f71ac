// A nonce is accepted once: the guarded UPDATE below is the only writer of consumed_by, so of any number of consumers,
// in one call or in many, exactly one wins.

import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'

export interface NewSession {
  id: string
  nonce: string
}

export interface CaptureSession {
  id: string
  nonce: string
  deviceId: string | null
  claimReference: string | null
  issuedAt: Date
  expiresAt: Date
  /** The attestation that used the nonce. */
  consumedBy: string | null
  consumedAt: Date | null
}

export async function insertSessions(
  tx: Tx,
  scope: Scope,
  sessions: readonly NewSession[],
  shared: { deviceId: string | null; claimReference: string | null; issuedAt: Date; expiresAt: Date },
): Promise<void> {
  await tx.query(
    `INSERT INTO capture_sessions
       (account_id, environment, id, nonce, device_id, claim_reference, issued_at, expires_at)
     SELECT $1, $2, new.id, new.nonce, $5, $6, $7, $8 FROM unnest($3::text[], $4::text[]) AS new (id, nonce)`,
    [
      scope.accountId,
      scope.environment,
      sessions.map(({ id }) => id),
      sessions.map(({ nonce }) => nonce),
      shared.deviceId,
      shared.claimReference,
      shared.issuedAt,
      shared.expiresAt,
    ],
  )
}

/**
 * Consumes each nonce for the attestation beside it, whatever the session's time: a capture that arrives out of its time
 * has used its nonce all the same. Of lines with one nonce the first wins.
 * @returns the sessions that these attestations now own. A nonce that is not among them was unknown or used before;
 * `findSession` says which.
 */
export async function consumeNonces(
  tx: Tx,
  uses: readonly { nonce: string; attestationId: string }[],
  now: Date,
): Promise<CaptureSession[]> {
  const possible = uses.filter(({ nonce }) => isNonce(nonce))
  if (possible.length === 0) return []
  // Locked in the order of the nonces, so that two batches that share nonces in different orders can't deadlock.
  return tx.query<CaptureSession>(
    `WITH wanted AS (
       SELECT DISTINCT ON (nonce) nonce, attestation_id
       FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS use (nonce, attestation_id, line)
       ORDER BY nonce, line
     ), free AS (
       SELECT session.account_id, session.environment, session.id, wanted.attestation_id
       FROM wanted JOIN capture_sessions session ON session.nonce = wanted.nonce COLLATE "C"
       WHERE session.consumed_by IS NULL
       ORDER BY session.nonce FOR UPDATE OF session
     )
     UPDATE capture_sessions session SET consumed_by = free.attestation_id, consumed_at = $3
     FROM free
     WHERE session.account_id = free.account_id AND session.environment = free.environment AND session.id = free.id
       AND session.consumed_by IS NULL
     RETURNING ${columns('session.')}`,
    [possible.map(({ nonce }) => nonce), possible.map(({ attestationId }) => attestationId), now],
  )
}

export async function findSession(tx: Tx, nonce: string): Promise<CaptureSession | undefined> {
  if (!isNonce(nonce)) return undefined
  const [session] = await tx.query<CaptureSession>(`SELECT ${columns()} FROM capture_sessions WHERE nonce = $1`, [
    nonce,
  ])
  return session
}

/** 32 bytes in base64url without padding. What is not of this form was never issued, and need not reach Postgres. */
export function isNonce(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text)
}

function columns(prefix = ''): string {
  return `${prefix}id, ${prefix}nonce, ${prefix}device_id AS "deviceId", ${prefix}claim_reference AS "claimReference",
    ${prefix}issued_at AS "issuedAt", ${prefix}expires_at AS "expiresAt", ${prefix}consumed_by AS "consumedBy",
    ${prefix}consumed_at AS "consumedAt"`
}
