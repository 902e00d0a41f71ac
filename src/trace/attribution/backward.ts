// Carries read-vectors down through the frozen layers: what a target reads of the residual stream above a layer becomes
// what it reads below. The products of matrices run in a kernel of their own, on transposed copies of one layer at a time:
// making them takes a hundredth of the time of the products, and all of them would double the memory of a model.

import { allocated, createKernel } from '../kernel/kernel.ts'
import type { LlamaShape } from '../llama/shape.ts'
import { type FrozenPass, layerOf, weightsOf } from './frozen.ts'
import { createProducts } from './products.ts'

/** The read-vectors of one target: a row for each position from 0 on. A target sees no position after its own. */
export interface Segment {
  firstRow: number
  positions: number
}

export interface Backward {
  /** rows x width: the read-vectors, which the functions below replace. */
  readonly rows: Float32Array
  readonly maxRows: number
  /** From above the attention of a layer to below it. */
  throughAttention(layer: number, segments: readonly Segment[]): void
  /**
   * From above the MLP of a layer to below it, by way of its neurons with frozen gates. `use` is called in between with
   * what each neuron's activation adds to the target: rows x mlp, an array that is used again.
   */
  throughMlp(layer: number, segments: readonly Segment[], options: ThroughMlp): void
}

export interface ThroughMlp {
  use(effects: Float32Array): void
  /** In place of the frozen gates of the layer: positions x mlp. */
  gates?: Float32Array | undefined
}

/** @param hasMlp Whether `throughMlp` will be called, which needs memory for rows x mlp. */
export function createBackward(pass: FrozenPass, maxRows: number, { hasMlp }: { hasMlp: boolean }): Backward {
  const { shape } = pass.model
  const { width, heads, kvHeads, headSize, mlp } = shape
  const { positions } = pass
  const sizes = sizesOf(shape, positions, maxRows, hasMlp)
  const total = Object.values(sizes).reduce((sum, bytes) => sum + allocated(bytes), 0)
  const kernel = createKernel(total, Math.max(width, mlp, heads * headSize))
  const { transpose, multiply } = createProducts(pass.model, kernel)
  const at = Object.fromEntries(
    Object.entries(sizes).map(([name, bytes]) => [name, kernel.allocate(bytes)]),
  ) as typeof sizes
  const { floats } = kernel
  const groupHeads = heads / kvHeads
  const groupWidth = groupHeads * headSize
  const kvWidth = kvHeads * headSize

  function add({ firstRow, positions: count }: Segment): void {
    const [to, from] = [at.rows / 4, at.added / 4]
    for (let index = firstRow * width; index < (firstRow + count) * width; index += 1) {
      floats[to + index] = (floats[to + index] ?? 0) + (floats[from + index] ?? 0)
    }
  }

  /** For each group of heads and key: what each later position takes of it, by head, times the scale of the key's norm. */
  function writePatterns(layer: number): void {
    const { attention, attentionScale } = layerOf(pass, layer)
    for (let head = 0; head < heads; head += 1) {
      const group = Math.floor(head / groupHeads)
      for (let query = 0; query < positions; query += 1) {
        const from = (head * positions + query) * positions
        for (let key = 0; key <= query; key += 1) {
          const place = ((group * positions + key) * positions + query) * groupHeads + (head % groupHeads)
          floats[at.patterns / 4 + place] = (attention[from + key] ?? 0) * (attentionScale[key] ?? 0)
        }
      }
    }
  }

  return {
    rows: floats.subarray(at.rows / 4, at.rows / 4 + maxRows * width),
    maxRows,

    throughAttention(layer, segments) {
      const weights = weightsOf(pass, layer)
      transpose(weights.output, at.output)
      transpose(weights.value, at.value, weights.attentionNorm)
      writePatterns(layer)
      const groups = Array.from({ length: kvHeads }, (_, group) => group)
      for (const whole of joined(segments)) {
        for (const group of groups) {
          const matrix = at.output + group * groupWidth * width * 4
          const y = at.queries + group * maxRows * groupWidth * 4
          multiply(whole.firstRow, whole.positions, { x: at.rows, matrix, y, columns: width, rows: groupWidth })
        }
      }
      for (const { firstRow, positions: count } of segments) {
        for (const group of groups) {
          const from = at.queries + group * maxRows * groupWidth * 4
          for (let key = 0; key < count; key += 1) {
            const factors = at.patterns + ((group * positions + key) * positions + key) * groupHeads * 4
            const values = from + (firstRow + key) * groupWidth * 4
            const to = at.mixed + ((firstRow + key) * kvWidth + group * headSize) * 4
            kernel.mixRows(factors, (count - key) * groupHeads, values, headSize * 4, headSize * 4, to)
          }
        }
      }
      for (const whole of joined(segments)) {
        multiply(whole.firstRow, whole.positions, {
          x: at.mixed,
          matrix: at.value,
          y: at.added,
          columns: kvWidth,
          rows: width,
        })
        add(whole)
      }
    },

    throughMlp(layer, segments, { use, gates = layerOf(pass, layer).gate }) {
      if (!hasMlp) throw new Error('there is no memory for neurons')
      const weights = weightsOf(pass, layer)
      const { mlpScale } = layerOf(pass, layer)
      transpose(weights.down, at.down)
      transpose(weights.up, at.up, weights.mlpNorm)
      for (const segment of segments) {
        multiply(segment.firstRow, segment.positions, {
          x: at.rows,
          matrix: at.down,
          y: at.neurons,
          columns: width,
          rows: mlp,
        })
      }
      use(floats.subarray(at.neurons / 4, at.neurons / 4 + maxRows * mlp))
      for (const segment of segments) {
        for (let position = 0; position < segment.positions; position += 1) {
          const place = at.neurons / 4 + (segment.firstRow + position) * mlp
          const scale = mlpScale[position] ?? 0
          for (let neuron = 0; neuron < mlp; neuron += 1) {
            floats[place + neuron] = (floats[place + neuron] ?? 0) * (gates[position * mlp + neuron] ?? 0) * scale
          }
        }
        multiply(segment.firstRow, segment.positions, {
          x: at.neurons,
          matrix: at.up,
          y: at.added,
          columns: mlp,
          rows: width,
        })
        add(segment)
      }
    },
  }
}

function sizesOf(shape: LlamaShape, positions: number, maxRows: number, hasMlp: boolean) {
  const { width, heads, kvHeads, headSize, mlp } = shape
  return {
    rows: maxRows * width * 4,
    added: maxRows * width * 4,
    queries: maxRows * heads * headSize * 4,
    mixed: maxRows * kvHeads * headSize * 4,
    output: width * heads * headSize * 4,
    value: width * kvHeads * headSize * 4,
    patterns: heads * positions * positions * 4,
    neurons: hasMlp ? maxRows * mlp * 4 : 0,
    down: hasMlp ? width * mlp * 4 : 0,
    up: hasMlp ? width * mlp * 4 : 0,
  }
}

/** Segments that follow each other, as one: full chunks of rows use the kernel best. */
function joined(segments: readonly Segment[]): Segment[] {
  const made: Segment[] = []
  for (const { firstRow, positions } of segments) {
    const last = made.at(-1)
    if (last !== undefined && last.firstRow + last.positions === firstRow) last.positions += positions
    else made.push({ firstRow, positions })
  }
  return made
}
