import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { createAnalytics } from './analytics.ts'
import { NOTES } from './notes.ts'
import { analyticsRoutes } from './routes.ts'

export type AnalyticsFeature = ReturnType<typeof analyticsFeature>

/** Reports over claims and cases. */
export function analyticsFeature(p: Platform) {
  const analytics = createAnalytics(p)
  return defineFeature({ name: 'analytics', routes: analyticsRoutes(analytics), notes: NOTES }, { analytics })
}
