// Reads a token that a stranger presents. What is accepted is one string form: every other text that some library would
// read as the same token is refused. The work is bounded: at most 16 KiB, one look-up and one signature.

import { readClaims } from '#client/verify/claims.ts'
import { type Json, parseJson } from '#src/platform/crypto/canonical.ts'
import { verifyEcdsaP256 } from '#src/platform/crypto/ecdsa.ts'
import type { SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Environment } from '#src/platform/ids.ts'
import { INTENT_TYP, type IntentClaims } from './format.ts'

/** Why a token is refused, in the order of the checks. Callers see `invalid_token`; the vectors name these. */
export type TokenProblem =
  | 'too_long'
  | 'segments'
  | 'encoding'
  | 'header'
  | 'algorithm'
  | 'type'
  | 'unknown_key'
  | 'signature'
  | 'payload'
  | 'claims'
  | 'environment'

export type ParsedToken =
  | { isValid: true; claims: IntentClaims }
  | { isValid: false; reason: 'invalid_token' | 'environment_mismatch'; problem: TokenProblem }

export const MAX_TOKEN_BYTES = 16 * 1024
// Three short members.
const MAX_HEADER_CHARACTERS = 512
const SIGNATURE_BYTES = 64

/**
 * The claims of a token that was signed by a token key of this environment. Whether it has expired, was revoked or
 * is the exact string that was issued is for the caller to check. A token that a key of the other environment signed
 * is an `environment_mismatch`, once its signature has proven that.
 */
export async function parseIntentToken(
  token: string,
  { findTokenKey }: Pick<SigningKeys, 'findTokenKey'>,
  { environment }: { environment: Environment },
): Promise<ParsedToken> {
  if (token.length > MAX_TOKEN_BYTES) return refused('too_long')
  const segments = token.split('.')
  const [headerText = '', payloadText = ''] = segments
  if (segments.length !== 3 || segments.includes('')) return refused('segments')
  if (headerText.length > MAX_HEADER_CHARACTERS) return refused('header')
  const [headerBytes, payloadBytes, signature] = segments.map(decodeStrictly)
  if (headerBytes === undefined || payloadBytes === undefined || signature === undefined) return refused('encoding')
  const header = readHeader(headerBytes)
  if (typeof header === 'string') return refused(header)
  if (signature.byteLength !== SIGNATURE_BYTES) return refused('signature')
  const key = await findTokenKey(header.kid)
  if (key === undefined) return refused('unknown_key')
  const data = Buffer.from(token.slice(0, headerText.length + 1 + payloadText.length), 'latin1')
  if (!(await verifyEcdsaP256({ spki: key.publicKey, data, signature }))) return refused('signature')
  const payload = parseObject(payloadBytes)
  if (payload === undefined) return refused('payload')
  const claims = readClaims(payload)
  if (claims === undefined || claims.env !== key.environment) return refused('claims')
  if (claims.env !== environment) return { isValid: false, reason: 'environment_mismatch', problem: 'environment' }
  return { isValid: true, claims }
}

function refused(problem: TokenProblem): ParsedToken {
  return { isValid: false, reason: 'invalid_token', problem }
}

const BASE64URL = /^[A-Za-z0-9_-]+$/

// RFC 7515 2: without padding. The bits of the last character that carry nothing must be zero: otherwise several texts
// are the same bytes.
function decodeStrictly(text: string): Buffer | undefined {
  if (!BASE64URL.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}

// Exactly the three members that we write. `crit`, `b64`, `jwk`, `jku`, `x5c` and `x5u` change how a token is verified,
// or by which key: no such header is ours.
function readHeader(bytes: Buffer): { kid: string } | TokenProblem {
  const header = parseObject(bytes)
  if (header === undefined) return 'header'
  const { alg, typ, kid, ...others } = header
  if (Object.keys(others).length > 0 || typeof kid !== 'string') return 'header'
  if (alg !== 'ES256') return 'algorithm'
  return typ === INTENT_TYP ? { kid } : 'type'
}

const LIMITS = { maxBytes: MAX_TOKEN_BYTES, maxDepth: 8, maxMembers: 100, maxElements: 100 }

function parseObject(bytes: Buffer): { [name: string]: Json } | undefined {
  try {
    const value = parseJson(bytes, LIMITS)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
