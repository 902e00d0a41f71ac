import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { MediaType } from './sniff.ts'

export interface Media {
  id: string
  /** 64 lower-case hexadecimal digits. */
  sha256: string
  size: number
  contentType: MediaType
  /** As stored in the file, before any rotation. Null for video. */
  width: number | null
  height: number | null
  createdAt: Date
}

interface Row {
  id: string
  sha256: Buffer
  size: number
  content_type: MediaType
  width: number | null
  height: number | null
  created_at: Date
}

const COLUMNS = 'id, sha256, size, content_type, width, height, created_at'

/** Inserts the row, or finds the one that these bytes have already: one content is one media id. */
export async function insertMedia(tx: Tx, scope: Scope, media: Media): Promise<Media> {
  const sha256 = Buffer.from(media.sha256, 'hex')
  const inserted = await tx.query<Row>(
    `INSERT INTO media (account_id, environment, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     ON CONFLICT ON CONSTRAINT media_sha256_key DO NOTHING RETURNING ${COLUMNS}`,
    [
      scope.accountId,
      scope.environment,
      media.id,
      sha256,
      media.size,
      media.contentType,
      media.width,
      media.height,
      media.createdAt,
    ],
  )
  // A statement of its own: it sees the row of a concurrent upload, for which the insert has waited.
  const rows =
    inserted.length > 0 ? inserted : await tx.query<Row>(`SELECT ${COLUMNS} FROM media WHERE sha256 = $1`, [sha256])
  const [row] = rows
  if (row === undefined) throw new Error('a media row vanished between its conflict and its look-up')
  return toMedia(row)
}

export async function findMedia(tx: Tx, id: string): Promise<Media | undefined> {
  const [media] = await findMediaByIds(tx, [id])
  return media
}

/** Those that exist in the transaction's scope, in no order. */
export async function findMediaByIds(tx: Tx, ids: readonly string[]): Promise<Media[]> {
  const rows = await tx.query<Row>(`SELECT ${COLUMNS} FROM media WHERE id = ANY ($1)`, [ids])
  return rows.map(toMedia)
}

function toMedia({ content_type: contentType, created_at: createdAt, sha256, ...row }: Row): Media {
  return { ...row, sha256: sha256.toString('hex'), contentType, createdAt }
}
