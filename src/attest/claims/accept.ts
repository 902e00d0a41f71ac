// What both ways of accepting submissions share. Only what makes a submission impossible to store is refused here; the
// evaluation comes later. accept-interactive.ts expects that nothing is wrong and checks while it writes;
// accept-bulk.ts checks first.

import { BEYOND_CAP } from '#src/account/usage/caps.ts'
import type { FieldError } from '#src/failure.ts'
import type { FieldErrorCode } from '#src/field-errors.ts'
import { isEqualBytes } from '#src/platform/crypto/digest.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { newId, newJobId, type Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { consumeNonces } from '../captures/rows.ts'
import type { Media } from '../media/rows.ts'
import {
  type AttestationRow,
  findByExternalIds,
  insertAttestations,
  type KnownSubmission,
  type NewAttestation,
  queuedRow,
} from './rows.ts'
import type { BatchLine } from './submission.ts'
import { contentDigest, submissionOf } from './submission-text.ts'

export interface Accepted {
  attestationId: string
  claimId: string
  jobId: string
  /** The attestation existed before; nothing was written. */
  isRepeat: boolean
  /** The inserted row; absent for a repeat. */
  row?: AttestationRow
}

/** Results in the order of the submissions: the accepted attestation, or the reasons for the refusal. */
export type Acceptance = { accepted: Accepted } | { errors: FieldError[] }

/** A submission with the rows that it becomes. */
export interface Candidate {
  body: BatchLine
  digest: Buffer
  attestation: NewAttestation
  /** Undefined until it is a known one or refused; one that is inserted never gets it. */
  verdict: Acceptance | undefined
}

export function makeCandidate(
  body: BatchLine,
  scope: Scope,
  { now, batchId = null, batchLine = null }: { now: Date; batchId?: string | null; batchLine?: number | null },
): Candidate {
  const digest = contentDigest(body)
  return {
    body,
    digest,
    verdict: undefined,
    attestation: {
      id: newId('att', scope.environment, now.getTime()),
      claimId: '',
      batchId,
      batchLine,
      externalId: body.external_id ?? null,
      contentDigest: digest,
      mediaId: body.media.media_id,
      deviceId: body.bundle?.device_id ?? null,
      submission: submissionOf(body),
      jobId: newJobId(),
    },
  }
}

export function undecided(candidates: readonly Candidate[]): Candidate[] {
  return candidates.filter(({ verdict }) => verdict === undefined)
}

export function mediaIdsOf(bodies: readonly BatchLine[]): string[] {
  return [...new Set(bodies.map((body) => body.media.media_id))]
}

export function refuseWrongMedia(candidates: readonly Candidate[], media: readonly Media[]): void {
  const found = new Map(media.map((row) => [row.id, row]))
  for (const one of candidates) one.verdict ??= refusalOfMedia(one.body, found.get(one.body.media.media_id))
}

/**
 * Refuses submissions beyond the remaining room, the last lines first. A submission whose claim is closed takes no
 * room.
 */
export function refuseBeyond(candidates: readonly Candidate[], left: number): void {
  const placeable = undecided(candidates).filter(({ attestation }) => attestation.claimId !== '')
  if (placeable.length <= left) return
  for (const one of placeable.slice(left)) one.verdict = { errors: [BEYOND_CAP] }
}

export async function knownSubmissions(
  tx: Tx,
  candidates: readonly Candidate[],
): Promise<Map<string, KnownSubmission>> {
  const ids = candidates.flatMap(({ body }) => body.external_id ?? [])
  return new Map((await findByExternalIds(tx, ids)).map((row) => [row.externalId, row]))
}

/**
 * The same content under the same external id is the same attestation; other content is a conflict. Compared with the
 * stored rows and, for submissions that come together, with the first that has the name.
 */
export function decideByName(candidates: readonly Candidate[], known: ReadonlyMap<string, KnownSubmission>): void {
  const first = new Map<string, Pick<KnownSubmission, 'id' | 'claimId' | 'jobId' | 'contentDigest'>>(known)
  for (const one of undecided(candidates)) {
    const { body, digest } = one
    if (body.external_id === undefined) continue
    const earlier = first.get(body.external_id)
    if (earlier === undefined) {
      first.set(body.external_id, { id: '', claimId: '', jobId: '', contentDigest: digest })
    } else if (!isEqualBytes(earlier.contentDigest, digest)) {
      one.verdict = refuse('/external_id', 'external_id_reused', 'names a submission with other content')
    } else if (earlier.id !== '') {
      const { id: attestationId, claimId, jobId } = earlier
      one.verdict = { accepted: { attestationId, claimId, jobId, isRepeat: true } }
    } else {
      one.verdict = refuse('/external_id', 'duplicate_line', 'repeats an earlier line of this batch, which is kept')
    }
  }
}

/**
 * Writes the attestations, jobs and nonces of candidates that have their claims, and refuses those without one. Returns
 * what was inserted. Undefined when another transaction has committed one of the external ids since they were read: the
 * caller rolls back to its savepoint, so that a repeat or a taken external id neither creates nor changes a claim.
 */
export async function insertPlaced(
  tx: Tx,
  scope: Scope,
  fresh: readonly Candidate[],
  { priority, now }: { priority: 'interactive' | 'bulk'; now: Date },
): Promise<Candidate[] | undefined> {
  for (const one of fresh) if (one.attestation.claimId === '') one.verdict = refuseClosed()
  const placed = undecided(fresh)
  const [inserted] = await Promise.all([
    insertAttestations(
      tx,
      scope,
      inNameOrder(placed).map(({ attestation }) => attestation),
    ),
    enqueue(
      tx,
      'attest',
      scope,
      placed.map(({ attestation: { id, jobId } }) => ({ id: jobId, payload: { attestationId: id }, priority })),
    ),
    consumeNonces(tx, placed.flatMap(nonceUse), now),
  ])
  if (inserted.length < placed.length) return undefined
  const times = new Map(inserted.map(({ id, acceptedAt }) => [id, acceptedAt]))
  for (const { attestation } of placed) attestation.acceptedAt = times.get(attestation.id)
  return placed
}

export function acceptanceOf({ verdict, attestation }: Candidate): Acceptance {
  if (verdict !== undefined) return verdict
  const { id: attestationId, claimId, jobId } = attestation
  return { accepted: { attestationId, claimId, jobId, isRepeat: false, row: queuedRow(attestation) } }
}

function refusalOfMedia({ media_type }: BatchLine, found: Media | undefined): Acceptance | undefined {
  const pointer = '/media/media_id'
  if (found === undefined) return refuse(pointer, 'not_found', 'names no media: upload it with POST /v1/media first')
  if (found.contentType.startsWith(`${media_type}/`)) return undefined
  return refuse(pointer, 'wrong_media_type', `is ${found.contentType}, not ${media_type}`)
}

function nonceUse({ body, attestation }: Candidate): { nonce: string; attestationId: string }[] {
  const nonce = body.bundle?.session_nonce
  return nonce === undefined ? [] : [{ nonce, attestationId: attestation.id }]
}

// A claim that was erased on request must not fill again, for example by a phone that was offline.
function refuseClosed(): Acceptance {
  return refuse('/claim/reference', 'claim_erased', 'names a claim that was erased: it takes no more captures')
}

function refuse(pointer: string, code: FieldErrorCode, detail: string): Acceptance {
  return { errors: [{ pointer, code, detail }] }
}

// Every transaction locks rows in this order, so two batches that share external ids wait and don't deadlock.
function inNameOrder(items: readonly Candidate[]): Candidate[] {
  const keyOf = ({ body }: Candidate) => body.external_id ?? ''
  return items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0))
}
