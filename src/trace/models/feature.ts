import type { Registry } from 'prom-client'
import { defineFeature, type Platform } from '#src/platform/feature.ts'
import type { ModelSettings } from './config.ts'
import { graphRoutes } from './graph-routes.ts'
import { collectModels } from './metrics.ts'
import { createModels } from './models.ts'
import { NOTES } from './notes.ts'
import { modelRoutes } from './routes.ts'

export type ModelsFeature = ReturnType<typeof modelsFeature>

/** The models of this installation, each in a process of its own that its first request starts. */
export function modelsFeature(p: Platform, settings: ModelSettings) {
  const models = createModels(p, settings)
  const collect = (registry: Registry) => collectModels(registry, models)
  p.onClose(() => models.close(), 'models')
  return defineFeature(
    {
      name: 'models',
      routes: [...modelRoutes(models), ...graphRoutes(models)],
      notes: NOTES,
      collect: { web: collect, trace: collect, diff: collect },
      // Callers wait for a check at most 5 s; a job waits for as long as it takes.
      onReady: { web: () => void models.warm() },
    },
    { models },
  )
}
