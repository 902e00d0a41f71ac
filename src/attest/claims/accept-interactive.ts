// Accepts submissions that a caller waits for. They are usually new and correct: the rows are written while the media are
// looked up, and external ids are read only after an insert conflicts.

import type { Tx } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { holdMedia, type Media } from '../media/rows.ts'
import {
  type Acceptance,
  acceptanceOf,
  type Candidate,
  decideByName,
  insertPlaced,
  knownSubmissions,
  makeCandidate,
  mediaIdsOf,
  refuseWrongMedia,
  undecided,
} from './accept.ts'
import { type NewClaim, upsertClaims } from './claim-rows.ts'
import { inLockOrder, statedClaim } from './deferred-claims.ts'
import type { BatchLine } from './submission.ts'

/** Writes the submissions that can be stored. Each has passed `checkSubmission`; the checks here need rows. */
export async function acceptInteractive(
  tx: Tx,
  scope: Scope,
  bodies: readonly BatchLine[],
  { now }: { now: Date },
): Promise<Acceptance[]> {
  const candidates = bodies.map((body) => makeCandidate(body, scope, { now }))
  decideByName(candidates, new Map())
  let unchecked: Promise<Media[]> | undefined = holdMedia(tx, mediaIdsOf(bodies))
  for (let fresh = undecided(candidates); fresh.length > 0; fresh = undecided(candidates)) {
    // Sent together: the connection pipelines the queries.
    const [media] = await Promise.all([unchecked, tx.adhoc('SAVEPOINT unplaced'), placeInClaims(tx, scope, fresh)])
    unchecked = undefined
    if (media !== undefined) refuseWrongMedia(fresh, media)
    const isRefused = undecided(fresh).length < fresh.length
    if (!isRefused && (await insertPlaced(tx, scope, fresh, { priority: 'interactive', now })) !== undefined) break
    // The claims of refused submissions are written by now.
    await tx.adhoc('ROLLBACK TO SAVEPOINT unplaced')
    if (!isRefused) decideByName(candidates, await knownSubmissions(tx, candidates))
  }
  return candidates.map(acceptanceOf)
}

/** Leaves claimId empty when the claim accepts no more captures. */
async function placeInClaims(tx: Tx, scope: Scope, fresh: readonly Candidate[]): Promise<void> {
  const claims = new Map<string, NewClaim>()
  for (const { body, attestation } of fresh) {
    const reference = body.claim?.reference
    const key = reference === undefined ? `attestation ${attestation.id}` : `reference ${reference}`
    const stated = claims.get(key)
    claims.set(key, statedClaim(stated?.id ?? newId('clm', scope.environment), body, stated))
  }
  const placed = await upsertClaims(tx, scope, inLockOrder([...claims.values()]))
  const byReference = new Map(placed.map((claim) => [claim.reference, claim.id]))
  for (const { body, attestation } of fresh) {
    const reference = body.claim?.reference
    const own = claims.get(`attestation ${attestation.id}`)?.id
    attestation.claimId = (reference === undefined ? own : byReference.get(reference)) ?? ''
  }
}
