// Apple App Attest proves that a key sits in the Secure Enclave of an Apple device and was made by one of our apps; its
// assertions are verified here too. The receipt in the object is for Apple's servers and is not read.

import { decode } from 'cborg'
import { readCertificateExtensions } from '#src/platform/crypto/certificate-fields.ts'
import { isSignedBy } from '#src/platform/crypto/chain-path.ts'
import { expectTag, readDerElements, readOnly } from '#src/platform/crypto/der.ts'
import { isEqualBytes, sha256 } from '#src/platform/crypto/digest.ts'
import { isP256Spki, verifyEcdsaP256 } from '#src/platform/crypto/ecdsa.ts'
import { type Certificate, parseChain } from '#src/platform/crypto/x509.ts'
import { type AuthenticatorData, readAssertedData, readAttestedData, STRICT_CBOR } from './authenticator-data.ts'
import { linkProblem, unreadable } from './chain-link.ts'
import type { VendorKey } from './roots.ts'
import { type AppleFacts, type EvidenceVerdict, isProven, type Reason, reason, unproven } from './verdict.ts'

export interface AppleApp {
  /** Team and bundle identifier: `6MURL8TA57.com.example.app`. */
  appId: string
}

export interface AppleInput {
  /** The attestation object (CBOR). */
  object: Uint8Array
  /** Keys of the vendor's root certificates. */
  roots: readonly VendorKey[]
  /** SHA-256 of the data that the key was attested for. */
  clientDataHash: Uint8Array
  /** The key id that the app states (SHA-256 of the key); not compared when undefined. */
  keyId?: Uint8Array | undefined
  apps: readonly AppleApp[]
  /** Whether apps built for development count. */
  isDevelopmentAllowed: boolean
  at: Date
}

/**
 * The clientDataHash that the app must pass, so that attesting one key vouches for the other, which signs the captures.
 */
export function enrollmentHash(spki: Uint8Array, challenge: Uint8Array): Buffer {
  return sha256(Buffer.concat([spki, challenge]))
}

export function verifyAppAttestation(input: AppleInput): EvidenceVerdict {
  const parsed = parseAttestation(input.object)
  if ('code' in parsed) return unproven(FORMAT, parsed)
  const { leaf, intermediate, authData, authDataBytes, nonce } = parsed
  const { credential } = authData

  const broken = chainReason(leaf, intermediate, input)
  if (broken !== undefined) return unproven(FORMAT, broken)
  const expected = sha256(Buffer.concat([authDataBytes, input.clientDataHash]))
  if (!isEqualBytes(nonce, expected)) {
    return unproven(FORMAT, reason('nonce_mismatch', 'was made for another key or another challenge'))
  }
  const keyId = sha256(pointOf(leaf))
  if (!isEqualBytes(credential.id, keyId) || (input.keyId !== undefined && !isEqualBytes(input.keyId, keyId))) {
    return unproven(FORMAT, reason('key_id_mismatch', 'its key has another identifier'))
  }
  if (authData.counter !== 0) {
    return unproven(FORMAT, reason('counter_not_zero', `its counter is ${authData.counter}, a new key’s is 0`))
  }
  const environment = AAGUIDS.find(({ aaguid }) => credential.aaguid.equals(aaguid))?.environment
  if (environment === undefined) return unproven(FORMAT, reason('malformed', 'is of an unknown authenticator'))

  const appId = input.apps.find((app) => sha256(app.appId).equals(authData.rpIdHash))?.appId ?? null
  const reasons: Reason[] = []
  if (appId === null) reasons.push(reason('app_unknown', 'was made by none of the expected apps'))
  if (environment === 'development' && !input.isDevelopmentAllowed) {
    reasons.push(reason('app_environment', 'was made by an app that is built for development'))
  }
  const facts: AppleFacts = { format: FORMAT, environment, appId, keyId: keyId.toString('base64'), counter: 0 }
  const tier = reasons.length === 0 ? 'secure_enclave' : 'none'
  return {
    format: FORMAT,
    tier,
    provenTier: tier,
    reasons,
    facts,
    // Apple publishes no list of revoked keys.
    serials: [],
    revocation: { state: 'not_applicable' },
    attestKey: isProven(reasons) && reasons.length === 0 ? { spki: leaf.spki, counter: 0 } : null,
  }
}

export interface AssertionInput {
  /** CBOR. */
  assertion: Uint8Array
  /** The attested key (DER SubjectPublicKeyInfo). */
  spki: Uint8Array
  appId: string
  /** SHA-256 of the signed data: the canonical bundle. */
  clientDataHash: Uint8Array
  /** The counter must be above this one. */
  counterAbove: number
}

export type AssertionCode = 'malformed' | 'wrong_app' | 'bad_signature' | 'counter_not_above'

export type AssertionVerdict =
  | { isValid: true; counter: number }
  | { isValid: false; code: AssertionCode; counter: number | null }

/** Never rejects, whatever the bytes. */
export async function verifyAppleAssertion(input: AssertionInput): Promise<AssertionVerdict> {
  const parsed = parseAssertion(input.assertion)
  if (parsed === undefined) return { isValid: false, code: 'malformed', counter: null }
  const { signature, data, dataBytes } = parsed
  const nonce = sha256(Buffer.concat([dataBytes, input.clientDataHash]))
  // Until the signature is verified, anyone could have chosen the counter.
  if (!(await verifyEcdsaP256({ spki: input.spki, data: nonce, signature }))) {
    return { isValid: false, code: 'bad_signature', counter: null }
  }
  const { counter } = data
  if (!isEqualBytes(data.rpIdHash, sha256(input.appId))) return { isValid: false, code: 'wrong_app', counter }
  if (counter <= input.counterAbove) return { isValid: false, code: 'counter_not_above', counter }
  return { isValid: true, counter }
}

const FORMAT = 'apple-appattest'
/** Real objects have 3 to 6 KiB. */
export const MAX_OBJECT_BYTES = 16 * 1024
const MAX_ASSERTION_BYTES = 1024
const NONCE_OID = '1.2.840.113635.100.8.2'
// Apple documentation, "Validating apps that connect to your server".
const AAGUIDS = [
  { environment: 'production', aaguid: Buffer.concat([Buffer.from('appattest'), Buffer.alloc(7)]) },
  { environment: 'development', aaguid: Buffer.from('appattestdevelop') },
] as const

interface Attestation {
  leaf: Certificate
  intermediate: Certificate
  authData: NonNullable<ReturnType<typeof readAttestedData>>
  authDataBytes: Buffer
  /** Nonce in the certificate: SHA-256 of authenticator data and clientDataHash. */
  nonce: Buffer
}

/** The parts, or why the object is invalid. */
function parseAttestation(bytes: Uint8Array): Attestation | Reason {
  const object = decodeMap(bytes, MAX_OBJECT_BYTES)
  const statement = object?.get('attStmt')
  const authDataBytes = bytesOf(object?.get('authData'))
  const x5c = statement instanceof Map ? statement.get('x5c') : undefined
  if (object?.get('fmt') !== FORMAT || authDataBytes === undefined || !Array.isArray(x5c) || x5c.length !== 2) {
    return reason('malformed', 'is not an App Attest object with two certificates')
  }
  const chain = parseChain(x5c.map((der) => bytesOf(der) ?? Buffer.alloc(0)))
  if (!chain.ok) return unreadable(chain)
  const [leaf, intermediate] = chain.certificates
  if (leaf === undefined || intermediate === undefined || !isP256Spki(leaf.spki))
    return reason('malformed', 'its key is not P-256')
  const authData = readAttestedData(authDataBytes)
  if (authData === undefined) return reason('malformed', 'its authenticator data attest no key')
  const nonce = readNonce(leaf)
  if (nonce === undefined) return reason('malformed', 'its certificate has no nonce that can be read')
  return { leaf, intermediate, authData, authDataBytes, nonce }
}

function chainReason(leaf: Certificate, intermediate: Certificate, { roots, at }: AppleInput): Reason | undefined {
  const broken = linkProblem(leaf, intermediate, 0)
  if (broken !== undefined) return broken
  if (!intermediate.isCa || leaf.isCa) return reason('issuer_not_ca', 'its certificates are not in their places')
  if (!roots.some((root) => isSignedBy(intermediate, root))) {
    return reason('root_unknown', 'does not lead to a root of the vendor')
  }
  const chain = [leaf, intermediate]
  if (chain.some(({ notBefore }) => at < notBefore)) return reason('not_yet_valid', 'is not valid yet')
  if (chain.some(({ notAfter }) => at > notAfter)) return reason('expired', 'is not valid any more')
  return undefined
}

// SEQUENCE { [1] { OCTET STRING } }
function readNonce({ der }: Certificate): Buffer | undefined {
  try {
    const value = readCertificateExtensions(der).get(NONCE_OID)?.value
    if (value === undefined) return undefined
    const [wrapped, ...rest] = readDerElements(readOnly(value, 0x30).content)
    const nonce = readOnly(expectTag(wrapped, 0xa1).content, 0x04).content
    return rest.length === 0 && nonce.length === 32 ? nonce : undefined
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

// A P-256 SubjectPublicKeyInfo ends with the uncompressed point: 0x04, X, Y.
function pointOf({ spki }: Certificate): Buffer {
  return spki.subarray(-65)
}

function parseAssertion(
  bytes: Uint8Array,
): { signature: Buffer; data: AuthenticatorData; dataBytes: Buffer } | undefined {
  const object = decodeMap(bytes, MAX_ASSERTION_BYTES)
  const signature = bytesOf(object?.get('signature'))
  const dataBytes = bytesOf(object?.get('authenticatorData'))
  const data = dataBytes && readAssertedData(dataBytes)
  if (signature === undefined || dataBytes === undefined || data === undefined) return undefined
  return { signature, data, dataBytes }
}

function decodeMap(bytes: Uint8Array, maxBytes: number): Map<unknown, unknown> | undefined {
  if (bytes.byteLength > maxBytes) return undefined
  try {
    const value: unknown = decode(bytes, STRICT_CBOR)
    return value instanceof Map ? value : undefined
  } catch {
    return undefined // Whatever the parser throws (also for nesting beyond the stack), these bytes are no App Attest object.
  }
}

function bytesOf(value: unknown): Buffer | undefined {
  return value instanceof Uint8Array ? Buffer.from(value) : undefined
}
