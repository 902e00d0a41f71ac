// What the service signs for the record: results, packets, checkpoints. A compact JWS (RFC 7515) by a record key.

import { decodeBase64url, utf8 } from './bytes.ts'
import { importPoint, isSignedBy } from './signatures.ts'
import { type Json, parseJson } from './strict-json.ts'
import type { PublicKey } from './verify-intent-token.ts'

/** Revocation of a key that others may have had. */
export interface KeyRevocation {
  revoked_at: string
  /** Signatures from this time on are doubted. A record states its own time, which a holder of the key can choose. */
  doubted_since: string
}

/** A key of the service's key set, with its revocation. */
export interface RecordKey extends PublicKey {
  revoked?: KeyRevocation | undefined
}

export interface RecordKeys {
  keys: readonly RecordKey[]
}

export type RecordProblem = 'malformed' | 'unknown_key' | 'bad_signature'

export type RecordVerdict =
  | {
      isValid: true
      environment: string
      typ: string
      kid: string
      /** The signature verifies, and its key was revoked: compare the record's time with `doubted_since`. */
      revoked: KeyRevocation | undefined
      payload: Json
    }
  | { isValid: false; reason: RecordProblem }

// A result with all its evidence has about 20 kB; the rest is for evidence packets.
const MAX_CHARACTERS = 16 * 1024 * 1024

/**
 * Never throws, whatever the text. A token key's signature is not valid for a record. Compare `typ` with the kind of record that
 * you expect, and `environment` with your own.
 */
export async function verifyRecord(jws: string, { keys }: RecordKeys): Promise<RecordVerdict> {
  const segments = jws.length > MAX_CHARACTERS ? [] : jws.split('.')
  const [headerText = '', payloadText = '', signatureText = ''] = segments
  const header = readHeader(headerText)
  // RFC 4648 3.5: texts that only a lenient decoder reads as the same bytes are refused.
  const [payloadBytes, signature] = [decodeBase64url(payloadText), decodeBase64url(signatureText)]
  if (segments.length !== 3 || header === undefined || payloadBytes === undefined || signature === undefined) {
    return { isValid: false, reason: 'malformed' }
  }
  const { alg, kid, typ } = header
  const key = keys.find((one) => one.kid === kid && one.family === 'record')
  if (key === undefined) return { isValid: false, reason: 'unknown_key' }
  if (alg !== 'ES256' || !(await isSigned(key, signature, utf8(`${headerText}.${payloadText}`)))) {
    return { isValid: false, reason: 'bad_signature' }
  }
  const payload = tryParse(payloadBytes)
  if (payload === undefined) return { isValid: false, reason: 'malformed' }
  return { isValid: true, environment: key.env, typ, kid, revoked: key.revoked, payload }
}

/** What a record says of itself. Verifies nothing. */
export function readRecordHeader(jws: string): { kid: string; typ: string } | undefined {
  return readHeader(jws.slice(0, Math.max(jws.indexOf('.'), 0)))
}

// `crit` names members that change how a signature is checked: none is known here.
function readHeader(text: string): { alg: unknown; kid: string; typ: string } | undefined {
  const header = tryParse(decodeBase64url(text) ?? new Uint8Array())
  if (!isObject(header) || Object.hasOwn(header, 'crit')) return undefined
  const { alg, kid, typ } = header
  return typeof kid === 'string' && typeof typ === 'string' ? { alg, kid, typ } : undefined
}

async function isSigned(key: RecordKey, signature: Uint8Array<ArrayBuffer>, data: Uint8Array<ArrayBuffer>) {
  const point = await importPoint(key)
  return point !== undefined && isSignedBy(point, signature, data)
}

function tryParse(bytes: Uint8Array): Json | undefined {
  try {
    return parseJson(bytes, { maxDepth: 64 })
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
