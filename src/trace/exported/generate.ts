// Generates a text with an exported decoder, token by token: by its cache where it has one, otherwise by a pass over the
// whole text for each token.

import { modelError } from '../gguf/model-error.ts'
import { type Generation, type GenerationOptions, type GenerationRequest, turn } from '../llama/generation.ts'
import { createSampler } from '../llama/sampling.ts'
import type { DecoderCache, ExportedModel } from './decoder.ts'

// Where there is a cache, an abort is seen between parts of a prompt of this length.
const CHUNK_TOKENS = 256

export async function generateExported(
  model: ExportedModel,
  { prompt, maxTokens, sampling }: GenerationRequest,
  { onToken = () => 'continue', signal }: Pick<GenerationOptions, 'onToken' | 'signal'> = {},
): Promise<Generation> {
  const { tokenizer } = model
  if (!Number.isInteger(maxTokens) || maxTokens < 1) throw modelError('request_invalid', 'max_tokens is at least 1.')
  if (prompt.length >= model.maxTokens) {
    throw modelError(
      'request_invalid',
      `The prompt has ${prompt.length} tokens; with one more, the context has room for ${model.maxTokens}.`,
    )
  }
  const sample = createSampler(sampling)
  const decoder = new TextDecoder()
  const made: Generation = { tokens: [], logProbabilities: [], text: '', finishReason: 'length' }
  const reader = createReader(model)
  let logits = await reader.read(prompt, signal)
  for (;;) {
    const { token, logProbability } = sample(logits)
    if (tokenizer.endTokens.has(token)) return finish('stop')
    const text = decoder.decode(tokenizer.bytesOf(token), { stream: true })
    if (onToken({ token, logProbability, text }) === 'withhold') return finish('withheld')
    made.tokens.push(token)
    made.logProbabilities.push(logProbability)
    made.text += text
    if (made.tokens.length >= maxTokens || reader.length >= model.maxTokens) return finish('length')
    logits = await reader.read([token], signal)
  }

  function finish(finishReason: Generation['finishReason']): Generation {
    return { ...made, text: made.text + decoder.decode(), finishReason }
  }
}

/** Reads a text part by part; the logits are those behind the last token so far. */
function createReader(model: ExportedModel) {
  const hasCache = model.decoder.cache.length > 0
  const text: number[] = []
  let cache: DecoderCache | undefined

  return {
    get length() {
      return text.length
    },
    async read(tokens: readonly number[], signal: AbortSignal | undefined): Promise<Float32Array> {
      if (tokens.length === 0) throw modelError('request_invalid', 'The text is empty.')
      text.push(...tokens)
      const size = hasCache ? CHUNK_TOKENS : text.length
      const unread = hasCache ? tokens : text
      let logits = new Float32Array()
      for (let from = 0; from < unread.length; from += size) {
        const made = await model.pass({ texts: [unread.slice(from, from + size)], cache })
        cache = made.cache
        logits = (made.logits[0] ?? logits) as typeof logits
        await turn(signal)
      }
      return logits
    },
  }
}
