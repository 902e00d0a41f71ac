import 'reflect-metadata'
import { generateKeyPairSync } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import { describe, expect, test } from 'vitest'
import { describeKey, KEY_DESCRIPTION_OID } from '../../../capture-kit/key-description.ts'
import { type AndroidRequest, createVendor } from '../../../capture-kit/vendor.ts'
import { makeMlDsa } from '../../platform/crypto/pki.ts'
import { apps, CHALLENGE, codesOf, flip, key, NOW, spki, spkiOf, vendor, verifyAndroid } from './simulated.ts'

const attest = (request: Partial<AndroidRequest> = {}) =>
  vendor.attestAndroid({ publicKey: key.publicKey, challenge: CHALLENGE, ...request })
const hours = (count: number) => new Date(NOW.getTime() + count * 3_600_000)

describe('a chain as a phone sends it', () => {
  test.each([
    [1, 'factory', 'tee'],
    [2, 'factory', 'strongbox'],
    [1, 'remote', 'tee'],
    [2, 'remote', 'strongbox'],
  ] as const)('of level %i and %s is %s', async (level, provisioning, tier) => {
    const verdict = verifyAndroid(await attest({ level, provisioning, userAuthType: 2 }))
    expect(verdict).toMatchObject({
      tier,
      provenTier: tier,
      reasons: [],
      revocation: { state: 'off' },
      facts: {
        format: 'android-key',
        securityLevel: tier,
        provisioning,
        bootState: 'verified',
        isDeviceLocked: true,
        osVersion: 160_000,
        osPatchLevel: '2026-09',
        vendorPatchLevel: '2026-09-05',
        osPatchAgeDays: 80,
        userGate: 'biometric',
        authTimeoutSeconds: null,
        packages: [{ name: 'com.example.countersign', version: 12 }],
        brand: 'Simulated',
        model: 'Phone',
      },
    })
    expect(verdict.serials).toHaveLength(provisioning === 'factory' ? 4 : 5)
  })

  test('may contain unknown tags', async () => {
    // [20011] NULL: a tag of three bytes that no release has yet.
    const chain = await attest({ extra: Buffer.from('bf819c2b020500', 'hex') })
    expect(verifyAndroid(chain)).toMatchObject({ tier: 'tee', reasons: [] })
  })

  test.each([
    [{}, 'none'],
    [{ userAuthType: 1 }, 'credential'],
    [{ userAuthType: 2 }, 'biometric'],
    [{ userAuthType: 3 }, 'either'],
    [{ userAuthType: 0xffffffff }, 'either'],
    [{ userAuthType: 2, authTimeoutSeconds: 300 }, 'biometric'],
    [{ userAuthType: 2, authTimeoutSeconds: 301 }, 'none'],
  ])('with %o is gated by %s', async (claims, userGate) => {
    expect(verifyAndroid(await attest(claims)).facts).toMatchObject({ userGate })
  })
})

describe('a phone that differs from what its maker shipped', () => {
  test.each([
    [{ isDeviceLocked: false }, ['device_unlocked']],
    [{ bootState: 1 }, ['boot_not_verified']],
    [{ bootState: 2, isDeviceLocked: false }, ['device_unlocked', 'boot_not_verified']],
    [{ hasRootOfTrust: false }, ['root_of_trust_missing']],
    [{ origin: 2 }, ['key_not_generated']],
    [{ keyMintLevel: 2 }, ['levels_differ']],
    [{ keyMintLevel: 0 }, ['levels_differ']],
    [{ packageName: 'com.example.other' }, ['app_unknown']],
    [{ signingDigest: Buffer.alloc(32) }, ['app_unknown']],
  ])('with %o is none for %o, and the facts stay', async (claims, codes) => {
    const verdict = verifyAndroid(await attest(claims))
    expect({ tier: verdict.tier, codes: codesOf(verdict) }).toEqual({ tier: 'none', codes })
    expect(verdict.facts).not.toBeNull()
  })

  test('keeps its key in software', async () => {
    const verdict = verifyAndroid(await attest({ level: 0 }))
    expect({ tier: verdict.tier, codes: codesOf(verdict) }).toEqual({ tier: 'software', codes: ['software_only'] })
  })

  test.each([
    [2, 1],
    [1, 2],
  ])('states level %i in an attestation of level %i', async (level, attesterLevel) => {
    const verdict = verifyAndroid(await attest({ level, attesterLevel }))
    expect({ tier: verdict.tier, codes: codesOf(verdict) }).toEqual({ tier: 'none', codes: ['issuer_level_differs'] })
  })
})

describe('evidence proves nothing', () => {
  test('about another key, for another challenge, or both', async () => {
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
    const chain = await attest()
    expect(codesOf(verifyAndroid(chain, { spki: spkiOf(other) }))).toEqual(['key_mismatch'])
    expect(codesOf(verifyAndroid(chain, { challenge: Buffer.alloc(32, 6) }))).toEqual(['challenge_mismatch'])
    expect(codesOf(verifyAndroid(chain, { challenge: CHALLENGE.subarray(1) }))).toEqual(['challenge_mismatch'])
    expect(verifyAndroid(chain, { spki: spkiOf(other) })).toMatchObject({ tier: 'none', facts: null, serials: [] })
  })

  test('under a root that is not the vendor’s', async () => {
    expect(codesOf(verifyAndroid(await attest(), { rootDigests: new Set(['00']) }))).toEqual(['root_unknown'])
  })

  test('after its dates when provisioned over the air; from the factory it stays valid', async () => {
    const [factory, remote] = [await attest(), await attest({ provisioning: 'remote' })]
    const later = { at: hours(24 * 22) }
    expect(verifyAndroid(factory, later).tier).toBe('tee')
    expect(codesOf(verifyAndroid(remote, later))).toEqual(['expired'])
    expect(codesOf(verifyAndroid(remote, { at: hours(-24 * 8) }))).toEqual(['not_yet_valid'])
    expect(verifyAndroid(remote, { at: hours(24 * 21 - 1) }).tier).toBe('tee')
  })

  test('with another certificate of the root above its root, whatever its dates', async () => {
    for (const provisioning of ['factory', 'remote'] as const) {
      const chain = await attest({ provisioning })
      expect(verifyAndroid(chain.with(-1, vendor.renewedRoot)).tier).toBe('tee')
      const longer = [...chain, vendor.renewedRoot]
      for (const at of [NOW, hours(24 * 365)]) expect(codesOf(verifyAndroid(longer, { at }))).toEqual(['chain_broken'])
    }
  })

  test('when an attested key signs the certificate of another one', async () => {
    const chain = await attest()
    const forged = await forge(describeKey({ challenge: CHALLENGE, level: 2, ...APP }))
    expect(codesOf(verifyAndroid([forged, ...chain]))).toEqual(['extension_elsewhere'])
    const silent = await forge(undefined)
    expect(codesOf(verifyAndroid([silent, ...chain]))).toEqual(['extension_elsewhere'])
  })

  test('when its description is unreadable, or has a field twice', async () => {
    const statement = describeKey({ challenge: CHALLENGE, level: 1, ...APP })
    // [705] once more, with another system's version.
    const doubled = describeKey({ challenge: CHALLENGE, level: 1, ...APP, extra: Buffer.from('bf854103020101', 'hex') })
    for (const description of [statement.subarray(0, -1), Buffer.alloc(0), Buffer.from('3000', 'hex'), doubled]) {
      const chain = await attest({ description })
      expect(codesOf(verifyAndroid(chain))).toEqual(['extension_malformed'])
    }
    expect(verifyAndroid(await attest({ description: statement })).tier).toBe('tee')
  })

  test('when a certificate is missing, doubled, moved or borrowed', async () => {
    const chain = await attest()
    const [leaf, attester, batch, root] = chain as [Buffer, Buffer, Buffer, Buffer]
    const cases: [Buffer[], string][] = [
      [[], 'chain_too_short'],
      [[leaf, attester], 'chain_too_short'],
      [[leaf, attester, batch], 'root_missing'],
      [[leaf, attester, root], 'issuer_name_differs'],
      [[leaf, batch, root], 'issuer_name_differs'],
      [[attester, batch, root], 'extension_missing'],
      [[leaf, leaf, attester, batch, root], 'malformed'],
      [[leaf, attester, batch, root, root], 'malformed'],
      [[attester, leaf, batch, root], 'issuer_name_differs'],
      [chain.toReversed(), 'issuer_name_differs'],
      [[leaf, attester, batch, Buffer.from('not a certificate')], 'malformed'],
      [[leaf, attester, batch, Buffer.alloc(17_000)], 'malformed'],
    ]
    for (const [ders, code] of cases) expect(codesOf(verifyAndroid(ders)), `${ders.length} ${code}`).toEqual([code])
  })

  test('when its signatures verify and its names differ; both names are returned sanitized and short', async () => {
    const { reasons, facts } = verifyAndroid(await attest({ isIssuerTitled: false }))
    expect(facts).toBeNull()
    expect(reasons).toEqual([{ code: 'issuer_name_differs', detail: expect.any(String) }])
    expect(reasons[0]?.detail).toMatch(/certificate 0 .*“serialNumber=a77e”.*“serialNumber=a77e, title=TEE”/)
    const chain = await attest()
    const stranger = await forge(undefined, `CN=\u202e${'x'.repeat(9_000)}`)
    const [{ code, detail } = { code: '', detail: '' }] = verifyAndroid([stranger, ...chain.slice(1)]).reasons
    expect(code).toBe('issuer_name_differs')
    expect(detail.length).toBeLessThan(400)
    expect(detail).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })

  test('when its root was not sent: the sentence names the missing one, not a certificate that is in order', async () => {
    for (const provisioning of ['factory', 'remote'] as const) {
      const chain = await attest({ provisioning })
      const [{ code, detail } = { code: '', detail: '' }] = verifyAndroid(chain.slice(0, -1)).reasons
      expect(code).toBe('root_missing')
      expect(detail).toMatch(/^the root is missing: certificate \d, the last one, was issued by “/)
    }
  })

  test('when its last certificate names itself and is signed by another key', async () => {
    const [chain, other] = [await attest(), await createVendor({ now: () => NOW })]
    const strange = (await other.attestAndroid({ publicKey: key.publicKey, challenge: CHALLENGE })).at(-1)
    // The same names and another key: the certificate below is not by it.
    expect(codesOf(verifyAndroid(chain.with(-1, strange ?? Buffer.alloc(0))))).toEqual(['chain_broken'])
    const root = chain.at(-1) ?? Buffer.alloc(0)
    const { code, detail } = verifyAndroid(chain.with(-1, flip(root, (root.length - 1) * 8))).reasons[0] ?? {}
    expect({ code, detail }).toMatchObject({ code: 'chain_broken', detail: expect.stringContaining('names itself') })
  })

  test('when a key of its chain is an ML-DSA one, with a code of its own', async () => {
    const chain = await attest()
    for (const index of chain.keys()) {
      expect(verifyAndroid(chain.with(index, await makeMlDsa())).reasons).toMatchObject([
        { code: 'ml_dsa_key', detail: expect.stringMatching(`^certificate ${index} has a key of ML-DSA-65`) },
      ])
    }
  })

  test('when its names match and a signature doesn’t verify', async () => {
    const chain = await attest()
    // A key certificate by a vendor of the same names, and another root's key.
    const other = await createVendor({ now: () => NOW })
    const [leaf] = await other.attestAndroid({ publicKey: key.publicKey, challenge: CHALLENGE })
    expect(codesOf(verifyAndroid([leaf ?? Buffer.alloc(0), ...chain.slice(1)]))).toEqual(['chain_broken'])
  })

  test('when any third bit of the key’s certificate, or some bits of the others, are flipped', async () => {
    const chain = await attest()
    const accepted: string[] = []
    for (const [index, der] of chain.entries()) {
      for (let bit = 0; bit < der.length * 8; bit += index === 0 ? 3 : 29) {
        if (verifyAndroid(chain.with(index, flip(der, bit))).tier !== 'none') accepted.push(`${index}:${bit}`)
      }
    }
    expect(accepted).toEqual([])
  })
})

describe('a list of revoked keys', () => {
  const fetchedAt = hours(-1)

  test('refuses the whole chain below a certificate that it names, revoked or suspended', async () => {
    const chain = await attest()
    const { serials } = verifyAndroid(chain)
    for (const serial of serials) {
      for (const status of ['REVOKED', 'SUSPENDED']) {
        const verdict = verifyAndroid(chain, { revocations: { entries: new Map([[serial, status]]), fetchedAt } })
        expect(verdict).toMatchObject({
          tier: 'none',
          provenTier: 'tee',
          revocation: { state: 'revoked', serial, status },
        })
        expect(codesOf(verdict)).toEqual(['revoked'])
      }
    }
  })

  test('that names other certificates changes nothing, and states its age', async () => {
    const chain = await attest()
    const entries = new Map([['ff', 'REVOKED']])
    expect(verifyAndroid(chain, { revocations: { entries, fetchedAt } })).toMatchObject({
      tier: 'tee',
      revocation: { state: 'good', fetchedAt: fetchedAt.toISOString() },
    })
    expect(verifyAndroid(chain, { revocations: { entries, fetchedAt: hours(-49) } })).toMatchObject({
      tier: 'tee',
      revocation: { state: 'stale' },
    })
  })

  test('that was never fetched proves nothing', async () => {
    const verdict = verifyAndroid(await attest(), { revocations: 'never_fetched' })
    expect({ ...verdict, facts: null }).toMatchObject({ tier: 'none', provenTier: 'tee' })
    expect(codesOf(verdict)).toEqual(['revocation_unknown'])
  })
})

test('the attested key is the one in the certificate', () => expect(spki).toHaveLength(91))

const APP = {
  packageName: apps.android[0]?.packageName ?? '',
  signingDigest: Buffer.from(apps.android[0]?.signingDigest ?? '', 'hex'),
}

/** A certificate for a key of our own, signed by the attested one, as the owner of a rooted phone can make it. */
async function forge(description: Uint8Array | undefined, issuer = 'CN=Android Keystore Key'): Promise<Buffer> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: '02',
    subject: 'CN=Android Keystore Key',
    issuer,
    notBefore: new Date(0),
    notAfter: new Date('2048-01-01'),
    publicKey: key.publicKey.toCryptoKey(algorithm, true, ['verify']),
    signingKey: key.privateKey.toCryptoKey(algorithm, true, ['sign']),
    signingAlgorithm: algorithm,
    extensions:
      description === undefined
        ? []
        : [new x509.Extension(KEY_DESCRIPTION_OID, false, new Uint8Array(description).buffer)],
  })
  return Buffer.from(certificate.rawData)
}
