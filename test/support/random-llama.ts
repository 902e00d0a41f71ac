// Llama models with random weights, and an independent forward pass in 64-bit floats to compare with. It is written for
// reading: whole matrices as lists of rows, no cache, no kernel.

import { closeSync, openSync, readFileSync } from 'node:fs'
import { type Gguf, readGguf } from '#src/trace/gguf/gguf.ts'
import { decodeTensor, TENSOR_TYPES } from '#src/trace/gguf/tensor-types.ts'
import { type LlamaShape, readShape } from '#src/trace/llama/shape.ts'
import { ggufBytes, type TestTensor } from './gguf.ts'

export interface RandomSizes {
  layers: number
  width: number
  heads: number
  kvHeads: number
  mlp: number
  hasOutput?: boolean
}

const bytesToCharacter = (byte: number) =>
  (byte > 32 && byte < 127) || (byte > 160 && byte !== 173) ? String.fromCodePoint(byte) : ''

/** The characters of the 256 bytes as GPT-2 writes them, and two control tokens: enough for any text. */
export function byteVocabulary(): { tokens: string[]; kinds: number[] } {
  let hidden = 256
  const bytes = Array.from({ length: 256 }, (_, byte) => bytesToCharacter(byte) || String.fromCodePoint(hidden++))
  return { tokens: [...bytes, '<|im_start|>', '<|im_end|>'], kinds: [...bytes.map(() => 1), 3, 3] }
}

/** A generator of numbers from 0 to 1, the same for the same seed. */
export function createNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

export function randomLlamaMetadata({ layers, width, heads, kvHeads, mlp }: RandomSizes) {
  const { tokens, kinds } = byteVocabulary()
  return {
    'general.architecture': 'llama',
    'llama.block_count': layers,
    'llama.embedding_length': width,
    'llama.attention.head_count': heads,
    'llama.attention.head_count_kv': kvHeads,
    'llama.feed_forward_length': mlp,
    'llama.context_length': 256,
    'llama.attention.layer_norm_rms_epsilon': 0.00001,
    'llama.rope.freq_base': 10_000,
    'tokenizer.ggml.model': 'gpt2',
    'tokenizer.ggml.pre': 'smollm',
    'tokenizer.ggml.tokens': tokens,
    'tokenizer.ggml.token_type': kinds,
    'tokenizer.ggml.merges': [] as string[],
    'tokenizer.ggml.eos_token_id': 257,
  }
}

/** A model file with weights from a seed. */
export function randomLlama(sizes: RandomSizes, seed: number): Buffer {
  const numbers = createNumbers(seed)
  const { layers, width, heads, kvHeads, mlp, hasOutput = false } = sizes
  const kv = (width / heads) * kvHeads
  const matrix = (name: string, columns: number, rows: number): TestTensor => {
    const values = Float32Array.from({ length: rows * columns }, () => (numbers() - 0.5) * (3 / Math.sqrt(columns)))
    return { name, dimensions: [columns, rows], data: new Uint8Array(values.buffer) }
  }
  const norm = (name: string): TestTensor => {
    const values = Float32Array.from({ length: width }, () => 0.5 + numbers())
    return { name, dimensions: [width], data: new Uint8Array(values.buffer) }
  }
  const vocabulary = byteVocabulary().tokens.length
  return ggufBytes(randomLlamaMetadata(sizes), [
    matrix('token_embd.weight', width, vocabulary),
    norm('output_norm.weight'),
    ...(hasOutput ? [matrix('output.weight', width, vocabulary)] : []),
    ...Array.from({ length: layers }, (_, layer) => [
      norm(`blk.${layer}.attn_norm.weight`),
      matrix(`blk.${layer}.attn_q.weight`, width, width),
      matrix(`blk.${layer}.attn_k.weight`, width, kv),
      matrix(`blk.${layer}.attn_v.weight`, width, kv),
      matrix(`blk.${layer}.attn_output.weight`, width, width),
      norm(`blk.${layer}.ffn_norm.weight`),
      matrix(`blk.${layer}.ffn_gate.weight`, width, mlp),
      matrix(`blk.${layer}.ffn_up.weight`, width, mlp),
      matrix(`blk.${layer}.ffn_down.weight`, mlp, width),
    ]).flat(),
  ])
}

export interface Reference {
  logits: number[][]
  /** Values of each layer: the residual stream before it, and its activations silu(gate) * up. */
  residuals: number[][][]
  activations: number[][][]
  gates: number[][][]
  ups: number[][][]
  /** Attention of each layer and head: what each position sees of the positions before it. */
  attention: number[][][][]
  /** Scale of each position in each norm, two a layer and the last one. */
  scales: number[][]
}

/** What is held constant, from a pass before, and what is changed. */
export interface FrozenReference {
  reference: Reference
  /** `activations`: what the MLPs write is constant too. */
  frozen: 'gates' | 'activations'
  change(layer: number, position: number, neuron: number, activation: number): number
}

/** All logits of a text, computed in 64-bit floats from the same weights. */
export function computeReference(path: string, tokens: readonly number[], constant?: FrozenReference): Reference {
  const descriptor = openSync(path, 'r')
  const gguf = readGguf(descriptor)
  closeSync(descriptor)
  const file = readFileSync(path)
  const shape = readShape(gguf)
  const { headSize, heads, kvHeads, normEpsilon } = shape
  const rows = (name: string) => matrixOf(gguf, file, name)
  const norm = (name: string) => rows(name)[0] ?? []
  const embedding = rows('token_embd.weight')
  let x = tokens.map((token) => [...(embedding[token] ?? [])])
  const made: Reference = { logits: [], residuals: [], activations: [], gates: [], ups: [], attention: [], scales: [] }
  const normed = (stream: number[][], gain: readonly number[]) => {
    const before = constant?.reference.scales[made.scales.length]
    const scales = before ?? stream.map((row) => 1 / Math.sqrt(dot(row, row) / row.length + normEpsilon))
    made.scales.push(scales)
    return stream.map((row, position) =>
      row.map((value, index) => value * (scales[position] ?? 0) * (gain[index] ?? 0)),
    )
  }
  for (let layer = 0; layer < shape.layers; layer += 1) {
    const weights = (part: string) => rows(`blk.${layer}.${part}.weight`)
    made.residuals.push(x)
    const h = normed(x, norm(`blk.${layer}.attn_norm.weight`))
    const turned = (part: string, count: number) =>
      times(weights(part), h).map((row, position) => rotated(row, position, count, shape))
    const [q, k, v] = [turned('attn_q', heads), turned('attn_k', kvHeads), times(weights('attn_v'), h)]
    const patterns: number[][][] = []
    const mixed = x.map(() => new Array<number>(heads * headSize).fill(0))
    for (let head = 0; head < heads; head += 1) {
      const shared = Math.floor(head / (heads / kvHeads)) * headSize
      const part = (row: number[] | undefined, from: number) => (row ?? []).slice(from, from + headSize)
      patterns.push(
        q.map((row, position) => {
          const query = part(row, head * headSize)
          const scores = k.slice(0, position + 1).map((key) => dot(query, part(key, shared)) / Math.sqrt(headSize))
          const most = Math.max(...scores)
          const powers = scores.map((score) => Math.exp(score - most))
          const sum = powers.reduce((total, power) => total + power, 0)
          const pattern = constant?.reference.attention[layer]?.[head]?.[position] ?? powers.map((power) => power / sum)
          pattern.forEach((share, seen) => {
            part(v[seen], shared).forEach((value, index) => {
              const target = mixed[position] ?? []
              target[head * headSize + index] = (target[head * headSize + index] ?? 0) + share * value
            })
          })
          return pattern
        }),
      )
    }
    made.attention.push(patterns)
    x = added(x, times(weights('attn_output'), mixed))
    const m = normed(x, norm(`blk.${layer}.ffn_norm.weight`))
    const up = times(weights('ffn_up'), m)
    const gates =
      constant?.reference.gates[layer] ??
      times(weights('ffn_gate'), m).map((row) => row.map((gate) => gate / (1 + Math.exp(-gate))))
    const kept = constant?.frozen === 'activations' ? constant.reference.activations[layer] : undefined
    const activations = gates.map((row, position) =>
      row.map((gate, neuron) => {
        const activation = kept?.[position]?.[neuron] ?? gate * (up[position]?.[neuron] ?? 0)
        return constant?.change(layer, position, neuron, activation) ?? activation
      }),
    )
    made.gates.push(gates)
    made.ups.push(up)
    made.activations.push(activations)
    x = added(x, times(weights('ffn_down'), activations))
  }
  made.residuals.push(x)
  const output = gguf.tensors.has('output.weight') ? rows('output.weight') : embedding
  made.logits = times(output, normed(x, norm('output_norm.weight')))
  return made
}

function matrixOf(gguf: Gguf, file: Uint8Array, name: string): number[][] {
  const place = gguf.tensors.get(name)
  if (place === undefined) throw new Error(`${name} is missing`)
  const [columns = 0, rows = 1] = place.dimensions
  const values = new Float32Array(columns * rows)
  const { blockElements, blockBytes } = TENSOR_TYPES[place.type]
  const bytes = (values.length / blockElements) * blockBytes
  decodeTensor(place.type, file.subarray(place.offset, place.offset + bytes), values)
  return Array.from({ length: rows }, (_, row) => [...values.subarray(row * columns, (row + 1) * columns)])
}

function dot(one: readonly number[], other: readonly number[]): number {
  let sum = 0
  for (let index = 0; index < one.length; index += 1) sum += (one[index] ?? 0) * (other[index] ?? 0)
  return sum
}

const times = (matrix: readonly number[][], x: readonly number[][]) =>
  x.map((row) => matrix.map((weights) => dot(weights, row)))
const added = (one: number[][], other: number[][]) =>
  one.map((row, position) => row.map((value, index) => value + (other[position]?.[index] ?? 0)))

function rotated(row: readonly number[], position: number, heads: number, shape: LlamaShape): number[] {
  const { headSize, ropeBase } = shape
  const turned = [...row]
  for (let head = 0; head < heads; head += 1) {
    for (let pair = 0; pair < headSize / 2; pair += 1) {
      const angle = position * ropeBase ** ((-2 * pair) / headSize)
      const at = head * headSize + pair * 2
      const [even, odd] = [row[at] ?? 0, row[at + 1] ?? 0]
      turned[at] = even * Math.cos(angle) - odd * Math.sin(angle)
      turned[at + 1] = even * Math.sin(angle) + odd * Math.cos(angle)
    }
  }
  return turned
}
