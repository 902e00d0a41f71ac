import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checksumOf, makeRawKey, parseKey } from '#src/account/keys/format.ts'
import { sha256Hex } from '#src/platform/crypto/digest.ts'

interface Vectors {
  checksums: { random: string; checksum: string }[]
  keys: { raw: string; environment: string; prefix: string; last4: string; has_checksum: boolean; sha256: string }[]
  not_keys: string[]
}
const vectors: Vectors = JSON.parse(readFileSync(new URL('../../../vectors/keys/v1.json', import.meta.url), 'utf8'))

describe('the format of a key', () => {
  it.each(vectors.checksums)('has the checksum of $random', ({ random, checksum }) => {
    expect(checksumOf(random)).toBe(checksum)
  })

  it.each(vectors.keys)('parses $raw', ({ raw, environment, prefix, last4, has_checksum, sha256 }) => {
    expect(parseKey(raw)).toEqual({ environment, prefix, last4, hasChecksum: has_checksum })
    expect(sha256Hex(raw)).toBe(sha256)
  })

  it.each(vectors.not_keys)('does not accept %j as a key', (raw) => {
    expect(parseKey(raw)).toBeUndefined()
  })

  it('is what a new key has, and no two are equal', () => {
    const made = new Set<string>()
    for (let i = 0; i < 500; i += 1) {
      const environment = i % 2 === 0 ? 'live' : 'sandbox'
      const raw = makeRawKey(environment)
      expect(raw).toMatch(environment === 'live' ? /^svc_live_[0-9A-Za-z]{32}$/ : /^svc_test_[0-9A-Za-z]{32}$/)
      expect(parseKey(raw)).toMatchObject({ environment, hasChecksum: true, last4: raw.slice(-4) })
      made.add(raw)
    }
    expect(made.size).toBe(500)
  })

  it('is recognized by the pattern and the code that the guide gives to secret scanners', async () => {
    const guide = readFileSync(new URL('../../../docs/account/keys.md', import.meta.url), 'utf8')
    const code = /```js\n(.*?)```/s.exec(guide)?.[1] ?? ''
    const { isRealKey } = await import(`data:text/javascript,${encodeURIComponent(code)}`)
    const pattern = new RegExp(/```\n(\\bsvc_.*?)\n```/.exec(guide)?.[1] ?? 'none')
    for (const { raw, has_checksum } of vectors.keys) {
      expect([raw, isRealKey(raw), pattern.test(`KEY=${raw};`)]).toEqual([raw, has_checksum, true])
    }
    for (const raw of vectors.not_keys) expect([raw, isRealKey(raw)]).toEqual([raw, false])
  })

  it('detects every changed character', () => {
    fc.assert(
      fc.property(fc.nat(31), fc.nat(60), (at, shift) => {
        const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
        const raw = makeRawKey('sandbox')
        const index = 9 + at
        const changed = alphabet.charAt((alphabet.indexOf(raw.charAt(index)) + 1 + shift) % 62)
        return parseKey(raw.slice(0, index) + changed + raw.slice(index + 1))?.hasChecksum === false
      }),
      { numRuns: 500, seed: 1 },
    )
  })
})
