// Entries and their facts go when the retention of the account's plan ends. Their leaves stay, so that what is left can
// still be proven. Deleting is of the system role: a request can't delete what it decided.

import { PLANS, type Plan } from '#src/catalogue/access.ts'
import { type DecisionKind, LONGER_KEPT, LONGER_KEPT_KINDS } from '#src/catalogue/decisions.ts'
import { PLAN_LIMITS, SANDBOX_LIMITS } from '#src/catalogue/plans.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { idsBefore, type Scope } from '#src/platform/ids.ts'
import { DAY_MS, HOUR_MS, type TenantRule } from '#src/platform/retention.ts'

const STEP_ROWS = 2_000

export interface LedgerRetentionDeps {
  db: Pick<Database, 'system'>
  accounts: { find(id: string): Promise<{ plan: Plan; isPublic: boolean } | undefined> }
  /**
   * Subqueries on `decisions`, in the system role; an entry is kept while any of them finds a row. For what outlives the
   * plan's retention, such as the entries of a mandate that has not ended.
   */
  keptWhile?: readonly string[]
}

/** How long an entry is kept whose kind is not kept for longer. */
export function retentionDaysOf(plan: Plan, environment: Scope['environment']): number {
  return environment === 'sandbox' ? SANDBOX_LIMITS.retentionDays : PLAN_LIMITS[plan].retentionDays
}

/** Since when entries are kept whatever the plan, which may have been another one. */
export function keptSince({ environment }: Pick<Scope, 'environment'>, now: Date): number {
  const shortest = Math.min(...PLANS.map((plan) => retentionDaysOf(plan, environment)))
  return now.getTime() - shortest * DAY_MS
}

export function ledgerRetention({ db, accounts, keptWhile = [] }: LedgerRetentionDeps): TenantRule {
  const purge = purgeStatement(keptWhile)
  return {
    per: 'tenant',
    what: 'decisions',
    everyMs: HOUR_MS,
    days: SANDBOX_LIMITS.retentionDays,
    async purge(scope: Scope, latest: Date, signal: AbortSignal) {
      const account = await accounts.find(scope.accountId)
      if (account === undefined) return 0
      // `days` before now.
      const now = latest.getTime() + SANDBOX_LIMITS.retentionDays * DAY_MS
      const days = retentionDaysOf(account.plan, scope.environment)
      const before = new Date(now - days * DAY_MS)
      // What an entry of a mandate says was written by strangers there, and the mandate itself goes with all else.
      const longerKept = account.isPublic
        ? LONGER_KEPT_KINDS.filter((kind) => !kind.startsWith('mandate'))
        : LONGER_KEPT_KINDS
      const longer = longerKept.map((kind) => ({
        kind,
        before: new Date(now - Math.max(LONGER_KEPT[kind] ?? 0, days) * DAY_MS),
      }))
      for (let purged = 0; ; ) {
        const count = await db.system('retention', (tx) => purgeDecisions(tx, purge, scope, { before, longer }))
        purged += count
        if (count < STEP_ROWS || signal.aborted) return purged
      }
    },
  }
}

/** Since when every checkpoint is kept, and since when one of each hour; of older ones, one of each day (UTC). */
const EVERY_CHECKPOINT_DAYS = 7
const HOURLY_CHECKPOINT_DAYS = 90

/**
 * Thins out old checkpoints. The last checkpoint of an hour and of a day stays: it signs what the others signed and
 * more. The newest checkpoint of a log is the last of its hour and is never deleted. Leaves and nodes stay, so that
 * proofs between any two sizes remain possible, and a checkpoint that a client kept can still be compared with the log.
 */
export function checkpointRetention({ db }: Pick<LedgerRetentionDeps, 'db'>): TenantRule {
  return {
    per: 'tenant',
    what: 'ledger checkpoints',
    everyMs: DAY_MS,
    days: EVERY_CHECKPOINT_DAYS,
    async purge(scope: Scope, before: Date, signal: AbortSignal) {
      const hourlySince = new Date(before.getTime() - (HOURLY_CHECKPOINT_DAYS - EVERY_CHECKPOINT_DAYS) * DAY_MS)
      for (let purged = 0; ; ) {
        const count = await db.system('retention', (tx) => thinCheckpoints(tx, scope, { before, hourlySince }))
        purged += count
        if (count < STEP_ROWS || signal.aborted) return purged
      }
    },
  }
}

async function thinCheckpoints(
  tx: Tx,
  { accountId, environment }: Scope,
  { before, hourlySince }: { before: Date; hourlySince: Date },
): Promise<number> {
  const gone = await tx.query(
    `DELETE FROM ledger_checkpoints WHERE account_id = $1 AND environment = $2 AND size = ANY(ARRAY(
       SELECT size FROM (
         SELECT size, at, lead(at) OVER (ORDER BY size) AS next,
           CASE WHEN at < $4 THEN 'day' ELSE 'hour' END AS unit
         FROM ledger_checkpoints WHERE account_id = $1 AND environment = $2) checkpoint
       WHERE at < $3 AND date_trunc(unit, at, 'UTC') = date_trunc(unit, next, 'UTC') ORDER BY size LIMIT $5))
     RETURNING 1`,
    [accountId, environment, before, hourlySince, STEP_ROWS],
  )
  return gone.length
}

interface Limits {
  before: Date
  longer: readonly { kind: DecisionKind; before: Date }[]
}

async function purgeDecisions(
  tx: Tx,
  { find, remove }: ReturnType<typeof purgeStatement>,
  { accountId, environment }: Scope,
  { before, longer }: Limits,
): Promise<number> {
  const found = await tx.query<{ id: string }>(find, [
    accountId,
    environment,
    idsBefore('dec', environment, before),
    before,
    longer.map(({ kind }) => kind),
    longer.map((one) => one.before),
    STEP_ROWS,
  ])
  if (found.length === 0) return 0
  await tx.query(remove, [accountId, environment, found.map(({ id }) => id)])
  return found.length
}

// An entry without a leaf stays: without it, its content could not be proven.
function purgeStatement(keptWhile: readonly string[]) {
  const kept = keptWhile.map((subquery) => ` AND NOT EXISTS (${subquery} OFFSET 0)`).join('')
  return {
    find: `SELECT id FROM decisions WHERE account_id = $1 AND environment = $2 AND id < $3 AND at < $4
        AND at < coalesce((SELECT longer.before FROM unnest($5::text[], $6::timestamptz[]) AS longer (kind, before)
          WHERE longer.kind = decisions.kind), $4)
        AND NOT EXISTS (SELECT FROM ledger_pending WHERE account_id = $1 AND environment = $2
          AND decision_id = decisions.id OFFSET 0)${kept}
      ORDER BY id LIMIT $7`,
    remove: `WITH facts AS (
        DELETE FROM decision_facts WHERE account_id = $1 AND environment = $2 AND decision_id = ANY($3)
      )
      DELETE FROM decisions WHERE account_id = $1 AND environment = $2 AND id = ANY($3)`,
  }
}
