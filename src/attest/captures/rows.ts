// A nonce is accepted once: of any number of consumers, in one call or in many, the guarded UPDATE of consumeNonces
// lets exactly one succeed. Only a capture that is cancelled before its evaluation returns its nonce.

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
 * Consumes each nonce for the attestation given with it, whatever the session's time: a late capture uses up its nonce
 * too. The first of several lines with one nonce wins.
 * @returns the sessions that these attestations now own. A nonce that is not among them was unknown or used before;
 * `findSessionsOf` says which.
 */
export async function consumeNonces(
  tx: Tx,
  uses: readonly { nonce: string; attestationId: string }[],
  now: Date,
): Promise<CaptureSession[]> {
  const wanted = new Map<string, string>()
  for (const { nonce, attestationId } of uses) {
    if (isNonce(nonce) && !wanted.has(nonce)) wanted.set(nonce, attestationId)
  }
  const isOne = wanted.size === 1
  const keys = isOne ? [...wanted.keys()] : await lockFree(tx, [...wanted.keys()])
  if (keys.length === 0) return []
  // The attestations are passed as an object and not as a table to join: without fresh statistics the planner expects
  // one row from the row-level security policy and chooses nested loops. A thousand nonces took 2.7 s that way, five
  // thousand 36 s.
  return tx.query<CaptureSession>(
    // Each nonce is compared as a single value for the same reason: the unique index then guarantees one row.
    `UPDATE capture_sessions SET consumed_by = $2::jsonb ->> nonce, consumed_at = $3
     WHERE ${isOne ? 'nonce = ($1::text[])[1]' : 'id = ANY($1::text[])'} AND consumed_by IS NULL
     RETURNING ${SESSION}`,
    [keys, JSON.stringify(Object.fromEntries(wanted)), now],
  )
}

// The ids of the free ones, locked in the order of the nonces: otherwise two batches that share nonces in different
// orders would deadlock. One index lookup each, whatever the planner knows of the table.
async function lockFree(tx: Tx, nonces: string[]): Promise<string[]> {
  const free = await tx.query<{ id: string }>(
    `SELECT free.id FROM unnest($1::text[]) AS wanted (nonce)
     CROSS JOIN LATERAL (
       SELECT id FROM capture_sessions WHERE nonce = wanted.nonce AND consumed_by IS NULL LIMIT 1 FOR NO KEY UPDATE
     ) AS free`,
    [nonces.sort()],
  )
  return free.map(({ id }) => id)
}

/** Frees nonces that these attestations have consumed. */
export async function freeNonces(tx: Tx, uses: readonly { nonce: string; attestationId: string }[]): Promise<void> {
  const issued = uses.filter(({ nonce }) => isNonce(nonce)).toSorted((a, b) => (a.nonce < b.nonce ? -1 : 1))
  if (issued.length === 0) return
  // Locked as in lockFree, with one index lookup each.
  const locked = await tx.query<{ id: string }>(
    `SELECT used.id FROM unnest($1::text[], $2::text[]) AS freed (nonce, attestation_id)
     CROSS JOIN LATERAL (
       SELECT id FROM capture_sessions WHERE nonce = freed.nonce AND consumed_by = freed.attestation_id
       LIMIT 1 FOR NO KEY UPDATE
     ) AS used`,
    [issued.map(({ nonce }) => nonce), issued.map(({ attestationId }) => attestationId)],
  )
  await tx.query('UPDATE capture_sessions SET consumed_by = NULL, consumed_at = NULL WHERE id = ANY($1::text[])', [
    locked.map(({ id }) => id),
  ])
}

/** Returns the sessions in no order. */
export async function findSessions(tx: Tx, ids: readonly string[]): Promise<CaptureSession[]> {
  return tx.query<CaptureSession>(`SELECT ${SESSION} FROM capture_sessions WHERE id = ANY($1::text[])`, [ids])
}

/** The sessions that these nonces were issued for, in no order. */
export async function findSessionsOf(tx: Tx, nonces: readonly string[]): Promise<CaptureSession[]> {
  const issued = [...new Set(nonces.filter(isNonce))]
  if (issued.length === 0) return []
  return tx.query<CaptureSession>(
    // Each session is one index lookup, as in lockFree.
    `SELECT ${SESSION} FROM unnest($1::text[]) AS wanted (sought)
     CROSS JOIN LATERAL (SELECT * FROM capture_sessions WHERE nonce = wanted.sought LIMIT 1) AS sessions`,
    [issued],
  )
}

/** 32 bytes in base64url without padding. Any other form was never issued, and needs no query. */
export function isNonce(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text)
}

const SESSION = `id, nonce, device_id AS "deviceId", claim_reference AS "claimReference", issued_at AS "issuedAt",
  expires_at AS "expiresAt", consumed_by AS "consumedBy", consumed_at AS "consumedAt"`
