// The logit lens (nostalgebraist, 2020): what the model would say if it stopped after a layer. The residual stream before
// each layer goes through the final norm, with the root mean square of that residual itself, and through the output
// matrix. The last row is what the model said.

import { modelError } from '../gguf/model-error.ts'
import { CHUNK_TOKENS } from '../llama/forward.ts'
import { feedText } from '../llama/generation.ts'
import { createInternals, type Internals } from '../llama/internals.ts'
import type { LoadedModel } from '../llama/model.ts'

export interface LensRequest {
  /** Prompt and completion, as they ran. */
  tokens: readonly number[]
  /** Range of tokens to read, the end not included. The first token of a text follows from nothing. */
  from: number
  to: number
  /** The most likely tokens of each layer; 0 for the texts alone. */
  top: number
}

export interface LensToken {
  token: number
  text: string
  probability: number
}

export interface LensResult {
  sha256: string
  /** Text of each token from `from` to `to`. */
  texts: string[]
  /** token x layer x top: before each layer, and after the last one. Empty without `top`. */
  layers: LensToken[][][]
}

/** A page of tokens takes each layer once through the output matrix, so it is bounded. */
export const MAX_LENS_TOKENS = 20
export const MAX_LENS_TOP = 10

export async function readLens(
  model: LoadedModel,
  { tokens, from, to, top }: LensRequest,
  { maxInternalsBytes, signal }: { maxInternalsBytes: number; signal: AbortSignal },
): Promise<LensResult> {
  const { llama, shape, sha256 } = model
  checkRange({ tokens, from, to, top })
  const texts = textsOf(model, tokens.slice(from, to))
  if (top === 0 || from === to) return { sha256, texts, layers: [] }
  // A token comes from the position before it.
  const read = tokens.slice(0, to - 1)
  const internals = createInternals(shape, read.length, { residuals: true }, maxInternalsBytes)
  llama.restart()
  await feedText(llama, read, { logits: 'none', internals, signal })
  const positions = Array.from({ length: to - from }, (_, index) => from - 1 + index)
  const layers: LensToken[][][] = positions.map(() => [])
  for (let layer = 0; layer <= shape.layers; layer += 1) {
    const rows = rowsOf(internals, layer, shape.width, positions)
    const logits = llama.unembed(rows)
    positions.forEach((_, index) => {
      const row = logits.subarray(index * shape.vocabulary, (index + 1) * shape.vocabulary)
      layers[index]?.push(topOf(model, row, top))
    })
    await new Promise((resolve) => setImmediate(resolve))
    if (signal.aborted) throw modelError('aborted', 'The request was aborted.')
  }
  return { sha256, texts, layers }
}

/** @throws {ModelError} `request_invalid`. */
export function checkRange({ tokens, from, to, top }: LensRequest): void {
  const isRange = Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from <= to && to <= tokens.length
  if (!isRange) throw modelError('request_invalid', `There are no tokens ${from} to ${to}.`)
  const isRead = top > 0 && from < to
  if (isRead && (to - from > MAX_LENS_TOKENS || top > MAX_LENS_TOP || from === 0)) {
    throw modelError('request_invalid', `At most ${MAX_LENS_TOKENS} tokens and their top ${MAX_LENS_TOP} can be read.`)
  }
}

/** The text of each token by itself; a control token by its name. */
export function textsOf({ tokenizer }: Pick<LoadedModel, 'tokenizer'>, tokens: readonly number[]): string[] {
  return tokens.map((token) =>
    tokenizer.isControl(token) ? tokenizer.nameOf(token) : Buffer.from(tokenizer.bytesOf(token)).toString('utf8'),
  )
}

function rowsOf(internals: Internals, layer: number, width: number, positions: readonly number[]): Float32Array {
  if (positions.length > CHUNK_TOKENS) throw new RangeError(`${positions.length} rows are no chunk`)
  const stream = internals.layers[layer]?.residual ?? internals.final
  const rows = new Float32Array(positions.length * width)
  positions.forEach((position, index) => {
    rows.set(stream.subarray(position * width, (position + 1) * width), index * width)
  })
  return rows
}

export function topOf(model: Pick<LoadedModel, 'tokenizer'>, logits: Float32Array, count: number): LensToken[] {
  const best: number[] = []
  let [most, sum] = [Number.NEGATIVE_INFINITY, 0]
  for (let token = 0; token < logits.length; token += 1) most = Math.max(most, logits[token] ?? 0)
  for (let token = 0; token < logits.length; token += 1) {
    const logit = logits[token] ?? 0
    sum += Math.exp(logit - most)
    const least = best.at(-1)
    if (best.length >= count && least !== undefined && logit <= (logits[least] ?? 0)) continue
    // Equal ones keep their order: the lower token first.
    const place = best.findIndex((one) => logit > (logits[one] ?? 0))
    best.splice(place === -1 ? best.length : place, 0, token)
    if (best.length > count) best.pop()
  }
  const texts = textsOf(model, best)
  return best.map((token, index) => ({
    token,
    text: texts[index] ?? '',
    probability: Math.round((Math.exp((logits[token] ?? 0) - most) / sum) * 1e6) / 1e6,
  }))
}
