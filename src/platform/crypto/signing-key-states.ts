// What a signing key may do at a time. A key is announced, then active, then retired; a revoked one does nothing any more.

import type { KeyPlace, StoredSigningKey } from './signing-key-rows.ts'
import type { PublishedKey, SigningKeySummary } from './signing-keys.ts'

// A token lives an hour, or with an open approval up to 7 days and 5 minutes. A day more covers clocks and caches.
const TOKEN_LINGER_MS = (7 * 24 + 1 + 24) * 3_600_000

const PLACES: readonly KeyPlace[] = [
  { environment: 'sandbox', family: 'token' },
  { environment: 'sandbox', family: 'record' },
  { environment: 'live', family: 'token' },
  { environment: 'live', family: 'record' },
]

/** It signs, or will. */
export function isUsable({ retired_at, revoked_at }: StoredSigningKey, at: Date): boolean {
  return revoked_at === null && (retired_at === null || at < retired_at)
}

export function withoutKey(keys: readonly StoredSigningKey[], at: Date): KeyPlace[] {
  return PLACES.filter((place) => usableAt(keys, place, at).length === 0)
}

/** @param keys Oldest first. */
export function findSigning(
  keys: readonly StoredSigningKey[],
  place: KeyPlace,
  at: Date,
): StoredSigningKey | undefined {
  const usable = usableAt(keys, place, at)
  // If this clock is behind the one that made the key, no key is active yet: then the oldest signs.
  return usable.findLast(({ active_from }) => active_from <= at) ?? usable[0]
}

/** The key that takes over next. */
export function findAnnounced(
  keys: readonly StoredSigningKey[],
  place: KeyPlace,
  at: Date,
): StoredSigningKey | undefined {
  return usableAt(keys, place, at).find(({ active_from }) => active_from > at)
}

/** Records must verify years later, also those of a key that was revoked. Tokens of a revoked key must not. */
export function isPublished({ family, retired_at, revoked_at }: StoredSigningKey, at: Date): boolean {
  if (family === 'record') return true
  return revoked_at === null && (retired_at === null || at.getTime() < retired_at.getTime() + TOKEN_LINGER_MS)
}

export function publish(key: StoredSigningKey): PublishedKey {
  const { public_jwk, kid, environment, family, revoked_at, doubted_since } = key
  const { x, y } = public_jwk
  const revoked =
    revoked_at === null || doubted_since === null
      ? {}
      : { revoked: { revoked_at: revoked_at.toISOString(), doubted_since: doubted_since.toISOString() } }
  return { kty: 'EC', crv: 'P-256', x, y, kid, alg: 'ES256', use: 'sig', env: environment, family, ...revoked }
}

export function summarize(key: StoredSigningKey, at: Date): SigningKeySummary {
  return {
    kid: key.kid,
    environment: key.environment,
    family: key.family,
    state: stateOf(key, at),
    isPublished: isPublished(key, at),
    activeFrom: key.active_from,
    retiredAt: key.retired_at,
    revokedAt: key.revoked_at,
    doubtedSince: key.doubted_since,
  }
}

function stateOf(key: StoredSigningKey, at: Date): SigningKeySummary['state'] {
  if (key.revoked_at !== null) return 'revoked'
  if (!isUsable(key, at)) return 'retired'
  return key.active_from > at ? 'announced' : 'active'
}

function usableAt(keys: readonly StoredSigningKey[], place: KeyPlace, at: Date): StoredSigningKey[] {
  return keys.filter((key) => key.environment === place.environment && key.family === place.family && isUsable(key, at))
}
