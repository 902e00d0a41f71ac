// What was revoked, and whether an account has stopped everything. A revocation marks the tokens that it ends in their own rows
// (src/authorize/tokens/revoked-rows.ts), so that a verify finds it with the token.

import type { Statement, Tx } from '#src/platform/db/database.ts'
import { conditionOfAny, conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import { oneRow } from '#src/platform/db/reads.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'

import { idsBefore, type Scope } from '#src/platform/ids.ts'
import { deleteRows, oldRows, type PurgeStep } from '#src/platform/retention.ts'

import type { RevokedScope } from '../tokens/rows.ts'

export interface RevocationRow {
  id: string
  scope: RevokedScope
  subjectId: string
  reason: string
  /** How many tokens ended with it. */
  tokens: number
  /** The key or the user. */
  actorId: string
  createdAt: Date
  /** null: for ever. */
  expiresAt: Date | null
}

const REVOCATION = `id, scope, subject_id AS "subjectId", reason, ended_count AS tokens, actor_id AS "actorId", created_at AS "createdAt",
  expires_at AS "expiresAt"`

export async function insertRevocation(
  tx: Tx,
  { accountId, environment, principal }: Acting,
  row: Pick<RevocationRow, 'id' | 'scope' | 'subjectId' | 'reason' | 'tokens' | 'expiresAt'>,
): Promise<RevocationRow> {
  const [inserted] = await tx.query<RevocationRow>(
    `INSERT INTO revocations (account_id, environment, id, scope, subject_id, reason, ended_count, expires_at, actor_kind, actor_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING ${REVOCATION}`,
    [
      accountId,
      environment,
      row.id,
      row.scope,
      row.subjectId,
      row.reason,
      row.tokens,
      row.expiresAt,
      principal.kind,
      actorOf(principal).id,
    ],
  )
  if (inserted === undefined) throw new Error('a revocation that was just inserted is not there')
  return inserted
}

export async function findRevocation(tx: Tx, id: string): Promise<RevocationRow | undefined> {
  const [row] = await tx.query<RevocationRow>(`SELECT ${REVOCATION} FROM revocations WHERE id = $1`, [id])
  return row
}

/** The revocation of a subject that lasts longest, of those in force. */
export async function findLongest(
  tx: Tx,
  { scope, subjectId }: Pick<RevocationRow, 'scope' | 'subjectId'>,
): Promise<RevocationRow | undefined> {
  const [row] = await tx.query<RevocationRow>(
    `SELECT ${REVOCATION} FROM revocations
     WHERE subject_id = $2 AND scope = $1 AND (expires_at IS NULL OR expires_at > clock_timestamp())
     ORDER BY expires_at DESC NULLS FIRST, id LIMIT 1`,
    [scope, subjectId],
  )
  return row
}

export interface RevocationFilter extends TimeRange {
  /** Any of them. */
  scopes?: readonly RevokedScope[] | undefined
  subjectId?: string | undefined
}

/** Newest first. */
export async function listRevocations(
  tx: Tx,
  scope: Scope,
  filter: RevocationFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<RevocationRow[]> {
  const { conditions, values } = conditionsOf(scope, filter)
  if (before !== undefined) conditions.push(`id < $${values.push(before)}`)
  return tx.adhoc<RevocationRow>(
    `SELECT ${REVOCATION} FROM revocations WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT $${values.push(limit)}`,
    values,
  )
}

export async function countRevocations(tx: Tx, scope: Scope, filter: RevocationFilter): Promise<number> {
  const { conditions, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`revocations WHERE ${conditions.join(' AND ')}`), values)
  return row?.count ?? 0
}

function conditionsOf({ environment }: Scope, { scopes, subjectId, from, to }: RevocationFilter) {
  const values: unknown[] = []
  const conditions = [
    'true',
    ...(scopes === undefined ? [] : [conditionOfAny(values, 'scope', scopes)]),
    ...(subjectId === undefined ? [] : [`subject_id = $${values.push(subjectId)}`]),
    ...conditionsOfRange(values, { type: 'rev', environment }, { from, to }),
  ]
  return { conditions, values }
}

/** Those that end nothing any more: they have expired, or their token is gone. Others stay, and are not read for it. */
export const purgeEndedRevocations: PurgeStep = async (tx, { environment }, { before, limit }) => {
  const ended = await tx.query<{ id: string }>(
    'SELECT id FROM revocations WHERE expires_at < $1 AND created_at < $1 ORDER BY expires_at LIMIT $2',
    [before, limit],
  )
  const ofTokens = await tx.query<{ id: string }>(
    `SELECT id FROM revocations r WHERE scope = 'token' AND id < $1 AND created_at < $2
       AND NOT EXISTS (SELECT FROM intents WHERE jti = r.subject_id OFFSET 0)
     ORDER BY id LIMIT $3`,
    [idsBefore('rev', environment, before), before, limit - ended.length],
  )
  return deleteRows(tx, 'revocations', [...ended, ...ofTokens])
}

/** All that are old: in accounts whose keys are published. */
export const purgeRevocations = oldRows({ table: 'revocations', idType: 'rev', age: 'created_at' })

/** Why a token, or a new one, is refused. */
export interface LiveRevocation {
  /** null: of a device that was revoked in its registry before revocations were kept. */
  revocationId: string | null
  scope: RevokedScope
  at: Date
}

/** Whom a decision asks about. Without `jti`: whether a new token may be issued. */
export interface RevocationSubjects {
  jti?: string | undefined
  agentSessionId: string
  deviceId: string
}

/** For `readTenant`: one row, or none. */
function selectRevocation({ jti, agentSessionId, deviceId }: RevocationSubjects): Statement {
  return { text: LIVE, values: [jti ?? null, agentSessionId, deviceId] }
}

/** Read it under the shared locks of the session and the device, and for a token after `lockIntent`. */
export async function readRevocation(tx: Tx, subjects: RevocationSubjects): Promise<LiveRevocation | undefined> {
  const { text, values } = selectRevocation(subjects)
  const [row] = await tx.query<LiveRevocation>(text, values)
  return row
}

/** What `readRevocation` reads. The arguments are the places of the subjects; the one of `jti` may be null. */
export const liveRevocation = (places: Record<keyof RevocationSubjects, `$${number}`>) =>
  oneRow<LiveRevocation>(`SELECT * FROM (
    SELECT revocation_id AS "revocationId", revoked_scope AS scope, revoked_at AS at, 1 AS rank
    FROM intents WHERE jti = ${places.jti} AND revocation_id IS NOT NULL
    UNION ALL
    SELECT id, scope, created_at, 2 FROM revocations WHERE subject_id = ${places.agentSessionId} AND scope = 'session'
      AND (expires_at IS NULL OR expires_at > clock_timestamp())
    UNION ALL
    SELECT id, scope, created_at, 3 FROM revocations WHERE subject_id = ${places.deviceId} AND scope = 'device'
      AND (expires_at IS NULL OR expires_at > clock_timestamp())
    UNION ALL
    SELECT NULL, 'device', revoked_at, 4 FROM devices WHERE id = ${places.deviceId} AND revoked_at IS NOT NULL
  ) found ORDER BY rank, at LIMIT 1`)

const LIVE = liveRevocation({ jti: '$1', agentSessionId: '$2', deviceId: '$3' })

export interface LiveStop {
  reason: string
  at: Date
}

/** undefined: nothing is stopped. Read it under the shared lock of the stop. */
export async function readStop(tx: Tx): Promise<LiveStop | undefined> {
  const [row] = await tx.query<LiveStop>(LIVE_STOP)
  return row
}

/** What `readStop` reads. */
export const LIVE_STOP = oneRow<LiveStop>('SELECT reason, stopped_at AS at FROM stops WHERE resumed_at IS NULL')
