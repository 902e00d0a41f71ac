// Carries read-vectors down through the frozen layers: what a target reads of the residual stream above a layer becomes
// what it reads below. Its memory is a kernel's of its own, with transposed copies of one layer at a time where that kernel
// multiplies: making them takes a hundredth of the time of the products, and all of them would double the memory of a model.

import { allocated, createKernel } from '../kernel/kernel.ts'
import type { LlamaShape } from '../llama/shape.ts'
import { type FrozenPass, layerOf } from './frozen.ts'
import { copyBytes, createAcceleratedProducts, createKernelProducts, type Whole } from './layer-products.ts'

/** The read-vectors of one target: a row for each position from 0 on. A target sees no position after its own. */
export interface Segment {
  firstRow: number
  positions: number
}

export interface Backward {
  /** rows x width: the read-vectors, which the functions below replace. */
  readonly rows: Float32Array
  readonly maxRows: number
  /** Goes from above the attention of a layer to below it. */
  throughAttention(layer: number, segments: readonly Segment[]): Promise<void>
  /**
   * Goes from above the MLP of a layer to below it, by way of its neurons with frozen gates. `use` is called in between
   * with what each neuron's activation adds to the target: rows x mlp, an array that is used again.
   */
  throughMlp(layer: number, segments: readonly Segment[], options: ThroughMlp): Promise<void>
}

export interface ThroughMlp {
  use(effects: Float32Array): void
  /** Replaces the frozen gates of the layer: positions x mlp. */
  gates?: Float32Array | undefined
}

/** @param hasMlp Whether `throughMlp` will be called, which needs memory for rows x mlp. */
export function createBackward(pass: FrozenPass, maxRows: number, { hasMlp }: { hasMlp: boolean }): Backward {
  const { shape, accelerator } = pass.model
  const { width, heads, kvHeads, headSize, mlp } = shape
  const { positions } = pass
  const copies = copyBytes(shape, hasMlp)
  const sizes = { ...sizesOf(shape, positions, maxRows, hasMlp), ...(accelerator === undefined && copies) }
  const total = Object.values(sizes).reduce((sum, bytes) => sum + allocated(bytes), 0)
  const kernel = createKernel(total, Math.max(width, mlp, heads * headSize))
  const at = Object.fromEntries(
    Object.entries(sizes).map(([name, bytes]) => [name, kernel.allocate(bytes)]),
  ) as ReturnType<typeof sizesOf> & typeof copies
  const products =
    accelerator === undefined
      ? createKernelProducts(pass, kernel, at)
      : createAcceleratedProducts(accelerator, shape, kernel, at)
  const { floats } = kernel
  const groupHeads = heads / kvHeads
  const groupWidth = groupHeads * headSize
  const kvWidth = kvHeads * headSize

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

  /** What the values of a key's group read of it: the sum over the later positions that look at it. */
  function mix(whole: Whole, { firstRow, positions: count }: Segment): void {
    for (let group = 0; group < kvHeads; group += 1) {
      const first = (whole.firstRow * kvHeads + group * whole.positions + firstRow - whole.firstRow) * groupWidth
      for (let key = 0; key < count; key += 1) {
        const factors = at.patterns + ((group * positions + key) * positions + key) * groupHeads * 4
        const values = at.queries + (first + key * groupWidth) * 4
        const to = at.mixed + ((firstRow + key) * kvWidth + group * headSize) * 4
        kernel.mixRows(factors, (count - key) * groupHeads, values, headSize * 4, headSize * 4, to)
      }
    }
  }

  return {
    rows: floats.subarray(at.rows / 4, at.rows / 4 + maxRows * width),
    maxRows,

    async throughAttention(layer, segments) {
      writePatterns(layer)
      for (const { segments: own, ...whole } of joined(segments)) {
        await products.queries(layer, whole)
        for (const segment of own) mix(whole, segment)
        await products.addMixed(layer, whole)
      }
    },

    async throughMlp(layer, segments, { use, gates = layerOf(pass, layer).gate }) {
      if (!hasMlp) throw new Error('there is no memory for neurons')
      const { mlpScale } = layerOf(pass, layer)
      const wholes = joined(segments)
      for (const whole of wholes) await products.neurons(layer, whole)
      use(floats.subarray(at.neurons / 4, at.neurons / 4 + maxRows * mlp))
      for (const segment of segments) {
        for (let position = 0; position < segment.positions; position += 1) {
          const place = at.neurons / 4 + (segment.firstRow + position) * mlp
          const scale = mlpScale[position] ?? 0
          for (let neuron = 0; neuron < mlp; neuron += 1) {
            floats[place + neuron] = (floats[place + neuron] ?? 0) * (gates[position * mlp + neuron] ?? 0) * scale
          }
        }
      }
      for (const whole of wholes) await products.addNeurons(layer, whole)
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
    patterns: heads * positions * positions * 4,
    neurons: hasMlp ? maxRows * mlp * 4 : 0,
  }
}

/** Segments that follow each other: many rows at once are multiplied fastest. */
function joined(segments: readonly Segment[]): (Whole & { segments: Segment[] })[] {
  const made: (Whole & { segments: Segment[] })[] = []
  for (const segment of segments) {
    const last = made.at(-1)
    if (last !== undefined && last.firstRow + last.positions === segment.firstRow) {
      last.positions += segment.positions
      last.segments.push(segment)
    } else made.push({ ...segment, segments: [segment] })
  }
  return made
}
