// MP4 and QuickTime (ISO/IEC 14496-12): a fragmented file, where each fragment has its own times, or one with a table
// of all samples at its end.

import type { ChunkFrames } from './video.ts'

const TIMESCALE = 90_000
const TICKS_PER_MS = TIMESCALE / 1_000

/**
 * The bytes of each chunk. What precedes the first frame belongs to the first chunk, what follows the last frame to the
 * last.
 */
export function mp4Parts(chunks: readonly ChunkFrames[], { isFragmented }: { isFragmented: boolean }): Buffer[] {
  if (isFragmented) {
    const head = Buffer.concat([
      box('ftyp', Buffer.from('iso6'), u32(0), Buffer.from('iso6mp41')),
      movie(0, EMPTY_TABLES, box('mvex', full('trex', u32(1), u32(1), zeros(12)))),
    ])
    return chunks.map((chunk, index) => {
      const part = fragment(index + 1, chunk)
      return index === 0 ? Buffer.concat([head, part]) : part
    })
  }
  const parts = chunks.map(({ data }) => box('mdat', data))
  parts[0] = Buffer.concat([box('ftyp', Buffer.from('qt  '), u32(0), Buffer.from('qt  ')), parts[0] ?? zeros(0)])
  const last = parts.length - 1
  const lengthMs = chunks.reduce((sum, chunk) => sum + chunk.lengthMs, 0)
  parts[last] = Buffer.concat([parts[last] ?? zeros(0), movie(lengthMs * TICKS_PER_MS, tablesOf(chunks, parts))])
  return parts
}

// 8.2 to 8.8: what a player reads before the first sample.
function movie(ticks: number, tables: readonly Buffer[], ...more: Buffer[]): Buffer {
  const handler = full('hdlr', zeros(4), Buffer.from('vide'), zeros(12), Buffer.from('Capture\0'))
  const reference = box('dinf', full('dref', u32(1), box('url ', u32(1))))
  const information = box('minf', box('vmhd', u32(1), zeros(8)), reference, box('stbl', SAMPLE_DESCRIPTION, ...tables))
  const media = box('mdia', full('mdhd', zeros(8), u32(TIMESCALE), u32(ticks), zeros(4)), handler, information)
  const track = box('trak', box('tkhd', u32(7), zeros(8), u32(1), zeros(68)), media)
  return box('moov', full('mvhd', zeros(8), u32(TIMESCALE), u32(ticks), zeros(76), u32(2)), track, ...more)
}

function tablesOf(chunks: readonly ChunkFrames[], parts: readonly Buffer[]): Buffer[] {
  const durations = chunks.flatMap(({ frames, lengthMs }) => {
    const ticks = Math.floor((lengthMs * TICKS_PER_MS) / frames)
    return [u32(frames - 1), u32(ticks), u32(1), u32(lengthMs * TICKS_PER_MS - ticks * (frames - 1))]
  })
  const sizes = chunks.flatMap(({ frames, data }) => sizesOf(frames, data))
  let end = 0
  const offsets = parts.map((part, index) => {
    end += part.length
    return u32(end - (chunks[index]?.data.length ?? 0))
  })
  return [
    full('stts', u32(durations.length / 2), ...durations),
    full('stsc', u32(1), u32(1), u32(chunks[0]?.frames ?? 0), u32(1)),
    full('stsz', u32(0), u32(sizes.length), ...sizes.map(u32)),
    full('stco', u32(offsets.length), ...offsets),
  ]
}

function fragment(sequence: number, { startMs, lengthMs, frames, data }: ChunkFrames): Buffer {
  const track = box(
    'traf',
    // default-base-is-moof, default-sample-duration-present.
    box('tfhd', u32(0x020008), u32(1), u32(Math.round((lengthMs * TICKS_PER_MS) / frames))),
    box('tfdt', u32(0x01000000), u64(startMs * TICKS_PER_MS)),
    box('trun', u32(0x000200), u32(frames), ...sizesOf(frames, data).map(u32)),
  )
  return Buffer.concat([box('moof', full('mfhd', u32(sequence)), track), box('mdat', data)])
}

/** Sizes of samples that share data. */
function sizesOf(frames: number, { length }: Buffer): number[] {
  const size = Math.floor(length / frames)
  return Array.from({ length: frames }, (_, index) => (index === 0 ? length - size * (frames - 1) : size))
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

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}

// ISO/IEC 14496-15 5.3.3: Baseline profile, level 3, sizes of 4 bytes, and no parameter sets.
const CONFIGURATION = box('avcC', Buffer.from([1, 0x42, 0xe0, 0x1e, 0xff, 0xe0, 0]))
const SAMPLE_DESCRIPTION = full(
  'stsd',
  u32(1),
  box('avc1', zeros(6), u16(1), zeros(16), u16(64), u16(48), zeros(50), CONFIGURATION),
)
/** Empty, because each fragment has its own tables. */
const EMPTY_TABLES = [full('stts', u32(0)), full('stsc', u32(0)), full('stsz', u32(0), u32(0)), full('stco', u32(0))]
