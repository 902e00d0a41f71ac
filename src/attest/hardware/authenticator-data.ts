// Authenticator data as App Attest sends it: WebAuthn 6.1 (Web Authentication Level 2), with Apple's own use of the
// flags. No byte may be left over. All of it is signed by Apple or by the attested key, so an accepted form can't be
// forged; the forms below only serve honest devices.

import { type DecodeOptions, decode, decodeFirst } from 'cborg'

export interface AuthenticatorData {
  /** SHA-256 of the app's identifier. */
  rpIdHash: Buffer
  /** uint32: how many assertions the key has made. */
  counter: number
  /** Only where a key is attested. */
  credential: Credential | undefined
}

export interface Credential {
  aaguid: Buffer
  id: Buffer
}

/** Strict: one encoding per value, no indefinite lengths, no duplicate keys, no bytes left over. Maps stay maps. */
export const STRICT_CBOR: DecodeOptions = {
  strict: true,
  allowIndefinite: false,
  allowUndefined: false,
  allowInfinity: false,
  allowNaN: false,
  rejectDuplicateMapKeys: true,
  useMaps: true,
}

/**
 * Reads the data of an attestation: it holds the attested key, and since iOS 27 extensions after it. Undefined for
 * invalid data. Apple's own sample has extensions without their flag, so the flag only means that they must be present.
 */
export function readAttestedData(bytes: Buffer): (AuthenticatorData & { credential: Credential }) | undefined {
  const head = readHead(bytes)
  if (head === undefined || !head.hasCredential) return undefined
  const attested = readCredential(bytes.subarray(HEAD_BYTES))
  if (attested === undefined || !areExtensions(attested.rest, head.hasExtensions)) return undefined
  return { rpIdHash: head.rpIdHash, counter: head.counter, credential: attested.credential }
}

/**
 * Reads the data of an assertion: 37 bytes, and since iOS 27 extensions. Apple sets the flag of a credential (0x40) in
 * every assertion and sends none. Data that follows the WebAuthn rules instead, a credential and then extensions, is
 * accepted as well. Undefined for invalid data.
 */
export function readAssertedData(bytes: Buffer): AuthenticatorData | undefined {
  const head = readHead(bytes)
  if (head === undefined) return undefined
  const { rpIdHash, counter, hasCredential, hasExtensions } = head
  const rest = bytes.subarray(HEAD_BYTES)
  if (areExtensions(rest, hasExtensions)) return { rpIdHash, counter, credential: undefined }
  const attested = hasCredential ? readCredential(rest) : undefined
  if (attested === undefined || !areExtensions(attested.rest, hasExtensions)) return undefined
  return { rpIdHash, counter, credential: attested.credential }
}

const HEAD_BYTES = 37
const HAS_CREDENTIAL = 0x40
const HAS_EXTENSIONS = 0x80
const AAGUID_BYTES = 16
// WebAuthn 6.5.1: a credential's id has at most 1,023 bytes. Apple's is a SHA-256.
const MAX_ID_BYTES = 1_023
// A COSE key of P-256 has 77 bytes, Apple's two extensions some 65.
const MAX_KEY_BYTES = 512
const MAX_EXTENSION_BYTES = 512

interface Head {
  rpIdHash: Buffer
  counter: number
  hasCredential: boolean
  hasExtensions: boolean
}

function readHead(bytes: Buffer): Head | undefined {
  if (bytes.length < HEAD_BYTES) return undefined
  const flags = bytes.readUInt8(32)
  return {
    rpIdHash: bytes.subarray(0, 32),
    counter: bytes.readUInt32BE(33),
    hasCredential: (flags & HAS_CREDENTIAL) !== 0,
    hasExtensions: (flags & HAS_EXTENSIONS) !== 0,
  }
}

// WebAuthn 6.5.1: AAGUID, length of the id, id, COSE key. The key is skipped: it is the certificate's, which Apple
// vouches for.
function readCredential(bytes: Buffer): { credential: Credential; rest: Buffer } | undefined {
  const idAt = AAGUID_BYTES + 2
  if (bytes.length < idAt) return undefined
  const idLength = bytes.readUInt16BE(AAGUID_BYTES)
  const keyAt = idAt + idLength
  if (idLength > MAX_ID_BYTES || keyAt >= bytes.length) return undefined
  const rest = stepOverMap(bytes.subarray(keyAt))
  if (rest === undefined) return undefined
  return { credential: { aaguid: bytes.subarray(0, AAGUID_BYTES), id: bytes.subarray(idAt, keyAt) }, rest }
}

function stepOverMap(bytes: Buffer): Buffer | undefined {
  try {
    const [value, rest] = decodeFirst(bytes, STRICT_CBOR)
    if (!(value instanceof Map) || bytes.length - rest.length > MAX_KEY_BYTES) return undefined
    return bytes.subarray(bytes.length - rest.length)
  } catch {
    return undefined // The decoder throws on invalid bytes, and on nesting beyond the stack.
  }
}

// WebAuthn 9.5: one CBOR map, keyed by the names of extensions.
function areExtensions(bytes: Buffer, isFlagged: boolean): boolean {
  if (bytes.length === 0) return !isFlagged
  if (bytes.length > MAX_EXTENSION_BYTES) return false
  try {
    const value: unknown = decode(bytes, STRICT_CBOR)
    return value instanceof Map && value.size > 0 && [...value.keys()].every((name) => typeof name === 'string')
  } catch {
    return false
  }
}
