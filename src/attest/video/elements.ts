// WebM: elements of EBML (RFC 8794, RFC 9559). A recorder that does not know how long a segment or a cluster will be leaves its
// size unknown; it then ends where an element stands that can't be inside.

import type { Finding, HeaderReader, Step } from './container.ts'

const EBML = 0x1a45dfa3
const SEGMENT = 0x18538067
const TRACKS = 0x1654ae6b
const TRACK_ENTRY = 0xae
const TRACK_TYPE = 0x83
const CLUSTER = 0x1f43b675
const TIMESTAMP = 0xe7
const SIMPLE_BLOCK = 0xa3
const BLOCK_GROUP = 0xa0
const VIDEO = 1

/** Where each of them may stand; elsewhere it is payload. */
const ENTERED: ReadonlyMap<number, number | null> = new Map([
  [SEGMENT, null],
  [TRACKS, SEGMENT],
  [TRACK_ENTRY, TRACKS],
  [CLUSTER, SEGMENT],
])
// What stands beside clusters, and so ends one of unknown size: Tracks, Cluster, SeekHead, Info, Cues, Attachments, Chapters,
// Tags.
const TOP: ReadonlySet<number> = new Set([
  TRACKS,
  CLUSTER,
  0x114d9b74,
  0x1549a966,
  0x1c53bb6b,
  0x1941a469,
  0x1043a770,
  0x1254c367,
])

interface Open {
  id: number
  end: number
}

export function createElementReader(): HeaderReader {
  const open: Open[] = []
  let hasSegment = false
  let hasVideo = false
  let hasBlock = false
  let timestamp: number | undefined

  function read(header: Buffer, offset: number): Step {
    const first = header[0] ?? 0
    const idBytes = Math.clz32(first) - 23
    if (idBytes > 4) return { reason: 'bad_element', offset }
    if (header.byteLength <= idBytes) return { more: idBytes + 1 }
    const sizeBytes = Math.clz32(header[idBytes] ?? 0) - 23
    if (sizeBytes > 8) return { reason: 'bad_element', offset }
    const headerBytes = idBytes + sizeBytes
    if (header.byteLength < headerBytes) return { more: headerBytes }

    const id = header.readUIntBE(0, idBytes)
    while (open.length > 0 && isOver(open.at(-1), id, offset)) open.pop()
    const parent = open.at(-1)
    const within = parent?.id ?? null
    const size = sizeOf(header, idBytes, sizeBytes)
    const isEntered = ENTERED.get(id) === within
    // Only a segment and a cluster may leave their size unknown (RFC 9559 4.5).
    if (size === Number.POSITIVE_INFINITY && !(isEntered && (id === SEGMENT || id === CLUSTER))) {
      return { reason: 'unknown_size', offset }
    }
    const end = offset + headerBytes + size
    if (parent !== undefined && size !== Number.POSITIVE_INFINITY && end > parent.end) {
      return { reason: 'element_beyond_parent', offset }
    }
    if (isLookedAt(id, within)) {
      if (size > 8) return { reason: 'bad_element', offset }
      if (header.byteLength < headerBytes + size) return { more: headerBytes + size }
    }
    const finding = note(id, within, header.subarray(headerBytes), offset)
    if (finding !== undefined) return finding
    if (!isEntered) return { skip: headerBytes + size }
    open.push({ id, end })
    return { skip: headerBytes }
  }

  function note(id: number, within: number | null, payload: Buffer, offset: number): Finding | undefined {
    if (within === null && id !== EBML) {
      if (id === SEGMENT && hasSegment) return { reason: 'second_segment', offset }
      if (id === SEGMENT) hasSegment = true
    }
    if (within === TRACK_ENTRY && id === TRACK_TYPE && unsigned(payload) === VIDEO) hasVideo = true
    if (within === CLUSTER && (id === SIMPLE_BLOCK || id === BLOCK_GROUP)) hasBlock = true
    if (within === CLUSTER && id === TIMESTAMP) {
      const at = unsigned(payload)
      if (timestamp !== undefined && at < timestamp) return { reason: 'clusters_out_of_order', offset }
      timestamp = at
    }
    return undefined
  }

  return {
    start: 1,
    read,
    finish(offset) {
      const cut = open.find(({ end }) => end > offset && end !== Number.POSITIVE_INFINITY)
      if (cut !== undefined) return { reason: 'truncated', offset }
      if (!hasSegment) return { reason: 'no_segment', offset }
      if (!hasVideo) return { reason: 'no_video_track', offset }
      return hasBlock ? undefined : { reason: 'no_media_data', offset }
    },
  }
}

function isOver(open: Open | undefined, id: number, offset: number): boolean {
  if (open === undefined) return false
  return offset >= open.end || (open.id === CLUSTER && open.end === Number.POSITIVE_INFINITY && TOP.has(id))
}

function isLookedAt(id: number, within: number | null): boolean {
  return (id === TRACK_TYPE && within === TRACK_ENTRY) || (id === TIMESTAMP && within === CLUSTER)
}

// RFC 8794 4: the length stands in the leading zero bits; all ones is unknown.
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
