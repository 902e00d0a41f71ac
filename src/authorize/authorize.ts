// The product Authorize. It lists its features in plain code, in the order of their layers.

import type { Platform } from '#src/platform/feature.ts'
import { intentPolicyFeature } from './policy/feature.ts'

export type Authorize = ReturnType<typeof createAuthorize>

export function createAuthorize(p: Platform) {
  const policy = intentPolicyFeature(p, { replayable: () => undefined })
  const features = { policy }
  return { ...features, features: Object.values(features).map(({ feature }) => feature) }
}
