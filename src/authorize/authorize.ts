// The product Authorize. Plain code is the registry of its features, in the order of their layers.

import type { Platform } from '#src/platform/feature.ts'
import { revocationsFeature } from './revocations/feature.ts'
import { tokensFeature } from './tokens/feature.ts'
import { policyWebhooksFeature } from './webhooks/feature.ts'

export type Authorize = ReturnType<typeof createAuthorize>

export function createAuthorize(p: Platform) {
  const tokens = tokensFeature(p)
  const webhooks = policyWebhooksFeature(p)
  const revocations = revocationsFeature(p)
  const features = { tokens, webhooks, revocations }
  return { ...features, features: Object.values(features).map(({ feature }) => feature) }
}
