// Lists of intervals against their definition: which numbers belong to them, said without any order.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareNumbers, type Numeric, sortNumbers } from '#src/authorize/policy/comparisons.ts'
import {
  complement,
  hasNumber,
  type Interval,
  type Intervals,
  intersectIntervals,
  pointsOf,
} from '#src/authorize/policy/intervals.ts'
import { createWork, type Pausing } from '#src/authorize/policy/work.ts'

// The last three are equal as doubles.
const BOUNDS: Numeric[] = [
  -2,
  '-1.5',
  0,
  '0.0',
  1,
  '1.5',
  2,
  '0.1',
  '0.10000000000000000001',
  '0.100000000000000000011',
]
const SAMPLES: Numeric[] = [...BOUNDS, -3, -1, '0.05', '0.100000000000000000005', '0.2', 1.2, 1.7, 3]

type Expression =
  | { kind: 'points'; values: Numeric[] }
  | { kind: 'range'; interval: Interval }
  | { kind: 'not'; of: Expression }
  | { kind: 'both'; a: Expression; b: Expression }

const numeric = fc.constantFrom(...BOUNDS)
const bound = fc.option(numeric)
const range = fc
  .record({ low: bound, isLowOpen: fc.boolean(), high: bound, isHighOpen: fc.boolean() })
  .filter(({ low, isLowOpen, high, isHighOpen }) => {
    if (low === null || high === null) return true
    const order = compareNumbers(low, high)
    return order < 0 || (order === 0 && !isLowOpen && !isHighOpen)
  })
const { expression } = fc.letrec<{ expression: Expression }>((tie) => ({
  expression: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.record({ kind: fc.constant('points' as const), values: fc.array(numeric, { maxLength: 6 }) }),
    fc.record({ kind: fc.constant('range' as const), interval: range }),
    fc.record({ kind: fc.constant('not' as const), of: tie('expression') }),
    fc.record({ kind: fc.constant('both' as const), a: tie('expression'), b: tie('expression') }),
  ),
}))

describe('lists of intervals', () => {
  it('have the numbers of their definition, after any complements and intersections', () => {
    fc.assert(
      fc.property(expression, (of) => {
        const intervals = made(of)
        const wanted = SAMPLES.filter((value) => isMember(of, value))
        expect(SAMPLES.filter((value) => intervals.some((one) => isInside(one, value)))).toEqual(wanted)
        expect(SAMPLES.filter((value) => hasNumber(intervals, value))).toEqual(wanted)
      }),
      { numRuns: 3_000 },
    )
  })

  it('stay sorted, and no two of them touch', () => {
    fc.assert(
      fc.property(expression, (of) => {
        const intervals = made(of)
        for (const [index, { low, isLowOpen }] of intervals.entries()) {
          const before = intervals[index - 1]
          if (before === undefined) continue
          const order = compareNumbers(before.high ?? Number.NaN, low ?? Number.NaN)
          expect(order < 0 || (order === 0 && before.isHighOpen && isLowOpen)).toBe(true)
        }
      }),
    )
  })

  it('are read a few times for each interval, however many there are', () => {
    const readsFor = (count: number) => {
      let reads = 0
      const counted = ({ low, high, ...open }: Interval): Interval => ({
        ...open,
        get low() {
          reads += 1
          return low
        },
        get high() {
          reads += 1
          return high
        },
      })
      const points = pointsOf(Array.from({ length: count }, (_, n) => n)).map(counted)
      const gaps = complement(points).map(counted)
      finish(intersectIntervals(createWork(), points, gaps))
      return reads
    }
    expect(readsFor(1_000)).toBeLessThan(50 * 1_000)
    expect(readsFor(2_000)).toBeLessThan(2.1 * readsFor(1_000))
  })
})

it('numbers are sorted by their exact value, equal ones once', () => {
  expect(sortNumbers([3, -1, 3, 0.5])).toEqual([-1, 0.5, 3])
  const close = ['0.100000000000000000011', '0.1', '0.10', '-2', '0.10000000000000000001']
  expect(sortNumbers(close)).toEqual(['-2', '0.1', '0.10000000000000000001', '0.100000000000000000011'])
})

function made(of: Expression): Intervals {
  switch (of.kind) {
    case 'points':
      return pointsOf(of.values)
    case 'range':
      return [of.interval]
    case 'not':
      return complement(made(of.of))
    case 'both':
      return finish(intersectIntervals(createWork(), made(of.a), made(of.b)))
  }
}

function isMember(of: Expression, value: Numeric): boolean {
  switch (of.kind) {
    case 'points':
      return of.values.some((one) => compareNumbers(one, value) === 0)
    case 'range':
      return isInside(of.interval, value)
    case 'not':
      return !isMember(of.of, value)
    case 'both':
      return isMember(of.a, value) && isMember(of.b, value)
  }
}

function isInside({ low, isLowOpen, high, isHighOpen }: Interval, value: Numeric): boolean {
  const above = low === null ? 1 : compareNumbers(value, low)
  const below = high === null ? 1 : compareNumbers(high, value)
  return (isLowOpen ? above > 0 : above >= 0) && (isHighOpen ? below > 0 : below >= 0)
}

function finish<Result>(steps: Pausing<Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}
