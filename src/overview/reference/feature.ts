import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { NOTES } from './notes.ts'
import { referenceRoutes } from './routes.ts'

export type ReferenceFeature = ReturnType<typeof referenceFeature>

/** What the interface says of itself: reason codes, and its changes. */
export function referenceFeature(p: Pick<Platform, 'baseUrl'>) {
  return defineFeature({ name: 'reference', routes: referenceRoutes(p), notes: NOTES }, {})
}
