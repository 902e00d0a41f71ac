import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SealedColumn } from '#src/platform/crypto/sealed-columns.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Environment } from '#src/platform/ids.ts'
import type { KeyFamily } from './signing-keys.ts'

/** What a key signs, and where. */
export interface KeyPlace {
  environment: Environment
  family: KeyFamily
}

export interface NewSigningKey extends KeyPlace {
  kid: string
  public_jwk: { kty: 'EC'; crv: 'P-256'; x: string; y: string }
  sealed_private_key: Buffer
}

export interface StoredSigningKey extends NewSigningKey {
  active_from: Date
  /** It signs no longer. */
  retired_at: Date | null
  revoked_at: Date | null
  /** Set on a revoked key: signatures from then on may be another party's. */
  doubted_since: Date | null
}

export const SEALED_SIGNING_KEYS: SealedColumn = {
  table: 'signing_keys',
  column: 'sealed_private_key',
  of: 'deployment',
  id: 'kid',
  reads: ['environment', 'family'],
  use: ({ environment = '', family = '', kid = '' }) => `signing key ${environment} ${family} ${kid}`,
}

// A row whose environment or family was changed outside of this code doesn't open.
export function sealPrivateKey(sealer: Sealer, key: KeyPlace & { kid: string }, der: Uint8Array): Buffer {
  return sealer.seal(der, SEALED_SIGNING_KEYS.use({ ...key }))
}

export function openPrivateKey(
  sealer: Sealer,
  { environment, family, kid, sealed_private_key }: NewSigningKey,
): Buffer {
  return sealer.open(sealed_private_key, SEALED_SIGNING_KEYS.use({ environment, family, kid }))
}

// Any number that no other advisory lock of the service uses.
export async function lockSigningKeys(tx: Tx): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('signing keys', 0))`)
}

export function selectKeys(tx: Tx): Promise<StoredSigningKey[]> {
  return tx.query<StoredSigningKey>(
    `SELECT kid, environment, family, public_jwk, sealed_private_key, active_from, retired_at, revoked_at, doubted_since
     FROM signing_keys ORDER BY active_from, kid`,
  )
}

export async function insertSigningKey(tx: Tx, key: NewSigningKey, activeFrom: Date): Promise<void> {
  await tx.query(
    `INSERT INTO signing_keys (kid, environment, family, public_jwk, sealed_private_key, active_from)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [key.kid, key.environment, key.family, JSON.stringify(key.public_jwk), key.sealed_private_key, activeFrom],
  )
}

export async function activateSigningKey(tx: Tx, kid: string, at: Date): Promise<void> {
  await tx.query('UPDATE signing_keys SET active_from = $2 WHERE kid = $1', [kid, at])
}

/** Every key that would sign at `at` or later, but `kept`, stops signing then. */
export async function retireSigningKeys(tx: Tx, place: KeyPlace, at: Date, kept: string): Promise<void> {
  await tx.query(
    `UPDATE signing_keys SET retired_at = $3
     WHERE environment = $1 AND family = $2 AND kid <> $4 AND (retired_at IS NULL OR retired_at > $3)`,
    [place.environment, place.family, at, kept],
  )
}

/** It was to be replaced, and its successor was revoked. */
export async function keepSigning(tx: Tx, kid: string): Promise<void> {
  await tx.query('UPDATE signing_keys SET retired_at = NULL WHERE kid = $1', [kid])
}

/** The time of the first revocation stays. */
export async function revokeSigningKey(tx: Tx, kid: string, at: Date, doubtedSince: Date): Promise<void> {
  await tx.query(
    `UPDATE signing_keys SET revoked_at = coalesce(revoked_at, $2), doubted_since = $3,
       retired_at = least(coalesce(retired_at, $2), $2)
     WHERE kid = $1`,
    [kid, at, doubtedSince],
  )
}
