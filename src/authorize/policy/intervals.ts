// Sets of numbers as lists of intervals: sorted, and with some number left out between each two of them. A complement and
// an intersection then take one pass. Both give lists of the same kind.

import { compareNumbers, type Numeric, sortNumbers } from './comparisons.ts'
import type { AnalysisWork, Pausing } from './work.ts'

/** null: unbounded. */
export interface Interval {
  low: Numeric | null
  isLowOpen: boolean
  high: Numeric | null
  isHighOpen: boolean
}

export type Intervals = readonly Interval[]

export const EVERY_NUMBER: Intervals = [{ low: null, isLowOpen: true, high: null, isHighOpen: true }]

// Two decimal texts that are equal as doubles: each comparison parses both.
const UNITS_OF_DECIMALS = 25
// For its memory, some 60 bytes: an analysis makes at most 2.5 million.
const UNITS_OF_INTERVAL = 8

export function pointsOf(values: readonly Numeric[]): Intervals {
  return sortNumbers(values).map((value) => ({ low: value, isLowOpen: false, high: value, isHighOpen: false }))
}

/** What lies outside of the intervals. */
export function complement(intervals: Intervals): Intervals {
  const gaps: Interval[] = []
  let gap: Pick<Interval, 'low' | 'isLowOpen'> = { low: null, isLowOpen: true }
  for (const { low, isLowOpen, high, isHighOpen } of intervals) {
    if (low !== null) gaps.push({ ...gap, high: low, isHighOpen: !isLowOpen })
    if (high === null) return gaps
    gap = { low: high, isLowOpen: !isHighOpen }
  }
  return [...gaps, { ...gap, high: null, isHighOpen: true }]
}

export function* intersectIntervals(work: AnalysisWork, a: Intervals, b: Intervals): Pausing<Intervals> {
  const common: Interval[] = []
  let [atA, atB] = [0, 0]
  for (;;) {
    const [one, other] = [a[atA], b[atB]]
    if (one === undefined || other === undefined) return common
    if (work.charge(isDecimal(one) || isDecimal(other) ? UNITS_OF_DECIMALS : 1)) yield
    const isOneFirst = endsFirst(one, other)
    const found = overlap(startsLast(one, other) ? one : other, isOneFirst ? one : other)
    if (found !== undefined) {
      common.push(found)
      if (found !== one && found !== other && work.charge(UNITS_OF_INTERVAL)) yield
    }
    if (isOneFirst) atA += 1
    else atB += 1
  }
}

export function hasNumber(intervals: Intervals, value: Numeric): boolean {
  let [from, to] = [0, intervals.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (isBelow(intervals[middle], value)) from = middle + 1
    else to = middle
  }
  const interval = intervals[from]
  if (interval === undefined) return false
  if (interval.low === null) return true
  const order = compareNumbers(value, interval.low)
  return order > 0 || (order === 0 && !interval.isLowOpen)
}

export function numberIn({ low, isLowOpen, high, isHighOpen }: Interval): Numeric {
  if (low !== null && !isLowOpen) return low
  if (high !== null && !isHighOpen) return high
  if (low === null && high === null) return 0
  if (low === null) return Number(high) - 1
  return high === null ? Number(low) + 1 : (Number(low) + Number(high)) / 2
}

function isBelow(interval: Interval | undefined, value: Numeric): boolean {
  if (interval === undefined || interval.high === null) return false
  const order = compareNumbers(interval.high, value)
  return order < 0 || (order === 0 && interval.isHighOpen)
}

function startsLast(a: Interval, b: Interval): boolean {
  return b.low === null || (a.low !== null && isStricter(compareNumbers(a.low, b.low), a.isLowOpen))
}

function endsFirst(a: Interval, b: Interval): boolean {
  return b.high === null || (a.high !== null && isStricter(compareNumbers(b.high, a.high), a.isHighOpen))
}

// The inner one of two bounds counts; of equal bounds the open one.
function isStricter(order: number, isOpen: boolean): boolean {
  return order > 0 || (order === 0 && isOpen)
}

function overlap(from: Interval, to: Interval): Interval | undefined {
  if (from === to) return from
  const { low, isLowOpen } = from
  const { high, isHighOpen } = to
  const order = low === null || high === null ? -1 : compareNumbers(low, high)
  const isEmpty = order > 0 || (order === 0 && (isLowOpen || isHighOpen))
  return isEmpty ? undefined : { low, isLowOpen, high, isHighOpen }
}

function isDecimal({ low, high }: Interval): boolean {
  return typeof low === 'string' || typeof high === 'string'
}
