// One forward pass whose attention patterns, norm scales and gates are taken as constants. With these frozen, the residual
// stream is a sum of what the token embeddings and the MLP neurons wrote, and each logit is linear in it.

import { modelError } from '../gguf/model-error.ts'
import { type Matrix, READ_ROWS } from '../kernel/kernel.ts'
import type { TextFeeder } from '../llama/forward.ts'
import { feedText } from '../llama/generation.ts'
import { createInternals, type Internals } from '../llama/internals.ts'
import type { LoadedModel } from '../llama/model.ts'

export interface FrozenPass {
  model: LoadedModel
  tokens: readonly number[]
  /** Number of positions: one for each token. The logits belong to the last one. */
  positions: number
  internals: Internals
  logits: Float32Array
}

/** @throws {ModelError} when the text is too long, or its internals have more than `maxBytes`. */
export async function freeze(
  model: LoadedModel,
  tokens: readonly number[],
  { maxBytes, signal }: { maxBytes: number; signal?: AbortSignal | undefined },
): Promise<FrozenPass> {
  const { shape } = model
  const feeder = feederOf(model)
  if (tokens.length > feeder.maxTokens) {
    throw modelError('request_invalid', `The text has ${tokens.length} tokens; ${feeder.maxTokens} is the limit.`)
  }
  const wanted = { residuals: true, attention: true, neurons: true }
  const internals = createInternals(shape, tokens.length, wanted, maxBytes)
  feeder.restart()
  const logits = await feedText(feeder, tokens, { logits: 'last', internals, ...(signal && { signal }) })
  // The next pass writes over the array.
  return { model, tokens, positions: tokens.length, internals, logits: logits.slice() }
}

/** What runs the texts of an attribution. Completions and readings are the kernel's alone. */
export const feederOf = ({ accelerator, llama }: LoadedModel): TextFeeder => accelerator?.feeder ?? llama

export function layerOf({ internals }: FrozenPass, layer: number): Internals['layers'][number] {
  const own = internals.layers[layer]
  if (own === undefined) throw new RangeError(`there is no layer ${layer}`)
  return own
}

export function weightsOf({ model }: FrozenPass, layer: number): LoadedModel['weights']['layers'][number] {
  const own = model.weights.layers[layer]
  if (own === undefined) throw new RangeError(`there is no layer ${layer}`)
  return own
}

/** The activation of each neuron of a layer, silu(gate) * up: positions x mlp. */
export function activationsOf(pass: FrozenPass, layer: number): Float32Array {
  const { gate, up } = layerOf(pass, layer)
  return gate.map((value, index) => value * (up[index] ?? 0))
}

/** What the MLP of a layer added to the residual stream: positions x width, exactly. */
export function mlpOutputOf(pass: FrozenPass, layer: number): Float64Array {
  const { middle } = layerOf(pass, layer)
  const after = pass.internals.layers[layer + 1]?.residual ?? pass.internals.final
  return Float64Array.from(middle, (value, index) => (after[index] ?? 0) - value)
}

/** What reads a logit at the last position from the residual stream: a row of the output matrix with the frozen norm. */
export function readVectorOf(pass: FrozenPass, token: number): Float32Array {
  const { norm, unembedding } = pass.model.weights
  const scale = pass.internals.finalScale[pass.positions - 1] ?? 0
  return readRow(pass, unembedding, token).map((value, index) => value * (norm[index] ?? 0) * scale)
}

/** What reads a neuron's `up` from the residual stream in front of its MLP. */
export function upVectorOf(pass: FrozenPass, layer: number, position: number, neuron: number): Float32Array {
  const { up, mlpNorm } = weightsOf(pass, layer)
  const scale = layerOf(pass, layer).mlpScale[position] ?? 0
  return readRow(pass, up, neuron).map((value, index) => value * (mlpNorm[index] ?? 0) * scale)
}

/** The embedding of each token: positions x width. */
export function embeddingsOf(pass: FrozenPass): Float32Array {
  const { embedding } = pass.model.weights
  const values = new Float32Array(pass.positions * embedding.columns)
  for (const [position, token] of pass.tokens.entries()) {
    values.set(readRow(pass, embedding, token), position * embedding.columns)
  }
  return values
}

/** Columns of a matrix, a row each. */
export function readColumns({ model }: FrozenPass, matrix: Matrix, columns: readonly number[]): Float32Array[] {
  const made = columns.map(() => new Float32Array(matrix.rows))
  for (let first = 0; first < matrix.rows; first += READ_ROWS) {
    const count = Math.min(READ_ROWS, matrix.rows - first)
    const rows = model.kernel.readRows(matrix, first, count)
    columns.forEach((column, index) => {
      const values = made[index]
      if (values === undefined) return
      for (let row = 0; row < count; row += 1) values[first + row] = rows[row * matrix.columns + column] ?? 0
    })
  }
  return made
}

export function readRow({ model }: FrozenPass, matrix: Matrix, row: number): Float32Array {
  return model.kernel.readRows(matrix, row, 1).slice()
}

/** The sum of the products, in 64 bits. `oneFrom` and `otherFrom` are where each begins. */
export function dot(
  one: Float32Array | Float64Array,
  other: Float32Array | Float64Array,
  { oneFrom = 0, otherFrom = 0, count }: { oneFrom?: number; otherFrom?: number; count: number },
): number {
  let sum = 0
  for (let index = 0; index < count; index += 1) sum += (one[oneFrom + index] ?? 0) * (other[otherFrom + index] ?? 0)
  return sum
}
