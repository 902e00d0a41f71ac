// Retention rules: what is deleted, and when. Features declare them, and the process `clock` runs them.

import type { ScopedType } from '#src/catalogue/ids.ts'
import type { Database, Tx } from './db/database.ts'
import { idsBefore, type Scope } from './ids.ts'

/** Rows that belong to the deployment and not to a tenant. */
export interface DeploymentRule {
  per: 'deployment'
  what: string
  everyMs: number
  /** Returns how many rows it deleted. */
  purge(): Promise<number>
}

/** Rows or bytes of one tenant. */
export interface TenantRule {
  per: 'tenant'
  what: string
  everyMs: number
  /** Age in days; null: kept until the account deletes it, except in accounts whose keys are published. */
  days: number | null
  /** Deletes rows older than `before`; returns how many. */
  purge(scope: Scope, before: Date, signal: AbortSignal): Promise<number>
}

export type RetentionRule = DeploymentRule | TenantRule

/** Days after which all data of an account with published keys is deleted: anyone can read it. */
const PUBLIC_DAYS = 7

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

export interface Past {
  /** Older rows are deleted. */
  before: Date
  /** Most rows: a small step does not hold its snapshot for long, and a stopping process waits for one step. */
  limit: number
}

/** Deletes rows of one kind in one transaction. Returns how many, which is fewer than the limit when none are left. */
export type PurgeStep = (tx: Tx, scope: Scope, past: Past) => Promise<number>

interface OldRows {
  table: string
  /** The type of the table's ids, which sort by age: the primary key finds old rows. */
  idType: ScopedType
  /** The column that holds the age. */
  age: string
  /** Subqueries; a row is kept while any of them finds one. */
  unless?: readonly string[]
  /** Other transactions may be inserting references to these rows. */
  isLocking?: boolean
}

/** A step that deletes old rows of a table. */
export function oldRows({ table, idType, age, unless = [], isLocking = false }: OldRows): PurgeStep {
  // OFFSET 0 keeps NOT EXISTS one look-up per row: as a join it would read a whole table of the account in each step.
  const kept = unless.map((subquery) => ` AND NOT EXISTS (${subquery} OFFSET 0)`).join('')
  const select = `SELECT id FROM ${table} WHERE id < $1 AND ${age} < $2${kept}
    ORDER BY id LIMIT $3${isLocking ? ' FOR UPDATE SKIP LOCKED' : ''}`
  return async (tx, { environment }, { before, limit }) =>
    deleteRows(tx, table, await tx.query(select, [idsBefore(idType, environment, before), before, limit]))
}

/**
 * Deletes rows by id, and returns how many. A separate statement finds them: in one DELETE, a planner without
 * statistics compares each found row with each row of the table, 60 s for 2,000 of 4,500.
 */
export async function deleteRows(tx: Tx, table: string, found: readonly { id: string }[]): Promise<number> {
  if (found.length === 0) return 0
  await tx.query(`DELETE FROM ${table} WHERE id = ANY($1)`, [found.map(({ id }) => id)])
  return found.length
}

/**
 * Deletes rows of the whole deployment, each step in a transaction of its own. Returns how many.
 * @param step Deletes at most `limit` rows, and returns one element for each.
 */
export async function deleteInSteps(
  db: Pick<Database, 'system'>,
  step: (tx: Tx, limit: number) => Promise<readonly unknown[]>,
): Promise<number> {
  for (let total = 0; ; ) {
    const gone = await db.system('retention', (tx) => step(tx, STEP_ROWS))
    total += gone.length
    if (gone.length < STEP_ROWS) return total
  }
}

/** A tenant rule that repeats `step` until nothing is left. */
export function rowRule(db: Pick<Database, 'tenant'>, what: string, days: number | null, step: PurgeStep): TenantRule {
  return {
    per: 'tenant',
    what,
    everyMs: HOUR_MS,
    days,
    purge: (scope, before, signal) => purgeInSteps(db, { what, scope, before, signal }, step),
  }
}

/** Deletes rows of the deployment that are older than some days. @param purge Returns how many it deleted. */
export function deploymentRule(
  { db, now }: { db: Database; now: () => Date },
  { what, days }: { what: string; days: number },
  purge: (db: Database, before: Date) => Promise<number>,
): DeploymentRule {
  return {
    per: 'deployment',
    what,
    everyMs: HOUR_MS,
    purge: () => purge(db, new Date(now().getTime() - days * DAY_MS)),
  }
}

/** A tenant rule without an age: it finishes what a request began. */
export function finishRule(what: string, finish: (scope: Scope, signal: AbortSignal) => Promise<number>): TenantRule {
  return { per: 'tenant', what, everyMs: HOUR_MS, days: 0, purge: (scope, _before, signal) => finish(scope, signal) }
}

const STEP_ROWS = 2_000

// Several processes may run the same rule: one works, the others skip this tenant.
async function purgeInSteps(
  db: Pick<Database, 'tenant'>,
  { what, scope, before, signal }: { what: string; scope: Scope; before: Date; signal: AbortSignal },
  step: PurgeStep,
): Promise<number> {
  for (let purged = 0; ; ) {
    const count = await db.tenant(scope, async (tx) =>
      (await tryLock(tx, `retention ${what} ${scope.accountId} ${scope.environment}`))
        ? step(tx, scope, { before, limit: STEP_ROWS })
        : 0,
    )
    purged += count
    if (count < STEP_ROWS || signal.aborted) return purged
  }
}

async function tryLock(tx: Tx, name: string): Promise<boolean> {
  const [row] = await tx.query<{ isLocked: boolean }>(
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS "isLocked"',
    [name],
  )
  return row?.isLocked === true
}

/** The time before which rows are deleted in the tenant; undefined when the rule deletes none there. */
export function limitOf(
  { days }: Pick<TenantRule, 'days'>,
  { environment, isPublic }: { environment: Scope['environment']; isPublic: boolean },
  now: Date,
): Date | undefined {
  const ours = isPublic && environment === 'sandbox' ? Math.min(days ?? PUBLIC_DAYS, PUBLIC_DAYS) : days
  return ours === null ? undefined : new Date(now.getTime() - ours * DAY_MS)
}
