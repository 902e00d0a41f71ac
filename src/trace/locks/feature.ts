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
export function keptByPlan(
  { db, now }: Pick<Platform, 'db' | 'now'>,
  accounts: Plans,
  what: string,
  step: PurgeStep,
): TenantRule {
  const rule = rowRule(db, what, SANDBOX_LIMITS.retentionDays, step)
  return {
    ...rule,
    async purge(scope, latest, signal) {
      const plan = (await accounts.find(scope.accountId))?.plan
      if (plan === undefined) return 0
      const ofPlan = new Date(now().getTime() - retentionDaysOf(plan, scope.environment) * DAY_MS)
      return rule.purge(scope, ofPlan < latest ? ofPlan : latest, signal)
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
        keptByPlan(
          p,
          accounts,
          'session_locks',
          oldRows({ table: 'session_locks', idType: 'lck', age: 'cleared_at' }),
        ),
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
