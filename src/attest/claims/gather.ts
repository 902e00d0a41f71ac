// Loads the facts of one submission: its media, its video, and what is known of its device and session.

import { createReadMedia, type MediaFacts, type MediaFactsDeps } from '#src/attest/media/media-facts.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { RunningJob } from '#src/platform/jobs/consume.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import type { Facts } from '../factors/facts.ts'
import type { ReadRevocations } from '../hardware/lists.ts'
import type { CaptureContext } from './context.ts'
import { type HardwareContext, takeCounter, takeNonce } from './hardware-facts.ts'
import type { LoadedSubmission } from './load.ts'
import type { SubmittedRow } from './rows.ts'
import { createReadVideo, withVideo } from './video-facts.ts'

export interface GatherFactsDeps extends MediaFactsDeps {
  db: Pick<Database, 'tenant'>
  store: BlobStore
  now: () => Date
  /** Vendors' lists of revoked keys; without them, no key is known to be good. */
  revocations?: ReadRevocations
}

/** @throws when the media can't be read now: `MEDIA_BUSY`, or an error. */
export type GatherFacts = (job: RunningJob, loaded: LoadedSubmission) => Promise<Facts>

export function createGatherFacts({
  db,
  now,
  revocations = async () => 'never_fetched',
  ...deps
}: GatherFactsDeps): GatherFacts {
  const readMedia = createReadMedia(deps)
  const readVideo = createReadVideo({ db, store: deps.store })

  async function hardwareContext({ scope }: RunningJob, { id }: SubmittedRow): Promise<HardwareContext> {
    return {
      revocations: await revocations(),
      now: now(),
      useCounter: (use) => db.tenant(scope, (tx) => takeCounter(tx, scope, use, id)),
      useNonce: (nonce) => db.tenant(scope, (tx) => takeNonce(tx, nonce, id, now())),
    }
  }

  return async (job, { submitted, captureContext, policy, screening }) =>
    factsOf(
      submitted,
      captureContext,
      { ...(await readMedia(job, submitted)), ...withVideo(await readVideo(job, submitted)) },
      await hardwareContext(job, submitted),
      { policy, screening },
    )
}

async function factsOf(
  submitted: SubmittedRow,
  captureContext: CaptureContext,
  mediaFacts: MediaFacts & Pick<Facts, 'video'>,
  context: HardwareContext,
  known: Pick<Facts, 'policy' | 'screening'>,
): Promise<Facts> {
  const { claim, media_type: mediaType } = submitted.submission
  const { claimLossLat: lat, claimLossLng: lng } = submitted
  const claimLossLocation = lat === null || lng === null ? null : { lat, lng }
  return {
    ...(await captureContext.judgeCapture(context)),
    acceptedAt: submitted.acceptedAt,
    media: { sha256: submitted.mediaSha256.toString('hex'), contentType: submitted.mediaContentType, mediaType },
    ...mediaFacts,
    claimReference: claim?.reference ?? null,
    lossLocation: claim?.loss_location ?? claimLossLocation,
    claimLossLocation,
    ...known,
  }
}
