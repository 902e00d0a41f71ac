// The matrices of a model's layers as floats, which is what ONNX Runtime multiplies: four times the size of a file with
// 8 bits. The gains of a norm are multiplied into the matrices behind it.

import { type Matrix, READ_ROWS } from '../kernel/kernel.ts'
import type { LoadedModel } from '../llama/model.ts'
import type { LlamaShape } from '../llama/shape.ts'

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
