// What another runtime than the kernel computes of a model, where one is installed and switched on: passes of whole texts,
// and the products of attribution. Its last bits differ from the kernel's and between machines, so readings and
// completions never come from it, and what does come from it names its runtime.

import type { TextFeeder } from './forward.ts'

export interface Accelerator {
  /** Whose arithmetic it is: the package, its version, and the platform. */
  readonly runtime: string
  readonly feeder: TextFeeder
  /**
   * Products of rows with the matrices of a layer, not transposed: from what is read of a layer's output to what that
   * reads of its input. Matrices behind a norm include its gains. `y` is written, and is no part of `x`.
   */
  readonly products: LayerProducts
}

export interface LayerProducts {
  /** y = x . output, ordered by group of heads, then by row: the queries of one group lie together. */
  readOutput(layer: number, x: Float32Array, y: Float32Array): Promise<void>
  /** y = x . value + sum */
  addValue(layer: number, x: Float32Array, sum: Float32Array, y: Float32Array): Promise<void>
  /** y = x . down */
  readDown(layer: number, x: Float32Array, y: Float32Array): Promise<void>
  /** y = x . up + sum */
  addUp(layer: number, x: Float32Array, sum: Float32Array, y: Float32Array): Promise<void>
}
