// A video as a capture app makes one: fragments of a few frames, hashed into a chain while they are recorded. The file is tiny
// and real in its structure (ISO/IEC 14496-12, fragmented); its frames are noise, for nobody looks at them.

import { createHash } from 'node:crypto'
import { createDice } from './scene.ts'

/** One piece of the file, with the times of its frames. */
export interface VideoChunk {
  data: Buffer
  frames: number
  /** Microseconds since the recording began. */
  firstPtsUs: number
  /** The end, exclusive. */
  lastPtsUs: number
}

/** The signed list of chunks. Field names are those of the wire. */
export interface VideoManifest {
  chunk_count: number
  total_bytes: number
  duration_us: number
  codec: string
  timescale: number
  chain_seed: string
  chunks: {
    index: number
    sha256: string
    bytes: number
    frames: number
    first_pts_us: number
    last_pts_us: number
    link: string
  }[]
  last_link: string
}

const FRAMES_PER_SECOND = 30
const TIMESCALE = 90_000
const CODEC = 'avc1.42E01E'

/** `seed` makes the noise: two recordings of one seed are the same bytes. The file is all data, one after the other. */
export function recordVideo({
  seed,
  chunks,
  chunkMs = 1_000,
  chunkBytes = 0,
}: {
  seed: number
  chunks: number
  chunkMs?: number
  /** At least so many in each chunk; the noise repeats. */
  chunkBytes?: number
}): VideoChunk[] {
  const dice = createDice(seed)
  const frames = Math.max(1, Math.round((chunkMs * FRAMES_PER_SECOND) / 1_000))
  const ticks = (TIMESCALE * chunkMs) / 1_000
  return Array.from({ length: chunks }, (_, index) => {
    const noise = Buffer.from(Array.from({ length: 64 + Math.floor(dice() * 64) }, () => Math.floor(dice() * 256)))
    const data = Buffer.alloc(Math.max(noise.length, chunkBytes), noise)
    const media = fragment({ sequence: index + 1, startTicks: index * ticks, frames, ticks, data })
    return {
      // Everything before the first fragment belongs to the first chunk: each byte of the file is in exactly one.
      data: index === 0 ? Buffer.concat([initialization(), media]) : media,
      frames,
      firstPtsUs: index * chunkMs * 1_000,
      lastPtsUs: (index + 1) * chunkMs * 1_000,
    }
  })
}

/** The chain over chunks, seeded by a session's nonce. */
export function makeVideoManifest(nonce: string, chunks: readonly VideoChunk[]): VideoManifest {
  let link = hash(Buffer.from('cap-chain/v1'), Buffer.from(nonce, 'base64url'))
  const listed = chunks.map(({ data, frames, firstPtsUs, lastPtsUs }, index) => {
    const digest = hash(data)
    link = hash(Buffer.from([1]), link, u32(index), u64(firstPtsUs), u64(lastPtsUs), u64(data.length), digest)
    return {
      index,
      sha256: digest.toString('hex'),
      bytes: data.length,
      frames,
      first_pts_us: firstPtsUs,
      last_pts_us: lastPtsUs,
      link: link.toString('hex'),
    }
  })
  return {
    chunk_count: chunks.length,
    total_bytes: listed.reduce((sum, { bytes }) => sum + bytes, 0),
    duration_us: (chunks.at(-1)?.lastPtsUs ?? 0) - (chunks[0]?.firstPtsUs ?? 0),
    codec: CODEC,
    timescale: TIMESCALE,
    chain_seed: nonce,
    chunks: listed,
    last_link: link.toString('hex'),
  }
}

export function joinChunks(chunks: readonly VideoChunk[]): Buffer {
  return Buffer.concat(chunks.map(({ data }) => data))
}

function hash(...parts: Uint8Array[]): Buffer {
  const digest = createHash('sha256')
  for (const part of parts) digest.update(part)
  return digest.digest()
}

// ISO/IEC 14496-12 8.2 to 8.8: what a player reads before the first fragment. The sample tables are empty: each fragment
// brings its own.
function initialization(): Buffer {
  const handler = full('hdlr', zeros(4), Buffer.from('vide'), zeros(12), Buffer.from('Capture\0'))
  const entry = box('avc1', zeros(6), u16(1), zeros(16), u16(64), u16(48), zeros(50))
  const tables = box(
    'stbl',
    full('stsd', u32(1), entry),
    full('stts', u32(0)),
    full('stsc', u32(0)),
    full('stsz', u32(0), u32(0)),
    full('stco', u32(0)),
  )
  const reference = box('dinf', full('dref', u32(1), box('url ', u32(1))))
  const information = box('minf', box('vmhd', u32(1), zeros(8)), reference, tables)
  const media = box('mdia', full('mdhd', zeros(8), u32(TIMESCALE), zeros(8)), handler, information)
  const track = box('trak', box('tkhd', u32(7), zeros(8), u32(1), zeros(68)), media)
  return Buffer.concat([
    box('ftyp', Buffer.from('iso6'), u32(0), Buffer.from('iso6mp41')),
    box(
      'moov',
      full('mvhd', zeros(8), u32(TIMESCALE), zeros(80), u32(2)),
      track,
      box('mvex', full('trex', u32(1), u32(1), zeros(12))),
    ),
  ])
}

interface FragmentSpec {
  sequence: number
  startTicks: number
  frames: number
  ticks: number
  data: Buffer
}

function fragment({ sequence, startTicks, frames, ticks, data }: FragmentSpec): Buffer {
  const header = full('mfhd', u32(sequence))
  const sizes = Buffer.concat(Array.from({ length: frames }, (_, at) => u32(at === 0 ? data.length : 0)))
  const track = box(
    'traf',
    // default-base-is-moof, default-sample-duration-present.
    box('tfhd', u32(0x020008), u32(1), u32(Math.round(ticks / frames))),
    box('tfdt', u32(0x01000000), u64(startTicks)),
    box('trun', u32(0x000200), u32(frames), sizes),
  )
  return Buffer.concat([box('moof', header, track), box('mdat', data)])
}

function box(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([u32(body.length + 8), Buffer.from(type, 'latin1'), body])
}

const full = (type: string, ...parts: Buffer[]): Buffer => box(type, u32(0), ...parts)
const zeros = (length: number): Buffer => Buffer.alloc(length)

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}
