// The compiled kernel with its memory. Weights stay in the number format of their file, where the kernel can read it: a
// few rows at a time become floats just before they are used, since reading memory costs more than that. All places in
// the memory are handed out when a model is loaded; nothing is allocated while it runs.

import { readFileSync } from 'node:fs'
import { modelError } from '../gguf/model-error.ts'
import { TENSOR_TYPES, type TensorTypeName } from '../gguf/tensor-types.ts'

interface Exports {
  multiply_rows(
    x: number,
    xStride: number,
    count: number,
    weights: number,
    weightStride: number,
    rows: number,
    width: number,
    y: number,
    yStride: number,
  ): void
  mix_rows(factors: number, rows: number, values: number, stride: number, width: number, y: number): void
  decode_f16(from: number, to: number, elements: number): void
  decode_q8_0(from: number, to: number, blocks: number): void
  decode_q4_0(from: number, to: number, blocks: number): void
  decode_q4_1(from: number, to: number, blocks: number): void
  multiply_q8_0(x: number, weights: number, rows: number, blocks: number, y: number): void
  multiply_q4_1(x: number, weights: number, rows: number, blocks: number, y: number): void
}

/** Formats that the kernel reads itself. Matrices of other formats are turned into F32 when they are loaded. */
export const KERNEL_TYPES = ['F32', 'F16', 'Q8_0', 'Q4_0', 'Q4_1'] as const
export type KernelType = (typeof KERNEL_TYPES)[number]

export interface Matrix {
  type: KernelType
  rows: number
  columns: number
  address: number
}

/** Floats, row by row: where the first begins, and how far apart they are, in bytes. */
export interface Rows {
  address: number
  stride: number
}

export interface Kernel {
  readonly bytes: Uint8Array
  readonly floats: Float32Array
  /** Returns the address of so many bytes that begin at a multiple of 16. */
  allocate(bytes: number): number
  /** y[t] = matrix . x[t] for `count` rows of x. */
  multiply(matrix: Matrix, x: Rows, count: number, y: Rows): void
  /** Same as `multiply`, where the matrix is floats that lie `weightStride` bytes apart, such as cached keys. */
  multiplyRows: Exports['multiply_rows']
  mixRows: Exports['mix_rows']
  /** Writes rows of a matrix as floats. */
  decodeRows(matrix: Matrix, first: number, count: number, to: number): void
  /** At most `READ_ROWS` rows of a matrix as floats. The array is used again by the next call of any kind. */
  readRows(matrix: Matrix, first: number, count: number): Float32Array
}

// The types of Node don't have it, and those of browsers have everything else too.
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Memory: new (limits: { initial: number; maximum: number }) => { buffer: ArrayBuffer }
  Instance: new (module: object, imports: object) => { exports: unknown }
}

const PAGE_BYTES = 65_536
const MAX_BYTES = 4 * 1024 ** 3 - PAGE_BYTES
// Decoded rows stay in the processor's second-level cache until they have been used.
const PANEL_BYTES = 64 * 1024
const PANEL_ROWS = { least: 8, most: 64 }
export const READ_ROWS = PANEL_ROWS.least

export const isKernelType = (type: TensorTypeName): type is KernelType =>
  (KERNEL_TYPES as readonly TensorTypeName[]).includes(type)

export function rowBytesOf({ type, columns }: Pick<Matrix, 'type' | 'columns'>): number {
  const { blockElements, blockBytes } = TENSOR_TYPES[type]
  return (columns / blockElements) * blockBytes
}

/** What `allocate` takes for so many bytes. */
export const allocated = (bytes: number): number => Math.ceil(bytes / 16) * 16

/** @param bytes All that will be allocated; `widestRow` in elements. @throws {ModelError} when there is not as much. */
export function createKernel(bytes: number, widestRow: number): Kernel {
  const panelBytes = allocated(Math.max(PANEL_BYTES, PANEL_ROWS.least * widestRow * 4))
  // A full block may be read behind the last one.
  const total = 16 + bytes + panelBytes + 16
  const memory = total > MAX_BYTES ? undefined : reserve(Math.ceil(total / PAGE_BYTES))
  if (memory === undefined) {
    throw modelError(
      'model_too_large',
      `The model needs ${Math.ceil(total / 1e6)} MB of memory, which it can not have.`,
    )
  }
  const compiled = new WebAssembly.Module(readFileSync(new URL('./kernel.wasm', import.meta.url)))
  const exports = new WebAssembly.Instance(compiled, { env: { memory } }).exports as Exports
  // Address 0 is never handed out.
  let next = 16
  const { buffer } = memory
  const bytesOfMemory = new Uint8Array(buffer)
  const panel = allocate(panelBytes)

  function allocate(wanted: number): number {
    const address = next
    next += allocated(wanted)
    if (next > buffer.byteLength) throw new Error('more memory was allocated than was asked for')
    return address
  }

  function decodeRows(matrix: Matrix, first: number, count: number, to: number): void {
    const from = matrix.address + first * rowBytesOf(matrix)
    const elements = count * matrix.columns
    if (matrix.type === 'F16') exports.decode_f16(from, to, elements)
    else if (matrix.type === 'Q8_0') exports.decode_q8_0(from, to, elements / 32)
    else if (matrix.type === 'Q4_0') exports.decode_q4_0(from, to, elements / 32)
    else if (matrix.type === 'Q4_1') exports.decode_q4_1(from, to, elements / 32)
    else bytesOfMemory.copyWithin(to, from, from + elements * 4)
  }

  function multiply(matrix: Matrix, x: Rows, count: number, y: Rows): void {
    const { type, rows, columns, address } = matrix
    const width = columns * 4
    if (type === 'F32') {
      exports.multiply_rows(x.address, x.stride, count, address, width, rows, width, y.address, y.stride)
      return
    }
    // One token uses a row once: it is not worth writing down.
    if (count === 1 && rows % 2 === 0 && (type === 'Q4_1' || type === 'Q8_0')) {
      const run = type === 'Q4_1' ? exports.multiply_q4_1 : exports.multiply_q8_0
      run(x.address, address, rows, columns / 32, y.address)
      return
    }
    const step = Math.min(PANEL_ROWS.most, Math.max(PANEL_ROWS.least, Math.floor(PANEL_BYTES / width / 8) * 8))
    for (let row = 0; row < rows; row += step) {
      const taken = Math.min(step, rows - row)
      decodeRows(matrix, row, taken, panel)
      exports.multiply_rows(x.address, x.stride, count, panel, width, taken, width, y.address + row * 4, y.stride)
    }
  }

  const floats = new Float32Array(buffer)

  return {
    bytes: bytesOfMemory,
    floats,
    allocate,
    multiply,
    multiplyRows: exports.multiply_rows,
    mixRows: exports.mix_rows,
    decodeRows,
    readRows(matrix, first, count) {
      if (count > READ_ROWS) throw new RangeError(`${count} rows are more than ${READ_ROWS}`)
      decodeRows(matrix, first, count, panel)
      return floats.subarray(panel / 4, panel / 4 + count * matrix.columns)
    },
  }
}

// The size is final: growing it would detach every view of it. Pages that are never written take no memory.
function reserve(pages: number): { buffer: ArrayBuffer } | undefined {
  try {
    return new WebAssembly.Memory({ initial: pages, maximum: 65_536 })
  } catch {
    return undefined
  }
}
