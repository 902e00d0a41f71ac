// Authenticator data of App Attest (WebAuthn 6.1) in the forms that phones send. Up to iOS 26 it holds only what App
// Attest needs. iOS 27 adds extensions: to attestations without setting their flag, to assertions with the flag and
// with that of an absent credential (0xC0, 102 bytes). The strict WebAuthn form sets each flag for what is present.
import { createHash, type KeyObject } from 'node:crypto'
import { encode } from 'cborg'

export type AuthenticatorForm = 'ios14' | 'ios27' | 'webauthn'

export const AAGUIDS = {
  production: Buffer.concat([Buffer.from('appattest'), Buffer.alloc(7)]),
  development: Buffer.from('appattestdevelop'),
}

export interface AuthenticatorHead {
  appId: string
  form: AuthenticatorForm
  counter: number
}

export interface AttestedKey {
  environment: keyof typeof AAGUIDS
  keyId: Buffer
  publicKey: KeyObject
}

/** For an attestation. */
export function attestedData(head: AuthenticatorHead, key: AttestedKey): Buffer {
  const flags = head.form === 'webauthn' ? HAS_CREDENTIAL | HAS_EXTENSIONS : HAS_CREDENTIAL
  const extensions = head.form === 'ios14' ? [] : [extensionsOf(key.environment)]
  return Buffer.concat([headOf(head, flags), credentialOf(key), ...extensions])
}

/** For an assertion. */
export function assertedData(head: AuthenticatorHead, key: AttestedKey): Buffer {
  if (head.form === 'ios14') return headOf(head, HAS_CREDENTIAL)
  const credential = head.form === 'webauthn' ? [credentialOf(key)] : []
  return Buffer.concat([headOf(head, HAS_CREDENTIAL | HAS_EXTENSIONS), ...credential, extensionsOf(key.environment)])
}

const HAS_CREDENTIAL = 0x40
const HAS_EXTENSIONS = 0x80
// Apple's launch constraints: 3 is a build for development, 4 one of the App Store.
const CATEGORIES = { development: 3, production: 4 }

function headOf({ appId, counter }: AuthenticatorHead, flags: number): Buffer {
  const rest = Buffer.alloc(5)
  rest[0] = flags
  rest.writeUInt32BE(counter, 1)
  return Buffer.concat([createHash('sha256').update(appId).digest(), rest])
}

// WebAuthn 6.5.1, and RFC 9053 7.1.1 for the key: EC2, ES256, P-256, x, y.
function credentialOf({ environment, keyId, publicKey }: AttestedKey): Buffer {
  const point = publicKey.export({ type: 'spki', format: 'der' }).subarray(-64)
  const length = Buffer.alloc(2)
  length.writeUInt16BE(keyId.length)
  const key = new Map<number, number | Uint8Array>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, point.subarray(0, 32)],
    [-3, point.subarray(32)],
  ])
  return Buffer.concat([AAGUIDS[environment], length, keyId, encode(key)])
}

function extensionsOf(environment: AttestedKey['environment']): Uint8Array {
  const category = Buffer.alloc(4)
  category.writeUInt32LE(CATEGORIES[environment])
  return encode({ apple_bundle_version_01: '1.10', apple_validation_category_01: category })
}
