// Re-evaluates an attestation that has a result, from the facts stored with it and what became known since. An equal
// result changes nothing. A different one replaces the old result, which is kept, and updates the claim.

import { emitMany } from '#src/account/webhooks/emit.ts'
import { findPending, settleMarks } from '#src/attest/causes/mark-rows.ts'
import { loadSubmissions } from '#src/attest/claims/load.ts'
import { type CurrentResult, findResult, findStandings, replaceResult } from '#src/attest/claims/result-rows.ts'
import { decodeFacts, encodeFacts } from '#src/attest/factors/stored-facts.ts'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Environment, Scope } from '#src/platform/ids.ts'
import type { JobOutcome, RunningJob } from '#src/platform/jobs/consume.ts'
import { noteChanges, type OpenCase } from '../cases/escalation.ts'
import { lockClaims, updateStandings } from '../claims/claim-rows.ts'
import { recordOf } from '../claims/record.ts'
import type { SubmittedRow } from '../claims/submission-rows.ts'
import type { Facts } from '../factors/facts.ts'
import { aggregate, type Judgement, judge } from '../factors/judge.ts'
import { withScreening } from '../factors/screening.ts'
import { eventsOf, movementOf } from '../factors/standing.ts'
import { RULES_VERSION } from '../factors/table.ts'
import type { ReadRevocations } from '../hardware/lists.ts'
import { screeningCodesOfClaim } from '../screen/rows.ts'
import { type Known, refresh } from './refresh.ts'

export interface RejudgeDeps {
  db: Database
  signRecord(environment: Environment, typ: string, payload: Json): Promise<string>
  now: () => Date
  revocations: ReadRevocations
  openCase: OpenCase | undefined
}

/** `loadFacts` reads the media again for facts that were loaded under other rules. It keeps what was verified of the capture. */
export type Rejudge = (
  job: RunningJob,
  attestationId: string,
  loadFacts: (judged: Facts) => Promise<Facts>,
) => Promise<JobOutcome>

// Two jobs of one attestation may overlap: the one that settles second starts over.
const MAX_TRIES = 3

export function createRejudge({ db, signRecord, now, revocations, openCase }: RejudgeDeps): Rejudge {
  return async (job, attestationId, loadFacts) => {
    const { scope } = job
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const found = await db.tenant(scope, (tx) => loadResult(tx, attestationId))
      if (found === undefined) return { kind: 'done' }
      const { causes, result, submitted } = found
      const end = (outcome: 'unchanged' | 'skipped') =>
        db.tenant(scope, async (tx) => {
          await Promise.all([job.settle(tx), settleMarks(tx, attestationId, causes, outcome)])
        })
      const known: Known = { ...found.known, revocations: await revocations(), now: now() }
      const facts = await factsOf(result, known, loadFacts)
      if (facts === undefined) {
        await end('skipped')
        return { kind: 'settled' }
      }
      const judgement = judge(facts)
      if (isSame(result, judgement)) {
        await end('unchanged')
        return { kind: 'settled' }
      }
      // A concurrent job recognizes the result by its time, so two results must not share a millisecond.
      const evaluatedAt = new Date(Math.max(now().getTime(), result.evaluatedAt.getTime() + 1))
      const policyVersion = facts.policy.version ?? 0
      const record = recordOf(scope, submitted, { judgement, policyVersion, evaluatedAt })
      const resultJws = await signRecord(scope.environment, 'attest-result+jwt', record)
      const newer = {
        id: attestationId,
        judgement,
        evaluatedAt,
        resultJws,
        facts: encodeFacts(facts),
        policyVersion,
      }
      const isReplaced = await db.tenant(scope, async (tx) => {
        if (!(await replaceResult(tx, newer, { seenAt: result.evaluatedAt, causes }))) return false
        await Promise.all([job.settle(tx), settleMarks(tx, attestationId, causes, 'changed')])
        await moveClaim(tx, scope, submitted.claimId, openCase)
        return true
      })
      if (isReplaced) return { kind: 'settled' }
    }
    return { kind: 'retry', error: 'the result was replaced concurrently in every attempt' }
  }
}

interface Found {
  causes: string[]
  result: CurrentResult
  submitted: SubmittedRow
  known: Pick<Known, 'device' | 'policy' | 'screening'>
}

async function loadResult(tx: Tx, attestationId: string): Promise<Found | undefined> {
  // Read first: what is read after it is at least as new as the causes, which were committed before their marks.
  const causes = await findPending(tx, attestationId)
  if (causes.length === 0) return undefined
  const [result, submissions] = await Promise.all([findResult(tx, attestationId), loadSubmissions(tx, [attestationId])])
  const found = submissions.get(attestationId)
  if (result === undefined || found === undefined) return undefined
  const { submitted, captureContext, policy, screening } = found
  return { causes, result, submitted, known: { device: captureContext.device, policy, screening } }
}

/** Undefined: nothing is left to evaluate. */
async function factsOf(
  { facts, rulesVersion, isErased, isMediaStored }: CurrentResult,
  known: Known,
  loadFacts: (judged: Facts) => Promise<Facts>,
): Promise<Facts | undefined> {
  if (isErased) return undefined
  const judged = decodeFacts(facts)
  if (rulesVersion === RULES_VERSION) return refresh(judged, known)
  if (!isMediaStored) return undefined
  // Other rules may need other facts of the media.
  return refresh(await loadFacts(judged), known)
}

/** Whether a caller could tell two results apart; the version of the rules alone makes no difference. */
export function isSame(a: Judgement, b: Judgement): boolean {
  return canonicalOf(a) === canonicalOf(b)
}

function canonicalOf(judgement: Judgement): string {
  const { factors, advisoryFactors, observations, hardwareTier, provenanceStatus, riskScore, riskStatus } = judgement
  const told = { factors, advisoryFactors, observations, hardwareTier, provenanceStatus, riskScore, riskStatus }
  return canonicalize(JSON.parse(JSON.stringify(told)))
}

// Unlike a first result, a re-evaluation can remove codes from the claim, so all its attestations are counted again.
async function moveClaim(tx: Tx, scope: Scope, claimId: string, openCase: OpenCase | undefined): Promise<void> {
  const [before] = await lockClaims(tx, [claimId])
  // A statement after the lock, so that it sees what earlier holders of the lock have committed.
  const judged = aggregate(await findStandings(tx, claimId))
  if (before === undefined || judged === null) throw new Error('a re-evaluated attestation has no claim')
  const after = withScreening(judged, await screeningCodesOfClaim(tx, claimId))
  const { isStandingChanged, isRowChanged, isEscalation } = movementOf(before, after)
  if (!isRowChanged) return
  const caseId = isEscalation ? await openCase?.(tx, scope, claimId) : undefined
  if (isStandingChanged && caseId === undefined) await noteChanges(tx, scope, [{ before, after }])
  await updateStandings(tx, new Map([[claimId, after]]))
  await emitMany(tx, scope, eventsOf(before, after, caseId))
}
