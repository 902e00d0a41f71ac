// The times of a video's chunks: presentation times from the manifest, arrival times from the server.

import type { ManifestChunk, ReceivedChunk, TimingFacts } from './facts.ts'

interface TimedChunk {
  firstUs: number
  lastUs: number
  frames: number
}

/** Null when there is nothing to measure, or a chunk lacks its times or frames. */
export function measureTiming(
  statedUs: number | null,
  chunks: readonly ManifestChunk[],
  byIndex: ReadonlyMap<number, ReceivedChunk>,
): TimingFacts | null {
  const timed = chunks.flatMap(({ first_pts_us: firstUs, last_pts_us: lastUs, frames }) =>
    firstUs === undefined || lastUs === undefined || frames === undefined ? [] : [{ firstUs, lastUs, frames }],
  )
  const [first] = timed
  const last = timed.at(-1)
  if (first === undefined || last === undefined || timed.length !== chunks.length) return null
  const spanUs = last.lastUs - first.firstUs
  const frames = timed.reduce((sum, chunk) => sum + chunk.frames, 0)
  return {
    spanUs,
    statedUs,
    frames,
    reversed: reversedOf(timed),
    ...gapsOf(timed),
    shortest: extremeOf(timed.slice(0, -1), (a, b) => a < b),
    longest: extremeOf(timed, (a, b) => a > b),
    rate: rateOf(timed, frames / spanUs),
    beganByMs: beganBy(timed, first.firstUs, byIndex),
  }
}

function reversedOf(chunks: readonly TimedChunk[]): TimingFacts['reversed'] {
  const bad = chunks.flatMap(({ firstUs, lastUs }, index) => (lastUs <= firstUs ? [index] : []))
  const [index] = bad
  return index === undefined ? null : { count: bad.length, index }
}

function gapsOf(chunks: readonly TimedChunk[]): Pick<TimingFacts, 'gap' | 'gapsUs'> {
  let gap: TimingFacts['gap'] = null
  let gapsUs = 0
  let end: number | undefined
  chunks.forEach(({ firstUs, lastUs }, index) => {
    if (end !== undefined) {
      const us = firstUs - end
      gapsUs += Math.abs(us)
      if (gap === null || Math.abs(us) > Math.abs(gap.us)) gap = { us, index }
    }
    end = lastUs
  })
  return { gap, gapsUs }
}

function extremeOf(
  chunks: readonly TimedChunk[],
  isMore: (a: number, b: number) => boolean,
): { us: number; index: number } | null {
  let found: { us: number; index: number } | null = null
  chunks.forEach(({ firstUs, lastUs }, index) => {
    const us = lastUs - firstUs
    if (found === null || isMore(us, found.us)) found = { us, index }
  })
  return found
}

// A chunk boundary may add or remove one frame.
function rateOf(chunks: readonly TimedChunk[], rate: number): TimingFacts['rate'] {
  if (!Number.isFinite(rate) || rate <= 0) return null
  let found: TimingFacts['rate'] = null
  chunks.forEach(({ firstUs, lastUs, frames }, index) => {
    const expected = rate * (lastUs - firstUs)
    // A chunk without a duration has no rate; it counts as reversed.
    if (expected <= 0) return
    const factor = round(Math.max((frames - 1) / expected, expected / (frames + 1)))
    if (found === null || factor > found.factor) found = { factor, index }
  })
  return found
}

function beganBy(
  chunks: readonly TimedChunk[],
  startUs: number,
  byIndex: ReadonlyMap<number, ReceivedChunk>,
): TimingFacts['beganByMs'] {
  let found: TimingFacts['beganByMs'] = null
  chunks.forEach(({ lastUs }, index) => {
    const arrivedAtMs = byIndex.get(index)?.arrivedAtMs ?? null
    if (arrivedAtMs === null) return
    const ms = arrivedAtMs - (lastUs - startUs) / 1_000
    if (found === null || ms < found.ms) found = { ms, index }
  })
  return found
}

// People read the evidence too.
const round = (factor: number): number => Math.round(factor * 1_000) / 1_000
