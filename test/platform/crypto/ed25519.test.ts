import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ed25519Problem } from '#src/platform/crypto/ed25519.ts'

// The list of libsodium (`ge25519_has_small_order`), which several papers repeat.
const SMALL_ORDER = [
  ['0, of order 4', '0000000000000000000000000000000000000000000000000000000000000000'],
  ['1, of order 1', '0100000000000000000000000000000000000000000000000000000000000000'],
  ['one of order 8', '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'],
  ['the other of order 8', 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'],
  ['p - 1, of order 2', 'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
  ['p, which is 0', 'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
  ['p + 1, which is 1', 'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
] as const

const bytesOf = (hex: string) => Buffer.from(hex, 'hex')
const withSign = (hex: string) => {
  const bytes = bytesOf(hex)
  bytes[31] = (bytes[31] ?? 0) | 0x80
  return bytes
}

describe('an Ed25519 public key', () => {
  it.each(SMALL_ORDER)('whose y is %s is refused with either sign', (_name, hex) => {
    expect(ed25519Problem(bytesOf(hex))).toMatch(/small order|not canonical/)
    expect(ed25519Problem(withSign(hex))).toMatch(/small order|not canonical/)
  })

  it('is any 32 bytes for Node, which is why they are read here', () => {
    for (const [, hex] of SMALL_ORDER) {
      const x = bytesOf(hex).toString('base64url')
      expect(createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }).type).toBe('public')
    }
  })

  it('whose y is not below p is refused, also where it is the y of a point of the curve', () => {
    // p + 3 is 3, of which there is a point; 2^255 - 1 is the highest.
    for (const hex of [`f0${'ff'.repeat(30)}7f`, `${'ff'.repeat(31)}7f`, 'ff'.repeat(32)]) {
      expect(ed25519Problem(bytesOf(hex))).toMatch(/not canonical/)
    }
    expect(ed25519Problem(bytesOf(`03${'00'.repeat(31)}`))).toBeUndefined()
  })

  it('that is not a point of the curve is refused', () => {
    expect(ed25519Problem(bytesOf(`02${'00'.repeat(31)}`))).toMatch(/not a point/)
  })

  it('of RFC 8032 or of Node is accepted', () => {
    const known = [
      'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
      '278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e',
      'ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf',
    ]
    for (const hex of known) expect(ed25519Problem(bytesOf(hex))).toBeUndefined()
    for (let count = 0; count < 50; count += 1) {
      const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
      expect(ed25519Problem(Buffer.from(x, 'base64url'))).toBeUndefined()
    }
  })
})
