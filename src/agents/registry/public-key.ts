// Public keys of agents, as JWK (RFC 7517). They say who an agent is to others; the service signs nothing with them.

import { createPublicKey } from 'node:crypto'
import { z } from 'zod'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import { ed25519Problem } from '#src/platform/crypto/ed25519.ts'

// 32 bytes in base64url. The last character has two bits that mean nothing: they are 0, so that a key has one spelling and
// one thumbprint.
const coordinate = z
  .string()
  .regex(/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/, 'must be 32 bytes in base64url, without padding')

// Strict: a private key has more members (`d`), and must not be stored.
export const publicKeyJwk = z
  .discriminatedUnion('kty', [
    z
      .strictObject({ kty: z.literal('EC'), crv: z.literal('P-256'), x: coordinate, y: coordinate })
      .meta({ id: 'P256PublicKey' }),
    z
      .strictObject({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: coordinate })
      .meta({ id: 'Ed25519PublicKey' }),
  ])
  .superRefine((key, context) => {
    const message = problemOf(key)
    if (message !== undefined) context.addIssue({ code: 'custom', message, params: { code: 'invalid_key' } })
  })
  .meta({ id: 'AgentPublicKey' })

export type PublicKeyJwk = z.output<typeof publicKeyJwk>

/** RFC 7638: the required members in alphabetical order. */
export function thumbprintOf(key: PublicKeyJwk): string {
  const { crv, kty, x } = key
  return sha256Base64url(JSON.stringify(key.kty === 'EC' ? { crv, kty, x, y: key.y } : { crv, kty, x }))
}

const COORDINATE_BYTES = 32

// It runs also where a coordinate has a finding of its own, which says all there is to say.
function problemOf(key: PublicKeyJwk): string | undefined {
  const coordinates = (key.kty === 'EC' ? [key.x, key.y] : [key.x]).map((text) => Buffer.from(text, 'base64url'))
  if (coordinates.some(({ length }) => length !== COORDINATE_BYTES)) return undefined
  const [x] = coordinates
  if (key.kty === 'OKP') return x && ed25519Problem(x)
  try {
    createPublicKey({ key, format: 'jwk' })
    return undefined
  } catch {
    return 'is not a point of its curve'
  }
}
