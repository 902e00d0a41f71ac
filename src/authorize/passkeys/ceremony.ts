// Verifies the two ceremonies of WebAuthn Level 3: registration (7.1) and authentication (7.2). What a caller can get wrong
// is judged here first, each with its place and code; the library then verifies all of it again, and the signature.

import type { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server'
import { type Failure, invalidField } from '#src/failure.ts'
import type { FieldErrorCode } from '#src/field-errors.ts'
import { expectTag, readDerElements, readOnly } from '#src/platform/crypto/der.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import {
  ALGORITHM_NAMES,
  ALGORITHMS,
  type AuthenticatorFacts,
  type PasskeyAlgorithm,
  readAlgorithm,
  readAuthenticatorFacts,
  readMap,
} from './authenticator-data.ts'
import type { AssertionResponse, RegistrationResponse } from './bodies.ts'
import type { RelyingParty } from './config.ts'

/** What is kept of a new passkey. */
export interface Registered {
  credentialId: Buffer
  /** COSE_Key. */
  publicKey: Buffer
  algorithm: PasskeyAlgorithm
  counter: number
  aaguid: string
  transports: string[]
  isBackupEligible: boolean
  isBackedUp: boolean
}

/** What is known of a passkey when it signs. */
export interface KnownCredential {
  credentialId: Buffer
  publicKey: Buffer
  algorithm: PasskeyAlgorithm
  isBackupEligible: boolean
}

export interface Asserted {
  /** Signature counter, which is compared with the previous one. */
  counter: number
  isBackedUp: boolean
}

interface Expected {
  rp: RelyingParty
  challenge: Buffer
  /** Where the response stands in the request. */
  pointer: string
}

// 400 ms and 27 MB, which processes that verify no passkeys do without. Loaded once.
let library: Promise<Library> | undefined
type Library = {
  verifyAuthenticationResponse: typeof verifyAuthenticationResponse
  verifyRegistrationResponse: typeof verifyRegistrationResponse
}

/** Called early by the process that verifies: no request waits for it then. */
export function loadWebauthn(): Promise<Library> {
  library ??= import('@simplewebauthn/server')
  return library
}

/** @throws {Failure} `invalid_request` */
export async function verifyRegistration(response: RegistrationResponse, expected: Expected): Promise<Registered> {
  const at = placesOf(expected.pointer)
  const { clientDataJSON, attestationObject, transports = [] } = response.response
  checkClientData(clientDataJSON, { ...expected, type: 'webauthn.create' })
  const attestation = readMap(Buffer.from(attestationObject, 'base64url'))
  const data = attestation?.get('authData')
  if (attestation?.size !== 3 || !(data instanceof Uint8Array)) throw at.attestation('malformed', 'can’t be read')
  checkStatement(attestation.get('fmt'), attestation.get('attStmt'), at.attestation)
  const facts = checkFacts(Buffer.from(data), expected.rp, at.attestation)
  const { credential } = facts
  if (credential === undefined) throw at.attestation('malformed', 'has no credential')
  const key = readAlgorithm(credential.publicKey)
  if (typeof key === 'string') throw at.attestation('unsupported_key', `has a public key that ${key}`)
  if (response.id !== credential.id.toString('base64url') || response.rawId !== response.id) {
    throw invalidField(`${expected.pointer}/id`, 'mismatch', 'must be the id of the credential')
  }
  await verifying(at.attestation('invalid_signature', 'can’t be verified'), async () => {
    const { verifyRegistrationResponse } = await loadWebauthn()
    const { verified } = await verifyRegistrationResponse({
      response: { ...response, authenticatorAttachment: undefined, clientExtensionResults: {} } as never,
      expectedChallenge: expected.challenge.toString('base64url'),
      expectedOrigin: [...expected.rp.origins],
      expectedRPID: expected.rp.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHM_NAMES.map((name) => ALGORITHMS[name]),
    })
    return verified
  })
  return {
    credentialId: credential.id,
    publicKey: credential.publicKey,
    algorithm: key.algorithm,
    counter: facts.counter,
    aaguid: credential.aaguid,
    transports: [...new Set(transports)],
    isBackupEligible: facts.isBackupEligible,
    isBackedUp: facts.isBackedUp,
  }
}

/** The counter is left to the caller, who judges it when the signature is known to be genuine. @throws {Failure} `invalid_request` */
export async function verifyPasskeyAssertion(
  response: AssertionResponse,
  known: KnownCredential,
  expected: Expected,
): Promise<Asserted> {
  const at = placesOf(expected.pointer)
  // The library does not compare them.
  if (response.id !== known.credentialId.toString('base64url') || response.rawId !== response.id) {
    throw invalidField(`${expected.pointer}/id`, 'mismatch', 'must be the id of the passkey')
  }
  checkClientData(response.response.clientDataJSON, { ...expected, type: 'webauthn.get' })
  const data = Buffer.from(response.response.authenticatorData, 'base64url')
  const facts = checkFacts(data, expected.rp, at.authenticatorData)
  // 6.1: only a registration contains a credential.
  if (facts.credential !== undefined) throw at.authenticatorData('malformed', 'contains a credential')
  if (facts.isBackupEligible !== known.isBackupEligible) {
    throw at.authenticatorData(
      'backup_eligibility_changed',
      'differs from its registration in whether it may be backed up: remove the passkey, and register it again',
    )
  }
  const refusal = at.signature('invalid_signature', 'is not the signature of this passkey')
  if (known.algorithm === 'ES256' && !isDerSignature(Buffer.from(response.response.signature, 'base64url')))
    throw refusal
  await verifying(refusal, async () => {
    const { verifyAuthenticationResponse } = await loadWebauthn()
    const { verified } = await verifyAuthenticationResponse({
      response: { ...response, authenticatorAttachment: undefined, clientExtensionResults: {} } as never,
      expectedChallenge: expected.challenge.toString('base64url'),
      expectedOrigin: [...expected.rp.origins],
      expectedRPID: expected.rp.id,
      requireUserVerification: true,
      // 0: the library would compare the counter before it knows the signature.
      credential: { id: response.id, publicKey: Uint8Array.from(known.publicKey), counter: 0 },
    })
    return verified
  })
  return { counter: facts.counter, isBackedUp: facts.isBackedUp }
}

type Refuse = (code: FieldErrorCode, detail: string) => Failure

function placesOf(pointer: string) {
  const place =
    (name: string): Refuse =>
    (code, detail) =>
      invalidField(`${pointer}/response/${name}`, code, detail)
  return {
    attestation: place('attestationObject'),
    authenticatorData: place('authenticatorData'),
    signature: place('signature'),
  }
}

// RFC 3279 2.2.3, in DER. The library accepts bytes after the sequence, and integers with more zeros than they need.
function isDerSignature(bytes: Buffer): boolean {
  try {
    const numbers = readDerElements(readOnly(bytes, SEQUENCE).content)
    return numbers.length === 2 && numbers.every((number) => isShortest(expectTag(number, INTEGER).content))
  } catch {
    return false
  }
}

const INTEGER = 0x02
const SEQUENCE = 0x30

function isShortest(integer: Buffer): boolean {
  const [first, second] = integer
  return first !== undefined && (first !== 0 || (second ?? 0) >= 0x80)
}

// The library throws on malformed signatures, and answers false to wrong ones.
async function verifying(refusal: Failure, verify: () => Promise<boolean>): Promise<void> {
  const isVerified = await verify().catch(() => false)
  if (!isVerified) throw refusal
}

const text = new TextDecoder('utf-8', { fatal: true })

function checkClientData(encoded: string, { rp, challenge, pointer, type }: Expected & { type: string }): void {
  const refuse: Refuse = (code, detail) => invalidField(`${pointer}/response/clientDataJSON`, code, detail)
  const data = parseObject(Buffer.from(encoded, 'base64url'))
  if (data === undefined) throw refuse('malformed', 'is no JSON object')
  if (data.type !== type) throw refuse('wrong_type', `must have the type ${type}`)
  if (data.challenge !== challenge.toString('base64url')) {
    throw refuse('wrong_challenge', 'must have the challenge of this request')
  }
  if (typeof data.origin !== 'string' || !rp.origins.includes(data.origin)) {
    throw refuse('wrong_origin', `must have one of the origins ${rp.origins.join(', ')}`)
  }
  // The library accepts crossOrigin where topOrigin is missing. No page of another site may embed the ceremony.
  if ((data.crossOrigin !== undefined && data.crossOrigin !== false) || data.topOrigin !== undefined) {
    throw refuse('cross_origin', 'must not come from a page inside another page')
  }
}

function parseObject(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text.decode(bytes))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

// Asked for no attestation, browsers send none, or the passkey's own signature. Certificates would be parsed for nothing.
function checkStatement(format: unknown, statement: unknown, refuse: Refuse): void {
  if (!(statement instanceof Map)) throw refuse('malformed', 'has no statement')
  if (format === 'none' && statement.size === 0) return
  if (format === 'packed' && statement.size === 2 && statement.has('alg') && statement.has('sig')) return
  throw refuse('unsupported_attestation', 'must have the format none, or packed with the passkey’s own signature')
}

function checkFacts(data: Buffer, rp: RelyingParty, refuse: Refuse): AuthenticatorFacts {
  const facts = readAuthenticatorFacts(data)
  if (facts === undefined) throw refuse('malformed', 'can’t be read')
  if (!facts.rpIdHash.equals(sha256(rp.id))) throw refuse('wrong_rp_id', `must be for the relying party ${rp.id}`)
  if (!facts.isUserPresent) throw refuse('user_not_present', 'must say that the user was present')
  if (!facts.isUserVerified) throw refuse('user_not_verified', 'must say that the user was verified')
  return facts
}
