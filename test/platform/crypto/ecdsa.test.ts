import { createPublicKey, createSecretKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { signEcdsaP256, verifyEcdsaP256 } from '#src/platform/crypto/ecdsa.ts'
import { createDice, flipBit } from './seeded.ts'

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const spki = publicKey.export({ format: 'der', type: 'spki' })
const data = Buffer.from('{"version":1}')
const ORDER = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551')

describe('a signature', () => {
  it('is 64 bytes and verifies, whatever the lengths of r and s', async () => {
    for (let i = 0; i < 600; i += 1) {
      const message = Buffer.from(String(i))
      const signature = await signEcdsaP256(privateKey, message)
      expect(signature).toHaveLength(64)
      expect(await verifyEcdsaP256({ spki, data: message, signature })).toBe(true)
    }
  })

  it('verifies as DER, under the key as an object, and for bytes in a part of a buffer', async () => {
    const der = sign('sha256', data, privateKey)
    const within = Buffer.concat([randomBytes(3), spki, randomBytes(3)]).subarray(3, 3 + spki.length)
    expect(await verifyEcdsaP256({ spki, data, signature: der })).toBe(true)
    expect(await verifyEcdsaP256({ spki: publicKey, data, signature: der })).toBe(true)
    expect(await verifyEcdsaP256({ spki: new Uint8Array(within), data, signature: der })).toBe(true)
    expect(await verifyEcdsaP256({ spki: within, data, signature: der })).toBe(true)
  })

  it('of much data is checked on the thread pool, with the same answer', async () => {
    for (const bytes of [64 * 1024 - 1, 64 * 1024, 3_000_000]) {
      const message = randomBytes(bytes)
      const signature = await signEcdsaP256(privateKey, message)
      expect(await verifyEcdsaP256({ spki, data: message, signature })).toBe(true)
      expect(await verifyEcdsaP256({ spki, data: flipBit(message, 8 * bytes - 1), signature })).toBe(false)
    }
  })

  it('verifies with high s too, so its bytes identify nothing', async () => {
    const signature = await signEcdsaP256(privateKey, data)
    const s = BigInt(`0x${signature.toString('hex', 32)}`)
    const twin = Buffer.concat([signature.subarray(0, 32), scalar(ORDER - s)])
    expect(twin).not.toEqual(signature)
    expect(await verifyEcdsaP256({ spki, data, signature: twin })).toBe(true)
  })

  it('does not verify with a bit flipped in signature or data (200 seeded)', async () => {
    const dice = createDice(20_261_120)
    const raw = await signEcdsaP256(privateKey, data)
    const der = sign('sha256', data, privateKey)
    for (let i = 0; i < 200; i += 1) {
      const signature = i % 2 === 0 ? raw : der
      expect(await verifyEcdsaP256({ spki, data, signature: flipBit(signature, dice(signature.length * 8)) })).toBe(
        false,
      )
      expect(await verifyEcdsaP256({ spki, data: flipBit(data, dice(data.length * 8)), signature })).toBe(false)
      expect(await verifyEcdsaP256({ spki: flipBit(spki, dice(spki.length * 8)), data, signature })).toBe(false)
    }
  })
})

describe('hostile DER', () => {
  const r = 'cafe'.repeat(15)
  const s = '5afe'.repeat(15)
  const integers = `021f00${r}021e${s}`
  it.each([
    ['nothing', ''],
    ['an empty sequence', '3000'],
    ['one integer', '3003020101'],
    ['zero r and s', '3006020100020100'],
    ['a negative r', '3006020180020101'],
    ['a padded r', '300702020001020101'],
    ['an integer without content', '30050200020101'],
    ['a long-form length', '308106020101020101'],
    ['an indefinite length', '30800201010201010000'],
    ['a third integer', '3009020101020101020101'],
    ['bytes after the sequence', '300602010102010100'],
    ['bytes after s inside', '300702010102010100'],
    ['a set', '3106020101020101'],
    ['a bit string for r', '3006030101020101'],
    ['a length beyond the end', '3006020101020501'],
    ['an r of 34 bytes', `3027022200${'ff'.repeat(33)}020101`],
    ['72 bytes of nonsense', 'ff'.repeat(72)],
    ['a kilobyte', '30'.repeat(1_000)],
  ])('%s is false', async (_name, hex) => {
    expect(await verifyEcdsaP256({ spki, data, signature: Buffer.from(hex, 'hex') })).toBe(false)
  })

  it('in a well-formed but wrong signature is false', async () => {
    const signature = Buffer.from(`30${(integers.length / 2).toString(16)}${integers}`, 'hex')
    expect(await verifyEcdsaP256({ spki, data, signature })).toBe(false)
  })

  it('of any length up to 80 is false', async () => {
    const verdicts = Array.from({ length: 81 }, (_, length) =>
      verifyEcdsaP256({ spki, data, signature: Buffer.alloc(length) }),
    )
    expect(await Promise.all(verdicts)).not.toContain(true)
  })
})

describe('another key', () => {
  const others = {
    'P-384': generateKeyPairSync('ec', { namedCurve: 'P-384' }),
    secp256k1: generateKeyPairSync('ec', { namedCurve: 'secp256k1' }),
    RSA: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  }
  it.each(Object.entries(others))('%s is false', async (_name, pair) => {
    const signature = sign('sha256', data, pair.privateKey)
    const der = pair.publicKey.export({ format: 'der', type: 'spki' })
    expect(await verifyEcdsaP256({ spki: der, data, signature })).toBe(false)
    expect(await verifyEcdsaP256({ spki: pair.publicKey, data, signature })).toBe(false)
  })

  it('of the wrong type, or none at all, is false', async () => {
    const signature = sign('sha256', data, privateKey)
    for (const key of [
      privateKey,
      createSecretKey(randomBytes(32)),
      Buffer.alloc(0),
      Buffer.alloc(91),
      Buffer.from('key'),
    ]) {
      expect(await verifyEcdsaP256({ spki: key, data, signature })).toBe(false)
    }
  })

  it('in another encoding of the same point is false', async () => {
    const signature = sign('sha256', data, privateKey)
    const y = spki.at(-1) ?? 0
    const hybrid = Buffer.from(spki)
    hybrid[26] = 6 + (y & 1)
    expect(createPublicKey({ key: hybrid, format: 'der', type: 'spki' }).equals(publicKey)).toBe(true)
    expect(await verifyEcdsaP256({ spki: hybrid, data, signature })).toBe(false)
  })

  it('does not sign', async () => {
    await expect(signEcdsaP256(others['P-384'].privateKey, data)).rejects.toThrow(TypeError)
    await expect(signEcdsaP256(others.RSA.privateKey, data)).rejects.toThrow(TypeError)
    await expect(signEcdsaP256(publicKey, data)).rejects.toThrow(TypeError)
  })
})

interface Wycheproof {
  testGroups: { publicKeyDer: string; tests: { tcId: number; msg: string; sig: string; result: string }[] }[]
}

const path = join(process.env.CORPUS ?? '', 'wycheproof/ecdsa_secp256r1_sha256_p1363_test.json')
const hasCorpus = process.env.CORPUS !== undefined && existsSync(path)

describe.skipIf(!hasCorpus)(`Wycheproof${hasCorpus ? '' : ' (skipped: CORPUS is not set)'}`, () => {
  const groups = hasCorpus ? (JSON.parse(readFileSync(path, 'utf8')) as Wycheproof).testGroups : []
  const cases = groups.flatMap(({ publicKeyDer, tests }) => tests.map((test) => ({ ...test, publicKeyDer })))

  it(`agrees on all ${cases.length} signatures`, async () => {
    expect(cases.length).toBeGreaterThan(0)
    for (const { tcId, publicKeyDer, msg, sig, result } of cases) {
      const input = { spki: Buffer.from(publicKeyDer, 'hex'), data: Buffer.from(msg, 'hex') }
      expect({ tcId, is: await verifyEcdsaP256({ ...input, signature: Buffer.from(sig, 'hex') }) }).toEqual({
        tcId,
        is: result === 'valid',
      })
    }
  })
})

function scalar(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}
