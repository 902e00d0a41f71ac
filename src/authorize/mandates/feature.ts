import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { rowRule } from '#src/platform/retention.ts'
import { createMandates } from './mandates.ts'
import { NOTES } from './notes.ts'
import { mandateRoutes } from './routes.ts'
import { purgeMandates } from './rows.ts'
import { purgeCharges, purgeSpend } from './spend-rows.ts'

export type MandatesFeature = ReturnType<typeof mandatesFeature>

// The outcome of a token may be reported for 31 days after its expiry, which an approval delays by a week at most.
const CHARGE_DAYS = 45
// Longest life of a mandate, and a month's report after it.
const SPEND_DAYS = 400

/** What people let agents do, and how much of it is left. */
export function mandatesFeature(p: Platform) {
  const mandates = createMandates(p)
  return defineFeature(
    {
      name: 'mandates',
      data: [
        { table: 'mandates', key: ['id'] },
        { table: 'mandate_spend', key: ['mandate_id', 'period_start'] },
        { table: 'mandate_charges', key: ['jti', 'mandate_id'] },
      ],
      routes: mandateRoutes(mandates),
      notes: NOTES,
      retention: [
        rowRule(p.db, 'mandate_charges', CHARGE_DAYS, purgeCharges),
        rowRule(p.db, 'mandates', null, purgeMandates),
        rowRule(p.db, 'mandate_spend', SPEND_DAYS, purgeSpend),
      ],
    },
    { mandates },
  )
}
