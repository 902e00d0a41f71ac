// The form of an intent token: a compact JWS (RFC 7515) whose payload says by hashes which action a person authorized. It
// holds neither the description nor the payload of the action.

import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import { sha256, sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Environment } from '#src/platform/ids.ts'

/** Type in the header. A token of another type, signed by the same key, is no intent token. */
export const INTENT_TYP = 'intent+jwt'

/** Clocks of the service's machines, and of those that verify, may differ by this much. */
export const MAX_CLOCK_SKEW_SECONDS = 60

/** The payload. Hashes are SHA-256 in base64url without padding; times are seconds since 1970. */
export interface IntentClaims {
  iss: string
  /** The account. */
  sub: string
  aud: string
  jti: string
  iat: number
  exp: number
  env: Environment
  action_hash: string
  payload_hash: string
  context_hash?: string | undefined
  trace_id?: string | undefined
  reading_hash?: string | undefined
  agent_id?: string | undefined
  agent_session_id: string
  device_id: string
  mandate_id?: string | undefined
  schedule_id?: string | undefined
  cycle?: number | undefined
  order_id?: string | undefined
  /** Content of the order when the token was issued. */
  order_hash?: string | undefined
  biometric?: BiometricClaim | undefined
  approval_id?: string | undefined
  /** true: it can be executed once, although neither a mandate nor an approval binds it. */
  single_use?: boolean | undefined
  policy_version: number
  status: { status_list: StatusReference }
}

export interface BiometricClaim {
  verified: boolean
  credential: string
  /** The authenticator verified the user. */
  uv: boolean
  at: number
}

/** Where the token's status stands (draft-ietf-oauth-status-list, section 6). */
export interface StatusReference {
  idx: number
  uri: string
}

/** The token. Members of `claims` that are undefined are left out. */
export function signIntentToken(keys: Pick<SigningKeys, 'signToken'>, claims: IntentClaims): Promise<string> {
  return keys.signToken(claims.env, INTENT_TYP, claims)
}

/**
 * Identifies a token by its exact string. The twin of an ECDSA signature, with n - s, is another string, which this
 * service never issued.
 */
export function hashToken(token: string): Buffer {
  return sha256(token)
}

/** Hashes the description's UTF-8 bytes as they are: other spaces or another normalization describe another action. */
export function hashDescription(description: string): string {
  return sha256Base64url(description)
}

/** Hashes the canonical JSON (RFC 8785) of `action_payload`, or of the context evidence, which may also be a string. */
export function hashCanonical(value: Json): string {
  return sha256Base64url(canonicalize(value))
}
