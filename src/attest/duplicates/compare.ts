// The handler of the compare queue: compares the media of an evaluated attestation with those of other claims of the
// same account and environment. Steps, each committed before the next, and each safe to repeat: the hash, unless the
// media have one; pictures with nearly the same hash are compared with this one; later attestations (by id) whose comparison may
// not have seen this one are queued again; the comparison.
// A pair is stored with the later of the two. A comparison holds its fingerprint from before its search until its end, so
// of two attestations either the later one sees the earlier, or the earlier one finds the later compared.

import { LRUCache } from 'lru-cache'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { createFairSemaphore } from '#src/platform/fair-semaphore.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { JobOutcome, RunningJob, Work } from '#src/platform/jobs/consume.ts'
import { failpoint } from '#src/platform/jobs/failpoint.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import { createConfirmations } from './confirm.ts'
import type { Hasher } from './hasher.ts'
import { findLater, type Later } from './later-rows.ts'
import { findWaitingMedia, type Hashed, insertPicture, keepPicture, type WaitingMedia } from './picture-rows.ts'
import { lockHashed, lockWaiting, recheck, reopenFingerprint, storeExactFindings, storeFindings } from './rows.ts'
import { type Alike, createSearch, MAX_MATCHES } from './search.ts'

// Standard deviation of the greys, of 255. Below it the picture has no content to recognize: only noise differs, and
// every photo of the dark would match every other.
const MIN_CONTRAST = 4
// Pictures that this process reads at once: on S3 each is a temporary file of up to 100 MB. The decoder takes one of
// them at a time, and one account has one of them.
const PICTURES = 16
// While the store is unreachable every waiting photo comes back after this time.
const STORE_AWAY_MS = 30_000
const DECODER_BUSY_MS = 5_000
// A file that times out or crashes its decoder is tried once more, after this time: the cause may be the machine. Thousands
// of attestations may show the file, and each try is a second of a processor.
const CONFIRM_AFTER_MS = 5_000
const MAX_FAILED = 10_000
// The steps before the comparison must be visible to others before it starts. Its commit waits for the disk, and so for
// theirs too.
const VISIBLE = { isDurable: false }
// Attestations that one transaction queues again.
const LATER_STEP = 1_000

// Thrown to roll back a comparison: the picture was erased since it was read; pictures are to be confirmed outside of the
// transaction; later attestations come first.
const GONE = Symbol('the picture is gone')
const CONFIRM_FIRST = Symbol('pictures are to be confirmed first')
const LATER_FIRST = Symbol('later attestations are to be queued first')

export interface CompareDeps {
  db: Database
  store: Pick<BlobStore, 'withLocalFile' | 'exists'>
  hasher: Pick<Hasher, 'hash'>
  random?: () => number
  /** Monotonic milliseconds. */
  elapsed?: () => number
  /** See `createSearch`. */
  maxMatches?: number
}

export function createCompare({
  db,
  store,
  hasher,
  random = Math.random,
  elapsed = () => performance.now(),
  maxMatches = MAX_MATCHES,
}: CompareDeps): Work<'compare'> {
  const { findAlike, findClaims } = createSearch(maxMatches)
  const confirmations = createConfirmations({ db })
  // When each file failed in the decoder for the first time.
  const failedAt = new LRUCache<string, number>({ max: MAX_FAILED })
  const withSlot = createFairSemaphore({
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

  /** Hashes the media unless that is done. Returns whether a comparison is due, or why they can't be hashed now. */
  async function hash(job: RunningJob, attestationId: string): Promise<boolean | JobOutcome> {
    const { scope, signal } = job
    // The job has moved on, or the worker is stopping.
    if (signal.aborted) return defer('the worker stopped waiting', 0)
    const media = await db.tenant(scope, (tx) => findWaitingMedia(tx, attestationId))
    if (media === undefined) return false
    if (media.isHashed) return true
    const result = await Promise.race([hashOf(scope, media, job), untilAborted(signal)])
    if (result === undefined) return defer('the worker stopped waiting', 0)
    if ('kind' in result) return result
    failpoint('compare:hashed')
    await db.tenant(scope, (tx) => insertPicture(tx, attestationId, result), VISIBLE)
    failpoint('compare:stored')
    return true
  }

  async function hashOf(
    scope: Scope,
    { sha256, contentType }: WaitingMedia,
    job: RunningJob,
  ): Promise<Hashed | JobOutcome> {
    if (contentType.startsWith('video/')) return { notComparable: 'video' }
    const file = `${scope.accountId} ${sha256}`
    const failed = failedAt.get(file)
    if (job.attempt === 1 && failed !== undefined && elapsed() - failed < CONFIRM_AFTER_MS) {
      return defer('the decoder failed on the same file just now', CONFIRM_AFTER_MS)
    }
    const inspection = await store.withLocalFile(scope, sha256, hasher.hash).catch((error: unknown) => ({ error }))
    if ('error' in inspection) return unread(scope, sha256, inspection.error)
    if (inspection.ok) {
      failedAt.delete(file)
      const { hash, contrast, detail } = inspection.value
      return contrast < MIN_CONTRAST ? { notComparable: 'flat' } : { hash, detail }
    }
    const { code } = inspection
    if (code === 'unreadable' || code === 'too_large') {
      return { notComparable: contentType === 'image/heic' ? 'no_decoder' : code }
    }
    if (code === 'timeout' || code === 'crashed') {
      // Twice, on a retry or in another job: the cause is the file and not this machine.
      if (job.attempt > 1 || failed !== undefined) return { notComparable: code }
      failedAt.set(file, elapsed())
      return { kind: 'retry', error: `the decoder: ${code}` }
    }
    return defer(`the decoder: ${code}`, DECODER_BUSY_MS)
  }

  // A blob that is missing from a store that answers is a failure that someone must look at.
  async function unread(scope: Scope, sha256: string, error: unknown): Promise<JobOutcome> {
    const isThere = await store.exists(scope, sha256).catch(() => undefined)
    const reason = error instanceof Error ? error.message : String(error)
    return isThere === false ? { kind: 'retry', error: reason } : defer(`the store: ${reason}`, STORE_AWAY_MS)
  }

  /** Compares and settles. false when its media are not hashed, or it is compared already, or gone: nothing is written. */
  async function compare(job: RunningJob, attestationId: string): Promise<boolean> {
    let later: Later | undefined
    let unconfirmed: { mediaId: string; alike: Alike[] } | undefined
    const attempt = () =>
      db.tenant(job.scope, async (tx) => {
        const locked = await lockHashed(tx, attestationId)
        if (locked === undefined) return false
        const { mediaId, hash } = locked
        const alike = hash === null ? [] : await findAlike(tx, { mediaId, hash })
        const same = confirmations.select(mediaId, alike)
        if (same === undefined) {
          unconfirmed = { mediaId, alike }
          throw CONFIRM_FIRST
        }
        const found = await findClaims(tx, locked, same)
        // A recheck has nothing to queue: its first comparison has.
        if (later === undefined && locked.state === 'due' && found.laterMedia.length > 0) {
          later = { ...locked, media: found.laterMedia }
          throw LATER_FIRST
        }
        // The picture is locked last: an erasure locks fingerprints before it.
        const [, , isKept] = await Promise.all([
          job.settle(tx),
          storeFindings(tx, job.scope, locked, found),
          keepPicture(tx, mediaId),
        ])
        if (!isKept) throw GONE
        return true
      })
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        if (error === GONE) return false
        if (error === CONFIRM_FIRST && unconfirmed !== undefined) {
          await confirmations.compare(job.scope, unconfirmed.mediaId, unconfirmed.alike)
        } else if (error === LATER_FIRST && later !== undefined) await queueLater(job.scope, later)
        else throw error
      }
    }
  }

  // It holds no lock of its own meanwhile: comparisons would wait for each other in a row.
  async function queueLater(scope: Scope, own: Later): Promise<void> {
    for (let after: string | undefined = own.attestationId; after !== undefined; ) {
      const from: string = after
      after = await db.tenant(scope, (tx) => recheckLater(tx, scope, own, from), VISIBLE)
    }
  }

  return {
    async run({ attestationId }, job) {
      if (await compare(job, attestationId)) return { kind: 'settled' }
      const isDue = await withSlot(job.scope.accountId, () => hash(job, attestationId))
      if (typeof isDue === 'object') return isDue
      if (!isDue) return { kind: 'done' }
      return (await compare(job, attestationId)) ? { kind: 'settled' } : defer('its picture is gone', 0)
    },

    // The same bytes are found without a hash, so that no photo leaves the comparison silently.
    async onDead(tx, scope, { attestationId }) {
      const own = await lockWaiting(tx, attestationId)
      if (own === undefined) return
      const found = await findClaims(tx, own, [])
      const later = { ...own, media: own.state === 'due' ? found.laterMedia : [] }
      for (let after: string | undefined = attestationId; later.media.length > 0 && after !== undefined; ) {
        after = await recheckLater(tx, scope, later, after)
      }
      await storeExactFindings(tx, scope, attestationId, found)
    },

    onRedrive: (tx, _scope, { attestationId }) => reopenFingerprint(tx, attestationId),

    // Dozens may wait here for the one decoder, each of them for seconds.
    endsAtOnce: true,
  }
}

function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((done) => {
    if (signal.aborted) done(undefined)
    else signal.addEventListener('abort', () => done(undefined), { once: true })
  })
}

/**
 * Queues a step of the later attestations that show one of the media. Returns the last of them, or undefined when there are
 * no more.
 */
async function recheckLater(tx: Tx, scope: Scope, own: Later, after: string): Promise<string | undefined> {
  const { compared, running } = await findLater(tx, scope, own, { after, limit: LATER_STEP })
  // What runs is of interest in the first step: a comparison that began later has seen this attestation.
  await recheck(tx, scope, after === own.attestationId ? [...compared, ...running] : compared)
  return compared.length < LATER_STEP ? undefined : compared.at(-1)
}
