// The product Trace. Plain code is the registry of its features, in the order of their layers.

import type { Agents } from '#src/agents/agents.ts'
import type { Platform } from '#src/platform/feature.ts'
import { canariesFeature } from './canaries/feature.ts'
import { diffsFeature } from './diffs/feature.ts'
import { inferencesFeature } from './inferences/feature.ts'
import { traceJobsFeature } from './jobs/feature.ts'
import { locksFeature, type Plans } from './locks/feature.ts'
import type { ModelSettings } from './models/config.ts'
import { modelsFeature } from './models/feature.ts'
import { sharesFeature } from './shares/feature.ts'
import type { AccountsOfShares } from './shares/viewing.ts'
import { traceTextsFeature } from './texts/feature.ts'

export type Trace = ReturnType<typeof createTrace>

export type TraceSettings = ModelSettings

export function createTrace(
  p: Platform,
  settings: TraceSettings,
  { accounts }: { accounts: Plans & AccountsOfShares },
  agents: Pick<Agents, 'suspensions'>,
) {
  const models = modelsFeature(p, settings)
  const locks = locksFeature(p, { ...agents, accounts })
  const canaries = canariesFeature(p, { ...models, ...locks, accounts })
  const inferences = inferencesFeature(p, { ...models, ...canaries })
  const jobs = traceJobsFeature(p, models)
  const texts = traceTextsFeature(p, canaries)
  const diffs = diffsFeature(p, { ...models, accounts })
  const shares = sharesFeature(p, { accounts })
  const features = { models, locks, canaries, inferences, jobs, texts, diffs, shares }
  return { ...features, features: Object.values(features).map(({ feature }) => feature) }
}
