import { Readable } from 'node:stream'
import { z } from 'zod'
import { endpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { listOf, listQuery } from '#src/platform/http/page.ts'
import { idParam, idParams } from '#src/platform/http/params.ts'
import { workStatusView } from '#src/platform/http/views.ts'
import { ATTRIBUTION_METHODS } from '../attribution/attribute.ts'
import { MAX_EDGES } from '../attribution/influence.ts'
import type { Intervention } from '../attribution/intervene.ts'
import { neuronId } from '../attribution/manifest.ts'
import { endWithTrace, type TraceOwner } from '../canaries/traces.ts'
import { interventionBody, jobBody } from './bodies.ts'
import type { Interventions } from './interventions.ts'
import { JOB_FAILURES } from './job.ts'
import type { TraceJobs } from './jobs.ts'
import type { TraceJobRow } from './rows.ts'

const MAX_BODY_BYTES = 512 * 1024
const MANIFEST_TYPE = 'application/json'

export const jobStateView = workStatusView

const jobView = z
  .object({
    job_id: z.string(),
    trace_id: z.string(),
    model_version_id: z.string(),
    state: jobStateView,
    progress: z.number().describe('0 to 1.'),
    method: z.enum(ATTRIBUTION_METHODS).meta({ id: 'AttributionMethod' }),
    target: z.object({ position: z.number().int(), token: z.number().int().nullable() }),
    max_feature_nodes: z.number().int(),
    max_n_logits: z.number().int(),
    desired_logit_prob: z.number(),
    node_threshold: z.number(),
    edge_threshold: z.number(),
    failure: z
      .object({ code: z.enum(JOB_FAILURES).meta({ id: 'AttributionJobFailure' }), detail: z.string() })
      .nullable(),
    result: z
      .object({
        manifest_hash: z.string().describe('Hexadecimal SHA-256 of the manifest’s bytes, which are RFC 8785 text.'),
        manifest_bytes: z.number().int(),
        manifest_until: z.string().describe('Until when the manifest is kept: 30 days, and no longer than its trace.'),
        nodes: z.number().int(),
        links: z.number().int(),
        links_found: z
          .number()
          .int()
          .nullable()
          .describe(
            `As many as the thresholds ask for; ${MAX_EDGES} are kept at most. null: of a job before this was counted.`,
          ),
        sum_check: z
          .object({ max_abs_error: z.number(), rows: z.number().int() })
          .nullable()
          .describe('null: the method is approximate.'),
        remainder_share: z.number().describe('The share of the total effect of all neurons that no named neuron has.'),
        replacement_score: z.number().nullable().describe('null: the method is approximate.'),
        completeness_score: z.number().nullable().describe('null: the method is approximate.'),
        verified: z
          .object({ nodes: z.number().int(), same_sign: z.number(), correlation: z.number().nullable() })
          .describe('How far ablations of the top nodes agree with the graph.'),
      })
      .nullable(),
    created_by: z.string(),
    created_at: z.string(),
    started_at: z.string().nullable(),
    finished_at: z.string().nullable(),
  })
  .meta({ id: 'AttributionJob' })

const logit = z.object({ logit: z.number(), probability: z.number() }).meta({ id: 'TokenLogit' })
const interventionView = z
  .object({
    trace_id: z.string(),
    tokens: z.array(
      z.object({
        token: z.number().int(),
        text: z.string(),
        before: logit,
        after: logit,
        predicted_change: z
          .number()
          .describe('Of the logit in the frozen model, less the mean of these tokens: what all gain changes nothing.'),
        measured_change: z.number(),
      }),
    ),
    edits: z.array(
      z.object({
        node_id: z.string(),
        factor: z.number(),
        activation_before: z.number(),
        activation_after: z.number(),
      }),
    ),
    runtime: z.string().optional().describe('Whose arithmetic it is, where an accelerator computed it.'),
  })
  .meta({ id: 'Intervention' })

const common = { scope: 'intent' } as const

export function traceJobRoutes(jobs: TraceJobs, interventions: Interventions): Route[] {
  const accepted = (row: TraceJobRow, owner: TraceOwner) =>
    reply(202, toView(row, owner), { Location: `/v1/trace/jobs/${row.id}` })
  return [
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/trace/jobs',
        operationId: 'createAttributionJob',
        sdk: 'trace.jobs.create',
        effect: 'write',
        kind: 'call',
        permission: 'traces.write',
        summary: 'Start an attribution job: what made a model say a token',
        meters: 'trace_job',
        body: jobBody,
        maxBodyBytes: MAX_BODY_BYTES,
        view: jobView,
        status: [202],
      },
      async ({ caller, body, idempotencyKey }) => accepted(await jobs.create(caller, body, idempotencyKey), caller),
      async ({ caller }, id) => accepted(await jobs.get(caller, id), caller),
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/trace/jobs',
        operationId: 'listAttributionJobs',
        sdk: 'trace.jobs.list',
        effect: 'read',
        kind: 'list',
        permission: 'traces.read',
        summary: 'Attribution jobs, newest first',
        query: z.object({
          ...listQuery,
          trace_id: idParam('trc').optional(),
          state: jobStateView.optional(),
        }),
        view: listOf(jobView),
        status: [200],
      },
      async ({ caller, query }) => {
        const { data, ...page } = await jobs.list(caller, query)
        return { ...page, data: data.map((row) => toView(row, caller)) }
      },
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/trace/jobs/:id',
        operationId: 'getAttributionJob',
        sdk: 'trace.jobs.retrieve',
        effect: 'read',
        kind: 'call',
        permission: 'traces.read',
        summary: 'The state and progress of an attribution job',
        params: idParams('job'),
        view: jobView,
        status: [200],
      },
      async ({ caller, params: { id } }) => toView(await jobs.get(caller, id), caller),
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/trace/jobs/:id/manifest',
        operationId: 'getAttributionManifest',
        sdk: 'trace.jobs.downloadManifest',
        effect: 'read',
        kind: 'download',
        permission: 'traces.read',
        summary: 'The graph, in the schema of Neuronpedia and circuit-tracer',
        params: idParams('job'),
        query: z.object({
          compat: z
            .enum(['circuit-tracer'])
            .optional()
            .describe('Calls neurons by the word that circuit-tracer’s scores count.'),
        }),
        view: z.never(),
        status: [200],
        streams: { contentType: MANIFEST_TYPE },
      },
      async ({ caller, params: { id }, query }) => {
        const { job, bytes } = await jobs.manifest(caller, id, query)
        const headers = {
          'Content-Type': MANIFEST_TYPE,
          'Content-Length': String(bytes.length),
          ETag: `"${job.manifestHash}${query.compat === undefined ? '' : '-compat'}"`,
        }
        return { status: 200, stream: Readable.from([bytes]), headers }
      },
    ),
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/trace/jobs/:id/cancel',
        operationId: 'cancelAttributionJob',
        sdk: 'trace.jobs.cancel',
        effect: 'write',
        kind: 'call',
        permission: 'traces.write',
        summary: 'Cancel an attribution job',
        params: idParams('job'),
        view: jobView,
        status: [200],
      },
      async ({ caller, params: { id }, idempotencyKey }) =>
        toView(await jobs.cancel(caller, id, idempotencyKey), caller),
      async ({ caller, params: { id } }) => toView(await jobs.get(caller, id), caller),
    ),
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/trace/traces/:id/interventions',
        operationId: 'interveneInTrace',
        sdk: 'trace.interventions.create',
        effect: 'write',
        kind: 'call',
        permission: 'traces.write',
        summary: 'Ablate or scale neurons of a trace, and compare the prediction with what happens',
        meters: 'inference',
        params: idParams('trc'),
        body: interventionBody,
        maxBodyBytes: MAX_BODY_BYTES,
        view: interventionView,
        status: [200],
      },
      async ({ caller, params: { id }, body, idempotencyKey: key, signal }) =>
        toInterventionView(id, await interventions.run(caller, id, body, { key, signal })),
      // It creates nothing that a replay could show: the model measures again.
      async ({ caller, params: { id }, body, signal }) =>
        toInterventionView(id, await interventions.repeat(caller, id, body, signal)),
    ),
  ]
}

function toView(row: TraceJobRow, owner: TraceOwner): z.input<typeof jobView> {
  const { request, summary } = row
  return {
    job_id: row.id,
    trace_id: row.traceId,
    model_version_id: row.modelVersionId,
    state: row.state,
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
      links_found: summary.linksFound ?? null,
      sum_check: summary.sumCheck && { max_abs_error: summary.sumCheck.maxError, rows: summary.sumCheck.rows },
      remainder_share: summary.remainderShare,
      replacement_score: row.method === 'exact' ? summary.replacementScore : null,
      completeness_score: row.method === 'exact' ? summary.completenessScore : null,
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

function toFailureView({ failureCode, failureDetail }: TraceJobRow): z.input<typeof jobView>['failure'] {
  const code = JOB_FAILURES.find((one) => one === failureCode)
  return code === undefined ? null : { code, detail: failureDetail ?? '' }
}

function toInterventionView(
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
