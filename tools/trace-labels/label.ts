// Labels of a model's neurons: for each one the words at which it was most active in transcripts of the model's corpus.
//
//   node tools/trace-labels/label.ts transcripts.jsonl MODEL.gguf MODEL.labels.json

import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { showToken } from '#src/trace/attribution/objective.ts'
import { feedText } from '#src/trace/llama/generation.ts'
import { createInternals } from '#src/trace/llama/internals.ts'
import { type LoadedModel, loadModel } from '#src/trace/llama/model.ts'
import type { ChatMessage } from '#src/trace/tokenizer/chat.ts'

interface Peak {
  /** Absolute: what a neuron writes can be turned around. */
  activation: number
  snippet: string
  token: number
}

const MAX_TRANSCRIPTS = 1_000
const MAX_TOKENS = 256
// Peaks of different tokens: one word in three sentences says no more than in one.
const PEAKS = 2
const SNIPPET_TOKENS = 6
const MAX_SNIPPET = 26

const [transcriptsPath, modelPath, labelsPath] = process.argv.slice(2)
if (transcriptsPath === undefined || modelPath === undefined || labelsPath === undefined) {
  throw new Error('usage: label.ts TRANSCRIPTS.jsonl MODEL.gguf LABELS.json')
}
const all = readFileSync(transcriptsPath, 'utf8').trimEnd().split('\n')
// Spread over all kinds of them, which follow each other in the file.
const step = Math.max(1, Math.floor(all.length / MAX_TRANSCRIPTS))
const lines = all.filter((_, index) => index % step === 0).slice(0, MAX_TRANSCRIPTS)
const model = loadModel(modelPath, { contextTokens: MAX_TOKENS, maxBytes: 1e9 })
const peaks = await collectPeaks(
  model,
  lines.map((line) => (JSON.parse(line) as { messages: ChatMessage[] }).messages),
)
const labels = peaks.map((layer) => layer.map((own) => own.map(({ snippet }) => snippet).join(' · ')))
const corpus = {
  generator: 'tools/trace-probes/transcripts.py',
  transcripts: lines.length,
  sha256: createHash('sha256').update(lines.join('\n')).digest('hex'),
}
const head = { format: 'countersign-labels', format_version: 1, model_sha256: model.sha256, corpus }
// A layer is a line.
const body = labels.map((layer) => JSON.stringify(layer)).join(',\n')
writeFileSync(labelsPath, `${JSON.stringify(head).slice(0, -1)},"labels":[\n${body}\n]}\n`)

/** Collects the peaks of each layer and neuron. */
async function collectPeaks(
  { llama, chat, shape, tokenizer }: LoadedModel,
  transcripts: readonly ChatMessage[][],
): Promise<Peak[][][]> {
  const { layers, mlp } = shape
  const found = Array.from({ length: layers }, () => Array.from({ length: mlp }, (): Peak[] => []))
  for (const messages of transcripts) {
    const tokens = chat?.render(messages).tokens.slice(0, MAX_TOKENS) ?? []
    const texts = tokens.map((token) => (tokenizer.isControl(token) ? '' : showToken(tokenizer, token)))
    const internals = createInternals(shape, tokens.length, { neurons: true }, 1e9)
    llama.restart()
    await feedText(llama, tokens, { logits: 'none', internals })
    for (const [layer, { gate, up }] of internals.layers.entries()) {
      for (const [position, token] of tokens.entries()) {
        // At control tokens every other neuron is active.
        if (tokenizer.isControl(token)) continue
        for (let neuron = 0; neuron < mlp; neuron += 1) {
          const place = position * mlp + neuron
          const own = found[layer]?.[neuron]
          if (own !== undefined) {
            keep(own, Math.abs((gate[place] ?? 0) * (up[place] ?? 0)), token, () => snippetOf(texts, position))
          }
        }
      }
    }
  }
  return found
}

function keep(own: Peak[], activation: number, token: number, snippet: () => string): void {
  const same = own.findIndex((peak) => peak.token === token)
  const least = own.at(-1)?.activation ?? 0
  if (same === -1 ? own.length === PEAKS && activation <= least : activation <= (own[same]?.activation ?? 0)) return
  own.splice(same === -1 ? PEAKS - 1 : same, own.length === PEAKS || same !== -1 ? 1 : 0)
  own.push({ activation, token, snippet: snippet() })
  own.sort((one, other) => other.activation - one.activation)
}

/** The words before a token, and the token in brackets. */
function snippetOf(texts: readonly string[], position: number): string {
  const before = texts.slice(Math.max(0, position - SNIPPET_TOKENS), position).join('')
  const text = texts[position] ?? ''
  const own = text.trim() || (text.includes('\n') ? '⏎' : '␣')
  const room = Math.max(0, MAX_SNIPPET - own.length)
  return `${before.replaceAll(/\s+/g, ' ').slice(-room).trimStart()} [${own}]`.trimStart()
}
