// Results of one account that are ready at the same time are written together: results, standings, events and the ends
// of the jobs in one transaction, with one disk flush.

import { countOperations } from '#src/account/usage/meter.ts'
import { emitMany, type NewEvent } from '#src/account/webhooks/emit.ts'
import { createBatcher } from '#src/platform/batching.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { STALE_JOB, settleAll } from '#src/platform/jobs/backlog.ts'
import type { RunningJob } from '#src/platform/jobs/consume.ts'
import { failpoint } from '#src/platform/jobs/failpoint.ts'
import { inSpan, traceparentOf } from '#src/platform/trace.ts'
import { findClaimsWithCase, noteChanges, type OpenCase, type StandingChange } from '../cases/escalation.ts'
import { insertFingerprints } from '../duplicates/rows.ts'
import { aggregate, type ClaimStanding, type Judgement } from '../factors/judge.ts'
import { withScreening } from '../factors/screening.ts'
import { asAttestation, eventsOf, movementOf } from '../factors/standing.ts'
import { type ClaimRow, lockClaims, updateStandings } from './claim-rows.ts'
import { insertResults, type NewResult } from './rows.ts'

export interface Judged {
  job: Pick<RunningJob, 'id' | 'fence' | 'scope'>
  claimId: string
  result: NewResult
}

/**
 * Settles a first result and its job. @throws {STALE_JOB} when the job has moved on: then nothing of it was written.
 */
export type Settle = (judged: Judged) => Promise<void>

// A third of the processor time of a claim is Postgres's: batches of some ten claims cost it half of what batches of four do.
const PAUSE_MS = 15

export function createSettle({ db, openCase }: { db: Database; openCase: OpenCase | undefined }): Settle {
  const addToBatch = createBatcher<Traced, void>({
    keyOf: ({ job: { scope } }) => `${scope.accountId} ${scope.environment}`,
    // An item that lost its job or met a deadlock costs the others only this attempt.
    isSplitOnFailure: true,
    pauseMs: PAUSE_MS,
    async run(batch) {
      const scope = batch[0].job.scope
      // Every transaction locks jobs, attestations and claims, each in the order of their ids.
      const sorted = batch.toSorted((a, b) => (a.result.id < b.result.id ? -1 : 1))
      await db.tenant(scope, (tx) => settleBatch(tx, scope, sorted, openCase))
      return batch.map(() => undefined)
    },
  })
  // The transaction is shared. Each item's wait for it, and its events, are in the item's own trace.
  return (judged) =>
    inSpan(
      () => ({ name: 'settle' }),
      (span) => addToBatch({ ...judged, traceparent: traceparentOf(span) }),
    )
}

interface Traced extends Judged {
  traceparent: string | undefined
}

async function settleBatch(
  tx: Tx,
  scope: Scope,
  batch: readonly Traced[],
  openCase: OpenCase | undefined,
): Promise<void> {
  failpoint('attest:settling')
  const claimIds = [...new Set(batch.map(({ claimId }) => claimId))].toSorted()
  // Sent together; one job that has moved on rolls all of it back.
  const [own, written, locked, withCase] = await Promise.all([
    settleAll(
      tx,
      'attest',
      batch.map(({ job }) => job),
    ),
    insertResults(
      tx,
      batch.map(({ result }) => result),
    ),
    lockClaims(tx, claimIds),
    findClaimsWithCase(tx, claimIds),
  ])
  if (own.includes(false)) throw STALE_JOB

  const claims = new Map(locked.map((claim) => [claim.id, claim]))
  const standings = new Map<string, ClaimStanding>()
  const events: NewEvent[] = []
  const changes: StandingChange[] = []
  for (const { claimId, result, traceparent } of batch) {
    if (!written.has(result.id)) continue
    const before = claims.get(claimId)
    if (before === undefined) throw new Error('an attestation that was judged has no claim')
    const after = standingWith(before, result.judgement)
    const { isStandingChanged, isRowChanged, isEscalation } = movementOf(before, after)
    // Its history is in order: earlier changes come before the escalation.
    if (isEscalation) await noteChanges(tx, scope, changes.splice(0))
    const caseId = isEscalation ? await openCase?.(tx, scope, claimId) : undefined
    const told: NewEvent[] = [createdEvent(claimId, result), ...eventsOf(before, after, caseId)]
    events.push(...told.map((event) => ({ ...event, traceparent })))
    if (isRowChanged) standings.set(claimId, after)
    if (caseId !== undefined) withCase.add(claimId)
    else if (isStandingChanged && withCase.has(claimId)) changes.push({ before, after })
    claims.set(claimId, { ...before, ...after })
  }
  const alone = [...written.values()].filter(({ isInBatch }) => !isInBatch)
  await Promise.all([
    updateStandings(tx, standings),
    noteChanges(tx, scope, changes),
    countOperations(
      tx,
      scope,
      'attest',
      alone.map(({ id }) => id),
    ),
    emitMany(tx, scope, events),
    insertFingerprints(
      tx,
      scope,
      batch
        .filter(({ result }) => written.has(result.id))
        .map(({ result, traceparent }) => ({ attestationId: result.id, traceparent })),
    ),
  ])
}

// A first result can only add to the standing that the claim has from its other attestations, so those are not read
// again: for a reference with thousands of attestations each settle would be slower than the last.
function standingWith(claim: ClaimRow, judgement: Judgement): ClaimStanding {
  const known = asAttestation(claim)
  const standing = aggregate(known === undefined ? [judgement] : [known, judgement])
  if (standing === null) throw new Error('a claim with a judged attestation has no standing')
  // A claim may have screening codes before its first result.
  return withScreening(standing, claim.advisoryCodes)
}

function createdEvent(claimId: string, { id, judgement }: NewResult): NewEvent {
  return {
    type: 'attestation.created',
    dedupKey: `attestation.created:${id}`,
    data: {
      attestation_id: id,
      claim_id: claimId,
      risk_score: judgement.riskScore,
      risk_status: judgement.riskStatus,
      provenance_status: judgement.provenanceStatus,
      factor_codes: judgement.factors.map((factor) => factor.code),
      advisory_codes: judgement.advisoryFactors.map((factor) => factor.code),
    },
  }
}
