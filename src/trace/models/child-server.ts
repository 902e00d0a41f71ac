// What the process of a model does whatever the model is: it tells its parent what it has loaded, answers one request at a
// time and keeps nothing of it for the next, and ends itself above its memory. It knows nothing of the service: it has no
// environment and no connection, and reads only the files of its model.

import { writeFileSync } from 'node:fs'
import { serialize } from 'node:v8'
import { lowerProcessPriority } from '#src/platform/priority.ts'
import type { Acceleration } from '../accelerator/accelerator.ts'
import { isModelError, modelError } from '../gguf/model-error.ts'
import type { GeneratedToken } from '../llama/generation.ts'
import { MAX_RESULT_BYTES } from './operations.ts'
import type {
  FromModel,
  InferenceRequest,
  InferenceResult,
  ModelProcessArguments,
  ModelReport,
  OperationProgress,
  ToModel,
} from './protocol.ts'

/** A model that is loaded, as its process asks it. */
export interface ServedModel {
  report: ModelReport
  /** Result for a model that was to be accelerated. */
  acceleration?: Acceleration | undefined
  infer(
    request: InferenceRequest,
    options: { signal: AbortSignal; onToken: (token: GeneratedToken) => void },
  ): Promise<InferenceResult>
  /** @throws {ModelError} `request_invalid` where there is no operation of this name. */
  operate(
    name: string,
    request: unknown,
    options: { signal: AbortSignal; onProgress: (progress: OperationProgress) => void },
  ): Promise<unknown>
}

export interface ModelLoader {
  /** Reports what the loaded model would, without its weights. */
  inspect(settings: ModelProcessArguments): ModelReport
  load(settings: ModelProcessArguments): ServedModel | Promise<ServedModel>
}

const MEMORY_CHECK_MS = 100
const PROGRESS_MS = 100

const aborts = new Map<number, AbortController>()

/** Does nothing where this is no process of a model. */
export async function serveModel(loader: ModelLoader): Promise<void> {
  if (process.send === undefined) return
  const settings = JSON.parse(process.argv[2] ?? '{}') as ModelProcessArguments
  preferEnding()
  lowerProcessPriority()
  // A terminal sends these signals to the whole process group; the parent ends this process when its work is done.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  // The parent is gone.
  process.on('disconnect', endNow)
  setInterval(() => checkMemory(settings.maxResidentBytes), MEMORY_CHECK_MS).unref()
  try {
    if (settings.isInspection) {
      tell({ op: 'ready', ...loader.inspect(settings) })
      return
    }
    const model = await loader.load(settings)
    const { report, acceleration } = model
    process.on('message', (message: ToModel) => {
      if (message.op === 'abort') aborts.get(message.id)?.abort()
      else void answer(model, message)
    })
    tell({ op: 'ready', ...report, ...(acceleration && { acceleration }) })
  } catch (error) {
    tell({ op: 'unusable', ...refusalOf(error) }, endNow)
  }
}

async function answer(model: ServedModel, message: Exclude<ToModel, { op: 'abort' }>): Promise<void> {
  const { id } = message
  const abort = new AbortController()
  aborts.set(id, abort)
  try {
    tell(await resultOf(model, message, abort.signal))
  } catch (error) {
    tell({ op: 'refused', id, ...refusalOf(error) })
  } finally {
    aborts.delete(id)
  }
}

async function resultOf(
  model: ServedModel,
  message: Exclude<ToModel, { op: 'abort' }>,
  signal: AbortSignal,
): Promise<FromModel> {
  const { op, id, request } = message
  if (op === 'infer') {
    const onToken = (token: GeneratedToken) => tell({ op: 'token', id, token })
    return { op: 'done', id, result: await model.infer(request, { signal, onToken }) }
  }
  const onProgress = seldom((progress) => tell({ op: 'progress', id, progress }))
  const result = serialize(await model.operate(message.name, request, { signal, onProgress }))
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
