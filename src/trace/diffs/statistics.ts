// How far two samples of canary scores are apart. Pure: the same scores and random numbers give the same figures.

/**
 * Scores are counted in ten bins of equal width: [0, 0.1), [0.1, 0.2), and so on; 1 is in the last one. Quantiles of the
 * base, which are usual, put nine of ten bins near 0, where differences mean nothing.
 */
export const PSI_BINS = 10
// Added to each count, so that an empty bin has a share to take the logarithm of (Jeffreys' prior).
const PSI_PRIOR = 0.5

/** Scores of two versions, counted in the bins of the stability index. */
export interface ScoreBins {
  /** One more than there are bins. */
  edges: number[]
  base: number[]
  target: number[]
}

export function binScores(base: readonly number[], target: readonly number[]): ScoreBins {
  const edges = Array.from({ length: PSI_BINS + 1 }, (_, edge) => edge / PSI_BINS)
  return { edges, base: countIn(base), target: countIn(target) }
}

/**
 * The population stability index: the sum over bins of (q - p) ln(q / p), p and q being the shares of the base's and the
 * target's scores. Bins are fixed and not quantiles of the base: most scores lie close to 0, and quantiles there would count
 * differences that mean nothing.
 */
export function stabilityIndex(base: readonly number[], target: readonly number[]): number {
  const [p, q] = [binShares(base), binShares(target)]
  return p.reduce((sum, share, bin) => {
    const other = q[bin] ?? share
    return sum + (other - share) * Math.log(other / share)
  }, 0)
}

function binShares(scores: readonly number[]): number[] {
  return countIn(scores).map((count) => (count + PSI_PRIOR) / (scores.length + PSI_BINS * PSI_PRIOR))
}

function countIn(scores: readonly number[]): number[] {
  const counts = Array.from({ length: PSI_BINS }, () => 0)
  for (const score of scores) {
    if (!(score >= 0 && score <= 1)) throw new RangeError('a score is not between 0 and 1')
    const bin = Math.min(PSI_BINS - 1, Math.floor(score * PSI_BINS))
    counts[bin] = (counts[bin] ?? 0) + 1
  }
  return counts
}

export interface MeanShift {
  /** The mean of target minus base. */
  mean: number
  /** Of the bootstrap: the quantiles of the resampled means at half the error on either side. */
  low: number
  high: number
}

export const RESAMPLES = 2_000
export const CONFIDENCE = 0.95

/**
 * The mean difference of paired scores, both of one prompt, and its interval by a percentile bootstrap over prompts.
 * @param random Numbers from 0 up to 1, from a seed.
 */
export function measureShift(
  base: readonly number[],
  target: readonly number[],
  random: () => number,
  { resamples = RESAMPLES, confidence = CONFIDENCE } = {},
): MeanShift {
  const count = base.length
  if (count === 0 || target.length !== count) throw new RangeError('the samples are not pairs')
  const differences = Float64Array.from(base, (score, index) => (target[index] ?? 0) - score)
  const means = new Float64Array(resamples)
  for (let resample = 0; resample < resamples; resample += 1) {
    let sum = 0
    for (let draw = 0; draw < count; draw += 1) sum += differences[Math.floor(random() * count)] ?? 0
    means[resample] = sum / count
  }
  means.sort()
  const tail = (1 - confidence) / 2
  const mean = differences.reduce((sum, one) => sum + one, 0) / count
  return { mean, low: quantileOf(means, tail), high: quantileOf(means, 1 - tail) }
}

/** Linear between the two nearest of sorted values (the method of R's type 7 and numpy). */
export function quantileOf(sorted: Float64Array, share: number): number {
  const place = share * (sorted.length - 1)
  const below = Math.floor(place)
  const low = sorted[below] ?? Number.NaN
  const high = sorted[Math.min(below + 1, sorted.length - 1)] ?? low
  return low + (high - low) * (place - below)
}

/**
 * The Kullback-Leibler divergence of the target's next-token distribution from the base's, in nats: how surprising the
 * base's choices are to the target.
 * @param base Natural logarithms of probabilities, one of each token of the vocabulary; `target` likewise.
 */
export function divergence(base: Float32Array, target: Float32Array): number {
  if (base.length !== target.length) throw new RangeError('the vocabularies have different sizes')
  let sum = 0
  for (let token = 0; token < base.length; token += 1) {
    const logarithm = base[token] ?? Number.NEGATIVE_INFINITY
    // 0 ln 0 is 0.
    if (logarithm === Number.NEGATIVE_INFINITY) continue
    sum += Math.exp(logarithm) * (logarithm - (target[token] ?? Number.NEGATIVE_INFINITY))
  }
  // Single precision may leave it a hair below.
  return Math.max(0, sum)
}
