// Loads the facts of one submission: its media, its video, and what is known of its device and session.

import { createReadMedia, type MediaFactsDeps } from '#src/attest/media/media-facts.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { RunningJob } from '#src/platform/jobs/consume.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import type { Facts } from '../factors/facts.ts'
import type { ReadRevocations } from '../hardware/lists.ts'
import type { LoadedSubmission } from './load.ts'
import type { SubmittedRow } from './rows.ts'
import { takeCounter, takeNonce } from './single-use-rows.ts'
import { markCounterReused, type VerifiedCapture, verifyCapture } from './verify-capture.ts'
import { createReadVideo, withVideo } from './video-facts.ts'

export interface LoadFactsDeps extends MediaFactsDeps {
  db: Pick<Database, 'tenant'>
  store: BlobStore
  now: () => Date
  /** Vendors' lists of revoked keys; without them, no key is known to be good. */
  revocations?: ReadRevocations
}

/** @throws when the media can't be read now: `MEDIA_BUSY`, or an error. */
export type LoadFacts = (job: RunningJob, loaded: LoadedSubmission) => Promise<Facts>

export function createLoadFacts({
  db,
  now,
  revocations = async () => 'never_fetched',
  ...deps
}: LoadFactsDeps): LoadFacts {
  const readMedia = createReadMedia(deps)
  const readVideo = createReadVideo({ db, store: deps.store })

  async function loadCapture(
    { scope }: RunningJob,
    { submitted, captureContext }: LoadedSubmission,
  ): Promise<VerifiedCapture['facts']> {
    const { id } = submitted
    const known = { revocations: await revocations(), now: now() }
    // Two captures were sent with one nonce, and the capture that had consumed it was cancelled.
    const { session: stored } = captureContext
    const isFree = stored !== undefined && stored.consumedBy === null
    const session = isFree ? await db.tenant(scope, (tx) => takeNonce(tx, stored.nonce, id, now())) : stored
    const { facts, counterUse } = await verifyCapture(submitted, { ...captureContext, session }, known)
    if (counterUse === undefined) return facts
    const owner = await db.tenant(scope, (tx) => takeCounter(tx, scope, counterUse, id))
    return owner === id ? facts : markCounterReused(facts, owner)
  }

  return async (job, loaded) => {
    const { submitted, policy, screening } = loaded
    const readAll = async () => ({
      ...(await readMedia(job, submitted)),
      ...withVideo(await readVideo(job, submitted)),
    })
    // The media are read in other threads. What the capture takes (nonce, counter) it takes for this attestation, so it may
    // have taken it when the media can't be read now, and the job runs again.
    const [media, capture] = await Promise.all([readAll(), loadCapture(job, loaded)])
    return { ...capture, ...submissionFacts(submitted), ...media, policy, screening }
  }
}

function submissionFacts(submitted: SubmittedRow) {
  const { claim, media_type: mediaType } = submitted.submission
  const { claimLossLat: lat, claimLossLng: lng } = submitted
  const claimLossLocation = lat === null || lng === null ? null : { lat, lng }
  return {
    acceptedAt: submitted.acceptedAt,
    media: { sha256: submitted.mediaSha256.toString('hex'), contentType: submitted.mediaContentType, mediaType },
    claimReference: claim?.reference ?? null,
    lossLocation: claim?.loss_location ?? claimLossLocation,
    claimLossLocation,
  }
}
