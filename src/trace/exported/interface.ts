// What an exported decoder takes and gives, by the names that exporters have settled on. An input that is not known is
// refused: to make up its value would give other logits.

import { modelError } from '../gguf/model-error.ts'
import type { OnnxGraph } from '../onnx/proto.ts'
import { ELEMENT, type OnnxValue } from '../onnx/tensor.ts'

export interface DecoderInterface {
  ids: string
  /** 1 for each token of the cache and of the text. */
  mask: string | undefined
  positions: string | undefined
  /** Input of decoders that were merged from one with a cache and one without. */
  usesCache: string | undefined
  logits: string
  vocabulary: number
  /** Keys and values of the layers. Empty: each token is a pass over the whole text. */
  cache: readonly CacheTensor[]
  /** The caller chooses how many texts a pass has. */
  hasBatch: boolean
  /** Indices are 32-bit integers, as some exporters make them. */
  index: 'int64' | 'int32'
}

export interface CacheTensor {
  input: string
  output: string
  heads: number
  size: number
  element: 'float32' | 'float16'
}

const PAST = /^past(?:_key_values)?[._](\d+)[._](?:decoder[._])?(key|value)$|^past_(key|value)(?:_values)?[._](\d+)$/
const PRESENT =
  /^present(?:_key_values)?[._](\d+)[._](?:decoder[._])?(key|value)$|^present_(key|value)(?:_values)?[._](\d+)$/

/**
 * @param headSize For caches whose size the graph leaves open.
 * @throws {ModelError} `model_unsupported` naming what is no part of a decoder.
 */
export function readInterface(
  { inputs, outputs, initializers }: OnnxGraph,
  headSize: number | undefined,
): DecoderInterface {
  // Files of old versions list the weights among the inputs.
  const weights = new Set(initializers.map(({ name }) => name))
  const given = inputs.filter(({ name }) => !weights.has(name))
  const find = (name: string) => given.find((one) => one.name === name)
  const ids = find('input_ids')
  const logits = outputs.find(({ name }) => name === 'logits')
  if (ids === undefined || logits === undefined) throw unsupported('no input input_ids, or no output logits')
  const vocabulary = logits.dims?.at(-1)
  if (logits.element !== ELEMENT.float || typeof vocabulary !== 'number' || vocabulary < 1 || vocabulary > 1_000_000) {
    throw unsupported('logits that are no floats of a known number')
  }
  const flag = given.find(({ name }) => name === 'use_cache_branch')
  const known = new Set(['input_ids', 'attention_mask', 'position_ids', 'use_cache_branch'])
  const other = given.find(({ name }) => !known.has(name) && !PAST.test(name))
  if (other !== undefined) throw unsupported(`the input ${JSON.stringify(other.name.slice(0, 80))}`)
  const index = ids.element === ELEMENT.int32 ? 'int32' : 'int64'
  for (const name of ['input_ids', 'attention_mask', 'position_ids']) {
    const element = find(name)?.element
    if (element !== undefined && element !== (index === 'int32' ? ELEMENT.int32 : ELEMENT.int64)) {
      throw unsupported(`an input ${name} of another type`)
    }
  }
  return {
    ids: ids.name,
    mask: find('attention_mask')?.name,
    positions: find('position_ids')?.name,
    usesCache: flag?.name,
    logits: logits.name,
    vocabulary,
    cache: cacheOf(given, outputs, headSize),
    hasBatch: typeof ids.dims?.[0] !== 'number',
    index,
  }
}

function cacheOf(
  inputs: readonly OnnxValue[],
  outputs: readonly OnnxValue[],
  headSize: number | undefined,
): CacheTensor[] {
  const present = new Map(outputs.flatMap((output) => placeOf(PRESENT, output).map((place) => [place, output.name])))
  const cache = inputs.flatMap((input) =>
    placeOf(PAST, input).map((place) => {
      const output = present.get(place)
      if (output === undefined) throw unsupported(`a cache whose input ${input.name} has no output`)
      const [, heads, , given] = input.dims ?? []
      const size = typeof given === 'number' ? given : headSize
      const element =
        input.element === ELEMENT.float ? 'float32' : input.element === ELEMENT.float16 ? 'float16' : undefined
      if (typeof heads !== 'number' || typeof size !== 'number' || element === undefined || input.dims?.length !== 4) {
        throw unsupported(`a cache of an unknown shape (${input.name})`)
      }
      if (heads < 1 || heads > 1_024 || size < 1 || size > 65_536) throw unsupported('a cache of impossible sizes')
      return { input: input.name, output, heads, size, element } as const
    }),
  )
  if (new Set(cache.map(({ output }) => output)).size !== cache.length) throw unsupported('a cache that is named twice')
  return cache
}

function placeOf(pattern: RegExp, { name }: OnnxValue): string[] {
  const [, layer, kind, otherKind, otherLayer] = pattern.exec(name) ?? []
  const place = layer ?? otherLayer
  return place === undefined ? [] : [`${Number(place)} ${kind ?? otherKind}`]
}

const unsupported = (what: string) =>
  modelError('model_unsupported', `The model has ${what}, so it is no decoder that can be run.`)
