// What the signature of a packet covers. Each part has its own digest, so that a verifier can say which part was
// changed; the digest of the whole shows that none is missing or added.

import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import { sha256Hex } from '#src/platform/crypto/digest.ts'

export const PACKET_TYP = 'evidence-packet+jwt'
export const PDF_TYP = 'evidence-pdf+jwt'

/** SHA-256 (hex) of the canonical form (RFC 8785). */
export function digestOf(value: unknown): string {
  return sha256Hex(canonicalize(jsonOf(value)))
}

/** The digest of each part by its name: a member of the packet, or `attestations/<id>`, `devices/<id>`. */
export function partDigests(packet: Record<string, unknown>): Record<string, string> {
  const digests = new Map<string, string>()
  for (const [name, part] of Object.entries(packet)) {
    const idName = LISTS[name]
    if (idName === undefined || !Array.isArray(part)) digests.set(name, digestOf(part))
    else {
      for (const [index, one] of part.entries()) {
        const place = `${name}/${idOf(one, idName) ?? index}`
        // A duplicate part must not hide behind the other.
        digests.set(digests.has(place) ? `${place} (again, at ${index})` : place, digestOf(one))
      }
    }
  }
  return Object.fromEntries(digests)
}

/** Removes what JSON can't express: undefined members are absent. */
export function jsonOf(value: unknown): Json {
  return JSON.parse(JSON.stringify(value ?? null)) as Json
}

const LISTS: Record<string, string | undefined> = { attestations: 'attestation_id', devices: 'device_id' }

function idOf(value: unknown, name: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const id = (value as Record<string, unknown>)[name]
  return typeof id === 'string' ? id : undefined
}
