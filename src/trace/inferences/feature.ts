import { Failure } from '#src/failure.ts'
import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import { explainCheck } from '../canaries/check.ts'
import type { CanariesFeature } from '../canaries/feature.ts'
import type { ModelsFeature } from '../models/feature.ts'
import type { Models } from '../models/models.ts'
import { CONTENT_DAYS, SEALED_CONTENTS } from './contents.ts'
import { createInferences, type Inferences } from './inferences.ts'
import { type CountedInference, type CountInference, createInferenceMetrics } from './metrics.ts'
import { NOTES } from './notes.ts'
import { createRepeat } from './repeat.ts'
import { inferenceRoutes } from './routes.ts'
import { createTracedTokens } from './tokens.ts'

export type InferencesFeature = ReturnType<typeof inferencesFeature>

/** Inferences of the service's models, with what is kept of each. */
export function inferencesFeature(
  p: Platform,
  { models, recordTrip }: Pick<ModelsFeature, 'models'> & Pick<CanariesFeature, 'recordTrip'>,
) {
  const made = createInferences({ ...p, models, recordTrip })
  let count: CountInference | undefined
  const inferences: Inferences = {
    async infer(acting, body, options) {
      const startedAt = performance.now()
      const observe = (counted: Omit<CountedInference, 'seconds'>) =>
        count?.({ ...counted, seconds: (performance.now() - startedAt) / 1_000 })
      try {
        const answer = await made.infer(acting, body, options)
        const { model, finishReason: outcome } = answer.trace.inference
        observe({ model, outcome, trippedFamilies: answer.judgement.tripped_families })
        return answer
      } catch (error) {
        const outcome = error instanceof Failure && error.code !== 'service_unavailable' ? 'refused' : 'unavailable'
        observe({ model: knownModel(models, body.model), outcome, trippedFamilies: [] })
        throw error
      }
    },
  }
  return defineFeature(
    {
      name: 'inferences',
      data: [
        {
          table: 'trace_contents',
          key: ['id'],
          unexported: 'sealed, and kept for 30 days: GET /v1/trace/traces/{id}/tokens shows the completions',
        },
      ],
      sealed: [SEALED_CONTENTS],
      routes: inferenceRoutes({
        inferences,
        repeat: createRepeat({ ...p, models }),
        tokens: createTracedTokens({ ...p, models }),
      }),
      notes: NOTES,
      collect: {
        web: (registry) => {
          count = createInferenceMetrics(registry)
        },
      },
      retention: [
        rowRule(
          p.db,
          'trace_contents',
          CONTENT_DAYS,
          oldRows({ table: 'trace_contents', idType: 'trc', age: 'created_at' }),
        ),
      ],
    },
    { inferences, explainers: { inference: explainCheck } },
  )
}

function knownModel(models: Pick<Models, 'get'>, id: string | undefined): string {
  try {
    return models.get(id).model
  } catch {
    return 'unknown'
  }
}
