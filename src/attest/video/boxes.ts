// ISO/IEC 14496-12 4.2 and QuickTime: boxes of a size and a type. Enters only boxes that describe the structure of the
// file, and each only where it belongs, so that the nesting is bounded.

import { CONFIGURATIONS } from './codec.ts'
import type { Finding, HeaderReader, Step } from './container.ts'
import { MAX_LOOK_BYTES } from './container.ts'
import { type Footage, footageOf } from './footage.ts'
import { createFragments } from './fragments.ts'
import { createMovie } from './movie.ts'
import { createPadding } from './padding.ts'

export interface Box {
  type: string
  offset: number
  payloadBytes: number
}

/** `more`: call again with this many bytes of the payload. `table`: records of one size, each passed once. */
export type Taken =
  | undefined
  | Finding
  | { more: number }
  | { table: { after: number; recordBytes: number; count: number }; take(records: Buffer): void }

export interface BoxReader {
  /** How many bytes of the payload the first call gets: a valid box has at least as many. */
  bytes: number
  read(payload: Buffer, box: Box): Taken
}

/** The only parent of each entered box; elsewhere the box is payload. `before`: bytes before the first box inside. */
const ENTERED: ReadonlyMap<string, { within: string | null; before: number }> = new Map([
  ['moov', { within: null, before: 0 }],
  ['trak', { within: 'moov', before: 0 }],
  ['edts', { within: 'trak', before: 0 }],
  ['mdia', { within: 'trak', before: 0 }],
  ['minf', { within: 'mdia', before: 0 }],
  ['stbl', { within: 'minf', before: 0 }],
  ['stsd', { within: 'stbl', before: 8 }],
  ['mvex', { within: 'moov', before: 0 }],
  ['moof', { within: null, before: 0 }],
  ['traf', { within: 'moof', before: 0 }],
])
/** The fixed fields of a visual sample entry (12.1.3). */
const SAMPLE_ENTRY_BYTES = 78
const ENTRY = 'entry'
const HEADER_BYTES = 8
const LONG_HEADER_BYTES = 16

interface Open {
  type: string
  end: number
  /** Child box of a sample entry that configures the decoder. */
  configuration?: string
}

export function createBoxReader(): HeaderReader {
  const open: Open[] = []
  const movie = createMovie()
  const fragments = createFragments(movie)
  const padding = createPadding()
  const readers = new Map([...movie.readers, ...fragments.readers])
  let table: { left: number; recordBytes: number; rest: number; take(records: Buffer): void } | undefined
  let hasMovie = false
  let hasData = false

  function wanted(offset: number): number {
    if (table !== undefined) return Math.min(table.left, MAX_LOOK_BYTES - (MAX_LOOK_BYTES % table.recordBytes))
    if (padding.hasBegun()) return MAX_LOOK_BYTES
    const parent = open.findLast(({ end }) => offset < end)
    // The remainder at the end of a box may be shorter than a header.
    return Math.min(HEADER_BYTES, (parent?.end ?? Number.POSITIVE_INFINITY) - offset)
  }

  function read(header: Buffer, offset: number): Step {
    if (table !== undefined) return readTable(table, header)
    if (padding.hasBegun()) return padding.read(header, offset)
    const left = leaveUntil(offset)
    if (left !== undefined) return left
    const parent = open.at(-1)
    if (parent === undefined && hasMovie && hasData && padding.begins(header)) return padding.read(header, offset)
    // QuickTime ends some lists, and some sample entries, with four zero bytes.
    const isTerminator = parent?.type === ENTRY && header.readUIntBE(0, Math.min(4, header.length)) === 0
    if (parent !== undefined && isTerminator) return { skip: parent.end - offset }
    if (header.length < HEADER_BYTES) return { reason: 'bad_box_size', offset }
    return readBox(header, offset, parent)
  }

  function readBox(header: Buffer, offset: number, parent: Open | undefined): Step {
    const short = header.readUInt32BE(0)
    const type = header.toString('latin1', 4, 8)
    if (!/^[\x20-\x7e\xa9]{4}$/.test(type)) return { reason: 'bad_box_type', offset }
    if (short === 1 && header.length < LONG_HEADER_BYTES) return { more: LONG_HEADER_BYTES }
    const headerBytes = short === 1 ? LONG_HEADER_BYTES : HEADER_BYTES
    const size = sizeOf(header, short, parent)
    if (size < headerBytes) return { reason: 'bad_box_size', offset }
    if (parent !== undefined && offset + size > parent.end) return { reason: 'box_beyond_parent', offset }

    const box = { type, offset, payloadBytes: size - headerBytes }
    const found = readers.get(placeOf(type, parent))
    if (found !== undefined) {
      if (box.payloadBytes < found.bytes) return { reason: 'bad_box_size', offset }
      if (header.length < headerBytes + found.bytes) return { more: headerBytes + found.bytes }
      const taken = found.read(header.subarray(headerBytes), box)
      if (taken !== undefined && 'table' in taken) return openTable(taken, box, headerBytes)
      if (taken !== undefined && 'reason' in taken) return taken
      if (taken !== undefined) {
        return taken.more > box.payloadBytes ? { reason: 'bad_box_size', offset } : { more: headerBytes + taken.more }
      }
    }
    return note(type, parent, offset, size) ?? enter(type, parent, { offset, headerBytes, size })
  }

  function note(type: string, parent: Open | undefined, offset: number, size: number): Finding | undefined {
    if (parent !== undefined) return undefined
    if (type === 'moov') {
      if (hasMovie) return { reason: 'second_movie', offset }
      hasMovie = true
    }
    if (type === 'mdat') {
      hasData = true
      fragments.dataEnds(offset + size)
    }
    return type === 'moof' && !hasMovie ? { reason: 'fragment_before_movie', offset } : undefined
  }

  function enter(
    type: string,
    parent: Open | undefined,
    { offset, headerBytes, size }: { offset: number; headerBytes: number; size: number },
  ): Step {
    const end = offset + size
    const configuration = parent?.type === 'stsd' ? CONFIGURATIONS.get(type) : undefined
    const known = ENTERED.get(type)
    if (configuration === undefined && known?.within !== (parent?.type ?? null)) return { skip: size }
    const skip = headerBytes + (configuration === undefined ? (known?.before ?? 0) : SAMPLE_ENTRY_BYTES)
    if (skip > size) return { reason: 'bad_box_size', offset }
    open.push(configuration === undefined ? { type, end } : { type: ENTRY, end, configuration })
    fragments.enter(type, offset)
    return movie.enter(type, offset) ?? { skip }
  }

  function openTable(
    { table: { after, recordBytes, count }, take }: Extract<Taken, { table: object }>,
    { offset, payloadBytes }: Box,
    headerBytes: number,
  ): Step {
    const left = count * recordBytes
    if (after + left > payloadBytes) return { reason: 'bad_box_size', offset }
    if (left === 0) return { skip: headerBytes + payloadBytes }
    table = { left, recordBytes, rest: payloadBytes - after - left, take }
    return { skip: headerBytes + after }
  }

  function readTable(open: NonNullable<typeof table>, records: Buffer): Step {
    open.take(records)
    open.left -= records.length
    if (open.left > 0) return { skip: records.length }
    table = undefined
    return { skip: records.length + open.rest }
  }

  /** Leaves the boxes that end here. */
  function leaveUntil(offset: number): Finding | undefined {
    for (let last = open.at(-1); last !== undefined && offset >= last.end; last = open.at(-1)) {
      open.pop()
      const finding = movie.leave(last.type, last.end) ?? fragments.leave(last.type, last.end)
      if (finding !== undefined) return finding
    }
    return undefined
  }

  return {
    wanted,
    read,
    finish(rest, offset) {
      const isOpen = open.some(({ end }) => end > offset && end !== Number.POSITIVE_INFINITY)
      const left = leaveUntil(isOpen ? offset : Number.POSITIVE_INFINITY)
      if (left !== undefined) return left
      const isPadding = padding.hasBegun() || (open.length === 0 && hasMovie && hasData && padding.begins(rest))
      const padded = isPadding ? padding.finish(rest, offset) : undefined
      if (padded !== undefined) return padded
      const isCut = table !== undefined || isOpen || (rest.length > 0 && !isPadding)
      if (isCut) return { reason: 'truncated', offset }
      if (!hasMovie) return { reason: 'no_movie', offset }
      if (!movie.hasVideo()) return { reason: 'no_video_track', offset }
      if (!hasData) return { reason: 'no_media_data', offset }
      return footage() === null ? { reason: 'no_frames', offset } : undefined
    },
    footage,
  }

  function footage(): Footage | null {
    const video = movie.video()
    if (video === undefined) return null
    const { span, frames, timescale, codec, statedTicks, editedTicks } = video
    const own = span === null ? [] : [{ from: 0, at: 0, firstTicks: span.first, endTicks: span.end, frames }]
    const editedSeconds = editedTicks / (movie.movieTimescale() || Number.POSITIVE_INFINITY)
    const pieces = fragments.pieces()
    return footageOf({
      codec,
      timescale,
      pieces: [...own, ...pieces],
      isFragmented: pieces.length > 0,
      atLeastTicks: [video.sumTicks + fragments.sumTicks(), statedTicks ?? 0, editedSeconds * timescale],
    })
  }
}

function placeOf(type: string, parent: Open | undefined): string {
  if (parent === undefined) return type
  if (parent.type === 'stsd') return 'stsd/*'
  return parent.configuration === type ? 'entry/config' : `${parent.type}/${type}`
}

// 0: to the end of the file, which is invalid for a box inside another.
function sizeOf(header: Buffer, short: number, parent: Open | undefined): number {
  if (short === 1) return Number(header.readBigUInt64BE(8))
  if (short === 0) return parent === undefined ? Number.POSITIVE_INFINITY : 0
  return short
}
