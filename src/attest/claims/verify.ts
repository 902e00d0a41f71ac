// The handler of the attest queue: loads the facts of one submission, evaluates them (pure), and settles result, claim,
// events and job in one transaction. A second run does nothing.

import { giveBackLines, recountLines } from '#src/account/usage/meter.ts'
import { encodeFacts } from '#src/attest/factors/stored-facts.ts'
import { deferWhileBusy } from '#src/attest/media/media-facts.ts'
import { note } from '#src/platform/context.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Environment, Scope } from '#src/platform/ids.ts'
import type { JobOutcome, RunningJob, Work } from '#src/platform/jobs/consume.ts'
import { nextTurn } from '#src/platform/slices.ts'
import type { OpenCase } from '../cases/escalation.ts'
import { judge } from '../factors/judge.ts'
import { createLoadSubmission } from './load.ts'
import { createLoadFacts, type LoadFactsDeps } from './load-facts.ts'
import { recordOf } from './record.ts'
import { markAttestationFailed, markQueued } from './rows.ts'
import { createSettle } from './settle.ts'

export interface VerifyDeps extends Omit<LoadFactsDeps, 'db'> {
  db: Database
  /** A compact JWS over `payload`, signed with the environment's record key. */
  signRecord(environment: Environment, typ: string, payload: Json): Promise<string>
  random?: () => number
  /** Opens a case for a claim that becomes failed; absent: none. */
  openCase?: OpenCase | undefined
}

// The cause stays with the job, for operators: it may name files, addresses and queries.
const FAILURE = 'It could not be evaluated, through no fault that was found in it. It can be tried again.'

/** The handler of the attest queue. */
export function createVerify({ signRecord, random = Math.random, openCase, ...deps }: VerifyDeps): Work<'attest'> {
  const { db, now } = deps
  const load = createLoadSubmission(db)
  const loadFacts = createLoadFacts(deps)
  const settle = createSettle({ db, openCase })

  async function run({ attestationId }: { attestationId: string }, job: RunningJob): Promise<JobOutcome> {
    return deferWhileBusy(() => verify(attestationId, job), random)
  }

  async function verify(attestationId: string, job: RunningJob): Promise<JobOutcome> {
    const found = await load(job.scope, attestationId)
    // Submissions are loaded many at a time, and would be verified without a pause between them.
    await nextTurn()
    if (found === undefined) return { kind: 'dead', error: 'the attestation is gone' }
    const { submitted, captureContext, policy } = found
    note({ claim: submitted.claimId })
    if (submitted.status === 'cancelled' || submitted.status === 'evaluated') return { kind: 'done' }

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

  return {
    run,
    onDead: (tx, scope, { attestationId }) => fail(tx, scope, { id: attestationId }),
    onUnreadableDead: (tx, scope, jobId) => fail(tx, scope, { jobId }),
    onRedrive: async (tx, scope, { attestationId }) => {
      await recountLines(tx, scope, 'attest', await markQueued(tx, attestationId))
    },
  }
}

async function fail(tx: Tx, scope: Scope, one: { id: string } | { jobId: string }): Promise<void> {
  await giveBackLines(tx, scope, 'attest', await markAttestationFailed(tx, one, FAILURE))
}
