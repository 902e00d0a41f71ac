// What is explained: a token at a position, against the most likely other token there.

import { modelError } from '../gguf/model-error.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'
import { type FrozenPass, readVectorOf } from './frozen.ts'

export interface Objective {
  /** Explained. */
  token: number
  /** The most likely other token. The objective is the difference of their logits. */
  contrast: number
  difference: number
}

export interface LogitTarget {
  token: number
  logit: number
  probability: number
  isTarget: boolean
}

/** @param token Undefined: the most likely one. @throws {ModelError} when the model does not have it. */
export function chooseObjective({ logits }: Pick<FrozenPass, 'logits'>, token?: number): Objective {
  const chosen = token ?? largestOf(logits)
  if (!Number.isInteger(chosen) || chosen < 0 || chosen >= logits.length) {
    throw modelError('request_invalid', `${chosen} is no token of the model.`)
  }
  const contrast = largestOf(logits, chosen)
  return { token: chosen, contrast, difference: differenceOf(logits, { token: chosen, contrast }) }
}

export function differenceOf(logits: Float32Array, { token, contrast }: Pick<Objective, 'token' | 'contrast'>): number {
  return (logits[token] ?? 0) - (logits[contrast] ?? 0)
}

/** What reads the objective from the residual stream at the last position. */
export function readObjective(pass: FrozenPass, { token, contrast }: Objective): Float32Array {
  const other = readVectorOf(pass, contrast)
  return readVectorOf(pass, token).map((value, index) => value - (other[index] ?? 0))
}

/** The most likely tokens, until they have this probability together or are `most`; the target is always one of them. */
export function chooseLogits(
  logits: Float32Array,
  target: number,
  { most, probability }: { most: number; probability: number },
): LogitTarget[] {
  const sorted = largestTokens(logits, most)
  const shares = probabilitiesOf(logits)
  const chosen: number[] = []
  let sum = 0
  for (const token of sorted) {
    if (sum >= probability) break
    chosen.push(token)
    sum += shares(token)
  }
  if (!chosen.includes(target)) chosen.splice(chosen.length < most ? chosen.length : most - 1, 1, target)
  return chosen.map((token) => ({
    token,
    logit: logits[token] ?? 0,
    probability: shares(token),
    isTarget: token === target,
  }))
}

/** The tokens with the largest logits, largest first; of equal ones the lower number first. */
export function largestTokens(logits: Float32Array, count: number): number[] {
  const order = Array.from(logits.keys()).sort((one, other) => (logits[other] ?? 0) - (logits[one] ?? 0) || one - other)
  return order.slice(0, count)
}

/** The probability of each token, computed in 64 bits. */
export function probabilitiesOf(logits: Float32Array): (token: number) => number {
  const most = logits.reduce((largest, logit) => Math.max(largest, logit), Number.NEGATIVE_INFINITY)
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - most), 0)
  return (token) => Math.exp((logits[token] ?? 0) - most) / sum
}

/** A token for people: its characters, or its name where it is no whole character. */
export function showToken(tokenizer: Tokenizer, token: number): string {
  const name = tokenizer.nameOf(token)
  if (tokenizer.isControl(token)) return name
  const text = new TextDecoder().decode(tokenizer.bytesOf(token))
  return text === '' || text.includes('\ufffd') ? name : text
}

function largestOf(logits: Float32Array, except = -1): number {
  let largest = except === 0 ? 1 : 0
  for (let token = 0; token < logits.length; token += 1) {
    if (token !== except && (logits[token] ?? 0) > (logits[largest] ?? 0)) largest = token
  }
  return largest
}
