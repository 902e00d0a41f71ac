// The product Authorize. It lists its features in plain code, in the order of their layers.

import type { Platform } from '#src/platform/feature.ts'
import { revocationsFeature } from './revocations/feature.ts'
import { tokensFeature } from './tokens/feature.ts'

export type Authorize = ReturnType<typeof createAuthorize>

export function createAuthorize(p: Platform) {
  const tokens = tokensFeature(p)
  const revocations = revocationsFeature(p)
  const features = { tokens, revocations }
  return { ...features, features: Object.values(features).map(({ feature }) => feature) }
}
