// What the attest queue does: gather the facts of one submission, judge them (pure), and settle result, claim, events and
// job in one transaction. Run twice, the second does nothing.

import { note } from '#src/platform/context.ts'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Environment, Scope } from '#src/platform/ids.ts'
import type { Outcome, RunningJob, Work } from '#src/platform/jobs/consume.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import { inSpan } from '#src/platform/trace.ts'
import type { OpenCase } from '../cases/escalation.ts'
import type { Facts } from '../factors/facts.ts'
import { type Judgement, judge } from '../factors/judge.ts'
import type { ReadRevocations } from '../hardware/lists.ts'
import type { ExifFacts } from '../media/exif.ts'
import type { Inspector } from '../media/inspector.ts'
import { type Gathered, gather } from './gather.ts'
import { type HardwareContext, takeCounter } from './hardware-facts.ts'
import { findSubmitted, markFailed, markQueued, type SubmittedRow } from './rows.ts'
import { createSettle } from './settle.ts'

export interface VerifyDeps {
  db: Database
  store: BlobStore
  inspector: Inspector
  /** A compact JWS over `payload`, by the environment's record key. */
  signRecord(environment: Environment, typ: string, payload: Json): Promise<string>
  now: () => Date
  /** Vendors' revoked keys; without, none is known to be good. */
  revocations?: ReadRevocations
  /** What a claim that becomes failed gets; nothing when absent. */
  openCase?: OpenCase | undefined
}

// Decided defaults until an account sets its own: 25 asks for a look, 50 is what any single sign of tampering reaches.
const POLICY: Facts['policy'] = { geofenceMetres: 1_000, thresholds: { review: 25, failed: 50 } }

// What went wrong stays with the job, for operators: it may name files, addresses and queries.
const FAILURE = 'It could not be evaluated, through no fault that was found in it. It can be tried again.'

/** The handler of the attest queue. */
export function createVerify({
  db,
  store,
  inspector,
  signRecord,
  now,
  openCase,
  revocations = async () => 'never_fetched',
}: VerifyDeps): Work<'attest'> {
  const settle = createSettle({ db, openCase })

  async function run({ attestationId }: { attestationId: string }, job: RunningJob): Promise<Outcome> {
    const gathered = await db.tenant(job.scope, async (tx) => {
      const submitted = await findSubmitted(tx, attestationId)
      return submitted && { submitted, gathered: await gather(tx, submitted) }
    })
    if (gathered === undefined) return { kind: 'dead', error: 'the attestation is gone' }
    const { submitted } = gathered
    note({ claim: submitted.claimId })
    if (submitted.status === 'evaluated' || submitted.status === 'cancelled') {
      return { kind: 'done' }
    }

    const facts = await factsOf(
      submitted,
      gathered.gathered,
      await readMedia(job, submitted),
      await hardwareContext(job, submitted),
    )
    const judgement = judge(facts)
    const evaluatedAt = now()
    const record = recordOf(job.scope, submitted, judgement, evaluatedAt)
    const resultJws = await signRecord(job.scope.environment, 'attest-result+jwt', record)
    const signerId = facts.device?.id ?? null

    await settle({
      job,
      claimId: submitted.claimId,
      result: { id: attestationId, judgement, evaluatedAt, resultJws, signerId },
    })
    return { kind: 'settled' }
  }

  async function hardwareContext({ scope }: RunningJob, { id }: SubmittedRow): Promise<HardwareContext> {
    return {
      revocations: await revocations(),
      now: now(),
      useCounter: (use) => db.tenant(scope, (tx) => takeCounter(tx, scope, use, id)),
    }
  }

  async function readMedia({ scope, attempt }: RunningJob, { mediaSha256 }: SubmittedRow): Promise<ExifFacts> {
    const inspection = await inSpan(
      () => ({ name: 'inspect media' }),
      () => store.withLocalFile(scope, mediaSha256.toString('hex'), inspector.inspect),
    )
    if (inspection.ok) return inspection.value.exif
    const { code, detail } = inspection
    // A file that stops or kills its parser says something, once it is not this machine's fault: it does so again.
    if (code === 'unreadable' || (attempt > 1 && (code === 'timeout' || code === 'crashed'))) {
      return { state: 'unreadable', detail: `${code}: ${detail}` }
    }
    throw new Error(`the media can't be read now: ${code}`)
  }

  return {
    run,
    bury: (tx, _scope, { attestationId }) => markFailed(tx, { id: attestationId }, FAILURE),
    buryUnread: (tx, _scope, jobId) => markFailed(tx, { jobId }, FAILURE),
    unbury: (tx, _scope, { attestationId }) => markQueued(tx, attestationId),
  }
}

async function factsOf(
  submitted: SubmittedRow,
  gathered: Gathered,
  exif: ExifFacts,
  context: HardwareContext,
): Promise<Facts> {
  const { claim, media_type: mediaType } = submitted.submission
  const { lat, lng } = claim?.loss_location ?? { lat: submitted.claimLossLat, lng: submitted.claimLossLng }
  return {
    ...(await gathered.judgeCapture(context)),
    acceptedAt: submitted.acceptedAt,
    media: { sha256: submitted.mediaSha256.toString('hex'), contentType: submitted.mediaContentType, mediaType },
    exif,
    lossLocation: lat === null || lng === null ? null : { lat, lng },
    policy: POLICY,
  }
}

/** What is signed: enough to recompute the score offline and to tie it to the exact bytes and bundle that were judged. */
function recordOf(scope: Scope, submitted: SubmittedRow, judgement: Judgement, evaluatedAt: Date): Json {
  const { bundle } = submitted.submission
  return JSON.parse(
    JSON.stringify({
      account_id: scope.accountId,
      environment: scope.environment,
      attestation_id: submitted.id,
      claim_id: submitted.claimId,
      media_sha256: submitted.mediaSha256.toString('hex'),
      bundle_sha256: bundle ? sha256Base64url(canonicalize(JSON.parse(JSON.stringify(bundle)))) : null,
      accepted_at: submitted.acceptedAt,
      evaluated_at: evaluatedAt,
      rules_version: judgement.rulesVersion,
      provenance_status: judgement.provenanceStatus,
      risk_status: judgement.riskStatus,
      risk_score: judgement.riskScore,
      hardware_tier: judgement.hardwareTier,
      factors: judgement.factors,
      advisory_factors: judgement.advisoryFactors,
      observations: judgement.observations,
      iat: Math.floor(evaluatedAt.getTime() / 1_000),
    }),
  )
}
