// Sessions whose values are all floats, over arrays that the caller has: nothing is copied on the way in, nor where an
// output has its array.

import type { OnnxRuntime, OnnxTensorValue } from '../onnx/runtime.ts'

export type FloatTensor = OnnxTensorValue

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
