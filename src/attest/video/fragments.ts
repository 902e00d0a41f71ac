// Movie fragments (ISO/IEC 14496-12 8.8): each states the times of its samples, so that a file can be written before
// its end is known.

import type { Box, BoxReader, Taken } from './boxes.ts'
import type { Finding } from './container.ts'
import type { Piece } from './footage.ts'
import { MAX_FRAGMENTS, MAX_FRAMES } from './limits.ts'
import type { Movie } from './movie.ts'
import { type Span, widen } from './runs.ts'

const BASE_DATA_OFFSET = 0x000001
const DESCRIPTION_INDEX = 0x000002
const DEFAULT_DURATION = 0x000008
const DATA_OFFSET = 0x000001
const FIRST_FLAGS = 0x000004
const DURATIONS = 0x000100
const SIZES = 0x000200
const FLAGS = 0x000400
const COMPOSITION = 0x000800
const MAX_TICKS = Number.MAX_SAFE_INTEGER

export interface Fragments {
  readers: ReadonlyMap<string, BoxReader>
  enter(type: string, offset: number): void
  leave(type: string, offset: number): Finding | undefined
  /** Where media data at the top level of the file end. */
  dataEnds(offset: number): void
  pieces(): readonly Piece[]
  /** The sum of the durations of all samples in fragments, in ticks. */
  sumTicks(): number
}

export function createFragments(movie: Movie): Fragments {
  const pieces: Piece[] = []
  let sumTicks = 0
  let allFrames = 0
  /** The decoding time at which the next sample begins. */
  let time: number | undefined
  let sequence: number | undefined
  let fragmentAt = 0
  let frames = 0
  let span: Span = emptySpan()
  let run: { isVideo: boolean; defaultTicks: number; hasTime: boolean } | undefined
  // A chunk begins with a fragment if only headers stand between the chunk boundary and the fragment.
  let from = 0
  let isDataAwaited = false

  function readSequence(payload: Buffer, { offset }: Box): Taken {
    const number = payload.readUInt32BE(4)
    if (sequence !== undefined && number <= sequence) return { reason: 'fragments_out_of_order', offset }
    sequence = number
    return undefined
  }

  function readHeader(payload: Buffer, { offset }: Box): Taken {
    if (run !== undefined) return { reason: 'second_box', offset }
    const flags = payload.readUInt32BE(0)
    const at = 8 + (flags & BASE_DATA_OFFSET ? 8 : 0) + (flags & DESCRIPTION_INDEX ? 4 : 0)
    const bytes = flags & DEFAULT_DURATION ? at + 4 : at
    if (payload.length < bytes) return { more: bytes }
    const trackId = payload.readUInt32BE(4)
    const defaultTicks = flags & DEFAULT_DURATION ? payload.readUInt32BE(at) : movie.defaultDuration(trackId)
    run = { isVideo: trackId === movie.video()?.id, defaultTicks, hasTime: false }
    return undefined
  }

  function readTime(payload: Buffer, { offset }: Box): Taken {
    if (run === undefined) return { reason: 'no_fragment_header', offset }
    if (run.hasTime) return { reason: 'second_box', offset }
    if (payload[0] === 1 && payload.length < 12) return { more: 12 }
    run.hasTime = true
    const ticks = payload[0] === 1 ? Number(payload.readBigUInt64BE(4)) : payload.readUInt32BE(4)
    if (ticks > MAX_TICKS) return { reason: 'bad_time', offset }
    if (run.isVideo) time = ticks
    return undefined
  }

  function readRun(payload: Buffer, { offset, payloadBytes }: Box): Taken {
    if (run === undefined) return { reason: 'no_fragment_header', offset }
    const flags = payload.readUInt32BE(0)
    const count = payload.readUInt32BE(4)
    const after = 8 + (flags & DATA_OFFSET ? 4 : 0) + (flags & FIRST_FLAGS ? 4 : 0)
    const recordBytes = 4 * [DURATIONS, SIZES, FLAGS, COMPOSITION].filter((flag) => flags & flag).length
    if (after + count * recordBytes > payloadBytes) return { reason: 'bad_box_size', offset }
    if (!run.isVideo || count === 0) return undefined
    frames += count
    allFrames += count
    if (allFrames > MAX_FRAMES) return { reason: 'too_many_frames', offset, isOverLimit: true }
    const { defaultTicks } = run
    const hasDurations = (flags & DURATIONS) !== 0
    if (!hasDurations && !(flags & COMPOSITION)) {
      addSamples(count, defaultTicks, 0)
      return undefined
    }
    const compositionAt = recordBytes - 4
    return {
      table: { after, recordBytes, count },
      take: (records) => {
        for (let at = 0; at < records.length; at += recordBytes) {
          const ticks = hasDurations ? records.readUInt32BE(at) : defaultTicks
          addSamples(1, ticks, flags & COMPOSITION ? records.readInt32BE(at + compositionAt) : 0)
        }
      },
    }
  }

  function addSamples(count: number, ticks: number, offset: number): void {
    const start = time ?? firstTime()
    time = start + count * ticks
    widen(span, start + offset, time + offset)
    sumTicks += count * ticks
  }

  // Without a time of its own the first fragment continues where the samples of the movie box end.
  function firstTime(): number {
    return movie.video()?.sumTicks ?? 0
  }

  function awaitData(offset: number): void {
    from = offset
    isDataAwaited = true
  }

  function endFragment(offset: number): Finding | undefined {
    if (frames === 0) return undefined
    if (pieces.length >= MAX_FRAGMENTS) return { reason: 'too_many_fragments', offset, isOverLimit: true }
    pieces.push({ from, at: fragmentAt, firstTicks: span.first, endTicks: span.end, frames })
    awaitData(offset)
    frames = 0
    span = emptySpan()
    return undefined
  }

  return {
    readers: new Map([
      ['moof/mfhd', { bytes: 8, read: readSequence }],
      ['traf/tfhd', { bytes: 8, read: readHeader }],
      ['traf/tfdt', { bytes: 8, read: readTime }],
      ['traf/trun', { bytes: 8, read: readRun }],
    ]),
    enter(type, offset) {
      if (type === 'moof') fragmentAt = offset
      if (type === 'traf') run = undefined
    },
    leave(type, offset) {
      // The movie's own samples, if any, stand before the first fragment.
      if (type === 'moov' && movie.video()?.frames) awaitData(offset)
      return type === 'moof' ? endFragment(offset) : undefined
    },
    dataEnds(offset) {
      if (isDataAwaited) from = offset
      isDataAwaited = false
    },
    pieces: () => pieces,
    sumTicks: () => sumTicks,
  }
}

const emptySpan = (): Span => ({ first: Number.POSITIVE_INFINITY, end: Number.NEGATIVE_INFINITY })
