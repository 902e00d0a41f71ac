// Puts the weights of a checked model file into the memory of a kernel.

import { readSync } from 'node:fs'
import type { Gguf, TensorPlace } from '../gguf/gguf.ts'
import { modelError } from '../gguf/model-error.ts'
import { decodeTensor, TENSOR_TYPES } from '../gguf/tensor-types.ts'
import { allocated, createKernel, isKernelType, type Kernel, type Matrix, rowBytesOf } from '../kernel/kernel.ts'
import { type LlamaShape, readShape, tensorsOf } from './shape.ts'

export interface LlamaLayer {
  attentionNorm: Float32Array
  query: Matrix
  key: Matrix
  value: Matrix
  output: Matrix
  mlpNorm: Float32Array
  gate: Matrix
  up: Matrix
  down: Matrix
}

export interface LlamaWeights {
  embedding: Matrix
  layers: readonly LlamaLayer[]
  norm: Float32Array
  /** The embedding, where the file has no matrix of its own for the output. */
  unembedding: Matrix
  /** Divides the frequencies of the positions; undefined where the file has none. */
  ropeDivisors: Float32Array | undefined
}

export interface LoadedWeights {
  shape: LlamaShape
  weights: LlamaWeights
  kernel: Kernel
  /** Kernel memory that the weights take. */
  weightBytes: number
}

// A slice of a tensor is read at a time, so that loading needs little beside the memory for the weights.
const SLICE_BYTES = 4 * 1024 * 1024

/**
 * @param extraBytes What the forward pass will allocate, from the shape.
 * @param maxBytes Of the kernel's memory.
 * @throws {ModelError} when the file is not a model that can be run in this memory.
 */
export function loadWeights(
  descriptor: number,
  gguf: Gguf,
  extraBytes: (shape: LlamaShape) => number,
  maxBytes: number,
): LoadedWeights {
  const shape = readShape(gguf)
  const { required, optional } = tensorsOf(shape)
  const sizes = new Map([...required, ...[...optional].filter(([name]) => gguf.tensors.has(name))])
  const isMatrix = (name: string) => (sizes.get(name)?.rows ?? 1) > 1
  let weightBytes = 0
  let widestRow = 0
  for (const [name, { rows, columns }] of sizes) {
    if (!isMatrix(name)) continue
    const { type } = placeOf(gguf, name)
    weightBytes += allocated(rows * rowBytesOf({ type: isKernelType(type) ? type : 'F32', columns }))
    widestRow = Math.max(widestRow, columns)
  }
  const needed = weightBytes + extraBytes(shape)
  if (needed > maxBytes) {
    throw modelError(
      'model_too_large',
      `The model needs ${Math.ceil(needed / 1e6)} MB of memory for its weights and context; it may have ${Math.floor(maxBytes / 1e6)} MB.`,
    )
  }
  const kernel = createKernel(needed, widestRow)

  function matrix(name: string): Matrix {
    const place = placeOf(gguf, name)
    const { rows, columns } = sizes.get(name) ?? { rows: 0, columns: 0 }
    const type = isKernelType(place.type) ? place.type : 'F32'
    const address = kernel.allocate(rows * rowBytesOf({ type, columns }))
    if (type === place.type) {
      readInto(descriptor, place, kernel.bytes.subarray(address, address + place.bytes))
    } else {
      decodeInto(descriptor, place, kernel.floats.subarray(address / 4, address / 4 + rows * columns))
    }
    return { type, rows, columns, address }
  }

  function vector(name: string): Float32Array {
    const values = new Float32Array(sizes.get(name)?.columns ?? 0)
    decodeInto(descriptor, placeOf(gguf, name), values)
    return values
  }

  const embedding = matrix('token_embd.weight')
  const layers = Array.from({ length: shape.layers }, (_, layer): LlamaLayer => {
    const named = (part: string) => `blk.${layer}.${part}.weight`
    return {
      attentionNorm: vector(named('attn_norm')),
      query: matrix(named('attn_q')),
      key: matrix(named('attn_k')),
      value: matrix(named('attn_v')),
      output: matrix(named('attn_output')),
      mlpNorm: vector(named('ffn_norm')),
      gate: matrix(named('ffn_gate')),
      up: matrix(named('ffn_up')),
      down: matrix(named('ffn_down')),
    }
  })
  const weights = {
    embedding,
    layers,
    norm: vector('output_norm.weight'),
    unembedding: sizes.has('output.weight') ? matrix('output.weight') : embedding,
    ropeDivisors: sizes.has('rope_freqs.weight') ? vector('rope_freqs.weight') : undefined,
  }
  return { shape, weights, kernel, weightBytes }
}

function placeOf(gguf: Gguf, name: string): TensorPlace {
  const place = gguf.tensors.get(name)
  if (place === undefined) throw new Error(`${name} was not checked`)
  return place
}

function decodeInto(descriptor: number, place: TensorPlace, values: Float32Array): void {
  const { blockElements, blockBytes } = TENSOR_TYPES[place.type]
  const sliceBlocks = Math.max(1, Math.floor(SLICE_BYTES / blockBytes))
  const blocks = values.length / blockElements
  for (let block = 0; block < blocks; block += sliceBlocks) {
    const taken = Math.min(sliceBlocks, blocks - block)
    const bytes = new Uint8Array(taken * blockBytes)
    readInto(descriptor, { ...place, offset: place.offset + block * blockBytes }, bytes)
    decodeTensor(place.type, bytes, values.subarray(block * blockElements, (block + taken) * blockElements))
  }
}

function readInto(descriptor: number, { name, offset }: TensorPlace, bytes: Uint8Array): void {
  let filled = 0
  while (filled < bytes.length) {
    const read = readSync(descriptor, bytes, filled, Math.min(bytes.length - filled, SLICE_BYTES), offset + filled)
    if (read === 0) throw modelError('model_file_invalid', `The file became shorter while ${name} was read.`)
    filled += read
  }
}
