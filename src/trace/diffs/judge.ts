// What the figures of a diff mean. Pure, and the only place that decides between pass and drift.

import { adjustByHolm, compareDistributions } from './kolmogorov.ts'
import { binScores, measureShift, type ScoreBins, stabilityIndex } from './statistics.ts'

export interface DiffThresholds {
  /** Both are needed for drift: the index at least this, and the adjusted p of the Kolmogorov-Smirnov test below that. */
  psi_drift: number
  ks_alpha: number
  /** A warning from this index on. */
  psi_warn: number
  /** Drift also where the whole interval of the mean shift is further from 0 than this. */
  mean_shift: number
}

/** Some of them; the others are the defaults. */
export type GivenThresholds = { [Name in keyof DiffThresholds]?: number | undefined }

export const DEFAULT_THRESHOLDS: DiffThresholds = { psi_drift: 0.25, ks_alpha: 0.01, psi_warn: 0.1, mean_shift: 0.05 }

export function completeThresholds(given: GivenThresholds): DiffThresholds {
  return {
    psi_drift: given.psi_drift ?? DEFAULT_THRESHOLDS.psi_drift,
    ks_alpha: given.ks_alpha ?? DEFAULT_THRESHOLDS.ks_alpha,
    psi_warn: given.psi_warn ?? DEFAULT_THRESHOLDS.psi_warn,
    mean_shift: given.mean_shift ?? DEFAULT_THRESHOLDS.mean_shift,
  }
}

/** With fewer prompts chance alone makes an index of 0.1, so nothing follows. */
export const MIN_PROMPTS = 200

export const DIFF_VERDICTS = ['pass', 'warn', 'drift', 'inconclusive'] as const
/** Verdict on a family, and on the whole: the worst of its families. */
export type DiffVerdict = (typeof DIFF_VERDICTS)[number]

/** The scores of one family, a pair for each prompt. */
export interface FamilyScores {
  family: string
  base: readonly number[]
  target: readonly number[]
}

export interface FamilyFigures {
  family: string
  prompts: number
  base_mean: number
  target_mean: number
  psi: number
  bins: ScoreBins
  ks: { statistic: number; p: number; p_holm: number; method: 'exact' | 'asymptotic' }
  shift: { mean: number; low: number; high: number }
  verdict: DiffVerdict
}

export interface DiffJudgement {
  pass: boolean
  verdict: DiffVerdict
  families: FamilyFigures[]
  families_drifted: string[]
}

/**
 * @param createRandom The random numbers of one family: the same for each, so that a family's interval does not depend on
 * which others there are.
 */
export function judgeDiff(
  families: readonly FamilyScores[],
  {
    thresholds,
    prompts,
    createRandom,
  }: { thresholds: DiffThresholds; prompts: number; createRandom: () => () => number },
): DiffJudgement {
  const tests = families.map(({ base, target }) => compareDistributions(base, target))
  const adjusted = adjustByHolm(tests.map(({ p }) => p))
  const judged = families.flatMap(({ family, base, target }, index) => {
    const test = tests[index]
    if (test === undefined) return []
    // Decided by the figures as they are reported, so that a reader comes to the same verdict.
    const figures = {
      family,
      prompts: base.length,
      base_mean: rounded(mean(base)),
      target_mean: rounded(mean(target)),
      psi: rounded(stabilityIndex(base, target)),
      bins: binScores(base, target),
      ks: {
        statistic: rounded(test.statistic),
        p: significant(test.p),
        p_holm: significant(adjusted[index] ?? 1),
        method: test.method,
      },
      shift: roundedShift(measureShift(base, target, createRandom())),
    }
    const verdict = prompts < MIN_PROMPTS ? ('inconclusive' as const) : judgeFamily(figures, thresholds)
    return [{ ...figures, verdict }]
  })
  const verdict = worstOf(judged)
  return {
    pass: verdict === 'pass' || verdict === 'warn',
    verdict,
    families: judged,
    families_drifted: judged.filter((one) => one.verdict === 'drift').map(({ family }) => family),
  }
}

export function judgeFamily(
  { psi, ks, shift }: Pick<FamilyFigures, 'psi' | 'ks' | 'shift'>,
  thresholds: DiffThresholds,
): Exclude<DiffVerdict, 'inconclusive'> {
  const isSpread = psi >= thresholds.psi_drift && ks.p_holm < thresholds.ks_alpha
  const isShifted = shift.low > thresholds.mean_shift || shift.high < -thresholds.mean_shift
  if (isSpread || isShifted) return 'drift'
  return psi >= thresholds.psi_warn ? 'warn' : 'pass'
}

function worstOf(families: readonly { verdict: DiffVerdict }[]): DiffVerdict {
  // Two models without a family in common were not compared.
  if (families.length === 0) return 'inconclusive'
  const found = new Set(families.map(({ verdict }) => verdict))
  return (['inconclusive', 'drift', 'warn'] as const).find((verdict) => found.has(verdict)) ?? 'pass'
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

const MILLION = 1e6
/** To a millionth. Adding 0 turns -0 into 0, which JSON could not tell apart. */
export const rounded = (value: number): number => Math.round(value * MILLION) / MILLION + 0
/** To six digits: a p-value of 1e-40 is not 0. */
export const significant = (value: number): number => Number(value.toPrecision(6))
const roundedShift = ({ mean, low, high }: { mean: number; low: number; high: number }) => ({
  mean: rounded(mean),
  low: rounded(low),
  high: rounded(high),
})
