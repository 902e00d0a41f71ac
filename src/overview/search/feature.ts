import { defineFeature, type Platform } from '#src/platform/feature.ts'
import type { FromProducts } from '../overview.ts'
import { NOTES } from './notes.ts'
import { searchRoutes } from './routes.ts'
import { createSearch } from './search.ts'

export type SearchFeature = ReturnType<typeof searchFeature>

/** A search over the objects of every product. */
export function searchFeature(p: Platform, products: FromProducts) {
  const search = createSearch({ ...p, ...products })
  return defineFeature({ name: 'search', routes: searchRoutes(search), notes: NOTES }, { search })
}
