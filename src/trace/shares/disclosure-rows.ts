// Requests to see what a share masks. A request is open until it is denied, revoked, or its end has come; each change of its
// state is one guarded UPDATE, so that of two at the same time one happens.

import type { Statement, Tx } from '#src/platform/db/database.ts'
import { conditionOfAny, conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { PurgeStep } from '#src/platform/retention.ts'

export const REQUEST_STATUSES = ['unverified', 'pending', 'granted', 'denied', 'revoked', 'expired'] as const
export type RequestStatus = (typeof REQUEST_STATUSES)[number]

export interface RequestRow {
  id: string
  shareId: string
  /** At the time that was asked for. */
  status: RequestStatus
  /** null once it was erased. */
  sealedPerson: Buffer | null
  codeNonce: Buffer
  codeHash: Buffer
  triesLeft: number
  createdAt: Date
  verifiedAt: Date | null
  decidedAt: Date | null
  /** A key, a user, or `auto`: of the last decision about this request, and not about its share. */
  decidedBy: string | null
  /** Of the code, then of the share, then of the grant. */
  endsAt: Date
}

// The parameter is the time.
const statusAt = (at: string) =>
  `CASE WHEN ended_at IS NULL AND ends_at <= ${at}::timestamptz THEN 'expired' ELSE status END`
const REQUEST = (at: string) => `id, share_id AS "shareId", ${statusAt(at)} AS status, sealed_person AS "sealedPerson",
  code_nonce AS "codeNonce", code_hash AS "codeHash", tries_left AS "triesLeft", created_at AS "createdAt",
  verified_at AS "verifiedAt", decided_at AS "decidedAt", decided_by AS "decidedBy", ends_at AS "endsAt"`

export type NewRequest = Pick<
  RequestRow,
  'id' | 'shareId' | 'codeNonce' | 'codeHash' | 'triesLeft' | 'createdAt' | 'endsAt'
> & { sealedPerson: Buffer }

export async function insertRequest(tx: Tx, { accountId, environment }: Scope, row: NewRequest): Promise<void> {
  await tx.query(
    `INSERT INTO disclosure_requests (account_id, environment, id, share_id, status, sealed_person, code_nonce, code_hash,
       tries_left, created_at, ends_at)
     VALUES ($1, $2, $3, $4, 'unverified', $5, $6, $7, $8, $9, $10)`,
    [
      accountId,
      environment,
      row.id,
      row.shareId,
      row.sealedPerson,
      row.codeNonce,
      row.codeHash,
      row.triesLeft,
      row.createdAt,
      row.endsAt,
    ],
  )
}

export async function findRequest(tx: Tx, id: string, at: Date): Promise<RequestRow | undefined> {
  const [row] = await tx.query<RequestRow>(`SELECT ${REQUEST('$2')} FROM disclosure_requests WHERE id = $1`, [id, at])
  return row
}

/** What the mail of a grant needs. */
export async function findGrantSecret(
  tx: Tx,
  id: string,
  at: Date,
): Promise<{ nonce: Buffer; tokenHash: Buffer; endsAt: Date } | undefined> {
  const [row] = await tx.query<{ nonce: Buffer; tokenHash: Buffer; endsAt: Date }>(
    `SELECT grant_nonce AS nonce, grant_hash AS "tokenHash", ends_at AS "endsAt" FROM disclosure_requests
     WHERE id = $1 AND status = 'granted' AND ends_at > $2`,
    [id, at],
  )
  return row
}

/** Uses up one try of a code that still works. undefined: there is none. */
export async function takeTry(tx: Tx, id: string, shareId: string, at: Date): Promise<RequestRow | undefined> {
  const [row] = await tx.query<RequestRow>(
    `UPDATE disclosure_requests SET tries_left = tries_left - 1
     WHERE id = $1 AND share_id = $2 AND status = 'unverified' AND tries_left > 0 AND ends_at > $3 RETURNING ${REQUEST('$3')}`,
    [id, shareId, at],
  )
  return row
}

/** False when it was verified before. */
export async function markRequestVerified(
  tx: Tx,
  id: string,
  { at, endsAt }: { at: Date; endsAt: Date },
): Promise<boolean> {
  const verified = await tx.query(
    `UPDATE disclosure_requests SET status = 'pending', verified_at = $2, ends_at = $3, tries_left = 0
     WHERE id = $1 AND status = 'unverified' AND ends_at > $2 RETURNING 1`,
    [id, at, endsAt],
  )
  return verified.length > 0
}

export interface NewGrant {
  by: string
  at: Date
  endsAt: Date
  nonce: Buffer
  tokenHash: Buffer
}

/** False unless it is pending. */
export async function grantRequest(
  tx: Tx,
  id: string,
  { by, at, endsAt, nonce, tokenHash }: NewGrant,
): Promise<boolean> {
  const granted = await tx.query(
    `UPDATE disclosure_requests
     SET status = 'granted', decided_at = $2, decided_by = $3, ends_at = $4, grant_nonce = $5, grant_hash = $6
     WHERE id = $1 AND status = 'pending' AND ends_at > $2 RETURNING 1`,
    [id, at, by, endsAt, nonce, tokenHash],
  )
  return granted.length > 0
}

// What ends a grant takes its token.
const END = 'ended_at = $2, grant_nonce = NULL, grant_hash = NULL'

/** Ends a request that is in the state `from`: false for any other. */
export async function endRequest(
  tx: Tx,
  id: string,
  { from, to, by, at }: { from: 'pending' | 'granted'; to: 'denied' | 'revoked'; by: string; at: Date },
): Promise<boolean> {
  const ended = await tx.query(
    `UPDATE disclosure_requests SET status = $3, ${END}, decided_at = $2, decided_by = $4
     WHERE id = $1 AND status = $5 AND ends_at > $2 RETURNING 1`,
    [id, at, to, by, from],
  )
  return ended.length > 0
}

export interface EndedRequest {
  id: string
  before: 'unverified' | 'pending' | 'granted'
  status: 'revoked' | 'expired'
}

/**
 * With their share, in the order of their ids. A grant is revoked, and keeps who granted it and when. What was not granted expires,
 * as it does with a share whose time is over: nobody has decided about it.
 */
export function endRequestsOfShare(tx: Tx, shareId: string, at: Date): Promise<EndedRequest[]> {
  return tx.query(
    `WITH due AS (
       SELECT id, status AS before, status = 'granted' AND ends_at > $2 AS is_revoked FROM disclosure_requests
       WHERE share_id = $1 AND ended_at IS NULL ORDER BY id FOR NO KEY UPDATE),
     ended AS (
       UPDATE disclosure_requests r SET status = CASE WHEN is_revoked THEN 'revoked' ELSE 'expired' END,
         ends_at = CASE WHEN is_revoked THEN ends_at ELSE least(ends_at, $2) END, ended_at = least(ends_at, $2),
         grant_nonce = NULL, grant_hash = NULL
       FROM due WHERE r.id = due.id RETURNING r.id, due.before, r.status)
     SELECT id, before, status FROM ended ORDER BY id`,
    [shareId, at],
  )
}

/**
 * The end of a share has moved: a request that is open ends with it at the latest, and one that waits for a decision waits
 * until then. What has ended by its time stays ended.
 */
export async function moveRequestEnds(tx: Tx, shareId: string, { to, at }: { to: Date; at: Date }): Promise<void> {
  await tx.query(
    `UPDATE disclosure_requests SET ends_at = CASE status WHEN 'pending' THEN $2 ELSE least(ends_at, $2) END
     WHERE share_id = $1 AND status IN ('unverified', 'pending', 'granted') AND ends_at > $3`,
    [shareId, to, at],
  )
}

/** In all accounts: what has ended by its time and is not written down as such. */
export function findEnding(limit: number, at: Date): Statement {
  return {
    text: `SELECT account_id AS "accountId", environment, id FROM disclosure_requests
      WHERE status IN ('pending', 'granted') AND ends_at <= $2 ORDER BY ends_at LIMIT $1`,
    values: [limit, at],
  }
}

/** Returns the state of each before. Rows that another transaction holds are left for the next time. */
export function expireRequests(
  tx: Tx,
  ids: readonly string[],
  at: Date,
): Promise<{ id: string; shareId: string; before: 'pending' | 'granted' }[]> {
  return tx.query(
    `WITH due AS (
       SELECT id, status FROM disclosure_requests
       WHERE id = ANY($1::text[]) AND status IN ('pending', 'granted') AND ends_at <= $2 ORDER BY id FOR NO KEY UPDATE SKIP LOCKED)
     UPDATE disclosure_requests r SET status = 'expired', ended_at = ends_at, grant_nonce = NULL, grant_hash = NULL
     FROM due WHERE r.id = due.id RETURNING r.id, r.share_id AS "shareId", due.status AS before`,
    [ids, at],
  )
}

export interface RequestFilter extends TimeRange {
  statuses?: readonly RequestStatus[] | undefined
  shareId?: string | undefined
  at: Date
}

/** Those of people who have not verified their address only where they are asked for. */
export function findRequests(
  tx: Tx,
  scope: Scope,
  filter: RequestFilter,
  { before, limit, order = 'desc' }: { before: string | undefined; limit: number; order?: 'asc' | 'desc' },
): Promise<RequestRow[]> {
  const { where, values } = conditionsOf(scope, filter)
  if (before !== undefined) where.push(`id ${order === 'asc' ? '>' : '<'} $${values.push(before)}`)
  return tx.adhoc<RequestRow>(
    `SELECT ${REQUEST('$1')} FROM disclosure_requests WHERE ${where.join(' AND ')} ORDER BY id ${order === 'asc' ? 'ASC' : 'DESC'} LIMIT $${values.push(limit)}`,
    values,
  )
}

export async function countRequests(tx: Tx, scope: Scope, filter: RequestFilter): Promise<number> {
  const { where, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`disclosure_requests WHERE ${where.join(' AND ')}`), values)
  return row?.count ?? 0
}

/** Erases who asked, of requests that ended before. */
export const purgePersons: PurgeStep = async (tx, _scope, { before, limit }) => {
  const gone = await tx.query(
    `UPDATE disclosure_requests SET sealed_person = NULL WHERE id = ANY(ARRAY(
       SELECT id FROM disclosure_requests WHERE ended_at < $1 AND sealed_person IS NOT NULL LIMIT $2)) RETURNING 1`,
    [before, limit],
  )
  return gone.length
}

/** Deletes what nobody verified. */
export const purgeUnverified: PurgeStep = async (tx, _scope, { before, limit }) => {
  const gone = await tx.query(
    `DELETE FROM disclosure_requests WHERE id = ANY(ARRAY(
       SELECT id FROM disclosure_requests WHERE verified_at IS NULL AND created_at < $1 LIMIT $2)) RETURNING 1`,
    [before, limit],
  )
  return gone.length
}

function conditionsOf({ environment }: Scope, { statuses, shareId, from, to, at }: RequestFilter) {
  // A statement reads every one of its parameters.
  const values: unknown[] = [at]
  const where = ['$1::timestamptz IS NOT NULL']
  const matches = (wanted: readonly RequestStatus[]) => {
    // The stored status first, for the index: a time that has passed turns it into another.
    const stored = wanted.flatMap((status) => (status === 'expired' ? EXPIRING : [status]))
    return `${conditionOfAny(values, 'status', [...new Set(stored)])} AND ${conditionOfAny(values, statusAt('$1'), wanted)}`
  }
  if (statuses === undefined) where.push('verified_at IS NOT NULL')
  else {
    const verified = statuses.filter((status) => status !== 'unverified')
    const by = [
      ...(verified.length === 0 ? [] : [`verified_at IS NOT NULL AND ${matches(verified)}`]),
      ...(statuses.includes('unverified') ? [`verified_at IS NULL AND ${matches(['unverified'])}`] : []),
    ]
    where.push(`(${by.join(' OR ')})`)
  }
  if (shareId !== undefined) where.push(`share_id = $${values.push(shareId)}`)
  where.push(...conditionsOfRange(values, { type: 'dsr', environment }, { from, to }))
  return { where, values }
}

// What a verified request was before its time was over and it is written down as expired.
const EXPIRING = ['expired', 'pending', 'granted'] as const
