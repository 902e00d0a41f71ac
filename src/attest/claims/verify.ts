// What the attest queue does: gather the facts of one submission, judge them (pure), and settle result, claim, events and
// job in one transaction. Run twice, the second does nothing.

import { note } from '#src/platform/context.ts'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { emitMany, type NewEvent } from '#src/platform/events.ts'
import type { Environment, Scope } from '#src/platform/ids.ts'
import type { Outcome, RunningJob, Work } from '#src/platform/jobs/consume.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import { inSpan } from '#src/platform/trace.ts'
import type { OpenCase } from '../cases/escalation.ts'
import type { Facts } from '../factors/facts.ts'
import { aggregate, type ClaimStanding, type Judgement, judge, type Standing } from '../factors/judge.ts'
import type { ReadRevocations } from '../hardware/lists.ts'
import type { ExifFacts } from '../media/exif.ts'
import type { Inspector } from '../media/inspector.ts'
import { type ClaimRow, updateStanding } from './claim-rows.ts'
import { type Gathered, gather } from './gather.ts'
import { type HardwareContext, takeCounter } from './hardware-facts.ts'
import { findSubmitted, insertJudgement, markFailed, markQueued, type SubmittedRow } from './rows.ts'

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

    await db.tenant(job.scope, async (tx) => {
      // Sent together; a job that has moved on takes both back.
      const [, claim] = await Promise.all([
        job.settle(tx),
        insertJudgement(tx, attestationId, judgement, { evaluatedAt, resultJws, signerId }),
      ])
      if (claim !== undefined) await updateClaim(tx, job.scope, claim, { attestationId, judgement, openCase })
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

async function updateClaim(
  tx: Tx,
  scope: Scope,
  before: ClaimRow,
  {
    attestationId,
    judgement,
    openCase,
  }: { attestationId: string; judgement: Judgement; openCase: OpenCase | undefined },
): Promise<void> {
  const claimId = before.id
  const after = aggregate([...standingsOf(before), judgement])
  if (after === null) throw new Error('a claim with a judged attestation has no standing')
  const hasChanged = differs(before, after)
  const events: NewEvent[] = [
    {
      type: 'attestation.created',
      dedupKey: `attestation.created:${attestationId}`,
      data: {
        attestation_id: attestationId,
        claim_id: claimId,
        risk_score: judgement.riskScore,
        risk_status: judgement.riskStatus,
        provenance_status: judgement.provenanceStatus,
        factor_codes: judgement.factors.map((factor) => factor.code),
        advisory_codes: judgement.advisoryFactors.map((factor) => factor.code),
      },
    },
  ]
  if (hasChanged) {
    events.push({
      type: 'claim.provenance_updated',
      data: {
        claim_id: claimId,
        previous: standingOf(before),
        current: standingOf(after),
        added_factors: after.factorCodes.filter((code) => !before.factorCodes.includes(code)),
        removed_factors: before.factorCodes.filter((code) => !after.factorCodes.some((other) => other === code)),
      },
    })
  }
  if (before.riskStatus !== 'failed' && after.riskStatus === 'failed') {
    const caseId = await openCase?.(tx, scope, claimId)
    events.push({
      type: 'claim.escalated',
      data: {
        claim_id: claimId,
        risk_score: after.riskScore,
        factor_codes: after.factorCodes,
        ...(caseId === undefined ? {} : { case_id: caseId }),
      },
    })
  }
  const isStandingNew = hasChanged || !sameCodes(before, after)
  await Promise.all([isStandingNew && updateStanding(tx, claimId, after), emitMany(tx, scope, events)])
}

// What the claim took over from its attestations so far. A first judgement can only add to it, so the others need not be
// read again: a reference with thousands of attestations would make each settle slower than the last.
function standingsOf(claim: ClaimRow): Standing[] {
  const { riskStatus, riskScore, provenanceStatus } = claim
  if (riskStatus === 'pending' || riskScore === null || provenanceStatus === null) return []
  return [
    {
      riskStatus,
      riskScore,
      provenanceStatus,
      factors: claim.factorCodes.map((code) => ({ code })),
      advisoryFactors: claim.advisoryCodes.map((code) => ({ code })),
    },
  ]
}

function differs(before: ClaimRow, after: ClaimStanding): boolean {
  return (
    before.riskStatus !== after.riskStatus ||
    before.provenanceStatus !== after.provenanceStatus ||
    before.riskScore !== after.riskScore
  )
}

function sameCodes(before: ClaimRow, after: ClaimStanding): boolean {
  return (
    before.factorCodes.join() === after.factorCodes.join() && before.advisoryCodes.join() === after.advisoryCodes.join()
  )
}

function standingOf({
  riskStatus,
  riskScore,
  provenanceStatus,
}: Pick<ClaimRow, 'riskStatus' | 'riskScore' | 'provenanceStatus'>) {
  return { risk_status: riskStatus, risk_score: riskScore, provenance_status: provenanceStatus }
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
