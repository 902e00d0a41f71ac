import { Readable } from 'node:stream'
import { z } from 'zod'
import { endpoint, listEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { listQuery } from '#src/platform/http/page.ts'
import { idParam, idParams, several } from '#src/platform/http/params.ts'
import { waitQuery } from '#src/platform/http/prefer.ts'
import { workStatusView } from '#src/platform/http/views.ts'
import type { TraceOwner } from '../canaries/traces.ts'
import { interventionBody, jobBody } from './bodies.ts'
import type { Interventions } from './interventions.ts'
import type { ShownTraceJob, TraceJobs } from './jobs.ts'
import { interventionView, jobView, toInterventionView, toJobView } from './views.ts'

const MAX_BODY_BYTES = 512 * 1024
const MANIFEST_TYPE = 'application/json'

const common = { scope: 'intent' } as const

export function traceJobRoutes(jobs: TraceJobs, interventions: Interventions): Route[] {
  const accepted = (row: ShownTraceJob, owner: TraceOwner) =>
    reply(202, toJobView(row, owner), { Location: `/v1/trace/jobs/${row.id}` })
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
    listEndpoint(
      {
        ...common,
        path: '/v1/trace/jobs',
        operationId: 'listAttributionJobs',
        sdk: 'trace.jobs.list',
        permission: 'traces.read',
        summary: 'Attribution jobs, newest first',
        query: {
          ...listQuery,
          trace_id: idParam('trc').optional(),
          status: several(workStatusView).optional(),
        },
        item: jobView,
      },
      ({ caller, query }) => jobs.list(caller, query),
      (row, { caller }) => toJobView(row, caller),
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/trace/jobs/:id',
        operationId: 'getAttributionJob',
        sdk: 'trace.jobs.retrieve',
        effect: 'read',
        kind: 'wait',
        permission: 'traces.read',
        summary: 'The status and progress of an attribution job',
        params: idParams('job'),
        query: z.object({ wait: waitQuery.default(0).describe('Seconds to wait for its end.') }),
        waits: true,
        view: jobView,
        status: [200],
      },
      async ({ caller, params: { id }, query, signal }) =>
        toJobView(await jobs.getEnded(caller, id, query.wait, signal), caller),
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/trace/jobs/:id/manifest',
        operationId: 'getAttributionManifest',
        sdk: 'trace.jobs.retrieveManifest',
        effect: 'read',
        kind: 'call',
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
        effect: 'destructive',
        kind: 'call',
        permission: 'traces.write',
        summary: 'Cancel an attribution job',
        params: idParams('job'),
        view: jobView,
        status: [200],
      },
      async ({ caller, params: { id }, idempotencyKey }) =>
        toJobView(await jobs.cancel(caller, id, idempotencyKey), caller),
      async ({ caller, params: { id } }) => toJobView(await jobs.get(caller, id), caller),
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
