// Verifies an intent token with the public keys alone: that the service signed it, for this environment, and that it has not
// expired. What needs the action, or the state that the service keeps, is named in `notChecked`.

import { type ParseProblem, parseToken } from './parse-token.ts'
import { isSignedBy } from './signatures.ts'

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
  order_id?: string
  /** Content of the order when the token was issued. */
  order_hash?: string
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

export type TokenProblem = ParseProblem | 'environment' | 'issuer' | 'audience' | 'not_yet_valid' | 'expired'

const MAX_TOLERANCE_SECONDS = 60

/** Never throws for a bad token; it rejects when the keys can't be had. */
export async function verifyIntentTokenOffline(token: string, options: OfflineOptions): Promise<OfflineVerdict> {
  const { environment = 'live', audience, issuer, now = () => new Date() } = options
  const parsed = await parseToken(token, {
    findKey: (kid) => findKey(options.keys, kid),
    isSignedBy,
    environmentOf: ({ env }: PublicKey) => env,
  })
  if (typeof parsed === 'string') return refused('invalid_token', parsed)
  const { claims } = parsed
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

// A key that signs records signs no tokens.
async function findKey(keys: OfflineOptions['keys'], kid: string): Promise<PublicKey | undefined> {
  const found = typeof keys === 'function' ? await keys(kid) : keys.keys.find((key) => key.kid === kid)
  const isForTokens = found?.kid === kid && found.family === 'token' && found.kty === 'EC' && found.crv === 'P-256'
  return isForTokens ? found : undefined
}

function refused(
  reason: NonNullable<OfflineVerdict['reason']>,
  problem: TokenProblem,
  claims: IntentClaims | null = null,
): OfflineVerdict {
  return { valid: false, reason, problem, claims, notChecked: [], requiresOnline: false }
}

function bindingsOf({ approval_id, mandate_id, schedule_id, order_id }: IntentClaims): string[] {
  const ids = { approval: approval_id, mandate: mandate_id, schedule: schedule_id, order: order_id }
  return Object.entries(ids).flatMap(([name, id]) => (id === undefined ? [] : [name]))
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
