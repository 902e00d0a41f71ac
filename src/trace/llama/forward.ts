// The forward pass of a Llama model over a cache of keys and values. Tokens are fed in order, any number at a time: the
// bits of a result do not depend on how a text was divided.

import { modelError } from '../gguf/model-error.ts'
import { allocated } from '../kernel/kernel.ts'
import type { Internals } from './internals.ts'
import type { LlamaShape } from './shape.ts'
import type { LlamaLayer, LoadedWeights } from './weights.ts'

/** What computes the logits of a text that is fed piece by piece. */
export interface TextFeeder {
  /** The most tokens of one text. */
  maxTokens: number
  /** The most tokens of one piece. */
  maxPieceTokens: number
  /** The tokens that have been fed since the last `restart`. */
  readonly position: number
  restart(): void
  /** Drops the tokens from this position on: what is fed next continues the ones before it. */
  rewind(position: number): void
  /**
   * Feeds at most `maxPieceTokens` tokens. Returns the logits of the last one, or of each, a row each; the array is used
   * again by the next call. The rows of these positions are written into `internals`.
   */
  feed(tokens: readonly number[], options?: FeedOptions): Float32Array | Promise<Float32Array>
}

export interface Llama extends TextFeeder {
  shape: LlamaShape
  /**
   * The logits that these rows of the residual stream give, as if the last layer had ended with them: at most `CHUNK_TOKENS`,
   * a row each. The array is used again by the next call.
   */
  unembed(residual: Float32Array): Float32Array
  feed(tokens: readonly number[], options?: FeedOptions): Float32Array
}

export interface FeedOptions {
  internals?: Internals
  logits?: 'none' | 'last' | 'all'
  /** Neurons whose activation is multiplied by a factor, 0 to ablate them. The internals keep what it was before. */
  edits?: readonly NeuronEdit[]
}

/** Tokens that are fed together. */
interface Piece {
  count: number
  internals: Internals | undefined
  edits: readonly NeuronEdit[]
}

export interface NeuronEdit {
  layer: number
  position: number
  neuron: number
  factor: number
}

// Each decoded row of weights is used for all tokens of a chunk; more of them would not stay in the processor's cache.
export const CHUNK_TOKENS = 32

/** What `createLlama` allocates of the kernel's memory. */
export function forwardBytes(shape: LlamaShape, maxTokens: number): number {
  return Object.values(sizesOf(shape, maxTokens)).reduce((sum, bytes) => sum + allocated(bytes), 0)
}

function sizesOf({ layers, width, heads, kvHeads, headSize, mlp, vocabulary }: LlamaShape, maxTokens: number) {
  const cache = layers * maxTokens * kvHeads * headSize * 4
  return {
    keys: cache,
    values: cache,
    residual: CHUNK_TOKENS * width * 4,
    normed: CHUNK_TOKENS * width * 4,
    queries: CHUNK_TOKENS * heads * headSize * 4,
    mixed: CHUNK_TOKENS * heads * headSize * 4,
    added: CHUNK_TOKENS * width * 4,
    gate: CHUNK_TOKENS * mlp * 4,
    up: CHUNK_TOKENS * mlp * 4,
    scores: maxTokens * 4,
    logits: CHUNK_TOKENS * vocabulary * 4,
  }
}

export function createLlama({ shape, weights, kernel }: LoadedWeights, maxTokens: number): Llama {
  const { layers, width, heads, kvHeads, headSize, mlp, vocabulary, normEpsilon } = shape
  const sizes = sizesOf(shape, maxTokens)
  const at = Object.fromEntries(
    Object.entries(sizes).map(([name, bytes]) => [name, kernel.allocate(bytes)]),
  ) as typeof sizes
  const { floats } = kernel
  const rope = createRope(shape, weights.ropeDivisors)
  const queryBytes = heads * headSize * 4
  const cacheBytes = kvHeads * headSize * 4
  const widthBytes = width * 4
  // Made once, as each layer multiplies them.
  const rows = {
    normed: { address: at.normed, stride: widthBytes },
    queries: { address: at.queries, stride: queryBytes },
    mixed: { address: at.mixed, stride: queryBytes },
    added: { address: at.added, stride: widthBytes },
    gate: { address: at.gate, stride: mlp * 4 },
    up: { address: at.up, stride: mlp * 4 },
  }
  let position = 0

  function feed(tokens: readonly number[], { internals, logits = 'last', edits = [] }: FeedOptions = {}): Float32Array {
    const count = tokens.length
    if (count === 0 || count > CHUNK_TOKENS) throw new RangeError(`${count} tokens are no chunk`)
    if (position + count > maxTokens) {
      throw modelError('request_invalid', `The text is longer than ${maxTokens} tokens.`)
    }
    if (internals !== undefined && position + count > internals.positions) {
      throw new RangeError(`internals of ${internals.positions} positions can not hold ${position + count}`)
    }
    tokens.forEach((token, row) => {
      if (!Number.isInteger(token) || token < 0 || token >= vocabulary) {
        throw modelError('request_invalid', `${token} is no token of the model.`)
      }
      kernel.decodeRows(weights.embedding, token, 1, at.residual + row * widthBytes)
    })
    const piece = { count, internals, edits }
    weights.layers.forEach((layer, number) => {
      attend(layer, number, piece)
      transform(layer, number, piece)
    })
    const found = finish(count, logits, internals)
    position += count
    if (internals !== undefined) internals.filled = position
    return found
  }

  function attend(layer: LlamaLayer, number: number, { count, internals }: Piece): void {
    const own = internals?.layers[number]
    if (internals?.wanted.residuals) copyRows(own?.residual, at.residual, count, width)
    normalize(layer.attentionNorm, count, own?.attentionScale)
    const cacheAt = number * maxTokens * cacheBytes
    const [keys, values] = [at.keys + cacheAt, at.values + cacheAt]
    const row = position * cacheBytes
    kernel.multiply(layer.query, rows.normed, count, rows.queries)
    kernel.multiply(layer.key, rows.normed, count, { address: keys + row, stride: cacheBytes })
    kernel.multiply(layer.value, rows.normed, count, { address: values + row, stride: cacheBytes })
    for (let index = 0; index < count; index += 1) {
      rope.turn(floats, (at.queries + index * queryBytes) / 4, heads, position + index)
      rope.turn(floats, (keys + row + index * cacheBytes) / 4, kvHeads, position + index)
    }
    const patterns = internals?.wanted.attention ? own?.attention : undefined
    for (let index = 0; index < count; index += 1) {
      const seen = position + index + 1
      for (let head = 0; head < heads; head += 1) {
        const shared = Math.floor((head * kvHeads) / heads) * headSize * 4
        const place = index * queryBytes + head * headSize * 4
        kernel.multiplyRows(at.queries + place, 0, 1, keys + shared, cacheBytes, seen, headSize * 4, at.scores, 0)
        const scores = floats.subarray(at.scores / 4, at.scores / 4 + seen)
        softmax(scores, 1 / Math.sqrt(headSize))
        patterns?.set(scores, (head * (internals?.positions ?? 0) + position + index) * (internals?.positions ?? 0))
        kernel.mixRows(at.scores, seen, values + shared, cacheBytes, headSize * 4, at.mixed + place)
      }
    }
    kernel.multiply(layer.output, rows.mixed, count, rows.added)
    addTo(floats, at.residual / 4, at.added / 4, count * width)
  }

  function transform(layer: LlamaLayer, number: number, { count, internals, edits }: Piece): void {
    const own = internals?.layers[number]
    if (internals?.wanted.residuals) copyRows(own?.middle, at.residual, count, width)
    normalize(layer.mlpNorm, count, own?.mlpScale)
    kernel.multiply(layer.gate, rows.normed, count, rows.gate)
    kernel.multiply(layer.up, rows.normed, count, rows.up)
    const [gate, up] = [at.gate / 4, at.up / 4]
    for (let index = 0; index < count * mlp; index += 1) floats[gate + index] = silu(floats[gate + index] ?? 0)
    if (internals?.wanted.neurons) {
      copyRows(own?.gate, at.gate, count, mlp)
      copyRows(own?.up, at.up, count, mlp)
    }
    for (let index = 0; index < count * mlp; index += 1) {
      floats[gate + index] = (floats[gate + index] ?? 0) * (floats[up + index] ?? 0)
    }
    for (const edit of edits) {
      const row = edit.position - position
      if (edit.layer !== number || row < 0 || row >= count) continue
      const place = gate + row * mlp + edit.neuron
      floats[place] = (floats[place] ?? 0) * edit.factor
    }
    kernel.multiply(layer.down, rows.gate, count, rows.added)
    addTo(floats, at.residual / 4, at.added / 4, count * width)
  }

  function finish(count: number, logits: 'none' | 'last' | 'all', internals: Internals | undefined): Float32Array {
    const wanted = logits === 'all' ? count : logits === 'last' ? 1 : 0
    if (wanted === 0 && internals === undefined) return new Float32Array()
    copyRows(internals?.final, at.residual, count, width)
    normalize(weights.norm, count, internals?.finalScale)
    copyRows(internals?.normed, at.normed, count, width)
    if (wanted > 0) {
      const last = { address: at.normed + (count - wanted) * widthBytes, stride: widthBytes }
      kernel.multiply(weights.unembedding, last, wanted, { address: at.logits, stride: vocabulary * 4 })
    }
    return floats.subarray(at.logits / 4, at.logits / 4 + wanted * vocabulary)
  }

  /** Residual rows divided by their root mean square and multiplied by the norm's weights. Sums have 64 bits. */
  function normalize(gain: Float32Array, count: number, scales: Float32Array | undefined): void {
    for (let row = 0; row < count; row += 1) {
      const from = at.residual / 4 + row * width
      const to = at.normed / 4 + row * width
      let squares = 0
      for (let index = 0; index < width; index += 1) {
        const value = floats[from + index] ?? 0
        squares += value * value
      }
      const scale = Math.fround(1 / Math.sqrt(squares / width + normEpsilon))
      if (scales !== undefined) scales[position + row] = scale
      for (let index = 0; index < width; index += 1) {
        floats[to + index] = (floats[from + index] ?? 0) * scale * (gain[index] ?? 0)
      }
    }
  }

  function copyRows(target: Float32Array | undefined, from: number, count: number, columns: number): void {
    target?.set(floats.subarray(from / 4, from / 4 + count * columns), position * columns)
  }

  return {
    shape: { ...shape, layers },
    maxTokens,
    maxPieceTokens: CHUNK_TOKENS,
    get position() {
      return position
    },
    restart() {
      position = 0
    },
    rewind(to) {
      if (!Number.isInteger(to) || to < 0 || to > position)
        throw new RangeError(`${to} is no position before ${position}`)
      position = to
    },
    unembed(residual) {
      const count = residual.length / width
      if (count < 1 || count > CHUNK_TOKENS) throw new RangeError(`${count} rows are no chunk`)
      floats.set(residual, at.residual / 4)
      return finish(count, 'all', undefined)
    },
    feed,
  }
}

function silu(value: number): number {
  return value / (1 + Math.exp(-value))
}

function softmax(scores: Float32Array, factor: number): void {
  let most = Number.NEGATIVE_INFINITY
  for (let index = 0; index < scores.length; index += 1) most = Math.max(most, scores[index] ?? 0)
  let sum = 0
  for (let index = 0; index < scores.length; index += 1) {
    const value = Math.fround(Math.exp(((scores[index] ?? 0) - most) * factor))
    scores[index] = value
    sum += value
  }
  for (let index = 0; index < scores.length; index += 1) scores[index] = (scores[index] ?? 0) / sum
}

function addTo(floats: Float32Array, to: number, from: number, count: number): void {
  for (let index = 0; index < count; index += 1)
    floats[to + index] = (floats[to + index] ?? 0) + (floats[from + index] ?? 0)
}

/** Turns pairs of neighbours by the position: the rows of Q and K in a GGUF file are in this order. */
export function createRope({ headSize, ropeSize, ropeBase }: LlamaShape, divisors: Float32Array | undefined) {
  const frequencies = Float64Array.from(
    { length: ropeSize / 2 },
    (_, pair) => ropeBase ** ((-2 * pair) / ropeSize) / (divisors?.[pair] ?? 1),
  )
  return {
    /** A negative position turns back. */
    turn(floats: Float32Array, from: number, heads: number, position: number): void {
      for (let pair = 0; pair < frequencies.length; pair += 1) {
        const angle = position * (frequencies[pair] ?? 0)
        const [cos, sin] = [Math.fround(Math.cos(angle)), Math.fround(Math.sin(angle))]
        for (let head = 0; head < heads; head += 1) {
          const place = from + head * headSize + pair * 2
          const [even, odd] = [floats[place] ?? 0, floats[place + 1] ?? 0]
          floats[place] = even * cos - odd * sin
          floats[place + 1] = even * sin + odd * cos
        }
      }
    },
  }
}
