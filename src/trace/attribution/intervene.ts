// Runs a text again with the activations of some neurons multiplied by factors, and compares what happens to the logits
// with what the frozen model predicts.

import { modelError } from '../gguf/model-error.ts'
import type { NeuronEdit } from '../llama/forward.ts'
import { feedText, turn } from '../llama/generation.ts'
import type { LoadedModel } from '../llama/model.ts'
import { createBackward } from './backward.ts'
import { activationsOf, type FrozenPass, feederOf, freeze, layerOf, readVectorOf } from './frozen.ts'
import { largestTokens, probabilitiesOf, showToken } from './objective.ts'

export interface InterventionRequest {
  /** The logits are those behind the last of them. */
  tokens: readonly number[]
  edits: readonly NeuronEdit[]
  /** The most likely tokens before and after, so many of each. */
  topTokens: number
}

export interface ChangedToken {
  token: number
  text: string
  before: { logit: number; probability: number }
  after: { logit: number; probability: number }
  /**
   * Predicted change of the logit, less the mean change of the tokens that are shown: what all logits gain together
   * changes no probability, and frozen norms predict it badly.
   */
  predictedChange: number
  measuredChange: number
}

export interface Intervention {
  /** The most likely before come first. */
  tokens: ChangedToken[]
  /** The activation of each edited neuron before it was multiplied, and after. */
  edits: (NeuronEdit & { activationBefore: number; activationAfter: number })[]
  /** Same as the `runtime` of a graph. */
  runtime?: string
}

export const MAX_EDITS = 100
const MAX_TOP_TOKENS = 20
const BATCH_ROWS = 1_024

/** @throws {ModelError} `request_invalid`, `aborted`. */
export async function intervene(
  model: LoadedModel,
  { tokens, edits, topTokens }: InterventionRequest,
  { maxInternalsBytes, signal }: { maxInternalsBytes: number; signal?: AbortSignal | undefined },
): Promise<Intervention> {
  checkIntervention(model.shape, { tokens, edits, topTokens })
  const pass = await freeze(model, tokens, { maxBytes: maxInternalsBytes, signal })
  const first = edits.reduce((least, { position }) => Math.min(least, position), tokens.length - 1)
  const feeder = feederOf(model)
  feeder.rewind(first)
  const options = { logits: 'last', edits, ...(signal && { signal }) } as const
  const after = (await feedText(feeder, tokens.slice(first), options)).slice()
  const shown = [...new Set([...largestTokens(pass.logits, topTokens), ...largestTokens(after, topTokens)])]
  const predicted = await predict(pass, edits, shown, signal)
  return {
    ...(model.accelerator && { runtime: model.accelerator.runtime }),
    tokens: compareTokens(model.tokenizer, shown, { before: pass.logits, after, predicted }),
    edits: edits.map((edit) => {
      const { gate, up } = layerOf(pass, edit.layer)
      const place = edit.position * model.shape.mlp + edit.neuron
      const activationBefore = (gate[place] ?? 0) * (up[place] ?? 0)
      return { ...edit, activationBefore, activationAfter: activationBefore * edit.factor }
    }),
  }
}

/**
 * The change of each token's logit in the frozen model, all edits at once: an edited neuron writes its factor's part less
 * or more, and what the edits below change of its input passes through it with the same factor.
 */
async function predict(
  pass: FrozenPass,
  edits: readonly NeuronEdit[],
  tokens: readonly number[],
  signal: AbortSignal | undefined,
): Promise<number[]> {
  const { width, mlp, layers } = pass.model.shape
  const { positions } = pass
  const atOnce = Math.max(1, Math.floor(BATCH_ROWS / positions))
  const backward = createBackward(pass, atOnce * positions, { hasMlp: true })
  const changes: number[] = []
  for (let from = 0; from < tokens.length; from += atOnce) {
    const batch = tokens.slice(from, from + atOnce)
    const segments = batch.map((_, index) => ({ firstRow: index * positions, positions }))
    const sums = batch.map(() => 0)
    backward.rows.fill(0)
    for (const [index, token] of batch.entries()) {
      backward.rows.set(readVectorOf(pass, token), ((index + 1) * positions - 1) * width)
    }
    for (let layer = layers - 1; layer >= 0; layer -= 1) {
      const own = edits.filter((edit) => edit.layer === layer)
      const gates = layerOf(pass, layer).gate.slice()
      const activations = activationsOf(pass, layer)
      for (const { position, neuron, factor } of own) {
        gates[position * mlp + neuron] = (gates[position * mlp + neuron] ?? 0) * factor
      }
      await backward.throughMlp(layer, segments, {
        gates,
        use(effects) {
          for (const { position, neuron, factor } of own) {
            const added = (factor - 1) * (activations[position * mlp + neuron] ?? 0)
            segments.forEach(({ firstRow }, index) => {
              sums[index] = (sums[index] ?? 0) + added * (effects[(firstRow + position) * mlp + neuron] ?? 0)
            })
          }
        },
      })
      await backward.throughAttention(layer, segments)
      await turn(signal)
    }
    changes.push(...sums)
  }
  return changes
}

function centered(changes: readonly number[]): number[] {
  const mean = changes.reduce((sum, change) => sum + change, 0) / changes.length
  return changes.map((change) => change - mean)
}

/** What the tokens had before and after. Both changes are less their mean. */
export function compareTokens(
  tokenizer: LoadedModel['tokenizer'],
  shown: readonly number[],
  { before, after, predicted }: { before: Float32Array; after: Float32Array; predicted: readonly number[] },
): ChangedToken[] {
  const measured = centered(shown.map((token) => (after[token] ?? 0) - (before[token] ?? 0)))
  const expected = centered(predicted)
  const shares = [probabilitiesOf(before), probabilitiesOf(after)] as const
  return shown.map((token, index) => ({
    token,
    text: showToken(tokenizer, token),
    before: { logit: before[token] ?? 0, probability: shares[0](token) },
    after: { logit: after[token] ?? 0, probability: shares[1](token) },
    predictedChange: expected[index] ?? 0,
    measuredChange: measured[index] ?? 0,
  }))
}

/** @throws {ModelError} `request_invalid`. */
export function checkIntervention(
  shape: { layers: number; mlp: number },
  { tokens: { length: positions }, edits, topTokens }: InterventionRequest,
): void {
  if (topTokens < 1 || topTokens > MAX_TOP_TOKENS) {
    throw modelError('request_invalid', `1 to ${MAX_TOP_TOKENS} tokens can be asked for.`)
  }
  if (edits.length < 1 || edits.length > MAX_EDITS)
    throw modelError('request_invalid', `1 to ${MAX_EDITS} nodes can be edited.`)
  const isBelow = (value: number, limit: number) => Number.isInteger(value) && value >= 0 && value < limit
  const named = new Set<string>()
  for (const { layer, position, neuron, factor } of edits) {
    const name = `${layer}_${neuron}_${position}`
    if (!isBelow(layer, shape.layers) || !isBelow(neuron, shape.mlp) || !isBelow(position, positions)) {
      throw modelError('request_invalid', `The text has no neuron ${name}.`)
    }
    if (!Number.isFinite(factor)) throw modelError('request_invalid', `${factor} is no factor.`)
    if (named.has(name)) throw modelError('request_invalid', `${name} is edited twice.`)
    named.add(name)
  }
}
