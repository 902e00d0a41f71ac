// The report of a diff. It names no time and no id: the same models, prompts and settings give the same report and hash,
// in the service and on a developer's machine.

import { z } from 'zod'
import { canonicalize, type Json } from '#src/platform/crypto/canonical.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import { createRandom } from '../llama/sampling.ts'
import { DIFF_MAX_TOKENS, type DiffSide, type Measures, type Pairing } from './compare.ts'
import type { EvalPrompts } from './eval-prompts.ts'
import { DIFF_VERDICTS, type DiffThresholds, judgeDiff, MIN_PROMPTS, rounded } from './judge.ts'
import { topShifted } from './neurons.ts'
import { CONFIDENCE, PSI_BINS, RESAMPLES } from './statistics.ts'

const TOP_NEURONS = 20

export const verdictView = z.enum(DIFF_VERDICTS).meta({ id: 'DiffVerdict' })
const number = z.number()
// The report is hashed: its members keep their names and order.
const hashed = (id: string) => ({ id, verbatim: true }) as const
const count = z.number().int()

export const thresholdsView = z
  .object({
    psi_drift: number.describe('An index of at least this value is drift, if the test is significant too.'),
    ks_alpha: number.describe('Level of the test, for all families together (Holm).'),
    psi_warn: number.describe('An index of at least this value is a warning.'),
    mean_shift: number.describe('A shift is drift where its whole interval is further from 0 than this value.'),
  })
  .meta({ id: 'DiffThresholds' })

const sideView = z
  .object({
    model: z.string(),
    model_version_id: z.string(),
    sha256: z.string(),
    architecture: z.string(),
    probe_set: z.string(),
    probe_version: z.string(),
    vocabulary_sha256: z.string(),
  })
  .meta(hashed('DiffModel'))

const familyView = z
  .object({
    family: z.string(),
    prompts: count,
    base_mean: number,
    target_mean: number,
    psi: number.describe('The population stability index over ten bins of equal width.'),
    bins: z
      .object({ edges: z.array(number), base: z.array(count), target: z.array(count) })
      .meta(hashed('ScoreBins'))
      .optional()
      .describe(
        'Number of scores of each version in the bins of `psi`: the first bin is from `edges[0]` up to `edges[1]`, ' +
          'and the last includes its upper edge. Absent in reports of version 1.',
      ),
    ks: z
      .object({
        statistic: number,
        p: number,
        p_holm: number.describe('p value adjusted for the number of families (Holm).'),
        method: z.enum(['exact', 'asymptotic']).meta({ id: 'KolmogorovSmirnovMethod' }),
      })
      .meta(hashed('KolmogorovSmirnov')),
    shift: z
      .object({ mean: number, low: number, high: number })
      .meta(hashed('MeanShift'))
      .describe('Shift of the score, target minus base, with the 95 % interval of a bootstrap over prompts.'),
    status: z
      .object({ base: z.string(), target: z.string() })
      .meta(hashed('DiffProbeStatuses'))
      .describe('Status in the cards of the probes.'),
    verdict: verdictView,
  })
  .meta(hashed('DiffFamily'))

const neuronView = z
  .object({ layer: count, neuron: count, base_mean: number, target_mean: number, effect: number })
  .meta(hashed('ShiftedNeuron'))

export const reportView = z
  .object({
    object: z.literal('trace_diff_report'),
    version: z.literal([1, 2]),
    base: sideView,
    target: sideView,
    eval_set: z
      .object({ name: z.string(), sha256: z.string(), prompts: count, used: count, skipped: count })
      .meta(hashed('DiffEvalSet')),
    settings: z
      .object({
        seed: number,
        max_tokens: count,
        min_prompts: count,
        psi_bins: count,
        resamples: count,
        confidence: number,
        thresholds: thresholdsView,
      })
      .meta(hashed('DiffSettings')),
    pass: z.boolean(),
    verdict: verdictView,
    families: z.array(familyView),
    families_drifted: z.array(z.string()),
    families_uncompared: z.array(z.string()).describe('Families that have a probe in only one of the models.'),
    next_token_kl: z
      .object({
        mean: number.nullable(),
        tokens: count,
        unit: z.literal('nats'),
        undefined_because: z.string().nullable(),
      })
      .meta(hashed('NextTokenDivergence'))
      .describe('Divergence of the target from the base, over the base’s completions.'),
    shifted_neurons: z.array(neuronView).describe('Shifted neurons, largest effects first, in standard deviations.'),
    runtime: z.string().nullable(),
  })
  .meta(hashed('TraceDiffReport'))

export type DiffReport = z.output<typeof reportView>

export interface DiffSettings {
  seed: number
  thresholds: DiffThresholds
}

export interface WrittenReport {
  report: DiffReport
  /** RFC 8785. */
  canonical: string
  /** SHA-256 of `canonical`. */
  hash: Buffer
}

const DIFFERENT_TOKENS = 'the models have different vocabularies'

export function writeReport(
  pairing: Pairing,
  { name, sha256: setHash, prompts }: EvalPrompts,
  { seed, thresholds }: DiffSettings,
  measures: Measures,
): WrittenReport {
  const used = measures.done - measures.skipped
  const scores = pairing.families.flatMap((family) => {
    const own = measures.scores[family]
    return own === undefined || used === 0 ? [] : [{ family, ...own }]
  })
  const judged = judgeDiff(scores, { thresholds, prompts: used, createRandom: () => createRandom(seed) })
  const { sum, tokens } = measures.divergence
  const report: DiffReport = {
    object: 'trace_diff_report',
    version: 2,
    base: describeSide(pairing.base),
    target: describeSide(pairing.target),
    eval_set: { name, sha256: setHash, prompts: prompts.length, used, skipped: measures.skipped },
    settings: {
      seed,
      max_tokens: DIFF_MAX_TOKENS,
      min_prompts: MIN_PROMPTS,
      psi_bins: PSI_BINS,
      resamples: RESAMPLES,
      confidence: CONFIDENCE,
      thresholds,
    },
    ...judged,
    families: judged.families.map((figures) => ({
      ...figures,
      status: { base: statusOf(pairing.base, figures.family), target: statusOf(pairing.target, figures.family) },
    })),
    families_uncompared: pairing.uncompared,
    next_token_kl: {
      mean: tokens === 0 ? null : rounded(sum / tokens),
      tokens,
      unit: 'nats',
      undefined_because: pairing.distributions === 0 ? DIFFERENT_TOKENS : null,
    },
    shifted_neurons: topShifted(measures.neurons, pairing.base.version.mlp, TOP_NEURONS).map((one) => ({
      ...one,
      base_mean: rounded(one.base_mean),
      target_mean: rounded(one.target_mean),
      effect: rounded(one.effect),
    })),
    runtime: measures.runtime,
  }
  const canonical = canonicalize(report as unknown as Json)
  return { report, canonical, hash: sha256(canonical) }
}

function describeSide({ version, probes, vocabularySha256 }: DiffSide): DiffReport['base'] {
  return {
    model: version.model,
    model_version_id: version.id,
    sha256: version.sha256,
    architecture: version.architecture,
    probe_set: probes.set,
    probe_version: probes.version,
    vocabulary_sha256: vocabularySha256,
  }
}

const statusOf = ({ probes }: DiffSide, family: string) =>
  probes.families.find((one) => one.family === family)?.status ?? 'unknown'
