// The product Authorize. Plain code is the registry of its features, in the order of their layers.

import type { Attest } from '#src/attest/attest.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { Trace } from '#src/trace/trace.ts'
import { accessFeature } from './access/feature.ts'
import { decisionsFeature } from './decisions/feature.ts'
import { replayable } from './intents/explain.ts'
import { intentsFeature } from './intents/feature.ts'
import { intentPolicyFeature } from './policy/feature.ts'
import { reportsFeature } from './reports/feature.ts'
import { revocationsFeature } from './revocations/feature.ts'
import { tokensFeature } from './tokens/feature.ts'
import { policyWebhooksFeature } from './webhooks/feature.ts'

export type Authorize = ReturnType<typeof createAuthorize>

interface Below {
  attest: Pick<Attest, 'hardware'>
  trace: Pick<Trace, 'canaries'>
}

export function createAuthorize(p: Platform, { attest, trace }: Below) {
  const policy = intentPolicyFeature(p, { replayable })
  const tokens = tokensFeature(p)
  const webhooks = policyWebhooksFeature(p)
  const revocations = revocationsFeature(p)
  const { trust } = attest.hardware
  const intents = intentsFeature(p, { ...policy, ...tokens, ...webhooks, trust, canaries: trace.canaries.port })
  const explainers = { ...intents.explainers, ...trace.canaries.explainers }
  const decisions = decisionsFeature(p, { explainers })
  const reports = reportsFeature(p)
  const access = accessFeature(p, intents)
  const features = { policy, tokens, webhooks, revocations, intents, decisions, reports, access }
  return { ...features, features: Object.values(features).map(({ feature }) => feature) }
}
