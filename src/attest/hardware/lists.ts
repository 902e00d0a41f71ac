// Google's list of revoked attestation keys: fetched by the clock process, stored in Postgres, read at each evaluation.
// When a fetch fails, the last list stays in use, and its age is reported.

import { Counter, Gauge, type Registry } from 'prom-client'
import { sha256 } from '#src/platform/crypto/digest.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Log } from '#src/platform/log.ts'
import { OPERATOR, type Outbound } from '#src/platform/net/outbound.ts'
import { findList, noteListFailure, storeList, takeList } from './list-rows.ts'
import { parseRevocationList, type RevocationSnapshot } from './revocations.ts'

/** The default address in production. */
export const GOOGLE_LIST_URL = 'https://android.googleapis.com/attestation/status'

const NAME = 'android'
// How long a process reuses a list that it has read: a revocation may take this much longer to count.
export const READ_EVERY_MS = 15_000
const EVERY_SECONDS = 3_600
const RETRY_SECONDS = 60
/** How often `clock` checks whether the list is due. */
export const LOOK_EVERY_MS = 10_000
const TIMEOUT_MS = 30_000
// The list has about 300 KB.
const MAX_BYTES = 16 * 1024 * 1024

/** Returns the current list, or why it is missing. */
export type ReadRevocations = () => Promise<RevocationSnapshot>

/** @param url the list's address; undefined when this deployment uses none. */
export function createListReader({
  db,
  url,
}: {
  db: Pick<Database, 'system'>
  url: string | undefined
}): ReadRevocations {
  let cached: { at: number; digest: Buffer | undefined; snapshot: RevocationSnapshot } | undefined
  let reading: Promise<RevocationSnapshot> | undefined

  async function read(): Promise<RevocationSnapshot> {
    const row = await db.system('revocation list', (tx) => findList(tx, NAME, cached?.digest))
    const isOurs = row?.url === url && row?.fetchedAt != null && row.digest !== null
    if (!isOurs) cached = { at: performance.now(), digest: undefined, snapshot: 'never_fetched' }
    else {
      const before = typeof cached?.snapshot === 'object' ? cached.snapshot.entries : new Map<string, string>()
      const entries = row.entries === null ? before : new Map(Object.entries(row.entries))
      const { fetchedAt } = row
      cached = {
        at: performance.now(),
        digest: row.digest ?? undefined,
        snapshot: { entries, fetchedAt: fetchedAt ?? new Date(0) },
      }
    }
    return cached.snapshot
  }

  return async () => {
    if (url === undefined) return 'off'
    // An absent list is not cached: the first list counts at once.
    const isFresh =
      cached !== undefined && cached.snapshot !== 'never_fetched' && performance.now() - cached.at < READ_EVERY_MS
    if (cached !== undefined && isFresh) return cached.snapshot
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }
}

export interface ListFetcherDeps {
  db: Pick<Database, 'system'>
  outbound: Pick<Outbound, 'send'>
  url: string
  log: Log
  fetches?: Counter<'outcome'>
}

/** Fetches the list when it is due; any number of clocks may call it, and one fetches. Returns whether this one did. */
export function createListFetcher({ db, outbound, url, log, fetches }: ListFetcherDeps): () => Promise<boolean> {
  const list = { name: NAME, url }

  async function fetchList(known: number): Promise<{ entries: Map<string, string>; digest: Buffer } | string> {
    const answer = await outbound.send({
      account: OPERATOR,
      url,
      // The rules of live apply: https and public addresses, unless the operator allows a loopback one.
      environment: url.startsWith('http:') ? 'sandbox' : 'live',
      method: 'GET',
      headers: { accept: 'application/json', 'user-agent': 'countersign' },
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_BYTES,
    })
    if (!answer.ok) return `${answer.code}: ${answer.detail}`
    if (answer.status !== 200) return `answered ${answer.status}`
    if (answer.isTruncated) return `has more than ${MAX_BYTES} bytes`
    const parsed = parseRevocationList(parse(answer.body))
    if (!parsed.ok) return parsed.detail
    // Vendors don't pardon all keys at once: a source that lost its data must not make every revoked key valid again.
    if (parsed.entries.size === 0 && known > 0) return `it names nothing, and named ${known} keys before`
    return { entries: parsed.entries, digest: sha256(answer.body) }
  }

  return async () => {
    const taken = await db.system('revocation list', (tx) =>
      takeList(tx, list, { everySeconds: EVERY_SECONDS, retrySeconds: RETRY_SECONDS }),
    )
    if (taken === undefined) return false
    const fetched = await fetchList(taken.count)
    if (typeof fetched === 'string') {
      fetches?.inc({ outcome: 'failed' })
      log.warn({ url, reason: fetched }, 'list of revoked attestation keys could not be fetched')
      await db.system('revocation list', (tx) => noteListFailure(tx, list, fetched.slice(0, 500)))
    } else {
      fetches?.inc({ outcome: 'fetched' })
      await db.system('revocation list', (tx) => storeList(tx, list, fetched))
    }
    return true
  }
}

/** Measures the list at each scrape; returns the counter of fetch attempts. */
export function collectList(
  registry: Registry,
  { db, url }: { db: Pick<Database, 'system'>; url: string },
): Counter<'outcome'> {
  const fetches = new Counter({
    name: 'countersign_revocation_list_fetches_total',
    help: 'Tries to fetch the list of revoked attestation keys, by outcome: fetched, failed.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  // The list itself, of some 300 KB, comes with the first scrape alone.
  let known: Buffer | undefined
  const row = async () => {
    const found = await db.system('revocation list', (tx) => findList(tx, NAME, known))
    known = found?.digest ?? undefined
    return found
  }
  new Gauge({
    name: 'countersign_revocation_list_age_seconds',
    help: 'Age of the list of revoked attestation keys; -1 while it was never fetched, and no Android evidence counts.',
    registers: [registry],
    async collect() {
      const found = await row()
      const fetchedAt = found?.url === url ? found.fetchedAt : null
      this.set(fetchedAt == null ? -1 : Math.max(0, (Date.now() - fetchedAt.getTime()) / 1_000))
    },
  })
  new Gauge({
    name: 'countersign_revocation_list_entries',
    help: 'Attestation keys that the list names.',
    registers: [registry],
    async collect() {
      this.set((await row())?.count ?? 0)
    },
  })
  return fetches
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
