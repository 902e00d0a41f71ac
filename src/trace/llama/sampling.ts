// Chooses the next token from its logits. The same logits, settings and seed choose the same token on every machine:
// sums are made in one order, and ties go to the lower token.

import { modelError } from '../gguf/model-error.ts'

export interface SamplingSettings {
  /** 0 always takes the most likely token. */
  temperature: number
  /** Only so many of the most likely tokens; 0 means all. */
  topK: number
  /** Only the most likely tokens that have this probability together; 1 means all. */
  topP: number
  /** Any whole number from 0 to 2^53 - 1. */
  seed: number
}

export const GREEDY: SamplingSettings = { temperature: 0, topK: 0, topP: 1, seed: 0 }

export interface SampledToken {
  token: number
  /** The natural logarithm of its probability among all tokens, at temperature 1. */
  logProbability: number
}

export type Sampler = (logits: Float32Array) => SampledToken

/** @throws {ModelError} for settings out of range. */
export function createSampler({ temperature, topK, topP, seed }: SamplingSettings): Sampler {
  requireThat(temperature >= 0 && temperature <= 10, 'temperature is a number from 0 to 10')
  requireThat(Number.isInteger(topK) && topK >= 0, 'top_k is a whole number, and 0 means all')
  requireThat(topP > 0 && topP <= 1, 'top_p is a number above 0 and up to 1')
  requireThat(Number.isSafeInteger(seed) && seed >= 0, 'seed is a whole number from 0 to 2^53 - 1')
  const random = createRandom(seed)

  return (logits) => {
    const best = indexOfLargest(logits)
    const most = logits[best] ?? Number.NaN
    if (!Number.isFinite(most)) {
      throw modelError('model_file_invalid', 'The weights of the model give logits that are no numbers.')
    }
    const token = temperature === 0 ? best : draw(logits, most, { temperature, topK, topP }, random)
    return { token, logProbability: (logits[token] ?? 0) - most - Math.log(sumOfPowers(logits, most, 1)) }
  }
}

function draw(
  logits: Float32Array,
  most: number,
  { temperature, topK, topP }: Omit<SamplingSettings, 'seed'>,
  random: () => number,
): number {
  const weightOf = (token: number) => Math.exp(((logits[token] ?? 0) - most) / temperature)
  // Tokens this unlikely can not be among those that reach top_p: all of them together have less than the rest. They are
  // left out before the sort.
  const total = topP < 1 && topK === 0 ? sumOfPowers(logits, most, temperature) : 0
  const least = (total * (1 - topP)) / logits.length
  const floor =
    topK > 0 && topK < logits.length ? (logits.toSorted()[logits.length - topK] ?? 0) : Number.NEGATIVE_INFINITY
  let kept: number[] = []
  for (let token = 0; token < logits.length; token += 1) {
    if ((logits[token] ?? 0) >= floor && weightOf(token) >= least) kept.push(token)
  }
  if (topK > 0 || topP < 1) {
    kept.sort((one, other) => (logits[other] ?? 0) - (logits[one] ?? 0) || one - other)
    if (topK > 0) kept = kept.slice(0, topK)
    if (topP < 1) kept = keepShare(kept, weightOf, topP * (topK > 0 ? weightsOf(kept, weightOf) : total))
  }
  let left = random() * weightsOf(kept, weightOf)
  for (const token of kept) {
    left -= weightOf(token)
    if (left < 0) return token
  }
  return kept.at(-1) ?? 0
}

function weightsOf(tokens: readonly number[], weightOf: (token: number) => number): number {
  return tokens.reduce((sum, token) => sum + weightOf(token), 0)
}

/** The first tokens that reach the weight together; at least one. */
function keepShare(tokens: readonly number[], weightOf: (token: number) => number, share: number): number[] {
  let reached = 0
  const count = tokens.findIndex((token) => {
    reached += weightOf(token)
    return reached >= share
  })
  return count === -1 ? [...tokens] : tokens.slice(0, count + 1)
}

function indexOfLargest(logits: Float32Array): number {
  let best = 0
  for (let token = 0; token < logits.length; token += 1) {
    const logit = logits[token] ?? 0
    // What is no number is found here and refused by the caller.
    if (Number.isNaN(logit)) return token
    if (logit > (logits[best] ?? 0)) best = token
  }
  return best
}

function sumOfPowers(logits: Float32Array, most: number, temperature: number): number {
  let sum = 0
  for (let token = 0; token < logits.length; token += 1) sum += Math.exp(((logits[token] ?? 0) - most) / temperature)
  return sum
}

function requireThat(isRight: boolean, sentence: string): void {
  if (!isRight) throw modelError('request_invalid', `${sentence}.`)
}

/** Numbers from 0 up to 1, with 53 bits: xoshiro128** (Blackman and Vigna), seeded by splitmix32. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  const next32 = () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state ^ (state >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
  let [a, b] = [next32(), next32()]
  // The upper part of a large seed.
  state = (state ^ Math.floor(seed / 2 ** 32)) >>> 0
  let [c, d] = [next32(), next32()]

  function take(): number {
    const rotated = Math.imul(b, 5)
    const result = Math.imul((rotated << 7) | (rotated >>> 25), 9) >>> 0
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = (d << 11) | (d >>> 21)
    return result
  }
  return () => (take() * 2 ** 21 + (take() >>> 11)) / 2 ** 53
}
