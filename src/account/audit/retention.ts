import type { Plan } from '#src/catalogue/access.ts'
import type { Database } from '#src/platform/db/database.ts'
import { accountIdsBefore, type Scope } from '#src/platform/ids.ts'
import { DAY_MS, HOUR_MS, type TenantRule } from '#src/platform/retention.ts'
import { purgeEntries } from './rows.ts'

export const AUDIT_RETENTION_DAYS: Record<Plan, number> = { developer: 30, growth: 365, enterprise: 7 * 365 }

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
    days: Math.max(...Object.values(AUDIT_RETENTION_DAYS)),
    async purge({ accountId, environment }: Scope, longest: Date, signal: AbortSignal) {
      const plan = await findPlan(accountId)
      if (plan === undefined) return 0
      const ofPlan = new Date(now().getTime() - AUDIT_RETENTION_DAYS[plan] * DAY_MS)
      const before = ofPlan > longest ? ofPlan : longest
      const past = { accountId, environment, before, idsBefore: accountIdsBefore('aud', before), limit: STEP_ROWS }
      for (let purged = 0; ; ) {
        const count = await db.system('retention', (tx) => purgeEntries(tx, past))
        purged += count
        if (count < STEP_ROWS || signal.aborted) return purged
      }
    },
  }
}
