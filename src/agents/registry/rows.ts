// An agent is suspended while a cause holds: the manual one, and one for each live lock. The causes are rows, so that
// lifting one can't lift another. That an agent is retired is a cause too, which is never lifted.

import type { Json, JsonObject } from '#src/platform/crypto/canonical.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import { oneRow } from '#src/platform/db/reads.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { PublicKeyJwk } from './public-key.ts'

export const AGENT_STATUSES = ['active', 'suspended', 'retired'] as const
export type AgentStatus = (typeof AGENT_STATUSES)[number]
export type SuspensionCause = 'manual' | 'lock' | 'retired'

export interface Suspension {
  cause: SuspensionCause
  /** null: no lock is the cause. */
  lockId: string | null
  reason: string | null
  /** The key or user. */
  by: string | null
  at: Date
}

export interface AgentRow {
  id: string
  name: string
  owner: string
  publicKey: PublicKeyJwk | null
  metadata: JsonObject
  createdBy: string
  createdAt: Date
  updatedAt: Date
  /** Counts the changes of what is registered, and the retirement. */
  version: number
  /** Oldest first; none while the agent is active. Of a retired agent, its retirement is one. */
  suspensions: Suspension[]
}

/** What a decision about an agent reads. */
export interface AgentFacts {
  id: string
  name: string
  owner: string
  /** A retired agent is suspended, permanently. */
  status: Exclude<AgentStatus, 'retired'>
  /** Each once. Only locks: the answer to a decision is that of the lock. */
  causes: SuspensionCause[]
  metadata: JsonObject
}

// Values of `held_by` beside the ids of locks: the names of their causes.
const CAUSES = ['manual', 'retired'] as const
const CAUSE = `CASE WHEN held_by IN ('${CAUSES.join("', '")}') THEN held_by ELSE 'lock' END`

const AGENT = `id, name, owner, public_key AS "publicKey", metadata, created_by AS "createdBy",
  created_at AS "createdAt", updated_at AS "updatedAt", version`

const FACTS = `SELECT id, name, owner, metadata, ARRAY(
    SELECT DISTINCT ${CAUSE}
    FROM agent_suspensions WHERE agent_id = agents.id ORDER BY 1) AS causes
  FROM agents`

/** What `readAgents` reads of one agent, for `agentFactsOf`. The argument is the place of its id, which may be null. */
export const agentFacts = (id: `$${number}`) => oneRow<Omit<AgentFacts, 'status'>>(`${FACTS} WHERE id = ${id}`)

export function agentFactsOf(row: Omit<AgentFacts, 'status'>): AgentFacts {
  return { ...row, status: row.causes.length === 0 ? 'active' : 'suspended' }
}

/** Of the ids that have a row in the transaction's scope; others are absent from the map. */
export async function readAgents(tx: Tx, ids: readonly string[]): Promise<Map<string, AgentFacts>> {
  const rows = await tx.query<Omit<AgentFacts, 'status'>>(`${FACTS} WHERE id = ANY($1::text[])`, [ids])
  return new Map(rows.map((row) => [row.id, agentFactsOf(row)]))
}

export async function findAgent(tx: Tx, id: string): Promise<AgentRow | undefined> {
  const [row] = await withSuspensions(tx, await tx.query<BareAgent>(`SELECT ${AGENT} FROM agents WHERE id = $1`, [id]))
  return row
}

type BareAgent = Omit<AgentRow, 'suspensions'>

export type NewAgent = Omit<BareAgent, 'updatedAt' | 'version'>

export async function insertAgent(tx: Tx, { accountId, environment }: Scope, agent: NewAgent): Promise<void> {
  await tx.query(
    `INSERT INTO agents (account_id, environment, id, name, owner, public_key, metadata, created_by, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
    [
      accountId,
      environment,
      agent.id,
      agent.name,
      agent.owner,
      textOf(agent.publicKey),
      textOf(agent.metadata),
      agent.createdBy,
      agent.createdAt,
    ],
  )
}

export type AgentChange = Pick<AgentRow, 'name' | 'owner' | 'publicKey' | 'metadata'>

export async function updateAgent(tx: Tx, id: string, change: AgentChange, at: Date): Promise<void> {
  await tx.query(
    `UPDATE agents SET name = $2, owner = $3, public_key = $4, metadata = $5, updated_at = $6, version = version + 1
     WHERE id = $1`,
    [id, change.name, change.owner, textOf(change.publicKey), textOf(change.metadata), at],
  )
}

/** Counts the retirement as a change. */
export async function noteRetirement(tx: Tx, id: string, at: Date): Promise<void> {
  await tx.query('UPDATE agents SET updated_at = $2, version = version + 1 WHERE id = $1', [id, at])
}

export interface AgentFilter extends TimeRange {
  /** Any of these. */
  status?: readonly AgentStatus[] | undefined
  owner?: string | undefined
}

/** Newest first. */
export async function findAgents(
  tx: Tx,
  scope: Scope,
  filter: AgentFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<AgentRow[]> {
  const { where, values } = conditionsOf(scope, filter)
  if (before !== undefined) where.push(`id < $${values.push(before)}`)
  const rows = await tx.adhoc<BareAgent>(
    `SELECT ${AGENT} FROM agents WHERE ${where.join(' AND ')} ORDER BY id DESC LIMIT $${values.push(limit)}`,
    values,
  )
  return withSuspensions(tx, rows)
}

export async function countAgents(tx: Tx, scope: Scope, filter: AgentFilter): Promise<number> {
  const { where, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`agents WHERE ${where.join(' AND ')}`), values)
  return row?.count ?? 0
}

/** False when the cause held already: the first one stays. */
export async function insertSuspension(
  tx: Tx,
  { accountId, environment }: Scope,
  agentId: string,
  { cause, lockId = null, reason, by, at }: Omit<Suspension, 'lockId'> & { lockId?: string | null },
): Promise<boolean> {
  const inserted = await tx.query(
    `INSERT INTO agent_suspensions (account_id, environment, agent_id, held_by, reason, suspended_by, suspended_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT ON CONSTRAINT agent_suspensions_pkey DO NOTHING RETURNING 1`,
    [accountId, environment, agentId, lockId ?? cause, reason, by, at],
  )
  return inserted.length > 0
}

/** @param lockId null: the manual cause. Returns whether it held, and whether another one still holds. */
export async function deleteSuspension(
  tx: Tx,
  agentId: string,
  lockId: string | null,
): Promise<{ held: boolean; isActive: boolean }> {
  const gone = await tx.query(`DELETE FROM agent_suspensions WHERE agent_id = $1 AND held_by = $2 RETURNING 1`, [
    agentId,
    lockId ?? 'manual',
  ])
  const left = await tx.query(`SELECT 1 FROM agent_suspensions WHERE agent_id = $1 LIMIT 1`, [agentId])
  return { held: gone.length > 0, isActive: left.length === 0 }
}

async function withSuspensions(tx: Tx, agents: readonly BareAgent[]): Promise<AgentRow[]> {
  if (agents.length === 0) return []
  const rows = await tx.query<Suspension & { agentId: string }>(
    `SELECT agent_id AS "agentId", ${CAUSE} AS cause, CASE ${CAUSE} WHEN 'lock' THEN held_by END AS "lockId", reason,
       suspended_by AS by, suspended_at AS at
     FROM agent_suspensions WHERE agent_id = ANY($1::text[]) ORDER BY suspended_at, held_by`,
    [agents.map(({ id }) => id)],
  )
  const ofAgent = Map.groupBy(rows, ({ agentId }) => agentId)
  return agents.map((agent) => ({
    ...agent,
    suspensions: (ofAgent.get(agent.id) ?? []).map(({ agentId: _, ...suspension }) => suspension),
  }))
}

const IS_HELD = 'EXISTS (SELECT FROM agent_suspensions WHERE agent_id = agents.id)'
const IS_RETIRED = `EXISTS (SELECT FROM agent_suspensions WHERE agent_id = agents.id AND held_by = 'retired')`
// An alternative of two EXISTS would be asked of every agent: each set of statuses that can have few agents is one condition.
const IS_IN: Record<string, string> = {
  active: `NOT ${IS_HELD}`,
  suspended: `${IS_HELD} AND NOT ${IS_RETIRED}`,
  retired: IS_RETIRED,
  'retired suspended': IS_HELD,
  'active suspended': `NOT ${IS_RETIRED}`,
  'active retired': `(NOT ${IS_HELD} OR ${IS_RETIRED})`,
} satisfies Partial<Record<AgentStatus | `${AgentStatus} ${AgentStatus}`, string>>

function conditionsOf({ environment }: Scope, filter: AgentFilter): { where: string[]; values: unknown[] } {
  const values: unknown[] = []
  const where = ['true']
  const add = (condition: (parameter: string) => string, value: unknown) => {
    if (value !== undefined) where.push(condition(`$${values.push(value)}`))
  }
  add((p) => `owner = ${p}`, filter.owner)
  where.push(...conditionsOfRange(values, { type: 'agt', environment }, filter))
  if (filter.status !== undefined) where.push(IS_IN[filter.status.toSorted().join(' ')] ?? 'true')
  return { where, values }
}

function textOf(value: Json | PublicKeyJwk): string | null {
  return value === null ? null : JSON.stringify(value)
}
