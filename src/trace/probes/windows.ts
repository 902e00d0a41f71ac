// What probes read: the internals of the positions that a completion's tokens came from, averaged over a window. A token
// comes from the position before it, so the last token of the prompt is the first of these positions.

import type { Internals } from '../llama/internals.ts'
import type { LlamaShape } from '../llama/shape.ts'
import type { ChatSpan } from '../tokenizer/chat.ts'

/** Tokens of a window. Long enough to pass over a single odd token, and short enough to see a call within a long text. */
const WINDOW_TOKENS = 8
/** A window is read after so many tokens, and at the end. */
const STRIDE_TOKENS = 4

export interface Completion {
  internals: Internals
  shape: Pick<LlamaShape, 'layers' | 'width' | 'heads'>
  spans: readonly ChatSpan[]
  promptTokens: number
}

/** Tokens of a completion, counted from its first, the end not included. */
export interface TokenWindow {
  start: number
  end: number
}

/** Whether a window ends with this token of a completion that goes on. */
export const endsWindow = (tokens: number): boolean => tokens % STRIDE_TOKENS === 0

export const windowUpTo = (tokens: number): TokenWindow => ({ start: Math.max(0, tokens - WINDOW_TOKENS), end: tokens })

/** Every window of a completion that has ended. One that is empty is read at the position that ended it. */
export function windowsOf(tokens: number): TokenWindow[] {
  const ends: number[] = []
  for (let end = STRIDE_TOKENS; end < tokens; end += STRIDE_TOKENS) ends.push(end)
  return [...ends, Math.max(tokens, 1)].map(windowUpTo)
}

/**
 * The mean of the residual stream before a layer, each position divided by its root mean square; `layers` names the
 * stream after the last one.
 */
export function readResidual({ internals, shape, promptTokens }: Completion, layer: number, window: TokenWindow) {
  const { width } = shape
  const own = internals.layers[layer]
  const rows = own?.residual ?? internals.final
  const scales = own?.attentionScale ?? internals.finalScale
  const mean = new Float64Array(width)
  for (let token = window.start; token < window.end; token += 1) {
    const position = promptTokens - 1 + token
    const factor = (scales[position] ?? 0) / (window.end - window.start)
    for (let index = 0; index < width; index += 1) {
      mean[index] = (mean[index] ?? 0) + (rows[position * width + index] ?? 0) * factor
    }
  }
  return mean
}

/**
 * Returns the tools' share of the attention that goes to texts of tools and of users: one number for each head, layer
 * by layer. 0 where there is no text of a tool.
 */
export function readAttentionShares({ internals, shape, spans, promptTokens }: Completion, window: TokenWindow) {
  const { layers, heads } = shape
  const shares = new Float64Array(layers * heads)
  for (let layer = 0; layer < layers; layer += 1) {
    const patterns = internals.layers[layer]?.attention ?? new Float32Array()
    for (let head = 0; head < heads; head += 1) {
      let [toTools, toUsers] = [0, 0]
      for (let token = window.start; token < window.end; token += 1) {
        const row = (head * internals.positions + promptTokens - 1 + token) * internals.positions
        for (const { role, start, end } of spans) {
          if (role !== 'tool' && role !== 'user') continue
          let sum = 0
          for (let position = start; position < end; position += 1) sum += patterns[row + position] ?? 0
          if (role === 'tool') toTools += sum
          else toUsers += sum
        }
      }
      shares[layer * heads + head] = toTools === 0 ? 0 : toTools / (toTools + toUsers)
    }
  }
  return shares
}
