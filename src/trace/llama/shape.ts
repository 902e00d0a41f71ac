// The sizes of a Llama model, from the metadata of its file, and the tensors that follow from them. A file with another
// architecture, another tensor or another size is refused: to leave out what it says would give other logits.

import type { Gguf, MetadataValue } from '../gguf/gguf.ts'
import { modelError } from '../gguf/model-error.ts'

export interface LlamaShape {
  layers: number
  width: number
  heads: number
  /** Groups of heads share keys and values. */
  kvHeads: number
  headSize: number
  mlp: number
  vocabulary: number
  /** The longest text that the model was trained on, in tokens. */
  context: number
  normEpsilon: number
  ropeBase: number
  /** How many numbers of a head turn with the position. */
  ropeSize: number
}

// Ten times the largest public Llama models, whose products stay safe integers.
const MAX = { layers: 512, width: 65_536, heads: 1_024, mlp: 524_288, vocabulary: 1_000_000, context: 16_777_216 }

/** @throws {ModelError} naming what is missing, wrong or not supported. */
export function readShape({ metadata, tensors }: Gguf): LlamaShape {
  const architecture = metadata.get('general.architecture')
  if (architecture !== 'llama') {
    throw unsupported(`The architecture is ${quoted(architecture)}; only "llama" is supported.`)
  }
  refuseVariants(metadata)
  const count = (key: string, max: number, fallback?: number) => {
    const value = metadata.get(`llama.${key}`) ?? fallback
    if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max) return value
    throw invalid(`llama.${key} is ${quoted(value)}; a whole number from 1 to ${max} is needed.`)
  }
  const positive = (key: string, fallback?: number) => {
    const value = metadata.get(`llama.${key}`) ?? fallback
    if (typeof value === 'number' && value > 0 && value < Number.POSITIVE_INFINITY) return value
    throw invalid(`llama.${key} is ${quoted(value)}; a number above 0 is needed.`)
  }
  const width = count('embedding_length', MAX.width)
  const heads = count('attention.head_count', MAX.heads)
  const headSize = count('attention.key_length', MAX.width, Math.floor(width / heads))
  const shape: LlamaShape = {
    layers: count('block_count', MAX.layers),
    width,
    heads,
    kvHeads: count('attention.head_count_kv', MAX.heads, heads),
    headSize,
    mlp: count('feed_forward_length', MAX.mlp),
    vocabulary: vocabularyOf(metadata),
    context: count('context_length', MAX.context),
    normEpsilon: positive('attention.layer_norm_rms_epsilon'),
    ropeBase: positive('rope.freq_base', 10_000),
    ropeSize: count('rope.dimension_count', headSize, headSize),
  }
  if (count('attention.value_length', MAX.width, headSize) !== headSize) {
    throw unsupported('Values have another size than keys, which is not supported.')
  }
  if (shape.heads % shape.kvHeads !== 0) {
    throw invalid(`${shape.heads} heads can not share the keys of ${shape.kvHeads}.`)
  }
  for (const name of ['width', 'headSize', 'mlp'] as const) {
    // Four floats are one step of the kernel.
    if (shape[name] % 4 !== 0)
      throw unsupported(`The ${name} of the model is ${shape[name]}, which is no multiple of 4.`)
  }
  if (shape.ropeSize % 2 !== 0) throw invalid(`llama.rope.dimension_count is ${shape.ropeSize}, which is odd.`)
  checkTensors(shape, tensors)
  return shape
}

/** The name of each tensor that a model of this shape has, and its rows and columns; norms have one row. */
export function tensorsOf({ layers, width, heads, kvHeads, headSize, mlp, vocabulary, ropeSize }: LlamaShape) {
  const blocks = Array.from({ length: layers }, (_, layer) => {
    const named = (part: string) => `blk.${layer}.${part}.weight`
    return [
      [named('attn_norm'), 1, width],
      [named('attn_q'), heads * headSize, width],
      [named('attn_k'), kvHeads * headSize, width],
      [named('attn_v'), kvHeads * headSize, width],
      [named('attn_output'), width, heads * headSize],
      [named('ffn_norm'), 1, width],
      [named('ffn_gate'), mlp, width],
      [named('ffn_up'), mlp, width],
      [named('ffn_down'), width, mlp],
    ] as const
  })
  const required = new Map<string, Size>(
    [
      ['token_embd.weight', vocabulary, width] as const,
      ['output_norm.weight', 1, width] as const,
      ...blocks.flat(),
    ].map(([name, rows, columns]) => [name, { rows, columns }]),
  )
  const optional = new Map<string, Size>([
    // Without it the embedding is used at the output too.
    ['output.weight', { rows: vocabulary, columns: width }],
    // What Llama 3.1 divides the frequencies of the positions by.
    ['rope_freqs.weight', { rows: 1, columns: ropeSize / 2 }],
  ])
  return { required, optional }
}

interface Size {
  rows: number
  columns: number
}

function checkTensors(shape: LlamaShape, tensors: Gguf['tensors']): void {
  const { required, optional } = tensorsOf(shape)
  for (const name of required.keys()) if (!tensors.has(name)) throw invalid(`The tensor ${name} is missing.`)
  for (const [name, { dimensions }] of tensors) {
    const size = required.get(name) ?? optional.get(name)
    if (size === undefined) throw unsupported(`The tensor ${quoted(name)} is none of a plain Llama model.`)
    const [columns, rows = 1, ...others] = dimensions
    if (columns !== size.columns || rows !== size.rows || others.some((more) => more !== 1)) {
      throw invalid(`${name} has the size ${dimensions.join(' x ')}; ${size.columns} x ${size.rows} is needed.`)
    }
  }
}

function refuseVariants(metadata: ReadonlyMap<string, MetadataValue>): void {
  const experts = metadata.get('llama.expert_count') ?? 0
  if (experts !== 0) throw unsupported(`The model is a mixture of ${quoted(experts)} experts, which is not supported.`)
  const scaling = metadata.get('llama.rope.scaling.type') ?? 'none'
  if (scaling !== 'none') throw unsupported(`The positions are scaled by ${quoted(scaling)}, which is not supported.`)
  if (metadata.has('llama.attention.sliding_window')) throw unsupported('Sliding windows are not supported.')
}

function vocabularyOf(metadata: ReadonlyMap<string, MetadataValue>): number {
  const tokens = metadata.get('tokenizer.ggml.tokens')
  if (!Array.isArray(tokens) || tokens.length < 1 || tokens.length > MAX.vocabulary) {
    throw invalid(`tokenizer.ggml.tokens is no list of 1 to ${MAX.vocabulary} tokens.`)
  }
  return tokens.length
}

const invalid = (message: string) => modelError('model_file_invalid', message)
const unsupported = (message: string) => modelError('model_unsupported', message)
const quoted = (value: unknown) => (value === undefined ? 'missing' : JSON.stringify(value)?.slice(0, 60))
