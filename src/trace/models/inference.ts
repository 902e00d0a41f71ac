// One request of a model, in the model's own process. A completion that is to be withheld when a canary trips leaves this
// function only as a whole: not by its tokens, nor by internals or probabilities that they could be computed from.

import { modelError } from '../gguf/model-error.ts'
import { type GeneratedToken, generate } from '../llama/generation.ts'
import { createInternals, type WantedInternals } from '../llama/internals.ts'
import type { LoadedModel } from '../llama/model.ts'
import type { ProbeSet } from '../probes/probe-set.ts'
import { createProbeReader, type ProbeReader } from '../probes/reader.ts'
import type { ChatPrompt } from '../tokenizer/chat.ts'
import { textsOf } from './lens.ts'
import type { CanaryRequest, CanaryResult, InferenceRequest, InferenceResult, ModelInput } from './protocol.ts'

export interface InferenceOptions {
  probes: ProbeSet | undefined
  maxInternalsBytes: number
  signal: AbortSignal
  onToken(token: GeneratedToken): void
}

interface Canary {
  onTrip: CanaryRequest['onTrip']
  reader: ProbeReader
  /** Families that tripped by the thresholds that count. */
  trippedFamilies(): string[]
  result(): CanaryResult
}

// Exponents and powers are those of V8: another version may give other last bits.
const RUNTIME = `wasm-strict v8-${process.versions.v8}`

export async function runInference(
  model: LoadedModel,
  request: InferenceRequest,
  { probes, maxInternalsBytes, signal, onToken }: InferenceOptions,
): Promise<InferenceResult> {
  const { llama, tokenizer, shape } = model
  const { tokens: prompt, spans } = renderInput(model, request.input)
  const wanted = wantedBy(request)
  const positions = Math.min(prompt.length + request.maxTokens - 1, llama.maxTokens)
  const internals = wanted && createInternals(shape, Math.max(positions, 1), wanted, maxInternalsBytes)
  const canary =
    request.canary &&
    internals &&
    openCanary(request.canary, probes, { internals, shape, spans, promptTokens: prompt.length })
  const withholds = canary?.onTrip === 'withhold'
  const held: GeneratedToken[] = []
  let completionTokens = 0
  const generation = await generate(
    llama,
    tokenizer,
    { prompt, maxTokens: request.maxTokens, sampling: request.sampling },
    {
      signal,
      ...(internals && { internals }),
      onToken(token) {
        completionTokens += 1
        const isRead = canary?.reader.advance(completionTokens) === true
        if (!withholds) onToken(token)
        else if (isRead && canary.trippedFamilies().length > 0) return 'withhold'
        else held.push(token)
        return 'continue'
      },
    },
  )
  canary?.reader.finish(completionTokens)
  const common = { sha256: model.sha256, prompt, spans, completionTokens, ...(canary && { canary: canary.result() }) }
  if (withholds && canary.trippedFamilies().length > 0) {
    return { ...common, tokens: [], tokenTexts: [], logProbabilities: [], text: '', finishReason: 'withheld' }
  }
  for (const token of held) onToken(token)
  const tokenTexts = textsOf(model, generation.tokens)
  return { ...common, ...generation, tokenTexts, ...(request.internals && internals && { internals }) }
}

/** Probes read the residual stream and the attention, also where the caller asked for less. */
function wantedBy({ internals, canary }: InferenceRequest): WantedInternals | undefined {
  return canary === undefined ? internals : { ...internals, residuals: true, attention: true }
}

function openCanary(
  { onTrip, families = [] }: CanaryRequest,
  probes: ProbeSet | undefined,
  completion: Parameters<typeof createProbeReader>[1],
): Canary {
  if (probes === undefined) throw modelError('probes_missing', 'The model has no canary probes.')
  // What the probes compare are the parts of a conversation.
  if (completion.spans.length === 0) throw modelError('request_invalid', 'Readings need a conversation, not a text.')
  const reader = createProbeReader(probes, completion)
  const settings = new Map(families.map((one) => [one.family, one]))
  const trippedFamilies = () =>
    reader.readings().flatMap(({ family, score, threshold }) => {
      const setting = settings.get(family)
      const isTripped = setting?.enabled !== false && score >= (setting?.threshold ?? threshold)
      return isTripped ? [family] : []
    })
  return {
    onTrip,
    reader,
    trippedFamilies,
    result: () => ({
      set: probes.set,
      readings: reader.readings(),
      windows: reader.windows(),
      trippedFamilies: trippedFamilies(),
      runtime: RUNTIME,
    }),
  }
}

/** @throws {ModelError} `capability_missing` for a conversation where the model has no chat template. */
export function renderInput(
  { tokenizer, chat }: Pick<LoadedModel, 'tokenizer' | 'chat'>,
  input: ModelInput,
): ChatPrompt {
  if ('tokens' in input) return { tokens: [...input.tokens], spans: [] }
  if ('text' in input) return { tokens: tokenizer.encode(input.text, { begins: true }), spans: [] }
  if (chat === undefined) {
    throw modelError('capability_missing', 'The model has no chat template of the form ChatML; give it a text instead.')
  }
  return chat.render(input.messages)
}
