import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { HOUR_MS } from '#src/platform/retention.ts'
import { createCaps } from './caps.ts'
import { createFold, type Notify } from './fold.ts'
import { purgeFoldedEntries } from './fold-rows.ts'
import { NOTES } from './notes.ts'
import { NO_PROCESSOR, type PaymentProcessor } from './payments.ts'
import { createPlanChanges } from './plan.ts'
import { usageRoutes } from './routes.ts'
import { createUsage } from './usage.ts'

// Requests read what is not folded yet, so the interval decides only how late a notice is.
const FOLD_EVERY_MS = 5_000
// The sums are enough for statements. Entries say what was counted, as long as a quarter is discussed.
const ENTRY_DAYS = 92
const PURGE_ROWS = 5_000

interface UsageParts {
  /** Tells people of a notice. Without it a notice is shown by GET /v1/account only. */
  notify?: Notify
  processor?: PaymentProcessor
}

export type UsageFeature = ReturnType<typeof usageFeature>

/** Metered operations: what is counted, caps, plans and statements. */
export function usageFeature(p: Platform, { notify = async () => {}, processor = NO_PROCESSOR }: UsageParts = {}) {
  const caps = createCaps(p)
  const fold = createFold({ ...p, notify })
  const usage = createUsage({ ...p, processor })
  return defineFeature(
    {
      name: 'usage',
      data: [
        { table: 'usage_entries', key: ['operation', 'subject_id', 'turn'] },
        { table: 'usage_days', key: ['day', 'operation'] },
        { table: 'account_notices', key: ['month', 'kind'], isOfAccount: true },
      ],
      routes: usageRoutes(usage, createPlanChanges({ ...p, fold })),
      notes: NOTES,
      tasks: [{ name: 'usage fold', everyMs: FOLD_EVERY_MS, start: () => fold.run }],
      retention: [
        {
          per: 'deployment',
          what: 'usage_entries',
          everyMs: HOUR_MS,
          async purge() {
            for (let purged = 0; ; ) {
              const count = await p.db.system('retention', (tx) => purgeFoldedEntries(tx, ENTRY_DAYS, PURGE_ROWS))
              purged += count
              if (count < PURGE_ROWS) return purged
            }
          },
        },
      ],
    },
    { caps, fold, usage },
  )
}
