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
import type { InferenceRequest, InferenceResult } from './protocol.ts'
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

const chatAnswer = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullish() }),
        finish_reason: reason,
        logprobs: z.object({ content: z.array(z.object({ logprob: z.number() })).nullish() }).nullish(),
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
  reason: string | null | undefined
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
      const logProbabilities = choice?.logprobs?.content?.map(({ logprob }) => logprob) ?? []
      return { text: choice?.message.content ?? '', reason: choice?.finish_reason, logProbabilities, usage }
    }
    if ('text' in input) {
      const body = call('completions', { prompt: input.text, logprobs: 1 })
      const { choices, usage } = await calls.call(textAnswer, body, settings)
      const [choice] = choices
      const logProbabilities = choice?.logprobs?.token_logprobs?.map((one) => one ?? 0) ?? []
      return { text: choice?.text ?? '', reason: choice?.finish_reason, logProbabilities, usage }
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
      const { text, reason, logProbabilities, usage } = await complete(request, options)
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
        finishReason: reason === 'length' ? 'length' : 'stop',
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
