// The deployment's own keys, two families per environment. `token` keys sign tokens that expire, and leave the key set
// after their last token has. `record` keys sign results that must verify years later, so they stay in the key set
// permanently. A private key is stored in Postgres only sealed, and no function of this file returns one.

import { createPrivateKey, generateKeyPair, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'
import { compactVerify, decodeProtectedHeader, importJWK } from 'jose'
import { canonicalize, type Json, parseJson } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import { signEcdsaP256 } from '#src/platform/crypto/ecdsa.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Environment } from '#src/platform/ids.ts'

export type KeyFamily = 'token' | 'record'

/** RFC 7517, and the two members that tell the environment and family of the key's signatures. */
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
  /** The content of `/.well-known/jwks.json`: both environments, both families. At most a minute old. */
  jwks(): Promise<KeySet>
  /** All keys, oldest first. */
  list(): Promise<SigningKeySummary[]>
  /** Publishes a new key, which replaces the old one after 24 hours; returns its kid. */
  rotate(environment: Environment, family: KeyFamily): Promise<string>
}

export interface SigningKeySummary {
  kid: string
  environment: Environment
  family: KeyFamily
  /**
   * announced: published, and signs from `activeFrom`. retired: no longer signs; `isPublished` says whether it is still
   * shown.
   */
  state: 'announced' | 'active' | 'retired'
  isPublished: boolean
  activeFrom: Date
  retiredAt: Date | null
}

interface SigningKeysDeps {
  db: Pick<Database, 'system'>
  sealer: Sealer
  now: () => Date
}

const HOUR_MS = 3_600_000
// Verifiers cache the key set: a key is published for a day before it signs.
const ANNOUNCE_MS = 24 * HOUR_MS
// A token lives an hour, or with an open approval up to 7 days and 5 minutes. A day more covers clocks and caches.
const TOKEN_LINGER_MS = (7 * 24 + 1 + 24) * HOUR_MS
const CACHE_MS = 60_000

export function createSigningKeys({ db, sealer, now }: SigningKeysDeps): SigningKeys {
  let cache: { until: number; keys: Promise<StoredKey[]> } | undefined
  const opened = new Map<string, KeyObject>()

  return { ensure, signRecord, jwks, list, rotate }

  async function ensure(): Promise<void> {
    const missing = withoutKey(await load(), now())
    if (missing.length === 0) return
    // Made before the transaction opens; a process that comes second discards its own.
    const made = await Promise.all(missing.map((place) => makeKey(place, sealer)))
    const activeFrom = now()
    await db.system('signing keys', async (tx) => {
      await lock(tx)
      const stillMissing = withoutKey(await selectKeys(tx), activeFrom)
      for (const key of made) {
        if (stillMissing.some((place) => isPlace(key, place))) await insertKey(tx, key, activeFrom)
      }
    })
    cache = undefined
  }

  async function signRecord(environment: Environment, typ: string, payload: Json): Promise<string> {
    const body = Buffer.from(canonicalize(payload))
    const key = newestActive(await load(), { environment, family: 'record' }, now())
    const header = Buffer.from(canonicalize({ alg: 'ES256', kid: key.kid, typ }))
    const input = `${header.toString('base64url')}.${body.toString('base64url')}`
    const signature = await signEcdsaP256(open(key), Buffer.from(input))
    return `${input}.${signature.toString('base64url')}`
  }

  async function jwks(): Promise<KeySet> {
    const at = now().getTime()
    const keys = await load()
    return { keys: keys.filter((key) => isPublished(key, at)).map(publish) }
  }

  async function list(): Promise<SigningKeySummary[]> {
    const at = now()
    return (await load()).map((key) => ({
      kid: key.kid,
      environment: key.environment,
      family: key.family,
      state: !isUsable(key, at) ? 'retired' : key.active_from > at ? 'announced' : 'active',
      isPublished: isPublished(key, at.getTime()),
      activeFrom: key.active_from,
      retiredAt: key.retired_at,
    }))
  }

  async function rotate(environment: Environment, family: KeyFamily): Promise<string> {
    const key = await makeKey({ environment, family }, sealer)
    const activeFrom = new Date(now().getTime() + ANNOUNCE_MS)
    await db.system('signing keys', async (tx) => {
      await lock(tx)
      await tx.query(
        `UPDATE signing_keys SET retired_at = $3
         WHERE environment = $1 AND family = $2 AND (retired_at IS NULL OR retired_at > $3)`,
        [environment, family, activeFrom],
      )
      await insertKey(tx, key, activeFrom)
    })
    cache = undefined
    return key.kid
  }

  // One query a minute, shared by concurrent callers; a failed one is not cached.
  function load(): Promise<StoredKey[]> {
    const at = now().getTime()
    if (cache !== undefined && at < cache.until) return cache.keys
    const keys = db.system('signing keys', selectKeys)
    const fresh = { until: at + CACHE_MS, keys }
    cache = fresh
    keys.catch(() => {
      if (cache === fresh) cache = undefined
    })
    return keys
  }

  function open(key: StoredKey): KeyObject {
    const known = opened.get(key.kid)
    if (known !== undefined) return known
    const der = sealer.open(key.sealed_private_key, sealedAs(key))
    const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    opened.set(key.kid, privateKey)
    return privateKey
  }
}

export type RecordVerdict =
  | { isValid: true; environment: Environment; typ: string; kid: string; payload: Json }
  | { isValid: false; reason: 'malformed' | 'unknown_key' | 'bad_signature' }

// A result with all its evidence has about 20 kB; the rest is for evidence packets.
const MAX_RECORD_BYTES = 16 * 1024 * 1024
const RECORD_LIMITS = { maxBytes: MAX_RECORD_BYTES, maxDepth: 64 }

/**
 * Checks a JWS that `signRecord` made, with the published keys alone. A token key's signature is not valid for a
 * record. Compare `typ` with the kind of record that you expect, and `environment` with your own.
 * @throws {Failure} when a valid signature covers something that isn't JSON, which `signRecord` can't have made.
 */
export async function verifyRecord(jws: string, { keys }: KeySet): Promise<RecordVerdict> {
  const header = readHeader(jws)
  if (header === undefined) return { isValid: false, reason: 'malformed' }
  const key = keys.find(({ kid, family }) => kid === header.kid && family === 'record')
  if (key === undefined) return { isValid: false, reason: 'unknown_key' }
  const bytes = await verifiedPayload(jws, key)
  if (bytes === undefined) return { isValid: false, reason: 'bad_signature' }
  return { isValid: true, environment: key.env, ...header, payload: parseJson(bytes, RECORD_LIMITS) }
}

async function verifiedPayload(jws: string, { kty, crv, x, y }: PublishedKey): Promise<Uint8Array | undefined> {
  try {
    const { payload } = await compactVerify(jws, await importJWK({ kty, crv, x, y }, 'ES256'), {
      algorithms: ['ES256'],
    })
    return payload
  } catch {
    return undefined
  }
}

function readHeader(jws: string): { kid: string; typ: string } | undefined {
  if (jws.length > MAX_RECORD_BYTES) return undefined
  try {
    const { kid, typ } = decodeProtectedHeader(jws)
    return kid === undefined || typ === undefined ? undefined : { kid, typ }
  } catch {
    return undefined
  }
}

interface Place {
  environment: Environment
  family: KeyFamily
}

interface NewKey extends Place {
  kid: string
  public_jwk: { kty: 'EC'; crv: 'P-256'; x: string; y: string }
  sealed_private_key: Buffer
}

interface StoredKey extends NewKey {
  active_from: Date
  retired_at: Date | null
}

const PLACES: readonly Place[] = [
  { environment: 'sandbox', family: 'token' },
  { environment: 'sandbox', family: 'record' },
  { environment: 'live', family: 'token' },
  { environment: 'live', family: 'record' },
]

function isPlace(key: Place, { environment, family }: Place): boolean {
  return key.environment === environment && key.family === family
}

function isUsable({ retired_at }: StoredKey, at: Date): boolean {
  return retired_at === null || at < retired_at
}

function withoutKey(keys: readonly StoredKey[], at: Date): Place[] {
  return PLACES.filter((place) => !keys.some((key) => isPlace(key, place) && isUsable(key, at)))
}

function newestActive(keys: readonly StoredKey[], place: Place, at: Date): StoredKey {
  const usable = keys.filter((key) => isPlace(key, place) && isUsable(key, at))
  // Rows come oldest first. If this clock is behind the one that made the key, no key is active yet: then the oldest
  // signs.
  const key = usable.findLast(({ active_from }) => active_from <= at) ?? usable[0]
  if (key === undefined)
    throw new Error(`there is no ${place.family} key for ${place.environment}: keys are made at boot`)
  return key
}

function isPublished({ family, retired_at }: StoredKey, atMs: number): boolean {
  return family === 'record' || retired_at === null || atMs < retired_at.getTime() + TOKEN_LINGER_MS
}

function publish({ public_jwk: { x, y }, kid, environment, family }: StoredKey): PublishedKey {
  return { kty: 'EC', crv: 'P-256', x, y, kid, alg: 'ES256', use: 'sig', env: environment, family }
}

const generateEcKey = promisify(generateKeyPair)

async function makeKey({ environment, family }: Place, sealer: Sealer): Promise<NewKey> {
  const { publicKey, privateKey } = await generateEcKey('ec', { namedCurve: 'P-256' })
  const { x, y } = publicKey.export({ format: 'jwk' })
  if (x === undefined || y === undefined) throw new Error('node:crypto exported a P-256 key without coordinates')
  const jwk = { kty: 'EC', crv: 'P-256', x, y } as const
  // RFC 7638 3.2: the required members in lexicographic order without spaces, which is their canonical JSON.
  const kid = sha256Base64url(canonicalize(jwk))
  const der = privateKey.export({ format: 'der', type: 'pkcs8' })
  const sealed = sealer.seal(der, sealedAs({ environment, family, kid }))
  return { environment, family, kid, public_jwk: jwk, sealed_private_key: sealed }
}

// A row whose environment or family was changed outside of this code doesn't open.
function sealedAs({ environment, family, kid }: Place & { kid: string }): string {
  return `signing key ${environment} ${family} ${kid}`
}

// Any number that no other advisory lock of the service uses.
async function lock(tx: Tx): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('signing keys', 0))`)
}

function selectKeys(tx: Tx): Promise<StoredKey[]> {
  return tx.query<StoredKey>(
    `SELECT kid, environment, family, public_jwk, sealed_private_key, active_from, retired_at
     FROM signing_keys ORDER BY active_from, kid`,
  )
}

async function insertKey(tx: Tx, key: NewKey, activeFrom: Date): Promise<void> {
  await tx.query(
    `INSERT INTO signing_keys (kid, environment, family, public_jwk, sealed_private_key, active_from)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [key.kid, key.environment, key.family, JSON.stringify(key.public_jwk), key.sealed_private_key, activeFrom],
  )
}
