// The two-sample Kolmogorov-Smirnov test. The p-value of small samples is exact, also with ties; that of large ones is
// the limit of Kolmogorov's distribution.

export interface KolmogorovTest {
  /** The largest distance between the two distributions, 0 to 1. */
  statistic: number
  /** Probability of a distance at least as large, when both samples come from one distribution. */
  p: number
  method: 'exact' | 'asymptotic'
}

// The exact p takes as many steps: 10 ms.
const MAX_EXACT_STEPS = 4_000_000
// The counts are whole numbers up to the product of the sizes; this covers their rounding alone.
const ROUNDING = 1e-9
const MAX_TERMS = 100

export function compareDistributions(
  base: readonly number[],
  target: readonly number[],
  { maxExactSteps = MAX_EXACT_STEPS }: { maxExactSteps?: number } = {},
): KolmogorovTest {
  const [n, m] = [base.length, target.length]
  if (n === 0 || m === 0) throw new RangeError('a sample is empty')
  const { distance, isEndOfTie } = walk(base, target)
  const statistic = distance / (n * m)
  if (n * m <= maxExactSteps) return { statistic, p: exactP(distance, n, m, isEndOfTie), method: 'exact' }
  const effective = Math.sqrt((n * m) / (n + m))
  return { statistic, p: survival(effective * statistic), method: 'asymptotic' }
}

/** The distance times both sizes, a whole number, and after how many of the merged values a run of equal ones ends. */
function walk(base: readonly number[], target: readonly number[]): { distance: number; isEndOfTie: Uint8Array } {
  const one = Float64Array.from(base).sort()
  const other = Float64Array.from(target).sort()
  const [n, m] = [one.length, other.length]
  const isEndOfTie = new Uint8Array(n + m + 1)
  let [i, j, distance] = [0, 0, 0]
  while (i < n || j < m) {
    const value = Math.min(one[i] ?? Number.POSITIVE_INFINITY, other[j] ?? Number.POSITIVE_INFINITY)
    if (Number.isNaN(value)) throw new RangeError('a value is no number')
    while (i < n && one[i] === value) i += 1
    while (j < m && other[j] === value) j += 1
    isEndOfTie[i + j] = 1
    distance = Math.max(distance, Math.abs(i * m - j * n))
  }
  return { distance, isEndOfTie }
}

/**
 * The share of all orders of the merged values in which the distance is reached: a walk over the grid of (i, j), every
 * path equally likely. Schroeer and Trenkler (1995): with ties, the distance counts only where a run of equal values ends.
 * The sum has no negative term, so a small p keeps its digits.
 */
function exactP(distance: number, n: number, m: number, isEndOfTie: Uint8Array): number {
  const reached = (i: number, j: number) => isEndOfTie[i + j] === 1 && Math.abs(i * m - j * n) >= distance - ROUNDING
  // After i values of one sample and j of the other: the probability that the distance was reached on the way there.
  const row = new Float64Array(m + 1)
  for (let i = 0; i <= n; i += 1) {
    for (let j = 0; j <= m; j += 1) {
      if (distance === 0 || ((i > 0 || j > 0) && reached(i, j))) row[j] = 1
      else if (i > 0 || j > 0) {
        const fromAbove = i === 0 ? 0 : (i / (i + j)) * (row[j] ?? 0)
        const fromLeft = j === 0 ? 0 : (j / (i + j)) * (row[j - 1] ?? 0)
        row[j] = fromAbove + fromLeft
      }
    }
  }
  return Math.min(1, row[m] ?? 1)
}

/** 1 - K(x) of Kolmogorov's limiting distribution. */
function survival(x: number): number {
  // Below, the sum has no digit left, and the value is 1 to 1e-12.
  if (x < 0.17) return 1
  let sum = 0
  for (let term = 1; term <= MAX_TERMS; term += 1) {
    const part = Math.exp(-2 * (term * x) ** 2)
    sum += term % 2 === 1 ? part : -part
    if (part < Number.EPSILON * sum) break
  }
  return Math.min(1, Math.max(0, 2 * sum))
}

/**
 * Holm's step-down adjustment: each p-value made comparable with the level of the whole family of tests. In the order of
 * the p-values given.
 */
export function adjustByHolm(values: readonly number[]): number[] {
  const order = values.map((p, index) => ({ p, index })).toSorted((one, other) => one.p - other.p)
  const adjusted = values.map(() => 1)
  let highest = 0
  order.forEach(({ p, index }, rank) => {
    highest = Math.max(highest, Math.min(1, p * (values.length - rank)))
    adjusted[index] = highest
  })
  return adjusted
}
