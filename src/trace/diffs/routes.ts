import { z } from 'zod'
import { actorView } from '#src/platform/http/actor.ts'
import { endpoint, listEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { listQuery } from '#src/platform/http/page.ts'
import { idParams, several } from '#src/platform/http/params.ts'
import { waitQuery } from '#src/platform/http/prefer.ts'
import { timestampView, workFailureView, workStatusView } from '#src/platform/http/views.ts'
import type { Diffs, ShownDiff } from './diffs.ts'
import { DEFAULT_EVAL_SET } from './eval-prompts.ts'
import { reportView, thresholdsView, verdictView } from './report.ts'
import { DIFF_FAILURES } from './run.ts'

const MAX_SEED = Number.MAX_SAFE_INTEGER
const count = z.number().int()

const diffView = z
  .object({
    diff_id: z.string(),
    status: workStatusView,
    base_model: z.string(),
    target_model: z.string(),
    eval_set: z.string().describe('`default`, or the id of a set of your own.'),
    seed: count,
    thresholds: thresholdsView,
    progress: z.object({ done: count, total: count }).meta({ id: 'DiffProgress' }).describe('Prompts.'),
    pass: z.boolean().nullable(),
    verdict: verdictView.nullable(),
    families_drifted: z.array(z.string()).nullable(),
    report_hash: z.string().nullable().describe('SHA-256 of the report’s canonical JSON (RFC 8785), in hexadecimal.'),
    failure: workFailureView('TraceDiffFailure', DIFF_FAILURES).nullable(),
    created_by: actorView,
    created_at: timestampView,
    started_at: timestampView.nullable(),
    finished_at: timestampView.nullable(),
  })
  .meta({ id: 'TraceDiff' })

const threshold = (least: number, most: number) => z.number().min(least).max(most).optional()

const diffRequest = z
  .strictObject({
    base_model: z.string().min(1).max(64).describe('The version that is known.'),
    target_model: z.string().min(1).max(64).describe('The version to judge.'),
    eval_set: z.string().min(1).max(64).default(DEFAULT_EVAL_SET).describe('`default`, or the id of a set.'),
    thresholds: z
      .strictObject({
        psi_drift: threshold(0.01, 100),
        ks_alpha: threshold(1e-12, 0.5),
        psi_warn: threshold(0.01, 100),
        mean_shift: threshold(0, 1),
      })
      .default({})
      .meta({ id: 'DiffThresholdsRequest' }),
    seed: count.min(0).max(MAX_SEED).optional().describe('Of the bootstrap. Without it, one is drawn and shown.'),
  })
  .meta({ id: 'CreateTraceDiffRequest' })

const common = { scope: 'intent', needsAccountKey: true } as const
const reading = { ...common, permission: 'traces.read' } as const
const writing = { ...common, permission: 'traces.write' } as const

export function diffRoutes(diffs: Diffs): Route[] {
  const accepted = (row: ShownDiff) => reply(202, toDiffView(row), { Location: `/v1/trace/diffs/${row.id}` })
  return [
    endpoint(
      {
        ...writing,
        method: 'POST',
        path: '/v1/trace/diffs',
        operationId: 'createTraceDiff',
        sdk: 'trace.diffs.create',
        effect: 'write',
        kind: 'call',
        summary: 'Compare two model versions over an evaluation set',
        meters: 'diff',
        body: diffRequest,
        view: diffView,
        status: [202],
      },
      async ({ caller, body, idempotencyKey }) => accepted(await diffs.create(caller, body, idempotencyKey)),
      async ({ caller }, id) => accepted(await diffs.get(caller, id)),
    ),
    listEndpoint(
      {
        ...reading,
        path: '/v1/trace/diffs',
        operationId: 'listTraceDiffs',
        sdk: 'trace.diffs.list',
        summary: 'Diffs, newest first',
        query: {
          ...listQuery,
          status: several(workStatusView).optional(),
          verdict: several(verdictView).optional(),
        },
        item: diffView,
      },
      ({ caller, query }) => diffs.list(caller, query),
      toDiffView,
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: '/v1/trace/diffs/:id',
        operationId: 'getTraceDiff',
        sdk: 'trace.diffs.retrieve',
        effect: 'read',
        kind: 'wait',
        params: idParams('dif'),
        query: z.object({ wait: waitQuery.default(0).describe('Seconds to wait for its end.') }),
        waits: true,
        summary: 'The status, progress and verdict of one diff',
        view: diffView,
        status: [200],
      },
      async ({ caller, params, query, signal }) =>
        toDiffView(await diffs.getEnded(caller, params.id, query.wait, signal)),
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: '/v1/trace/diffs/:id/report',
        operationId: 'getTraceDiffReport',
        sdk: 'trace.diffs.retrieveReport',
        effect: 'read',
        kind: 'call',
        params: idParams('dif'),
        summary: 'The report of a diff that has succeeded',
        view: reportView,
        status: [200],
      },
      async ({ caller, params }) => reportView.parse(JSON.parse(await diffs.report(caller, params.id))),
    ),
    endpoint(
      {
        ...writing,
        method: 'POST',
        path: '/v1/trace/diffs/:id/cancel',
        operationId: 'cancelTraceDiff',
        sdk: 'trace.diffs.cancel',
        effect: 'destructive',
        kind: 'call',
        params: idParams('dif'),
        summary: 'Cancel a diff that has not ended',
        view: diffView,
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) => toDiffView(await diffs.cancel(caller, params.id, idempotencyKey)),
      async ({ caller, params }) => toDiffView(await diffs.get(caller, params.id)),
    ),
  ]
}

function toDiffView(row: ShownDiff): z.input<typeof diffView> {
  return {
    diff_id: row.id,
    status: row.status,
    base_model: row.baseModel,
    target_model: row.targetModel,
    eval_set: row.evalSet,
    seed: row.seed,
    thresholds: row.thresholds,
    progress: { done: row.promptsDone, total: row.prompts },
    pass: row.pass,
    verdict: row.verdict,
    families_drifted: row.familiesDrifted,
    report_hash: row.reportHash?.toString('hex') ?? null,
    failure: toFailureView(row),
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
    started_at: row.startedAt?.toISOString() ?? null,
    finished_at: row.finishedAt?.toISOString() ?? null,
  }
}

function toFailureView({ failureCode, failureDetail }: ShownDiff): z.input<typeof diffView>['failure'] {
  const code = DIFF_FAILURES.find((one) => one === failureCode)
  return code === undefined ? null : { code, detail: failureDetail ?? '' }
}
