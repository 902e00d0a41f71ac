import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createSealer } from '#src/platform/crypto/seal.ts'

const first = { id: 'k1', key: randomBytes(32) }
const second = { id: '2026-11', key: randomBytes(32) }
const sealer = createSealer({ current: first })
const AAD = 'webhook secret whe_live_1'

describe('a sealed value', () => {
  it.each([0, 1, 32, 100_000])('opens to the same %i bytes', (size) => {
    const plaintext = randomBytes(size)
    expect(sealer.open(sealer.seal(plaintext, AAD), AAD)).toEqual(plaintext)
  })

  it('is different each time', () => {
    const plaintext = Buffer.from('secret')
    expect(sealer.seal(plaintext, AAD)).not.toEqual(sealer.seal(plaintext, AAD))
  })

  it('opens after a rotation, while the old key is configured', () => {
    const sealed = sealer.seal(Buffer.from('secret'), AAD)
    const rotated = createSealer({ current: second, previous: [first] })
    expect(rotated.open(sealed, AAD).toString()).toBe('secret')
    const resealed = rotated.seal(Buffer.from('secret'), AAD)
    expect(() => createSealer({ current: first }).open(resealed, AAD)).toThrow(/2026-11/)
  })

  it('does not open for another purpose', () => {
    const sealed = sealer.seal(Buffer.from('secret'), AAD)
    expect(() => sealer.open(sealed, 'webhook secret whe_live_2')).toThrow(Error)
    expect(() => sealer.open(sealed, '')).toThrow(Error)
  })

  it('does not open under another key of the same id', () => {
    const sealed = sealer.seal(Buffer.from('secret'), AAD)
    expect(() => createSealer({ current: { id: 'k1', key: second.key } }).open(sealed, AAD)).toThrow(Error)
  })

  it('authenticates the key id, also when both ids name one key', () => {
    const twin = createSealer({ current: first, previous: [{ id: 'k2', key: first.key }] })
    const sealed = twin.seal(Buffer.from('secret'), AAD)
    sealed[3] = '2'.charCodeAt(0)
    expect(() => twin.open(sealed, AAD)).toThrow(Error)
  })

  it('does not open with any one bit flipped', () => {
    const sealed = sealer.seal(Buffer.from('secret'), AAD)
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(() => sealer.open(changed, AAD)).toThrow(Error)
    }
  })

  it('does not open truncated anywhere, nor with one byte more', () => {
    const sealed = sealer.seal(Buffer.from('secret'), AAD)
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => sealer.open(sealed.subarray(0, length), AAD)).toThrow(Error)
    }
    expect(() => sealer.open(Buffer.concat([sealed, Buffer.alloc(1)]), AAD)).toThrow(Error)
  })
})

it.each([
  ['a short key', { current: { id: 'k1', key: Buffer.alloc(31) } }],
  ['an empty id', { current: { id: '', key: first.key } }],
  ['an id with a space', { current: { id: 'k 1', key: first.key } }],
  ['an id of 65 characters', { current: { id: 'k'.repeat(65), key: first.key } }],
  ['one id for two keys', { current: first, previous: [{ id: 'k1', key: second.key }] }],
])('a sealed value is not made with %s', (_name, keys) => {
  expect(() => createSealer(keys)).toThrow(Error)
})
