// What a token's row holds under the master key: what authorize knew of the action, which is personal, and the token itself
// while a replay may return it.

import { type Json, parseJson } from '#src/platform/crypto/canonical.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { SealedColumn } from '#src/platform/crypto/sealed-columns.ts'

const useOfFacts = (jti = '') => `intent facts ${jti}`
const useOfToken = (jti = '') => `intent token ${jti}`

export const SEALED_INTENTS: readonly SealedColumn[] = [
  { table: 'intents', column: 'sealed_facts', of: 'environment', id: 'jti', use: ({ jti }) => useOfFacts(jti) },
  { table: 'intents', column: 'sealed_token', of: 'environment', id: 'jti', use: ({ jti }) => useOfToken(jti) },
]

// The largest body of authorize, and what is added to it.
const FACTS_LIMITS = { maxBytes: 4 * 1024 * 1024, maxDepth: 64 }

export function sealFacts(sealer: Sealer, jti: string, facts: Json): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify(facts)), useOfFacts(jti))
}

export function openFacts(sealer: Sealer, jti: string, sealed: Buffer): Json {
  return parseJson(sealer.open(sealed, useOfFacts(jti)), FACTS_LIMITS)
}

export function sealToken(sealer: Sealer, jti: string, token: string): Buffer {
  return sealer.seal(Buffer.from(token), useOfToken(jti))
}

export function openToken(sealer: Sealer, jti: string, sealed: Buffer): string {
  return sealer.open(sealed, useOfToken(jti)).toString()
}
