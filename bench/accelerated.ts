// A prompt in ONNX Runtime, in a process of its own, whose memory is measured too: `node bench/accelerated.ts FILE TOKENS
// ROUNDS` prints what it found as JSON. Called as a function it starts that process.

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { accelerate } from '#src/trace/accelerator/accelerator.ts'
import { feedText } from '#src/trace/llama/generation.ts'
import { type LoadedModel, loadModel } from '#src/trace/llama/model.ts'
import { judgeLimit, note, type Verdict } from './harness.ts'

// 250 tokens a second.
const MAX_PREFILL_MS = 4
const MAX_MEGABYTES = 1_200
const MAX_BYTES = 2e9

type Figures = { runtime: string; millisecondsPerToken: number[]; megabytes: number } | { missing: string }

/** @returns the model with its accelerator, or why it has none. */
export async function accelerateForBench(model: LoadedModel): Promise<LoadedModel | string> {
  const { model: accelerated, acceleration } = await accelerate(model, { maxBytes: MAX_BYTES })
  return 'problem' in acceleration ? acceleration.problem : accelerated
}

export async function measureAcceleratedPrompt(
  { id, path }: { id: string; path: string },
  { tokens, rounds, isJudged }: { tokens: number; rounds: number; isJudged: boolean },
): Promise<Verdict[]> {
  const file = fileURLToPath(import.meta.url)
  const { stdout } = await promisify(execFile)(process.execPath, [file, path, String(tokens), String(rounds)])
  const figures = JSON.parse(stdout) as Figures
  if ('missing' in figures) return [note('trace, ort prompt', `not measured: ${figures.missing}`)]
  const { runtime, millisecondsPerToken, megabytes } = figures
  const rates = millisecondsPerToken.map((each) => `${(1_000 / each).toFixed(0)}`).join(', ')
  if (!isJudged) {
    return [note('trace, ort prompt', `${id} ${rates} tokens/s, ${megabytes.toFixed(0)} MB; ${runtime}; bar skipped`)]
  }
  return [
    judgeLimit({
      name: 'trace, ort prompt',
      label: `${id}, per token of a prompt`,
      unit: 'ms',
      values: millisecondsPerToken,
      max: MAX_PREFILL_MS,
      beside: `${rates} tokens/s; ${runtime}`,
    }),
    judgeLimit({
      name: 'trace, ort memory',
      label: `${id}, peak of the process`,
      unit: 'MB',
      values: [megabytes],
      max: MAX_MEGABYTES,
    }),
  ]
}

async function measure(path: string, tokens: number, rounds: number): Promise<Figures> {
  const model = await accelerateForBench(loadModel(path, { contextTokens: 512, maxBytes: MAX_BYTES }))
  if (typeof model === 'string') return { missing: model }
  const { accelerator } = model
  if (accelerator === undefined) throw new Error('a model was accelerated and has no accelerator')
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const prompt = model.tokenizer.encode(text).slice(0, tokens)
  const millisecondsPerToken: number[] = []
  // The first round makes the weights floats.
  for (let round = 0; round <= rounds; round += 1) {
    accelerator.feeder.restart()
    const startedAt = performance.now()
    await feedText(accelerator.feeder, prompt, { logits: 'last' })
    if (round > 0) millisecondsPerToken.push((performance.now() - startedAt) / prompt.length)
  }
  return { runtime: accelerator.runtime, millisecondsPerToken, megabytes: process.resourceUsage().maxRSS / 1_000 }
}

if (import.meta.main) {
  const [path = '', tokens, rounds] = process.argv.slice(2)
  process.stdout.write(JSON.stringify(await measure(path, Number(tokens), Number(rounds))))
}
