// Compares the media of evaluated attestations with those of other claims of the same account and environment. Two
// steps, each committed before the next: the hash, then the comparison. Of two attestations, the one that starts its
// comparison last sees the other's hash, so a pair is found once both are done. It is stored with the later attestation
// (by id), in whatever order they were hashed. Both steps are safe to repeat.

import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Log } from '#src/platform/log.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import type { Hasher } from './hasher.ts'
import {
  beginHash,
  copyHash,
  type DueMedia,
  lockComparing,
  type NewFinding,
  type NotComparable,
  postpone,
  recheck,
  release,
  storeFindings,
  storeHash,
  takeWaiting,
  type Waiting,
} from './rows.ts'
import { findSameMedia, findSimilar, type Other } from './search.ts'

/** Other claims that an attestation's findings name, of each kind. */
export const MAX_NAMED = 10

// Standard deviation of the greys, of 255. Below it the picture has no content to recognize: only noise differs, and
// every photo of the dark would match every other.
const MIN_CONTRAST = 4

const BATCH = { perTenant: 16, limit: 128 }
// How many processes may die over one picture, usually for lack of memory. Pictures are hashed one at a time, so that
// the cause is known.
const MAX_STARTS = 3
const RETRY = { baseSeconds: 15, capSeconds: 3_600 }
// Per tenant and round. Sixteen photos take a second; slow pictures take up to their time limit, and the other tenants'
// next round waits for this one.
const TURN_MS = 5_000

export interface DuplicatesDeps {
  db: Database
  store: Pick<BlobStore, 'withLocalFile'>
  hasher: Pick<Hasher, 'hash'>
  log: Log
  /** Per tenant and round. */
  turnMs?: number
}

export type Duplicates = ReturnType<typeof createDuplicates>

export function createDuplicates({ db, store, hasher, log, turnMs = TURN_MS }: DuplicatesDeps) {
  let after: Scope | undefined

  /** Hashes and compares one attestation, as far as that is still to do. */
  async function compareOne(scope: Scope, attestationId: string): Promise<void> {
    const due = await db.tenant(scope, async (tx) =>
      (await copyHash(tx, attestationId)) ? undefined : beginHash(tx, attestationId),
    )
    if (due !== undefined) {
      const result = await hashOf(scope, due)
      await db.tenant(scope, (tx) => storeHash(tx, attestationId, result))
    }
    await db.tenant(scope, (tx) => compare(tx, scope, attestationId))
  }

  async function hashOf(
    scope: Scope,
    { sha256, contentType, attempts, starts }: DueMedia,
  ): Promise<{ hash: string } | { notComparable: NotComparable }> {
    if (contentType.startsWith('video/')) return { notComparable: 'video' }
    if (starts > MAX_STARTS) return { notComparable: 'crashed' }
    const inspection = await store.withLocalFile(scope, sha256, hasher.hash)
    if (inspection.ok) {
      const { hash, contrast } = inspection.value
      return contrast < MIN_CONTRAST ? { notComparable: 'flat' } : { hash }
    }
    const { code, detail } = inspection
    if (code === 'unreadable') {
      if (contentType === 'image/heic') return { notComparable: 'no_decoder' }
      return { notComparable: detail.includes('pixel limit') ? 'too_large' : 'unreadable' }
    }
    // If a file times out or crashes its decoder twice, the cause is the file and not this machine.
    if ((code === 'timeout' || code === 'crashed') && attempts > 0) return { notComparable: code }
    throw new Error(`the media can't be hashed now: ${code}`)
  }

  async function tryOne({ attestationId, ...scope }: Scope & { attestationId: string }): Promise<void> {
    try {
      await compareOne(scope, attestationId)
    } catch (error) {
      const subject = { account: scope.accountId, environment: scope.environment, attestation: attestationId }
      log.warn({ ...subject, err: error }, 'could not be compared now')
      await db.tenant(scope, (tx) => postpone(tx, attestationId, RETRY))
    }
  }

  // Sequential, so that an account has one picture in the decoder at a time. The first is tried in any case.
  async function tryAll(waiting: readonly Waiting[], signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + turnMs
    for (const [index, one] of waiting.entries()) {
      if (signal.aborted) return
      if (index > 0 && performance.now() >= deadline) {
        const left = waiting.slice(index).map(({ attestationId }) => attestationId)
        return db.tenant(one, (tx) => release(tx, left))
      }
      await tryOne(one)
    }
  }

  /** Handles waiting attestations; any number of processes may run it. Returns how many it leased; 0 when none wait. */
  async function round(signal: AbortSignal): Promise<number> {
    const taken = await db.system('duplicates', (tx) => takeWaiting(tx, { after, ...BATCH }))
    // Continues with the next tenant, so that a tenant with a hundred thousand photos does not delay the others.
    after = taken.length === BATCH.limit ? taken.at(-1) : undefined
    const tenants = Map.groupBy(taken, ({ accountId, environment }) => `${accountId} ${environment}`)
    await Promise.all([...tenants.values()].map((waiting) => tryAll(waiting, signal)))
    return taken.length
  }

  return { compareOne, round }
}

async function compare(tx: Tx, scope: Scope, attestationId: string): Promise<void> {
  const own = await lockComparing(tx, attestationId)
  if (own === undefined) return
  const { hash } = own
  const [same, similar] = await Promise.all([
    findSameMedia(tx, own),
    hash === null ? [] : findSimilar(tx, { ...own, hash }),
  ])
  const others = [...same, ...similar]
  // A recheck triggers no further rechecks: the attestation that caused it is earlier, and has triggered all of them.
  if (own.state === 'hashed') {
    await recheck(
      tx,
      others.map((other) => other.attestationId).filter((id) => id > attestationId),
    )
  }
  const earlier = byClaim(others.filter((other) => other.attestationId < attestationId))
  const exact = earlier.filter(({ distanceBits }) => distanceBits === null)
  const alike = earlier.filter(({ distanceBits }) => distanceBits !== null)
  await storeFindings(tx, scope, attestationId, {
    findings: [...exact.slice(0, MAX_NAMED), ...alike.slice(0, MAX_NAMED)],
    exactCount: exact.length,
    similarCount: alike.length,
  })
}

// One finding per other claim: its nearest picture, the first of equals. Nearest claims first.
function byClaim(others: readonly Other[]): NewFinding[] {
  const sorted = others.toSorted(
    (a, b) =>
      (a.distanceBits ?? -1) - (b.distanceBits ?? -1) ||
      (a.attestationId < b.attestationId ? -1 : Number(a.attestationId > b.attestationId)),
  )
  const nearest = new Map<string, NewFinding>()
  for (const other of sorted) if (!nearest.has(other.claimId)) nearest.set(other.claimId, other)
  return [...nearest.values()]
}
