// The handler of the compare queue: compares the media of an evaluated attestation with those of other claims of the
// same account and environment. Two steps, each committed before the next: the hash, then the comparison. Of two
// attestations, the one that starts its comparison last sees the other's hash, so a pair is found once both are done. It
// is stored with the later attestation (by id), in whatever order they were hashed. Both steps are safe to repeat.

import type { Database, Tx } from '#src/platform/db/database.ts'
import { createFairTurns } from '#src/platform/fair-turns.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { JobOutcome, RunningJob, Work } from '#src/platform/jobs/consume.ts'
import { failpoint } from '#src/platform/jobs/failpoint.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import type { Hasher } from './hasher.ts'
import { toFindings } from './nearest.ts'
import {
  copyHash,
  findWaiting,
  lockWaiting,
  type NotComparable,
  recheck,
  reopen,
  storeExactFindings,
  storeFindings,
  storeHash,
  type WaitingRow,
} from './rows.ts'
import { findSameMedia, findSimilar, type Other } from './search.ts'

// Standard deviation of the greys, of 255. Below it the picture has no content to recognize: only noise differs, and
// every photo of the dark would match every other.
const MIN_CONTRAST = 4
// Pictures that this process reads at once: on S3 each is a temporary file of up to 100 MB. The decoder takes one of
// them at a time, and one account has one of them.
const PICTURES = 16
// While the store is unreachable every waiting photo comes back after this time.
const STORE_AWAY_MS = 30_000
const DECODER_BUSY_MS = 5_000
// A hash must be visible to others before the comparison starts. The commit of the comparison waits for the disk, and so
// for the hash too.
const VISIBLE = { isDurable: false }

export interface CompareDeps {
  db: Database
  store: Pick<BlobStore, 'withLocalFile' | 'exists'>
  hasher: Pick<Hasher, 'hash'>
  random?: () => number
}

type Hash = { hash: string } | { notComparable: NotComparable }

export function createCompare({ db, store, hasher, random = Math.random }: CompareDeps): Work<'compare'> {
  const inTurn = createFairTurns({
    slots: PICTURES,
    slotsEach: 1,
    // Bounded by the jobs of this worker.
    maxWaitingEach: Number.POSITIVE_INFINITY,
    maxWaiting: Number.POSITIVE_INFINITY,
    refusal: { detail: 'Too many pictures are waiting.', retryAfterSeconds: 1 },
  })

  const defer = (reason: string, delayMs: number): JobOutcome => ({
    kind: 'defer',
    reason,
    delayMs: Math.round(delayMs * (0.5 + random())),
  })

  /** Hashes the media unless that is done. Returns whether a comparison is due, or why it can't be hashed now. */
  async function hash(job: RunningJob, attestationId: string): Promise<boolean | JobOutcome> {
    const { scope, signal } = job
    // The job has moved on, or the worker is stopping.
    if (signal.aborted) return defer('the worker stopped waiting', 0)
    const [, row] = await db.tenant(
      scope,
      (tx) => Promise.all([copyHash(tx, attestationId), findWaiting(tx, attestationId)]),
      VISIBLE,
    )
    if (row === undefined) return false
    if (row.state !== 'due') return true
    const result = await hashOf(scope, row, job)
    if ('kind' in result) return result
    failpoint('compare:hashed')
    await db.tenant(scope, (tx) => storeHash(tx, attestationId, result), VISIBLE)
    failpoint('compare:stored')
    return true
  }

  async function hashOf(
    scope: Scope,
    { sha256, contentType }: WaitingRow,
    job: RunningJob,
  ): Promise<Hash | JobOutcome> {
    if (contentType.startsWith('video/')) return { notComparable: 'video' }
    const inspection = await store.withLocalFile(scope, sha256, hasher.hash).catch((error: unknown) => ({ error }))
    if ('error' in inspection) return unread(scope, sha256, inspection.error)
    if (inspection.ok) {
      const { hash, contrast } = inspection.value
      return contrast < MIN_CONTRAST ? { notComparable: 'flat' } : { hash }
    }
    const { code, detail } = inspection
    if (code === 'unreadable') {
      if (contentType === 'image/heic') return { notComparable: 'no_decoder' }
      return { notComparable: detail.includes('pixel limit') ? 'too_large' : 'unreadable' }
    }
    if (code === 'timeout' || code === 'crashed') {
      // If a file times out or crashes its decoder on a retry too, the cause is the file and not this machine.
      return job.attempt > 1 ? { notComparable: code } : { kind: 'retry', error: `the decoder: ${code}` }
    }
    return defer(`the decoder: ${code}`, DECODER_BUSY_MS)
  }

  // A blob that is missing from a store that answers is a failure that someone must look at.
  async function unread(scope: Scope, sha256: string, error: unknown): Promise<JobOutcome> {
    const isThere = await store.exists(scope, sha256).catch(() => undefined)
    const reason = error instanceof Error ? error.message : String(error)
    return isThere === false ? { kind: 'retry', error: reason } : defer(`the store: ${reason}`, STORE_AWAY_MS)
  }

  return {
    async run({ attestationId }, job) {
      const isDue = await inTurn(job.scope.accountId, () => hash(job, attestationId))
      if (typeof isDue === 'object') return isDue
      if (!isDue) return { kind: 'done' }
      await db.tenant(job.scope, async (tx) => {
        await job.settle(tx)
        await compare(tx, job.scope, attestationId)
      })
      return { kind: 'settled' }
    },

    // The same bytes are found without a hash, so that no photo leaves the comparison silently.
    async onDead(tx, scope, { attestationId }) {
      const own = await lockWaiting(tx, attestationId)
      if (own === undefined) return
      const same = await findSameMedia(tx, own)
      if (own.state !== 'recheck') await recheckLater(tx, scope, attestationId, same)
      await storeExactFindings(tx, scope, attestationId, toFindings(attestationId, same))
    },

    onRedrive: (tx, _scope, { attestationId }) => reopen(tx, attestationId),
  }
}

async function compare(tx: Tx, scope: Scope, attestationId: string): Promise<void> {
  const own = await lockWaiting(tx, attestationId)
  if (own === undefined) return
  const { hash } = own
  const [same, similar] = await Promise.all([
    findSameMedia(tx, own),
    hash === null ? [] : findSimilar(tx, { ...own, hash }),
  ])
  const others = [...same, ...similar]
  // A recheck triggers no further rechecks: the attestation that caused it is earlier, and has triggered all of them.
  if (own.state !== 'recheck') await recheckLater(tx, scope, attestationId, others)
  await storeFindings(tx, scope, attestationId, toFindings(attestationId, others))
}

// The comparisons of later attestations may not have seen this one.
function recheckLater(tx: Tx, scope: Scope, attestationId: string, others: readonly Other[]): Promise<void> {
  return recheck(
    tx,
    scope,
    others.map((other) => other.attestationId).filter((id) => id > attestationId),
  )
}
