// Checks what the header of a file would cost the image library. Its parsers read every declared directory, text and
// profile before they return the dimensions, and nothing can stop them: the end of a thread does not end its native work.
// Without these limits 10 MB of PNG take gigabytes, and 12 MB of TIFF more than 20 s. A refusal depends on the bytes
// alone, never on the machine.

import { inflateSync } from 'node:zlib'
import { type ByteSource, type Peek, text, u16, u32, windowed } from './byte-source.ts'
import { judgeHeif } from './heif-header.ts'
import { SNIFF_BYTES, sniffType } from './sniff.ts'
import { ANIMATED, isStill } from './still.ts'

/**
 * Segments of a JPEG before its picture (each up to 64 KiB), chunks of a PNG before it or of a WebP. Photos have tens.
 */
export const MAX_PARTS = 1_000
/** Pages of a TIFF: each is read to count them. */
export const MAX_DIRECTORIES = 256
/**
 * Texts and profiles of a PNG after inflation. The prompts of generators take kilobytes, a profile up to two megabytes.
 */
export const MAX_INFLATED_BYTES = 16 * 1024 * 1024
/** Texts and profiles as stored in a PNG or WebP. */
export const MAX_METADATA_BYTES = 32 * 1024 * 1024
// Bytes between two segments of a JPEG that belong to neither: readers skip them.
const MAX_STRAY_BYTES = 64 * 1024
// Cameras write fewer than 100 entries in a directory.
const MAX_ENTRIES = 1_000
// Entries may share a value, for example two equal resolutions.
const SHARED_BYTES = 64 * 1024

/**
 * Why the library must not read this header, or must not decode the picture; undefined when it stays within the limits.
 */
export function judgeHeader(source: ByteSource, { isDecoded = false } = {}): string | undefined {
  const at = windowed(source)
  const head = at(0, SNIFF_BYTES)
  const type = sniffType(head)
  if (type !== undefined && isStill(type, head) === false) return ANIMATED
  switch (type) {
    case 'image/jpeg':
      return judgeJpeg(at, source, isDecoded)
    case 'image/png':
      return judgePng(at, source)
    case 'image/webp':
      return judgeWebp(at, source.size)
    case 'image/tiff':
      return judgeTiff(at, source.size)
    // The library detects formats from fewer bytes than we do; a file that only the library takes for an image was not
    // checked here.
    case undefined:
      return UNKNOWN_HEADER
    case 'image/heic':
    case 'image/avif':
      return judgeHeif(at, source.size)
    // The library opens no video.
    default:
      return undefined
  }
}

export const UNKNOWN_HEADER = 'the image header is damaged or unsupported'
const TOO_MANY_PARTS = `the header has more than ${MAX_PARTS} parts`
const TOO_MUCH = 'the header holds too much text and too many profiles'

function judgeJpeg(at: Peek, source: ByteSource, isDecoded: boolean): string | undefined {
  let offset = 2
  let stray = 0
  for (let part = 0; part < MAX_PARTS; part += 1) {
    // T.81 B.1.1.2: any number of 0xff may precede a marker's own, and 0xff 0x00 is no marker.
    let marker = 0
    while (marker === 0 || marker === 0xff) {
      const [first, second] = at(offset, 2)
      if (first === undefined || second === undefined) return undefined
      marker = first === 0xff ? second : 0
      const step = marker === 0xff ? 1 : 2
      offset += first === 0xff ? step : 1
      if (marker === 0 || marker === 0xff) stray += 1
      if (stray > MAX_STRAY_BYTES) return 'the header has too much between its parts'
    }
    // The image data, or the end.
    if (marker === 0xda) return isDecoded ? judgeScans(source, offset, part) : undefined
    if (marker === 0xd9) return undefined
    const isBare = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)
    if (!isBare) offset += Math.max(2, u16(at(offset, 2), 0, false))
    if (offset >= source.size) return undefined
  }
  return TOO_MANY_PARTS
}

const BLOCK_BYTES = 256 * 1024

// A decoder also keeps the segments between two scans. In the data of a scan 0xff precedes only 0x00 or a restart.
function judgeScans({ size, read }: ByteSource, from: number, before: number): string | undefined {
  let parts = before
  let offset = from
  while (offset + 1 < size) {
    const bytes = read(offset, Math.min(BLOCK_BYTES, size - offset))
    let at = bytes.indexOf(0xff)
    while (at !== -1 && at + 3 < bytes.length) {
      const marker = bytes[at + 1] ?? 0
      if (marker === 0xd9) return undefined
      if (marker === 0xfe || (marker >= 0xe0 && marker <= 0xef)) {
        parts += 1
        if (parts > MAX_PARTS) return TOO_MANY_PARTS
        at += 2 + Math.max(2, u16(bytes, at + 2, false))
      } else {
        at += 1
      }
      at = at < bytes.length ? bytes.indexOf(0xff, at) : at
    }
    // A marker that begins at the end of a block is read with the next block.
    offset += at === -1 ? bytes.length : Math.max(1, at)
  }
  return undefined
}

function judgePng(at: Peek, { size, read }: ByteSource): string | undefined {
  let offset = 8
  let plain = 0
  let inflated = 0
  for (let part = 0; part < MAX_PARTS; part += 1) {
    const head = at(offset, 8)
    const type = text(head, 4, 8)
    if (head.length < 8 || type === 'IDAT' || type === 'IEND') return undefined
    if (type === 'acTL') return ANIMATED
    const length = u32(head, 0, false)
    const body = offset + 8
    offset = body + length + 4
    if (!PNG_METADATA.has(type)) continue
    plain += Math.min(length, size - body)
    if (plain > MAX_METADATA_BYTES) return TOO_MUCH
    const packed = packedOf(type, read(body, Math.min(length, size - body)))
    if (packed !== undefined) inflated += inflatedBytes(packed, MAX_INFLATED_BYTES - inflated)
    if (inflated > MAX_INFLATED_BYTES) return TOO_MUCH
  }
  return TOO_MANY_PARTS
}

const PNG_METADATA: ReadonlySet<string> = new Set(['tEXt', 'zTXt', 'iTXt', 'iCCP', 'eXIf'])

// PNG 3rd edition 11.3.2.3, 11.3.3: the compressed data follows a keyword and, in iTXt, also a flag and two more texts.
function packedOf(type: string, body: Uint8Array): Uint8Array | undefined {
  const keyword = body.indexOf(0)
  if (keyword === -1) return undefined
  if (type === 'zTXt' || type === 'iCCP') return body.subarray(keyword + 2)
  if (type !== 'iTXt' || body[keyword + 1] !== 1) return undefined
  const language = body.indexOf(0, keyword + 3)
  const translated = language === -1 ? -1 : body.indexOf(0, language + 1)
  return translated === -1 ? undefined : body.subarray(translated + 1)
}

// Deflate expands a byte to at most this many: the longest match of 258 bytes takes two bits.
const MAX_RATIO = 1_032

/** Returns at most one byte more than `most`; for a damaged stream, the bytes inflated until the damage. */
function inflatedBytes(packed: Uint8Array, most: number): number {
  try {
    return inflateSync(packed, { maxOutputLength: Math.max(1, most) }).length
  } catch (error) {
    const isTooLarge = error instanceof RangeError
    return Math.min(most + 1, isTooLarge ? most + 1 : packed.length * MAX_RATIO)
  }
}

function judgeWebp(at: Peek, size: number): string | undefined {
  let offset = 12
  let metadata = 0
  for (let part = 0; part < MAX_PARTS; part += 1) {
    const head = at(offset, 8)
    if (head.length < 8) return undefined
    const length = u32(head, 4, true)
    if (WEBP_FRAMES.has(text(head, 0, 4))) return ANIMATED
    if (WEBP_METADATA.has(text(head, 0, 4))) metadata += Math.min(length, size - offset)
    if (metadata > MAX_METADATA_BYTES) return TOO_MUCH
    offset += 8 + length + (length % 2)
  }
  return TOO_MANY_PARTS
}

const WEBP_FRAMES: ReadonlySet<string> = new Set(['ANIM', 'ANMF'])
const WEBP_METADATA: ReadonlySet<string> = new Set(['ICCP', 'EXIF', 'XMP '])

// TIFF 6.0 section 2. In valid files values don't overlap, so all of them together are no larger than the file.
function judgeTiff(at: Peek, size: number): string | undefined {
  const isLittle = at(0, 1)[0] === 0x49
  let offset = u32(at(4, 4), 0, isLittle)
  let values = 0
  for (let directory = 0; directory < MAX_DIRECTORIES; directory += 1) {
    if (offset < 8 || offset + 2 > size) return undefined
    const count = u16(at(offset, 2), 0, isLittle)
    if (count > MAX_ENTRIES) return 'a directory has too many entries'
    for (let entry = 0; entry < count; entry += 1) {
      const head = at(offset + 2 + entry * 12, 12)
      values += u32(head, 4, isLittle) * (TYPE_BYTES[u16(head, 2, isLittle)] ?? 0)
    }
    if (values > size + SHARED_BYTES) return 'the directories hold more than the file has'
    offset = u32(at(offset + 2 + count * 12, 4), 0, isLittle)
  }
  return `the file has more than ${MAX_DIRECTORIES} directories`
}

/**
 * Bytes by the number of the type: BYTE, ASCII, SHORT, LONG, RATIONAL, their signed ones, FLOAT, DOUBLE, IFD; the last
 * are BigTIFF's.
 */
const TYPE_BYTES: readonly number[] = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]
