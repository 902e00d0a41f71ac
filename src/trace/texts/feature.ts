import { defineFeature, type Platform } from '#src/platform/feature.ts'
import type { CanariesFeature } from '../canaries/feature.ts'
import { NOTES } from './notes.ts'
import { traceTextRoutes } from './routes.ts'
import { createTraceTexts } from './texts.ts'

export type TraceTextsFeature = ReturnType<typeof traceTextsFeature>

/** Reads and erasures of the texts of traces. The tables are those of inferences and of attribution jobs. */
export function traceTextsFeature(p: Platform, { traces }: Pick<CanariesFeature, 'traces'>) {
  const texts = createTraceTexts({ ...p, traces })
  return defineFeature({ name: 'texts', routes: traceTextRoutes(texts), notes: NOTES }, { texts })
}
