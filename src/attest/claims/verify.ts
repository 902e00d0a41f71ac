// The handler of the attest queue: loads the facts of one submission, evaluates them (pure), and settles result, claim,
// events and job in one transaction. A second run does nothing.

import { failMarks, reopenMarks } from '#src/attest/causes/mark-rows.ts'
import { encodeFacts } from '#src/attest/factors/stored-facts.ts'
import { createReadMedia, MEDIA_BUSY, type MediaFactsDeps } from '#src/attest/media/media-facts.ts'
import { note } from '#src/platform/context.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Environment } from '#src/platform/ids.ts'
import type { JobOutcome, RunningJob, Work } from '#src/platform/jobs/consume.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import type { OpenCase } from '../cases/escalation.ts'
import type { Facts } from '../factors/facts.ts'
import { judge } from '../factors/judge.ts'
import type { ReadRevocations } from '../hardware/lists.ts'
import type { C2paReader } from '../media/c2pa.ts'
import type { Inspector } from '../media/inspector.ts'
import { createRejudge } from '../reevaluate/rejudge.ts'
import { createLoadSubmission, type LoadedSubmission } from './load.ts'
import { recordOf } from './record.ts'
import { markFailed, markQueued, type SubmittedRow } from './rows.ts'
import { createSettle } from './settle.ts'
import { takeCounter, takeNonce } from './single-use-rows.ts'
import { markCounterReused, type VerifiedCapture, verifyCapture } from './verify-capture.ts'
import { createReadVideo, withVideo } from './video-facts.ts'

export interface VerifyDeps {
  db: Database
  store: BlobStore
  inspector: Inspector
  c2pa: Pick<C2paReader, 'read'>
  c2paAnchorsOf: MediaFactsDeps['c2paAnchorsOf']
  /** A compact JWS over `payload`, signed with the environment's record key. */
  signRecord(environment: Environment, typ: string, payload: Json): Promise<string>
  now: () => Date
  random?: () => number
  /** Vendors' lists of revoked keys; without them, no key is known to be good. */
  revocations?: ReadRevocations
  /** Opens a case for a claim that becomes failed; absent: none. */
  openCase?: OpenCase | undefined
}

// Reading slow files takes seconds, and waiting jobs must not all return at the same time.
const BUSY_MS = 2_000

// The cause stays with the job, for operators: it may name files, addresses and queries.
const FAILURE = 'It could not be evaluated, through no fault that was found in it. It can be tried again.'

/** The handler of the attest queue. */
export function createVerify({
  db,
  store,
  inspector,
  c2pa,
  c2paAnchorsOf,
  signRecord,
  now,
  random = Math.random,
  openCase,
  revocations = async () => 'never_fetched',
}: VerifyDeps): Work<'attest'> {
  const load = createLoadSubmission(db)
  const readMedia = createReadMedia({ c2paAnchorsOf, store, inspector, c2pa })
  const readVideo = createReadVideo({ db, store })
  const settle = createSettle({ db, openCase })
  const rejudge = createRejudge({ db, signRecord, now, revocations, openCase })

  async function run({ attestationId }: { attestationId: string }, job: RunningJob): Promise<JobOutcome> {
    try {
      return await verify(attestationId, job)
    } catch (error) {
      if (error !== MEDIA_BUSY) throw error
      // This counts as no failure: ten failures would end the evaluation of an honest file that waited behind slow
      // ones.
      return {
        kind: 'defer',
        reason: 'too many files are waiting to be read',
        delayMs: Math.round(BUSY_MS * (0.5 + random())),
      }
    }
  }

  async function verify(attestationId: string, job: RunningJob): Promise<JobOutcome> {
    const found = await load(job.scope, attestationId)
    if (found === undefined) return { kind: 'dead', error: 'the attestation is gone' }
    const { submitted, captureContext, policy } = found
    note({ claim: submitted.claimId })
    if (submitted.status === 'cancelled') return { kind: 'done' }
    if (submitted.status === 'evaluated') return rejudge(job, attestationId, () => loadFacts(job, found))

    const facts = await loadFacts(job, found)
    const judgement = judge(facts)
    const evaluatedAt = now()
    const policyVersion = policy.version
    const record = recordOf(job.scope, submitted, { judgement, policyVersion, evaluatedAt })
    const resultJws = await signRecord(job.scope.environment, 'attest-result+jwt', record)
    const signerId = facts.device?.id ?? null

    await settle({
      job,
      claimId: submitted.claimId,
      result: {
        id: attestationId,
        judgement,
        evaluatedAt,
        resultJws,
        signerId,
        keyOwnerId: captureContext.keyOwnerId,
        facts: encodeFacts(facts),
        policyVersion,
      },
    })
    return { kind: 'settled' }
  }

  async function loadFacts(job: RunningJob, found: LoadedSubmission): Promise<Facts> {
    const { submitted, policy, screening } = found
    const media = { ...(await readMedia(job, submitted)), ...withVideo(await readVideo(job, submitted)) }
    const capture = await loadCapture(job, found)
    return { ...capture, ...submissionFacts(submitted), ...media, policy, screening }
  }

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

  return {
    run,
    onDead: async (tx, _scope, { attestationId }) =>
      void (await Promise.all([markFailed(tx, { id: attestationId }, FAILURE), failMarks(tx, attestationId)])),
    onUnreadableDead: (tx, _scope, jobId) => markFailed(tx, { jobId }, FAILURE),
    onRedrive: async (tx, _scope, { attestationId }) =>
      void (await Promise.all([markQueued(tx, attestationId), reopenMarks(tx, attestationId)])),
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
