// Erases a claim: photos and positions are deleted, hashes, results and their signatures stay. The first step closes
// the claim. All later steps are safe to repeat, by the same request sent again or by the clock process.

import { withoutCoordinates } from '#client/verify/coordinates.ts'
import { recordAudit } from '#src/account/audit/record.ts'
import { giveBackLines, type MeteredLine } from '#src/account/usage/meter.ts'
import { takeChunksOf } from '#src/attest/captures/stream-rows.ts'
import { eraseNotes } from '#src/attest/cases/rows.ts'
import { findClaim, type ListedClaim } from '#src/attest/claims/claim-rows.ts'
import {
  closeClaim,
  type Erasable,
  findErasable,
  findMediaOfClaim,
  findUnfinishedClaims,
  lockErasable,
  markErased,
  takeMediaOfClaim,
  updateErased,
} from '#src/attest/claims/erase-rows.ts'
import { eraseFingerprints } from '#src/attest/duplicates/rows.ts'
import type { Eraser } from '#src/attest/media/erase.ts'
import { type Doomed, isErasing, takeUnfinished } from '#src/attest/media/erase-rows.ts'
import { eraseScreenings } from '#src/attest/screen/erase.ts'
import { Failure } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { retryLocks } from '#src/platform/db/retry.ts'
import { again, type IdempotencyKey } from '#src/platform/http/idempotency.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, getOwned, type Scope } from '#src/platform/ids.ts'
import { dropJobs } from '#src/platform/jobs/backlog.ts'
import type { Log } from '#src/platform/log.ts'

// Attestations per transaction.
const STEP = 200
const CLAIMS_OF_A_ROUND = 100

export interface ErasureDeps {
  db: Database
  eraser: Pick<Eraser, 'eraseTaken'>
  log: Log
}

export interface ErasureRequest {
  /** For the log. */
  requestId: string
  idempotencyKey?: IdempotencyKey | undefined
}

export type ClaimErasure = ReturnType<typeof createClaimErasure>

export function createClaimErasure({ db, eraser, log }: ErasureDeps) {
  /**
   * Erases the personal data of a claim and its attestations. Idempotent.
   * @throws {Failure} `environment_mismatch`, `not_found`; `service_unavailable` when it takes longer: then the claim
   * is closed and its bytes are being deleted, and the same request, or the clock process, finishes it.
   */
  async function erase(scope: Acting, id: string, request: ErasureRequest): Promise<ListedClaim> {
    checkId(id, 'clm', scope.environment)
    const { requestId, idempotencyKey } = request
    const isOpen = await retryLocks(() =>
      db.tenant(scope, (tx) =>
        again(tx, idempotencyKey, async () => {
          await getOwned(findClaim(tx, id), id)
          const isClosed = await closeClaim(tx, id)
          if (isClosed) await recordAudit(tx, scope, { action: 'claim.erased', subjectId: id })
          return isClosed
        }),
      ),
    )
    if (isOpen) {
      const { accountId: account, environment } = scope
      const subject = { account, environment, claim: id, actor: actorOf(scope.principal).id, requestId }
      log.info(subject, 'claim erasure requested')
      log.info({ ...subject, ...(await finish(scope, id)) }, 'claim erased')
    }
    return find(scope, id)
  }

  async function find(scope: Scope, id: string): Promise<ListedClaim> {
    return db.tenant(scope, (tx) => getOwned(findClaim(tx, id), id))
  }

  async function finish(scope: Scope, claimId: string): Promise<{ attestations: number; media: number }> {
    const done = { attestations: 0, media: 0 }
    for (;;) {
      const { count, taken } = await retryLocks(() => db.tenant(scope, (tx) => eraseSome(tx, scope, claimId)))
      await eraser.eraseTaken(scope, taken)
      done.attestations += count
      done.media += taken.length
      if (count === 0) break
    }
    for (;;) {
      const { count, taken } = await retryLocks(() => db.tenant(scope, (tx) => eraseScreenings(tx, claimId, STEP)))
      await eraser.eraseTaken(scope, taken)
      done.media += taken.length
      if (count === 0) break
    }
    // Bytes whose erasure another process began, and may still be running.
    const mediaIds = await db.tenant(scope, (tx) => findMediaOfClaim(tx, claimId))
    const left = await db.tenant(scope, (tx) => takeUnfinished(tx, mediaIds.length, mediaIds))
    await eraser.eraseTaken(scope, left)
    await retryLocks(() =>
      db.tenant(scope, async (tx) => {
        if (await isErasing(tx, mediaIds)) throw underWay(claimId)
        await eraseNotes(tx, claimId)
        await markErased(tx, claimId)
      }),
    )
    return { ...done, media: done.media + left.length }
  }

  /** Finishes erasures that began and did not end. Returns how many. */
  async function finishUnfinished(scope: Scope, signal: AbortSignal): Promise<number> {
    const ids = await db.tenant(scope, (tx) => findUnfinishedClaims(tx, CLAIMS_OF_A_ROUND))
    let finished = 0
    const failures: unknown[] = []
    for (const id of ids) {
      if (signal.aborted) break
      try {
        const done = await finish(scope, id)
        log.info({ account: scope.accountId, environment: scope.environment, claim: id, ...done }, 'claim erased')
        finished += 1
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
    return finished
  }

  return { erase, finishUnfinished, find }
}

async function eraseSome(tx: Tx, scope: Scope, claimId: string): Promise<{ count: number; taken: Doomed[] }> {
  const found = await findErasable(tx, claimId, STEP)
  if (found.length === 0) return { count: 0, taken: [] }
  // A running job finds its attestation cancelled when it settles, and leaves it as it is.
  await dropJobs(
    tx,
    found.filter(({ status }) => status === 'queued' || status === 'failed').map(({ jobId }) => jobId),
  )
  const rows = await lockErasable(
    tx,
    found.map(({ id }) => id),
  )
  await eraseFingerprints(
    tx,
    scope,
    rows.map(({ id }) => id),
  )
  const mediaIds = [...new Set(rows.map(({ mediaId }) => mediaId))]
  const { taken, copies } = await takeMediaOfClaim(tx, scope, { claimId, mediaIds })
  taken.push(...(await takeChunksOf(tx, rows)))
  const ended: MeteredLine[] = []
  for (const row of rows) ended.push(...(await updateErased(tx, leftOf(row, copies))))
  await giveBackLines(tx, scope, 'attest', ended)
  return { count: found.length, taken }
}

function leftOf(row: Erasable, copies: ReadonlyMap<string, string>): Erasable {
  return {
    id: row.id,
    mediaId: copies.get(row.mediaId) ?? row.mediaId,
    submission: withoutCoordinates(row.submission),
    factors: withoutCoordinates(row.factors),
    advisoryFactors: withoutCoordinates(row.advisoryFactors),
    observations: withoutCoordinates(row.observations),
  }
}

function underWay(id: string): Failure {
  return new Failure('service_unavailable', {
    detail: `The erasure of ${id} is in progress. Repeat the request: the answer is 200 when all bytes are deleted.`,
    headers: { 'Retry-After': '5' },
  })
}
