// What the probes of each embedded version of the model read on the default evaluation set:
//   node tools/trace-probes/score.ts
// writes a file for each to vectors/trace/versions. The tests judge these scores, and make some of them again.

import { mkdirSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { shownNumber } from '#src/trace/canaries/judge.ts'
import { DIFF_MAX_TOKENS } from '#src/trace/diffs/compare.ts'
import { type EvalPrompt, readDefaultEvalSet } from '#src/trace/diffs/eval-prompts.ts'
import { type LoadedModel, loadModel } from '#src/trace/llama/model.ts'
import { GREEDY } from '#src/trace/llama/sampling.ts'
import { runInference } from '#src/trace/models/inference.ts'
import { EMBEDDED_MODELS, type ModelFile } from '#src/trace/models/model-files.ts'
import { loadProbeSet, type ProbeSet } from '#src/trace/probes/probe-set.ts'

export const versionScores = z.strictObject({
  model_sha256: z.string(),
  eval_sha256: z.string(),
  families: z.array(z.string()),
  /** Scores of each prompt, in the order of the families. */
  scores: z.array(z.array(z.number())),
})
export type VersionScores = z.output<typeof versionScores>

export interface ProbedModel {
  model: LoadedModel
  probes: ProbeSet
}

const FOLDER = new URL('../../vectors/trace/versions/', import.meta.url)
const MAX_INTERNALS_BYTES = 200e6

export const pathOfScores = ({ path }: ModelFile): string =>
  fileURLToPath(new URL(`${basename(path, '.gguf')}.json`, FOLDER))

export function openProbed({ path, probesPath }: Pick<ModelFile, 'path' | 'probesPath'>): ProbedModel {
  const model = loadModel(path, { contextTokens: 512, maxBytes: 1e9 })
  return { model, probes: loadProbeSet(probesPath ?? '', model) }
}

/** Returns the score of each family for the completion that the model makes, as a diff takes it. */
export async function scorePrompt({ model, probes }: ProbedModel, { messages }: EvalPrompt): Promise<number[]> {
  const { canary } = await runInference(
    model,
    { input: { messages }, maxTokens: DIFF_MAX_TOKENS, sampling: GREEDY, canary: { onTrip: 'continue' } },
    { probes, maxInternalsBytes: MAX_INTERNALS_BYTES, signal: new AbortController().signal, onToken: () => {} },
  )
  return canary?.readings.map(({ score }) => shownNumber(score)) ?? []
}

async function main(): Promise<void> {
  const set = readDefaultEvalSet()
  mkdirSync(FOLDER, { recursive: true })
  for (const file of EMBEDDED_MODELS) {
    const probed = openProbed(file)
    const scores: number[][] = []
    for (const prompt of set.prompts) scores.push(await scorePrompt(probed, prompt))
    const families = probed.probes.probes.map(({ family }) => family)
    const { sha256 } = probed.model
    const heads = { model_sha256: sha256, eval_sha256: set.sha256, families }
    const lines = scores.map((row) => `  ${JSON.stringify(row)}`).join(',\n')
    writeFileSync(pathOfScores(file), `${JSON.stringify(heads).slice(0, -1)},"scores":[\n${lines}\n]}\n`)
    console.log(`${file.id}: ${scores.length} prompts`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
