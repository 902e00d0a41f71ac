import { readFileSync } from 'node:fs'
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

const read = (path: string) => JSON.parse(readFileSync(new URL(`../../../vectors/${path}`, import.meta.url), 'utf8'))

interface TokenVectors {
  now: number
  jwks: { keys: PublicKey[] }
  cases: {
    id: string
    title: string
    input: {
      token: string
      environment?: 'sandbox' | 'live'
      audience?: string
      issuer?: string
      now?: number
      clock_tolerance_seconds?: number
    }
    expect: {
      valid: boolean
      reason: string | null
      problem: string | null
      not_checked?: string[]
      requires_online?: boolean
    }
  }[]
}

const tokens: TokenVectors = read('tokens/offline.json')
const accepted: { cases: { id: string; name: string; input: string; canonical: string }[] } =
  read('canonical/accepted.json')
const refused: { cases: { id: string; name: string; input?: string; inputHex?: string; code: string }[] } =
  read('canonical/refused.json')

describe('verifyIntentTokenOffline', () => {
  it.each(tokens.cases)('$id: $title', async ({ input, expect: expected }) => {
    const { token, clock_tolerance_seconds: clockToleranceSeconds, now = tokens.now, ...options } = input
    const { claims, notChecked, requiresOnline, ...verdict } = await verifyIntentTokenOffline(token, {
      ...options,
      ...(clockToleranceSeconds !== undefined && { clockToleranceSeconds }),
      keys: tokens.jwks,
      now: () => new Date(now * 1_000),
    })
    const { not_checked: unchecked = [], requires_online: needsOnline = false, ...answer } = expected
    expect(verdict).toEqual(answer)
    expect(notChecked).toEqual(unchecked)
    expect(requiresOnline).toBe(needsOnline)
    if (expected.valid) expect(claims).toMatchObject({ env: options.environment ?? 'live' })
  })

  it('answers what is no text, and no token costs more than the longest', async () => {
    const bad: unknown[] = [undefined, null, 7, {}, [], Symbol('x'), 'A'.repeat(1e6), '.'.repeat(1e6)]
    for (const token of bad) {
      const verdict = await verifyIntentTokenOffline(token as string, { keys: tokens.jwks })
      expect(verdict).toMatchObject({ valid: false, reason: 'invalid_token', claims: null })
    }
  })
})

describe('canonicalize', () => {
  it.each(accepted.cases)('$id: $name', ({ input, canonical }) => {
    expect(canonicalizeJson(input)).toBe(canonical)
    expect(canonicalizeJson(canonical)).toBe(canonical)
  })

  it.each(refused.cases)('$id: $name', ({ input, inputHex, code }) => {
    const source = inputHex === undefined ? (input ?? '') : new Uint8Array(Buffer.from(inputHex, 'hex'))
    expect(() => canonicalizeJson(source)).toThrow(expect.objectContaining({ code }))
  })

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
  const [key] = tokens.jwks.keys
  const kid = key?.kid ?? ''

  function makeSource(options: { staleSeconds?: number } = {}) {
    let at = 1_000_000_000_000
    const seen = { fetched: 0, isDown: false, keys: tokens.jwks.keys }
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
