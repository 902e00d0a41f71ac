// What an exported decoder is, by its files alone.

import type { ChatTemplate } from '../tokenizer/chat.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'
import type { ExportedFiles } from './files.ts'
import { checkOrder } from './graph-trace.ts'
import { type DecoderInterface, readInterface } from './interface.ts'
import { readTokenizer } from './tokenizer-json.ts'
import { findWriters, type ResidualWriters } from './writers.ts'

/** What its files say, without running it. */
export interface ExportedFacts {
  name: string
  sha256: string
  tokenizer: Tokenizer
  chat: ChatTemplate | undefined
  /** The longest text that it was trained on. */
  contextTokens: number | undefined
  decoder: DecoderInterface
  /** Undefined: the form of its graph is not known, so it completes texts only. */
  writers: ResidualWriters | undefined
  /** Why they are not known. */
  reason: string | undefined
}

/** @throws {ModelError} saying why they are no decoder that can be run here. */
export function exportedFactsOf(files: ExportedFiles): ExportedFacts {
  const { model, config, builderConfig } = files
  checkOrder(model.graph)
  const decoder = readInterface(model.graph, headSizeOf(files))
  const { tokenizer, chat } = readTokenizer(files)
  const found = findWriters(model.graph, decoder.logits)
  const writers = 'writers' in found ? found.writers : undefined
  const reason = 'reason' in found ? found.reason : undefined
  const context = config.max_position_embeddings ?? config.n_positions ?? builderConfig.context_length
  const name = typeof config._name_or_path === 'string' ? config._name_or_path : 'unnamed'
  return {
    // The name comes from a file and is shown to people, so it is bounded and on one line.
    name: name.replaceAll(/\p{C}+/gu, ' ').slice(0, 120) || 'unnamed',
    sha256: files.sha256,
    tokenizer,
    chat,
    contextTokens: typeof context === 'number' && Number.isInteger(context) && context > 0 ? context : undefined,
    decoder,
    writers: writers !== undefined && writers.unembedding.columns === decoder.vocabulary ? writers : undefined,
    reason,
  }
}

function headSizeOf({ config, builderConfig }: ExportedFiles): number | undefined {
  const { decoder } = builderConfig
  const own = typeof decoder === 'object' && decoder !== null && 'head_size' in decoder ? decoder.head_size : undefined
  const size = config.head_dim ?? own ?? Number(config.hidden_size) / Number(config.num_attention_heads)
  return typeof size === 'number' && Number.isInteger(size) && size > 0 ? size : undefined
}
