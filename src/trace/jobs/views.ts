import { z } from 'zod'
import { actorView } from '#src/platform/http/actor.ts'
import { timestampView, workFailureView, workStatusView } from '#src/platform/http/views.ts'
import { ATTRIBUTION_METHODS } from '../attribution/attribute.ts'
import { MAX_EDGES } from '../attribution/influence.ts'
import type { Intervention } from '../attribution/intervene.ts'
import { neuronId } from '../attribution/manifest.ts'
import { endWithTrace, type TraceOwner } from '../canaries/traces.ts'
import { JOB_FAILURES } from './job.ts'
import type { ShownTraceJob } from './jobs.ts'

const count = z.number().int()

const targetView = z
  .object({ position: count, token: count.nullable().describe('null: the one that the model said there.') })
  .meta({ id: 'AttributedToken' })

const sumCheckView = z.object({ max_abs_error: z.number(), rows: count }).meta({ id: 'AttributionSumCheck' })

const verificationView = z
  .object({ nodes: count, same_sign: z.number(), correlation: z.number().nullable() })
  .meta({ id: 'AttributionVerification' })

const resultView = z
  .object({
    manifest_hash: z.string().describe('Hexadecimal SHA-256 of the manifest’s bytes, which are RFC 8785 text.'),
    manifest_bytes: count,
    manifest_until: timestampView.describe('Until when the manifest is kept: 30 days, and no longer than its trace.'),
    nodes: count,
    links: count,
    links_found: count.nullable().describe(`As many as the thresholds ask for; ${MAX_EDGES} are kept at most.`),
    sum_check: sumCheckView.nullable().describe('null: the method is approximate.'),
    remainder_share: z.number().describe('The share of the total effect of all neurons that no named neuron has.'),
    replacement_score: z.number().nullable().describe('null: the method is approximate.'),
    completeness_score: z.number().nullable().describe('null: the method is approximate.'),
    verified: verificationView.describe('How far ablations of the top nodes agree with the graph.'),
  })
  .meta({ id: 'AttributionResult' })

export const jobView = z
  .object({
    job_id: z.string(),
    trace_id: z.string(),
    model_version_id: z.string(),
    status: workStatusView,
    progress: z.number().describe('0 to 1.'),
    method: z.enum(ATTRIBUTION_METHODS).meta({ id: 'AttributionMethod' }),
    target: targetView,
    max_feature_nodes: count,
    max_n_logits: count,
    desired_logit_prob: z.number(),
    node_threshold: z.number(),
    edge_threshold: z.number(),
    failure: workFailureView('AttributionJobFailure', JOB_FAILURES).nullable(),
    result: resultView.nullable(),
    created_by: actorView,
    created_at: timestampView,
    started_at: timestampView.nullable(),
    finished_at: timestampView.nullable(),
  })
  .meta({ id: 'AttributionJob' })

const logitView = z.object({ logit: z.number(), probability: z.number() }).meta({ id: 'TokenLogit' })

export const interventionView = z
  .object({
    trace_id: z.string(),
    tokens: z.array(
      z
        .object({
          token: count,
          text: z.string(),
          before: logitView,
          after: logitView,
          predicted_change: z
            .number()
            .describe(
              'Change of the logit in the frozen model, less the mean of these tokens: what all gain changes nothing.',
            ),
          measured_change: z.number(),
        })
        .meta({ id: 'ChangedToken' }),
    ),
    edits: z.array(
      z
        .object({
          node_id: z.string(),
          factor: z.number(),
          activation_before: z.number(),
          activation_after: z.number(),
        })
        .meta({ id: 'EditedNeuron' }),
    ),
    runtime: z.string().optional().describe('Whose arithmetic it is, where an accelerator computed it.'),
  })
  .meta({ id: 'Intervention' })

// Other members than these may come: the schema of circuit-tracer and Neuronpedia allows them everywhere.
const NAMES = { verbatim: true } as const
const nodeView = z
  .looseObject({
    node_id: z.string(),
    feature: count.nullable(),
    layer: z.string().describe('`E`, or a whole number; that of logits is one above the last.'),
    ctx_idx: count,
    feature_type: z.string(),
    jsNodeId: z.string(),
    clerp: z.string().describe('The label.'),
    influence: z.number().nullable().optional(),
    activation: z.number().nullable().optional(),
    token_prob: z.number().optional(),
    is_target_logit: z.boolean().optional(),
  })
  .meta({ id: 'AttributionNode', ...NAMES })
const linkView = z
  .looseObject({
    source: z.string(),
    target: z.string(),
    weight: z.number().describe('What the source adds to the target’s value.'),
  })
  .meta({ id: 'AttributionLink', ...NAMES })

/** The manifest as it is documented: its stored bytes are sent, which `manifest_hash` is of. */
export const manifestView = z
  .looseObject({
    metadata: z
      .looseObject({
        slug: z.string(),
        scan: z.string(),
        prompt: z.string(),
        prompt_tokens: z.array(z.string()),
      })
      .meta({ id: 'AttributionMetadata', ...NAMES })
      .describe('`svc` has what this service adds: hashes, the sum check, verified nodes.'),
    qParams: z.looseObject({}).meta({ id: 'AttributionQueryParameters', ...NAMES }),
    nodes: z.array(nodeView),
    links: z.array(linkView),
  })
  .meta({ id: 'AttributionManifest', ...NAMES })

export function toJobView(row: ShownTraceJob, owner: TraceOwner): z.input<typeof jobView> {
  const { request, summary } = row
  return {
    job_id: row.id,
    trace_id: row.traceId,
    model_version_id: row.modelVersionId,
    status: row.status,
    progress: row.progress,
    method: row.method,
    target: { position: request.position, token: request.token },
    max_feature_nodes: request.maxFeatureNodes,
    max_n_logits: request.maxLogits,
    desired_logit_prob: request.desiredLogitProbability,
    node_threshold: request.nodeThreshold,
    edge_threshold: request.edgeThreshold,
    failure: toFailureView(row),
    result: summary && {
      manifest_hash: row.manifestHash ?? '',
      manifest_bytes: row.manifestBytes ?? 0,
      manifest_until: row.manifestUntil ? endWithTrace(row.manifestUntil, row.traceCreatedAt, owner).toISOString() : '',
      nodes: summary.nodes,
      links: summary.links,
      links_found: summary.linksFound,
      sum_check: summary.sumCheck && { max_abs_error: summary.sumCheck.maxError, rows: summary.sumCheck.rows },
      remainder_share: summary.remainderShare,
      replacement_score: summary.replacementScore,
      completeness_score: summary.completenessScore,
      verified: {
        nodes: summary.verified.nodes,
        same_sign: summary.verified.sameSign,
        correlation: summary.verified.correlation,
      },
    },
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
    started_at: row.startedAt?.toISOString() ?? null,
    finished_at: row.finishedAt?.toISOString() ?? null,
  }
}

function toFailureView({ failureCode, failureDetail }: ShownTraceJob): z.input<typeof jobView>['failure'] {
  const code = JOB_FAILURES.find((one) => one === failureCode)
  return code === undefined ? null : { code, detail: failureDetail ?? '' }
}

export function toInterventionView(
  traceId: string,
  { tokens, edits, runtime }: Intervention,
): z.input<typeof interventionView> {
  return {
    trace_id: traceId,
    ...(runtime !== undefined && { runtime }),
    tokens: tokens.map(({ predictedChange, measuredChange, ...one }) => ({
      ...one,
      predicted_change: predictedChange,
      measured_change: measuredChange,
    })),
    edits: edits.map(({ layer, neuron, position, factor, activationBefore, activationAfter }) => ({
      node_id: neuronId(layer, neuron, position),
      factor,
      activation_before: activationBefore,
      activation_after: activationAfter,
    })),
  }
}
