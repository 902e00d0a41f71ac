import { randomBytes } from 'node:crypto'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SealedColumn } from '#src/platform/crypto/sealed-columns.ts'

// Both columns seal for one use: a rotation copies one to the other.
export const SEALED_SECRETS: readonly SealedColumn[] = ['sealed_secret', 'sealed_previous_secret'].map((column) => ({
  table: 'webhook_endpoints',
  column,
  of: 'environment',
  id: 'id',
  use: ({ id = '' }) => useOf(id),
}))

// A multiple of three, so that base64 needs no padding, which some libraries require and others drop.
const SECRET_BYTES = 33

/**
 * `whsec_` and 44 characters of standard base64: 33 random bytes. Not base64url: the official libraries of Standard
 * Webhooks and Svix refuse `-` and `_`. Shown once; stored sealed. Older secrets are 43 characters of base64url.
 */
export function newSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`
}

export function sealSecret(sealer: Sealer, endpointId: string, secret: string): Buffer {
  return sealer.seal(Buffer.from(secret), useOf(endpointId))
}

/** @throws {Error} when the master key is missing or the row was tampered with. */
export function openSecret(sealer: Sealer, endpointId: string, sealed: Uint8Array): string {
  return sealer.open(sealed, useOf(endpointId)).toString()
}

// A sealed secret that is copied to another endpoint's row doesn't open there.
function useOf(endpointId: string): string {
  return `webhook secret ${endpointId}`
}
