// The gradient of a difference of two logits by every neuron's activation, with nothing frozen: through the norms, the
// attention patterns and the gates. Times the activation it is the method `grad_x_act`: a first-order guess of what an
// ablation would do, and no exact part of the logit.

import { allocated, createKernel } from '../kernel/kernel.ts'
import { createRope } from '../llama/forward.ts'
import { turn } from '../llama/generation.ts'
import { activationsOf, dot, embeddingsOf, type FrozenPass, layerOf, readRow, weightsOf } from './frozen.ts'
import type { Objective } from './objective.ts'
import { createMatrixProducts } from './products.ts'
import { createLargest, type TotalEffects } from './total-effects.ts'

/** Same as `computeTotalEffects`, where an effect is gradient times activation. */
export async function computeGradients(
  pass: FrozenPass,
  objective: Objective,
  limit: number,
  { signal, onLayer = () => {} }: { signal?: AbortSignal | undefined; onLayer?: () => void } = {},
): Promise<TotalEffects> {
  const { shape, weights } = pass.model
  const { width, mlp, layers } = shape
  const { positions } = pass
  const work = createWork(pass)
  const gradient = new Float32Array(positions * width)
  gradient.set(finalGradient(pass, objective), (positions - 1) * width)
  const largest = createLargest(limit)
  let sum = 0
  for (let layer = layers - 1; layer >= 0; layer -= 1) {
    const own = layerOf(pass, layer)
    const { gate, up, down, mlpNorm } = weightsOf(pass, layer)
    const activations = activationsOf(pass, layer)
    const byActivation = work.product(down, gradient, { isTransposed: true })
    for (let index = 0; index < positions * mlp; index += 1) {
      const activation = activations[index] ?? 0
      const effect = activation * (byActivation[index] ?? 0)
      sum += Math.abs(effect)
      if (largest.isLarge(effect)) {
        largest.add({ layer, position: Math.floor(index / mlp), neuron: index % mlp, activation, effect })
      }
    }
    const gates = work.product(gate, normed(own.middle, own.mlpScale, mlpNorm))
    const byUp = byActivation.map((value, index) => value * (own.gate[index] ?? 0))
    const byGate = byActivation.map((value, index) => value * (own.up[index] ?? 0) * siluSlope(gates[index] ?? 0))
    const byInput = work.product(up, byUp, { isTransposed: true })
    addTo(byInput, work.product(gate, byGate, { isTransposed: true }))
    addTo(gradient, throughNorm(byInput, own.middle, own.mlpScale, mlpNorm))
    addTo(gradient, attentionGradient(pass, layer, gradient, work))
    onLayer()
    await turn(signal)
  }
  const selected = largest.take()
  const named = selected.reduce((total, { effect }) => total + Math.abs(effect), 0)
  const embeddings = embeddingsOf(pass)
  return {
    selected,
    remainderShare: sum === 0 ? 0 : Math.max(0, 1 - named / sum),
    embeddings: Array.from({ length: positions }, (_, position) =>
      dot(embeddings, gradient, { oneFrom: position * width, otherFrom: position * width, count: width }),
    ),
  }

  function finalGradient({ internals }: FrozenPass, { token, contrast }: Objective): Float32Array {
    const other = readRow(pass, weights.unembedding, contrast)
    const byNormed = readRow(pass, weights.unembedding, token).map((value, index) => value - (other[index] ?? 0))
    const last = internals.final.slice((positions - 1) * width)
    return throughNorm(byNormed, last, internals.finalScale.slice(positions - 1), weights.norm)
  }
}

type Work = ReturnType<typeof createWork>

/** What the residual stream in front of a layer's attention does to the objective by way of it. */
function attentionGradient(pass: FrozenPass, layer: number, gradient: Float32Array, work: Work): Float32Array {
  const { shape, weights } = pass.model
  const { heads, kvHeads, headSize } = shape
  const { positions } = pass
  const { residual, attention, attentionScale } = layerOf(pass, layer)
  const own = weightsOf(pass, layer)
  const rope = createRope(shape, weights.ropeDivisors)
  const input = normed(residual, attentionScale, own.attentionNorm)
  const turned = (values: Float32Array, count: number, sign: 1 | -1) => {
    for (let position = 0; position < positions; position += 1) {
      rope.turn(values, position * count * headSize, count, position * sign)
    }
    return values
  }
  const queries = turned(work.product(own.query, input), heads, 1)
  const keys = turned(work.product(own.key, input), kvHeads, 1)
  const values = work.product(own.value, input)
  const byMixed = work.product(own.output, gradient, { isTransposed: true })
  const by = {
    queries: new Float32Array(queries.length),
    keys: new Float32Array(keys.length),
    values: new Float32Array(values.length),
  }
  const factor = 1 / Math.sqrt(headSize)
  const whole = { count: headSize }
  for (let head = 0; head < heads; head += 1) {
    const group = Math.floor((head * kvHeads) / heads)
    const ofHead = (rows: Float32Array, position: number) => rowOf(rows, position * heads + head, headSize)
    const ofGroup = (rows: Float32Array, position: number) => rowOf(rows, position * kvHeads + group, headSize)
    // Made once for a head: a view for each pair of positions would cost more than its sum.
    const attended = Array.from({ length: positions }, (_, position) => ({
      key: ofGroup(keys, position),
      value: ofGroup(values, position),
      byKey: ofGroup(by.keys, position),
      byValue: ofGroup(by.values, position),
    }))
    for (let position = 0; position < positions; position += 1) {
      const query = ofHead(queries, position)
      const byQuery = ofHead(by.queries, position)
      const byOutput = ofHead(byMixed, position)
      const pattern = attention.subarray((head * positions + position) * positions)
      const seen = attended.slice(0, position + 1)
      const byShare = Float64Array.from(seen, ({ value }) => dot(byOutput, value, whole))
      const mean = byShare.reduce((sum, one, index) => sum + (pattern[index] ?? 0) * one, 0)
      seen.forEach(({ key, byKey, byValue }, index) => {
        const share = pattern[index] ?? 0
        const byScore = share * ((byShare[index] ?? 0) - mean) * factor
        addScaled(byQuery, key, byScore)
        addScaled(byKey, query, byScore)
        addScaled(byValue, byOutput, share)
      })
    }
  }
  const byInput = work.product(own.query, turned(by.queries, heads, -1), { isTransposed: true })
  addTo(byInput, work.product(own.key, turned(by.keys, kvHeads, -1), { isTransposed: true }))
  addTo(byInput, work.product(own.value, by.values, { isTransposed: true }))
  return throughNorm(byInput, residual, attentionScale, own.attentionNorm)
}

/** A kernel with room for one product of a matrix of a layer with a row for each position. */
function createWork({ model, positions }: FrozenPass) {
  const { width, mlp, heads, headSize } = model.shape
  const widest = Math.max(width, mlp, heads * headSize)
  const kernel = createKernel(allocated(width * widest * 4) + 2 * allocated(positions * widest * 4), widest)
  const at = {
    matrix: kernel.allocate(width * widest * 4),
    x: kernel.allocate(positions * widest * 4),
    y: kernel.allocate(positions * widest * 4),
  }
  const { copy, transpose, multiply } = createMatrixProducts(model, kernel)
  return {
    product(
      matrix: Parameters<typeof copy>[0],
      x: Float32Array,
      { isTransposed = false }: { isTransposed?: boolean } = {},
    ): Float32Array {
      if (isTransposed) transpose(matrix, at.matrix)
      else copy(matrix, at.matrix)
      const [rows, columns] = isTransposed ? [matrix.columns, matrix.rows] : [matrix.rows, matrix.columns]
      kernel.floats.set(x, at.x / 4)
      multiply(0, positions, { ...at, rows, columns })
      return kernel.floats.slice(at.y / 4, at.y / 4 + positions * rows)
    },
  }
}

function normed(rows: Float32Array, scales: Float32Array, gains: Float32Array): Float32Array {
  const width = gains.length
  return rows.map((value, index) => value * (scales[Math.floor(index / width)] ?? 0) * (gains[index % width] ?? 0))
}

/** From what the rows become by a norm to the rows themselves: each number also changes the scale of its row. */
function throughNorm(by: Float32Array, rows: Float32Array, scales: Float32Array, gains: Float32Array): Float32Array {
  const width = gains.length
  const made = new Float32Array(by.length)
  for (let from = 0; from < by.length; from += width) {
    const scale = scales[from / width] ?? 0
    let shared = 0
    for (let index = 0; index < width; index += 1) {
      shared += (rows[from + index] ?? 0) * (gains[index] ?? 0) * (by[from + index] ?? 0)
    }
    const back = (scale ** 3 * shared) / width
    for (let index = 0; index < width; index += 1) {
      made[from + index] = scale * (gains[index] ?? 0) * (by[from + index] ?? 0) - back * (rows[from + index] ?? 0)
    }
  }
  return made
}

function siluSlope(value: number): number {
  const sigmoid = 1 / (1 + Math.exp(-value))
  return sigmoid * (1 + value * (1 - sigmoid))
}

function addTo(sum: Float32Array, values: Float32Array): void {
  for (let index = 0; index < sum.length; index += 1) sum[index] = (sum[index] ?? 0) + (values[index] ?? 0)
}

function addScaled(sum: Float32Array, values: Float32Array, factor: number): void {
  for (let index = 0; index < sum.length; index += 1) {
    sum[index] = (sum[index] ?? 0) + (values[index] ?? 0) * factor
  }
}

/** A view of one row, not a copy. */
function rowOf(rows: Float32Array, row: number, width: number): Float32Array {
  return rows.subarray(row * width, (row + 1) * width)
}
