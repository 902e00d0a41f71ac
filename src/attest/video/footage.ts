// What a container says about its video, and how far that differs from the manifest. Times are compared relative to the
// first frame: a phone's clock need not begin at zero.

import { type Codec, describeCodec, isSameCodec } from './codec.ts'
import type { FootageFacts, ManifestChunk, VideoManifest } from './facts.ts'
import { FRAME_COUNT_TOLERANCE, MIN_FRAME_RATE } from './limits.ts'

/** Frames that the container dates together: a fragment, a cluster, or a whole table. */
export interface Piece {
  /**
   * A chunk that begins from here to `at`, in bytes from the start of the file, begins with the first of these frames.
   */
  from: number
  at: number
  /** The earliest presentation time. */
  firstTicks: number
  /** Where the last frame ends. */
  endTicks: number
  frames: number
}

export interface Footage {
  codec: Codec
  timescale: number
  frames: number
  durationUs: number
  /** Relative to the first frame of the file; empty where one table dates all frames. */
  fragments: readonly { from: number; at: number; firstUs: number; endUs: number; frames: number }[]
}

export interface Measured {
  codec: Codec
  timescale: number
  pieces: readonly Piece[]
  /** If false, the pieces date the frames of the file, but not those of a chunk. */
  isFragmented: boolean
  /** Other durations of the video that the container states; the longest counts. */
  atLeastTicks: readonly number[]
}

/** Null where there is no frame. */
export function footageOf({ codec, timescale, pieces, isFragmented, atLeastTicks }: Measured): Footage | null {
  if (pieces.length === 0) return null
  const first = pieces.reduce((least, piece) => Math.min(least, piece.firstTicks), Number.POSITIVE_INFINITY)
  const end = pieces.reduce((most, piece) => Math.max(most, piece.endTicks), Number.NEGATIVE_INFINITY)
  const toUs = (ticks: number) =>
    Math.max(Number.MIN_SAFE_INTEGER, Math.min(Math.round((ticks * 1_000_000) / timescale), Number.MAX_SAFE_INTEGER))
  return {
    codec,
    timescale,
    frames: pieces.reduce((sum, { frames }) => sum + frames, 0),
    durationUs: toUs(Math.max(end - first, ...atLeastTicks)),
    fragments: isFragmented
      ? pieces.map(({ from, at, firstTicks, endTicks, frames }) => {
          return { from, at, firstUs: toUs(firstTicks - first), endUs: toUs(endTicks - first), frames }
        })
      : [],
  }
}

/** Null where the manifest states nothing comparable. */
export function measureFootage(
  manifest: VideoManifest,
  chunks: readonly ManifestChunk[],
  footage: Footage,
): FootageFacts {
  const frameUs = Math.min(Math.ceil(footage.durationUs / footage.frames), 1_000_000 / MIN_FRAME_RATE)
  const { codec, timescale } = manifest
  const [first] = chunks
  const last = chunks.at(-1)
  const isTimed = first?.first_pts_us !== undefined && last?.last_pts_us !== undefined
  return {
    frameUs,
    fragments: footage.fragments.length,
    codec: {
      stated: codec ?? null,
      found: describeCodec(footage.codec),
      isSame: codec === undefined || isSameCodec(codec, footage.codec),
    },
    timescale: { stated: timescale ?? null, found: footage.timescale },
    durationUs: {
      stated: isTimed ? (last.last_pts_us ?? 0) - (first.first_pts_us ?? 0) : null,
      found: footage.durationUs,
    },
    frames: { stated: sumOfFrames(chunks), found: footage.frames },
    ...measureChunks(chunks, footage, frameUs),
  }
}

function sumOfFrames(chunks: readonly ManifestChunk[]): number | null {
  if (chunks.length === 0 || chunks.some(({ frames }) => frames === undefined)) return null
  return chunks.reduce((sum, { frames = 0 }) => sum + frames, 0)
}

/** Walks chunks and fragments in parallel; the number of steps is the sum of both. */
function measureChunks(
  chunks: readonly ManifestChunk[],
  { fragments }: Footage,
  frameUs: number,
): Pick<FootageFacts, 'chunkStart' | 'chunkFrames'> {
  let chunkStart: Difference | null = null
  let chunkFrames: Difference | null = null
  let place = 0
  let boundary = 0
  let frames = 0
  /**
   * The chunk before this boundary, if it began with a fragment: it holds whole fragments if this boundary is at one
   * too.
   */
  let opened: { index: number; stated: number } | undefined
  const startUs = chunks[0]?.first_pts_us
  if (fragments.length === 0 || startUs === undefined) return { chunkStart, chunkFrames }
  for (const [index, { first_pts_us: statedUs, bytes, frames: stated }] of chunks.entries()) {
    for (let passed = fragments[place]; passed !== undefined && passed.at < boundary; passed = fragments[place]) {
      frames += passed.frames
      place += 1
    }
    const next = fragments[place]
    const isAligned = next !== undefined && next.from <= boundary
    if (isAligned) chunkFrames = tellFrames(chunkFrames, opened, frames)
    frames = 0
    opened = isAligned && stated !== undefined ? { index, stated } : undefined
    if (statedUs === undefined || bytes === undefined) return { chunkStart, chunkFrames }
    const within = fragments[place - 1]
    const [leastUs, mostUs] = isAligned ? [next.firstUs, next.firstUs] : [within?.firstUs ?? 0, within?.endUs ?? 0]
    const us = statedUs - startUs
    if (us < leastUs - frameUs || us > mostUs + frameUs) {
      chunkStart = tell(chunkStart, { index, stated: us, found: us < leastUs ? leastUs : mostUs })
    }
    boundary += bytes
  }
  for (const { frames: more } of fragments.slice(place)) frames += more
  return { chunkStart, chunkFrames: tellFrames(chunkFrames, opened, frames) }
}

type Difference = NonNullable<FootageFacts['chunkStart']>

function tellFrames(
  told: Difference | null,
  chunk: { index: number; stated: number } | undefined,
  found: number,
): Difference | null {
  if (chunk === undefined || Math.abs(chunk.stated - found) <= FRAME_COUNT_TOLERANCE) return told
  return tell(told, { ...chunk, found })
}

function tell(told: Difference | null, one: Omit<Difference, 'count'>): Difference {
  return { ...(told ?? one), count: (told?.count ?? 0) + 1 }
}
