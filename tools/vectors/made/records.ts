// Records that the vectors need signed: checkpoints, results, packets. Keys and nonces follow from names, so that each is the
// same text whenever it is made.

import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import { makeVectorKey, rawSignature, signNumbers, type VectorKey } from './signing.ts'

export const RECORD_KEYS = {
  sandbox: makeVectorKey('sandbox record key', 'sandbox', 'record'),
  live: makeVectorKey('live record key', 'live', 'record'),
  token: makeVectorKey('live token key', 'live', 'token'),
  stranger: makeVectorKey('record key in no set', 'sandbox', 'record'),
  revoked: makeVectorKey('revoked record key', 'sandbox', 'record'),
}

export const REVOCATION = { revoked_at: '2026-11-21T00:00:00.000Z', doubted_since: '2026-11-20T12:00:00.000Z' }

export type RecordKey = Record<string, unknown>

/** The key set of the cases that bring no other. */
export const RECORD_KEY_SET: RecordKey[] = [
  RECORD_KEYS.sandbox.jwk,
  RECORD_KEYS.live.jwk,
  RECORD_KEYS.token.jwk,
  { ...RECORD_KEYS.revoked.jwk, revoked: REVOCATION },
]

interface Signed {
  key?: VectorKey
  /** Members of the header in place of the usual ones; undefined removes one. */
  header?: Record<string, unknown>
  /** In place of the canonical payload. */
  text?: string
}

/** A JWS as the service signs records. */
export function signRecord(typ: string, payload: unknown, { key = RECORD_KEYS.sandbox, header, text }: Signed = {}) {
  const members = { alg: 'ES256', kid: key.kid, typ, ...header }
  const body = text ?? canonicalize(payload as Json)
  const input = [JSON.stringify(members), body].map((part) => Buffer.from(part).toString('base64url')).join('.')
  return `${input}.${rawSignature(signNumbers(key, input)).toString('base64url')}`
}

/** A JWS with one bit of its signature changed. */
export function damaged(jws: string): string {
  const [header = '', payload = '', signature = ''] = jws.split('.')
  const bytes = Buffer.from(signature, 'base64url')
  bytes[63] = (bytes[63] ?? 0) ^ 1
  return `${header}.${payload}.${bytes.toString('base64url')}`
}
