// The hash of each media with the greys that confirm a match, or why there are none. It is written once, by the first
// comparison of any attestation that shows the media, and deleted with the last of their fingerprints. Fingerprints are
// locked before pictures.

import type { Tx } from '#src/platform/db/database.ts'
import type { NotComparable } from './rows.ts'

/** A hash of 16 hexadecimal digits with the greys of the picture, or why there are none. */
export type Hashed = { hash: string; detail: Uint8Array } | { notComparable: NotComparable }

export interface WaitingMedia {
  isHashed: boolean
  /** 64 lower-case hexadecimal digits. */
  sha256: string
  contentType: string
}

/** The media of an attestation that is to be compared; undefined when it is compared already, or gone. */
export async function findWaitingMedia(tx: Tx, attestationId: string): Promise<WaitingMedia | undefined> {
  const [row] = await tx.query<WaitingMedia>(
    `SELECT EXISTS (SELECT FROM pictures WHERE media_id = f.media_id) AS "isHashed",
       encode(m.sha256, 'hex') AS sha256, m.content_type AS "contentType" FROM fingerprints f
     CROSS JOIN LATERAL (SELECT * FROM media WHERE id = f.media_id LIMIT 1) m
     WHERE f.attestation_id = $1 AND f.state <> 'compared'`,
    [attestationId],
  )
  return row
}

/** Stores what the attestation's media hash to, unless that is known, or the attestation was erased meanwhile. */
export async function insertPicture(tx: Tx, attestationId: string, result: Hashed): Promise<void> {
  await tx.query(
    // The lock makes an erasure wait, which then deletes this row too.
    `INSERT INTO pictures (account_id, environment, media_id, hash, detail, not_comparable)
     SELECT account_id, environment, media_id, ('x' || $2::text)::bit(64)::bigint, $3, $4
     FROM fingerprints WHERE attestation_id = $1 FOR KEY SHARE
     ON CONFLICT ON CONSTRAINT pictures_pkey DO NOTHING`,
    'hash' in result
      ? [attestationId, result.hash, result.detail, null]
      : [attestationId, null, null, result.notComparable],
  )
}

/** The greys of pictures, by their media. */
export async function findDetails(tx: Tx, mediaIds: readonly string[]): Promise<Map<string, Uint8Array>> {
  const rows = await tx.query<{ mediaId: string; detail: Uint8Array }>(
    'SELECT media_id AS "mediaId", detail FROM pictures WHERE media_id = ANY($1) AND detail IS NOT NULL',
    [mediaIds],
  )
  return new Map(rows.map(({ mediaId, detail }) => [mediaId, detail]))
}

/**
 * Keeps a picture from being deleted until the transaction ends: an erasure that does not see the caller's fingerprint
 * yet may be deleting it. Returns whether it is still there.
 */
export async function keepPicture(tx: Tx, mediaId: string): Promise<boolean> {
  return (await tx.query('SELECT FROM pictures WHERE media_id = $1 FOR KEY SHARE', [mediaId])).length === 1
}

/** Deletes the pictures of those media that no fingerprint shows. Returns how many. */
export async function deleteUnreferencedPictures(tx: Tx, mediaIds: readonly string[]): Promise<number> {
  if (mediaIds.length === 0) return 0
  // After the lock, a new statement sees what transactions have committed that held it: comparisons, and erasures of
  // other fingerprints.
  await tx.query('SELECT FROM pictures WHERE media_id = ANY($1) ORDER BY media_id FOR UPDATE', [mediaIds])
  const deleted = await tx.query(
    `DELETE FROM pictures WHERE media_id = ANY($1)
       AND NOT EXISTS (SELECT FROM fingerprints WHERE media_id = pictures.media_id OFFSET 0) RETURNING 1`,
    [mediaIds],
  )
  return deleted.length
}

/** A step through all pictures, by the id of their media: the last one, and those that no fingerprint shows. */
export async function findUnreferencedPictures(
  tx: Tx,
  { after, limit }: { after: string; limit: number },
): Promise<{ last: string | null; unreferenced: string[] }> {
  const [step] = await tx.query<{ last: string | null; unreferenced: string[] }>(
    `SELECT max(media_id) AS last, coalesce(array_agg(media_id) FILTER (WHERE NOT EXISTS (
         SELECT FROM fingerprints WHERE media_id = step.media_id OFFSET 0)), '{}') AS unreferenced
     FROM (SELECT media_id FROM pictures WHERE media_id > $1 ORDER BY media_id LIMIT $2) AS step`,
    [after, limit],
  )
  return step ?? { last: null, unreferenced: [] }
}
