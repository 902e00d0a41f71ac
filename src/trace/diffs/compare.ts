// Runs prompts through both models of a diff, one after the other, and keeps what the report is made of. The order of
// the prompts is that of the set, so the figures have the same bits however often the work was interrupted.

import { Failure } from '#src/failure.ts'
import { shownNumber } from '../canaries/judge.ts'
import type { ModelVersion, TraceBackend } from '../models/backend.ts'
import { capabilityMissing } from '../models/capabilities.ts'
import type { PromptEvaluation } from '../models/evaluate.ts'
import type { ProbeSetFacts } from '../models/protocol.ts'
import type { EvalPrompt } from './eval-prompts.ts'
import { addActivations, createMoments, type NeuronMoments } from './neurons.ts'
import { divergence } from './statistics.ts'

/** The longest completion. Canaries trip within it, and two models seldom agree on more of it. */
export const DIFF_MAX_TOKENS = 48
// Both models' distributions of one prompt, each, while they travel.
const MAX_DISTRIBUTION_BYTES = 16_000_000

export interface DiffSide {
  version: ModelVersion
  probes: ProbeSetFacts
  vocabularySha256: string
}

/** What can be compared between two models. */
export interface Pairing {
  base: DiffSide
  target: DiffSide
  /** Families with a probe in both models, sorted. */
  families: string[]
  /** Families with a probe in one model. */
  uncompared: string[]
  /** The rows of next-token distributions; 0 where the models have different tokens. */
  distributions: number
  /** Neurons of the whole model; 0 where the two have different sizes. */
  neurons: number
}

export interface Measures {
  /** Prompts that were read, skipped ones included. */
  done: number
  /** Too long for one of the models. */
  skipped: number
  /** Scores by family. */
  scores: Record<string, { base: number[]; target: number[] }>
  divergence: { sum: number; tokens: number }
  neurons: NeuronMoments
  runtime: string | null
}

export interface DiffModels {
  base: TraceBackend
  target: TraceBackend
}

interface CallSettings {
  signal: AbortSignal
  /** The account, for which the models' queues are fair. */
  lane: string
}

/**
 * Both models must show their insides and have probes.
 * @throws {Failure} `backend_capability_missing`.
 */
export async function checkComparable({ base, target }: DiffModels): Promise<void> {
  for (const backend of [base, target]) {
    const capabilities = await backend.capabilities()
    if (!capabilities.activations) throw capabilityMissing(backend.model, 'activations')
    if (capabilities.canary !== 'probe') throw capabilityMissing(backend.model, 'canary')
  }
}

/** @throws {Failure} `service_unavailable` for a model that can't be loaded; `backend_capability_missing`. */
export async function pairModels(models: DiffModels, settings: CallSettings): Promise<Pairing> {
  // A file that is broken has no probes that fit either: what is wrong with it comes first.
  for (const backend of [models.base, models.target]) await backend.modelVersion()
  await checkComparable(models)
  const base = await describe(models.base, settings)
  const target = await describe(models.target, settings)
  const [one, other] = [base, target].map(({ probes }) => new Set(probes.families.map(({ family }) => family)))
  const all = [...new Set([...(one ?? []), ...(other ?? [])])].toSorted()
  const families = all.filter((family) => one?.has(family) && other?.has(family))
  const isSameSize = base.version.layers === target.version.layers && base.version.mlp === target.version.mlp
  const isSameVocabulary = base.vocabularySha256 === target.vocabularySha256
  const rowBytes = base.version.vocabulary * Float32Array.BYTES_PER_ELEMENT
  return {
    base,
    target,
    families,
    uncompared: all.filter((family) => !families.includes(family)),
    distributions: isSameVocabulary ? Math.min(DIFF_MAX_TOKENS + 1, Math.floor(MAX_DISTRIBUTION_BYTES / rowBytes)) : 0,
    // Neurons are compared over the same tokens.
    neurons: isSameSize && isSameVocabulary ? base.version.layers * base.version.mlp : 0,
  }
}

async function describe(backend: TraceBackend, settings: CallSettings): Promise<DiffSide> {
  const version = await backend.modelVersion()
  const probes = await backend.probeSet()
  if (probes === undefined) throw capabilityMissing(backend.model, 'canary')
  const { sha256 } = await backend.call('vocabulary', {}, settings)
  return { version, probes, vocabularySha256: sha256 }
}

export function startMeasures({ families, neurons }: Pairing): Measures {
  return {
    done: 0,
    skipped: 0,
    scores: Object.fromEntries(families.map((family) => [family, { base: [], target: [] }])),
    divergence: { sum: 0, tokens: 0 },
    neurons: createMoments(neurons),
    runtime: null,
  }
}

export interface Comparison {
  pairing: Pairing
  measures: Measures
}

/** Adds the next prompt to the measures. @throws {Failure} when a model can't answer now. */
export async function measurePrompt(
  models: DiffModels,
  { messages }: EvalPrompt,
  { pairing, measures }: Comparison,
  settings: CallSettings,
): Promise<void> {
  const request = { input: { messages }, maxTokens: DIFF_MAX_TOKENS, maxDistributions: pairing.distributions }
  let answers: { base: PromptEvaluation; target: PromptEvaluation }
  try {
    const base = await models.base.call('evaluate', request, settings)
    const isShared = pairing.distributions > 0
    const reference = isShared ? { reference: { prompt: base.prompt, tokens: base.tokens } } : {}
    answers = { base, target: await models.target.call('evaluate', { ...request, ...reference }, settings) }
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'invalid_request') throw error
    measures.done += 1
    measures.skipped += 1
    return
  }
  addAnswers(pairing, answers, measures)
}

function addAnswers(
  pairing: Pairing,
  { base, target }: Record<'base' | 'target', PromptEvaluation>,
  measures: Measures,
) {
  for (const [family, scores] of Object.entries(measures.scores)) {
    const [one, other] = [base, target].map(({ readings }) => readings.find((reading) => reading.family === family))
    if (one === undefined || other === undefined) throw new Error(`a model has no reading of ${family} any more`)
    // A report has the scores that are shown, so that it can be repeated from readings. Nothing is compared with a threshold here.
    scores.base.push(shownNumber(one.score))
    scores.target.push(shownNumber(other.score))
  }
  if (pairing.distributions > 0) {
    const size = pairing.base.version.vocabulary
    for (let at = 0; at < Math.min(base.distributions.length, target.distributions.length); at += size) {
      const row = (side: PromptEvaluation) => side.distributions.subarray(at, at + size)
      measures.divergence.sum += divergence(row(base), row(target))
      measures.divergence.tokens += 1
    }
  }
  if (pairing.neurons > 0) addActivations(measures.neurons, base.neurons, target.neurons)
  measures.runtime = base.runtime
  measures.done += 1
}
