import type { Plan } from '#src/catalogue/access.ts'
import { PLAN_LIMITS } from '#src/catalogue/plans.ts'
import type { Database } from '#src/platform/db/database.ts'
import { accountIdsBefore, type Scope } from '#src/platform/ids.ts'
import { DAY_MS, HOUR_MS, type TenantRule } from '#src/platform/retention.ts'
import { purgeAuditEntries } from './rows.ts'

const STEP_ROWS = 2_000

interface AuditRetentionDeps {
  db: Pick<Database, 'system'>
  findPlan(accountId: string): Promise<Plan | undefined>
  now: () => Date
}

/** Entries are kept as long as the plan says; those of an account with published keys a week. */
export function auditRetention({ db, findPlan, now }: AuditRetentionDeps): TenantRule {
  return {
    per: 'tenant',
    what: 'audit_entries',
    everyMs: HOUR_MS,
    days: Math.max(...Object.values(PLAN_LIMITS).map(({ retentionDays }) => retentionDays)),
    async purge({ accountId, environment }: Scope, longest: Date, signal: AbortSignal) {
      const plan = await findPlan(accountId)
      if (plan === undefined) return 0
      const ofPlan = new Date(now().getTime() - PLAN_LIMITS[plan].retentionDays * DAY_MS)
      const before = ofPlan > longest ? ofPlan : longest
      const past = { accountId, environment, before, idsBefore: accountIdsBefore('aud', before), limit: STEP_ROWS }
      for (let purged = 0; ; ) {
        const count = await db.system('retention', (tx) => purgeAuditEntries(tx, past))
        purged += count
        if (count < STEP_ROWS || signal.aborted) return purged
      }
    },
  }
}
