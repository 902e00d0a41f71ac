// The activations of transcripts, from the service's own runtime and by the functions that its readings use.

import { createHash } from 'node:crypto'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { readGguf } from '#src/trace/gguf/gguf.ts'
import { createLlama, forwardBytes } from '#src/trace/llama/forward.ts'
import { feedText } from '#src/trace/llama/generation.ts'
import { createInternals } from '#src/trace/llama/internals.ts'
import type { LoadedModel } from '#src/trace/llama/model.ts'
import { loadWeights } from '#src/trace/llama/weights.ts'
import { type Completion, readAttentionShares, readResidual, windowsOf } from '#src/trace/probes/windows.ts'
import { type ChatMessage, createChatTemplate } from '#src/trace/tokenizer/chat.ts'
import { createTokenizer } from '#src/trace/tokenizer/tokenizer.ts'

export interface Transcript {
  split: 'train' | 'calibrate' | 'held_out'
  control: string
  scenario: string
  /** The family whose behaviour the completion shows. */
  label: string | null
  messages: ChatMessage[]
}

/** Activations of each window of a completion. */
export interface Activations {
  /** One of each layer, and of the stream after the last one; empty where the layer was not wanted. */
  residuals: Float32Array[]
  shares: Float32Array
}

export interface Dataset {
  transcripts: number
  sha256: string
}

export type TranscriptModel = Pick<LoadedModel, 'llama' | 'shape' | 'tokenizer' | 'chat'>

const CONTEXT_TOKENS = 512
const MAX_MODEL_BYTES = 2e9
const MAX_INTERNALS_BYTES = 300_000_000

/** A model of which only the first layers run: the residual stream up to there and their attention, in less time. */
export function openFirstLayers(path: string, layers: number): TranscriptModel {
  const descriptor = openSync(path, 'r')
  try {
    const gguf = readGguf(descriptor)
    const tokenizer = createTokenizer(gguf.metadata)
    const loaded = loadWeights(descriptor, gguf, (shape) => forwardBytes(shape, CONTEXT_TOKENS), MAX_MODEL_BYTES)
    const shape = { ...loaded.shape, layers }
    const weights = { ...loaded.weights, layers: loaded.weights.layers.slice(0, layers) }
    const chat = createChatTemplate(gguf.metadata.get('tokenizer.chat_template'), tokenizer)
    return { shape, tokenizer, chat, llama: createLlama({ ...loaded, shape, weights }, CONTEXT_TOKENS) }
  } finally {
    closeSync(descriptor)
  }
}

export function readTranscripts(path: string): { transcripts: Transcript[]; hashes: Record<string, Dataset> } {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  const transcripts = lines.map((line) => JSON.parse(line) as Transcript)
  const hashes = Object.fromEntries(
    ['train', 'calibrate', 'held_out'].map((split) => {
      const own = lines.filter((_, index) => transcripts[index]?.split === split)
      return [split, { transcripts: own.length, sha256: createHash('sha256').update(own.join('\n')).digest('hex') }]
    }),
  )
  return { transcripts, hashes }
}

/** @param layers Of which residuals are wanted; all of them by default. */
export async function collectActivations(
  model: TranscriptModel,
  messages: readonly ChatMessage[],
  layers?: ReadonlySet<number>,
): Promise<Activations[]> {
  const { completion, tokens } = await runTranscript(model, messages)
  const all = Array.from({ length: model.shape.layers + 1 }, (_, layer) => layer)
  const residualOf = (layer: number, window: Parameters<typeof readResidual>[2]) =>
    layers === undefined || layers.has(layer) ? readResidual(completion, layer, window) : []
  return windowsOf(tokens).map((window) => ({
    residuals: all.map((layer) => Float32Array.from(residualOf(layer, window))),
    shares: Float32Array.from(readAttentionShares(completion, window)),
  }))
}

const lastTexts = new WeakMap<object, readonly number[]>()

/** Reads the last message as what the model has generated. What the text before it began with too is not fed again. */
export async function runTranscript(
  { llama, shape, tokenizer, chat }: TranscriptModel,
  messages: readonly ChatMessage[],
): Promise<{ completion: Completion; tokens: number }> {
  const answer = messages.at(-1)
  if (chat === undefined || answer?.role !== 'assistant') throw new Error('a transcript ends with the assistant')
  const { tokens: prompt, spans } = chat.render(messages.slice(0, -1))
  const made = tokenizer.encode(answer.content)
  const text = [...prompt, ...made]
  const last = lastTexts.get(llama) ?? []
  const differs = text.findIndex((token, index) => token !== last[index])
  // The last token of the prompt is the first position that is read.
  const kept = Math.min(differs === -1 ? text.length : differs, prompt.length - 1, llama.position)
  const internals = createInternals(shape, text.length, { residuals: true, attention: true }, MAX_INTERNALS_BYTES)
  llama.rewind(kept)
  lastTexts.set(llama, text)
  await feedText(llama, text.slice(kept), { logits: 'none', internals })
  return { completion: { internals, shape, spans, promptTokens: prompt.length }, tokens: made.length }
}
