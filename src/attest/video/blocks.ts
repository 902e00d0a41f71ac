// The blocks of a WebM's video track (RFC 9559 10): the time of each frame, and the chunk that holds it.

import { type Codec, isHiddenFrame } from './codec.ts'
import type { Finding } from './container.ts'
import { type Footage, footageOf, type Piece } from './footage.ts'
import { MAX_FRAGMENTS, MAX_FRAMES } from './limits.ts'

const DEFAULT_SCALE_NS = 1_000_000
const NANOSECONDS = 1_000_000_000
const INVISIBLE = 0x08
const LACING = 0x06
const MAX_TICKS = Number.MAX_SAFE_INTEGER

interface Track {
  number: number
  codec: Codec
  /** The default length of a frame; 0 where the track does not state it. */
  defaultNs: number
  /** Its blocks hold encrypted or compressed frames. */
  isEncoded: boolean
}

interface Place {
  offset: number
  end: number
}

export interface Blocks {
  setScale(ns: number, offset: number): Finding | undefined
  setTrack(track: Track, offset: number): Finding | undefined
  beginCluster(): void
  setTimestamp(ticks: number, offset: number): Finding | undefined
  beginGroup(): void
  /** Sets the duration of the block in the group. */
  setDuration(ticks: number): void
  endGroup(): void
  /** @param head the first bytes of a block, 12 at most; `place` is the position of the whole block. */
  add(head: Buffer, place: Place): Finding | undefined
  footage(): Footage | null
}

export function createBlocks(cuts: readonly number[]): Blocks {
  const pieces: Piece[] = []
  let scaleNs: number | undefined
  let track: Track | undefined
  let frames = 0
  let cluster: number | undefined
  let lastCluster: number | undefined
  let isNewPiece = true
  /** Blocks came before the video track was known; they may belong to it. */
  let isAhead = false
  let nextCut = 0
  /** Where the latest block of the video ends. */
  let blockEnd = 0
  /** The latest frame without a stated length, and the latest end that a frame states. */
  let lastTicks = Number.NEGATIVE_INFINITY
  let endTicks = Number.NEGATIVE_INFINITY
  let group: { start?: number; duration?: number; laced: number } | undefined

  function add(head: Buffer, { offset, end }: Place): Finding | undefined {
    const numberBytes = Math.clz32(head[0] ?? 0) - 23
    if (numberBytes > 8 || head.length < numberBytes + 3) return { reason: 'bad_block', offset }
    isAhead ||= track === undefined
    if (trackNumberOf(head, numberBytes) !== track?.number) return undefined
    if (cluster === undefined) return { reason: 'block_before_timestamp', offset }
    const start = cluster + head.readInt16BE(numberBytes)
    const flags = head.readUInt8(numberBytes + 2)
    if (flags & LACING && head.length < numberBytes + 4) return { reason: 'bad_block', offset }
    const laced = flags & LACING ? head.readUInt8(numberBytes + 3) + 1 : 1
    frames += laced
    if (frames > MAX_FRAMES) return { reason: 'too_many_frames', offset, isOverLimit: true }
    const finding = place(start, { offset, end }, isHidden(head, numberBytes + 2) ? 0 : laced)
    if (finding !== undefined) return finding
    blockEnd = end
    if (group === undefined) lastTicks = Math.max(lastTicks, start + lengthOf(laced - 1))
    else group = { ...group, start, laced }
    return undefined
  }

  // RFC 9559 10.1: players should not show a block with the flag `invisible`. Some ignore the flag (FFmpeg's demuxer reads
  // only the key frame and the lacing), so that it could keep frames that are shown out of the file's rate and count.
  // Encoders set it for alternate reference frames of VP8, which are not shown whatever a player does, and which manifests
  // do not count: only those count as none. The first byte of an encoded frame is not that of the frame, and no encoder
  // puts several such frames into one block.
  function isHidden(head: Buffer, at: number): boolean {
    const flags = head.readUInt8(at)
    if (track === undefined || track.isEncoded || !(flags & INVISIBLE) || flags & LACING) return false
    return isHiddenFrame(track.codec, head[at + 1])
  }

  function place(start: number, { offset }: Place, shown: number): Finding | undefined {
    let from = blockEnd
    while (nextCut < cuts.length && (cuts[nextCut] ?? 0) <= offset) {
      // A chunk boundary may lie within a block: the chunk then begins with the next block.
      from = Math.min(from, cuts[nextCut] ?? 0)
      isNewPiece = true
      nextCut += 1
    }
    const last = pieces.at(-1)
    if (isNewPiece || last === undefined) {
      if (pieces.length >= MAX_FRAGMENTS) return { reason: 'too_many_fragments', offset, isOverLimit: true }
      pieces.push({
        from: last === undefined ? 0 : from,
        at: offset,
        firstTicks: start,
        endTicks: start,
        frames: shown,
      })
      isNewPiece = false
      return undefined
    }
    last.firstTicks = Math.min(last.firstTicks, start)
    last.endTicks = Math.max(last.endTicks, start)
    last.frames += shown
    return undefined
  }

  function lengthOf(count: number): number {
    return (count * (track?.defaultNs ?? 0)) / (scaleNs ?? DEFAULT_SCALE_NS)
  }

  function footage(): Footage | null {
    const shown = pieces.reduce((sum, piece) => sum + piece.frames, 0)
    if (track === undefined || shown === 0) return null
    const first = pieces.reduce((least, piece) => Math.min(least, piece.firstTicks), Number.POSITIVE_INFINITY)
    // The last frame ends where a next one would begin, which only a stated length could tell.
    const mean = shown > 1 ? (lastTicks - first) / (shown - 1) : 0
    const end = Math.max(endTicks, lastTicks + (lengthOf(1) || Math.max(0, Number.isFinite(mean) ? mean : 0)))
    return footageOf({
      codec: track.codec,
      timescale: NANOSECONDS / (scaleNs ?? DEFAULT_SCALE_NS),
      pieces,
      isFragmented: true,
      atLeastTicks: [end - first],
    })
  }

  return {
    setScale(ns, offset) {
      if (ns === 0 || ns > NANOSECONDS) return { reason: 'bad_timescale', offset }
      if (scaleNs !== undefined && scaleNs !== ns) return { reason: 'second_timescale', offset }
      scaleNs = ns
      return undefined
    },
    setTrack(given, offset) {
      // The list of tracks may be repeated (RFC 9559 5.1.4), and is then the same.
      if (isAhead) return { reason: 'block_before_track', offset }
      if (track !== undefined && !isSameTrack(track, given)) return { reason: 'second_video_track', offset }
      track ??= given
      return undefined
    },
    beginCluster() {
      cluster = undefined
      group = undefined
      isNewPiece = true
    },
    setTimestamp(ticks, offset) {
      if (ticks > MAX_TICKS) return { reason: 'bad_time', offset }
      if (cluster !== undefined) return { reason: 'second_timestamp', offset }
      if (lastCluster !== undefined && ticks < lastCluster) return { reason: 'clusters_out_of_order', offset }
      cluster = ticks
      lastCluster = ticks
      return undefined
    },
    beginGroup() {
      group = { laced: 1 }
    },
    setDuration(ticks) {
      if (group !== undefined) group.duration = ticks
    },
    endGroup() {
      const { start, duration, laced } = group ?? { laced: 1 }
      group = undefined
      if (start === undefined) return
      if (duration === undefined) lastTicks = Math.max(lastTicks, start + lengthOf(laced - 1))
      else endTicks = Math.max(endTicks, Math.min(start + duration, MAX_TICKS))
    },
    add,
    footage,
  }
}

function isSameTrack(one: Track, other: Track): boolean {
  return one.number === other.number && one.codec.name === other.codec.name && one.isEncoded === other.isEncoded
}

function trackNumberOf(head: Buffer, bytes: number): number {
  let number = (head[0] ?? 0) & (0xff >> bytes)
  for (let place = 1; place < bytes; place += 1) number = number * 256 + (head[place] ?? 0)
  return number
}
