// Generates a text with an exported decoder, token by token: by its cache where it has one, otherwise by a pass over the
// whole text for each token.

import { modelError } from '../gguf/model-error.ts'
import {
  type Generation,
  type GenerationOptions,
  type GenerationRequest,
  generateFrom,
  type TokenReader,
  turn,
} from '../llama/generation.ts'
import type { DecoderCache, ExportedModel } from './decoder.ts'

// Where there is a cache, an abort is seen between parts of a prompt of this length.
const CHUNK_TOKENS = 256

export function generateExported(
  model: ExportedModel,
  request: GenerationRequest,
  { onToken, signal }: Pick<GenerationOptions, 'onToken' | 'signal'> = {},
): Promise<Generation> {
  return generateFrom(createReader(model, signal), model.tokenizer, request, onToken)
}

function createReader(model: ExportedModel, signal: AbortSignal | undefined): TokenReader {
  const hasCache = model.decoder.cache.length > 0
  const text: number[] = []
  let cache: DecoderCache | undefined

  return {
    maxTokens: model.maxTokens,
    length: () => text.length,
    async read(tokens) {
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
