// Verifies an intent token with the public keys alone: that the service signed it, for this environment, and that it has not
// expired. What needs the action, or the state that the service keeps, is named in `notChecked`.

import { readClaims } from './claims.ts'
import { type Json, parseJson } from './strict-json.ts'

/** A key of the service's key set (`/.well-known/jwks.json`). */
export interface PublicKey {
  kty: string
  crv: string
  x: string
  y: string
  kid: string
  env: string
  family: string
}

export interface IntentClaims {
  iss: string
  sub: string
  aud: string
  jti: string
  iat: number
  exp: number
  nbf?: number
  env: 'sandbox' | 'live'
  action_hash: string
  payload_hash: string
  context_hash?: string
  trace_id?: string
  reading_hash?: string
  agent_id?: string
  agent_session_id: string
  device_id: string
  mandate_id?: string
  schedule_id?: string
  cycle?: number
  biometric?: { verified: boolean; credential: string; uv: boolean; at: number }
  approval_id?: string
  /** true: the token can be executed once. Whether it was, only the service knows. */
  single_use?: boolean
  policy_version: number
  status: { status_list: { idx: number; uri: string } }
}

export interface OfflineOptions {
  /** The key set, or a function that finds a key by its id, such as `createKeySource(...).find`. */
  keys: { keys: readonly PublicKey[] } | ((kid: string) => Promise<PublicKey | undefined>)
  /** `live` when absent: a token of the sandbox authorizes nothing. */
  environment?: 'sandbox' | 'live'
  /** Compared with `aud`. Without it the audience is not checked. */
  audience?: string
  /** Compared with `iss`. */
  issuer?: string
  /** 0 when absent, 60 at most. */
  clockToleranceSeconds?: number
  now?: () => Date
}

export interface OfflineVerdict {
  valid: boolean
  reason: null | 'invalid_token' | 'token_expired' | 'environment_mismatch'
  /** For people: which check failed. Programs decide by `reason`. */
  problem: TokenProblem | null
  /** Only of a token whose signature verifies. */
  claims: IntentClaims | null
  /** What a verify of the service would have checked besides. */
  notChecked: string[]
  /** The token is of single use, or bound to something that only the service knows the state of: call verify before you act. */
  requiresOnline: boolean
}

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
  | 'issuer'
  | 'audience'
  | 'not_yet_valid'
  | 'expired'

const MAX_TOKEN_CHARACTERS = 16 * 1024
const MAX_HEADER_CHARACTERS = 512
const MAX_TOLERANCE_SECONDS = 60

/** Never throws for a bad token; it rejects when the keys can't be had. */
export async function verifyIntentTokenOffline(token: string, options: OfflineOptions): Promise<OfflineVerdict> {
  const { environment = 'live', audience, issuer, now = () => new Date() } = options
  const parsed = await parse(token, options.keys)
  if (typeof parsed === 'string') return refused('invalid_token', parsed)
  const { claims, key } = parsed
  if (claims.env !== key.env) return refused('invalid_token', 'claims')
  if (claims.env !== environment) return refused('environment_mismatch', 'environment', claims)
  if (issuer !== undefined && claims.iss !== issuer) return refused('invalid_token', 'issuer', claims)
  if (audience !== undefined && claims.aud !== audience) return refused('invalid_token', 'audience', claims)
  const tolerance = Math.min(Math.max(options.clockToleranceSeconds ?? 0, 0), MAX_TOLERANCE_SECONDS)
  const seconds = now().getTime() / 1_000
  // Clocks differ; an issuer whose clock is further ahead gives tokens that live as much longer.
  const isAhead = claims.iat > seconds + MAX_TOLERANCE_SECONDS
  if (isAhead || (claims.nbf !== undefined && seconds < claims.nbf - tolerance)) {
    return refused('invalid_token', 'not_yet_valid', claims)
  }
  if (seconds >= claims.exp + tolerance) return refused('token_expired', 'expired', claims)
  return {
    valid: true,
    reason: null,
    problem: null,
    claims,
    notChecked: uncheckedOf(claims, audience),
    requiresOnline: claims.single_use === true || bindingsOf(claims).length > 0,
  }
}

async function parse(
  token: unknown,
  keys: OfflineOptions['keys'],
): Promise<{ claims: IntentClaims; key: PublicKey } | TokenProblem> {
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
  if (signature.length !== 64) return 'signature'
  const key = await findKey(keys, kid.kid)
  if (key === undefined) return 'unknown_key'
  const data = new TextEncoder().encode(`${headerText}.${payloadText}`)
  if (!(await isSigned(key, signature, data))) return 'signature'
  const object = parseObject(payload)
  if (object === undefined) return 'payload'
  const claims = readClaims(object)
  return claims === undefined ? 'claims' : { claims, key }
}

// Exactly the three members that the service writes. `crit`, `b64`, `jwk`, `jku`, `x5c` and `x5u` change how a token is
// verified, or by which key.
function readHeader(bytes: Uint8Array): { kid: string } | TokenProblem {
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

// A key that signs records signs no tokens.
async function findKey(keys: OfflineOptions['keys'], kid: string): Promise<PublicKey | undefined> {
  const found = typeof keys === 'function' ? await keys(kid) : keys.keys.find((key) => key.kid === kid)
  const isForTokens = found?.kid === kid && found.family === 'token' && found.kty === 'EC' && found.crv === 'P-256'
  return isForTokens ? found : undefined
}

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

// Web Crypto takes r and s of 32 bytes each, and no DER.
async function isSigned(
  { kty, crv, x, y }: PublicKey,
  signature: Uint8Array<ArrayBuffer>,
  data: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const key = await crypto.subtle.importKey('jwk', { kty, crv, x, y }, ECDSA, false, ['verify'])
  return crypto.subtle.verify(ECDSA, key, signature, data)
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

// base64url without padding. Bits of the last character that carry nothing must be zero: otherwise several texts are the
// same bytes.
function decode(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length % 4 === 1) return undefined
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let bits = 0
  let held = 0
  let at = 0
  for (const character of text) {
    const value = ALPHABET.indexOf(character)
    if (value === -1) return undefined
    held = (held << 6) | value
    bits += 6
    if (bits < 8) continue
    bits -= 8
    bytes[at] = (held >> bits) & 0xff
    at += 1
    held &= (1 << bits) - 1
  }
  return held === 0 ? bytes : undefined
}

function refused(
  reason: NonNullable<OfflineVerdict['reason']>,
  problem: TokenProblem,
  claims: IntentClaims | null = null,
): OfflineVerdict {
  return { valid: false, reason, problem, claims, notChecked: [], requiresOnline: false }
}

function bindingsOf({ approval_id: approval, mandate_id: mandate, schedule_id: schedule }: IntentClaims): string[] {
  return Object.entries({ approval, mandate, schedule }).flatMap(([name, id]) => (id === undefined ? [] : [name]))
}

function uncheckedOf(claims: IntentClaims, audience: string | undefined): string[] {
  const { context_hash: context, reading_hash: reading } = claims
  return [
    'action',
    'payload',
    ...(context === undefined ? [] : ['context']),
    ...(reading === undefined ? [] : ['reading']),
    ...(audience === undefined ? ['audience'] : []),
    'revocation',
    'agent',
    'policy',
    'execution',
    ...bindingsOf(claims),
  ]
}
