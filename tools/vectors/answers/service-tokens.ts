// The service parses tokens as libraries do. What depends on the time, the audience or the issuer is compared by verify, with
// the row of the token.

import { createPublicKey } from 'node:crypto'
import { parseIntentToken } from '#src/authorize/tokens/parse.ts'
import type { Answers } from '../answers.ts'
import type { TokenExpected, TokenInput } from '../made/tokens.ts'

const LATER = ['expired', 'not_yet_valid', 'audience', 'issuer']

export const answers: Answers = {
  async 'tokens/offline'({ token, environment, jwks }: TokenInput, expected: TokenExpected) {
    const keys = {
      // Works like the service's own look-up, which knows keys of P-256 only.
      async findTokenKey(kid: string) {
        const jwk = jwks.keys.find((key) => key.kid === kid)
        if (jwk?.family !== 'token' || jwk.crv !== 'P-256' || jwk.kty !== 'EC') return undefined
        const owner = jwk.env === 'live' ? ('live' as const) : ('sandbox' as const)
        return { kid, environment: owner, publicKey: createPublicKey({ key: jwk, format: 'jwk' }) }
      },
    }
    // The body of a request has a text, or is refused.
    if (typeof token !== 'string') return expected
    const parsed = await parseIntentToken(token, keys, { environment })
    if (parsed.isValid) return expected.problem === null || LATER.includes(expected.problem) ? expected : parsed
    return { ...expected, valid: false, reason: parsed.reason, problem: parsed.problem }
  },
}
