// What concerns every product at once: what waits for a caller, a search over everything, and what the interface says of
// itself. It is above all products, reads their tables and writes none.

import type { Approvals } from '#src/authorize/approvals/approvals.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { Route } from '#src/platform/http/endpoint.ts'
import { referenceFeature } from './reference/feature.ts'
import { searchFeature } from './search/feature.ts'
import { waitingFeature } from './waiting/feature.ts'

export type Overview = ReturnType<typeof createOverview>

export interface FromProducts {
  /** The route with this method and path, such as `GET /v1/cases`: who may call it may read what it shows. */
  routeOf: (name: string) => Route
  approvals: Pick<Approvals, 'countAwaiting'>
}

export function createOverview(p: Platform, products: FromProducts) {
  const features = {
    waiting: waitingFeature(p, products),
    search: searchFeature(p, products),
    reference: referenceFeature(p),
  }
  return { ...features, features: Object.values(features).map(({ feature }) => feature) }
}
