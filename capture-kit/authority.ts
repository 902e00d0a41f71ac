// A certificate authority of two levels, as device makers run them: the root stays offline and signs one intermediate,
// the intermediate signs the devices. The verifier knows only the root; every chain includes its intermediate.
import 'reflect-metadata'
import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, type webcrypto } from 'node:crypto'
import * as x509 from '@peculiar/x509'

export interface IssueRequest {
  /** The device's P-256 public key. */
  publicKey: KeyObject
  /** Common name. Letters, digits, spaces and ._'()- only, at most 64 characters. */
  subject: string
  notBefore: Date
  notAfter: Date
}

export interface Authority {
  name: string
  rootDer: Buffer
  rootPem: string
  /** Returns the chain in DER: leaf, then intermediate, without the root. */
  issue(request: IssueRequest): Promise<Buffer[]>
  /** Everything, private keys included: store it where only its owner can read it. */
  export(): AuthorityFile
}

/** An authority as a file: certificates and PKCS #8 keys in PEM. */
export interface AuthorityFile {
  name: string
  root: { certificate: string; privateKey: string }
  intermediate: { certificate: string; privateKey: string }
}

export interface AuthorityOptions {
  name: string
  now: () => Date
  /**
   * When the authority's own certificates begin; by default a year before now. A chain must be valid at the time of
   * capture.
   */
  notBefore?: Date
  /** Source of serial numbers. */
  random?: (bytes: number) => Uint8Array
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const YEAR_MS = 365 * 86_400_000
const LIFE_YEARS = 20
// RFC 5280 4.1.2.2 allows 20 octets; 16 random ones suffice to avoid collisions.
const SERIAL_BYTES = 16
// @peculiar/x509 reads quotes, commas and plus signs in a name as RFC 4514 syntax, and would use another name.
const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._'()-]{0,63}$/u

export async function createAuthority({ name, now, notBefore, random }: AuthorityOptions): Promise<Authority> {
  const from = notBefore ?? new Date(now().getTime() - YEAR_MS)
  const until = new Date(from)
  until.setUTCFullYear(Math.max(from.getUTCFullYear(), now().getUTCFullYear()) + LIFE_YEARS)
  const validity = { notBefore: from, notAfter: until }
  const rootKeys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const intermediateKeys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const rootName = `${name} Root`

  const root = await certify({
    ...validity,
    random,
    subject: rootName,
    issuer: rootName,
    publicKey: rootKeys.publicKey,
    signingKey: rootKeys.privateKey,
    extensions: caExtensions(1),
  })
  const intermediate = await certify({
    ...validity,
    random,
    subject: `${name} Devices`,
    issuer: rootName,
    publicKey: intermediateKeys.publicKey,
    signingKey: rootKeys.privateKey,
    extensions: [...caExtensions(0), await x509.AuthorityKeyIdentifierExtension.create(webKey(rootKeys.publicKey))],
  })
  const file = {
    name,
    root: { certificate: root.toString('pem'), privateKey: pem(rootKeys.privateKey) },
    intermediate: { certificate: intermediate.toString('pem'), privateKey: pem(intermediateKeys.privateKey) },
  }
  return openAuthority(file, random === undefined ? {} : { random })
}

/** @throws when the file's certificates or keys can't be read. */
export function openAuthority(file: AuthorityFile, { random }: Pick<AuthorityOptions, 'random'> = {}): Authority {
  const root = new x509.X509Certificate(file.root.certificate)
  const intermediate = new x509.X509Certificate(file.intermediate.certificate)
  const signingKey = createPrivateKey(file.intermediate.privateKey)

  return {
    name: file.name,
    rootDer: Buffer.from(root.rawData),
    rootPem: file.root.certificate,
    async issue({ publicKey, subject, notBefore, notAfter }) {
      const leaf = await certify({
        notBefore,
        notAfter,
        random,
        subject,
        issuer: intermediate.subjectName,
        publicKey,
        signingKey,
        extensions: [
          new x509.BasicConstraintsExtension(false, undefined, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
          await x509.AuthorityKeyIdentifierExtension.create(intermediate.publicKey),
        ],
      })
      return [Buffer.from(leaf.rawData), Buffer.from(intermediate.rawData)]
    },
    export: () => file,
  }
}

interface Certification {
  subject: string
  issuer: string | x509.Name
  publicKey: KeyObject
  signingKey: KeyObject
  notBefore: Date
  notAfter: Date
  random: AuthorityOptions['random']
  extensions: x509.Extension[]
}

async function certify(given: Certification): Promise<x509.X509Certificate> {
  const publicKey = webKey(given.publicKey)
  const serial = Buffer.from((given.random ?? randomBytes)(SERIAL_BYTES))
  // RFC 5280 4.1.2.2: positive. With the top bit clear and the next one set it is positive and of constant length.
  serial[0] = ((serial[0] ?? 0) & 0x3f) | 0x40
  return x509.X509CertificateGenerator.create({
    serialNumber: serial.toString('hex'),
    subject: nameOf(given.subject),
    issuer: typeof given.issuer === 'string' ? nameOf(given.issuer) : given.issuer,
    notBefore: given.notBefore,
    notAfter: given.notAfter,
    publicKey,
    signingKey: given.signingKey.toCryptoKey(ALGORITHM, true, ['sign']),
    signingAlgorithm: ALGORITHM,
    extensions: [...given.extensions, await x509.SubjectKeyIdentifierExtension.create(publicKey)],
  })
}

function nameOf(commonName: string): x509.JsonName {
  if (!NAME.test(commonName)) {
    throw new TypeError(`not a name that a certificate of this kit can carry: ${JSON.stringify(commonName)}`)
  }
  return [{ CN: [commonName] }]
}

function caExtensions(pathLength: number): x509.Extension[] {
  return [
    new x509.BasicConstraintsExtension(true, pathLength, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
  ]
}

function webKey(publicKey: KeyObject): webcrypto.CryptoKey {
  return publicKey.toCryptoKey(ALGORITHM, true, ['verify'])
}

function pem(privateKey: KeyObject): string {
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}
