// Compares what evaluated attestations show with what other claims of the same account and environment have shown. Two steps,
// each committed before the next: the hash, then the comparison. Whichever of two attestations begins its comparison last sees
// the other's hash, so a pair is found once both are through; it is kept in the later of the two (by id), whatever the order in
// which they were hashed. Both steps may be done twice.

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

// Standard deviation of the greys, of 255. Below it there is nothing to recognize: what differs is noise, and every photo of
// the dark would be a copy of the other.
const MIN_CONTRAST = 4

const BATCH = { perTenant: 16, limit: 128 }
// As many processes may die over a picture, for want of memory as a rule. One picture at a time, so that it is that one.
const MAX_STARTS = 3
const RETRY = { baseSeconds: 15, capSeconds: 3_600 }
// Of one tenant in a round. Sixteen photos take a second; pictures that are slow to decode take as long as they may, and the next
// round of all others waits for this one.
const TURN_MS = 5_000

export interface DuplicatesDeps {
  db: Database
  store: Pick<BlobStore, 'withLocalFile'>
  hasher: Pick<Hasher, 'hash'>
  log: Log
  /** Of one tenant in a round. */
  turnMs?: number
}

export type Duplicates = ReturnType<typeof createDuplicates>

export function createDuplicates({ db, store, hasher, log, turnMs = TURN_MS }: DuplicatesDeps) {
  let after: Scope | undefined

  /** Hashes and compares one attestation, as far as it is not. */
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
    // A file that stops or kills its decoder says something, once it is not this machine's fault: it does so again.
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

  // One after the other, so that an account has one picture in the decoder at a time; the first in any case.
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

  /** Works on what waits; any number of processes may. Answers how much it took, which is 0 when nothing is left to take. */
  async function round(signal: AbortSignal): Promise<number> {
    const taken = await db.system('duplicates', (tx) => takeWaiting(tx, { after, ...BATCH }))
    // From the next tenant on, so that one with a hundred thousand photos does not hold up the rest of the alphabet.
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
  // A recheck tells nobody: whoever made it necessary is earlier, and has told all others itself.
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

// One finding per other claim: its nearest picture, of equals the first. Nearest claims first.
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
