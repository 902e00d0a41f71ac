// A submission in the columns of its row. The chunks of a long video are 2.4 MB of JSON. They have a column of text: as a part
// of the `jsonb` Postgres parsed and wrote all of it at each INSERT and SELECT, which kept a processor busy for 50 ms in one
// go.

import type { Tx } from '#src/platform/db/database.ts'
import type { AttestationStatus } from './rows.ts'
import type { Submission } from './submission.ts'

/** What `ALL_OF_SUBMISSION` selects. */
export interface StoredSubmission {
  submission: Submission
  /** JSON: an array of chunks. Null: those in `submission` are all. */
  videoChunks: string | null
}

/** Of `attestations`, for rows that `withChunks` completes. */
export const ALL_OF_SUBMISSION = 'submission, video_chunks AS "videoChunks"'

/** How many bytes a submission has as JSON, its chunks included. */
export const SUBMISSION_BYTES = '(octet_length(submission::text) + coalesce(octet_length(video_chunks), 0))'

/** The row with its chunks in its submission. */
export function withChunks<Row extends StoredSubmission>(row: Row): Row {
  const { submission, videoChunks } = row
  const { bundle } = submission
  if (videoChunks === null || bundle?.video_manifest === undefined) return row
  const manifest = { ...bundle.video_manifest, chunks: JSON.parse(videoChunks) }
  return { ...row, submission: { ...submission, bundle: { ...bundle, video_manifest: manifest } }, videoChunks: null }
}

/** Everything that an evaluation reads of the submission itself. */
export interface SubmittedRow {
  id: string
  claimId: string
  status: AttestationStatus
  acceptedAt: Date
  deviceId: string | null
  submission: Submission
  mediaId: string
  mediaSha256: Buffer
  mediaContentType: string
  claimLossLat: number | null
  claimLossLng: number | null
}

/** In no order. */
export async function findSubmitted(tx: Tx, ids: readonly string[]): Promise<SubmittedRow[]> {
  const rows = await tx.query<SubmittedRow & StoredSubmission>(
    // LIMIT keeps the join order: one row, then its two related rows. As plain joins, a planner without statistics
    // first multiplies all media of the account by all its claims. The array stands in a subquery: see settleAll of the
    // backlog.
    `SELECT a.id, a.claim_id AS "claimId", a.status, a.accepted_at AS "acceptedAt", a.device_id AS "deviceId",
       ${ALL_OF_SUBMISSION},
       m.id AS "mediaId", m.sha256 AS "mediaSha256", m.content_type AS "mediaContentType",
       c.loss_lat AS "claimLossLat", c.loss_lng AS "claimLossLng"
     FROM unnest((SELECT $1::text[])) AS wanted (id)
     CROSS JOIN LATERAL (SELECT * FROM attestations WHERE id = wanted.id LIMIT 1) a
     CROSS JOIN LATERAL (SELECT * FROM media WHERE id = a.media_id LIMIT 1) m
     CROSS JOIN LATERAL (SELECT * FROM claims WHERE id = a.claim_id LIMIT 1) c`,
    [ids],
  )
  return rows.map(withChunks)
}
