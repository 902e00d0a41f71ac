import type { TimingFacts } from '../video/facts.ts'
import {
  ARRIVAL_TOLERANCE_MS,
  CLOCK_SKEW_MS,
  GAP_BUDGET,
  MAX_CHUNK_US,
  MAX_FRAME_RATE,
  MAX_VIDEO_US,
  MIN_CHUNK_US,
  MIN_FRAME_RATE,
  RATE_FACTOR,
} from '../video/limits.ts'
import { judgeContainer } from './container.ts'
import type { CapturedFacts } from './facts.ts'
import { type ScoredFactor, scored } from './table.ts'

type LivenessCheck =
  | 'presentation_times'
  | 'gap'
  | 'gap_budget'
  | 'chunk_too_short'
  | 'chunk_too_long'
  | 'video_too_long'
  | 'stated_duration'
  | 'frame_rate'
  | 'chunk_rate'
  | 'arrival'
  | 'end'
  | 'elapsed'
  | 'container'
  | 'container_limits'
  | 'container_duration'
  | 'container_frames'
  | 'fragment_times'
  | 'fragment_frames'
  | 'codec'
  | 'timescale'

export interface LivenessFinding {
  check: LivenessCheck
  /** The chunk, if the problem is in one. */
  index: number | null
  expected: Record<string, string | number | null>
  found: Record<string, string | number | null>
}

/**
 * `liveness_check_failed`: times that no live recording has, or that the file contradicts. Not biometric. `expected`
 * and `found` are of the first check that failed, in the order of this file; `failed` lists all.
 */
export function judgeLiveness(facts: CapturedFacts): ScoredFactor<'liveness_check_failed'> | null {
  const { media, video } = facts
  if (media.mediaType !== 'video' || video == null) return null
  const findings = [
    ...(video.timing === null ? [] : [...timesOf(video.timing), ...clocksOf(facts, video.timing)]),
    ...judgeContainer(video),
  ]
  const [first] = findings
  if (first === undefined) return null
  return scored('liveness_check_failed', {
    compared: `timing and continuity of the recording: ${first.check}`,
    expected: first.expected,
    found: first.found,
    failed: findings.map(({ check }) => check),
    first_bad_index: first.index,
    duration_us: video.timing?.spanUs ?? null,
    frames: video.timing?.frames ?? null,
    source: video.source,
  })
}

// Limited to the longest allowed frame, so that a manifest with few frames gains no tolerance.
function frameUs({ spanUs, frames }: TimingFacts): number {
  const longest = 1_000_000 / MIN_FRAME_RATE
  return frames > 0 && spanUs > 0 ? Math.min(Math.ceil(spanUs / frames), longest) : longest
}

function timesOf(timing: TimingFacts): LivenessFinding[] {
  const { spanUs, statedUs, frames, reversed, gap, gapsUs, shortest, longest, rate } = timing
  const frame = frameUs(timing)
  const findings: LivenessFinding[] = []
  const fail = (
    check: LivenessCheck,
    index: number | null,
    expected: LivenessFinding['expected'],
    found: LivenessFinding['found'],
  ) => findings.push({ check, index, expected, found })

  if (reversed !== null) {
    fail('presentation_times', reversed.index, { chunk: 'ends after it starts' }, { reversed_chunks: reversed.count })
  }
  if (gap !== null && Math.abs(gap.us) > frame) fail('gap', gap.index, { max_gap_us: frame }, { gap_us: gap.us })
  const budget = Math.max(frame, Math.floor(spanUs * GAP_BUDGET))
  if (gapsUs > budget) fail('gap_budget', null, { max_gaps_us: budget }, { gaps_us: gapsUs })
  if (shortest !== null && shortest.us < MIN_CHUNK_US) {
    fail('chunk_too_short', shortest.index, { min_chunk_us: MIN_CHUNK_US }, { chunk_us: shortest.us })
  }
  if (longest !== null && longest.us > MAX_CHUNK_US) {
    fail('chunk_too_long', longest.index, { max_chunk_us: MAX_CHUNK_US }, { chunk_us: longest.us })
  }
  if (spanUs > MAX_VIDEO_US) fail('video_too_long', null, { max_duration_us: MAX_VIDEO_US }, { duration_us: spanUs })
  if (statedUs !== null && Math.abs(statedUs - spanUs) > frame) {
    fail('stated_duration', null, { duration_us: spanUs, tolerance_us: frame }, { duration_us: statedUs })
  }
  // Compared as products, because a quotient would round.
  if (frames * 1_000_000 < MIN_FRAME_RATE * spanUs || frames * 1_000_000 > MAX_FRAME_RATE * spanUs) {
    fail(
      'frame_rate',
      null,
      { min_per_second: MIN_FRAME_RATE, max_per_second: MAX_FRAME_RATE },
      { frames, duration_us: spanUs },
    )
  }
  if (rate !== null && rate.factor > RATE_FACTOR) {
    fail('chunk_rate', rate.index, { max_factor: RATE_FACTOR }, { factor: rate.factor })
  }
  return findings
}

function clocksOf(
  { bundle, session, acceptedAt }: CapturedFacts,
  { spanUs, beganByMs }: TimingFacts,
): LivenessFinding[] {
  const findings: LivenessFinding[] = []
  const capturedAtMs = bundle.capturedAt.getTime()
  const issuedAtMs = session?.issuedAt?.getTime() ?? null
  const durationMs = spanUs / 1_000

  // A chunk's content must be recorded before it arrives, and after both the nonce and the start that the phone states.
  const earliestMs = Math.max(issuedAtMs ?? Number.NEGATIVE_INFINITY, capturedAtMs - CLOCK_SKEW_MS)
  if (beganByMs !== null && beganByMs.ms < earliestMs - ARRIVAL_TOLERANCE_MS) {
    findings.push({
      check: 'arrival',
      index: beganByMs.index,
      expected: { not_before: new Date(earliestMs).toISOString(), tolerance_ms: ARRIVAL_TOLERANCE_MS },
      found: { began_by: isoOf(beganByMs.ms), early_ms: Math.round(earliestMs - beganByMs.ms) },
    })
  }
  const endMs = capturedAtMs + durationMs
  if (endMs > acceptedAt.getTime() + CLOCK_SKEW_MS) {
    findings.push({
      check: 'end',
      index: null,
      expected: { ended_before: acceptedAt.toISOString(), skew_ms: CLOCK_SKEW_MS },
      found: { ended_at: isoOf(endMs) },
    })
  }
  // Both times are by the server's clock.
  const elapsedMs = issuedAtMs === null ? null : acceptedAt.getTime() - issuedAtMs
  if (elapsedMs !== null && durationMs > elapsedMs + ARRIVAL_TOLERANCE_MS) {
    findings.push({
      check: 'elapsed',
      index: null,
      expected: { max_duration_ms: elapsedMs, tolerance_ms: ARRIVAL_TOLERANCE_MS },
      found: { duration_ms: durationMs },
    })
  }
  return findings
}

// A hostile manifest's duration can exceed the range of a date.
function isoOf(ms: number): string | null {
  const date = new Date(Math.round(ms))
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}
