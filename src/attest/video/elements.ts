// WebM: elements of EBML (RFC 8794, RFC 9559). A recorder that does not know the length of a segment or a cluster
// leaves its size unknown; the element then ends at the first element that can't be inside it.

import { createBlocks } from './blocks.ts'
import { codecOf } from './codec.ts'
import type { Finding, HeaderReader, Step } from './container.ts'
import { MAX_LOOK_BYTES } from './container.ts'
import { createPadding } from './padding.ts'

const SEGMENT = 0x18538067
const INFO = 0x1549a966
const TIMESTAMP_SCALE = 0x2ad7b1
const TRACKS = 0x1654ae6b
const TRACK_ENTRY = 0xae
const TRACK_NUMBER = 0xd7
const TRACK_TYPE = 0x83
const CODEC_ID = 0x86
const CODEC_PRIVATE = 0x63a2
const DEFAULT_DURATION = 0x23e383
const TRACK_TIMESTAMP_SCALE = 0x23314f
const CONTENT_ENCODINGS = 0x6d80
const CLUSTER = 0x1f43b675
const TIMESTAMP = 0xe7
const SIMPLE_BLOCK = 0xa3
const BLOCK_GROUP = 0xa0
const BLOCK = 0xa1
const BLOCK_DURATION = 0x9b
const VIDEO = 1

/** The only parent of each entered element; elsewhere the element is payload. */
const ENTERED: ReadonlyMap<number, number | null> = new Map([
  [SEGMENT, null],
  [INFO, SEGMENT],
  [TRACKS, SEGMENT],
  [TRACK_ENTRY, TRACKS],
  [CLUSTER, SEGMENT],
  [BLOCK_GROUP, CLUSTER],
])
// Siblings of clusters, which therefore end one of unknown size: Tracks, Cluster, SeekHead, Info, Cues, Attachments,
// Chapters, Tags.
const TOP: ReadonlySet<number> = new Set([
  TRACKS,
  CLUSTER,
  0x114d9b74,
  INFO,
  0x1c53bb6b,
  0x1941a469,
  0x1043a770,
  0x1254c367,
])

/** `bytes`: the longest payload allowed, or, for an element read in part, the length of that part. */
interface Looked {
  within: number
  bytes: number
  isPart?: boolean
}
const LOOKED_AT: ReadonlyMap<number, Looked> = new Map([
  [TIMESTAMP_SCALE, { within: INFO, bytes: 8 }],
  [TRACK_NUMBER, { within: TRACK_ENTRY, bytes: 8 }],
  [TRACK_TYPE, { within: TRACK_ENTRY, bytes: 8 }],
  [CODEC_ID, { within: TRACK_ENTRY, bytes: 64 }],
  [CODEC_PRIVATE, { within: TRACK_ENTRY, bytes: 4, isPart: true }],
  [DEFAULT_DURATION, { within: TRACK_ENTRY, bytes: 8 }],
  [TRACK_TIMESTAMP_SCALE, { within: TRACK_ENTRY, bytes: 8 }],
  [CONTENT_ENCODINGS, { within: TRACK_ENTRY, bytes: 0, isPart: true }],
  [TIMESTAMP, { within: CLUSTER, bytes: 8 }],
  [SIMPLE_BLOCK, { within: CLUSTER, bytes: 12, isPart: true }],
  [BLOCK, { within: BLOCK_GROUP, bytes: 12, isPart: true }],
  [BLOCK_DURATION, { within: BLOCK_GROUP, bytes: 8 }],
])

interface Open {
  id: number
  end: number
}

interface Entry {
  seen: Set<number>
  number?: number
  type?: number
  codecId?: string
  configuration?: Buffer
  defaultNs?: number
  isEncoded?: boolean
}

/** @param cuts where chunks end, in bytes from the start, in order. */
export function createElementReader(cuts: readonly number[] = []): HeaderReader {
  const open: Open[] = []
  const blocks = createBlocks(cuts)
  const padding = createPadding()
  let hasSegment = false
  let hasVideo = false
  let entry: Entry = { seen: new Set() }
  let hasBlock = false

  function read(header: Buffer, offset: number): Step {
    if (padding.hasBegun()) return padding.read(header, offset)
    const first = header[0] ?? 0
    const idBytes = Math.clz32(first) - 23
    if (idBytes > 4) {
      const isEnd = !isWithin(offset) && blocks.footage() !== null && padding.begins(header)
      return isEnd ? padding.read(header, offset) : { reason: 'bad_element', offset }
    }
    if (header.byteLength <= idBytes) return { more: idBytes + 1 }
    const sizeBytes = Math.clz32(header[idBytes] ?? 0) - 23
    if (sizeBytes > 8) return { reason: 'bad_element', offset }
    const headerBytes = idBytes + sizeBytes
    if (header.byteLength < headerBytes) return { more: headerBytes }

    const id = header.readUIntBE(0, idBytes)
    const left = leaveUntil((last) => isOver(last, id, offset))
    if (left !== undefined) return left
    const size = sizeOf(header, idBytes, sizeBytes)
    return readElement(header, { id, offset, headerBytes, size })
  }

  function readElement(
    header: Buffer,
    { id, offset, headerBytes, size }: { id: number; offset: number; headerBytes: number; size: number },
  ): Step {
    const parent = open.at(-1)
    const within = parent?.id ?? null
    const isEntered = ENTERED.get(id) === within
    // Only a segment and a cluster may have an unknown size (RFC 9559 4.5).
    if (size === Number.POSITIVE_INFINITY && !(isEntered && (id === SEGMENT || id === CLUSTER))) {
      return { reason: 'unknown_size', offset }
    }
    const end = offset + headerBytes + size
    if (parent !== undefined && size !== Number.POSITIVE_INFINITY && end > parent.end) {
      return { reason: 'element_beyond_parent', offset }
    }
    const looked = LOOKED_AT.get(id)
    if (looked !== undefined && looked.within === within) {
      if (size > looked.bytes && looked.isPart !== true) return { reason: 'bad_element', offset }
      const bytes = headerBytes + Math.min(size, looked.bytes)
      if (header.byteLength < bytes) return { more: bytes }
      const finding = note(id, header.subarray(headerBytes, bytes), { offset, end })
      if (finding !== undefined) return finding
    }
    if (!isEntered) return { skip: headerBytes + size }
    const finding = enter(id, offset)
    if (finding !== undefined) return finding
    open.push({ id, end })
    return { skip: headerBytes }
  }

  function enter(id: number, offset: number): Finding | undefined {
    if (id === SEGMENT) {
      if (hasSegment) return { reason: 'second_segment', offset }
      hasSegment = true
    }
    if (id === TRACK_ENTRY) entry = { seen: new Set() }
    if (id === CLUSTER) blocks.beginCluster()
    if (id === BLOCK_GROUP) {
      hasBlock = false
      blocks.beginGroup()
    }
    return undefined
  }

  function note(id: number, payload: Buffer, place: { offset: number; end: number }): Finding | undefined {
    // RFC 9559 5.1.3.5.1: one in each group.
    if (id === BLOCK && hasBlock) return { reason: 'second_element', offset: place.offset }
    hasBlock ||= id === BLOCK
    if (id === SIMPLE_BLOCK || id === BLOCK) return blocks.add(payload, place)
    if (id === TIMESTAMP) return blocks.setTimestamp(unsigned(payload), place.offset)
    if (id === BLOCK_DURATION) blocks.setDuration(unsigned(payload))
    if (id === TIMESTAMP_SCALE) return blocks.setScale(unsigned(payload), place.offset)
    return LOOKED_AT.get(id)?.within === TRACK_ENTRY ? noteOfTrack(id, payload, place.offset) : undefined
  }

  function noteOfTrack(id: number, payload: Buffer, offset: number): Finding | undefined {
    // Each may occur once (RFC 9559 5.1.4.1). Programs differ in which of two they believe.
    if (entry.seen.has(id)) return { reason: 'second_element', offset }
    entry.seen.add(id)
    if (id === TRACK_NUMBER) entry.number = unsigned(payload)
    if (id === TRACK_TYPE) entry.type = unsigned(payload)
    if (id === CODEC_ID) entry.codecId = payload.toString('latin1').replace(/\0+$/, '')
    if (id === CODEC_PRIVATE) entry.configuration = Buffer.from(payload)
    if (id === DEFAULT_DURATION) entry.defaultNs = unsigned(payload)
    if (id === CONTENT_ENCODINGS) entry.isEncoded = true
    // RFC 9559 5.1.4.1.15: deprecated, and most readers ignore it. Times would differ for those that don't.
    return id === TRACK_TIMESTAMP_SCALE && !isOne(payload) ? { reason: 'track_timestamp_scale', offset } : undefined
  }

  function leaveUntil(isOver: (last: Open) => boolean): Finding | undefined {
    for (let last = open.at(-1); last !== undefined && isOver(last); last = open.at(-1)) {
      open.pop()
      if (last.id === BLOCK_GROUP) blocks.endGroup()
      const finding = last.id === TRACK_ENTRY ? endTrack(last.end) : undefined
      if (finding !== undefined) return finding
    }
    return undefined
  }

  function endTrack(offset: number): Finding | undefined {
    const { number, type, codecId, configuration, defaultNs = 0, isEncoded = false } = entry
    if (type !== VIDEO) return undefined
    hasVideo = true
    if (number === undefined || number === 0) return { reason: 'no_track_id', offset }
    if (codecId === undefined) return { reason: 'no_codec', offset }
    return blocks.setTrack({ number, codec: codecOf(codecId, configuration), defaultNs, isEncoded }, offset)
  }

  /** Whether an open element of known size continues at this offset. */
  function isWithin(offset: number): boolean {
    return open.some(({ end }) => end !== Number.POSITIVE_INFINITY && offset < end)
  }

  return {
    wanted: () => (padding.hasBegun() ? MAX_LOOK_BYTES : 1),
    read,
    finish(rest, offset) {
      const left = leaveUntil(({ end }) => offset >= end)
      if (left !== undefined) return left
      if (padding.hasBegun()) return padding.finish(rest, offset)
      if (isWithin(offset) || rest.length > 0) return { reason: 'truncated', offset }
      if (!hasSegment) return { reason: 'no_segment', offset }
      if (!hasVideo) return { reason: 'no_video_track', offset }
      return blocks.footage() === null ? { reason: 'no_media_data', offset } : undefined
    },
    footage: blocks.footage,
  }
}

function isOver(open: Open, id: number, offset: number): boolean {
  return offset >= open.end || (open.id === CLUSTER && open.end === Number.POSITIVE_INFINITY && TOP.has(id))
}

// RFC 8794 4: the leading zero bits give the length; all ones is unknown.
function sizeOf(header: Buffer, at: number, bytes: number): number {
  let value = (header[at] ?? 0) & (0xff >> bytes)
  let isUnknown = value === 0xff >> bytes
  for (let place = 1; place < bytes; place += 1) {
    const byte = header[at + place] ?? 0
    isUnknown &&= byte === 0xff
    value = value * 256 + byte
  }
  return isUnknown ? Number.POSITIVE_INFINITY : value
}

function unsigned(payload: Buffer): number {
  return payload.reduce((value, byte) => value * 256 + byte, 0)
}

// RFC 8794 7.3: a number of 4 or 8 bytes, or of none, which is 0.
function isOne(payload: Buffer): boolean {
  if (payload.length === 4) return payload.readFloatBE() === 1
  return payload.length === 8 && payload.readDoubleBE() === 1
}
