// Works through the table of retention: accounts are walked by their ids alone, and what is theirs is done inside their own
// door. Any number of clocks may do so at once; each small step belongs to one of them.

import { Counter, type Registry } from 'prom-client'
import type { Account } from './account/keys/accounts.ts'
import type { Database } from './platform/db/database.ts'
import type { Environment } from './platform/ids.ts'
import { every, type Loop } from './platform/jobs/loops.ts'
import type { Log } from './platform/log.ts'
import {
  deploymentRules,
  limitOf,
  type RetentionDeps,
  STRAYS_EVERY_MS,
  strayRules,
  TENANT_EVERY_MS,
  type TenantRule,
  tenantRules,
} from './retention.ts'

export interface RetentionMetrics {
  forgotten: Counter<'what'>
  failures: Counter<'what'>
}

interface RunDeps extends RetentionDeps {
  accounts: { walk(): AsyncIterable<Pick<Account, 'id' | 'isPublic'>> }
  log: Log
  metrics: RetentionMetrics
  /** Postgres's by default: a process whose clock is wrong must not forget what is young. */
  now?: () => Promise<Date>
}

const ENVIRONMENTS: readonly Environment[] = ['sandbox', 'live']

export function createRetentionMetrics(registry: Registry): RetentionMetrics {
  return {
    forgotten: new Counter({
      name: 'countersign_retention_forgotten_total',
      help: 'What retention has let go, by kind.',
      labelNames: ['what'],
      registers: [registry],
    }),
    failures: new Counter({
      name: 'countersign_retention_failures_total',
      help: 'Rounds of one kind in one tenant that went wrong; the next round tries again.',
      labelNames: ['what'],
      registers: [registry],
    }),
  }
}

/** Runs every rule in its own time until closed; closing waits for the step that runs. */
export function runRetention(deps: RunDeps): Loop {
  const { log } = deps
  const controller = new AbortController()
  const { signal } = controller
  const { countOf, report } = createBook(deps)
  const loops = [
    ...deploymentRules(deps).map(({ what, everyMs, forget }) =>
      every(everyMs, async () => report(await countOf(what, forget)), log),
    ),
    every(TENANT_EVERY_MS, async () => report(await forgetInTenants(deps, tenantRules(deps), signal)), log),
    every(STRAYS_EVERY_MS, async () => report(await forgetInTenants(deps, strayRules(deps), signal)), log),
  ]
  return {
    async close() {
      controller.abort()
      await Promise.all(loops.map((loop) => loop.close()))
    },
  }
}

/** One round through all tenants. What goes wrong in one is logged and costs the others nothing. Answers what went, by kind. */
export async function forgetInTenants(
  deps: RunDeps,
  rules: readonly TenantRule[],
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const { db, accounts, now = () => clockOf(db) } = deps
  const { countOf } = createBook(deps)
  const forgotten = new Map<string, number>()
  const at = await now()
  for await (const { id: accountId, isPublic } of accounts.walk()) {
    for (const environment of ENVIRONMENTS) {
      for (const rule of rules) {
        if (signal.aborted) return forgotten
        const before = limitOf(rule, { environment, isPublic }, at)
        if (before === undefined) continue
        const scope = { accountId, environment }
        const counted = await countOf(rule.what, () => rule.forget(scope, before, signal), scope)
        for (const [what, count] of counted) forgotten.set(what, (forgotten.get(what) ?? 0) + count)
      }
    }
  }
  return forgotten
}

function createBook({ log, metrics }: Pick<RunDeps, 'log' | 'metrics'>) {
  return {
    async countOf(what: string, forget: () => Promise<number>, subject: object = {}): Promise<Map<string, number>> {
      try {
        const count = await forget()
        if (count === 0) return new Map()
        metrics.forgotten.inc({ what }, count)
        return new Map([[what, count]])
      } catch (error) {
        metrics.failures.inc({ what })
        log.warn({ what, ...subject, err: error }, 'could not be forgotten now')
        return new Map()
      }
    },
    report(forgotten: ReadonlyMap<string, number>): void {
      if (forgotten.size > 0) log.info({ forgotten: Object.fromEntries(forgotten) }, 'forgot what was old')
    },
  }
}

async function clockOf(db: Database): Promise<Date> {
  const [row] = await db.system('retention', (tx) => tx.query<{ now: Date }>('SELECT now() AS now'))
  if (row === undefined) throw new Error('Postgres did not tell the time')
  return row.now
}
