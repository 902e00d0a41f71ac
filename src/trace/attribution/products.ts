// Products with the weights of a model in the memory of another kernel: a matrix is copied there, as it is or transposed,
// used, and overwritten by the next one.

import { type Kernel, type Matrix, READ_ROWS } from '../kernel/kernel.ts'
import type { LoadedModel } from '../llama/model.ts'

export interface MatrixProduct {
  /** Addresses in the kernel's memory: of the first row of x and of y, and of the matrix. */
  x: number
  matrix: number
  y: number
  /** Columns of the matrix. Each row of x has `columns` floats, each of y `rows`. */
  columns: number
  rows: number
}

// Rows of x that stay in the processor's cache while the rows of a matrix pass by.
const CHUNK_ROWS = 32

export function createMatrixProducts(model: LoadedModel, kernel: Kernel) {
  const { floats } = kernel

  /** Calls `use` with the values of a few rows of a weight matrix at a time. */
  function forRows(matrix: Matrix, use: (values: Float32Array, first: number, count: number) => void): void {
    for (let first = 0; first < matrix.rows; first += READ_ROWS) {
      const count = Math.min(READ_ROWS, matrix.rows - first)
      use(model.kernel.readRows(matrix, first, count), first, count)
    }
  }

  return {
    copy(matrix: Matrix, to: number): void {
      forRows(matrix, (values, first) => floats.set(values, to / 4 + first * matrix.columns))
    },

    /** Writes matrix^T, its rows multiplied by the gains. */
    transpose(matrix: Matrix, to: number, gains?: Float32Array): void {
      const { rows, columns } = matrix
      forRows(matrix, (values, first, count) => {
        for (let column = 0; column < columns; column += 1) {
          const place = to / 4 + column * rows + first
          const gain = gains === undefined ? 1 : (gains[column] ?? 0)
          for (let row = 0; row < count; row += 1) floats[place + row] = (values[row * columns + column] ?? 0) * gain
        }
      })
    },

    /** y = matrix . x for `count` rows of x from `firstRow` on. */
    multiply(firstRow: number, count: number, { x, matrix, y, columns, rows }: MatrixProduct): void {
      const bytes = columns * 4
      for (let row = firstRow; row < firstRow + count; row += CHUNK_ROWS) {
        const taken = Math.min(CHUNK_ROWS, firstRow + count - row)
        kernel.multiplyRows(x + row * bytes, bytes, taken, matrix, bytes, rows, bytes, y + row * rows * 4, rows * 4)
      }
    },
  }
}
