// The deployment's own keys, two families per environment. `token` keys sign tokens that expire, and leave the key set
// after their last token has. `record` keys sign results that must verify years later, so they stay in the key set
// permanently. A private key is stored in Postgres only sealed, and no function of this file returns one.

import { readRecordHeader } from '#client/verify/records.ts'
import { Failure, invalidField } from '#src/failure.ts'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Environment } from '#src/platform/ids.ts'
import { createKeyMaterial, type TokenKey } from './signing-key-material.ts'
import { makeSigningKey } from './signing-key-pair.ts'
import {
  activateSigningKey,
  insertSigningKey,
  type KeyPlace,
  keepSigning,
  lockSigningKeys,
  retireSigningKeys,
  revokeSigningKey,
  type StoredSigningKey,
  selectKeys,
} from './signing-key-rows.ts'
import {
  findAnnounced,
  findSigning,
  isPublished,
  isUsable,
  publish,
  summarize,
  withoutKey,
} from './signing-key-states.ts'

export type KeyFamily = 'token' | 'record'

/** Revocation of a key that another party may have had. */
export interface KeyRevocation {
  revoked_at: string
  /** Signatures from this time on are doubted. A record states its own time, which a holder of the key can choose. */
  doubted_since: string
}

/** RFC 7517, and the members that tell the environment and family of the key's signatures. */
export interface PublishedKey {
  kty: 'EC'
  crv: 'P-256'
  x: string
  y: string
  /** RFC 7638 thumbprint. */
  kid: string
  alg: 'ES256'
  use: 'sig'
  env: Environment
  family: KeyFamily
  /** Present in a revoked record key only: a revoked token key is not published. */
  revoked?: KeyRevocation | undefined
}

export interface KeySet {
  keys: PublishedKey[]
}

export interface SigningKeys {
  /** Makes missing keys. Safe when several processes boot at once. */
  ensure(): Promise<void>
  /**
   * A compact JWS (RFC 7515) over the canonical JSON of `payload`, by the environment's newest active record key.
   * @throws {TypeError} when the payload is not JSON.
   */
  signRecord(environment: Environment, typ: string, payload: Json): Promise<string>
  /**
   * A compact JWS over `payload` as `JSON.stringify` writes it, by the environment's newest active token key. `payload` holds only
   * what JSON can express: its strings are well-formed and its numbers finite.
   */
  signToken(environment: Environment, typ: string, payload: object): Promise<string>
  /** The published token key of this id, of either environment, with the same bounds as `findKey`. */
  findTokenKey(kid: string): Promise<TokenKey | undefined>
  /** The content of `/.well-known/jwks.json`: both environments and both families, at most a second old. */
  jwks(): Promise<KeySet>
  /**
   * The published key of this id, to verify a signature with: no revoked token key, from a second after the revocation at the
   * latest, and no key that another process made is missing for longer than a tenth of that.
   */
  findKey(place: KeyPlace, kid: string): Promise<PublishedKey | undefined>
  /** All keys, oldest first. */
  list(): Promise<SigningKeySummary[]>
  /**
   * Publishes a new key, which replaces the old one after 24 hours; returns its kid. `isImmediate` replaces the old one now, by the
   * announced key if there is one.
   */
  rotate(environment: Environment, family: KeyFamily, options?: { isImmediate?: boolean }): Promise<string>
  /**
   * Ends a compromised key now. If it is the one that signs, the announced key takes over, or a new one. Revoking again can only
   * move `doubtedSince` back. Returns the kid that signs.
   * @throws {Failure} `not_found`, `conflict`; `invalid_request` at `/doubted_since` for a time to come.
   */
  revoke(kid: string, doubtedSince: Date): Promise<string>
}

export interface SigningKeySummary {
  kid: string
  environment: Environment
  family: KeyFamily
  /** announced: published, and signs from `activeFrom`. retired: signs no longer. revoked: compromised, signs no longer. */
  state: 'announced' | 'active' | 'retired' | 'revoked'
  /** Whether the key set shows it. */
  isPublished: boolean
  activeFrom: Date
  retiredAt: Date | null
  revokedAt: Date | null
  doubtedSince: Date | null
}

interface SigningKeysDeps {
  db: Pick<Database, 'system'>
  sealer: Sealer
  now: () => Date
}

// Verifiers cache the key set: a key is published for a day before it signs.
const ANNOUNCE_MS = 24 * 3_600_000
// How long a process may sign and verify with a key that was revoked in another one.
const CACHE_MS = 1_000
// A stranger who invents key ids causes at most ten queries a second.
const RELOAD_MS = 100

export function createSigningKeys({ db, sealer, now }: SigningKeysDeps): SigningKeys {
  let cache: { at: number; keys: Promise<StoredSigningKey[]> } | undefined
  const material = createKeyMaterial(sealer)

  return { ensure, signRecord, signToken, findTokenKey, jwks, findKey, list, rotate, revoke }

  async function ensure(): Promise<void> {
    const missing = withoutKey(await load(), now())
    if (missing.length === 0) return
    // Made before the transaction opens; a process that comes second discards its own.
    const made = await Promise.all(missing.map((place) => makeSigningKey(place, sealer)))
    const activeFrom = now()
    await db.system('signing keys', async (tx) => {
      await lockSigningKeys(tx)
      const stillMissing = withoutKey(await selectKeys(tx), activeFrom)
      for (const key of made) {
        if (stillMissing.some((place) => isPlace(key, place))) await insertSigningKey(tx, key, activeFrom)
      }
    })
    cache = undefined
  }

  async function signRecord(environment: Environment, typ: string, payload: Json): Promise<string> {
    const body = canonicalize(payload)
    const key = await signingKey({ environment, family: 'record' })
    return material.sign(key, canonicalize({ alg: 'ES256', kid: key.kid, typ }), body)
  }

  async function signToken(environment: Environment, typ: string, payload: object): Promise<string> {
    const key = await signingKey({ environment, family: 'token' })
    return material.sign(key, JSON.stringify({ alg: 'ES256', typ, kid: key.kid }), JSON.stringify(payload))
  }

  async function signingKey(place: KeyPlace): Promise<StoredSigningKey> {
    const key = findSigning(await load(), place, now())
    if (key === undefined) {
      throw new Error(`there is no ${place.family} key for ${place.environment}: keys are made at boot`)
    }
    return key
  }

  async function findTokenKey(kid: string): Promise<TokenKey | undefined> {
    const isIt = (key: StoredSigningKey) => key.kid === kid && key.family === 'token' && isPublished(key, now())
    const key = (await load()).find(isIt) ?? (await load(RELOAD_MS)).find(isIt)
    return key === undefined ? undefined : material.tokenKey(key)
  }

  async function jwks(): Promise<KeySet> {
    const at = now()
    const keys = await load()
    return { keys: keys.filter((key) => isPublished(key, at)).map(publish) }
  }

  async function findKey(place: KeyPlace, kid: string): Promise<PublishedKey | undefined> {
    const isIt = (key: StoredSigningKey) => key.kid === kid && isPlace(key, place) && isPublished(key, now())
    const key = (await load()).find(isIt) ?? (await load(RELOAD_MS)).find(isIt)
    return key === undefined ? undefined : publish(key)
  }

  async function list(): Promise<SigningKeySummary[]> {
    const at = now()
    return (await load()).map((key) => summarize(key, at))
  }

  async function rotate(environment: Environment, family: KeyFamily, { isImmediate = false } = {}): Promise<string> {
    const place = { environment, family }
    const made = await makeSigningKey(place, sealer)
    const at = new Date(now().getTime() + (isImmediate ? 0 : ANNOUNCE_MS))
    const kid = await db.system('signing keys', async (tx) => {
      await lockSigningKeys(tx)
      const announced = isImmediate ? findAnnounced(await selectKeys(tx), place, at) : undefined
      if (announced === undefined) await insertSigningKey(tx, made, at)
      else await activateSigningKey(tx, announced.kid, at)
      const next = announced?.kid ?? made.kid
      await retireSigningKeys(tx, place, at, next)
      return next
    })
    cache = undefined
    return kid
  }

  async function revoke(kid: string, doubtedSince: Date): Promise<string> {
    const at = now()
    if (doubtedSince > at) throw invalidField('/doubted_since', 'out_of_range', 'must not be in the future')
    // Made before the transaction opens, in case that it is needed.
    const known = (await load(0)).find((key) => key.kid === kid)
    const spare = known === undefined ? undefined : await makeSigningKey(known, sealer)
    const signing = await db.system('signing keys', async (tx) => {
      await lockSigningKeys(tx)
      const keys = await selectKeys(tx)
      const key = keys.find((one) => one.kid === kid)
      if (key === undefined || spare === undefined) throw new Failure('not_found', `There is no signing key ${kid}.`)
      if (key.doubted_since !== null && doubtedSince >= key.doubted_since) {
        throw new Failure('conflict', `${kid} is revoked, and doubted since ${key.doubted_since.toISOString()}.`)
      }
      await revokeSigningKey(tx, kid, at, doubtedSince)
      const others = keys.filter((one) => one.kid !== kid && isUsable(one, at))
      const active = findSigning(others, key, at)
      const announced = findAnnounced(others, key, at)
      if (active !== undefined && active.active_from <= at) {
        if (announced === undefined && active.retired_at !== null) await keepSigning(tx, active.kid)
        return active.kid
      }
      if (announced === undefined) await insertSigningKey(tx, spare, at)
      else await activateSigningKey(tx, announced.kid, at)
      return announced?.kid ?? spare.kid
    })
    cache = undefined
    return signing
  }

  // Queries once a second, shared by concurrent callers; a failed query is not cached.
  function load(maxAgeMs = CACHE_MS): Promise<StoredSigningKey[]> {
    const at = now().getTime()
    if (cache !== undefined && at < cache.at + maxAgeMs) return cache.keys
    const keys = db.system('signing keys', selectKeys)
    const fresh = { at, keys }
    cache = fresh
    keys.catch(() => {
      if (cache === fresh) cache = undefined
    })
    return keys
  }
}

/** What readers of a record must know of its key. Verifies nothing. */
export function revocationOf(jws: string, { keys }: KeySet): KeyRevocation | undefined {
  const revoked = keys.filter((key) => key.revoked !== undefined)
  if (revoked.length === 0) return undefined
  const kid = readRecordHeader(jws)?.kid
  return revoked.find((key) => key.kid === kid)?.revoked
}

function isPlace(key: KeyPlace, { environment, family }: KeyPlace): boolean {
  return key.environment === environment && key.family === family
}
