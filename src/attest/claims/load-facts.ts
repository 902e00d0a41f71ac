// The facts of one submission. Its media and its video are loaded; its capture is verified from the rows that were loaded
// with it (verify-capture.ts), between the two writes that take its nonce and its counter (single-use.ts).

import { createReadMedia, type MediaFactsDeps } from '#src/attest/media/media-facts.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { RunningJob } from '#src/platform/jobs/consume.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import type { Facts } from '../factors/facts.ts'
import type { ReadRevocations } from '../hardware/lists.ts'
import type { LoadedSubmission } from './load.ts'
import { createSingleUse } from './single-use.ts'
import type { SubmittedRow } from './submission-rows.ts'
import { type CaptureFacts, verifiedBefore, verifyCapture } from './verify-capture.ts'
import { createReadVideo, withVideo } from './video-facts.ts'

export interface LoadFactsDeps extends MediaFactsDeps {
  db: Pick<Database, 'tenant'>
  store: BlobStore
  now: () => Date
  /** Vendors' lists of revoked keys; without them, no key is known to be good. */
  revocations?: ReadRevocations
}

/**
 * @param judged The facts of an earlier result. The capture is not verified again then: its nonce was used up, and its
 *   session, its root CA or the chain that its device had may be gone.
 * @throws when the media can't be read now: `MEDIA_BUSY`, or an error.
 */
export type LoadFacts = (job: RunningJob, loaded: LoadedSubmission, judged?: Facts) => Promise<Facts>

export function createLoadFacts({
  db,
  now,
  revocations = async () => 'never_fetched',
  ...deps
}: LoadFactsDeps): LoadFacts {
  const readMedia = createReadMedia(deps)
  const readVideo = createReadVideo({ db, store: deps.store })
  const singleUse = createSingleUse({ db, now })

  async function loadMedia(job: RunningJob, submitted: SubmittedRow, judged: Facts | undefined) {
    return { ...(await readMedia(job, submitted)), ...withVideo(await readVideo(job, submitted, judged?.video)) }
  }

  async function verifySubmitted(
    { scope }: RunningJob,
    { submitted, captureContext }: LoadedSubmission,
  ): Promise<CaptureFacts> {
    const known = { revocations: await revocations(), now: now() }
    const session = await singleUse.takeSession(scope, submitted.id, captureContext.session)
    const verified = await verifyCapture(submitted, { ...captureContext, session }, known)
    return singleUse.takeCounter(scope, submitted.id, verified)
  }

  return async (job, loaded, judged) => {
    const { submitted, policy, screening } = loaded
    // The media are read in other threads. What the capture takes it takes for this attestation, so it may have taken it when
    // the media can't be read now, and the job runs again.
    const [media, capture] = await Promise.all([
      loadMedia(job, submitted, judged),
      judged === undefined ? verifySubmitted(job, loaded) : verifiedBefore(submitted, judged),
    ])
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
