// The JSON of a submission, for its row and its digest. Of a long video it has 2.5 MB and each pass over it takes
// milliseconds of the event loop: it is written once, before the transaction.

import { sha256 } from '#src/platform/crypto/digest.ts'
import { createSlice } from '#src/platform/slices.ts'
import { type AttestRequest, type BatchLine, type Bundle, type Submission, toSubmission } from './submission.ts'

const submissions = new WeakMap<AttestRequest | BatchLine, Submission>()
const texts = new WeakMap<Submission, string>()
const digests = new WeakMap<AttestRequest | BatchLine, Buffer>()

/** The same object for the same body. */
export function submissionOf(body: AttestRequest | BatchLine): Submission {
  return remembered(submissions, body, () => toSubmission(body))
}

export function submissionText(submission: Submission): string {
  return remembered(texts, submission, () => JSON.stringify(submission))
}

/**
 * The body as `external_id` compares it: media by id, so that inline and uploaded media are the same content. Equal
 * content gives equal text, whatever the order of its members: the schemas write theirs in a fixed order.
 */
export function contentOf(body: AttestRequest | BatchLine, mediaId: string): string {
  const names = JSON.stringify({ external_id: body.external_id, media_id: mediaId })
  // Two objects as one: neither is empty.
  return `${submissionText(submissionOf(body)).slice(0, -1)},${names.slice(1)}`
}

export function contentDigest(body: BatchLine): Buffer {
  return remembered(digests, body, () => sha256(contentOf(body, body.media.media_id)))
}

// As long as the rest of a submission may be.
const LONG_CHUNKS = 250

/** Whether it is of a long video. */
export function listsManyChunks(bundle: Bundle | undefined): boolean {
  return (bundle?.video_manifest?.chunks?.length ?? 0) > LONG_CHUNKS
}

/** Writes text and digest ahead of the transaction, in slices where the submission is long. */
export async function prepareSubmission(body: BatchLine): Promise<void> {
  if (!listsManyChunks(body.bundle)) return
  const slice = createSlice()
  submissionText(submissionOf(body))
  if (slice.isOver()) await slice.next()
  contentDigest(body)
  if (slice.isOver()) await slice.next()
}

function remembered<Key extends object, Value>(known: WeakMap<Key, Value>, key: Key, compute: () => Value): Value {
  const before = known.get(key)
  if (before !== undefined) return before
  const value = compute()
  known.set(key, value)
  return value
}
