// Agent sessions: one run of an agent. Callers may name sessions in words of their own too; those have no row.

import type { JsonObject } from '#src/platform/crypto/canonical.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import { oneRow } from '#src/platform/db/reads.ts'
import { checkId, type Environment, type Scope } from '#src/platform/ids.ts'
import { deleteRows, type PurgeStep } from '#src/platform/retention.ts'

export const SESSION_STATUSES = ['open', 'ended'] as const
export type AgentSessionStatus = (typeof SESSION_STATUSES)[number]

export interface AgentSessionRow {
  id: string
  agentId: string
  status: AgentSessionStatus
  metadata: JsonObject
  createdBy: string
  createdAt: Date
  endedBy: string | null
  endedAt: Date | null
}

const SESSION = `id, agent_id AS "agentId", CASE WHEN ended_at IS NULL THEN 'open' ELSE 'ended' END AS status, metadata,
  created_by AS "createdBy", created_at AS "createdAt", ended_by AS "endedBy", ended_at AS "endedAt"`

/** What `readAgentSession` reads. The argument is the place of the id. */
export const agentSession = (id: `$${number}`) =>
  oneRow<AgentSessionRow>(`SELECT ${SESSION} FROM agent_sessions WHERE id = ${id}`)

const AGENT_SESSION = agentSession('$1')

/** undefined for a session without a row, such as one that a caller names in words of its own. */
export async function readAgentSession(tx: Tx, id: string): Promise<AgentSessionRow | undefined> {
  const [row] = await tx.query<AgentSessionRow>(AGENT_SESSION, [id])
  return row
}

/**
 * Checks the name of a session that a caller sent: an id of ours is of the caller's environment, any other text is a
 * session of the caller's own.
 * @throws {Failure} `environment_mismatch`; `not_found` for what begins like an id of ours and is none.
 */
export function checkSessionName(name: string, environment: Environment): string {
  return name.startsWith('ses_') ? checkId(name, 'ses', environment) : name
}

export type NewAgentSession = Pick<AgentSessionRow, 'id' | 'agentId' | 'metadata' | 'createdBy' | 'createdAt'>

export async function insertAgentSession(
  tx: Tx,
  { accountId, environment }: Scope,
  { id, agentId, metadata, createdBy, createdAt }: NewAgentSession,
): Promise<void> {
  await tx.query(
    `INSERT INTO agent_sessions (account_id, environment, id, agent_id, metadata, created_by, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [accountId, environment, id, agentId, JSON.stringify(metadata), createdBy, createdAt],
  )
}

/** False when it had ended before. */
export async function endSession(tx: Tx, id: string, { by, at }: { by: string; at: Date }): Promise<boolean> {
  const ended = await tx.query(
    `UPDATE agent_sessions SET ended_by = $2, ended_at = $3 WHERE id = $1 AND ended_at IS NULL RETURNING 1`,
    [id, by, at],
  )
  return ended.length > 0
}

/** All open ones of an agent. */
export async function endSessionsOf(tx: Tx, agentId: string, { by, at }: { by: string; at: Date }): Promise<void> {
  await tx.query(`UPDATE agent_sessions SET ended_by = $2, ended_at = $3 WHERE agent_id = $1 AND ended_at IS NULL`, [
    agentId,
    by,
    at,
  ])
}

export interface SessionFilter extends TimeRange {
  /** Undefined: of every agent. */
  agentId?: string | undefined
  status?: AgentSessionStatus | undefined
}

/** Newest first. */
export async function findAgentSessions(
  tx: Tx,
  scope: Scope,
  filter: SessionFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<AgentSessionRow[]> {
  const { where, values } = conditionsOf(scope, filter, before)
  return tx.adhoc<AgentSessionRow>(
    `SELECT ${SESSION} FROM agent_sessions WHERE ${where} ORDER BY id DESC LIMIT $${values.push(limit)}`,
    values,
  )
}

export async function countSessions(tx: Tx, scope: Scope, filter: SessionFilter): Promise<number> {
  const { where, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`agent_sessions WHERE ${where}`), values)
  return row?.count ?? 0
}

function conditionsOf({ environment }: Scope, filter: SessionFilter, before?: string) {
  const { agentId, status, from, to } = filter
  const values: unknown[] = []
  const where = [
    'true',
    ...(agentId === undefined ? [] : [`agent_id = $${values.push(agentId)}`]),
    ...(status === undefined ? [] : [`ended_at IS ${status === 'open' ? '' : 'NOT '}NULL`]),
    ...conditionsOfRange(values, { type: 'ses', environment }, { from, to }),
    ...(before === undefined ? [] : [`id < $${values.push(before)}`]),
  ]
  return { where: where.join(' AND '), values }
}

/** Those that ended long ago. Open ones stay, and are not read for it. */
export const purgeEndedSessions: PurgeStep = async (tx, _scope, { before, limit }) =>
  deleteRows(
    tx,
    'agent_sessions',
    await tx.query('SELECT id FROM agent_sessions WHERE ended_at < $1 ORDER BY ended_at LIMIT $2', [before, limit]),
  )
