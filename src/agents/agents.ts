// The product's registry of agents, on which the products Authorize and Trace build.

import type { Platform } from '#src/platform/feature.ts'
import type { ReadActors } from '#src/platform/http/actor.ts'
import { registryFeature } from './registry/feature.ts'

export type Agents = ReturnType<typeof createAgents>

export function createAgents(p: Platform, { readActors }: { readActors: ReadActors }) {
  const registry = registryFeature({ ...p, readActors })
  const features = { registry }
  return { ...registry, features: Object.values(features).map(({ feature }) => feature) }
}
