// The process of one model. It answers one request at a time, and keeps nothing of it for the next. It knows nothing of
// the service: it has no environment and no connection, and reads only the model's file and that of its probes.

import { writeFileSync } from 'node:fs'
import { serialize } from 'node:v8'
import { lowerProcessPriority } from '#src/platform/priority.ts'
import { accelerate } from '../accelerator/accelerator.ts'
import { isModelError, modelError } from '../gguf/model-error.ts'
import { inspectModel, type LoadedModel, loadModel } from '../llama/model.ts'
import type { LlamaShape } from '../llama/shape.ts'
import { loadProbeSet, type ProbeSet } from '../probes/probe-set.ts'
import { runInference } from './inference.ts'
import { findOperation, MAX_RESULT_BYTES } from './operations.ts'
import type {
  FromModel,
  ModelProcessArguments,
  ModelReport,
  OperationProgress,
  ProbeSetFacts,
  ToModel,
} from './protocol.ts'

const MEMORY_CHECK_MS = 100
const PROGRESS_MS = 100

const aborts = new Map<number, AbortController>()

if (process.send !== undefined) void start(JSON.parse(process.argv[2] ?? '{}'))

async function start(settings: ModelProcessArguments): Promise<void> {
  preferEnding()
  lowerProcessPriority()
  // A terminal sends these signals to the whole process group; the parent ends this process when its work is done.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  // The parent is gone.
  process.on('disconnect', endNow)
  setInterval(() => checkMemory(settings.maxResidentBytes), MEMORY_CHECK_MS).unref()
  try {
    if (settings.isInspection) {
      tell({ op: 'ready', ...inspect(settings) })
      return
    }
    const loaded = loadModel(settings.path, { contextTokens: settings.contextTokens, maxBytes: settings.maxModelBytes })
    const probes = findProbes(settings, loaded)
    const accelerated = settings.isAccelerated && (await accelerate(loaded, { maxBytes: settings.maxModelBytes }))
    const { model, acceleration } = accelerated || { model: loaded }
    process.on('message', (message: ToModel) => {
      if (message.op === 'abort') aborts.get(message.id)?.abort()
      else void answer({ model, probes, settings }, message)
    })
    const { name, shape, sha256, chat, llama } = model
    const report = reportOf({ name, shape, sha256, hasChat: chat !== undefined, probes }, llama.maxTokens)
    tell({ op: 'ready', ...report, ...(acceleration && { acceleration }) })
  } catch (error) {
    tell({ op: 'unusable', ...refusalOf(error) }, endNow)
  }
}

interface Loaded {
  model: LoadedModel
  probes: ProbeSet | undefined
  settings: ModelProcessArguments
}

/** As the loaded model would report itself. */
function inspect(settings: ModelProcessArguments): ModelReport {
  const facts = inspectModel(settings.path)
  const probes = findProbes(settings, facts)
  return reportOf({ ...facts, probes }, Math.min(settings.contextTokens, facts.shape.context))
}

function findProbes({ probesPath }: ModelProcessArguments, model: { sha256: string; shape: LlamaShape }) {
  return probesPath === null ? undefined : loadProbeSet(probesPath, model)
}

function reportOf(
  { probes, ...model }: Pick<ModelReport, 'name' | 'shape' | 'sha256' | 'hasChat'> & { probes: ProbeSet | undefined },
  maxTokens: number,
): ModelReport {
  const { name, shape, sha256, hasChat } = model
  return { name, shape, sha256, hasChat, maxTokens, architecture: 'llama', probes: probes ? factsOf(probes) : null }
}

function factsOf({ set, version, probes }: ProbeSet): ProbeSetFacts {
  return {
    set,
    version,
    families: probes.map(({ family, kind, layer, threshold, card: { status, held_out, known_failures } }) => {
      const { auc, trip_rate: tripRate, false_positive_rate: falsePositiveRate } = held_out
      const heldOut = { auc, tripRate, falsePositiveRate }
      return { family, kind, layer, threshold, status, heldOut, knownFailures: known_failures }
    }),
  }
}

async function answer(loaded: Loaded, message: Exclude<ToModel, { op: 'abort' }>): Promise<void> {
  const { id } = message
  const abort = new AbortController()
  aborts.set(id, abort)
  try {
    tell(await resultOf(loaded, message, abort.signal))
  } catch (error) {
    tell({ op: 'refused', id, ...refusalOf(error) })
  } finally {
    aborts.delete(id)
  }
}

async function resultOf(
  { model, probes, settings: { maxInternalsBytes } }: Loaded,
  message: Exclude<ToModel, { op: 'abort' }>,
  signal: AbortSignal,
): Promise<FromModel> {
  const { op, id, request } = message
  if (op === 'infer') {
    const onToken: Parameters<typeof runInference>[2]['onToken'] = (token) => tell({ op: 'token', id, token })
    return {
      op: 'done',
      id,
      result: await runInference(model, request, { probes, maxInternalsBytes, signal, onToken }),
    }
  }
  const operation = findOperation(message.name)
  if (operation === undefined) throw modelError('request_invalid', `There is no operation ${message.name}.`)
  const onProgress = seldom((progress) => tell({ op: 'progress', id, progress }))
  const result = serialize(await operation.run(model, request, { probes, maxInternalsBytes, signal, onProgress }))
  if (result.length > MAX_RESULT_BYTES) {
    throw modelError('request_invalid', `The result has more than ${MAX_RESULT_BYTES / 1e6} MB.`)
  }
  return { op: 'operated', id, result }
}

/** A report for each neuron would cost more than the work. */
function seldom(report: (progress: OperationProgress) => void): (progress: OperationProgress) => void {
  let last = Number.NEGATIVE_INFINITY
  return (progress) => {
    const at = performance.now()
    if (at - last < PROGRESS_MS && progress.done < progress.total) return
    last = at
    report(progress)
  }
}

function checkMemory(maxResidentBytes: number): void {
  const residentBytes = process.memoryUsage.rss()
  if (residentBytes > maxResidentBytes) tell({ op: 'spent', residentBytes }, endNow)
}

function refusalOf(error: unknown) {
  if (isModelError(error)) return { code: error.code, detail: error.message }
  // An error of this program: its parent logs the sentence, and no caller sees it.
  return {
    code: 'process_ended' as const,
    detail: error instanceof Error ? (error.stack ?? error.message) : String(error),
  }
}

function tell(message: FromModel, then: () => void = () => {}): void {
  process.send?.(message, then)
}

function endNow(): void {
  process.kill(process.pid, 'SIGKILL')
}

// When memory runs out, the kernel should end this process before its parent. Linux only.
function preferEnding(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000')
  } catch {
    // A preference: the limits above hold without it.
  }
}
