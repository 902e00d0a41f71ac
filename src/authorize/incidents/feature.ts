import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { rowRule } from '#src/platform/retention.ts'
import { purgeReports } from './rows.ts'

// 21 CFR 1311.305(b): two years.
const KEPT_DAYS = 731

/** The incident reports of clinician orders. */
export function incidentsFeature(p: Platform) {
  return defineFeature(
    {
      name: 'incidents',
      data: [{ table: 'clinical_incident_reports', key: ['day'] }],
      retention: [rowRule(p.db, 'clinical_incident_reports', KEPT_DAYS, purgeReports)],
    },
    {},
  )
}
