// Attribution jobs as their account sees them. The graph is made by a job of the queue `trace` (work.ts).

import { rowWithActors, type WithActors, withActors } from '#src/account/users/actors.ts'
import { Failure } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import { again, type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, createdBetween, type ListQuery, listPage } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import type { WorkStatus } from '#src/platform/http/views.ts'
import { checkId, newId, newJobId, type Scope } from '#src/platform/ids.ts'
import { cancelJobs, enqueue } from '#src/platform/jobs/backlog.ts'
import type { AwaitedRow, PolledWaits } from '#src/platform/polled-waits.ts'
import { toCircuitTracerBytes } from '../attribution/manifest.ts'
import { findTrace } from '../canaries/traces.ts'
import type { ModelVersion } from '../models/backend.ts'
import { findMissingMethod } from '../models/capabilities.ts'
import type { Models } from '../models/models.ts'
import type { JobBody } from './bodies.ts'
import { loadManifest, sealInput } from './manifests.ts'
import {
  cancelTraceJob,
  countOpenJobs,
  countTraceJobs,
  findTraceJob,
  insertTraceJob,
  listTraceJobs,
  type TraceJobRow,
} from './rows.ts'
import { checkInput, checkTargetPosition, findKeptText, getExplainedTrace } from './texts.ts'

/** Each takes a model for seconds to minutes. */
const MAX_OPEN_JOBS = 100
const RETRY_AFTER_SECONDS = '30'

export interface JobListQuery extends ListQuery {
  trace_id?: string | undefined
  status?: readonly WorkStatus[] | undefined
}

/** A job with who requested it. */
export type ShownTraceJob = WithActors<TraceJobRow, 'createdBy'>

export type TraceJobs = ReturnType<typeof createTraceJobs>

interface TraceJobsDeps extends Pick<Platform, 'db' | 'sealer' | 'pager' | 'now'> {
  models: Pick<Models, 'get' | 'version'>
  waits: Pick<PolledWaits<AwaitedRow>, 'ended'>
}

export function createTraceJobs({ db, sealer, pager, now, models, waits }: TraceJobsDeps) {
  async function find(tx: Tx, scope: Scope, id: string): Promise<TraceJobRow> {
    checkId(id, 'job', scope.environment)
    note({ traceJob: id })
    const row = await findTraceJob(tx, id)
    if (row === undefined) throw new Failure('not_found', `There is no attribution job ${id}.`)
    return row
  }

  function get(scope: Scope, id: string): Promise<ShownTraceJob> {
    return db.tenant(scope, async (tx) => shown(tx, await find(tx, scope, id)))
  }

  /**
   * Refuses a method that the model is known not to have, and a token that it does not know. A model that can't be asked
   * now decides when the job runs: it may be there again.
   * @throws {Failure} `backend_capability_missing`; `invalid_request` at `/target/token`.
   */
  async function refuseUnfit(scope: Scope, { trace_id: traceId, method, target }: JobBody): Promise<void> {
    const trace = await db.tenant(scope, (tx) => findTrace(tx, traceId))
    const modelVersionId = trace?.modelVersionId ?? null
    if (modelVersionId === null) return
    let unfit: Failure | undefined
    try {
      const backend = models.get(modelVersionId.split('@')[0])
      unfit = findMissingMethod(backend.model, await backend.capabilities(), method)
      if (target.token !== undefined) unfit ??= findUnknownToken(await backend.modelVersion(), target.token)
      // Of a model that can't be used, or that has another file now, this says nothing about the trace's.
      if (unfit !== undefined) await models.version(modelVersionId)
    } catch (error) {
      if (error instanceof Failure) return
      throw error
    }
    if (unfit !== undefined) throw unfit
  }

  return {
    /**
     * @throws {Failure} `not_found`, `environment_mismatch`; `conflict` where nothing of the trace may be explained;
     * `backend_capability_missing`; `invalid_request` where its input is needed or another one, and for a token that the
     * model does not know; `rate_limited` beyond `MAX_OPEN_JOBS`.
     */
    async create(by: Acting, body: JobBody, key?: IdempotencyKey): Promise<ShownTraceJob> {
      checkId(body.trace_id, 'trc', by.environment)
      const at = now()
      const id = newId('job', by.environment, at.getTime())
      const queueJobId = newJobId()
      note({ trace: body.trace_id, traceJob: id })
      await refuseUnfit(by, body)
      const insert = async (tx: Tx) => {
        const trace = await getExplainedTrace(tx, body.trace_id)
        checkTargetPosition(trace, body.target.position)
        if ((await countOpenJobs(tx)) >= MAX_OPEN_JOBS) throw tooManyOpen('trace_jobs', MAX_OPEN_JOBS)
        const isKept = (await findKeptText(tx, sealer, trace.id)) !== undefined
        // A text that is kept needs no input; one that came all the same must not be another.
        const input = isKept && body.input === undefined ? undefined : checkInput(trace, body.input)
        const sealedInput = isKept ? null : sealInput(sealer, id, input)
        const row = await insertTraceJob(tx, by, {
          id,
          traceId: trace.id,
          modelVersionId: trace.modelVersionId,
          method: body.method,
          request: {
            position: body.target.position,
            token: body.target.token ?? null,
            maxFeatureNodes: body.max_feature_nodes,
            maxLogits: body.max_n_logits,
            desiredLogitProbability: body.desired_logit_prob,
            nodeThreshold: body.node_threshold,
            edgeThreshold: body.edge_threshold,
          },
          sealedInput,
          queueJobId,
          createdBy: actorOf(by.principal).id,
          createdAt: at,
        })
        await enqueue(tx, 'trace', by, [{ id: queueJobId, payload: { traceJobId: id } }])
        return row
      }
      return db.tenant(by, async (tx) => shown(tx, await once(tx, key, insert, (row) => row.id)))
    },

    /** @throws {Failure} `not_found`, `environment_mismatch`. */
    get,

    /** The same, after its end or `waitSeconds` later. @param signal Aborted when the caller has gone. */
    async getEnded(scope: Scope, id: string, waitSeconds: number, signal: AbortSignal): Promise<ShownTraceJob> {
      const first = await get(scope, id)
      if (waitSeconds === 0 || !isOpen(first)) return first
      const { accountId, environment } = scope
      await waits.ended({ accountId, environment, id }, waitSeconds * 1_000, signal)
      return get(scope, id)
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async list(scope: Scope, query: JobListQuery): Promise<CountedPage<ShownTraceJob>> {
      if (query.trace_id !== undefined) checkId(query.trace_id, 'trc', scope.environment)
      const filter = { traceId: query.trace_id, statuses: query.status, ...createdBetween(query) }
      const list = { route: 'GET /v1/trace/jobs', scope, query }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => listTraceJobs(tx, scope, filter, page),
        count: (tx) => countTraceJobs(tx, scope, filter),
        show: (tx, rows) => withActors(tx, rows, ['createdBy']),
      })
    },

    /**
     * The model stops within seconds. One that was cancelled stays as it is.
     * @throws {Failure} `not_found`, `environment_mismatch`; `invalid_state_transition` when it has ended otherwise.
     */
    cancel(scope: Scope, id: string, key?: IdempotencyKey): Promise<ShownTraceJob> {
      const stop = async (tx: Tx) => {
        checkId(id, 'job', scope.environment)
        const row = await cancelTraceJob(tx, id, now())
        if (row !== undefined) {
          await cancelJobs(tx, [row.queueJobId])
          return row
        }
        const ended = await find(tx, scope, id)
        if (ended.status !== 'cancelled') throw refusedCancel(ended)
        return ended
      }
      return db.tenant(scope, async (tx) => shown(tx, await again(tx, key, stop)))
    },

    /**
     * Its bytes: those that `manifest_hash` is of, or their translation for circuit-tracer.
     * @throws {Failure} `not_found`, also where it is not kept any more; `not_ready` until the job has succeeded.
     */
    async manifest(
      scope: Scope,
      id: string,
      { compat }: { compat?: 'circuit-tracer' | undefined },
    ): Promise<{ job: TraceJobRow; bytes: Buffer }> {
      const { job, bytes } = await db.tenant(scope, async (tx) => {
        const job = await find(tx, scope, id)
        if (job.status !== 'succeeded') throw notReady(`${id} has no manifest`, job)
        return { job, bytes: await loadManifest(tx, sealer, id) }
      })
      if (bytes === undefined) {
        throw new Failure('not_found', `The manifest of ${id} was kept until ${job.manifestUntil?.toISOString()}.`)
      }
      if (compat === undefined) return { job, bytes }
      return { job, bytes: toCircuitTracerBytes(bytes) }
    },
  }
}

function findUnknownToken({ model, vocabulary }: ModelVersion, token: number): Failure | undefined {
  // 0: of a model elsewhere, it is not known.
  if (vocabulary === 0 || token < vocabulary) return undefined
  return new Failure('invalid_request', {
    detail: `The model ${model} knows ${vocabulary} tokens.`,
    errors: [{ pointer: '/target/token', code: 'out_of_range', detail: `must be at most ${vocabulary - 1}` }],
  })
}

const shown = (tx: Tx, row: TraceJobRow): Promise<ShownTraceJob> => rowWithActors(tx, row, ['createdBy'])

/** Work that has not ended. */
export function isOpen({ status }: { status: WorkStatus }): boolean {
  return status === 'queued' || status === 'running'
}

/** The refusal of a job or a diff that has succeeded or failed. */
export function refusedCancel({ id, status }: { id: string; status: WorkStatus }): Failure {
  return new Failure('invalid_state_transition', {
    detail: `${id} can not be cancelled: it is ${status}.`,
    members: { allowed: ['queued', 'running'], current_status: status },
  })
}

/** The answer where only the success of some work makes what is asked for. @param lacking A clause, such as `X has no report`. */
export function notReady(lacking: string, { status }: { status: WorkStatus }): Failure {
  return new Failure('not_ready', {
    detail: `${lacking}: it is ${status}.`,
    members: { current_status: status },
    ...(isOpen({ status }) && { headers: { 'Retry-After': RETRY_AFTER_SECONDS } }),
  })
}

/** They end by themselves, so the same request can succeed later. */
export function tooManyOpen(limit: 'trace_jobs' | 'trace_diffs', most: number): Failure {
  return new Failure('rate_limited', {
    detail: `${most} ${limit === 'trace_jobs' ? 'attribution jobs' : 'diffs'} of this account have not ended yet. Wait for one of them, or cancel it.`,
    members: { limit },
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  })
}
