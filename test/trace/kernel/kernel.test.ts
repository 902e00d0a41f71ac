import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import wabt from 'wabt'
import { decodeTensor, TENSOR_TYPES, type TensorTypeName } from '#src/trace/gguf/tensor-types.ts'
import { createKernel, isKernelType, KERNEL_TYPES } from '#src/trace/kernel/kernel.ts'
import { createNumbers } from '../../support/random-llama.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const FOLDER = resolve(ROOT, 'src/trace/kernel')
const { vectors }: { vectors: { type: TensorTypeName; bytes: string }[] } = JSON.parse(
  readFileSync(resolve(ROOT, 'vectors/trace/tensors.json'), 'utf8'),
)

/** A kernel with two matrices of random numbers: `rows` of weights and `count` of inputs, and a place for the results. */
function createProduct(count: number, rows: number, columns: number) {
  const numbers = createNumbers(count * 1_000_003 + rows * 1_009 + columns)
  const kernel = createKernel((rows + count) * columns * 4 + count * rows * 4 + 64, columns)
  const place = (elements: number) => {
    const address = kernel.allocate(elements * 4)
    const values = kernel.floats.subarray(address / 4, address / 4 + elements)
    for (let index = 0; index < elements; index += 1) values[index] = numbers() - 0.5
    return { address, values }
  }
  return { kernel, weights: place(rows * columns), x: place(count * columns), y: place(count * rows) }
}

describe('the kernel', () => {
  it('is what its source compiles to', async () => {
    const { parseWat } = await wabt()
    const parsed = parseWat('kernel.wat', readFileSync(`${FOLDER}/kernel.wat`, 'utf8'), { simd: true })
    parsed.validate()
    const { buffer } = parsed.toBinary({ canonicalize_lebs: true, write_debug_names: false })
    expect(Buffer.from(buffer).equals(readFileSync(`${FOLDER}/kernel.wasm`))).toBe(true)
  })

  it.each([
    [1, 1, 4],
    [1, 7, 8],
    [1, 8, 36],
    [1, 19, 64],
    [2, 3, 12],
    [3, 16, 32],
    [4, 1, 4],
    [4, 2, 16],
    [5, 9, 20],
    [7, 17, 32],
    [8, 8, 128],
    [32, 33, 96],
  ])('multiplies %i rows by %i of %i columns, each sum in the order that it declares', (count, rows, columns) => {
    const { kernel, weights, x, y } = createProduct(count, rows, columns)
    const matrix = { type: 'F32', rows, columns, address: weights.address } as const
    kernel.multiply(matrix, { address: x.address, stride: columns * 4 }, count, {
      address: y.address,
      stride: rows * 4,
    })
    const sum = (t: number, row: number) => {
      const partial = [0, 0, 0, 0]
      for (let index = 0; index < columns; index += 1) {
        const product = Math.fround((x.values[t * columns + index] ?? 0) * (weights.values[row * columns + index] ?? 0))
        partial[index % 4] = Math.fround((partial[index % 4] ?? 0) + product)
      }
      const [a = 0, b = 0, c = 0, d = 0] = partial
      return Math.fround(Math.fround(a + b) + Math.fround(c + d))
    }
    const expected = Array.from({ length: count * rows }, (_, index) => sum(Math.floor(index / rows), index % rows))
    expect([...y.values]).toEqual(expected)
  })

  it.each([
    [1, 4],
    [3, 16],
    [9, 20],
    [50, 64],
    [17, 132],
  ])('mixes %i rows of %i columns in their order', (rows, columns) => {
    const { kernel, weights, x, y } = createProduct(1, rows, Math.max(columns, rows))
    kernel.mixRows(x.address, rows, weights.address, columns * 4, columns * 4, y.address)
    const expected = Array.from({ length: columns }, (_, column) => {
      let sum = 0
      for (let row = 0; row < rows; row += 1) {
        sum = Math.fround(sum + Math.fround((x.values[row] ?? 0) * (weights.values[row * columns + column] ?? 0)))
      }
      return sum
    })
    const at = y.address / 4
    expect([...kernel.floats.subarray(at, at + columns)]).toEqual(expected)
  })

  it.each(vectors.filter(({ type }) => isKernelType(type)))(
    'reads $type as the reader of files does, also infinities and subnormal numbers',
    ({ type, bytes }) => {
      if (!isKernelType(type)) return
      const { blockElements, blockBytes } = TENSOR_TYPES[type]
      const blocks = Buffer.from(bytes, 'base64')
      // A scale of infinity, or an element: the first half of the first block.
      if (type !== 'F32') blocks.set([0x00, 0xfc], 0)
      const elements = (blocks.length / blockBytes) * blockElements
      const expected = new Float32Array(elements)
      decodeTensor(type, blocks, expected)
      const kernel = createKernel(blocks.length + elements * 4 + 32, elements)
      const [from, to] = [kernel.allocate(blocks.length), kernel.allocate(elements * 4)]
      kernel.bytes.set(blocks, from)
      kernel.decodeRows({ type, rows: 1, columns: elements, address: from }, 0, 1, to)
      expect([...kernel.floats.subarray(to / 4, to / 4 + elements)]).toEqual([...expected].map((value) => value + 0))
    },
  )

  it.each(vectors.filter(({ type }) => isKernelType(type)))(
    'multiplies one row with rows of $type to the bits of several rows, also where their number is odd',
    ({ type, bytes }) => {
      if (!isKernelType(type)) return
      const { blockElements, blockBytes } = TENSOR_TYPES[type]
      const blocks = Buffer.from(bytes, 'base64')
      // Infinities are read by the test above; a sum of two of them is no number, whose bits are open.
      const perRow = blockElements === 1 ? 16 : 2
      const rows = Math.floor(blocks.length / blockBytes / perRow)
      const columns = perRow * blockElements
      for (const taken of [rows, rows - 1]) {
        const kernel = createKernel(blocks.length + (3 * columns + 4 * rows) * 4 + 64, columns)
        const [from, x, y] = [blocks.length, 3 * columns * 4, 4 * rows * 4].map(kernel.allocate)
        if (from === undefined || x === undefined || y === undefined) return
        kernel.bytes.set(blocks, from)
        const numbers = createNumbers(7)
        for (let index = 0; index < 3 * columns; index += 1) kernel.floats[x / 4 + index] = numbers() - 0.5
        const matrix = { type, rows: taken, columns, address: from }
        const results = (at: number) => Buffer.from(kernel.bytes.slice(at, at + taken * 4)).toString('hex')
        kernel.multiply(matrix, { address: x, stride: columns * 4 }, 3, { address: y, stride: rows * 4 })
        const several = [0, 1, 2].map((t) => results(y + t * rows * 4))
        const alone = [0, 1, 2].map((t) => {
          kernel.multiply(matrix, { address: x + t * columns * 4, stride: 0 }, 1, { address: y, stride: 0 })
          return results(y)
        })
        expect(taken).toBeGreaterThan(1)
        expect(alone).toEqual(several)
      }
    },
  )

  it('has vectors for each format that it reads', () => {
    expect(vectors.filter(({ type }) => isKernelType(type))).toHaveLength(KERNEL_TYPES.length)
  })

  it('refuses more memory than 32-bit addresses reach', () => {
    expect(() => createKernel(4 * 1024 ** 3, 64)).toThrow(expect.objectContaining({ code: 'model_too_large' }))
  })
})
