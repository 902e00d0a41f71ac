import { webcrypto } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Certificate, checkChain, parseCertificate, parseChain } from '#src/platform/crypto/x509.ts'
import { make, makeChain, makeDer, P384, rsa } from './pki.ts'
import { createDice } from './seeded.ts'

const { root, intermediate, leaf } = await makeChain()

describe('a certificate', () => {
  it('is parsed with its names, serial number, dates, key and constraints', () => {
    expect(intermediate.certificate).toMatchObject({
      subject: 'CN=Intermediate',
      issuer: 'CN=Root',
      keyAlgorithm: 'ec-p256',
      keyBits: 256,
      isCa: true,
      pathLength: undefined,
      keyUsage: { keyCertSign: true, digitalSignature: false },
      notBefore: new Date('2026-01-01T00:00:00Z'),
      notAfter: new Date('2027-01-01T00:00:00Z'),
      signatureOid: '1.2.840.10045.4.3.2',
      unknownCriticalExtensions: [],
    })
    const { x509, spki, serialNumberHex, fingerprint } = intermediate.certificate
    expect(spki).toEqual(x509.publicKey.export({ format: 'der', type: 'spki' }))
    expect(BigInt(`0x${serialNumberHex}`)).toBe(BigInt(`0x${x509.serialNumber}`))
    expect(fingerprint).toBe(x509.fingerprint256.replaceAll(':', '').toLowerCase())
  })

  it('shows no invisible characters of its names', async () => {
    // C0 as OpenSSL escapes it; a terminal's command introducer, a bidirectional override, a zero width space.
    const { certificate } = await make({ name: 'a\u0007b\u009b31mc\u202ed\u200be' })
    expect(certificate.subject).toBe('CN=a\\07b\ufffd31mc\ufffdd\ufffde')
    expect(certificate.issuer).toBe(certificate.subject)
  })

  it('is cached, and does not change with the bytes that it came in', () => {
    const bytes = Buffer.from(leaf.der)
    const first = parseOk(bytes)
    bytes.fill(0)
    expect(parseOk(leaf.der)).toBe(first)
    expect(first.der).toEqual(leaf.der)
  })

  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  it.each([
    ['a PNG', png, 'not_a_certificate'],
    ['a JPEG', Buffer.from('ffd8ffe000104a464946', 'hex'), 'not_a_certificate'],
    ['nothing', Buffer.alloc(0), 'not_a_certificate'],
    ['PEM', Buffer.from(leaf.certificate.x509.toString()), 'not_a_certificate'],
    ['base64', Buffer.from(leaf.der.toString('base64')), 'not_a_certificate'],
    ['its public key alone', leaf.certificate.spki, 'not_a_certificate'],
    ['a certificate and a byte more', Buffer.concat([leaf.der, Buffer.alloc(1)]), 'not_a_certificate'],
    ['two certificates', Buffer.concat([leaf.der, root.der]), 'not_a_certificate'],
    ['half a certificate', leaf.der.subarray(0, 200), 'not_a_certificate'],
    [
      'an indefinite length',
      Buffer.concat([Buffer.from([0x30, 0x80]), leaf.der.subarray(4), Buffer.alloc(2)]),
      'not_a_certificate',
    ],
    ['16 KiB and a byte', Buffer.alloc(16 * 1024 + 1, 0x30), 'too_large'],
    ['a length in more bytes than needed', longer(leaf.der), 'not_a_certificate'],
    ['an unknown curve', patch(leaf.der, '2a8648ce3d030107', '2a8648ce3d03017f'), 'unsupported_key'],
    [
      'a point in another spelling',
      patch(leaf.der, '03420004', isOdd(leaf.certificate) ? '03420007' : '03420006'),
      'unsupported_key',
    ],
  ])('is not %s', (_name, der, code) => {
    expect(parseCertificate(der)).toMatchObject({ ok: false, code })
  })

  it('names a PNG in its refusal', () => {
    expect(parseCertificate(png)).toMatchObject({ detail: expect.stringContaining('PNG') })
  })

  it('has each extension once', async () => {
    const { Extension } = await import('@peculiar/x509')
    const twice = new Extension('1.2.3.4', false, Buffer.from('0500', 'hex'))
    const { der } = await makeDer({ name: 'Twice', extensions: [twice, twice] })
    expect(parseCertificate(der)).toMatchObject({ ok: false, code: 'not_a_certificate' })
  })

  it('may have an RSA key of up to 8192 bits, and weaker algorithms: the path check refuses those', async () => {
    const weak = await make({ name: 'Old', algorithm: rsa(1024) })
    expect(weak.certificate).toMatchObject({ keyAlgorithm: 'rsa', keyBits: 1024 })
    const p384 = await make({ name: 'P-384', algorithm: P384 })
    expect(p384.certificate).toMatchObject({ keyAlgorithm: 'ec-p384', keyBits: 384 })
  })

  it('has no RSA key so large that verifying with it would take long', async () => {
    for (const [bytes, isRead] of [
      [1024, true],
      [1032, false],
    ] as const) {
      // The key has no private part: no test signs with it.
      const modulus = Buffer.alloc(bytes, 0xa5).toString('base64url')
      const jwk = { kty: 'RSA', n: modulus, e: 'AQAB' }
      const publicKey = await webcrypto.subtle.importKey('jwk', jwk, rsa(bytes * 8), true, ['verify'])
      const { der } = await makeDer({ name: 'Large', keys: { ...root.keys, publicKey }, issuer: root })
      expect(parseCertificate(der)).toMatchObject(isRead ? { ok: true } : { ok: false, code: 'unsupported_key' })
    }
  })

  it('survives 400 seeded mutations', () => {
    const dice = createDice(7)
    for (let i = 0; i < 400; i += 1) {
      let der = Buffer.from(intermediate.der)
      for (let changes = 1 + dice(4); changes > 0; changes -= 1) {
        const at = dice(der.length)
        const piece = Buffer.from(Array.from({ length: dice(4) }, () => dice(256)))
        der = Buffer.concat([der.subarray(0, at), piece, der.subarray(at + dice(4))])
      }
      const parsed = parseCertificate(der)
      if (!parsed.ok) continue
      const chain = [leaf.certificate, parsed.certificate]
      const verdict = checkChain({ chain, anchors: [root.certificate], at: new Date('2026-11-20T12:00:00Z') })
      expect(verdict.isTrusted).toBe(parsed.certificate.der.equals(intermediate.der))
    }
  })
})

describe('a certificate chain', () => {
  it('is parsed in its order', () => {
    const parsed = parseChain([leaf.der, intermediate.der, root.der])
    expect(parsed).toEqual({ ok: true, certificates: [leaf.certificate, intermediate.certificate, root.certificate] })
    expect(parseChain([])).toEqual({ ok: true, certificates: [] })
  })

  it('of 50 is too long, whatever it contains', () => {
    expect(parseChain(Array(50).fill(leaf.der))).toMatchObject({ ok: false, code: 'too_many', index: 8 })
    expect(parseChain(Array(9).fill(Buffer.alloc(0)))).toMatchObject({ ok: false, code: 'too_many' })
  })

  it('names the certificate that is invalid', () => {
    expect(parseChain([leaf.der, Buffer.from('89504e470d0a1a0a', 'hex')])).toMatchObject({
      ok: false,
      code: 'not_a_certificate',
      index: 1,
    })
    expect(parseChain([leaf.der, root.der, leaf.der])).toMatchObject({ ok: false, code: 'duplicate', index: 2 })
    expect(parseChain([leaf.der, Buffer.alloc(20_000)])).toMatchObject({ ok: false, code: 'too_large', index: 1 })
  })

  it('keeps the limits that a caller sets', () => {
    expect(parseChain([leaf.der, root.der], { maxCertificates: 1, maxBytes: 10_000 })).toMatchObject({
      code: 'too_many',
    })
    expect(parseChain([leaf.der], { maxCertificates: 1, maxBytes: 100 })).toMatchObject({ code: 'too_large', index: 0 })
  })
})

const corpus = process.env.CORPUS ?? ''
const pems =
  process.env.CORPUS && existsSync(corpus) ? globSync(join(corpus, '{android-attestation,c2pa}/**/*.pem')) : []

describe.skipIf(pems.length === 0)(
  `real certificates${pems.length === 0 ? ' (skipped: CORPUS is not set)' : ''}`,
  () => {
    it(`in ${pems.length} files are parsed as OpenSSL parses them`, () => {
      let count = 0
      for (const pem of pems) {
        for (const der of blocks(readFileSync(pem, 'utf8'))) {
          const parsed = parseCertificate(der)
          if (!parsed.ok) expect(parsed).toMatchObject({ code: 'unsupported_key' })
          else {
            const { x509, isCa, notAfter, spki } = parsed.certificate
            expect(spki).toEqual(x509.publicKey.export({ format: 'der', type: 'spki' }))
            expect(isCa).toBe(x509.ca)
            expect(notAfter).toEqual(new Date(x509.validTo))
            count += 1
          }
        }
      }
      expect(count).toBeGreaterThan(pems.length)
    })
  },
)

function parseOk(der: Buffer): Certificate {
  const parsed = parseCertificate(der)
  if (!parsed.ok) throw new Error(parsed.detail)
  return parsed.certificate
}

// The last byte of an uncompressed point is the last of y, whose parity the hybrid form repeats.
function isOdd({ spki }: Certificate): boolean {
  return ((spki.at(-1) ?? 0) & 1) === 1
}

function patch(der: Buffer, from: string, to: string): Buffer {
  const hex = der.toString('hex')
  if (!hex.includes(from)) throw new Error(`no ${from} in the certificate`)
  return Buffer.from(hex.replace(from, to), 'hex')
}

// 30 82 xx xx with a leading zero: BER, and another fingerprint of the same certificate.
function longer(der: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x30, 0x83, 0]), der.subarray(2)])
}

function blocks(pem: string): Buffer[] {
  return [...pem.matchAll(/-----BEGIN CERTIFICATE-----([\s\S]*?)-----END/g)].map(([, body = '']) =>
    Buffer.from(body, 'base64'),
  )
}
