import { randomBytes } from 'node:crypto'
import type { Sealer } from '#src/platform/crypto/seal.ts'

const SECRET_BYTES = 32

/** `whsec_` and 43 base64url characters: 32 random bytes. Shown once; at rest it is sealed. */
export function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64url')}`
}

export function sealSecret(sealer: Sealer, endpointId: string, secret: string): Buffer {
  return sealer.seal(Buffer.from(secret), use(endpointId))
}

/** @throws {Error} when the master key is missing or the row was tampered with. */
export function openSecret(sealer: Sealer, endpointId: string, sealed: Uint8Array): string {
  return sealer.open(sealed, use(endpointId)).toString()
}

// A sealed secret that is copied to another endpoint's row doesn't open there.
function use(endpointId: string): string {
  return `webhook secret ${endpointId}`
}
