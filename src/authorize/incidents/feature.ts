import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { HOUR_MS, rowRule } from '#src/platform/retention.ts'
import { createIncidents } from './incidents.ts'
import { incidentRoutes, NOTES } from './routes.ts'
import { purgeReports } from './rows.ts'

// 21 CFR 1311.305(b): two years.
const KEPT_DAYS = 731

/** The incident reports of clinician orders. */
export function incidentsFeature(p: Platform) {
  const incidents = createIncidents(p)
  return defineFeature(
    {
      name: 'incidents',
      data: [{ table: 'clinical_incident_reports', key: ['day'] }],
      routes: incidentRoutes(incidents),
      notes: NOTES,
      // Reports that are due are few an hour after midnight, and none later.
      tasks: [{ name: 'clinical incident reports', everyMs: HOUR_MS, start: () => incidents.writeDue }],
      retention: [rowRule(p.db, 'clinical_incident_reports', KEPT_DAYS, purgeReports)],
    },
    { incidents },
  )
}
