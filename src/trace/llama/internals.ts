// Everything that a forward pass computes on its way to the logits, for those who must see inside: readings, attribution
// and the logit lens. Rows are positions of the text, counted from its start.

import { modelError } from '../gguf/model-error.ts'
import type { LlamaShape } from './shape.ts'

export interface WantedInternals {
  /** The residual stream: before each layer, between its attention and its MLP, and after the last layer. */
  residuals?: boolean
  /** How much each head looks at each position. */
  attention?: boolean
  /** The MLP neurons: their gate factors and their values before the gate. */
  neurons?: boolean
}

export interface LayerInternals {
  /** positions x width, before the layer. */
  residual: Float32Array
  /** positions x width, after the layer's attention was added. */
  middle: Float32Array
  /** What the residual is divided by, 1 / root mean square: before attention and before the MLP, one of each position. */
  attentionScale: Float32Array
  mlpScale: Float32Array
  /** heads x positions x positions: head, then the position that looks, then the one it looks at. */
  attention: Float32Array
  /** positions x neurons: silu(gate), and `up`. Their product is the neuron's activation. */
  gate: Float32Array
  up: Float32Array
}

export interface Internals {
  /** The rows that there is room for, and that the lengths of the arrays follow from. */
  positions: number
  /** The rows that a forward pass has filled: the first ones. */
  filled: number
  wanted: Required<WantedInternals>
  layers: readonly LayerInternals[]
  /** positions x width, after the last layer. */
  final: Float32Array
  finalScale: Float32Array
  /** positions x width: what the output matrix reads. */
  normed: Float32Array
}

/** The bytes of the internals of so many positions. */
export function internalsBytes(shape: LlamaShape, positions: number, wanted: WantedInternals): number {
  const { layers, width, heads, mlp } = shape
  const ofLayer =
    (wanted.residuals ? 2 * width * positions : 0) +
    (wanted.attention ? heads * positions * positions : 0) +
    (wanted.neurons ? 2 * mlp * positions : 0) +
    2 * positions
  return 4 * (layers * ofLayer + positions * (1 + 2 * width))
}

/** Empty internals; a forward pass fills the rows of the positions that it computes. */
export function createInternals(
  shape: LlamaShape,
  positions: number,
  wanted: WantedInternals,
  maxBytes: number,
): Internals {
  const bytes = internalsBytes(shape, positions, wanted)
  if (bytes > maxBytes) {
    throw modelError(
      'request_invalid',
      `The internals of ${positions} tokens have ${Math.ceil(bytes / 1e6)} MB; ${Math.floor(maxBytes / 1e6)} MB is the limit.`,
    )
  }
  const { layers, width, heads, mlp } = shape
  const { residuals = false, attention = false, neurons = false } = wanted
  const floats = (isWanted: boolean, length: number) => new Float32Array(isWanted ? length : 0)
  return {
    positions,
    filled: 0,
    wanted: { residuals, attention, neurons },
    layers: Array.from({ length: layers }, () => ({
      residual: floats(residuals, positions * width),
      middle: floats(residuals, positions * width),
      attentionScale: new Float32Array(positions),
      mlpScale: new Float32Array(positions),
      attention: floats(attention, heads * positions * positions),
      gate: floats(neurons, positions * mlp),
      up: floats(neurons, positions * mlp),
    })),
    final: new Float32Array(positions * width),
    finalScale: new Float32Array(positions),
    normed: new Float32Array(positions * width),
  }
}
