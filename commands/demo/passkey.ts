// A passkey in software, with the browser around it: it answers the options of the service as `toJSON()` of a credential does. A
// person's phone or security key does this; the service checks the answers all the same.

import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { encode } from 'cborg'

export interface Passkey {
  /** The answer to options of POST /v1/passkeys/registration-options. */
  register(options: { challenge: string; rp: { id: string } }): object
  /** The answer to options of a challenge. */
  assert(options: { challenge: string; rpId: string }): object
}

// WebAuthn, 6.1: the user was present and verified; attested credential data follows.
const [PRESENT_AND_VERIFIED, HAS_CREDENTIAL] = [0x05, 0x40]
// COSE (RFC 9053, 7.1): an elliptic curve key for ES256 on P-256.
const [KTY, ALG, CRV, X, Y] = [1, 3, -1, -2, -3]

/** @param origin Where the page stands that asks. */
export function createPasskey(origin: string): Passkey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const credentialId = randomBytes(32)
  const id = credentialId.toString('base64url')
  let counter = 0

  const headOf = (rpId: string, flags: number) => {
    const head = Buffer.alloc(5)
    head.writeUInt8(flags)
    head.writeUInt32BE(counter, 1)
    return Buffer.concat([sha256(rpId), head])
  }
  const clientDataOf = (type: string, challenge: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  const answerOf = (clientData: Buffer, response: object) => ({
    id,
    rawId: id,
    type: 'public-key',
    response: { clientDataJSON: clientData.toString('base64url'), ...response },
  })

  return {
    register({ challenge, rp }) {
      const key = new Map<number, number | Uint8Array>([
        [KTY, 2],
        [ALG, -7],
        [CRV, 1],
        [X, Buffer.from(x, 'base64url')],
        [Y, Buffer.from(y, 'base64url')],
      ])
      const length = Buffer.alloc(2)
      length.writeUInt16BE(credentialId.length)
      const authData = Buffer.concat([
        headOf(rp.id, PRESENT_AND_VERIFIED | HAS_CREDENTIAL),
        Buffer.alloc(16),
        length,
        credentialId,
        encode(key),
      ])
      const attestation = encode({ fmt: 'none', attStmt: {}, authData })
      return answerOf(clientDataOf('webauthn.create', challenge), {
        attestationObject: Buffer.from(attestation).toString('base64url'),
        transports: ['internal'],
      })
    },
    assert({ challenge, rpId }) {
      counter += 1
      const clientData = clientDataOf('webauthn.get', challenge)
      const authenticatorData = headOf(rpId, PRESENT_AND_VERIFIED)
      const signature = sign('sha256', Buffer.concat([authenticatorData, sha256(clientData)]), privateKey)
      return answerOf(clientData, {
        authenticatorData: authenticatorData.toString('base64url'),
        signature: signature.toString('base64url'),
      })
    },
  }
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}
