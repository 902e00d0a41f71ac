// The JSON of a submission, for its row and its digest. The chunks of a long video have 2.5 MB and each pass over them
// takes milliseconds of the event loop: they are written once, before the transaction.

import { createHash } from 'node:crypto'
import { createSlice } from '#src/platform/slices.ts'
import { type AttestRequest, type BatchLine, type Bundle, type Submission, toSubmission } from './submission.ts'

const submissions = new WeakMap<AttestRequest | BatchLine, Submission>()
const texts = new WeakMap<Submission, SubmissionTexts>()
const digests = new WeakMap<AttestRequest | BatchLine, Buffer>()

/** More have a column of their own: a page of a claim shows a hundred submissions, without such lists. */
export const MANY_CHUNKS = 100

/** The JSON of both columns, see submission-rows.ts. */
export interface SubmissionTexts {
  submission: string
  /** Chunks of a long video; `submission` lacks them. */
  videoChunks: string | null
}

/** The same object for the same body. */
export function submissionOf(body: AttestRequest | BatchLine): Submission {
  return remembered(submissions, body, () => toSubmission(body))
}

export function submissionTexts(submission: Submission): SubmissionTexts {
  return remembered(texts, submission, () => {
    const isLong = listsManyChunks(submission.bundle)
    return {
      submission: JSON.stringify(isLong ? relisted(submission, undefined) : submission),
      videoChunks: isLong ? JSON.stringify(submission.bundle?.video_manifest?.chunks) : null,
    }
  })
}

/**
 * The body as `external_id` compares it: media by id, so that inline and uploaded media are the same content. Equal
 * content gives equal text, whatever the order of its members: the schemas write theirs in a fixed order.
 * @returns the JSON in parts, which are never joined: a long text takes the heap of `web` several times its size.
 */
export function contentOf(body: AttestRequest | BatchLine, mediaId: string): string[] {
  const submission = submissionOf(body)
  const names = { external_id: body.external_id, media_id: mediaId }
  const { submission: text, videoChunks } = submissionTexts(submission)
  // Two objects as one: neither is empty.
  if (videoChunks === null) return [`${text.slice(0, -1)},${JSON.stringify(names).slice(1)}`]
  // No string of JSON contains this member: its quotes would be escaped there.
  const [before = '', after = ''] = JSON.stringify({ ...relisted(submission, []), ...names }).split('"chunks":[]')
  return [before, '"chunks":', videoChunks, after]
}

export function contentDigest(body: BatchLine): Buffer {
  return remembered(digests, body, () => {
    const digest = createHash('sha256')
    for (const part of contentOf(body, body.media.media_id)) digest.update(part)
    return digest.digest()
  })
}

/** Whether it is of a long video. */
export function listsManyChunks(bundle: Bundle | undefined): boolean {
  return (bundle?.video_manifest?.chunks?.length ?? 0) > MANY_CHUNKS
}

/** Writes texts and digest ahead of the transaction, in slices where the submission is long. */
export async function prepareSubmission(body: BatchLine): Promise<void> {
  if (!listsManyChunks(body.bundle)) return
  const slice = createSlice()
  submissionTexts(submissionOf(body))
  if (slice.isOver()) await slice.next()
  contentDigest(body)
  if (slice.isOver()) await slice.next()
}

// Returns the submission with its members in the same order.
function relisted(submission: Submission, chunks: [] | undefined): Submission {
  const { bundle } = submission
  if (bundle === undefined) return submission
  return { ...submission, bundle: { ...bundle, video_manifest: { ...bundle.video_manifest, chunks } } }
}

function remembered<Key extends object, Value>(known: WeakMap<Key, Value>, key: Key, compute: () => Value): Value {
  const before = known.get(key)
  if (before !== undefined) return before
  const value = compute()
  known.set(key, value)
  return value
}
