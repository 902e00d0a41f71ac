// Reads a token that a stranger presents. What is accepted is one string form: every other text that some library would read as the
// same token is refused. The work is bounded: at most 16 KiB, one look-up and one signature.

import { decodeBase64url as decode, utf8 } from './bytes.ts'
import { readClaims } from './claims.ts'
import { type Json, parseJson } from './strict-json.ts'
import type { IntentClaims } from './verify-intent-token.ts'

/** Why a token is refused, in the order of the checks. */
export type ParseProblem =
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

/** Keys, and how a signature is verified: the service does both without Web Crypto. */
export interface TokenKeys<Key> {
  /** Only keys that sign tokens. */
  findKey(kid: string): Promise<Key | undefined>
  isSignedBy(key: Key, signature: Uint8Array<ArrayBuffer>, data: Uint8Array<ArrayBuffer>): Promise<boolean>
  environmentOf(key: Key): string
}

export const MAX_TOKEN_CHARACTERS = 16 * 1024
// Three short members.
const MAX_HEADER_CHARACTERS = 512
const SIGNATURE_BYTES = 64

/** The claims of a token that a token key of its own environment signed. Times and the audience are not compared. */
export async function parseToken<Key>(
  token: unknown,
  { findKey, isSignedBy, environmentOf }: TokenKeys<Key>,
): Promise<{ claims: IntentClaims } | ParseProblem> {
  if (typeof token !== 'string') return 'segments'
  if (token.length > MAX_TOKEN_CHARACTERS) return 'too_long'
  const segments = token.split('.')
  const [headerText = '', payloadText = '', signatureText = ''] = segments
  if (segments.length !== 3 || segments.includes('')) return 'segments'
  if (headerText.length > MAX_HEADER_CHARACTERS) return 'header'
  const header = decode(headerText)
  const payload = decode(payloadText)
  const signature = decode(signatureText)
  if (header === undefined || payload === undefined || signature === undefined) return 'encoding'
  const kid = readHeader(header)
  if (typeof kid === 'string') return kid
  if (signature.length !== SIGNATURE_BYTES) return 'signature'
  const key = await findKey(kid.kid)
  if (key === undefined) return 'unknown_key'
  if (!(await isSignedBy(key, signature, utf8(`${headerText}.${payloadText}`)))) return 'signature'
  const object = parseObject(payload)
  if (object === undefined) return 'payload'
  const claims = readClaims(object)
  return claims === undefined || claims.env !== environmentOf(key) ? 'claims' : { claims }
}

// Exactly the three members that the service writes. `crit`, `b64`, `jwk`, `jku`, `x5c` and `x5u` change how a token is
// verified, or by which key.
function readHeader(bytes: Uint8Array): { kid: string } | ParseProblem {
  const header = parseObject(bytes)
  if (header === undefined) return 'header'
  const { alg, typ, kid, ...others } = header
  if (Object.keys(others).length > 0 || typeof kid !== 'string') return 'header'
  if (alg !== 'ES256') return 'algorithm'
  return typ === 'intent+jwt' ? { kid } : 'type'
}

function parseObject(bytes: Uint8Array): { [name: string]: Json } | undefined {
  try {
    const value = parseJson(bytes, { maxDepth: 8 })
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
