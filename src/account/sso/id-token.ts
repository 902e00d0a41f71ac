// The ID token of a login: signature, algorithm and every claim, in one order, so that each refusal has one cause. openid-client
// checks much of it, too; it takes forged signatures and other algorithms unless told, and looks at no key set twice in a minute.

import { compactVerify, createLocalJWKSet, errors, type JSONWebKeySet } from 'jose'
import type { SsoRefusal } from '#src/catalogue/sso.ts'
import { ALGORITHMS } from './discovery.ts'
import { LoginRefused } from './problems.ts'

export interface IdTokenClaims {
  sub: string
  email: unknown
  email_verified: unknown
}

interface Expected {
  issuer: string
  clientId: string
  nonce: string
  at: Date
}

const EXPIRY_TOLERANCE_S = 30
const MAX_AHEAD_S = 120
const MAX_BACK_S = 600
const MAX_SUBJECT = 255

/** @throws {LoginRefused} */
export async function verifyIdToken(token: string, keys: JSONWebKeySet, expected: Expected): Promise<IdTokenClaims> {
  const claims = await openToken(token, keys)
  const refuse = (refusal: SsoRefusal, detail: string): never => {
    throw new LoginRefused(refusal, detail)
  }
  if (claims.iss !== expected.issuer) refuse('issuer_mismatch', 'the ID token is of another issuer')
  const audiences = Array.isArray(claims.aud) ? claims.aud : [claims.aud]
  if (!audiences.includes(expected.clientId)) refuse('audience_mismatch', 'the ID token is for another client')
  const isAlone = audiences.length === 1
  if (claims.azp === undefined ? !isAlone : claims.azp !== expected.clientId) {
    refuse('azp_mismatch', 'the ID token was issued to another client')
  }
  if (claims.nonce !== expected.nonce) refuse('nonce_mismatch', 'the ID token is of another login')
  const now = expected.at.getTime() / 1_000
  const { exp, iat, sub } = claims
  if (typeof exp !== 'number' || exp <= now - EXPIRY_TOLERANCE_S) refuse('token_expired', 'the ID token has expired')
  if (typeof iat !== 'number' || iat > now + MAX_AHEAD_S || iat < now - MAX_BACK_S) {
    refuse('issued_at_out_of_bounds', 'the ID token was issued more than 10 minutes ago, or in the future')
  }
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT || sub.includes('\0')) {
    return refuse('token_invalid', 'the ID token names no subject')
  }
  return { sub, email: claims.email, email_verified: claims.email_verified }
}

async function openToken(token: string, keys: JSONWebKeySet): Promise<Record<string, unknown>> {
  try {
    const { payload } = await compactVerify(token, createLocalJWKSet(keys), { algorithms: [...ALGORITHMS] })
    const claims: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload))
    if (typeof claims === 'object' && claims !== null && !Array.isArray(claims))
      return claims as Record<string, unknown>
    throw new LoginRefused('token_invalid', 'the ID token has no claims')
  } catch (error) {
    if (error instanceof LoginRefused) throw error
    throw refusalOf(error)
  }
}

function refusalOf(error: unknown): LoginRefused {
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return new LoginRefused('algorithm_not_allowed', `the ID token is not signed with ${ALGORITHMS.join(' or ')}`)
  }
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) {
    return new LoginRefused('key_unknown', 'the key that signed the ID token is not in the key set of the provider')
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return new LoginRefused('signature_invalid', 'the signature of the ID token is not that of the provider')
  }
  return new LoginRefused('token_invalid', 'the ID token is malformed')
}
