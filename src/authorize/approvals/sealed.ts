// The action as people see it who decide: it is personal, so the row holds it under the master key.

import { type Json, type JsonObject, parseJson } from '#src/platform/crypto/canonical.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SealedColumn } from '#src/platform/crypto/sealed-columns.ts'

const useOfDescription = (id = '') => `approval description ${id}`
const useOfPayload = (id = '') => `approval payload ${id}`

export const SEALED_APPROVALS: readonly SealedColumn[] = [
  {
    table: 'approvals',
    column: 'sealed_description',
    of: 'environment',
    id: 'id',
    use: ({ id }) => useOfDescription(id),
  },
  { table: 'approvals', column: 'sealed_payload', of: 'environment', id: 'id', use: ({ id }) => useOfPayload(id) },
]

// Above what authorize and verify accept.
const PAYLOAD_LIMITS = { maxBytes: 4 * 1024 * 1024, maxDepth: 64 }

export function sealDescription(sealer: Sealer, id: string, description: string): Buffer {
  return sealer.seal(Buffer.from(description), useOfDescription(id))
}

export function openDescription(sealer: Sealer, id: string, sealed: Buffer): string {
  return sealer.open(sealed, useOfDescription(id)).toString()
}

export function sealPayload(sealer: Sealer, id: string, payload: JsonObject): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify(payload satisfies Json)), useOfPayload(id))
}

export function openPayload(sealer: Sealer, id: string, sealed: Buffer): JsonObject {
  return parseJson(sealer.open(sealed, useOfPayload(id)), PAYLOAD_LIMITS) as JsonObject
}
