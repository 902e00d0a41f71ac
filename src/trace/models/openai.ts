// The backend of models behind a server that speaks the OpenAI API (chat completions and completions): OpenAI's own, vLLM,
// llama.cpp and others. It completes texts and says how likely its tokens were. Its activations are not visible, so there are no
// canary readings, and conditions that need them refuse.

import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { TraceBackend } from './backend.ts'
import { type Capabilities, capabilityMissing } from './capabilities.ts'
import type { RemoteModel } from './config.ts'
import { OPERATIONS } from './operations.ts'
import type { InferenceEnd, InferenceRequest, InferenceResult, ToolCall } from './protocol.ts'
import { createRemoteCalls, type RemoteDeps, remoteCount, remoteVersion } from './remote.ts'

const CAPABILITIES: Capabilities = {
  generate: true,
  activations: false,
  attribution: 'none',
  canary: 'none',
  intervene: false,
  // Servers batch requests, and sums in another order have other last bits.
  deterministic: false,
}

// 256 tokens with their probabilities have some 50 kB.
const MAX_ANSWER_BYTES = 1_000_000

const usage = z.object({ prompt_tokens: remoteCount, completion_tokens: remoteCount })
const reason = z.string().nullish()

const text = z.string().nullish()
const logProbabilities = z.array(z.object({ logprob: z.number() })).nullish()
const functionCall = z.object({ name: z.string(), arguments: text })

const message = z.object({
  content: text,
  refusal: text,
  tool_calls: z
    .array(
      z.union([
        z.object({ function: functionCall }),
        z.object({ custom: z.object({ name: z.string(), input: text }) }),
      ]),
    )
    .nullish(),
  // What servers answered before there were several calls.
  function_call: functionCall.nullish(),
})

const chatAnswer = z.object({
  choices: z
    .array(
      z.object({
        message,
        finish_reason: reason,
        logprobs: z.object({ content: logProbabilities, refusal: logProbabilities }).nullish(),
      }),
    )
    .min(1),
  usage,
})

const textAnswer = z.object({
  choices: z
    .array(
      z.object({
        text: z.string(),
        finish_reason: reason,
        logprobs: z.object({ token_logprobs: z.array(z.number().nullable()).nullish() }).nullish(),
      }),
    )
    .min(1),
  usage,
})

interface Completion {
  text: string
  toolCalls: ToolCall[]
  finishReason: InferenceEnd
  logProbabilities: number[]
  usage: z.output<typeof usage>
}

export function createOpenAiBackend(id: string, remote: RemoteModel, deps: RemoteDeps): TraceBackend {
  const calls = createRemoteCalls(id, deps)
  const version = remoteVersion(id, remote, true)
  const authorization: Record<string, string> = deps.key === undefined ? {} : { authorization: `Bearer ${deps.key}` }

  async function complete(
    { input, maxTokens, sampling }: InferenceRequest,
    options: Parameters<TraceBackend['generate']>[1],
  ): Promise<Completion> {
    const common = {
      model: remote.model,
      max_tokens: maxTokens,
      temperature: sampling.temperature,
      top_p: sampling.topP,
      seed: sampling.seed,
      // Not in OpenAI's own API: a server that does not know it refuses.
      ...(sampling.topK > 0 && { top_k: sampling.topK }),
    }
    const call = (path: string, body: Record<string, Json>) => ({
      url: `${remote.address}/${path}`,
      body: { ...common, ...body },
      maxBytes: MAX_ANSWER_BYTES,
    })
    const settings = { ...options, authorization }
    if ('messages' in input) {
      const messages = input.messages.map(({ role, content }) => ({ role, content }))
      const body = call('chat/completions', { messages, logprobs: true })
      const { choices, usage } = await calls.call(chatAnswer, body, settings)
      const [choice] = choices
      const { content, refusal } = choice?.logprobs ?? {}
      const logProbabilities = (content ?? refusal ?? []).map(({ logprob }) => logprob)
      return { ...completionOf(choice?.message ?? {}, choice?.finish_reason), logProbabilities, usage }
    }
    if ('text' in input) {
      const body = call('completions', { prompt: input.text, logprobs: 1 })
      const { choices, usage } = await calls.call(textAnswer, body, settings)
      const [choice] = choices
      const logProbabilities = choice?.logprobs?.token_logprobs?.map((one) => one ?? 0) ?? []
      return { ...completionOf({ content: choice?.text }, choice?.finish_reason), logProbabilities, usage }
    }
    throw new Failure('invalid_request', `The model ${id} takes texts and conversations, and not tokens.`)
  }

  return {
    name: 'openai_compatible',
    model: id,
    capabilities: async () => CAPABILITIES,
    modelVersion: async () => version,
    probeSet: async () => undefined,
    async generate(request, options = {}): Promise<InferenceResult> {
      if (request.internals !== undefined) throw capabilityMissing(id, 'activations')
      if (request.canary !== undefined) throw capabilityMissing(id, 'canary')
      const { text, toolCalls, finishReason, logProbabilities, usage } = await complete(request, options)
      return {
        sha256: version.sha256,
        // Their numbers are known, and their names only to the server.
        prompt: [],
        promptTokens: usage.prompt_tokens,
        completionTokens: usage.completion_tokens,
        spans: [],
        tokens: [],
        tokenTexts: [],
        logProbabilities: logProbabilities.slice(0, request.maxTokens),
        text,
        ...(toolCalls.length > 0 && { toolCalls }),
        finishReason,
      }
    },
    call: async (operation) => {
      throw capabilityMissing(
        id,
        OPERATIONS[operation].needs === 'generate' ? 'activations' : OPERATIONS[operation].needs,
      )
    },
  }
}

/** A refusal is what the model said; with a content before it, it is the line behind that. */
function completionOf(
  { content, refusal, tool_calls: calls, function_call: call }: z.output<typeof message>,
  said: string | null | undefined,
): Pick<Completion, 'text' | 'toolCalls' | 'finishReason'> {
  const made = [...(calls ?? []), ...(call ? [{ function: call }] : [])]
  const toolCalls = made.map((one) =>
    'function' in one
      ? { name: one.function.name, arguments: one.function.arguments ?? '' }
      : { name: one.custom.name, arguments: one.custom.input ?? '' },
  )
  const words = [content, refusal].filter((one) => one !== undefined && one !== null && one !== '')
  const finishReason = endOf(said, { hasRefused: Boolean(refusal), hasCalled: toolCalls.length > 0 })
  return { text: words.join('\n'), toolCalls, finishReason }
}

/** Some servers say `stop` of a call and of a refusal. */
function endOf(
  said: string | null | undefined,
  { hasRefused, hasCalled }: { hasRefused: boolean; hasCalled: boolean },
): InferenceEnd {
  if (said === 'content_filter') return 'content_filter'
  if (hasRefused || said === 'refusal') return 'refusal'
  if (said === 'length') return 'length'
  return hasCalled || said === 'tool_calls' || said === 'function_call' ? 'tool_calls' : 'stop'
}
