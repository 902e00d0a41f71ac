import { X509Certificate } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type AndroidInput, verifyKeyAttestation } from '#src/attest/hardware/android.ts'
import { checkAndroidChain } from '#src/attest/hardware/android-chain.ts'
import { verifyAppAttestation, verifyAppleAssertion } from '#src/attest/hardware/apple.ts'
import { type Authorizations, type KeyDescription, parseKeyDescription } from '#src/attest/hardware/key-description.ts'
import { readVendorRoots } from '#src/attest/hardware/roots.ts'
import { sha256Hex } from '#src/platform/crypto/digest.ts'
import { codesOf, flip } from './simulated.ts'

const CORPUS = process.env.CORPUS ?? ''
const ANDROID = join(CORPUS, 'android-attestation')
const APPLE = join(CORPUS, 'app-attest')
const ROOTS = readVendorRoots()

interface Sample {
  name: string
  chain: Buffer[]
  expected: Record<string, unknown>
}

const samples = CORPUS === '' ? [] : globSync('**/*.pem', { cwd: ANDROID }).sort().map(readSample)

describe.skipIf(!existsSync(ANDROID))(`real Android chains (CORPUS: ${samples.length} files)`, () => {
  test('exist', () => expect(samples.length).toBeGreaterThan(5))

  test('the pinned roots are the published ones', () => {
    const published: string[] = JSON.parse(readFileSync(join(ANDROID, 'roots.json'), 'utf8'))
    const digests = published.map((pem) =>
      sha256Hex(new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' })),
    )
    expect(new Set(digests)).toEqual(ROOTS.android)
  })

  test.each(samples)('$name leads to Google, and its values match the JSON beside it', ({ chain, expected }) => {
    const path = checkAndroidChain({ ders: chain, rootDigests: ROOTS.android, at: timeOf(chain) })
    if (!path.ok) throw new Error(path.reason.detail)
    expect(toJson(parseKeyDescription(path.chain.description))).toEqual(withOrder(expected))
  })

  test.each(samples)('$name counts only if its phone is locked and its app is ours', ({ chain, expected }) => {
    const hardware = expected.hardwareEnforced as { rootOfTrust: { deviceLocked: boolean } }
    const verdict = verify(chain, expected)
    const level = { TRUSTED_ENVIRONMENT: 'tee', STRONG_BOX: 'strongbox' }[String(expected.attestationSecurityLevel)]
    if (hardware.rootOfTrust.deviceLocked) expect(verdict).toMatchObject({ tier: level, reasons: [] })
    else expect(codesOf(verdict)).toEqual(expect.arrayContaining(['device_unlocked', 'boot_not_verified']))
    expect(verdict.facts).toMatchObject({ securityLevel: level })
    expect(JSON.stringify(verdict)).not.toMatch(/imei|35116352009/i)
  })

  test.each(samples)('$name is refused with a certificate missing, doubled or moved', ({ chain, expected }) => {
    for (let index = 0; index < chain.length; index += 1) {
      const [missing, doubled] = [chain.toSpliced(index, 1), chain.toSpliced(index, 0, chain[index] ?? Buffer.alloc(0))]
      const moved = chain.toSpliced(index, 1).toSpliced((index + 1) % chain.length, 0, chain[index] ?? Buffer.alloc(0))
      for (const ders of [missing, doubled, moved]) expect(verify(ders, expected).facts).toBeNull()
    }
  })

  // Google's first root has two certificates: a phone sends either of them.
  test.each(samples)('$name is refused with another certificate of its root on top', ({ chain, expected }) => {
    const roots = samples.flatMap((sample) => sample.chain.at(-1) ?? [])
    const others = roots.filter((root) => !root.equals(chain.at(-1) ?? Buffer.alloc(0)))
    expect(others.length).toBeGreaterThan(0)
    for (const root of others) {
      const ders = [...chain, root]
      expect(verify(ders, expected).facts).toBeNull()
      expect(checkAndroidChain({ ders, rootDigests: ROOTS.android, at: new Date('2035-01-01') }).ok).toBe(false)
    }
  })

  test('a flipped bit in every byte of one chain, and in some of every other, is detected', () => {
    const accepted: string[] = []
    // The shortest chain: a bit of every byte, each time another one. 4,000 verifications.
    const whole = samples.toSorted((a, b) => sizeOf(a) - sizeOf(b))[0]
    for (const sample of samples) {
      const { name, chain, expected } = sample
      for (const [index, der] of chain.entries()) {
        const step = sample === whole ? 7 : 1_009
        for (let bit = index; bit < der.length * 8; bit += step) {
          const { facts } = verify(chain.with(index, flip(der, bit)), expected)
          if (facts !== null) accepted.push(`${name} ${index}:${bit}`)
        }
      }
    }
    expect(accepted).toEqual([])
  }, 1_800_000)
})

const documents = CORPUS === '' ? [] : globSync('*.yaml', { cwd: APPLE }).flatMap((file) => readDocuments(file))

describe.skipIf(!existsSync(APPLE))(`real App Attest objects (CORPUS: ${documents.length} documents)`, () => {
  const attestations = documents.filter(({ type }) => type === 'attestation')
  const assertions = documents.filter(({ type }) => type === 'assertion')

  test('exist as attestations and as assertions', () => {
    expect(Math.min(attestations.length, assertions.length)).toBeGreaterThan(2)
  })

  test.each(attestations)('the attestation of $timestamp verifies at its own time, and not today', (document) => {
    const input = attestationInput(document)
    const verdict = verifyAppAttestation(input)
    expect(verdict).toMatchObject({
      tier: 'secure_enclave',
      reasons: [],
      facts: { environment: document.environment, keyId: document.keyIdBase64, counter: 0 },
    })
    expect(verdict.attestKey?.spki.toString('base64')).toBe(document.publicKey)
    expect(codesOf(verifyAppAttestation({ ...input, at: new Date('2026-11-20') }))).toEqual(['expired'])
    expect(codesOf(verifyAppAttestation({ ...input, isDevelopmentAllowed: false }))).toEqual(['app_environment'])
    const other = Buffer.from(input.clientDataHash).fill(1, 0, 1)
    expect(codesOf(verifyAppAttestation({ ...input, clientDataHash: other }))).toEqual(['nonce_mismatch'])
  })

  test.each(attestations)(
    'a flipped bit in the attestation of $timestamp is detected outside of its receipt',
    (document) => {
      const input = attestationInput(document)
      const start = Buffer.from(input.object).indexOf('receipt') * 8 - 8
      const end = Buffer.from(input.object).indexOf('authData') * 8 - 8
      const accepted: number[] = []
      for (let bit = 0; bit < input.object.length * 8; bit += 3) {
        const { tier } = verifyAppAttestation({ ...input, object: flip(input.object, bit) })
        if (tier !== 'none' && !(bit >= start && bit < end)) accepted.push(bit)
      }
      expect(end).toBeGreaterThan(start)
      expect(accepted).toEqual([])
    },
    120_000,
  )

  test.each(assertions)('the assertion of $timestamp verifies once', async (document) => {
    const input = {
      assertion: bytes(document.assertionBase64),
      spki: bytes(document.publicKey),
      appId: `${document.teamIdentifier}.${document.bundleIdentifier}`,
      clientDataHash: bytes(document.clientDataHashSha256Base64),
      counterAbove: 0,
    }
    const counter = Number(document.counter)
    expect(await verifyAppleAssertion(input)).toEqual({ isValid: true, counter })
    expect(await verifyAppleAssertion({ ...input, counterAbove: counter })).toMatchObject({ code: 'counter_not_above' })
  })
})

function sizeOf({ chain }: Sample): number {
  return chain.reduce((sum, der) => sum + der.length, 0)
}

function readSample(file: string): Sample {
  const pem = readFileSync(join(ANDROID, file), 'utf8')
  const json = readFileSync(join(ANDROID, file.replace(/pem$/, 'json')), 'utf8')
  return {
    name: file,
    chain: [...pem.matchAll(/-----BEGIN CERTIFICATE-----([^-]+)-----END/g)].map(([, body]) => bytes(body)),
    expected: JSON.parse(json.replaceAll(/^\s*\/\/.*$/gm, '')),
  }
}

// Certificates that are provisioned over the air are valid for weeks.
function timeOf(chain: readonly Buffer[]): Date {
  const starts = chain.slice(1, -1).map((der) => new X509Certificate(der).validFromDate.getTime())
  return new Date(Math.max(...starts) + 3_600_000)
}

function verify(chain: readonly Buffer[], expected: Record<string, unknown>) {
  const input: AndroidInput = {
    chain,
    rootDigests: ROOTS.android,
    spki: new X509Certificate(samples.find((one) => one.expected === expected)?.chain[0] ?? '').publicKey.export({
      type: 'spki',
      format: 'der',
    }),
    challenge: Buffer.from(String(expected.attestationChallenge), 'base64'),
    apps: [
      {
        packageName: 'com.android.vending',
        signingDigest: 'f0fd6c5b410f25cb25c3b53346c8972fae30f8ee7411df910480ad6b2d60db83',
      },
    ],
    revocations: 'off',
    at: timeOf(samples.find((one) => one.expected === expected)?.chain ?? []),
  }
  return verifyKeyAttestation(input)
}

const LEVELS = { software: 'SOFTWARE', tee: 'TRUSTED_ENVIRONMENT', strongbox: 'STRONG_BOX' }

function toJson(description: KeyDescription): unknown {
  return {
    attestationVersion: String(description.attestationVersion),
    attestationSecurityLevel: LEVELS[description.attestationSecurityLevel],
    keyMintVersion: String(description.keyMintVersion),
    keyMintSecurityLevel: LEVELS[description.keyMintSecurityLevel],
    attestationChallenge: description.challenge.toString('base64'),
    uniqueId: description.uniqueId.toString('base64'),
    softwareEnforced: listToJson(description.softwareEnforced),
    hardwareEnforced: listToJson(description.hardwareEnforced),
  }
}

function listToJson(list: Authorizations): Record<string, unknown> {
  const text = (value: number | undefined) => (value === undefined ? undefined : String(value))
  const { rootOfTrust: root, application } = list
  return defined({
    purposes: list.purposes?.map(String),
    algorithms: text(list.algorithm),
    keySize: text(list.keySize),
    digests: list.digests?.map(String),
    paddings: list.paddings?.map(String),
    ecCurve: text(list.ecCurve),
    rsaPublicExponent: text(list.rsaPublicExponent),
    noAuthRequired: list.noAuthRequired || undefined,
    userAuthType: text(list.userAuthType),
    authTimeout: text(list.authTimeoutSeconds),
    trustedUserPresenceRequired: list.isUserPresenceRequired || undefined,
    trustedConfirmationRequired: list.isConfirmationRequired || undefined,
    creationDateTime: text(list.createdAtMs),
    origin: list.origin === 0 ? 'GENERATED' : text(list.origin),
    rootOfTrust: root && {
      verifiedBootKey: root.verifiedBootKey.toString('base64'),
      deviceLocked: root.isDeviceLocked,
      verifiedBootState: root.bootState.toUpperCase(),
      verifiedBootHash: root.verifiedBootHash?.toString('base64'),
    },
    osVersion: text(list.osVersion),
    osPatchLevel: text(list.osPatchLevel),
    attestationApplicationId: application && {
      packages: application.packages.map(({ name, version }) => ({ name, version: String(version) })),
      signatures: application.signatures.map((digest) => digest.toString('base64')),
    },
    attestationIdBrand: list.brand,
    attestationIdDevice: list.device,
    attestationIdProduct: list.product,
    attestationIdSerial: list.serial,
    attestationIdImei: list.imei,
    attestationIdSecondImei: list.secondImei,
    attestationIdMeid: list.meid,
    attestationIdManufacturer: list.manufacturer,
    attestationIdModel: list.model,
    vendorPatchLevel: text(list.vendorPatchLevel),
    bootPatchLevel: text(list.bootPatchLevel),
    areTagsOrdered: list.areTagsOrdered,
  })
}

// Only the younger files say whether tags are in order: the order of the others is not compared.
function withOrder(expected: Record<string, unknown>): Record<string, unknown> {
  const order = { areTagsOrdered: expect.any(Boolean) }
  return Object.fromEntries(
    Object.entries(expected).map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null ? { ...order, ...value } : value,
    ]),
  )
}

function defined(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined))
}

type Document = Record<string, string>

function readDocuments(file: string): Document[] {
  return readFileSync(join(APPLE, file), 'utf8')
    .split(/^---$/m)
    .map((text) => {
      const members = [...text.matchAll(/^(\w+): *'?([^'\n|]+)'?$/gm)].map(([, name, value]) => [name, value])
      const [, key = ''] = /-----BEGIN PUBLIC KEY-----([^-]+)-----END/.exec(text) ?? []
      return { ...Object.fromEntries(members), publicKey: key.replaceAll(/\s/g, '') }
    })
}

function attestationInput(document: Document) {
  return {
    object: bytes(document.attestationBase64),
    roots: ROOTS.apple,
    clientDataHash: bytes(document.clientDataHashSha256Base64),
    keyId: bytes(document.keyIdBase64),
    apps: [{ appId: `${document.teamIdentifier}.${document.bundleIdentifier}` }],
    isDevelopmentAllowed: true,
    at: new Date(document.timestamp ?? ''),
  }
}

function bytes(base64 = ''): Buffer {
  return Buffer.from(base64.replaceAll(/\s/g, ''), 'base64')
}
