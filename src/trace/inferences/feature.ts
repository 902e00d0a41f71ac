import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import { explainCheck } from '../canaries/check.ts'
import type { CanariesFeature } from '../canaries/feature.ts'
import type { ModelsFeature } from '../models/feature.ts'
import { CONTENT_DAYS, SEALED_CONTENTS } from './contents.ts'
import { createInferences } from './inferences.ts'
import { NOTES } from './notes.ts'
import { createRepeat } from './repeat.ts'
import { inferenceRoutes } from './routes.ts'
import { createTokens } from './tokens.ts'

export type InferencesFeature = ReturnType<typeof inferencesFeature>

/** Inferences of the service's models, with what is kept of each. */
export function inferencesFeature(
  p: Platform,
  { models, recordTrip }: Pick<ModelsFeature, 'models'> & Pick<CanariesFeature, 'recordTrip'>,
) {
  const inferences = createInferences({ ...p, models, recordTrip })
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
        tokens: createTokens({ ...p, models }),
      }),
      notes: NOTES,
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
