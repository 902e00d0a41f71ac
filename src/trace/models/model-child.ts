// The process of one model. It answers one request at a time, and keeps nothing of it for the next. It knows nothing of
// the service: it has no environment and no connection, and reads only the model's file.

import { writeFileSync } from 'node:fs'
import { lowerProcessPriority } from '#src/platform/priority.ts'
import { isModelError, modelError } from '../gguf/model-error.ts'
import { generate } from '../llama/generation.ts'
import { createInternals } from '../llama/internals.ts'
import { type LoadedModel, loadModel } from '../llama/model.ts'
import type { ChatPrompt } from '../tokenizer/chat.ts'
import type {
  FromModel,
  InferenceRequest,
  InferenceResult,
  ModelInput,
  ModelProcessArguments,
  ToModel,
} from './protocol.ts'

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
  try {
    model = loadModel(settings.path, { contextTokens: settings.contextTokens, maxBytes: settings.maxModelBytes })
  } catch (error) {
    tell({ op: 'unusable', ...refusalOf(error) }, endNow)
    return
  }
  process.on('message', (message: ToModel) => {
    if (message.op === 'abort') aborts.get(message.id)?.abort()
    else void answer(model, settings, message.id, message.request)
  })
  setInterval(() => checkMemory(settings.maxResidentBytes), MEMORY_CHECK_MS).unref()
  tell({ op: 'ready', shape: model.shape, maxTokens: model.llama.maxTokens })
}

async function answer(
  model: LoadedModel,
  settings: ModelProcessArguments,
  id: number,
  request: InferenceRequest,
): Promise<void> {
  const abort = new AbortController()
  aborts.set(id, abort)
  try {
    const result = await infer(model, settings, request, abort.signal, (token) => tell({ op: 'token', id, token }))
    tell({ op: 'done', id, result })
  } catch (error) {
    tell({ op: 'refused', id, ...refusalOf(error) })
  } finally {
    aborts.delete(id)
  }
}

async function infer(
  model: LoadedModel,
  { maxInternalsBytes }: ModelProcessArguments,
  { input, maxTokens, sampling, internals: wanted }: InferenceRequest,
  signal: AbortSignal,
  onToken: (token: Extract<FromModel, { op: 'token' }>['token']) => void,
): Promise<InferenceResult> {
  const { llama, tokenizer, shape } = model
  const { tokens: prompt, spans } = renderInput(model, input)
  const positions = Math.min(prompt.length + maxTokens - 1, llama.maxTokens)
  const internals = wanted && createInternals(shape, Math.max(positions, 1), wanted, maxInternalsBytes)
  const generation = await generate(
    llama,
    tokenizer,
    { prompt, maxTokens, sampling },
    {
      signal,
      ...(internals && { internals }),
      onToken: (token) => {
        onToken(token)
        return 'continue'
      },
    },
  )
  return { prompt, spans, ...generation, ...(internals && { internals }) }
}

function renderInput({ tokenizer, chat }: LoadedModel, input: ModelInput): ChatPrompt {
  if ('tokens' in input) return { tokens: [...input.tokens], spans: [] }
  if ('text' in input) return { tokens: tokenizer.encode(input.text, { begins: true }), spans: [] }
  if (chat === undefined) {
    throw modelError('model_unsupported', 'The model has no chat template of the form ChatML; give it a text instead.')
  }
  return chat.render(input.messages)
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
