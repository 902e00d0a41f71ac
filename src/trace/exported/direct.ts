// Direct attribution: with the scale of the final norm frozen, a logit is a sum of what the token embedding, each layer's
// attention and each MLP neuron wrote to the residual stream at the last position. What reached them from other positions
// and layers is not in it.

import type { DirectRow } from '../attribution/attribute.ts'
import { dot } from '../attribution/frozen.ts'
import { MAX_SUM_ERROR, type SumCheck } from '../attribution/rows.ts'
import { modelError } from '../gguf/model-error.ts'
import type { Written } from './decoder.ts'
import type { ResidualWriters } from './writers.ts'

export interface DirectParts {
  rows: DirectRow[]
  /** What the neurons of each layer add to each logit. */
  neurons: Float64Array[][]
  sumCheck: SumCheck
}

interface Reader {
  token: number
  logit: number
  /** What reads the logit from the residual stream. */
  vector: Float64Array
  constant: number
}

/** @throws {ModelError} `attribution_inexact` when the parts of a logit don't add up. */
export function computeDirect(
  writers: ResidualWriters,
  written: Written,
  logits: readonly { token: number; logit: number }[],
): DirectParts {
  const { width } = writers
  const last = written.final.length / width - 1
  const at = (rows: Float32Array, size: number) => rows.subarray(last * size, (last + 1) * size)
  const readers = readersOf(writers, at(written.final, width), at(written.normed, width), logits)
  const read = ({ vector }: Reader, rows: Float32Array) => dot(vector, at(rows, width), { count: width })
  const neurons = writers.layers.map(({ down }, layer) => {
    const activations = at(written.layers[layer]?.activations ?? new Float32Array(), writers.neurons)
    return neuronParts(down, activations, readers)
  })
  const rows = readers.map((reader, index) => {
    const sums = neurons.map((parts) => parts[index]?.reduce((sum, part) => sum + part, 0) ?? 0)
    return {
      token: reader.token,
      logit: reader.logit,
      embedding: read(reader, written.embedding),
      attention: written.layers.map(({ attention }) => read(reader, attention)),
      // A bias belongs to its MLP.
      mlp: written.layers.map(({ mlp }, layer) =>
        writers.layers[layer]?.hasBias ? read(reader, mlp) : (sums[layer] ?? 0),
      ),
      constant: reader.constant,
    }
  })
  return { rows, neurons, sumCheck: checkRows(rows) }
}

function readersOf(
  { unembedding, norm, width }: ResidualWriters,
  final: Float32Array,
  normed: Float32Array,
  logits: readonly { token: number; logit: number }[],
): Reader[] {
  const gain = norm.gain.values()
  const bias = norm.bias?.values() ?? new Float32Array(width)
  const mean = norm.kind === 'mean' ? final.reduce((sum, value) => sum + value, 0) / width : 0
  let [products, squares] = [0, 0]
  for (let index = 0; index < width; index += 1) {
    const value = (gain[index] ?? 0) * ((final[index] ?? 0) - mean)
    products += value * ((normed[index] ?? 0) - (bias[index] ?? 0))
    squares += value * value
  }
  // The norm may scale by more than its formula, such as a gain of 1 more; the sum check says whether this is all.
  const scale = products / squares
  return logits.map(({ token, logit }) => {
    const column = unembedding.column(token)
    const vector = Float64Array.from(column, (value, index) => value * (gain[index] ?? 0) * scale)
    const level = norm.kind === 'mean' ? vector.reduce((sum, value) => sum + value, 0) / width : 0
    return {
      token,
      logit,
      vector: vector.map((value) => value - level),
      constant: dot(column, bias, { count: width }),
    }
  })
}

function neuronParts(
  down: ResidualWriters['layers'][number]['down'],
  activations: Float32Array,
  readers: readonly Reader[],
): Float64Array[] {
  const parts = readers.map(() => new Float64Array(down.rows))
  for (let neuron = 0; neuron < down.rows; neuron += 1) {
    const activation = activations[neuron] ?? 0
    if (activation === 0) continue
    const write = down.row(neuron)
    parts.forEach((own, index) => {
      const vector = readers[index]?.vector ?? new Float64Array()
      own[neuron] = activation * dot(vector, write, { count: write.length })
    })
  }
  return parts
}

function checkRows(rows: readonly DirectRow[]): SumCheck {
  let maxError = 0
  for (const { logit, embedding, attention, mlp, constant } of rows) {
    const sum = [embedding, constant, ...attention, ...mlp].reduce((total, part) => total + part, 0)
    const error = Math.abs(sum - logit) / Math.max(1, Math.abs(logit))
    // Also where it is no number.
    if (!(error <= MAX_SUM_ERROR)) {
      throw modelError('attribution_inexact', `The direct parts of a logit differ from it by ${error} of it.`)
    }
    maxError = Math.max(maxError, error)
  }
  return { maxError, rows: rows.length }
}
