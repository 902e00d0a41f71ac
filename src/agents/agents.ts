// The product's registry of agents, on which the products Authorize and Trace build.

import type { Platform } from '#src/platform/feature.ts'
import type { ReadActors } from '#src/platform/http/actor.ts'
import { registryFeature } from './registry/feature.ts'
import type { RecordAudit } from './registry/registry.ts'

export type Agents = ReturnType<typeof createAgents>

export function createAgents(
  p: Platform,
  { readActors, recordAudit }: { readActors: ReadActors; recordAudit: RecordAudit },
) {
  const registry = registryFeature({ ...p, readActors, recordAudit })
  const features = { registry }
  return { ...registry, features: Object.values(features).map(({ feature }) => feature) }
}
