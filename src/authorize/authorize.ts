// The product Authorize. Plain code is the registry of its features, in the order of their layers.

import type { Platform } from '#src/platform/feature.ts'
import { decisionsFeature } from './decisions/feature.ts'
import { intentPolicyFeature } from './policy/feature.ts'

export type Authorize = ReturnType<typeof createAuthorize>

export function createAuthorize(p: Platform) {
  const policy = intentPolicyFeature(p, { replayable: () => undefined })
  const decisions = decisionsFeature(p, { explainers: {} })
  const features = { policy, decisions }
  return { ...features, features: Object.values(features).map(({ feature }) => feature) }
}
