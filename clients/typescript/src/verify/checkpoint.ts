// Checks the signature and the form of a checkpoint. What it says of leaves is for the caller to compare.

import { isObject, type KeyRevocation, type RecordKeys, type RecordProblem, verifyRecord } from './records.ts'

export const CHECKPOINT_TYP = 'ledger-checkpoint+jwt'

/** What is signed. */
export interface CheckpointClaims {
  account_id: string
  env: 'sandbox' | 'live'
  size: number
  /** base64url. */
  root: string
  at: string
}

export type CheckpointVerdict =
  | { isValid: true; claims: CheckpointClaims; kid: string; revoked: KeyRevocation | undefined }
  | { isValid: false; reason: RecordProblem | 'no_checkpoint' }

const HASH = /^[A-Za-z0-9_-]{43}$/
// It has some 600 characters.
const MAX_LENGTH = 4_096

/** Never throws, whatever the text. */
export async function verifyCheckpoint(jws: string, keys: RecordKeys): Promise<CheckpointVerdict> {
  if (jws.length > MAX_LENGTH) return { isValid: false, reason: 'malformed' }
  const verdict = await verifyRecord(jws, keys)
  if (!verdict.isValid) return verdict
  const { payload, typ, environment, kid, revoked } = verdict
  if (typ !== CHECKPOINT_TYP || !isClaims(payload) || payload.env !== environment) {
    return { isValid: false, reason: 'no_checkpoint' }
  }
  return { isValid: true, claims: payload, kid, revoked }
}

function isClaims(value: unknown): value is CheckpointClaims {
  if (!isObject(value)) return false
  const { account_id, env, size, root, at } = value
  return (
    typeof account_id === 'string' &&
    (env === 'sandbox' || env === 'live') &&
    Number.isSafeInteger(size) &&
    (size as number) > 0 &&
    typeof root === 'string' &&
    HASH.test(root) &&
    typeof at === 'string' &&
    !Number.isNaN(Date.parse(at))
  )
}
