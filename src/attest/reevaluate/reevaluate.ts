// The handler of the queue reevaluate. A job carries a cause, whose attestations it searches, or one attestation, which
// it re-evaluates. A second run does nothing.

import { failMarks, reopenMarks } from '#src/attest/causes/mark-rows.ts'
import { markReevaluationFailed } from '#src/attest/causes/rows.ts'
import { createLoadSubmission } from '#src/attest/claims/load.ts'
import { createLoadFacts, type LoadFactsDeps } from '#src/attest/claims/load-facts.ts'
import { deferWhileBusy } from '#src/attest/media/media-facts.ts'
import type { Work } from '#src/platform/jobs/consume.ts'
import type { Facts } from '../factors/facts.ts'
import type { ReadRevocations } from '../hardware/lists.ts'
import { createRejudge, type RejudgeDeps } from './rejudge.ts'
import { createWalk, type WalkDeps } from './scan.ts'

export interface ReevaluateDeps
  extends Omit<LoadFactsDeps, 'db' | 'revocations'>,
    Omit<RejudgeDeps, 'revocations'>,
    WalkDeps {
  random?: () => number
  /** Vendors' lists of revoked keys; without them, no key is known to be good. */
  revocations?: ReadRevocations
}

export function createReevaluate({
  random = Math.random,
  revocations = async () => 'never_fetched',
  ...rest
}: ReevaluateDeps): Work<'reevaluate'> {
  const deps = { ...rest, revocations }
  const load = createLoadSubmission(deps.db)
  const loadFacts = createLoadFacts(deps)
  const rejudge = createRejudge(deps)
  const walk = createWalk(deps)

  return {
    async run(payload, job) {
      if ('reevaluationId' in payload) return walk(job, payload.reevaluationId)
      const { attestationId } = payload
      const loadAll = async (judged: Facts) => {
        const loaded = await load(job.scope, attestationId)
        if (loaded === undefined) throw new Error('the attestation is gone')
        return loadFacts(job, loaded, judged)
      }
      return deferWhileBusy(() => rejudge(job, attestationId, loadAll), random)
    },
    onDead: (tx, _scope, payload) =>
      'reevaluationId' in payload
        ? markReevaluationFailed(tx, payload.reevaluationId, true)
        : failMarks(tx, payload.attestationId),
    onRedrive: (tx, scope, payload) =>
      'reevaluationId' in payload
        ? markReevaluationFailed(tx, payload.reevaluationId, false)
        : reopenMarks(tx, scope, payload.attestationId),
  }
}
