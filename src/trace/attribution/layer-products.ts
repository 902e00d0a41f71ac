// The products of read-vectors with the matrices of a layer, over rows in the memory of a kernel: by that kernel itself, or
// by the accelerator of the model, which reads and writes the same memory.

import type { Kernel } from '../kernel/kernel.ts'
import type { Accelerator } from '../llama/model.ts'
import type { LlamaShape } from '../llama/shape.ts'
import { type FrozenPass, weightsOf } from './frozen.ts'
import { createMatrixProducts } from './products.ts'

/** Addresses. */
export interface Places {
  /** What is read of the residual stream: rows x width. */
  rows: number
  /** rows x width, used in between. */
  added: number
  /** rows x heads x head size: of each whole, the rows of a group of heads lie together. */
  queries: number
  /** rows x groups of heads x head size */
  mixed: number
  /** rows x neurons */
  neurons: number
}

/** Rows that follow each other. */
export interface Whole {
  firstRow: number
  positions: number
}

/** They replace the rows at the place that they are named after. */
export interface RowProducts {
  queries(layer: number, whole: Whole): void | Promise<void>
  /** Adds what the mixed values read. */
  addMixed(layer: number, whole: Whole): void | Promise<void>
  neurons(layer: number, whole: Whole): void | Promise<void>
  /** Adds what the neurons read. */
  addNeurons(layer: number, whole: Whole): void | Promise<void>
}

/** The transposed copies of one layer at a time, which the kernel needs. */
export function copyBytes({ width, heads, kvHeads, headSize, mlp }: LlamaShape, hasMlp: boolean) {
  return {
    output: width * heads * headSize * 4,
    value: width * kvHeads * headSize * 4,
    down: hasMlp ? width * mlp * 4 : 0,
    up: hasMlp ? width * mlp * 4 : 0,
  }
}

export function createKernelProducts(
  pass: FrozenPass,
  kernel: Kernel,
  at: Places & ReturnType<typeof copyBytes>,
): RowProducts {
  const { width, heads, kvHeads, headSize, mlp } = pass.model.shape
  const groupWidth = (heads / kvHeads) * headSize
  const { transpose, multiply } = createMatrixProducts(pass.model, kernel)
  const { floats } = kernel

  function add({ firstRow, positions }: Whole): void {
    const [to, from] = [at.rows / 4, at.added / 4]
    for (let index = firstRow * width; index < (firstRow + positions) * width; index += 1) {
      floats[to + index] = (floats[to + index] ?? 0) + (floats[from + index] ?? 0)
    }
  }

  return {
    queries(layer, { firstRow, positions }) {
      transpose(weightsOf(pass, layer).output, at.output)
      for (let group = 0; group < kvHeads; group += 1) {
        const matrix = at.output + group * groupWidth * width * 4
        // Where row 0 of the group would be.
        const y = at.queries + (firstRow * kvHeads + group * positions - firstRow) * groupWidth * 4
        multiply(firstRow, positions, { x: at.rows, matrix, y, columns: width, rows: groupWidth })
      }
    },
    addMixed(layer, whole) {
      const { value, attentionNorm } = weightsOf(pass, layer)
      transpose(value, at.value, attentionNorm)
      const product = { x: at.mixed, matrix: at.value, y: at.added, columns: kvHeads * headSize, rows: width }
      multiply(whole.firstRow, whole.positions, product)
      add(whole)
    },
    neurons(layer, { firstRow, positions }) {
      transpose(weightsOf(pass, layer).down, at.down)
      multiply(firstRow, positions, { x: at.rows, matrix: at.down, y: at.neurons, columns: width, rows: mlp })
    },
    addNeurons(layer, whole) {
      const { up, mlpNorm } = weightsOf(pass, layer)
      transpose(up, at.up, mlpNorm)
      multiply(whole.firstRow, whole.positions, {
        x: at.neurons,
        matrix: at.up,
        y: at.added,
        columns: mlp,
        rows: width,
      })
      add(whole)
    },
  }
}

export function createAcceleratedProducts(
  { products }: Accelerator,
  { width, heads, kvHeads, headSize, mlp }: LlamaShape,
  { floats }: Pick<Kernel, 'floats'>,
  at: Places,
): RowProducts {
  const viewOf =
    (address: number, columns: number) =>
    ({ firstRow, positions }: Whole) =>
      floats.subarray(address / 4 + firstRow * columns, address / 4 + (firstRow + positions) * columns)
  const rows = viewOf(at.rows, width)
  const added = viewOf(at.added, width)
  const queries = viewOf(at.queries, heads * headSize)
  const mixed = viewOf(at.mixed, kvHeads * headSize)
  const neurons = viewOf(at.neurons, mlp)
  return {
    queries: (layer, whole) => products.readOutput(layer, rows(whole), queries(whole)),
    async addMixed(layer, whole) {
      await products.addValue(layer, mixed(whole), rows(whole), added(whole))
      rows(whole).set(added(whole))
    },
    neurons: (layer, whole) => products.readDown(layer, rows(whole), neurons(whole)),
    async addNeurons(layer, whole) {
      await products.addUp(layer, neurons(whole), rows(whole), added(whole))
      rows(whole).set(added(whole))
    },
  }
}
