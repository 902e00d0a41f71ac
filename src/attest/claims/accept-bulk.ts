// Accepts lines of a batch. Repeated and refused lines are usual in a batch, so all are checked before a row is written.
// Their claims are written after the last line.

import { type Room, UNLIMITED } from '#src/account/usage/caps.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { createSlice } from '#src/platform/slices.ts'
import { holdMedia } from '../media/rows.ts'
import {
  type Acceptance,
  acceptanceOf,
  type Candidate,
  decideByName,
  insertPlaced,
  knownSubmissions,
  makeCandidate,
  mediaIdsOf,
  refuseBeyond,
  refuseWrongMedia,
  undecided,
} from './accept.ts'
import type { DeferredClaims } from './deferred-claims.ts'
import type { BatchLine } from './submission.ts'

interface BulkSource {
  batchId: string
  /** Writes the claims of the whole batch later. */
  claims: DeferredClaims
  /** What is accepted takes from it. Without it there is no cap. */
  room?: Room
  now: Date
}

/** Writes the lines that can be stored. Each has passed `checkSubmission`; the checks here need rows. */
export async function acceptBulk(
  tx: Tx,
  scope: Scope,
  lines: readonly { line: number; body: BatchLine }[],
  { batchId, claims, room = UNLIMITED, now }: BulkSource,
): Promise<Acceptance[]> {
  const candidates: Candidate[] = []
  const slice = createSlice()
  for (const { line, body } of lines) {
    if (slice.isOver()) await slice.next()
    candidates.push(makeCandidate(body, scope, { now, batchId, batchLine: line }))
  }
  // Sent together: the connection pipelines the queries.
  const [media, known] = await Promise.all([
    holdMedia(tx, mediaIdsOf(lines.map(({ body }) => body))),
    knownSubmissions(tx, candidates),
  ])
  refuseWrongMedia(candidates, media)
  decideByName(candidates, known)
  for (let fresh = undecided(candidates); fresh.length > 0; fresh = undecided(candidates)) {
    const canConflict = fresh.some(({ body }) => body.external_id !== undefined)
    await Promise.all([canConflict && tx.adhoc('SAVEPOINT unplaced'), claims.place(fresh)])
    refuseBeyond(fresh, room.left)
    const placed = await insertPlaced(tx, scope, undecided(fresh), { priority: 'bulk', now })
    if (placed !== undefined) {
      room.left -= placed.length
      claims.keep(placed)
      break
    }
    await tx.adhoc('ROLLBACK TO SAVEPOINT unplaced')
    decideByName(candidates, await knownSubmissions(tx, candidates))
  }
  return candidates.map(acceptanceOf)
}
