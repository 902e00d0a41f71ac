// The product Trace. Plain code is the registry of its features, in the order of their layers.

import type { Agents } from '#src/agents/agents.ts'
import type { Platform } from '#src/platform/feature.ts'
import { canariesFeature } from './canaries/feature.ts'
import { locksFeature, type Plans } from './locks/feature.ts'
import { sharesFeature } from './shares/feature.ts'
import type { AccountsOfShares } from './shares/viewing.ts'

export type Trace = ReturnType<typeof createTrace>

export function createTrace(
  p: Platform,
  { accounts }: { accounts: Plans & AccountsOfShares },
  agents: Pick<Agents, 'suspensions'>,
) {
  const locks = locksFeature(p, { ...agents, accounts })
  const canaries = canariesFeature(p, { ...locks, accounts })
  const shares = sharesFeature(p, { accounts, findManifest: async () => undefined })
  const features = { locks, canaries, shares }
  return { ...features, features: Object.values(features).map(({ feature }) => feature) }
}
