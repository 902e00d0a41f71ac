import { defineFeature, type Platform } from '#src/platform/feature.ts'
import type { FromProducts } from '../overview.ts'
import { NOTES } from './notes.ts'
import { waitingRoutes } from './routes.ts'
import { createWaiting } from './waiting.ts'

export type WaitingFeature = ReturnType<typeof waitingFeature>

/** What waits for a caller. */
export function waitingFeature(p: Platform, products: FromProducts) {
  const waiting = createWaiting({ ...p, ...products })
  return defineFeature({ name: 'waiting', routes: waitingRoutes(waiting), notes: NOTES }, { waiting })
}
