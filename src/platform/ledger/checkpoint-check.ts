// Checks the signature and the form of a checkpoint. What it says of leaves is for the caller to compare.

import { type KeyRevocation, type KeySet, verifyRecord } from '#src/platform/crypto/signing-keys.ts'
import type { Environment } from '#src/platform/ids.ts'

export const CHECKPOINT_TYP = 'ledger-checkpoint+jwt'

/** What is signed. */
export interface CheckpointClaims {
  account_id: string
  env: Environment
  size: number
  /** base64url. */
  root: string
  at: string
}

export type CheckpointVerdict =
  | { isValid: true; claims: CheckpointClaims; kid: string; revoked: KeyRevocation | undefined }
  | { isValid: false; reason: 'malformed' | 'unknown_key' | 'bad_signature' | 'no_checkpoint' }

const HASH = /^[A-Za-z0-9_-]{43}$/
// It has some 600 characters.
const MAX_LENGTH = 4_096

/** Never throws, whatever the text. */
export async function verifyCheckpoint(jws: string, keys: KeySet): Promise<CheckpointVerdict> {
  if (jws.length > MAX_LENGTH) return { isValid: false, reason: 'malformed' }
  try {
    const verdict = await verifyRecord(jws, keys)
    if (!verdict.isValid) return verdict
    const { payload, typ, environment, kid, revoked } = verdict
    if (typ !== CHECKPOINT_TYP || !isClaims(payload) || payload.env !== environment) {
      return { isValid: false, reason: 'no_checkpoint' }
    }
    return { isValid: true, claims: payload, kid, revoked }
  } catch {
    return { isValid: false, reason: 'malformed' }
  }
}

function isClaims(value: unknown): value is CheckpointClaims {
  if (typeof value !== 'object' || value === null) return false
  const { account_id, env, size, root, at } = value as Record<string, unknown>
  return (
    typeof account_id === 'string' &&
    (env === 'sandbox' || env === 'live') &&
    typeof size === 'number' &&
    Number.isSafeInteger(size) &&
    size > 0 &&
    typeof root === 'string' &&
    HASH.test(root) &&
    typeof at === 'string' &&
    !Number.isNaN(Date.parse(at))
  )
}
