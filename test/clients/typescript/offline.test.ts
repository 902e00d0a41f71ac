import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canonicalize as canonicalizeOfService,
  type Json,
  parseJson as parseByService,
} from '#src/platform/crypto/canonical.ts'
import {
  canonicalize,
  canonicalizeJson,
  createKeySource,
  type PublicKey,
  verifyIntentTokenOffline,
} from '../../../clients/typescript/src/verify.ts'
import { readVectors } from '../../../tools/vectors/file.ts'
import type { TokenInput } from '../../../tools/vectors/made/tokens.ts'

const [vector] = readVectors<TokenInput>('tokens/offline').cases
if (vector === undefined) throw new Error('there are no vectors of tokens')
const jwks = vector.input.jwks as unknown as { keys: PublicKey[] }

describe('verifyIntentTokenOffline', () => {
  it('answers what is no text, and no token costs more than the longest', async () => {
    const bad: unknown[] = [undefined, null, 7, {}, [], Symbol('x'), 'A'.repeat(1e6), '.'.repeat(1e6)]
    for (const token of bad) {
      const verdict = await verifyIntentTokenOffline(token as string, { keys: jwks })
      expect(verdict).toMatchObject({ valid: false, reason: 'invalid_token', claims: null })
    }
  })
})

describe('keys of verifyIntentTokenOffline', () => {
  const token = vector.input.token
  const now = () => new Date(vector.input.now * 1_000)

  it('are a reason where they can not be had', async () => {
    const cause = new Error('unreachable')
    const broken: unknown[] = [undefined, {}, { keys: null }, { keys: 'x' }, () => Promise.reject(cause)]
    for (const keys of broken) {
      const verdict = await verifyIntentTokenOffline(token, { keys: keys as typeof jwks, now })
      expect(verdict).toMatchObject({ valid: false, reason: 'keys_unavailable', problem: 'keys_unavailable' })
      expect(verdict.cause).toBeInstanceOf(Error)
    }
    const verdict = await verifyIntentTokenOffline(token, { keys: () => Promise.reject(cause), now })
    expect(verdict.cause).toBe(cause)
  })

  it('are unknown where they are no keys, and no points of the curve', async () => {
    for (const x of [undefined, null, 7, '', 'A'.repeat(43), 'é', ['A']]) {
      const keys = [null, 7, 'x', [], ...jwks.keys.map((key) => ({ ...key, x }))] as PublicKey[]
      const verdict = await verifyIntentTokenOffline(token, { keys: { keys }, now })
      expect(verdict).toMatchObject({ valid: false, reason: 'invalid_token', problem: 'unknown_key' })
    }
  })

  it('refuse a token when the time is none', async () => {
    const verdict = await verifyIntentTokenOffline(token, { keys: jwks, now: () => new Date(Number.NaN) })
    expect(verdict).toMatchObject({ valid: false, reason: 'token_expired' })
  })
})

describe('canonicalize', () => {
  it('writes what the service writes, and refuses what it refuses, for the same reason', () => {
    const limits = { maxBytes: 1_000_000, maxDepth: 32 }
    const byService = (text: string) =>
      outcomeOf(() => canonicalizeOfService(parseByService(Buffer.from(text), limits)))
    // A text in which one character is replaced is mostly no JSON, in every way.
    const texts = fc.tuple(
      fc.json({ maxDepth: 4 }),
      fc.nat(),
      fc.constantFrom('', '"', '\\', '1', 'e', ',', '}', ' ', '\u00a0'),
    )
    fc.assert(
      fc.property(texts, ([text, at, put]) => {
        const place = at % (text.length + 1)
        const changed = `${text.slice(0, place)}${put}${text.slice(place + 1)}`
        for (const one of [text, changed]) expect(outcomeOf(() => canonicalizeJson(one))).toBe(byService(one))
      }),
      { seed: 20_261_122, numRuns: 500 },
    )
  })

  it('refuses what JSON can not express, and integers that may have been rounded', () => {
    const cycle: Json[] = []
    cycle.push(cycle)
    const bad: [unknown, string][] = [
      [undefined, 'malformed'],
      [() => 1, 'malformed'],
      [1n, 'malformed'],
      [new Date(0), 'malformed'],
      [new Map(), 'malformed'],
      [{ a: undefined }, 'malformed'],
      [[undefined], 'malformed'],
      [new Array(2), 'malformed'],
      [Number.NaN, 'number_out_of_range'],
      [Number.POSITIVE_INFINITY, 'number_out_of_range'],
      [2 ** 53, 'number_out_of_range'],
      [-(2 ** 60), 'number_out_of_range'],
      ['\ud800', 'lone_surrogate'],
      [{ '\udc00': 1 }, 'lone_surrogate'],
      [cycle, 'too_deep'],
    ]
    for (const [value, code] of bad) {
      expect(() => canonicalize(value as Json)).toThrow(expect.objectContaining({ code }))
    }
  })
})

// The text, or the code of the refusal.
function outcomeOf(write: () => string): string {
  try {
    return write()
  } catch (error) {
    const { code, errors } = error as { code?: string; errors?: { code: string }[] }
    return `refused: ${errors?.[0]?.code ?? code}`
  }
}

describe('a key source', () => {
  const [key] = jwks.keys
  const kid = key?.kid ?? ''

  function makeSource(options: { staleSeconds?: number } = {}) {
    let at = 1_000_000_000_000
    const seen = { fetched: 0, isDown: false, keys: jwks.keys }
    const source = createKeySource({
      ...options,
      url: 'https://api.example.com/.well-known/jwks.json',
      now: () => new Date(at),
      fetch: async () => {
        seen.fetched += 1
        if (seen.isDown) throw new Error('unreachable')
        return new Response(JSON.stringify({ keys: seen.keys }))
      },
    })
    const pass = (seconds: number) => {
      at += seconds * 1_000
    }
    return { source, seen, pass }
  }

  it('fetches the set once for all who ask, and again after five minutes', async () => {
    const { source, seen, pass } = makeSource()
    await Promise.all([source.find(kid), source.find(kid)])
    expect((await source.find(kid))?.kid).toBe(kid)
    expect(seen.fetched).toBe(1)
    pass(299)
    await source.find(kid)
    expect(seen.fetched).toBe(1)
    pass(1)
    await source.find(kid)
    expect(seen.fetched).toBe(2)
  })

  it('fetches it again for an unknown key, at most every 30 seconds', async () => {
    const { source, seen, pass } = makeSource()
    await source.find(kid)
    pass(31)
    seen.keys = [...seen.keys, { ...(key as PublicKey), kid: 'new' }]
    expect(await source.find('new')).toMatchObject({ kid: 'new' })
    for (const unknown of ['a', 'b', 'c']) expect(await source.find(unknown)).toBeUndefined()
    expect(seen.fetched).toBe(2)
  })

  it('reads no further than 1 MiB, and passes over what is no key', async () => {
    let sent = 0
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 65_536
        controller.enqueue(new Uint8Array(65_536).fill(0x20))
      },
    })
    const url = 'https://api.example.com/.well-known/jwks.json'
    const source = createKeySource({ url, fetch: async () => new Response(endless) })
    await expect(source.find(kid)).rejects.toThrow('too long')
    expect(sent).toBeLessThan(2_000_000)

    const mixed = createKeySource({ url, fetch: async () => Response.json({ keys: [null, 7, key] }) })
    expect(await mixed.find(kid)).toMatchObject({ kid })
  })

  it('uses an old set as long as it was allowed to, and rejects without any', async () => {
    const { source, seen, pass } = makeSource({ staleSeconds: 86_400 })
    seen.isDown = true
    await expect(source.find(kid)).rejects.toThrow('unreachable')
    seen.isDown = false
    await source.find(kid)
    seen.isDown = true
    pass(86_000)
    expect(await source.find(kid)).toMatchObject({ kid })
    pass(1_000)
    await expect(source.find(kid)).rejects.toThrow('unreachable')
  })
})
