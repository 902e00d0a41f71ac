// Turns submissions into rows: claims, attestations, nonces and jobs, in one transaction. One submission and a batch
// take the same path. Only what makes a submission impossible to store is refused here; the evaluation comes later.

import { randomUUID } from 'node:crypto'
import type { FieldError } from '#src/failure.ts'
import { isEqualBytes } from '#src/platform/crypto/digest.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { consumeNonces } from '../captures/rows.ts'
import { holdMedia, type Media } from '../media/rows.ts'
import { type NewClaim, upsertClaims } from './claim-rows.ts'
import { type DeferredClaims, inLockOrder, statedClaim } from './deferred-claims.ts'
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

/** In the order of the submissions: the accepted attestation, or the reasons for the refusal. */
export type Acceptance = { accepted: Accepted } | { errors: FieldError[] }

interface Source {
  /** The batch, and for each submission its line number, from 1. */
  batch?: { id: string; lines: readonly number[] }
  /**
   * Of a batch, whose claims are written after its last line. Without it, claims are written before the attestations.
   */
  claims?: DeferredClaims
  /**
   * Interactive submissions are usually new: rows with the same external id are read only after an insert conflicts.
   */
  priority: 'interactive' | 'bulk'
  now: Date
}

interface Prepared {
  body: BatchLine
  digest: Buffer
  attestation: NewAttestation
}

/**
 * Writes the submissions that can be stored. Each has passed `checkSubmission`; the checks here need rows: media of
 * another account, an external id that already names other content.
 */
export async function acceptSubmissions(
  tx: Tx,
  scope: Scope,
  bodies: readonly BatchLine[],
  source: Source,
): Promise<Acceptance[]> {
  const prepared = bodies.map((body, index) => prepare(body, scope, source, index))
  const held = holdMedia(tx, [...new Set(bodies.map((body) => body.media.media_id))])
  const verdicts: Verdicts = prepared.map(() => undefined)
  if (source.priority === 'interactive') {
    settleKnown(prepared, new Map(), verdicts)
    await insertFresh(tx, scope, prepared, verdicts, source, held)
  } else {
    // Sent together: the connection pipelines the queries.
    const [media, known] = await Promise.all([held, knownSubmissions(tx, prepared)])
    refuseWrongMedia(prepared, media, verdicts)
    settleKnown(prepared, known, verdicts)
    await insertFresh(tx, scope, prepared, verdicts, source)
  }
  return verdicts.map((verdict, index) => verdict ?? acceptedOf(prepared[index]))
}

type Verdicts = (Acceptance | undefined)[]

// A row that another transaction commits between our SELECT and our INSERT shows only as an insert conflict. Our claims
// are written by then, so a savepoint rolls them back: a repeat or a taken external id neither creates nor changes a
// claim.
async function insertFresh(
  tx: Tx,
  scope: Scope,
  prepared: readonly Prepared[],
  verdicts: Verdicts,
  source: Source,
  held?: Promise<Media[]>,
): Promise<void> {
  for (let unchecked = held; ; unchecked = undefined) {
    const fresh = prepared.filter((_, index) => verdicts[index] === undefined)
    if (fresh.length === 0) return
    const canGoBack = held !== undefined || fresh.some(({ body }) => body.external_id !== undefined)
    const [media] = await Promise.all([
      unchecked,
      canGoBack && tx.adhoc('SAVEPOINT unplaced'),
      source.claims === undefined ? placeInClaims(tx, scope, fresh) : source.claims.place(fresh),
    ])
    if (media !== undefined) {
      refuseWrongMedia(prepared, media, verdicts)
      if (verdicts.filter((verdict) => verdict === undefined).length < fresh.length) {
        await tx.adhoc('ROLLBACK TO SAVEPOINT unplaced')
        continue
      }
    }
    prepared.forEach(({ attestation }, index) => {
      if (verdicts[index] === undefined && attestation.claimId === '') verdicts[index] = refuseClosed()
    })
    const placed = fresh.filter(({ attestation }) => attestation.claimId !== '')
    const [inserted] = await Promise.all([
      insertAttestations(
        tx,
        scope,
        inNameOrder(placed).map(({ attestation }) => attestation),
      ),
      enqueue(tx, 'attest', scope, placed.map(jobOf(source))),
      consumeNonces(tx, placed.flatMap(nonceUse), source.now),
    ])
    if (inserted.length === placed.length) {
      const times = new Map(inserted.map(({ id, acceptedAt }) => [id, acceptedAt]))
      for (const { attestation } of placed) attestation.acceptedAt = times.get(attestation.id)
      source.claims?.keep(placed)
      return
    }
    await tx.adhoc('ROLLBACK TO SAVEPOINT unplaced')
    settleKnown(prepared, await knownSubmissions(tx, prepared), verdicts)
  }
}

function jobOf({ priority }: Source) {
  return ({ attestation: { id, jobId } }: Prepared) => ({ id: jobId, payload: { attestationId: id }, priority })
}

function refuseWrongMedia(prepared: readonly Prepared[], media: readonly Media[], verdicts: Verdicts): void {
  const found = new Map(media.map((row) => [row.id, row]))
  prepared.forEach(({ body }, index) => {
    verdicts[index] ??= refusalOfMedia(body, found.get(body.media.media_id))
  })
}

function refusalOfMedia({ media_type }: BatchLine, found: Media | undefined): Acceptance | undefined {
  const pointer = '/media/media_id'
  if (found === undefined) return refuse(pointer, 'not_found', 'no such media: upload it with POST /v1/media first')
  if (found.contentType.startsWith(`${media_type}/`)) return undefined
  return refuse(pointer, 'wrong_media_type', `is ${found.contentType}, not ${media_type}`)
}

function nonceUse({ body, attestation }: Prepared): { nonce: string; attestationId: string }[] {
  const nonce = body.bundle?.session_nonce
  return nonce === undefined ? [] : [{ nonce, attestationId: attestation.id }]
}

function prepare(body: BatchLine, scope: Scope, source: Source, index: number): Prepared {
  const digest = contentDigest(body)
  return {
    body,
    digest,
    attestation: {
      id: newId('att', scope.environment, source.now.getTime()),
      claimId: '',
      batchId: source.batch?.id ?? null,
      batchLine: source.batch?.lines[index] ?? null,
      externalId: body.external_id ?? null,
      contentDigest: digest,
      mediaId: body.media.media_id,
      deviceId: body.bundle?.device_id ?? null,
      submission: submissionOf(body),
      jobId: randomUUID(),
    },
  }
}

async function knownSubmissions(tx: Tx, prepared: readonly Prepared[]): Promise<Map<string, KnownSubmission>> {
  const ids = prepared.flatMap(({ body }) => body.external_id ?? [])
  return new Map((await findByExternalIds(tx, ids)).map((row) => [row.externalId, row]))
}

// The same content under the same external id is the same attestation; other content is a conflict. Compared with the
// stored rows and, for the lines of a batch, with the first line that has the name.
function settleKnown(
  prepared: readonly Prepared[],
  known: ReadonlyMap<string, KnownSubmission>,
  verdicts: Verdicts,
): void {
  const first = new Map<string, Pick<KnownSubmission, 'id' | 'claimId' | 'jobId' | 'contentDigest'>>(known)
  prepared.forEach(({ body, digest }, index) => {
    if (body.external_id === undefined || verdicts[index] !== undefined) return
    const earlier = first.get(body.external_id)
    if (earlier === undefined) {
      first.set(body.external_id, { id: '', claimId: '', jobId: '', contentDigest: digest })
    } else if (!isEqualBytes(earlier.contentDigest, digest)) {
      verdicts[index] = refuse('/external_id', 'conflict', 'names a submission with other content')
    } else if (earlier.id !== '') {
      const { id: attestationId, claimId, jobId } = earlier
      verdicts[index] = { accepted: { attestationId, claimId, jobId, isRepeat: true } }
    } else {
      verdicts[index] = refuse('/external_id', 'duplicate_line', 'repeats an earlier line of this batch, which is kept')
    }
  })
}

/** Leaves claimId empty when the claim accepts no more captures. */
async function placeInClaims(tx: Tx, scope: Scope, fresh: readonly Prepared[]): Promise<void> {
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

// A claim that was erased on request must not fill again, for example by a phone that was offline.
function refuseClosed(): Acceptance {
  return refuse('/claim/reference', 'claim_erased', 'names a claim that was erased: it takes no more captures')
}

function refuse(pointer: string, code: string, detail: string): Acceptance {
  return { errors: [{ pointer, code, detail }] }
}

function acceptedOf(prepared: Prepared | undefined): Acceptance {
  if (prepared === undefined) throw new Error('an acceptance without a submission')
  const { id: attestationId, claimId, jobId } = prepared.attestation
  return { accepted: { attestationId, claimId, jobId, isRepeat: false, row: queuedRow(prepared.attestation) } }
}

// Every transaction locks rows in this order, so two batches that share external ids wait and don't deadlock.
function inNameOrder(items: readonly Prepared[]): Prepared[] {
  const keyOf = ({ body }: Prepared) => body.external_id ?? ''
  return items.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0))
}
