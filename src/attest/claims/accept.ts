// From submissions to rows: claims, attestations, nonces and jobs in one transaction, the same for one and for a batch.
// Nothing is judged here but what makes a submission impossible to keep.

import { randomUUID } from 'node:crypto'
import type { FieldError } from '#src/failure.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { isEqualBytes, sha256 } from '#src/platform/crypto/digest.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { consumeNonces } from '../captures/rows.ts'
import { findMediaByIds } from '../media/rows.ts'
import { findByExternalIds, insertAttestations, type KnownSubmission, type NewAttestation, type NewClaim, upsertClaims } from './rows.ts'
import { type BatchLine, contentOf, toSubmission } from './submission.ts'

export interface Accepted {
  attestationId: string
  claimId: string
  jobId: string
}

/** In the order of the submissions: accepted, or the reasons why not. */
export type Verdict = { accepted: Accepted } | { errors: FieldError[] }

interface Source {
  /** The batch, and the line of its first submission, from 1. */
  batch?: { id: string; lines: readonly number[] }
  priority: 'interactive' | 'bulk'
  now: Date
}

interface Prepared {
  body: BatchLine
  digest: Buffer
  attestation: NewAttestation
}

/**
 * Writes the submissions that can be kept. Each has passed `checkSubmission`; what is found here depends on rows: media
 * that is not this account's, an external id that named something else.
 */
export async function acceptSubmissions(
  tx: Tx,
  scope: Scope,
  bodies: readonly BatchLine[],
  source: Source,
): Promise<Verdict[]> {
  const media = new Map((await findMediaByIds(tx, [...new Set(bodies.map((body) => body.media.media_id))])).map((row) => [row.id, row]))
  const prepared = bodies.map((body, index) => prepare(body, scope, source, index))
  const verdicts = new Array<Verdict | undefined>(bodies.length)

  prepared.forEach(({ body }, index) => {
    const found = media.get(body.media.media_id)
    if (found === undefined) {
      verdicts[index] = refuse('/media/media_id', 'not_found', 'no such media: upload it with POST /v1/media first')
    } else if (!found.contentType.startsWith(`${body.media_type}/`)) {
      verdicts[index] = refuse('/media/media_id', 'wrong_media_type', `is ${found.contentType}, not ${body.media_type}`)
    }
  })
  const known = await knownSubmissions(tx, prepared)
  settleKnown(prepared, known, verdicts)

  const fresh = prepared.filter((_, index) => verdicts[index] === undefined)
  if (fresh.length > 0) {
    await placeInClaims(tx, scope, fresh)
    const inserted = await insertAttestations(tx, scope, sortBy(fresh, ({ body }) => body.external_id ?? '').map(({ attestation }) => attestation))
    const kept = fresh.filter(({ attestation }) => inserted.has(attestation.id))
    await enqueue(tx, 'attest', scope, kept.map(({ attestation }) => ({
      id: attestation.jobId,
      payload: { attestationId: attestation.id },
      priority: source.priority,
    })))
    await consumeNonces(tx, kept.flatMap(({ body, attestation }) =>
      body.bundle?.session_nonce === undefined ? [] : [{ nonce: body.bundle.session_nonce, attestationId: attestation.id }],
    ), source.now)
    prepared.forEach(({ attestation }, index) => {
      if (inserted.has(attestation.id)) verdicts[index] = { accepted: acceptedOf(attestation) }
    })
    // Another submission with the same external id committed between our look and our insert.
    if (kept.length < fresh.length) settleKnown(prepared, await knownSubmissions(tx, prepared), verdicts)
  }
  return verdicts.map((verdict) => verdict ?? refuse('/external_id', 'conflict', 'was taken while this was accepted: send it again'))
}

function prepare(body: BatchLine, scope: Scope, source: Source, index: number): Prepared {
  const digest = sha256(canonicalize(contentOf(body, body.media.media_id)))
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
      submission: toSubmission(body),
      jobId: randomUUID(),
    },
  }
}

async function knownSubmissions(tx: Tx, prepared: readonly Prepared[]): Promise<Map<string, KnownSubmission>> {
  const ids = prepared.flatMap(({ body }) => body.external_id ?? [])
  return new Map((await findByExternalIds(tx, ids)).map((row) => [row.externalId, row]))
}

// The same content again is the same attestation, other content under the same name is a conflict: against what is stored
// and, for the lines of one batch, against the first of them.
function settleKnown(
  prepared: readonly Prepared[],
  known: ReadonlyMap<string, KnownSubmission>,
  verdicts: (Verdict | undefined)[],
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
      verdicts[index] = { accepted: { attestationId: earlier.id, claimId: earlier.claimId, jobId: earlier.jobId } }
    } else {
      verdicts[index] = refuse('/external_id', 'duplicate_line', 'repeats an earlier line of this batch, which stands')
    }
  })
}

async function placeInClaims(tx: Tx, scope: Scope, fresh: readonly Prepared[]): Promise<void> {
  const claims = new Map<string, NewClaim>()
  for (const { body, attestation } of fresh) {
    const key = body.claim?.reference === undefined ? `attestation ${attestation.id}` : `reference ${body.claim.reference}`
    const stated = claims.get(key)
    claims.set(key, {
      id: stated?.id ?? newId('clm', scope.environment),
      reference: body.claim?.reference ?? null,
      line: stated?.line ?? body.claim?.line ?? null,
      lossLat: stated?.lossLat ?? body.claim?.loss_location?.lat ?? null,
      lossLng: stated?.lossLng ?? body.claim?.loss_location?.lng ?? null,
      lossAt: stated?.lossAt ?? body.claim?.loss_at ?? null,
    })
  }
  const placed = await upsertClaims(tx, scope, sortBy([...claims.values()], (claim) => claim.reference ?? ''))
  const byReference = new Map(placed.map((claim) => [claim.reference, claim.id]))
  for (const { body, attestation } of fresh) {
    const reference = body.claim?.reference
    const own = claims.get(`attestation ${attestation.id}`)?.id
    attestation.claimId = (reference === undefined ? own : byReference.get(reference)) ?? ''
  }
}

function refuse(pointer: string, code: string, detail: string): Verdict {
  return { errors: [{ pointer, code, detail }] }
}

function acceptedOf({ id, claimId, jobId }: NewAttestation): Accepted {
  return { attestationId: id, claimId, jobId }
}

// Rows are locked in one order by everyone: two batches that share references or external ids wait, they don't deadlock.
function sortBy<Item>(items: readonly Item[], key: (item: Item) => string): Item[] {
  return [...items].sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0))
}
