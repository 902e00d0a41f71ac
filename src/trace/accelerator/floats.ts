// Floats, which is what ONNX Runtime multiplies: sessions over arrays that the caller has, and the matrices of a model's
// layers, which take four times the memory of a file with 8 bits. The gains of a norm are multiplied into the matrices
// behind it.

import { type Matrix, READ_ROWS } from '../kernel/kernel.ts'
import type { LoadedModel } from '../llama/model.ts'
import type { LlamaShape } from '../llama/shape.ts'
import type { OnnxRuntime, OnnxTensorValue } from '../onnx/runtime.ts'

export type FloatTensor = OnnxTensorValue

/** Nothing is copied on the way in. */
export interface FloatSession {
  /** Outputs that have a tensor are written into its array; null: into one of their own, which is returned. */
  run(
    feeds: Record<string, FloatTensor>,
    fetches: Record<string, FloatTensor | null>,
  ): Promise<(output: string) => Float32Array>
}

export interface Floats {
  open(model: Uint8Array): Promise<FloatSession>
  /** A view of the array, row by row. */
  tensor(data: Float32Array, dims: readonly number[]): FloatTensor
}

export function createFloats({ Tensor, createSession }: OnnxRuntime): Floats {
  return {
    tensor: (data, dims) => new Tensor('float32', data, dims),
    async open(model) {
      const session = await createSession(model)
      return {
        async run(feeds, fetches) {
          const made = await session.run(feeds, fetches)
          return (output) => {
            const data = made[output]?.data
            if (!(data instanceof Float32Array)) throw new Error(`the runtime made no floats of ${output}`)
            return data
          }
        },
      }
    },
  }
}

export interface FloatLayer {
  query: Float32Array
  key: Float32Array
  value: Float32Array
  output: Float32Array
  gate: Float32Array
  up: Float32Array
  down: Float32Array
}

export function floatBytes({ layers, width, heads, kvHeads, headSize, mlp }: LlamaShape): number {
  return 4 * layers * width * (2 * headSize * (heads + kvHeads) + 3 * mlp)
}

export function readFloatLayers({ kernel, weights }: Pick<LoadedModel, 'kernel' | 'weights'>): FloatLayer[] {
  function floats(matrix: Matrix, gains?: Float32Array): Float32Array {
    const { rows, columns } = matrix
    const made = new Float32Array(rows * columns)
    for (let first = 0; first < rows; first += READ_ROWS) {
      made.set(kernel.readRows(matrix, first, Math.min(READ_ROWS, rows - first)), first * columns)
    }
    if (gains !== undefined) {
      for (let from = 0; from < made.length; from += columns) {
        for (let column = 0; column < columns; column += 1) {
          made[from + column] = (made[from + column] ?? 0) * (gains[column] ?? 0)
        }
      }
    }
    return made
  }

  return weights.layers.map((layer) => ({
    query: floats(layer.query, layer.attentionNorm),
    key: floats(layer.key, layer.attentionNorm),
    value: floats(layer.value, layer.attentionNorm),
    output: floats(layer.output),
    gate: floats(layer.gate, layer.mlpNorm),
    up: floats(layer.up, layer.mlpNorm),
    down: floats(layer.down),
  }))
}
