// The process of one model. It answers one request at a time, and keeps nothing of it for the next. It knows nothing of
// the service: it has no environment and no connection, and reads only the model's file and that of its probes.

import { writeFileSync } from 'node:fs'
import { lowerProcessPriority } from '#src/platform/priority.ts'
import { isModelError } from '../gguf/model-error.ts'
import { hashModel, type LoadedModel, loadModel } from '../llama/model.ts'
import { loadProbeSet, type ProbeSet } from '../probes/probe-set.ts'
import { runInference } from './inference.ts'
import type { FromModel, InferenceRequest, ModelProcessArguments, ToModel } from './protocol.ts'

const MEMORY_CHECK_MS = 100

const aborts = new Map<number, AbortController>()

if (process.send !== undefined) start(JSON.parse(process.argv[2] ?? '{}'))

function start(settings: ModelProcessArguments): void {
  preferEnding()
  lowerProcessPriority()
  // A terminal sends these signals to the whole process group; the parent ends this process when its work is done.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
  // The parent is gone.
  process.on('disconnect', endNow)
  let model: LoadedModel
  let probes: ProbeSet | undefined
  try {
    model = loadModel(settings.path, { contextTokens: settings.contextTokens, maxBytes: settings.maxModelBytes })
    if (settings.probesPath !== null) {
      probes = loadProbeSet(settings.probesPath, { sha256: hashModel(settings.path), shape: model.shape })
    }
  } catch (error) {
    tell({ op: 'unusable', ...refusalOf(error) }, endNow)
    return
  }
  process.on('message', (message: ToModel) => {
    if (message.op === 'abort') aborts.get(message.id)?.abort()
    else void answer(model, probes, settings, message.id, message.request)
  })
  setInterval(() => checkMemory(settings.maxResidentBytes), MEMORY_CHECK_MS).unref()
  tell({ op: 'ready', shape: model.shape, maxTokens: model.llama.maxTokens })
}

async function answer(
  model: LoadedModel,
  probes: ProbeSet | undefined,
  { maxInternalsBytes }: ModelProcessArguments,
  id: number,
  request: InferenceRequest,
): Promise<void> {
  const abort = new AbortController()
  aborts.set(id, abort)
  try {
    const result = await runInference(model, request, {
      probes,
      maxInternalsBytes,
      signal: abort.signal,
      onToken: (token) => tell({ op: 'token', id, token }),
    })
    tell({ op: 'done', id, result })
  } catch (error) {
    tell({ op: 'refused', id, ...refusalOf(error) })
  } finally {
    aborts.delete(id)
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
