// Runs retention rules: reads the ids of all accounts, and deletes each account's rows as the tenant role. Any number
// of processes may do so at once; one of them does each small step.

import { Counter, type Registry } from 'prom-client'
import type { Database } from './db/database.ts'
import type { Environment, Scope } from './ids.ts'
import { every, type Loop } from './jobs/loops.ts'
import type { Log } from './log.ts'
import { limitOf, type RetentionRule, type TenantRule } from './retention.ts'

export interface RetentionMetrics {
  purged: Counter<'what'>
  failures: Counter<'what'>
}

export interface RetentionDeps {
  db: Database
  accounts: { walk(): AsyncIterable<{ id: string; isPublic: boolean }> }
  log: Log
  metrics: RetentionMetrics
  /** Postgres's by default: a process whose clock is wrong must not delete young rows. */
  now?: () => Promise<Date>
}

const ENVIRONMENTS: readonly Environment[] = ['sandbox', 'live']
// A row that others refer to is deleted one pass after them. The longest chain of references has three tables. The layers of
// features don't give that order: attestations refer to batches, whose feature is above theirs.
const MAX_PASSES = 4

export function createRetentionMetrics(registry: Registry): RetentionMetrics {
  return {
    purged: new Counter({
      name: 'countersign_retention_forgotten_total',
      help: 'Rows and files that retention has deleted, by kind.',
      labelNames: ['what'],
      registers: [registry],
    }),
    failures: new Counter({
      name: 'countersign_retention_failures_total',
      help: 'Runs of one rule in one tenant that failed; the next run tries again.',
      labelNames: ['what'],
      registers: [registry],
    }),
  }
}

/** Runs every rule at its own interval until closed. Closing waits for the current step. */
export function runRetention(deps: RetentionDeps, rules: readonly RetentionRule[]): Loop {
  const { log } = deps
  const controller = new AbortController()
  const { signal } = controller
  const { countOf, report } = createReport(deps)
  const perTenant = Map.groupBy(
    rules.filter((rule) => rule.per === 'tenant'),
    ({ everyMs }) => everyMs,
  )
  const loops = [
    ...rules
      .filter((rule) => rule.per === 'deployment')
      .map(({ what, everyMs, purge }) => every(everyMs, async () => report(await countOf(what, purge)), log)),
    ...[...perTenant].map(([everyMs, grouped]) =>
      every(everyMs, async () => report(await purgeTenants(deps, grouped, signal)), log),
    ),
  ]
  return {
    async close() {
      controller.abort()
      await Promise.all(loops.map((loop) => loop.close()))
    },
  }
}

/**
 * Runs the rules once in all tenants. A failure in one tenant is logged and does not stop the others. Returns how many
 * rows were deleted, by kind.
 */
export async function purgeTenants(
  deps: RetentionDeps,
  rules: readonly TenantRule[],
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const { db, accounts, now = () => clockOf(db) } = deps
  const { countOf } = createReport(deps)
  const purged = new Map<string, number>()
  const at = await now()

  // A rule that failed in this tenant is not repeated in this run: the next run tries it again.
  async function purgeOnce(scope: Scope, isPublic: boolean, failed: Set<TenantRule>): Promise<number> {
    let total = 0
    for (const rule of rules) {
      if (failed.has(rule)) continue
      if (signal.aborted) return 0
      const before = limitOf(rule, { environment: scope.environment, isPublic }, at)
      if (before === undefined) continue
      const counted = await countOf(rule.what, () => rule.purge(scope, before, signal), scope)
      if (counted === undefined) failed.add(rule)
      for (const [what, count] of counted ?? []) {
        purged.set(what, (purged.get(what) ?? 0) + count)
        total += count
      }
    }
    return total
  }

  for await (const { id: accountId, isPublic } of accounts.walk()) {
    for (const environment of ENVIRONMENTS) {
      const failed = new Set<TenantRule>()
      let pass = 1
      while ((await purgeOnce({ accountId, environment }, isPublic, failed)) > 0 && pass < MAX_PASSES) pass += 1
    }
  }
  return purged
}

function createReport({ log, metrics }: Pick<RetentionDeps, 'log' | 'metrics'>) {
  return {
    /** Undefined when it failed. */
    async countOf(
      what: string,
      purge: () => Promise<number>,
      subject: object = {},
    ): Promise<Map<string, number> | undefined> {
      try {
        const count = await purge()
        if (count === 0) return new Map()
        metrics.purged.inc({ what }, count)
        return new Map([[what, count]])
      } catch (error) {
        metrics.failures.inc({ what })
        log.warn({ what, ...subject, err: error }, 'a retention rule failed')
        return undefined
      }
    },
    report(purged: ReadonlyMap<string, number> | undefined): void {
      if (purged !== undefined && purged.size > 0)
        log.info({ purged: Object.fromEntries(purged) }, 'retention deleted old rows')
    },
  }
}

async function clockOf(db: Database): Promise<Date> {
  const [row] = await db.system('retention', (tx) => tx.query<{ now: Date }>('SELECT now() AS now'))
  if (row === undefined) throw new Error('Postgres returned no time')
  return row.now
}
