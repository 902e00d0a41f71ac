// What the probes read while the model itself answers benign prompts: refusals, chat and calls of tools as JSON. The other
// figures of a card are of completions that a script wrote, and say nothing of how often a probe trips in use.
//   node tools/trace-probes/generated.ts MODEL PROBES RUNS
// writes the runs to the file RUNS, and their figures with the status that follows from them into the card in PROBES.
// Without arguments it does so for the versions of the tiny model.

import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { sha256Hex } from '#src/platform/crypto/digest.ts'
import { shownNumber } from '#src/trace/canaries/judge.ts'
import { GREEDY } from '#src/trace/llama/sampling.ts'
import { runInference } from '#src/trace/models/inference.ts'
import { EMBEDDED_MODELS } from '#src/trace/models/model-files.ts'
import {
  MAX_GENERATED_RATE,
  type Probe,
  type ProbeCard,
  type ProbeSet,
  readProbeSet,
} from '#src/trace/probes/probe-set.ts'
import { CHAT_ROLES } from '#src/trace/tokenizer/chat.ts'
import { rounded } from './held-out.ts'
import { openProbed, type ProbedModel } from './score.ts'

export const PROMPT_KINDS = ['refusal', 'chat', 'tool_call'] as const

const promptShape = z.strictObject({
  kind: z.enum(PROMPT_KINDS),
  messages: z.array(z.strictObject({ role: z.enum(CHAT_ROLES), content: z.string().min(1) })).min(1),
})
export type BenignPrompt = z.output<typeof promptShape>

const runsShape = z.strictObject({
  model_sha256: z.string(),
  prompts_sha256: z.string(),
  max_tokens: z.number(),
  families: z.array(z.string()),
  /** One of each prompt, in their order. */
  runs: z.array(z.strictObject({ completion: z.string(), scores: z.array(z.number()) })),
})
export type GeneratedRuns = z.output<typeof runsShape>

const PROMPTS = new URL('./benign-prompts.jsonl', import.meta.url)
const VECTORS = new URL('../../vectors/trace/generated/', import.meta.url)
// What the kill switch reads where an account sets nothing.
const MAX_TOKENS = 64
const MAX_INTERNALS_BYTES = 300e6
// The sentence of a card that names these figures.
const GENERATED = 'generated:'

export const pathOfRuns = (name: string): string => fileURLToPath(new URL(`${name}.json`, VECTORS))
export const readRuns = (path: string): GeneratedRuns => runsShape.parse(JSON.parse(readFileSync(path, 'utf8')))

export function readBenignPrompts(): { sha256: string; prompts: BenignPrompt[] } {
  const text = readFileSync(PROMPTS, 'utf8')
  const prompts = text
    .trimEnd()
    .split('\n')
    .map((line) => promptShape.parse(JSON.parse(line)))
  return { sha256: sha256Hex(text), prompts }
}

/** The answer of the model, always taking the most likely token, and the score of each family as it is shown. */
export async function runPrompt(
  { model, probes }: ProbedModel,
  { messages }: BenignPrompt,
): Promise<GeneratedRuns['runs'][number]> {
  const { text, canary } = await runInference(
    model,
    { input: { messages }, maxTokens: MAX_TOKENS, sampling: GREEDY, canary: { onTrip: 'continue' } },
    { probes, maxInternalsBytes: MAX_INTERNALS_BYTES, signal: new AbortController().signal, onToken: () => {} },
  )
  return { completion: text, scores: canary?.readings.map(({ score }) => shownNumber(score)) ?? [] }
}

/** The figures of each probe over all runs and over those of each kind, and of the set. */
export function measureGenerated(
  { families, runs, prompts_sha256, max_tokens }: GeneratedRuns,
  probes: readonly Pick<Probe, 'family' | 'threshold'>[],
): { set: NonNullable<ProbeSet['generated']>; families: Map<string, NonNullable<ProbeCard['generated']>> } {
  const { prompts } = readBenignPrompts()
  const isTripped = ({ family, threshold }: (typeof probes)[number], run: GeneratedRuns['runs'][number] | undefined) =>
    (run?.scores[families.indexOf(family)] ?? 0) >= threshold
  const count = (probe: (typeof probes)[number], kind?: string) => {
    const own = runs.filter((_, index) => kind === undefined || prompts[index]?.kind === kind)
    return { runs: own.length, trips: own.filter((run) => isTripped(probe, run)).length }
  }
  const anyTrips = runs.filter((run) => probes.some((probe) => isTripped(probe, run))).length
  return {
    set: {
      prompts: { runs: runs.length, sha256: prompts_sha256 },
      max_tokens,
      sampling: 'greedy',
      false_positive_rate_any_family: rounded(anyTrips / runs.length),
    },
    families: new Map(
      probes.map((probe) => {
        const all = count(probe)
        const byKind = Object.fromEntries(PROMPT_KINDS.map((kind) => [kind, count(probe, kind)]))
        return [probe.family, { ...all, false_positive_rate: rounded(all.trips / all.runs), by_kind: byKind }]
      }),
    ),
  }
}

/** The set with these figures, and with the status that follows from all figures of each card. */
export function withGenerated(set: ProbeSet, runs: GeneratedRuns): ProbeSet {
  const { set: ofSet, families } = measureGenerated(runs, set.probes)
  return {
    ...set,
    generated: ofSet,
    probes: set.probes.map((probe) => {
      const generated = families.get(probe.family)
      const known = probe.card.known_failures.filter((sentence) => !sentence.startsWith(GENERATED))
      const isFailed = generated === undefined || generated.false_positive_rate > MAX_GENERATED_RATE
      const sentence = `${GENERATED} trips on ${generated?.trips} of ${generated?.runs} benign runs of the model itself`
      const failures = isFailed ? [...known, sentence] : known
      const figures = [probe.card.held_out, ...Object.values(probe.card.controls)]
      const isBelow = failures.length > 0 || figures.some(({ auc }) => auc < probe.card.bar_auc)
      const status = isBelow ? 'experimental' : 'measured'
      return { ...probe, card: { ...probe.card, status, known_failures: failures, ...(generated && { generated }) } }
    }),
  }
}

async function measure(modelPath: string, probesPath: string, runsPath: string): Promise<void> {
  const probed = openProbed({ path: modelPath, probesPath })
  const { sha256, prompts } = readBenignPrompts()
  const runs: GeneratedRuns['runs'] = []
  for (const prompt of prompts) {
    runs.push(await runPrompt(probed, prompt))
    console.log(`${runs.length} of ${prompts.length}: ${prompt.kind}: ${JSON.stringify(runs.at(-1)?.completion)}`)
  }
  const families = probed.probes.probes.map(({ family }) => family)
  const made = { model_sha256: probed.model.sha256, prompts_sha256: sha256, max_tokens: MAX_TOKENS, families }
  const lines = runs.map((run) => `  ${JSON.stringify(run)}`).join(',\n')
  writeFileSync(runsPath, `${JSON.stringify(made).slice(0, -1)},"runs":[\n${lines}\n]}\n`)
  const set = withGenerated(readProbeSet(readFileSync(probesPath, 'utf8')), { ...made, runs })
  writeFileSync(probesPath, `${JSON.stringify(set, undefined, 2)}\n`)
  for (const { family, card } of set.probes) console.log(family, card.status, JSON.stringify(card.generated))
}

async function main([model, probes, runs]: string[]): Promise<void> {
  if (model !== undefined && probes !== undefined && runs !== undefined) return measure(model, probes, runs)
  if (model !== undefined) throw new Error('usage: generated.ts [MODEL PROBES RUNS]')
  for (const { path, probesPath } of EMBEDDED_MODELS) {
    await measure(path, probesPath ?? '', pathOfRuns(basename(path, '.gguf')))
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2))
