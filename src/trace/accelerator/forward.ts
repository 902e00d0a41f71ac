// The forward pass with a graph for the layers. It keeps keys and values of its own, so it and the kernel's forward pass
// do not disturb each other. The logits are the kernel's, of the residual stream that the layers end with.

import { modelError } from '../gguf/model-error.ts'
import { createRope, type FeedOptions, type NeuronEdit, type TextFeeder } from '../llama/forward.ts'
import type { Internals } from '../llama/internals.ts'
import type { LoadedModel } from '../llama/model.ts'
import type { FloatLayer, FloatSession, Floats, FloatTensor } from './floats.ts'

// The scores of 256 tokens that see 2,048 are 19 MB for 9 heads; more at once are no faster.
const PIECE_TOKENS = 256

export interface ForwardParts {
  floats: Floats
  layer: FloatSession
  /** Made by the first call, which takes a moment. */
  weights(): readonly FloatLayer[]
}

/** Tokens that are fed together. */
interface Piece {
  count: number
  /** What every layer is fed. */
  common: Record<string, FloatTensor>
  internals: Internals | undefined
  edits: readonly NeuronEdit[]
}

export function createFeeder(model: LoadedModel, { floats, layer: session, weights }: ForwardParts): TextFeeder {
  const { shape, kernel, llama } = model
  const { layers, width, heads, kvHeads, headSize, mlp, vocabulary, normEpsilon } = shape
  const { maxTokens } = llama
  const shared = kvHeads * headSize
  // Memory that is never written takes none.
  const caches = Array.from({ length: layers }, () => ({
    keys: new Float32Array(maxTokens * shared),
    values: new Float32Array(maxTokens * shared),
  }))
  const turns = createTurns(model)
  let position = 0

  function embed(tokens: readonly number[]): Float32Array {
    const rows = new Float32Array(tokens.length * width)
    tokens.forEach((token, row) => {
      if (!Number.isInteger(token) || token < 0 || token >= vocabulary) {
        throw modelError('request_invalid', `${token} is no token of the model.`)
      }
      rows.set(kernel.readRows(model.weights.embedding, token, 1), row * width)
    })
    return rows
  }

  async function feed(
    tokens: readonly number[],
    { internals, logits = 'last', edits = [] }: FeedOptions = {},
  ): Promise<Float32Array> {
    const count = tokens.length
    const seen = position + count
    if (count === 0 || count > PIECE_TOKENS) throw new RangeError(`${count} tokens are no piece`)
    if (logits === 'all') throw new RangeError('only the logits of the last token are computed')
    if (seen > maxTokens) throw modelError('request_invalid', `The text is longer than ${maxTokens} tokens.`)
    if (internals !== undefined && seen > internals.positions) {
      throw new RangeError(`internals of ${internals.positions} positions can not hold ${seen}`)
    }
    let residual = embed(tokens)
    const common = { ...turns(position, count), mask: floats.tensor(maskOf(position, count), [count, seen]) }
    const piece = { count, common, internals, edits }
    for (let number = 0; number < layers; number += 1) {
      residual = await runLayer(number, residual, piece)
    }
    const at = position
    position = seen
    if (internals !== undefined) keepEnd(internals, residual, at)
    return logits === 'none' ? new Float32Array() : llama.unembed(residual.subarray((count - 1) * width))
  }

  async function runLayer(
    number: number,
    x: Float32Array,
    { count, common, internals, edits }: Piece,
  ): Promise<Float32Array> {
    const [layer, cache, own] = [weights()[number], caches[number], internals?.layers[number]]
    if (layer === undefined || cache === undefined) throw new RangeError(`there is no layer ${number}`)
    const rows = (values: Float32Array, columns: number) =>
      floats.tensor(values.subarray(position * columns, (position + count) * columns), [count, columns])
    const sharedRows = (values: Float32Array, from: number, to: number) =>
      floats.tensor(values.subarray(from * shared, to * shared), [to - from, kvHeads, headSize])
    const { residuals = false, attention = false, neurons = false } = internals?.wanted ?? {}
    const fetches = {
      key: sharedRows(cache.keys, position, position + count),
      value: sharedRows(cache.values, position, position + count),
      residual: null,
      ...(own && { attentionScale: rows(own.attentionScale, 1), mlpScale: rows(own.mlpScale, 1) }),
      ...(own && residuals && { middle: rows(own.middle, width) }),
      ...(own && neurons && { gate: rows(own.gate, mlp), up: rows(own.up, mlp) }),
      ...(own && attention && { attention: null }),
    }
    if (residuals) own?.residual.set(x, position * width)
    const feeds = {
      ...common,
      x: floats.tensor(x, [count, width]),
      keys: sharedRows(cache.keys, 0, position),
      values: sharedRows(cache.values, 0, position),
      factors: factorsOf(edits, number, count),
      query: floats.tensor(layer.query, [heads * headSize, width]),
      keyMatrix: floats.tensor(layer.key, [shared, width]),
      valueMatrix: floats.tensor(layer.value, [shared, width]),
      output: floats.tensor(layer.output, [width, heads * headSize]),
      gateMatrix: floats.tensor(layer.gate, [mlp, width]),
      upMatrix: floats.tensor(layer.up, [mlp, width]),
      down: floats.tensor(layer.down, [width, mlp]),
    }
    const read = await session.run(feeds, fetches)
    if (own && attention) keepPatterns(own.attention, read('attention'), internals?.positions ?? 0, count)
    return read('residual')
  }

  /** Copies heads x tokens x seen into heads x positions x positions. */
  function keepPatterns(target: Float32Array, patterns: Float32Array, positions: number, count: number): void {
    const seen = position + count
    for (let row = 0; row < heads * count; row += 1) {
      const to = (Math.floor(row / count) * positions + position + (row % count)) * positions
      target.set(patterns.subarray(row * seen, (row + 1) * seen), to)
    }
  }

  function keepEnd(internals: Internals, residual: Float32Array, at: number): void {
    internals.final.set(residual, at * width)
    for (let from = 0; from < residual.length; from += width) {
      const row = residual.subarray(from, from + width)
      const squares = row.reduce((sum, value) => sum + value * value, 0)
      const scale = Math.fround(1 / Math.sqrt(squares / width + normEpsilon))
      internals.finalScale[at + from / width] = scale
      const { norm } = model.weights
      internals.normed.set(
        row.map((value, index) => value * scale * (norm[index] ?? 0)),
        at * width + from,
      )
    }
    internals.filled = position
  }

  function factorsOf(edits: readonly NeuronEdit[], number: number, count: number): FloatTensor {
    const own = edits.filter((edit) => {
      return edit.layer === number && edit.position >= position && edit.position < position + count
    })
    if (own.length === 0) return floats.tensor(Float32Array.of(1), [1, 1])
    const factors = new Float32Array(count * mlp).fill(1)
    for (const { neuron, factor, ...edit } of own) {
      const place = (edit.position - position) * mlp + neuron
      factors[place] = (factors[place] ?? 1) * factor
    }
    return floats.tensor(factors, [count, mlp])
  }

  /** The cosines and sines of these positions; a pair that does not turn has 1 and 0. */
  function createTurns({ weights: { ropeDivisors } }: LoadedModel) {
    const { turn } = createRope(shape, ropeDivisors)
    return (first: number, count: number) => {
      const pairs = headSize / 2
      const unit = new Float32Array(headSize)
      const [cos, sin] = [new Float32Array(count * pairs), new Float32Array(count * pairs)]
      for (let row = 0; row < count; row += 1) {
        for (let pair = 0; pair < pairs; pair += 1) unit.set([1, 0], pair * 2)
        turn(unit, 0, 1, first + row)
        for (let pair = 0; pair < pairs; pair += 1) {
          cos[row * pairs + pair] = unit[pair * 2] ?? 1
          sin[row * pairs + pair] = unit[pair * 2 + 1] ?? 0
        }
      }
      const dims = [count, 1, pairs, 1]
      return { cos: floats.tensor(cos, dims), sin: floats.tensor(sin, dims) }
    }
  }

  return {
    maxTokens,
    maxPieceTokens: PIECE_TOKENS,
    get position() {
      return position
    },
    restart() {
      position = 0
    },
    rewind(to) {
      if (!Number.isInteger(to) || to < 0 || to > position) {
        throw new RangeError(`${to} is no position before ${position}`)
      }
      position = to
    },
    feed,
  }
}

/** tokens x seen, added to the scores: a token sees itself and those before it. */
function maskOf(first: number, count: number): Float32Array {
  const seen = first + count
  const mask = new Float32Array(count * seen)
  for (let row = 0; row < count; row += 1)
    mask.fill(Number.NEGATIVE_INFINITY, row * seen + first + row + 1, (row + 1) * seen)
  return mask
}
