// The work of the queue trace: a model makes the graph, and manifest, event and count are written in the transaction that
// ends the job. The model runs outside of any transaction. A job that is killed at any step runs again from its beginning:
// the same text and model give the same graph, and one of the runs ends the job.

import { countOperations } from '#src/account/usage/meter.ts'
import { emit } from '#src/account/webhooks/emit.ts'
import { Failure } from '#src/failure.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { JobOutcome, RunningJob, Work } from '#src/platform/jobs/consume.ts'
import { failpoint } from '#src/platform/jobs/failpoint.ts'
import { DAY_MS } from '#src/platform/retention.ts'
import type { AttributionGraph, AttributionMethod, AttributionRequest } from '../attribution/attribute.ts'
import { createFindLabels } from '../attribution/labels.ts'
import { buildManifest } from '../attribution/manifest.ts'
import { isModelError } from '../gguf/model-error.ts'
import { findMissingMethod } from '../models/capabilities.ts'
import type { Models } from '../models/models.ts'
import type { ModelInput } from '../models/protocol.ts'
import { summaryOf, type TraceJobFailure, type TraceJobRequest } from './job.ts'
import { MANIFEST_DAYS, openInput, type SealedManifest, sealManifest } from './manifests.ts'
import {
  failTraceJob,
  findTraceJob,
  finishTraceJob,
  insertManifest,
  requeueTraceJob,
  startTraceJob,
  type TraceJobRow,
  updateProgress,
} from './rows.ts'
import { type ExplainedTrace, findKeptText, getExplainedTrace, repeatText, type TracedText } from './texts.ts'

/** Version of the manifest's members; the schema has a version of its own. */
const GENERATOR_VERSION = '1.1.0'
const PROGRESS_MS = 1_000
// The model is busy with others: no fault of this job.
const BUSY_MS = 5_000
const LABELS = new URL('../models/', import.meta.url)

export interface TraceWorkDeps extends Pick<Platform, 'db' | 'sealer' | 'now' | 'baseUrl'> {
  models: Pick<Models, 'get' | 'version'>
  progressMs?: number
}

interface Started {
  row: TraceJobRow
  trace: ExplainedTrace
  kept: TracedText | undefined
  input: ModelInput | undefined
}

interface Made {
  graph: AttributionGraph
  manifest: SealedManifest
}

/** A failure that ends a job, and that another attempt would meet again. */
const ENDING = ['backend_capability_missing', 'invalid_request'] as const

export function createTraceWork({
  db,
  sealer,
  now,
  baseUrl,
  models,
  progressMs = PROGRESS_MS,
}: TraceWorkDeps): Work<'trace'> {
  const findLabels = createFindLabels(LABELS)

  async function run({ traceJobId }: { traceJobId: string }, job: RunningJob): Promise<JobOutcome> {
    const started = await start(job.scope, traceJobId)
    if (started === undefined) return { kind: 'done' }
    failpoint('trace:started')
    if ('code' in started) return end(job, (tx) => fail(tx, job.scope, traceJobId, started))
    const watch = watchJob(job, traceJobId)
    let made: Made | TraceJobFailure
    try {
      made = await make(job.scope, started, watch)
    } catch (error) {
      if (watch.isEnded()) return { kind: 'done' }
      // The worker stops, and another begins anew: that is no fault of the job, and costs it no attempt.
      if (job.signal.aborted) return { kind: 'defer', reason: 'its worker stopped', delayMs: 0 }
      const failure = failureOf(error)
      if (failure === undefined) return outcomeOf(error)
      made = failure
    } finally {
      watch.close()
    }
    failpoint('trace:made')
    const outcome = await end(job, (tx) =>
      'code' in made ? fail(tx, job.scope, traceJobId, made) : succeed(tx, job.scope, traceJobId, made),
    )
    failpoint('trace:ended')
    return outcome
  }

  function start(scope: Scope, id: string): Promise<Started | TraceJobFailure | undefined> {
    return db.tenant(scope, async (tx) => {
      const row = await startTraceJob(tx, id, now())
      if (row === undefined) return undefined
      const { sealedInput } = row
      const trace = await getExplainedTrace(tx, row.traceId)
      const kept = await findKeptText(tx, sealer, row.traceId)
      const input = sealedInput === null ? undefined : (openInput(sealer, id, sealedInput) as ModelInput)
      if (kept === undefined && input === undefined) {
        return { code: 'text_not_kept', detail: `The texts of ${row.traceId} are not kept any more.` }
      }
      return { row, trace, kept, input }
    })
  }

  async function make(
    scope: Scope,
    { row, trace, kept, input }: Started,
    watch: Watch,
  ): Promise<Made | TraceJobFailure> {
    const backend = await models.version(row.modelVersionId)
    const missing = findMissingMethod(backend.model, await backend.capabilities(), row.method)
    if (missing !== undefined) throw missing
    const options = { signal: watch.signal, lane: scope.accountId }
    const text = kept ?? (input && (await repeatText(backend, trace, input, options)))
    if (text === undefined) {
      return {
        code: 'trace_not_reproducible',
        detail: `The model completes the input of ${trace.id} in another way than it did.`,
      }
    }
    const request = requestOf(row.method, row.request, text)
    const graph = await backend.call('attribute', request, {
      ...options,
      onProgress: ({ done, total }) => watch.report(done / total),
    })
    failpoint('trace:computed')
    // The file may have been replaced while the job waited for its turn.
    const { id: versionId, sha256 } = await backend.modelVersion()
    if (versionId !== row.modelVersionId) {
      return { code: 'model_version_not_found', detail: `The model has the version ${versionId} now.` }
    }
    const manifest = buildManifest(graph, {
      jobId: row.id,
      traceId: row.traceId,
      createdAt: row.createdAt,
      settings: request,
      model: { versionId: row.modelVersionId, sha256, backend: backend.name },
      canary: trace.canarySet === null ? null : { set: trace.canarySet, hash: trace.digest },
      generator: { version: GENERATOR_VERSION, url: baseUrl },
      findLabel: findLabels(sha256).find,
    })
    return { graph, manifest: sealManifest(sealer, row.id, manifest) }
  }

  async function end(job: RunningJob, write: (tx: Tx) => Promise<void>): Promise<JobOutcome> {
    await db.tenant(job.scope, async (tx) => {
      await write(tx)
      await job.settle(tx)
      failpoint('trace:settling')
    })
    return { kind: 'settled' }
  }

  async function succeed(tx: Tx, scope: Scope, id: string, { graph, manifest }: Made): Promise<void> {
    const at = now()
    const row = await finishTraceJob(tx, id, {
      summary: summaryOf(graph),
      manifestHash: manifest.hash,
      manifestBytes: manifest.bytes,
      manifestUntil: new Date(at.getTime() + MANIFEST_DAYS * DAY_MS),
      at,
    })
    // Cancelled meanwhile.
    if (row === undefined) return
    await insertManifest(tx, scope, { id, sealed: manifest.sealed, at })
    await countOperations(tx, scope, 'trace_job', [id])
    await announce(tx, scope, row, backendOf(row))
  }

  async function fail(tx: Tx, scope: Scope, id: string, failure: TraceJobFailure): Promise<void> {
    const row = await failTraceJob(tx, id, failure, now())
    if (row !== undefined) await announce(tx, scope, row, backendOf(row))
  }

  /** null: the model is gone. */
  function backendOf({ modelVersionId }: TraceJobRow): string | null {
    try {
      return models.get(modelVersionId.split('@')[0]).name
    } catch {
      return null
    }
  }

  /** @throws {Failure} `text_not_kept`: an input that came with the request was erased when it ended. */
  async function redrive(tx: Tx, id: string): Promise<void> {
    const row = await findTraceJob(tx, id)
    if (row !== undefined && (await findKeptText(tx, sealer, row.traceId)) === undefined) {
      throw new Failure(
        'text_not_kept',
        `The texts of ${id} are not kept any more. Its account has to request another.`,
      )
    }
    await requeueTraceJob(tx, id)
  }

  /** Reports progress, and ends the model's work when the job was cancelled or is no longer this worker's. */
  function watchJob({ scope, signal }: RunningJob, id: string) {
    const controller = new AbortController()
    let progress = 0
    let isEnded = false
    let isWriting = false
    const onAbort = () => controller.abort()
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    const write = async () => {
      if (isWriting) return
      isWriting = true
      try {
        if (await db.tenant(scope, (tx) => updateProgress(tx, id, progress))) return
        isEnded = true
        controller.abort()
      } catch {
        // The next report may pass; the end of the job does not depend on any.
      } finally {
        isWriting = false
      }
    }
    const timer = setInterval(() => void write(), progressMs)
    return {
      signal: controller.signal,
      isEnded: () => isEnded,
      report(done: number) {
        progress = Math.min(1, Math.max(progress, done))
      },
      close() {
        clearInterval(timer)
        signal.removeEventListener('abort', onAbort)
      },
    }
  }
  type Watch = ReturnType<typeof watchJob>

  return {
    run,
    onDead: (tx, scope, { traceJobId }) =>
      fail(tx, scope, traceJobId, { code: 'internal_error', detail: 'The job failed repeatedly. Request another.' }),
    onRedrive: (tx, _scope, { traceJobId }) => redrive(tx, traceJobId),
    endsAtOnce: true,
  }
}

async function announce(tx: Tx, scope: Scope, row: TraceJobRow, backend: string | null): Promise<void> {
  const status = row.status === 'succeeded' ? 'succeeded' : 'failed'
  await emit(tx, scope, {
    type: 'trace.job_completed',
    // A failed job may be tried again, and fail again.
    dedupKey: `trace.job_completed:${row.id}:${status === 'succeeded' ? status : row.finishedAt?.toISOString()}`,
    data: {
      job_id: row.id,
      trace_id: row.traceId,
      status,
      method: row.method,
      model_version_id: row.modelVersionId,
      backend,
      manifest_hash: row.manifestHash,
      failure_code: row.failureCode,
    },
  })
}

export function requestOf(
  method: AttributionMethod,
  request: TraceJobRequest,
  { tokens, promptTokens }: TracedText,
): AttributionRequest {
  const end = promptTokens + request.position
  const target = request.token ?? tokens[end]
  return {
    tokens: tokens.slice(0, end),
    ...(target !== undefined && { target }),
    method,
    maxFeatureNodes: request.maxFeatureNodes,
    maxLogits: request.maxLogits,
    desiredLogitProbability: request.desiredLogitProbability,
    thresholds: { node: request.nodeThreshold, edge: request.edgeThreshold },
  }
}

function failureOf(error: unknown): TraceJobFailure | undefined {
  if (!(error instanceof Failure)) return undefined
  const cause = isModelError(error.cause) ? error.cause.code : undefined
  if (cause === 'attribution_inexact' || cause === 'timeout') return { code: cause, detail: error.message }
  if (error.code === 'not_found') return { code: 'model_version_not_found', detail: error.message }
  const code = ENDING.find((one) => one === error.code)
  return code && { code, detail: error.message }
}

function outcomeOf(error: unknown): JobOutcome {
  const cause = error instanceof Failure && isModelError(error.cause) ? error.cause.code : undefined
  if (cause === 'queue_full' || cause === 'closed') {
    return { kind: 'defer', reason: 'the model is busy', delayMs: BUSY_MS }
  }
  if (error instanceof Failure && error.code === 'service_unavailable') {
    return { kind: 'retry', error: cause ?? error.code }
  }
  throw error
}
