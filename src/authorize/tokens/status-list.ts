// The public status lists (draft-ietf-oauth-status-list): which tokens are revoked, for relying parties that verify
// offline. A list names no account and no token: two bits at a place that only a holder of the token knows. Verify reads none.

import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import { Failure } from '#src/failure.ts'
import type { SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Environment } from '#src/platform/ids.ts'
import { LIST_ENTRIES, listId, listUri } from './status-index.ts'
import { findStatusList } from './status-rows.ts'

const STATUS_LIST_TYP = 'statuslist+jwt'
export const STATUS_LIST_TYPE = 'application/statuslist+jwt'
/** For how long others may keep a list, in seconds. */
const TTL_SECONDS = 60
// Verifiers may use a list for an hour where they can't fetch a newer one.
const EXP_SECONDS = 3_600
// What is served is younger than this, and caches on the way keep it for `MAX_AGE_SECONDS`: 30 s together.
const FRESH_MS = 10_000
export const MAX_AGE_SECONDS = 20
const BITS = 2
const INVALID = 0x01
// A list takes 44 kB at most.
const MAX_LISTS = 64

export interface StatusListDeps {
  db: Pick<Database, 'readSystem'>
  signingKeys: Pick<SigningKeys, 'signToken'>
  baseUrl: string
  now: () => Date
}

export type StatusLists = ReturnType<typeof createStatusLists>

export function createStatusLists({ db, signingKeys, baseUrl, now }: StatusListDeps) {
  const cache = new LRUCache<string, { at: number; token: string }>({ max: MAX_LISTS })
  // Being made, each shared by everyone who asks meanwhile. Ids of lists that don't exist end here and evict none.
  const pending = new Map<string, Promise<string>>()

  async function build(environment: Environment, list: number): Promise<string> {
    const found = await findStatusList(db, environment, list)
    if (found === undefined) throw notFound()
    const iat = Math.floor(now().getTime() / 1_000)
    return signingKeys.signToken(environment, STATUS_LIST_TYP, {
      sub: listUri(baseUrl, environment, list),
      iat,
      exp: iat + EXP_SECONDS,
      ttl: TTL_SECONDS,
      status_list: { bits: BITS, lst: await encodeStatusList(found.revoked) },
    })
  }

  return {
    /** The signed list, at most ten seconds old. @throws {Failure} `not_found`. */
    async get(id: string): Promise<string> {
      const place = parseListId(id)
      if (place === undefined) throw notFound()
      const at = now().getTime()
      const known = cache.get(id)
      if (known !== undefined && at < known.at + FRESH_MS) return known.token
      const making = pending.get(id)
      if (making !== undefined) return making
      const made = build(place.environment, place.list)
        .then((token) => {
          cache.set(id, { at, token })
          return token
        })
        .finally(() => pending.delete(id))
      pending.set(id, made)
      return made
    },
  }
}

const deflateAside = promisify<Buffer, { level: number }, Buffer>(deflate)

/** Section 4: two bits per token, the first in the lowest bits of the first byte; ZLIB, then base64url. */
export async function encodeStatusList(revoked: readonly number[], entries = LIST_ENTRIES): Promise<string> {
  const bytes = Buffer.alloc((entries * BITS) / 8)
  for (const index of revoked) bytes[index >> 2] = (bytes[index >> 2] ?? 0) | (INVALID << ((index & 3) * BITS))
  return (await deflateAside(bytes, { level: 9 })).toString('base64url')
}

const LIST_ID = /^(test|live)_(0|[1-9][0-9]{0,8})$/

function parseListId(id: string): { environment: Environment; list: number } | undefined {
  const [, word, list] = LIST_ID.exec(id) ?? []
  if (word === undefined || list === undefined) return undefined
  const environment = word === 'live' ? 'live' : 'sandbox'
  return listId(environment, Number(list)) === id ? { environment, list: Number(list) } : undefined
}

function notFound(): Failure {
  return new Failure('not_found', 'There is no such status list: a token names its list in `status.status_list.uri`.')
}
