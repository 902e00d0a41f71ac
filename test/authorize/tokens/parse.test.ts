// The service reads tokens as the libraries do: both run vectors/tokens. What depends on the time, the audience or the issuer is
// compared by verify.

import { createPublicKey } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { hashToken } from '#src/authorize/tokens/format.ts'
import { MAX_TOKEN_BYTES, parseIntentToken } from '#src/authorize/tokens/parse.ts'
import { CASES, vectorsOf } from '../../support/token-vectors/cases.ts'
import { KEYS, makeToken, makeTwin } from '../../support/token-vectors/tokens.ts'

const FILE = new URL('../../../vectors/tokens/offline.json', import.meta.url)
const LATER = ['expired', 'not_yet_valid', 'audience', 'issuer']

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

it('vectors/tokens/offline.json is what its script writes; UPDATE=1 writes it', () => {
  const text = `${JSON.stringify(vectorsOf(), null, 1)}\n`
  if (process.env.UPDATE !== undefined) writeFileSync(FILE, text)
  expect(readFileSync(FILE, 'utf8') === text).toBe(true)
  expect(new Set(CASES.map(({ id }) => id)).size).toBe(CASES.length)
  expect(CASES.length).toBeGreaterThan(150)
})

it.each(CASES)('$id: $title', async ({ input: { token, environment = 'live' }, expect: { problem, reason } }) => {
  const parsed = await parseIntentToken(token, keys, { environment })
  if (problem === null || LATER.includes(problem)) {
    expect(parsed).toMatchObject({ isValid: true, claims: { env: environment } })
  } else {
    expect(parsed).toEqual({ isValid: false, reason, problem })
  }
})

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
  for (const { input } of CASES) {
    lookups = 0
    await parseIntentToken(input.token, keys, { environment: 'live' })
    expect(lookups).toBeLessThanOrEqual(1)
  }
})
