// What a parsed token costs, and which texts are one token. What each text of vectors/tokens is, test/vectors tries.

import { createPublicKey } from 'node:crypto'
import { expect, it } from 'vitest'
import { hashToken } from '#src/authorize/tokens/format.ts'
import { MAX_TOKEN_BYTES, parseIntentToken } from '#src/authorize/tokens/parse.ts'
import { readVectors } from '../../../tools/vectors/file.ts'
import { KEYS, makeToken, makeTwin } from '../../../tools/vectors/made/token-parts.ts'
import type { TokenInput } from '../../../tools/vectors/made/tokens.ts'

let lookups = 0
const tokenKeys = [KEYS.live, KEYS.next, KEYS.sandbox].map(({ kid, jwk }) => ({
  kid,
  environment: jwk.env === 'live' ? ('live' as const) : ('sandbox' as const),
  publicKey: createPublicKey({ key: jwk, format: 'jwk' }),
}))
const keys = {
  async findTokenKey(kid: string) {
    lookups += 1
    return tokenKeys.find((key) => key.kid === kid)
  },
}

it('the twin of a signature has valid claims and another hash: verify compares the exact string', async () => {
  const [token, twin] = [makeToken(), makeTwin()]
  expect(await parseIntentToken(twin, keys, { environment: 'live' })).toMatchObject({ isValid: true })
  expect(hashToken(twin).equals(hashToken(token))).toBe(false)
})

it('hostile tokens cost at most one look-up, and a megabyte costs none', async () => {
  const long = ['.', 'A', 'A.', '{', '\0', makeToken().slice(0, 100)].map((text) => text.repeat(1e6 / text.length))
  lookups = 0
  for (const token of long) {
    expect(token.length).toBeGreaterThan(MAX_TOKEN_BYTES)
    expect(await parseIntentToken(token, keys, { environment: 'live' })).toMatchObject({ problem: 'too_long' })
  }
  expect(lookups).toBe(0)
  for (const { input } of readVectors<TokenInput>('tokens/offline').cases) {
    // Some vectors have a value in place of a token, for libraries. Bodies of the service refuse these.
    if (typeof input.token !== 'string') continue
    lookups = 0
    await parseIntentToken(input.token, keys, { environment: 'live' })
    expect(lookups).toBeLessThanOrEqual(1)
  }
})
