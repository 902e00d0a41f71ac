// Authenticator data as App Attest sends it (WebAuthn 6.1, with Apple's own meaning of flags and counter).

export interface AuthenticatorData {
  /** SHA-256 of the app's identifier. */
  rpIdHash: Buffer
  /** uint32: how many assertions the key has made. */
  counter: number
  /** Only where a key is attested. */
  credential: { aaguid: Buffer; id: Buffer } | undefined
}

const HEAD_BYTES = 37
const CREDENTIAL_BYTES = 18

/** Undefined when the bytes can't be such data. What follows the credential's id (its COSE key) is not read. */
export function readAuthenticatorData(bytes: Buffer): AuthenticatorData | undefined {
  if (bytes.length < HEAD_BYTES) return undefined
  const head = { rpIdHash: bytes.subarray(0, 32), counter: bytes.readUInt32BE(33) }
  if (bytes.length === HEAD_BYTES) return { ...head, credential: undefined }
  if (bytes.length < HEAD_BYTES + CREDENTIAL_BYTES) return undefined
  const idAt = HEAD_BYTES + CREDENTIAL_BYTES
  const idLength = bytes.readUInt16BE(idAt - 2)
  if (idAt + idLength > bytes.length) return undefined
  return {
    ...head,
    credential: { aaguid: bytes.subarray(HEAD_BYTES, HEAD_BYTES + 16), id: bytes.subarray(idAt, idAt + idLength) },
  }
}
