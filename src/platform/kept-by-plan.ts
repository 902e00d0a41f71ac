// Rows that are kept as long as the plan of their account says, in live; in the sandbox a week.

import type { Plan } from '#src/catalogue/access.ts'
import { SANDBOX_LIMITS } from '#src/catalogue/plans.ts'
import type { Platform } from './feature.ts'
import { retentionDaysOf } from './ledger/retention.ts'
import { DAY_MS, type PurgeStep, rowRule, type TenantRule } from './retention.ts'

export interface Plans {
  find(accountId: string): Promise<{ plan: Plan } | undefined>
}

/** @param accounts Their plans are read each time: an account may change it. */
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
