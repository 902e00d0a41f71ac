import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_THRESHOLDS, type DiffThresholds, judgeDiff, judgeFamily, MIN_PROMPTS } from '#src/trace/diffs/judge.ts'
import { adjustByHolm, compareDistributions } from '#src/trace/diffs/kolmogorov.ts'
import { addActivations, createMoments, topShifted } from '#src/trace/diffs/neurons.ts'
import { binScores, divergence, measureShift, stabilityIndex } from '#src/trace/diffs/statistics.ts'
import { createRandom } from '#src/trace/llama/sampling.ts'

interface Vectors {
  seed: number
  resamples: number
  comparisons: {
    name: string
    base: number[]
    target: number[]
    psi: number
    statistic: number
    p_exact: number | null
    p_asymptotic: number
    shift: { mean: number; low: number; high: number } | null
  }[]
  tied: { base: number[]; target: number[]; p: number }[]
  divergences: { base: number[]; target: number[]; kl: number }[]
  holm: { p: number[]; adjusted: number[] }[]
  neurons: { base: number[][]; target: number[][]; effect: number[] }
}

const vectors: Vectors = JSON.parse(readFileSync(new URL('../../../vectors/trace/diffs.json', import.meta.url), 'utf8'))

/** Equal to ten digits, also where both are tiny. */
function expectClose(actual: number, expected: number): void {
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(1e-10 * Math.max(Math.abs(expected), 1e-300))
}

describe('the figures of a diff', () => {
  it.each(vectors.comparisons)('are those of scipy and numpy: $name', (vector) => {
    const { base, target, shift } = vector
    if (vector.psi === 0) expect(stabilityIndex(base, target)).toBe(0)
    else expectClose(stabilityIndex(base, target), vector.psi)
    const exact = compareDistributions(base, target)
    expectClose(exact.statistic, vector.statistic)
    expect(exact.method).toBe('exact')
    if (vector.p_exact !== null) expectClose(exact.p, vector.p_exact)
    const asymptotic = compareDistributions(base, target, { maxExactSteps: 0 })
    expect(asymptotic.method).toBe('asymptotic')
    expectClose(asymptotic.p, vector.p_asymptotic)
    if (shift === null) return
    const made = measureShift(base, target, createRandom(vectors.seed), { resamples: vectors.resamples })
    for (const name of ['mean', 'low', 'high'] as const) expect(made[name]).toBeCloseTo(shift[name], 12)
  })

  it.each(vectors.comparisons)('have the histogram that their index follows from: $name', ({ base, target, psi }) => {
    const bins = binScores(base, target)
    expect(bins.edges).toEqual([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1])
    const sharesOf = (counts: readonly number[], of: readonly number[]) =>
      counts.map((count) => (count + 0.5) / (of.length + 5))
    const [p, q] = [sharesOf(bins.base, base), sharesOf(bins.target, target)]
    const index = p.reduce((sum, share, bin) => sum + ((q[bin] ?? 0) - share) * Math.log((q[bin] ?? 0) / share), 0)
    expect(index).toBeCloseTo(psi, 10)
  })

  it('count a score on an edge above it, and 1 in the last bin', () => {
    const { base, target } = binScores([0, 0.1, 0.95, 1], [0.09, 0.9])
    expect(base).toEqual([1, 1, 0, 0, 0, 0, 0, 0, 0, 2])
    expect(target).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 1])
  })

  it('count ties as going through all orders does', () => {
    for (const { base, target, p } of vectors.tied) expectClose(compareDistributions(base, target).p, p)
  })

  it('have the divergence of scipy, 0 for equal models, and infinity where the target excludes a token', () => {
    for (const { base, target, kl } of vectors.divergences) {
      expect(divergence(Float32Array.from(base), Float32Array.from(target))).toBeCloseTo(kl, 5)
    }
    const even = Float32Array.of(Math.log(0.5), Math.log(0.5))
    expect(divergence(even, even)).toBe(0)
    expect(divergence(Float32Array.of(0, Number.NEGATIVE_INFINITY), even)).toBeCloseTo(Math.log(2), 6)
    expect(divergence(even, Float32Array.of(0, Number.NEGATIVE_INFINITY))).toBe(Number.POSITIVE_INFINITY)
    expect(() => divergence(even, Float32Array.of(0))).toThrow(RangeError)
  })

  it('adjust p-values as R does', () => {
    for (const { p, adjusted } of vectors.holm) {
      for (const [index, value] of adjustByHolm(p).entries()) expectClose(value, adjusted[index] ?? Number.NaN)
    }
  })

  it('name the neurons that moved most, as numpy computes it, also when the sums were stored in the middle', () => {
    const { base, target, effect } = vectors.neurons
    let moments = createMoments(effect.length)
    base.forEach((row, prompt) => {
      addActivations(moments, Float32Array.from(row), Float32Array.from(target[prompt] ?? []))
      moments = { ...moments, values: Float64Array.from(moments.values) }
    })
    const top = topShifted(moments, 3, 4)
    const order = effect.map((value, index) => ({ value, index }))
    order.sort((one, other) => Math.abs(other.value) - Math.abs(one.value))
    expect(top.map(({ layer, neuron }) => layer * 3 + neuron)).toEqual(order.slice(0, 4).map(({ index }) => index))
    for (const [rank, shift] of top.entries()) expect(shift.effect).toBeCloseTo(order[rank]?.value ?? 0, 6)
  })

  const scores = fc.array(
    fc.integer({ min: 0, max: 40 }).map((value) => value / 40),
    { minLength: 1, maxLength: 40 },
  )

  it('do not depend on the order of a sample, are symmetric, and are 0 and 1 for equal samples', () => {
    fc.assert(
      fc.property(scores, scores, (one, other) => {
        const test = compareDistributions(one, other)
        expect(compareDistributions(other.toReversed(), one).p).toBeCloseTo(test.p, 10)
        expect(stabilityIndex(other, one.toReversed())).toBeCloseTo(stabilityIndex(one, other), 10)
        expect(stabilityIndex(one, other)).toBeGreaterThanOrEqual(0)
        expect(test.p).toBeGreaterThan(0)
        expect(test.p).toBeLessThanOrEqual(1)
        expect(compareDistributions(one, one)).toMatchObject({ statistic: 0, p: 1 })
        expect(stabilityIndex(one, one)).toBe(0)
      }),
    )
  })

  it('keep a level: of 400 pairs of one distribution about one in ten has a p below 0.1, and no more', () => {
    const random = createRandom(5)
    const sample = () => Array.from({ length: 30 }, () => Math.round(random() ** 3 * 50) / 50)
    const below = Array.from({ length: 400 }, () => compareDistributions(sample(), sample()).p).filter((p) => p < 0.1)
    expect(below.length).toBeLessThan(60)
    expect(below.length).toBeGreaterThan(15)
  })
})

describe('the verdict', () => {
  const spread = (psi: number, p_holm: number, low = -0.01, high = 0.01) => ({
    psi,
    ks: { statistic: 0, p: p_holm, p_holm, method: 'exact' as const },
    shift: { mean: (low + high) / 2, low, high },
  })

  it.each<[string, ReturnType<typeof spread>, string]>([
    ['an index of 0.25 with a significant test', spread(0.25, 0.0099), 'drift'],
    ['an index of 0.25 without one', spread(0.25, 0.01), 'warn'],
    ['an index below 0.25, however significant', spread(0.249999, 1e-12), 'warn'],
    ['an index of 0.1', spread(0.1, 1), 'warn'],
    ['an index below 0.1', spread(0.099999, 1e-12), 'pass'],
    ['an interval that begins above 0.05', spread(0, 1, 0.050001, 0.2), 'drift'],
    ['an interval that ends below -0.05', spread(0, 1, -0.2, -0.050001), 'drift'],
    ['an interval that excludes 0 by 0.05 and no more', spread(0, 1, 0.05, 0.2), 'pass'],
  ])('of %s', (_, figures, verdict) => {
    expect(judgeFamily(figures, DEFAULT_THRESHOLDS)).toBe(verdict)
  })

  const sample = (count: number, mean: number, seed: number) => {
    const random = createRandom(seed)
    return Array.from({ length: count }, () => Math.min(1, Math.max(0, mean + (random() - 0.5) / 5)))
  }
  const judged = (count: number, thresholds: DiffThresholds = DEFAULT_THRESHOLDS) =>
    judgeDiff(
      [
        { family: 'moved', base: sample(count, 0.2, 1), target: sample(count, 0.6, 2) },
        { family: 'stayed', base: sample(count, 0.2, 3), target: sample(count, 0.2, 4) },
      ],
      { thresholds, prompts: count, createRandom: () => createRandom(9) },
    )

  it('names the families that drifted, and none below 200 prompts is final', () => {
    expect(judged(MIN_PROMPTS)).toMatchObject({ pass: false, verdict: 'drift', families_drifted: ['moved'] })
    expect(judged(MIN_PROMPTS - 1)).toMatchObject({ pass: false, verdict: 'inconclusive', families_drifted: [] })
    expect(
      judgeDiff([], { thresholds: DEFAULT_THRESHOLDS, prompts: 300, createRandom: () => createRandom(1) }),
    ).toEqual({
      pass: false,
      verdict: 'inconclusive',
      families: [],
      families_drifted: [],
    })
  })

  it('follows the thresholds that were given, and the same seed gives the same figures', () => {
    const lenient = { psi_drift: 50, ks_alpha: 0.01, psi_warn: 0.1, mean_shift: 0.9 }
    expect(judged(MIN_PROMPTS, lenient)).toMatchObject({ pass: true, verdict: 'warn', families_drifted: [] })
    expect(judged(MIN_PROMPTS)).toEqual(judged(MIN_PROMPTS))
  })
})
