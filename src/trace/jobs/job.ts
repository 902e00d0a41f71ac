// What a job asks of a model and what is kept of its answer, besides the manifest.

import type { AttributionGraph } from '../attribution/attribute.ts'

export interface TraceJobRequest {
  /** Of the token that is explained, among those of the completion: 0 is the first, as many as there are the one after. */
  position: number
  /** Explained at this position; null: the one that the model said there. */
  token: number | null
  maxFeatureNodes: number
  maxLogits: number
  desiredLogitProbability: number
  nodeThreshold: number
  edgeThreshold: number
}

export interface TraceJobSummary {
  nodes: number
  links: number
  /** How many the thresholds ask for. */
  linksFound: number
  sumCheck: { maxError: number; rows: number } | null
  remainderShare: number
  /** null for approximate methods, as the next one. */
  replacementScore: number | null
  completenessScore: number | null
  verified: { nodes: number; sameSign: number; correlation: number | null }
}

export const JOB_FAILURES = [
  /** The model can't do what the job needs. */
  'backend_capability_missing',
  /** The model of the trace has another file now, or is gone. */
  'model_version_not_found',
  /** The texts are not kept any more. */
  'text_not_kept',
  /** The model completes the input in another way than it did. */
  'trace_not_reproducible',
  /** A row of the graph does not add up. */
  'attribution_inexact',
  /** The text is too long for a graph, or names what the model does not have. */
  'invalid_request',
  /** The model took longer than it may. */
  'timeout',
  /** It failed repeatedly for a reason of ours. */
  'internal_error',
] as const
export type JobFailureCode = (typeof JOB_FAILURES)[number]

export interface TraceJobFailure {
  code: JobFailureCode
  detail: string
}

export function summaryOf(graph: AttributionGraph): TraceJobSummary {
  const { sign, correlation } = graph.agreement
  return {
    nodes: graph.nodes.length,
    links: graph.links.weights.length,
    linksFound: graph.linksFound,
    sumCheck: graph.sumCheck,
    remainderShare: graph.remainderShare,
    replacementScore: graph.scores?.replacementScore ?? null,
    completenessScore: graph.scores?.completenessScore ?? null,
    verified: { nodes: graph.verified.length, sameSign: sign, correlation },
  }
}
