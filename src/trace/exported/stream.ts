// The residual stream of an exported decoder, and the logits that it would have if the model stopped there.

import { turn } from '../llama/generation.ts'
import type { Written } from './decoder.ts'
import type { ResidualWriters } from './writers.ts'

/** Yields the stream before each layer and behind the last one: tokens x width. */
export function* streamOf({ embedding, layers, final }: Written): Generator<Float32Array> {
  const stream = Float32Array.from(embedding)
  for (const { attention, mlp } of layers) {
    yield stream
    for (let index = 0; index < stream.length; index += 1) {
      stream[index] = (stream[index] ?? 0) + (attention[index] ?? 0) + (mlp[index] ?? 0)
    }
  }
  yield final
}

/** Returns positions x vocabulary for some positions, by the final norm with the scale of the stream itself. */
export async function unembed(
  { norm, width, unembedding }: ResidualWriters,
  stream: Float32Array,
  positions: readonly number[],
  signal: AbortSignal,
): Promise<Float32Array> {
  const gain = norm.gain.values()
  const bias = norm.bias?.values()
  const rows = positions.map((position) => {
    const own = stream.subarray(position * width, (position + 1) * width)
    const mean = norm.kind === 'mean' ? own.reduce((sum, value) => sum + value, 0) / width : 0
    const square = own.reduce((sum, value) => sum + (value - mean) ** 2, 0) / width
    const scale = 1 / Math.sqrt(square + norm.epsilon)
    return own.map((value, index) => (value - mean) * scale * (gain[index] ?? 0) + (bias?.[index] ?? 0))
  })
  const { columns } = unembedding
  const logits = new Float32Array(rows.length * columns)
  for (let token = 0; token < columns; token += 1) {
    const column = unembedding.column(token)
    rows.forEach((row, place) => {
      let sum = 0
      for (let index = 0; index < width; index += 1) sum += (row[index] ?? 0) * (column[index] ?? 0)
      logits[place * columns + token] = sum
    })
    if (token % YIELD_TOKENS === 0) await turn(signal)
  }
  return logits
}

// Some milliseconds of a model of width 576.
const YIELD_TOKENS = 1_024
