// Generates a text token by token. Between two steps it gives the thread back, so that an abort is seen.

import { modelError } from '../gguf/model-error.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'
import type { Llama, NeuronEdit, TextFeeder } from './forward.ts'
import type { Internals } from './internals.ts'
import { createSampler, type SampledToken, type SamplingSettings } from './sampling.ts'

export interface GenerationRequest {
  /** Prompt of at least one token. */
  prompt: readonly number[]
  maxTokens: number
  sampling: SamplingSettings
}

export type FinishReason =
  /** The model ended its text. */
  | 'stop'
  /** `maxTokens`, or the end of the context. */
  | 'length'
  /** `onToken` said so. The token that it was called for is not in the result. */
  | 'withheld'

export interface GeneratedToken extends SampledToken {
  /** Empty while a character is not complete. */
  text: string
}

export interface Generation {
  tokens: number[]
  logProbabilities: number[]
  text: string
  finishReason: FinishReason
}

export interface GenerationOptions {
  /** Called for each token before it becomes part of the result. */
  onToken?: (token: GeneratedToken) => 'continue' | 'withhold'
  /** Filled with the positions of the prompt and of the tokens that were fed. */
  internals?: Internals
  signal?: AbortSignal
}

/** Gives the logits behind the tokens that it has read so far. */
export interface TokenReader {
  /** Tokens that the context has room for. */
  maxTokens: number
  /** Tokens read so far. */
  length(): number
  read(tokens: readonly number[]): Promise<Float32Array>
}

export function generate(
  llama: Llama,
  tokenizer: Tokenizer,
  request: GenerationRequest,
  { onToken, internals, signal }: GenerationOptions = {},
): Promise<Generation> {
  const options = { logits: 'last' as const, ...(internals && { internals }), ...(signal && { signal }) }
  llama.restart()
  const reader: TokenReader = {
    maxTokens: llama.maxTokens,
    length: () => llama.position,
    read: (tokens) => feedText(llama, tokens, options),
  }
  return generateFrom(reader, tokenizer, request, onToken)
}

/** Samples token by token until the model, `onToken` or a limit ends the text. */
export async function generateFrom(
  reader: TokenReader,
  tokenizer: Tokenizer,
  { prompt, maxTokens, sampling }: GenerationRequest,
  onToken: NonNullable<GenerationOptions['onToken']> = () => 'continue',
): Promise<Generation> {
  if (!Number.isInteger(maxTokens) || maxTokens < 1) throw modelError('request_invalid', 'max_tokens is at least 1.')
  if (prompt.length >= reader.maxTokens) {
    throw modelError(
      'request_invalid',
      `The prompt has ${prompt.length} tokens; with one more, the context has room for ${reader.maxTokens}.`,
    )
  }
  const sample = createSampler(sampling)
  const decoder = new TextDecoder()
  const made: Generation = { tokens: [], logProbabilities: [], text: '', finishReason: 'length' }
  let logits = await reader.read(prompt)
  for (;;) {
    const { token, logProbability } = sample(logits)
    if (tokenizer.endTokens.has(token)) return finish('stop')
    const text = decoder.decode(tokenizer.bytesOf(token), { stream: true })
    if (onToken({ token, logProbability, text }) === 'withhold') return finish('withheld')
    made.tokens.push(token)
    made.logProbabilities.push(logProbability)
    made.text += text
    if (made.tokens.length >= maxTokens || reader.length() >= reader.maxTokens) return finish('length')
    logits = await reader.read([token])
  }

  function finish(finishReason: FinishReason): Generation {
    return { ...made, text: made.text + decoder.decode(), finishReason }
  }
}

export interface FeedTextOptions {
  logits: 'none' | 'last'
  internals?: Internals
  edits?: readonly NeuronEdit[]
  signal?: AbortSignal
}

/** Feeds a text of any length and returns the last logits of it, or an empty array for `none`. */
export async function feedText(
  feeder: TextFeeder,
  tokens: readonly number[],
  { logits, internals, edits, signal }: FeedTextOptions,
): Promise<Float32Array> {
  if (tokens.length === 0) throw modelError('request_invalid', 'The text is empty.')
  let last = new Float32Array()
  const step = feeder.maxPieceTokens
  for (let from = 0; from < tokens.length; from += step) {
    const isLast = from + step >= tokens.length
    const wanted = isLast ? logits : 'none'
    last = (await feeder.feed(tokens.slice(from, from + step), {
      logits: wanted,
      ...(internals && { internals }),
      ...(edits && { edits }),
    })) as typeof last
    await turn(signal)
  }
  return last
}

/** Lets messages arrive, an abort among them. */
export async function turn(signal: AbortSignal | undefined): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  if (signal?.aborted) throw modelError('aborted', 'The request was aborted.')
}
