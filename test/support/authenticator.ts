// A passkey authenticator in software, with the browser around it: it answers the options of the service as `toJSON()` of a
// credential does, and lies where a test says so.

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { encode } from 'cborg'
import type { AssertionResponse, RegistrationResponse } from '#src/authorize/passkeys/bodies.ts'

export type TestAlgorithm = 'ES256' | 'EdDSA' | 'RS256'

interface Lies {
  origin?: string
  rpId?: string
  type?: string
  /** base64url. */
  challenge?: string
  /** Members of clientDataJSON beside its usual ones. */
  clientData?: Record<string, unknown>
  isUserPresent?: boolean
  isUserVerified?: boolean
  isBackupEligible?: boolean
  isBackedUp?: boolean
  counter?: number
  /** Bytes after the authenticator data, signed with it. */
  trailing?: Buffer
}

export interface RegistrationLies extends Lies {
  /** COSE_Key. */
  publicKey?: Buffer
  format?: string
  statement?: Record<string, unknown>
}

export interface AssertionLies extends Lies {
  signature?: (signature: Buffer) => Buffer
  userHandle?: string | undefined
  flags?: number
}

/** What the service asks with, as far as an authenticator reads it. */
interface CreationOptions {
  challenge: string
  rp: { id: string }
  user: { id: string }
}
interface RequestOptions {
  challenge: string
  rpId: string
}

export type Authenticator = ReturnType<typeof createAuthenticator>

export function createAuthenticator({
  algorithm = 'ES256',
  origin = 'http://localhost:8080',
  aaguid = Buffer.alloc(16),
}: {
  algorithm?: TestAlgorithm
  origin?: string
  aaguid?: Buffer
} = {}) {
  const { publicKey, privateKey } = makeKeys(algorithm)
  const credentialId = randomBytes(32)
  const id = credentialId.toString('base64url')
  let userHandle: string | undefined
  let counter = 0

  const clientDataOf = (type: string, challenge: string, lies: Lies) =>
    Buffer.from(
      JSON.stringify({
        type: lies.type ?? type,
        challenge: lies.challenge ?? challenge,
        origin: lies.origin ?? origin,
        crossOrigin: false,
        ...lies.clientData,
      }),
    )
  const headOf = (rpId: string, lies: Lies, more: number) => {
    const head = Buffer.alloc(5)
    const flags =
      (lies.isUserPresent === false ? 0 : 0x01) |
      (lies.isUserVerified === false ? 0 : 0x04) |
      (lies.isBackupEligible === true ? 0x08 : 0) |
      (lies.isBackedUp === true ? 0x10 : 0) |
      more
    head.writeUInt8(flags)
    head.writeUInt32BE(lies.counter ?? counter, 1)
    return Buffer.concat([sha256(lies.rpId ?? rpId), head])
  }

  return {
    id,
    credentialId,
    coseKey: coseKeyOf(publicKey, algorithm),

    register(options: CreationOptions, lies: RegistrationLies = {}): RegistrationResponse {
      userHandle = options.user.id
      const clientData = clientDataOf('webauthn.create', options.challenge, lies)
      const length = Buffer.alloc(2)
      length.writeUInt16BE(credentialId.length)
      const authData = Buffer.concat([
        headOf(options.rp.id, lies, 0x40),
        aaguid,
        length,
        credentialId,
        lies.publicKey ?? coseKeyOf(publicKey, algorithm),
        lies.trailing ?? Buffer.alloc(0),
      ])
      const attestation = { fmt: lies.format ?? 'none', attStmt: lies.statement ?? {}, authData }
      return {
        id,
        rawId: id,
        type: 'public-key',
        response: {
          clientDataJSON: clientData.toString('base64url'),
          attestationObject: Buffer.from(encode(attestation)).toString('base64url'),
          transports: ['internal'],
        },
      }
    },

    /** Counts one more than before, unless the test names the counter. */
    assert(options: RequestOptions, lies: AssertionLies = {}): AssertionResponse {
      counter += 1
      const clientData = clientDataOf('webauthn.get', options.challenge, lies)
      const authenticatorData = Buffer.concat([
        headOf(options.rpId, lies, lies.flags ?? 0),
        lies.trailing ?? Buffer.alloc(0),
      ])
      const signed = Buffer.concat([authenticatorData, sha256(clientData)])
      const signature = sign(algorithm === 'EdDSA' ? null : 'sha256', signed, privateKey)
      const handle = 'userHandle' in lies ? lies.userHandle : userHandle
      return {
        id,
        rawId: id,
        type: 'public-key',
        authenticatorAttachment: 'platform',
        response: {
          clientDataJSON: clientData.toString('base64url'),
          authenticatorData: authenticatorData.toString('base64url'),
          signature: (lies.signature?.(signature) ?? signature).toString('base64url'),
          ...(handle !== undefined && { userHandle: handle }),
        },
      }
    },
  }
}

/** COSE_Key of an RSA key, for keys that no authenticator has. */
export function coseRsaKey(n: Buffer, e: Buffer): Buffer {
  return Buffer.from(
    encode(
      new Map<number, unknown>([
        [1, 3],
        [3, -257],
        [-1, n],
        [-2, e],
      ]),
    ),
  )
}

export function coseMap(members: [label: number, value: unknown][]): Buffer {
  return Buffer.from(encode(new Map(members)))
}

function makeKeys(algorithm: TestAlgorithm): { publicKey: KeyObject; privateKey: KeyObject } {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' })
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519')
  return generateKeyPairSync('rsa', { modulusLength: 2_048 })
}

function coseKeyOf(key: KeyObject, algorithm: TestAlgorithm): Buffer {
  const jwk = key.export({ format: 'jwk' })
  const bytes = (value: string | undefined) => Buffer.from(value ?? '', 'base64url')
  if (algorithm === 'RS256') return coseRsaKey(bytes(jwk.n), bytes(jwk.e))
  if (algorithm === 'EdDSA')
    return coseMap([
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, bytes(jwk.x)],
    ])
  return coseMap([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, bytes(jwk.x)],
    [-3, bytes(jwk.y)],
  ])
}

function sha256(data: Buffer | string): Buffer {
  return createHash('sha256').update(data).digest()
}
