import { Counter, Histogram, type Registry } from 'prom-client'
import type { TraceFinishReason } from '../canaries/traces.ts'

export interface CountedInference {
  /** `unknown` for model names that this service doesn't serve (label cardinality). */
  model: string
  /** How the inference finished, or why it did not run. */
  outcome: TraceFinishReason | 'unavailable' | 'refused'
  trippedFamilies: readonly string[]
  seconds: number
}

export type CountInference = (counted: CountedInference) => void

/** What the web process counts of inferences, repeats not included. */
export function createInferenceMetrics(registry: Registry): CountInference {
  const inferences = new Counter({
    name: 'countersign_inferences_total',
    help:
      'Inferences by model and outcome: stop, length, canary_tripped (withheld), tool_calls, refusal, content_filter, ' +
      'unavailable (503), refused (4xx).',
    labelNames: ['model', 'outcome'],
    registers: [registry],
  })
  const times = new Histogram({
    name: 'countersign_inference_seconds',
    help: 'Time of an inference that was answered, its wait for the model included.',
    labelNames: ['model'],
    // From a few tokens of the smallest model to the longest that one may take.
    buckets: [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    registers: [registry],
  })
  const trips = new Counter({
    name: 'countersign_inference_trips_total',
    help: 'Inferences in which a canary reached its threshold, by model and family; withheld or not.',
    labelNames: ['model', 'family'],
    registers: [registry],
  })
  return ({ model, outcome, trippedFamilies, seconds }) => {
    inferences.inc({ model, outcome })
    for (const family of trippedFamilies) trips.inc({ model, family })
    if (outcome !== 'unavailable' && outcome !== 'refused') times.observe({ model }, seconds)
  }
}
