// Compares a video's file with its manifest. Part of `liveness_check_failed`.

import { quote } from '#src/platform/sanitize.ts'
import type { FootageFacts, VideoFacts } from '../video/facts.ts'
import { FRAME_COUNT_TOLERANCE, MAX_ELEMENTS, MAX_FRAGMENTS, MAX_FRAMES, MAX_TRACKS } from '../video/limits.ts'
import type { LivenessFinding } from './liveness.ts'

// A file that was cut or changed is invalid for that reason, which other factors report; here only faults of the file
// as signed.
export function judgeContainer({ container, footage, chain, received }: VideoFacts): LivenessFinding[] {
  const isWhole =
    chain?.digest === null && received.missing === null && received.surplus === null && received.looseBytes === 0
  if (!isWhole) return []
  if (footage != null) return judgeFootage(footage)
  if (container.state === 'sane') return []
  const found = { reason: quote(container.reason ?? ''), offset: container.offset }
  if (container.state === 'broken') {
    return [{ check: 'container', index: null, expected: { container: 'a file that a player can read' }, found }]
  }
  // An unread container could hide any times.
  const expected = {
    max_elements: MAX_ELEMENTS,
    max_frames: MAX_FRAMES,
    max_fragments: MAX_FRAGMENTS,
    max_tracks: MAX_TRACKS,
  }
  return [{ check: 'container_limits', index: null, expected, found }]
}

function judgeFootage(footage: FootageFacts): LivenessFinding[] {
  const { frameUs, codec, timescale, durationUs, frames, chunkStart, chunkFrames } = footage
  const findings: LivenessFinding[] = []
  if (differs(durationUs, frameUs)) {
    findings.push({
      check: 'container_duration',
      index: null,
      expected: { file_us: durationUs.found, tolerance_us: frameUs },
      found: { manifest_us: durationUs.stated },
    })
  }
  if (differs(frames, FRAME_COUNT_TOLERANCE)) {
    findings.push({
      check: 'container_frames',
      index: null,
      expected: { file_frames: frames.found, tolerance_frames: FRAME_COUNT_TOLERANCE },
      found: { manifest_frames: frames.stated },
    })
  }
  if (chunkStart !== null) {
    findings.push({
      check: 'fragment_times',
      index: chunkStart.index,
      expected: { file_us: chunkStart.found, tolerance_us: frameUs },
      found: { manifest_us: chunkStart.stated, chunks: chunkStart.count },
    })
  }
  if (chunkFrames !== null) {
    findings.push({
      check: 'fragment_frames',
      index: chunkFrames.index,
      expected: { file_frames: chunkFrames.found, tolerance_frames: FRAME_COUNT_TOLERANCE },
      found: { manifest_frames: chunkFrames.stated, chunks: chunkFrames.count },
    })
  }
  if (!codec.isSame) {
    findings.push({
      check: 'codec',
      index: null,
      expected: { file_codec: quote(codec.found) },
      found: { manifest_codec: quote(codec.stated ?? '') },
    })
  }
  if (timescale.stated !== null && timescale.stated !== timescale.found) {
    findings.push({
      check: 'timescale',
      index: null,
      expected: { file_timescale: timescale.found },
      found: { manifest_timescale: timescale.stated },
    })
  }
  return findings
}

function differs({ stated, found }: { stated: number | null; found: number }, tolerance: number): boolean {
  return stated !== null && Math.abs(stated - found) > tolerance
}
