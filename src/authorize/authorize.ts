// The product Authorize. Plain code is the registry of its features, in the order of their layers.

import type { Attest } from '#src/attest/attest.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { Trace } from '#src/trace/trace.ts'
import { accessFeature } from './access/feature.ts'
import { approvalsFeature } from './approvals/feature.ts'
import { decisionsFeature } from './decisions/feature.ts'
import type { ExclusionSettings } from './exclusions/config.ts'
import { exclusionsFeature } from './exclusions/feature.ts'
import { incidentsFeature } from './incidents/feature.ts'
import { replayable, resultsOf } from './intents/explain.ts'
import { intentsFeature } from './intents/feature.ts'
import { mandatesFeature } from './mandates/feature.ts'
import { ordersFeature } from './orders/feature.ts'
import type { PasskeySettings } from './passkeys/config.ts'
import { passkeysFeature } from './passkeys/feature.ts'
import { intentPolicyFeature } from './policy/feature.ts'
import { prescribersFeature } from './prescribers/feature.ts'
import { listSubjects } from './prescribers/tier.ts'
import { reportsFeature } from './reports/feature.ts'
import { revocationsFeature } from './revocations/feature.ts'
import { schedulesFeature } from './schedules/feature.ts'
import { tokensFeature } from './tokens/feature.ts'
import { policyWebhooksFeature } from './webhooks/feature.ts'

export type AuthorizeSettings = PasskeySettings & ExclusionSettings

export type Authorize = ReturnType<typeof createAuthorize>

interface Below {
  attest: Pick<Attest, 'hardware'>
  trace: Pick<Trace, 'canaries' | 'inferences'>
}

export function createAuthorize(p: Platform, settings: AuthorizeSettings, { attest, trace }: Below) {
  const webhooks = policyWebhooksFeature(p)
  const policy = intentPolicyFeature(p, { replayable, resultsOf, ...webhooks })
  const tokens = tokensFeature(p)
  const passkeys = passkeysFeature(p, settings)
  const approvals = approvalsFeature(p, { ...passkeys, ...policy })
  const revocations = revocationsFeature(p, approvals)
  const mandates = mandatesFeature(p)
  const exclusions = exclusionsFeature(p, settings, { subjects: listSubjects })
  const prescribers = prescribersFeature(p, { ...passkeys, ...exclusions })
  const orders = ordersFeature(p, passkeys)
  const incidents = incidentsFeature(p)
  const schedules = schedulesFeature(p)
  const { trust } = attest.hardware
  const intents = intentsFeature(p, {
    ...policy,
    ...tokens,
    ...webhooks,
    ...passkeys,
    ...approvals,
    trust,
    canaries: trace.canaries.port,
  })
  const explainers = { ...intents.explainers, ...trace.canaries.explainers, ...trace.inferences.explainers }
  const decisions = decisionsFeature(p, { explainers })
  const reports = reportsFeature(p)
  const access = accessFeature(p, intents)
  const features = {
    policy,
    tokens,
    webhooks,
    passkeys,
    exclusions,
    prescribers,
    orders,
    incidents,
    mandates,
    schedules,
    approvals,
    revocations,
    intents,
    decisions,
    reports,
    access,
  }
  return { ...features, features: Object.values(features).map(({ feature }) => feature) }
}
