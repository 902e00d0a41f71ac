import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { MediaType } from './sniff.ts'

export interface Media {
  id: string
  /** 64 lower-case hexadecimal digits. */
  sha256: string
  size: number
  contentType: MediaType
  /** Width in the file, before any rotation. Null for video. */
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

/**
 * Inserts the row, or finds the existing row of these bytes and records that they were uploaded again: one content is
 * one media id. undefined while earlier bytes with this hash are being erased.
 */
export async function insertMedia(tx: Tx, scope: Scope, media: Media): Promise<Media | undefined> {
  const [row] = await tx.query<Row>(
    `INSERT INTO media (account_id, environment, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
     ON CONFLICT (sha256, account_id, environment) WHERE state <> 'erased'
     DO UPDATE SET uploaded_at = now() WHERE media.state = 'stored'
     RETURNING ${COLUMNS}`,
    [
      scope.accountId,
      scope.environment,
      media.id,
      Buffer.from(media.sha256, 'hex'),
      media.size,
      media.contentType,
      media.width,
      media.height,
      media.createdAt,
    ],
  )
  return row === undefined ? undefined : toMedia(row)
}

/** undefined for erased media too. */
export async function findMedia(tx: Tx, id: string): Promise<Media | undefined> {
  const [row] = await tx.query<Row>(`SELECT ${COLUMNS} FROM media WHERE id = $1 AND state = 'stored'`, [id])
  return row === undefined ? undefined : toMedia(row)
}

/** Returns when the same bytes were last uploaded. */
export async function findUploadedAt(tx: Tx, id: string): Promise<Date | undefined> {
  const [row] = await tx.query<{ at: Date }>('SELECT uploaded_at AS at FROM media WHERE id = $1', [id])
  return row?.at
}

/** The claims whose captures show it, newest first. */
export async function findClaimsOfMedia(tx: Tx, id: string, limit: number): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `SELECT DISTINCT claim_id AS id FROM attestations WHERE media_id = $1 AND status <> 'cancelled'
     ORDER BY claim_id DESC LIMIT $2`,
    [id, limit],
  )
  return rows.map((row) => row.id)
}

/** Returns media that are not erased, in no order. */
export async function findMediaByIds(tx: Tx, ids: readonly string[]): Promise<Media[]> {
  const rows = await tx.query<Row>(`SELECT ${COLUMNS} FROM media WHERE id = ANY($1) AND state = 'stored'`, [ids])
  return rows.map(toMedia)
}

/**
 * The media whose bytes are stored, in no order, locked until the transaction ends: a row that refers to one in this
 * transaction can't lose it to an erasure. The foreign key takes the same lock, but later.
 */
export async function holdMedia(tx: Tx, ids: readonly string[]): Promise<Media[]> {
  const rows = await tx.query<Row>(
    `SELECT ${COLUMNS} FROM media WHERE id = ANY ($1) AND state = 'stored' ORDER BY id FOR KEY SHARE`,
    [ids],
  )
  return rows.map(toMedia)
}

function toMedia({ content_type: contentType, created_at: createdAt, sha256, ...row }: Row): Media {
  return { ...row, sha256: sha256.toString('hex'), contentType, createdAt }
}
