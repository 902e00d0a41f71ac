// Session locks. What a lock holds, its subject, is the agent session of the trip, or the agent where the trip named no
// session. A subject has one live lock at most, by a unique index.

import type { Tx } from '#src/platform/db/database.ts'
import { conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import { oneRow } from '#src/platform/db/reads.ts'
import type { Scope } from '#src/platform/ids.ts'

export const LOCK_STATUSES = ['locked', 'cleared'] as const
export type LockStatus = (typeof LOCK_STATUSES)[number]
export type TripSource = 'verify' | 'inference' | 'check'

export interface SessionLockRow {
  id: string
  status: LockStatus
  /** null: the agent is locked, whatever the session. */
  agentSessionId: string | null
  /** The agent that it suspends; null for a session that belongs to none. */
  agentId: string | null
  traceId: string | null
  trippedFamilies: string[]
  source: TripSource
  jti: string | null
  matchedRuleId: string | null
  createdAt: Date
  clearedAt: Date | null
  /** The key or user. */
  clearedBy: string | null
  note: string | null
  /** Whether clearing it resumed the agent; null while it lives. */
  agentUnsuspended: boolean | null
}

export interface LiveLock {
  lockId: string
  agentSessionId: string | null
  agentId: string | null
  createdAt: Date
}

export interface LockInForce extends LiveLock {
  /** Every lock that has to be cleared before the session may go on, this one first; at most 11. */
  lockIds: string[]
}

const LOCK = `id, CASE WHEN cleared_at IS NULL THEN 'locked' ELSE 'cleared' END AS status,
  agent_session_id AS "agentSessionId", agent_id AS "agentId", trace_id AS "traceId",
  tripped_families AS "trippedFamilies", source, jti, matched_rule_id AS "matchedRuleId", created_at AS "createdAt",
  cleared_at AS "clearedAt", cleared_by AS "clearedBy", note, agent_unsuspended AS "agentUnsuspended"`

const LIVE = `SELECT id AS "lockId", agent_session_id AS "agentSessionId", agent_id AS "agentId", created_at AS "createdAt"
  FROM session_locks WHERE cleared_at IS NULL AND`

/**
 * The lock that is in force for a session and an agent: that of the session itself before any other of the agent, the
 * oldest first. A lock on one session of an agent is in force for all of them, as it suspends the agent. The arguments are
 * the places of the two, each of which may be null.
 */
export const liveLock = (session: `$${number}`, agent: `$${number}`) =>
  oneRow<LockInForce>(
    `SELECT live.*, array_agg("lockId") OVER (in_force ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS "lockIds"
     FROM ((${LIVE} agent_session_id = ${session}) UNION (${LIVE} agent_id = ${agent} ORDER BY id LIMIT 10)) live
     WINDOW in_force AS (ORDER BY "agentSessionId" IS NOT DISTINCT FROM ${session} DESC, "lockId")
     ORDER BY "agentSessionId" IS NOT DISTINCT FROM ${session} DESC, "lockId" LIMIT 1`,
  )

const LIVE_LOCK = liveLock('$1', '$2')

export async function readLiveLock(
  tx: Tx,
  { agentSessionId, agentId }: { agentSessionId: string | null; agentId: string | null },
): Promise<LockInForce | undefined> {
  const [row] = await tx.query<LockInForce>(LIVE_LOCK, [agentSessionId, agentId])
  return row
}

/** Of the subject itself. */
export async function findLockOf(
  tx: Tx,
  { agentSessionId, agentId }: { agentSessionId: string | null; agentId: string | null },
): Promise<LiveLock | undefined> {
  const [row] = await tx.query<LiveLock>(
    `(${LIVE} agent_session_id = $1)
     UNION ALL (${LIVE} agent_session_id IS NULL AND $1::text IS NULL AND agent_id = $2)`,
    [agentSessionId, agentId],
  )
  return row
}

export type NewLock = Pick<
  SessionLockRow,
  'id' | 'agentSessionId' | 'agentId' | 'traceId' | 'trippedFamilies' | 'source' | 'jti' | 'matchedRuleId' | 'createdAt'
>

/** False when the subject has a live lock: also when another transaction has just made it. */
export async function insertLock(tx: Tx, { accountId, environment }: Scope, lock: NewLock): Promise<boolean> {
  const inserted = await tx.query(
    `INSERT INTO session_locks (account_id, environment, id, agent_session_id, agent_id, trace_id, tripped_families, source,
       jti, matched_rule_id, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING RETURNING 1`,
    [
      accountId,
      environment,
      lock.id,
      lock.agentSessionId,
      lock.agentId,
      lock.traceId,
      lock.trippedFamilies,
      lock.source,
      lock.jti,
      lock.matchedRuleId,
      lock.createdAt,
    ],
  )
  return inserted.length > 0
}

export async function findLock(tx: Tx, id: string): Promise<SessionLockRow | undefined> {
  const [row] = await tx.query<SessionLockRow>(`SELECT ${LOCK} FROM session_locks WHERE id = $1`, [id])
  return row
}

export interface Clearing {
  by: string
  note: string | null
  agentUnsuspended: boolean
  at: Date
}

/** False when it was cleared before. */
export async function clearLock(tx: Tx, id: string, { by, note, agentUnsuspended, at }: Clearing): Promise<boolean> {
  const cleared = await tx.query(
    `UPDATE session_locks SET cleared_at = $2, cleared_by = $3, note = $4, agent_unsuspended = $5
     WHERE id = $1 AND cleared_at IS NULL RETURNING 1`,
    [id, at, by, note, agentUnsuspended],
  )
  return cleared.length > 0
}

export interface LockFilter extends TimeRange {
  statuses?: readonly LockStatus[] | undefined
  agentId?: string | undefined
  agentSessionId?: string | undefined
}

export async function findLocks(
  tx: Tx,
  scope: Scope,
  filter: LockFilter,
  { before, limit, order = 'desc' }: { before: string | undefined; limit: number; order?: 'asc' | 'desc' },
): Promise<SessionLockRow[]> {
  const { where, values } = conditionsOf(scope, filter)
  if (before !== undefined) where.push(`id ${order === 'asc' ? '>' : '<'} $${values.push(before)}`)
  return tx.adhoc<SessionLockRow>(
    `SELECT ${LOCK} FROM session_locks WHERE ${where.join(' AND ')} ORDER BY id ${order === 'asc' ? 'ASC' : 'DESC'} LIMIT $${values.push(limit)}`,
    values,
  )
}

export async function countLocks(tx: Tx, scope: Scope, filter: LockFilter): Promise<number> {
  const { where, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`session_locks WHERE ${where.join(' AND ')}`), values)
  return row?.count ?? 0
}

function conditionsOf({ environment }: Scope, filter: LockFilter): { where: string[]; values: unknown[] } {
  const values: unknown[] = []
  const where = ['true']
  const add = (condition: (parameter: string) => string, value: unknown) => {
    if (value !== undefined) where.push(condition(`$${values.push(value)}`))
  }
  add((p) => `agent_session_id = ${p}`, filter.agentSessionId)
  add((p) => `agent_id = ${p}`, filter.agentId)
  where.push(...conditionsOfRange(values, { type: 'lck', environment }, filter))
  const [only, ...others] = filter.statuses ?? []
  if (only !== undefined && others.length === 0) where.push(`cleared_at IS ${only === 'locked' ? '' : 'NOT '}NULL`)
  return { where, values }
}
