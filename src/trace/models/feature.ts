import { defineFeature, type Platform } from '#src/platform/feature.ts'
import type { ModelSettings } from './config.ts'
import { createModels } from './models.ts'
import { NOTES } from './notes.ts'
import { modelRoutes } from './routes.ts'

export type ModelsFeature = ReturnType<typeof modelsFeature>

/** The models of this installation, each in a process of its own that its first request starts. */
export function modelsFeature(p: Platform, settings: ModelSettings) {
  const models = createModels(p, settings)
  p.onClose(() => models.close(), 'models')
  return defineFeature({ name: 'models', routes: modelRoutes(models), notes: NOTES }, { models })
}
