// Reads a token that a stranger presents, by the parser of the client library, with the service's keys.

import { MAX_TOKEN_CHARACTERS, type ParseProblem, parseToken } from '#client/verify/parse-token.ts'
import { verifyEcdsaP256 } from '#src/platform/crypto/ecdsa.ts'
import type { SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Environment } from '#src/platform/ids.ts'
import type { IntentClaims } from './format.ts'

/** Why a token is refused, in the order of the checks. Callers see `invalid_token`; the vectors name these. */
export type TokenProblem = ParseProblem | 'environment'

export type ParsedToken =
  | { isValid: true; claims: IntentClaims }
  | { isValid: false; reason: 'invalid_token' | 'environment_mismatch'; problem: TokenProblem }

// Every character that is accepted has one byte.
export const MAX_TOKEN_BYTES = MAX_TOKEN_CHARACTERS

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
  const parsed = await parseToken(token, {
    findKey: findTokenKey,
    isSignedBy: (key, signature, data) => verifyEcdsaP256({ spki: key.publicKey, data, signature }),
    environmentOf: (key) => key.environment,
  })
  if (typeof parsed === 'string') return { isValid: false, reason: 'invalid_token', problem: parsed }
  const { claims } = parsed
  if (claims.env !== environment) return { isValid: false, reason: 'environment_mismatch', problem: 'environment' }
  return { isValid: true, claims }
}
