// Signs and verifies with the deployment's keys. Opened keys stay in memory, one for each key that was ever used.

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { signEcdsaP256 } from '#src/platform/crypto/ecdsa.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { Environment } from '#src/platform/ids.ts'
import { openPrivateKey, type StoredSigningKey } from './signing-key-rows.ts'

/** A key that verifies tokens, ready for use. */
export interface TokenKey {
  kid: string
  environment: Environment
  publicKey: KeyObject
}

export function createKeyMaterial(sealer: Sealer) {
  const opened = new Map<string, KeyObject>()
  const tokenKeys = new Map<string, TokenKey>()

  return {
    /** A compact JWS (RFC 7515 7.1). `header` and `payload` are JSON. */
    async sign(key: StoredSigningKey, header: string, payload: string): Promise<string> {
      const input = `${encode(header)}.${encode(payload)}`
      const signature = await signEcdsaP256(open(key), Buffer.from(input))
      return `${input}.${signature.toString('base64url')}`
    },

    tokenKey({ kid, environment, public_jwk }: StoredSigningKey): TokenKey {
      const known = tokenKeys.get(kid)
      if (known !== undefined) return known
      const made = { kid, environment, publicKey: createPublicKey({ key: { ...public_jwk }, format: 'jwk' }) }
      tokenKeys.set(kid, made)
      return made
    },
  }

  function open(key: StoredSigningKey): KeyObject {
    const known = opened.get(key.kid)
    if (known !== undefined) return known
    const privateKey = createPrivateKey({ key: openPrivateKey(sealer, key), format: 'der', type: 'pkcs8' })
    opened.set(key.kid, privateKey)
    return privateKey
  }
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url')
}
