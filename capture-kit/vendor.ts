// The makers of simulated phones: their own roots in place of Google's and Apple's, and evidence in exactly the
// vendors' formats. A deployment trusts it only if its configuration names these roots, which production refuses.
import 'reflect-metadata'
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import { encode } from 'cborg'
import { type AuthenticatorForm, assertedData, attestedData } from './authenticator-data.ts'
import { octets, sequence, tagged } from './der.ts'
import { describeKey, KEY_DESCRIPTION_OID, type KeyStatement } from './key-description.ts'

export type AndroidClaims = Partial<Omit<KeyStatement, 'challenge'>>

export interface AndroidRequest extends AndroidClaims {
  /** The phone's P-256 public key. */
  publicKey: KeyObject
  challenge: Uint8Array
  /** `remote`: provisioned over the air, with certificates valid for weeks. */
  provisioning?: 'factory' | 'remote'
  /** The level of the attesting hardware, if it differs from the key's. */
  attesterLevel?: number
  /** The description of the key, in place of the one built from the other members. */
  description?: Uint8Array
  /** False: the certificate's issuer name lacks the hardware's title, as on some real phones. */
  isIssuerTitled?: boolean
}

export interface AppAttestKey {
  /** Attestation object (CBOR). */
  object: Buffer
  /** SHA-256 of the key. */
  keyId: Buffer
  /** One assertion (CBOR); each call increments the counter, unless one is given. */
  assert(clientDataHash: Uint8Array, counter?: number): Buffer
}

export interface AppleRequest {
  clientDataHash: Uint8Array
  environment?: 'production' | 'development'
  appId?: string
  counter?: number
  /** Default: the form of iOS 14 to 26. */
  form?: AuthenticatorForm
}

export interface Vendor {
  /** The value for ATTESTATION_TEST_ROOTS. */
  roots: string
  /** The value for ATTESTATION_APPS. */
  apps: string
  /** DER: another certificate of the Android root's key, as after a renewal by a vendor. */
  renewedRoot: Buffer
  /** A chain in DER: the key's certificate, its attester, an intermediate, the root. */
  attestAndroid(request: AndroidRequest): Promise<Buffer[]>
  attestApple(request: AppleRequest): Promise<AppAttestKey>
}

const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const DAY_MS = 86_400_000
const APP_ID = 'CSIM000000.com.example.countersign'
const PACKAGE = 'com.example.countersign'
const SIGNING_DIGEST = createHash('sha256').update('the simulated app').digest()
const NONCE_OID = '1.2.840.113635.100.8.2'

export async function createVendor({ now }: { now: () => Date }): Promise<Vendor> {
  const at = now().getTime()
  const longLife = { notBefore: new Date(at - 3_650 * DAY_MS), notAfter: new Date(at + 3_650 * DAY_MS) }
  const weeks = { notBefore: new Date(at - 7 * DAY_MS), notAfter: new Date(at + 21 * DAY_MS) }

  const android = await certify({ ...longLife, subject: serial('5107'), isCa: true })
  const renewed = await certify({
    ...longLife,
    subject: serial('5107'),
    isCa: true,
    by: android,
    publicKey: android.publicKey,
  })
  const apple = await certify({ ...longLife, subject: common('Simulated App Attestation Root CA'), isCa: true })
  const appleCa = await certify({
    ...longLife,
    subject: common('Simulated App Attestation CA 1'),
    isCa: true,
    by: apple,
  })
  const attesters = new Map<string, Promise<Issuer[]>>()

  // Returns the issuers from the attesting certificate up to the root, created once per kind of phone.
  function attesterOf(level: number, provisioning: 'factory' | 'remote'): Promise<Issuer[]> {
    const name = `${level} ${provisioning}`
    const known = attesters.get(name) ?? makeAttester(level === 2 ? 'StrongBox' : 'TEE', provisioning)
    attesters.set(name, known)
    return known
  }

  async function makeAttester(hardware: string, provisioning: 'factory' | 'remote'): Promise<Issuer[]> {
    if (provisioning === 'factory') {
      const batch = await certify({ ...longLife, subject: serial('ba7c', hardware), isCa: true, by: android })
      return [await certify({ ...longLife, subject: serial('a77e', hardware), isCa: true, by: batch }), batch, android]
    }
    const upper = await certify({ ...longLife, subject: common('Droid CA2', 'Google LLC'), isCa: true, by: android })
    const lower = await certify({ ...weeks, subject: common('Droid CA3', 'Google LLC'), isCa: true, by: upper })
    return [
      await certify({ ...weeks, subject: common('0a1b', hardware), isCa: true, by: lower }),
      lower,
      upper,
      android,
    ]
  }

  return {
    roots: `android:${spkiOf(android.publicKey)},apple:${spkiOf(apple.publicKey)}`,
    apps: `android:${PACKAGE}:${SIGNING_DIGEST.toString('hex')},apple:${APP_ID}`,
    renewedRoot: renewed.der,

    async attestAndroid({
      publicKey,
      provisioning = 'factory',
      attesterLevel,
      description,
      isIssuerTitled = true,
      ...statement
    }) {
      const full = { level: 1, packageName: PACKAGE, signingDigest: SIGNING_DIGEST, ...statement }
      const issuers = await attesterOf(attesterLevel ?? full.level, provisioning)
      const leaf = await certify({
        // Phones do the same: the certificate of a key never expires.
        notBefore: new Date(0),
        notAfter: new Date('2048-01-01T00:00:00.000Z'),
        subject: common('Android Keystore Key'),
        publicKey,
        serialNumber: '01',
        by: issuers[0],
        ...(isIssuerTitled ? {} : { issuer: serial('a77e') }),
        extension: new x509.Extension(KEY_DESCRIPTION_OID, false, bytes(description ?? describeKey(full))),
      })
      return [leaf, ...issuers].map(({ der }) => der)
    },

    async attestApple({ clientDataHash, environment = 'production', appId = APP_ID, counter = 0, form = 'ios14' }) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const point = publicKey.export({ type: 'spki', format: 'der' }).subarray(-65)
      const keyId = sha256(point)
      const key = { environment, keyId, publicKey }
      const authData = attestedData({ appId, form, counter }, key)
      const nonce = sha256(Buffer.concat([authData, clientDataHash]))
      const leaf = await certify({
        ...weeks,
        subject: common(keyId.toString('hex')),
        publicKey,
        by: appleCa,
        extension: new x509.Extension(NONCE_OID, false, bytes(sequence(tagged(1, octets(nonce))))),
      })
      let used = 0
      return {
        object: cbor({
          fmt: 'apple-appattest',
          attStmt: { x5c: [leaf.der, appleCa.der], receipt: Buffer.from('for Apple’s servers') },
          authData,
        }),
        keyId,
        assert(hash, given) {
          used = given ?? used + 1
          const authenticatorData = assertedData({ appId, form, counter: used }, key)
          return cbor({
            signature: sign('sha256', sha256(Buffer.concat([authenticatorData, hash])), privateKey),
            authenticatorData,
          })
        },
      }
    },
  }
}

/** The clientDataHash for App Attest, so that attesting its key vouches for the key that signs captures. */
export function enrollmentHash(publicKey: KeyObject, challenge: Uint8Array): Buffer {
  return sha256(Buffer.concat([publicKey.export({ type: 'spki', format: 'der' }), challenge]))
}

interface Issuer {
  der: Buffer
  name: x509.Name
  publicKey: KeyObject
  privateKey: KeyObject | undefined
}

interface Certification {
  subject: x509.JsonName
  notBefore: Date
  notAfter: Date
  isCa?: boolean
  /** Undefined: self-signed. */
  by?: Issuer | undefined
  /** The issuer name in the certificate, if it differs from the signer's. */
  issuer?: x509.JsonName
  /** A new one when undefined. */
  publicKey?: KeyObject
  serialNumber?: string
  extension?: x509.Extension
}

async function certify(given: Certification): Promise<Issuer> {
  const fresh = given.publicKey === undefined ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : undefined
  const publicKey = given.publicKey ?? fresh?.publicKey
  const signingKey = given.by?.privateKey ?? fresh?.privateKey
  if (publicKey === undefined || signingKey === undefined) throw new TypeError('a certificate needs a signing key')
  const random = randomBytes(12)
  random[0] = ((random[0] ?? 0) & 0x3f) | 0x40
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: given.serialNumber ?? random.toString('hex'),
    subject: given.subject,
    issuer: given.issuer ?? given.by?.name ?? given.subject,
    notBefore: given.notBefore,
    notAfter: given.notAfter,
    publicKey: publicKey.toCryptoKey(P256, true, ['verify']),
    signingKey: signingKey.toCryptoKey(P256, true, ['sign']),
    signingAlgorithm: P256,
    extensions: [
      ...(given.isCa === true ? [new x509.BasicConstraintsExtension(true, undefined, true)] : []),
      new x509.KeyUsagesExtension(
        given.isCa === true ? x509.KeyUsageFlags.keyCertSign : x509.KeyUsageFlags.digitalSignature,
        true,
      ),
      ...(given.extension === undefined ? [] : [given.extension]),
    ],
  })
  return {
    der: Buffer.from(certificate.rawData),
    name: certificate.subjectName,
    publicKey,
    privateKey: fresh?.privateKey,
  }
}

function common(name: string, organisation?: string): x509.JsonName {
  return [{ CN: [name] }, ...(organisation === undefined ? [] : [{ O: [organisation] }])]
}

function serial(number: string, hardware?: string): x509.JsonName {
  return [{ '2.5.4.5': [number] }, ...(hardware === undefined ? [] : [{ '2.5.4.12': [hardware] }])]
}

function sha256(data: Uint8Array | string): Buffer {
  return createHash('sha256').update(data).digest()
}

function spkiOf(publicKey: KeyObject): string {
  return publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
}

function cbor(value: unknown): Buffer {
  return Buffer.from(encode(value))
}

// A copy in its own memory: @peculiar/x509 reads the whole ArrayBuffer of a pooled Buffer.
function bytes(value: Uint8Array): ArrayBuffer {
  return new Uint8Array(value).buffer
}
