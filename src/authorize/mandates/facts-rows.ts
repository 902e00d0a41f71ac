// Reads a mandate with its ancestors for a decision. What depends on the time is computed by the clock of Postgres.

import type { ActionPointers } from '#src/authorize/action-amounts.ts'
import { decimalOf } from '#src/platform/amounts.ts'
import type { JsonObject } from '#src/platform/crypto/canonical.ts'
import type { Tx } from '#src/platform/db/database.ts'
import {
  type BudgetPeriod,
  currencyOf,
  type MandateConstraints,
  type MandateFacts,
  type MandateLevel,
  type MandateStatus,
  remainingCountOf,
  remainingOf,
} from './judge.ts'
import { budgetOf } from './rows.ts'
import { CLOCK, localOf, periodEndOf, periodStartOf, statusOf } from './state.ts'

/** `share` is held against changes by others, `update` against charges too. Taken root first. */
export type MandateLock = 'none' | 'share' | 'update'

/**
 * Statements that are sent together: what is read was committed before the locks were had. undefined: there is no such
 * mandate in the scope; a token that names it is refused as `mandate_revoked`.
 */
export async function readMandateFacts(
  tx: Tx,
  mandateId: string,
  lock: MandateLock,
): Promise<MandateFacts | undefined> {
  const [, rows] = await Promise.all([
    lock === 'none' ? undefined : tx.query(LOCKS[lock], [mandateId]),
    tx.query<LevelRow>(LEVELS, [mandateId]),
  ])
  const leaf = rows.at(-1)
  const [root] = rows
  if (leaf === undefined || root === undefined) return undefined
  const levels = rows.map(levelOf)
  return {
    mandate_id: leaf.id,
    levels,
    agent_id: leaf.agentId,
    pointers: root.pointers,
    attributes: attributesOf(leaf, levels),
  }
}

/** Locks several mandates with their ancestors as `update` does. Rows of one depth have an order too: no two wait in a circle. */
export async function lockMandates(tx: Tx, mandateIds: readonly string[]): Promise<void> {
  await tx.query(LOCK_CHAINS, [mandateIds])
}

/** What stands above a mandate, locked as `share`; undefined of a root. Called before the mandate is locked: root first. */
export async function readAncestors(tx: Tx, mandateId: string): Promise<MandateFacts | undefined> {
  const [row] = await tx.query<{ parentId: string | null }>(
    'SELECT parent_id AS "parentId" FROM mandates WHERE id = $1',
    [mandateId],
  )
  const parentId = row?.parentId ?? null
  return parentId === null ? undefined : readMandateFacts(tx, parentId, 'share')
}

interface LevelRow {
  id: string
  agentId: string | null
  principal: string
  timezone: string
  status: MandateStatus
  revokedAt: Date | null
  expiresAt: Date
  intervalSeconds: number | null
  windowSeconds: number | null
  lastCheckInAt: Date | null
  constraints: MandateConstraints
  notBefore: Date | null
  instruments: string[] | null
  pointers: ActionPointers
  limit: string | null
  currency: string | null
  period: BudgetPeriod | null
  maxCount: number | null
  periodStart: string | null
  periodEnd: string | null
  spent: string | null
  count: number | null
  weekday: number
  time: string
}

const CHAIN = 'id = ANY(ARRAY(SELECT unnest(path) FROM mandates WHERE id = $1))'
const CHAINS = 'id = ANY(ARRAY(SELECT unnest(path) FROM mandates WHERE id = ANY($1::text[])))'
// A sorted statement locks its rows in this order, and a path is shorter than those of its children.
const ROOT_FIRST = 'ORDER BY cardinality(path)'

const LOCKS = {
  share: `SELECT 1 FROM mandates WHERE ${CHAIN} ${ROOT_FIRST} FOR SHARE`,
  update: `SELECT 1 FROM mandates WHERE ${CHAIN} ${ROOT_FIRST} FOR NO KEY UPDATE`,
} as const
const LOCK_CHAINS = `SELECT 1 FROM mandates WHERE ${CHAINS} ${ROOT_FIRST}, id FOR NO KEY UPDATE`

const { weekday, time } = localOf('m')

const LEVELS = `WITH ${CLOCK}
  SELECT m.id, m.agent_id AS "agentId", m.principal, m.timezone, ${statusOf('m')} AS status, m.revoked_at AS "revokedAt",
    m.expires_at AS "expiresAt", m.heartbeat_interval_seconds AS "intervalSeconds",
    m.heartbeat_window_seconds AS "windowSeconds", m.last_check_in_at AS "lastCheckInAt", m.constraints,
    m.not_before AS "notBefore", m.instruments, m.pointers, m.budget_max_count AS "maxCount",
    m.budget_limit AS "limit", m.budget_currency AS currency, m.budget_period AS period,
    (${periodStartOf('m')})::text AS "periodStart", ${periodEndOf('m')}::text AS "periodEnd", s.spent,
    s.executions AS count,
    ${weekday} AS weekday, ${time} AS time
  FROM clock, mandates m
  LEFT JOIN LATERAL (SELECT spent, executions FROM mandate_spend
    WHERE mandate_id = m.id AND period_start = ${periodStartOf('m')}) s ON true
  WHERE m.${CHAIN} ${ROOT_FIRST}`

function levelOf(row: LevelRow): MandateLevel {
  const { intervalSeconds, windowSeconds, lastCheckInAt, notBefore, instruments, periodStart } = row
  return {
    mandate_id: row.id,
    status: row.status,
    revoked_at: row.revokedAt?.toISOString() ?? null,
    expires_at: row.expiresAt.toISOString(),
    timezone: row.timezone,
    heartbeat:
      intervalSeconds === null || windowSeconds === null || lastCheckInAt === null
        ? null
        : {
            interval_seconds: intervalSeconds,
            reactivation_window_seconds: windowSeconds,
            last_check_in_at: lastCheckInAt.toISOString(),
          },
    constraints: row.constraints,
    ...(notBefore !== null && { not_before: notBefore.toISOString() }),
    ...(instruments !== null && { instruments }),
    budget: budgetOf(row),
    period: periodStart === null ? null : { start: periodStart, end: row.periodEnd },
    spent: decimalOf(row.spent ?? '0'),
    count: row.count ?? 0,
    local: { weekday: row.weekday, time: row.time },
  }
}

/** What rules of the policy read as `mandate` (docs/authorize/policy.md). */
function attributesOf(leaf: LevelRow, levels: readonly MandateLevel[]): JsonObject {
  const { id, principal, agentId, timezone, constraints } = leaf
  const own = levels.at(-1)
  return {
    id,
    root_id: levels[0]?.mandate_id ?? id,
    depth: levels.length,
    principal,
    agent_id: agentId,
    timezone,
    currency: levels.map(currencyOf).find((currency) => currency !== undefined) ?? null,
    min_amount: constraints.min_amount ?? null,
    max_amount: constraints.max_amount ?? null,
    budget_limit: own?.budget?.limit ?? null,
    budget_max_count: own?.budget?.max_count ?? null,
    budget_period: own?.budget?.period ?? null,
    remaining: remainingOf({ levels }),
    remaining_count: remainingCountOf({ levels }),
    not_before: own?.not_before ?? null,
    expires_at: own?.expires_at ?? null,
  }
}
