import { createHash, type webcrypto } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  type Certificate,
  checkChain,
  parseCertificate,
  parseChain,
  summarizeStored,
} from '#src/platform/crypto/x509.ts'
import { AT, type Issued, make, makeDer, makeMlDsa, makeSlowRsa, P384, P521, rsa, rsaPublicKey } from './pki.ts'

const root = await make({ name: 'Root', isCa: true })
const slow = await makeSlowRsa()

const modulus = (bytes: number) => Buffer.alloc(bytes, 0xa5)
async function certify(publicKey: webcrypto.CryptoKey): Promise<Buffer> {
  return (await makeDer({ name: 'Other', keys: { ...root.keys, publicKey }, issuer: root, isCa: true })).der
}

it('an Ed25519 key of small order is refused', async () => {
  const key = await crypto.subtle.importKey('raw', Buffer.alloc(32), 'Ed25519', true, ['verify'])
  expect(parseCertificate(await certify(key))).toMatchObject({
    ok: false,
    code: 'unsupported_key',
    detail: expect.stringContaining('small order'),
  })
})

it.each(['ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87'] as const)('an %s key has a code of its own', async (kind) => {
  const detail = expect.stringContaining(kind.toUpperCase())
  const der = await makeMlDsa(kind)
  expect(parseCertificate(der)).toMatchObject({ ok: false, code: 'ml_dsa_key', detail })
  expect(parseChain([root.der, der])).toMatchObject({ ok: false, index: 1, code: 'ml_dsa_key', detail })
})

describe('an RSA key', () => {
  it.each([
    ['3', '03'],
    ['65537', '010001'],
    ['32 bits', 'ffffffff'],
  ])('with the exponent %s is parsed', async (_name, exponent) => {
    const der = await certify(await rsaPublicKey(modulus(256), Buffer.from(exponent, 'hex')))
    expect(parseCertificate(der)).toMatchObject({ ok: true, certificate: { keyAlgorithm: 'rsa', keyBits: 2048 } })
  })

  it.each([
    ['33 bits', 256, Buffer.from('0100000001', 'hex')],
    ['64 bits', 1024, Buffer.alloc(8, 0xff)],
    ['as many bits as the modulus', 384, Buffer.alloc(384, 0x7f)],
    ['1', 256, Buffer.from([1])],
    ['an even one', 256, Buffer.from('010000', 'hex')],
  ])('with an exponent of %s is refused', async (_name, bytes, exponent) => {
    const der = await certify(await rsaPublicKey(modulus(bytes), exponent))
    expect(parseCertificate(der)).toMatchObject({ ok: false, code: 'unsupported_key' })
  })

  it('longer than 8,192 bits is refused before a key object is built', async () => {
    const ders = await Promise.all(
      [1_032, 2_048].map(async (bytes) => certify(await rsaPublicKey(modulus(bytes), Buffer.from('010001', 'hex')))),
    )
    for (const der of ders) expect(parseCertificate(der)).toMatchObject({ ok: false, code: 'unsupported_key' })
  })

  it('is refused before anything is verified with it: chains of eight take no time', async () => {
    const chain = await slowChain(8)
    const fresh = chain.map((_, turn) => [...chain.slice(turn), ...chain.slice(0, turn)])
    const startedAt = process.threadCpuUsage()
    for (const ders of fresh) expect(parseChain(ders)).toMatchObject({ ok: false, index: 0, code: 'unsupported_key' })
    expect(cpuMs(startedAt)).toBeLessThan(50)
  })

  it('that was accepted under wider limits still shows the contents of its certificate', async () => {
    const [der = Buffer.alloc(0)] = await slowChain(1)
    expect(summarizeStored(der)).toEqual({
      subject: 'CN=CA 0',
      issuer: 'CN=CA 1',
      serialNumberHex: expect.stringMatching(/^[0-9a-f]+$/),
      notBefore: new Date('2026-01-01T00:00:00Z'),
      notAfter: new Date('2027-01-01T00:00:00Z'),
      fingerprint: createHash('sha256').update(der).digest('hex'),
    })
  })
})

describe('the cost limit of a chain', () => {
  it('is enough for eight certificates of P-521', async () => {
    const authorities: Issued[] = [await make({ name: 'CA 0', isCa: true, algorithm: P521 })]
    for (let level = 1; level < 7; level += 1) {
      const issuer = authorities.at(-1)
      authorities.push(await make({ name: `CA ${level}`, isCa: true, algorithm: P521, ...(issuer && { issuer }) }))
    }
    const above = authorities.at(-1)
    const leaf = await make({ name: 'Device', ...(above && { issuer: above }) })
    const chain = [leaf, ...authorities.toReversed()].map(({ certificate }) => certificate)
    expect(checkChain({ chain, anchors: chain.slice(-1), at: AT })).toMatchObject({ isTrusted: true })
  })

  it.each([
    ['P-384', P384],
    ['P-521', P521],
  ])('holds where anchors of %s have one name, and none of them signed', async (_name, algorithm) => {
    const signer = await make({ name: 'Same', isCa: true })
    const { keys } = await make({ name: 'Same', isCa: true, algorithm })
    const anchors = await Promise.all(
      // One key in a hundred certificates would be found in the cache of signatures.
      Array.from({ length: 100 }, async (_, index) =>
        withOwnKey(await make({ name: 'Same', isCa: true, algorithm, keys }), index),
      ),
    )
    const device = await make({ name: 'Device', issuer: signer })
    const startedAt = process.threadCpuUsage()
    const verdict = checkChain({ chain: [device.certificate], anchors, at: AT })
    expect(verdict).toMatchObject({ isTrusted: false, code: 'unknown_ca' })
    // 25 ms; a hundred checks of P-521 would be 180.
    expect(cpuMs(startedAt)).toBeLessThan(80)
  })
})

function withOwnKey({ certificate }: Issued, index: number): Certificate {
  return { ...certificate, spkiDigest: createHash('sha256').update(`${index}`).digest() }
}

async function slowChain(length: number): Promise<Buffer[]> {
  const algorithm = rsa(3072)
  const ders: Buffer[] = []
  for (let level = 0; level < length; level += 1) {
    const issuer = { name: `CA ${level + 1}`, keys: slow, algorithm }
    ders.push((await makeDer({ name: `CA ${level}`, isCa: true, keys: slow, algorithm, issuer })).der)
  }
  return ders
}

function cpuMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(since)
  return (user + system) / 1_000
}
