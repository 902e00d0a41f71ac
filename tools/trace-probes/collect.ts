// The activations of transcripts, from the service's own runtime and by the functions that its readings use.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { feedText } from '#src/trace/llama/generation.ts'
import { createInternals } from '#src/trace/llama/internals.ts'
import type { LoadedModel } from '#src/trace/llama/model.ts'
import { type Completion, readAttentionShares, readResidual, windowsOf } from '#src/trace/probes/windows.ts'
import type { ChatMessage } from '#src/trace/tokenizer/chat.ts'

export interface Transcript {
  split: 'train' | 'calibrate' | 'held_out'
  control: string
  scenario: string
  /** The family whose behaviour the completion shows. */
  label: string | null
  messages: ChatMessage[]
}

/** Of each window of a completion. */
export interface Activations {
  /** One of each layer, and of the stream after the last one. */
  residuals: Float64Array[]
  shares: Float64Array
}

const MAX_INTERNALS_BYTES = 100_000_000

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

export interface Dataset {
  transcripts: number
  sha256: string
}

export async function collectActivations(model: LoadedModel, messages: readonly ChatMessage[]): Promise<Activations[]> {
  const { completion, tokens } = await runTranscript(model, messages)
  const layers = Array.from({ length: model.shape.layers + 1 }, (_, layer) => layer)
  return windowsOf(tokens).map((window) => ({
    residuals: layers.map((layer) => readResidual(completion, layer, window)),
    shares: readAttentionShares(completion, window),
  }))
}

/** Reads the last message as what the model has generated. */
export async function runTranscript(
  { llama, shape, tokenizer, chat }: LoadedModel,
  messages: readonly ChatMessage[],
): Promise<{ completion: Completion; tokens: number }> {
  const answer = messages.at(-1)
  if (chat === undefined || answer?.role !== 'assistant') throw new Error('a transcript ends with the assistant')
  const { tokens: prompt, spans } = chat.render(messages.slice(0, -1))
  const made = tokenizer.encode(answer.content)
  const text = [...prompt, ...made]
  const internals = createInternals(shape, text.length, { residuals: true, attention: true }, MAX_INTERNALS_BYTES)
  llama.restart()
  await feedText(llama, text, { logits: 'none', internals })
  return { completion: { internals, shape, spans, promptTokens: prompt.length }, tokens: made.length }
}
