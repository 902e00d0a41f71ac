import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { decisionDayRoutes } from './decision-days.ts'
import { NOTES } from './notes.ts'
import { createReports } from './reports.ts'
import { reportRoutes } from './routes.ts'

export type ReportsFeature = ReturnType<typeof reportsFeature>

/** Reports over the decision ledger. */
export function reportsFeature(p: Platform) {
  const reports = createReports(p)
  return defineFeature(
    { name: 'reports', routes: [...reportRoutes(reports), ...decisionDayRoutes(p)], notes: NOTES },
    { reports },
  )
}
