import type { Suspensions } from '#src/agents/registry/suspensions.ts'
import type { Plan } from '#src/catalogue/access.ts'
import { SANDBOX_LIMITS } from '#src/catalogue/plans.ts'
import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { retentionDaysOf } from '#src/platform/ledger/retention.ts'
import { DAY_MS, oldRows, type PurgeStep, rowRule, type TenantRule } from '#src/platform/retention.ts'
import { createLocks } from './locks.ts'
import { NOTES } from './notes.ts'
import { lockRoutes } from './routes.ts'

export type LocksFeature = ReturnType<typeof locksFeature>

export interface Plans {
  find(accountId: string): Promise<{ plan: Plan } | undefined>
}

/** Rows that are kept as long as the entries of the decision ledger that name them. */
export function keptByPlan({ db }: Pick<Platform, 'db'>, accounts: Plans, what: string, step: PurgeStep): TenantRule {
  const leastDays = SANDBOX_LIMITS.retentionDays
  const rule = rowRule(db, what, leastDays, step)
  return {
    ...rule,
    async purge(scope, latest, signal) {
      const plan = (await accounts.find(scope.accountId))?.plan
      if (plan === undefined) return 0
      const moreDays = retentionDaysOf(plan, scope.environment) - leastDays
      return rule.purge(scope, new Date(latest.getTime() - moreDays * DAY_MS), signal)
    },
  }
}

/** Locks of agent sessions after a canary trip. */
export function locksFeature(p: Platform, { suspensions, accounts }: { suspensions: Suspensions; accounts: Plans }) {
  const locks = createLocks({ ...p, suspensions })
  return defineFeature(
    {
      name: 'locks',
      data: [{ table: 'session_locks', key: ['id'] }],
      routes: lockRoutes(locks),
      notes: NOTES,
      retention: [
        keptByPlan(p, accounts, 'session_locks', oldRows({ table: 'session_locks', idType: 'lck', age: 'cleared_at' })),
        // Live ones too, only where keys are published.
        rowRule(
          p.db,
          'live_session_locks',
          null,
          oldRows({ table: 'session_locks', idType: 'lck', age: 'created_at' }),
        ),
      ],
    },
    { locks },
  )
}
