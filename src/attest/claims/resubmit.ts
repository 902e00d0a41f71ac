// Retries a cancelled capture: it counts as never submitted, so it is submitted again, with the current time.

import { Failure, type FailureCode } from '#src/failure.ts'
import type { FieldErrorCode } from '#src/field-errors.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { newJobId, type Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { consumeNonces, findSessionsOf } from '../captures/rows.ts'
import { holdMedia } from '../media/rows.ts'
import { queueCancelled, restateClaim } from './cancelled-rows.ts'
import { statedClaim } from './deferred-claims.ts'
import type { AttestationRow } from './rows.ts'
import { findSubmitted } from './submission-rows.ts'

const UNIQUE_VIOLATION = '23505'

/**
 * Queues the capture again. false when it is no longer cancelled, or was erased.
 * @throws {Failure} `external_id_reused`, `claim_erased`; `conflict` when its nonce was used since, or its media are gone.
 */
export async function resubmit(
  tx: Tx,
  scope: Scope,
  { id, claimId, mediaId, erasedAt }: AttestationRow,
  now: Date,
): Promise<boolean> {
  if (erasedAt !== null) return false
  const [submitted] = await findSubmitted(tx, [id])
  if (submitted === undefined) return false
  const { submission } = submitted
  const isOpen = await restateClaim(tx, statedClaim(claimId, submission))
  if (!isOpen) throw refusal('claim_erased', 'claim_erased', 'The claim was erased and takes no captures.')
  if ((await holdMedia(tx, [mediaId])).length === 0) throw refusal('conflict', 'not_found', 'The media were deleted.')
  const jobId = newJobId()
  if (!(await queueCancelled(tx, id, jobId).catch(refuseTakenName))) return false
  await enqueue(tx, 'attest', scope, [{ id: jobId, payload: { attestationId: id }, priority: 'interactive' }])
  const nonce = submission.bundle?.session_nonce
  if (nonce === undefined) return true
  await consumeNonces(tx, [{ nonce, attestationId: id }], now)
  const [session] = await findSessionsOf(tx, [nonce])
  if (session !== undefined && session.consumedBy !== id) {
    throw refusal('conflict', 'nonce_used', `${session.consumedBy} used the nonce meanwhile.`)
  }
  return true
}

function refuseTakenName(error: unknown): never {
  const isTaken = error instanceof Error && 'code' in error && error.code === UNIQUE_VIOLATION
  throw isTaken
    ? refusal('external_id_reused', 'external_id_reused', 'The external_id now names another submission.')
    : error
}

function refusal(failure: FailureCode, code: FieldErrorCode, detail: string): Failure {
  return new Failure(failure, { detail, errors: [{ pointer: '', code, detail }] })
}
