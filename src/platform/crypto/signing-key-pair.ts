import { generateKeyPair } from 'node:crypto'
import { promisify } from 'node:util'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import { type KeyPlace, type NewSigningKey, sealPrivateKey } from './signing-key-rows.ts'

const generateEcKey = promisify(generateKeyPair)

/** A new key, its private half sealed for its row. */
export async function makeSigningKey({ environment, family }: KeyPlace, sealer: Sealer): Promise<NewSigningKey> {
  const { publicKey, privateKey } = await generateEcKey('ec', { namedCurve: 'P-256' })
  const { x, y } = publicKey.export({ format: 'jwk' })
  if (x === undefined || y === undefined) throw new Error('node:crypto exported a P-256 key without coordinates')
  const jwk = { kty: 'EC', crv: 'P-256', x, y } as const
  // RFC 7638 3.2: the required members in lexicographic order without spaces, which is their canonical JSON.
  const kid = sha256Base64url(canonicalize(jwk))
  const der = privateKey.export({ format: 'der', type: 'pkcs8' })
  const sealed = sealPrivateKey(sealer, { environment, family, kid }, der)
  return { environment, family, kid, public_jwk: jwk, sealed_private_key: sealed }
}
