// What a diff measures of one prompt in one model: its own completion and the readings of that, and its next-token
// distributions and neurons over a completion that both models read.

import { createHash } from 'node:crypto'
import { modelError } from '../gguf/model-error.ts'
import { CHUNK_TOKENS } from '../llama/forward.ts'
import { createInternals, type Internals } from '../llama/internals.ts'
import type { LoadedModel } from '../llama/model.ts'
import { GREEDY } from '../llama/sampling.ts'
import type { ProbeReading } from '../probes/reader.ts'
import { runInference } from './inference.ts'
import type { OperationContext } from './operations.ts'
import type { ModelInput } from './protocol.ts'

export interface EvaluationRequest {
  /** A conversation: readings need one. */
  input: ModelInput
  maxTokens: number
  /** The prompt and completion to read, as another model made them; without it, those of this model. */
  reference?: { prompt: readonly number[]; tokens: readonly number[] }
  /** The most next-token distributions: the first ones. 0 for none. */
  maxDistributions: number
}

export interface PromptEvaluation {
  prompt: number[]
  /** Greedy, and so the same each time. */
  tokens: number[]
  readings: ProbeReading[]
  /** Runtime that computed the evaluation. */
  runtime: string
  /** layers x neurons: the mean activation over the positions that the reference's tokens come from. */
  neurons: Float32Array
  /** A row of the vocabulary for each of these positions: natural logarithms of probabilities. */
  distributions: Float32Array
}

export async function evaluatePrompt(
  model: LoadedModel,
  { input, maxTokens, reference, maxDistributions }: EvaluationRequest,
  context: Pick<OperationContext, 'probes' | 'maxInternalsBytes' | 'signal'>,
): Promise<PromptEvaluation> {
  const { canary, prompt, tokens } = await runInference(
    model,
    { input, maxTokens, sampling: GREEDY, canary: { onTrip: 'continue' } },
    { ...context, onToken: () => {} },
  )
  if (canary === undefined) throw modelError('probes_missing', 'The model has no canary probes.')
  const read = await readReference(model, reference ?? { prompt, tokens }, maxDistributions, context)
  return { prompt, tokens, readings: canary.readings, runtime: canary.runtime, ...read }
}

async function readReference(
  { llama, shape }: LoadedModel,
  { prompt, tokens }: { prompt: readonly number[]; tokens: readonly number[] },
  maxDistributions: number,
  { maxInternalsBytes, signal }: Pick<OperationContext, 'maxInternalsBytes' | 'signal'>,
): Promise<Pick<PromptEvaluation, 'neurons' | 'distributions'>> {
  if (prompt.length === 0) throw modelError('request_invalid', 'The prompt is empty.')
  // The last token of a completion that fills the context was never read.
  const text = [...prompt, ...tokens].slice(0, llama.maxTokens)
  const first = prompt.length - 1
  if (first >= text.length) throw modelError('request_invalid', 'The prompt is longer than the context.')
  const internals = createInternals(shape, text.length, { neurons: true }, maxInternalsBytes)
  const rows = Math.min(text.length - first, maxDistributions)
  const distributions = new Float32Array(rows * shape.vocabulary)
  llama.restart()
  for (let from = 0; from < text.length; from += CHUNK_TOKENS) {
    const chunk = text.slice(from, from + CHUNK_TOKENS)
    const isNeeded = rows > 0 && from + chunk.length > first && from < first + rows
    const logits = llama.feed(chunk, { internals, logits: isNeeded ? 'all' : 'none' })
    for (let position = Math.max(from, first); isNeeded && position < from + chunk.length; position += 1) {
      const row = position - first
      if (row >= rows) break
      const at = (position - from) * shape.vocabulary
      normalizeInto(distributions, row * shape.vocabulary, logits.subarray(at, at + shape.vocabulary))
    }
    await new Promise((resolve) => setImmediate(resolve))
    if (signal.aborted) throw modelError('aborted', 'The request was aborted.')
  }
  return { neurons: meanActivations(internals, shape.mlp, first), distributions }
}

/** Writes the natural logarithms of the probabilities that belong to logits. */
function normalizeInto(target: Float32Array, at: number, logits: Float32Array): void {
  let most = Number.NEGATIVE_INFINITY
  for (const logit of logits) most = Math.max(most, logit)
  if (!Number.isFinite(most)) {
    throw modelError('model_file_invalid', 'The weights of the model give logits that are no numbers.')
  }
  let sum = 0
  for (const logit of logits) sum += Math.exp(logit - most)
  const total = most + Math.log(sum)
  for (let token = 0; token < logits.length; token += 1) target[at + token] = (logits[token] ?? 0) - total
}

function meanActivations(internals: Internals, mlp: number, first: number): Float32Array {
  const { layers, filled } = internals
  const means = new Float32Array(layers.length * mlp)
  layers.forEach(({ gate, up }, layer) => {
    for (let neuron = 0; neuron < mlp; neuron += 1) {
      let sum = 0
      for (let position = first; position < filled; position += 1) {
        const at = position * mlp + neuron
        sum += (gate[at] ?? 0) * (up[at] ?? 0)
      }
      means[layer * mlp + neuron] = sum / (filled - first)
    }
  })
  return means
}

/** Equal for two models whose tokens mean the same: only then can their distributions be compared. */
export function hashVocabulary({ tokenizer }: Pick<LoadedModel, 'tokenizer'>): string {
  const hash = createHash('sha256')
  for (let token = 0; token < tokenizer.size; token += 1) {
    hash.update(`${JSON.stringify(tokenizer.nameOf(token))}${tokenizer.isControl(token) ? '!' : ''}\n`)
  }
  return hash.digest('hex')
}
