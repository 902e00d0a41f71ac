// Reads the metadata of a PNG where the image library does not: behind the image data, and in the text chunks "Raw profile
// type ..." that ImageMagick, exiv2 and exiftool wrote before there were chunks for EXIF and XMP. Walks the chunks of the
// whole file once and reads only the bytes that it needs; compressed data is inflated up to a limit.

import { inflateSync } from 'node:zlib'
import { type ByteSource, text, u32, windowed } from './byte-source.ts'

/** The block, or why an existing one can't be read; undefined when there is none. */
export type PngExif = { block: Buffer } | { fault: string } | undefined

export interface PngText {
  keyword: string
  /** Empty where it is damaged or too long. */
  text: string
}

export interface PngMetadata {
  /** The eXIf chunk, wherever it stands; without a readable one, the first readable raw profile that holds EXIF. */
  exif: PngExif
  /** The first XMP packet. */
  xmp: Buffer | undefined
  /** Other texts, in their order. */
  texts: PngText[]
}

// The data of a photo of 100 MB stands in 13,000 chunks of 8 KiB, as most encoders write them.
const MAX_CHUNKS = 65_536
/** A block in a JPEG has at most 64 KiB. */
export const MAX_BLOCK_BYTES = 512 * 1024
// Two digits per byte, and line breaks.
const MAX_PROFILE_BYTES = 3 * MAX_BLOCK_BYTES
// Prompts of generators are a few KiB.
const MAX_TEXT_BYTES = 256 * 1024
const MAX_TEXTS = 64
// Each costs some milliseconds, and a file may hold thousands.
const MAX_PROFILES = 16
const PROFILES: ReadonlySet<string> = new Set(['exif', 'APP1', 'xmp'].map((name) => `Raw profile type ${name}`))
const XMP_KEYWORD = 'XML:com.adobe.xmp'
const XMP_PREFIX = 'http://ns.adobe.com/xap/1.0/\0'
// PNG (third edition) 11.3.3.1: a keyword has 1 to 79 bytes.
const MAX_KEYWORD_BYTES = 79

export function readPngMetadata(source: ByteSource): PngMetadata {
  const at = windowed(source)
  const found: PngMetadata = { exif: undefined, xmp: undefined, texts: [] }
  let own: PngExif
  let profiles = 0
  for (const { type, body, length } of chunksOf(source, at)) {
    const whole = (most: number) => Buffer.from(source.read(body, Math.min(length, most)))
    if (type === 'eXIf') own = firstRead(own, length > MAX_BLOCK_BYTES ? { fault: TOO_LONG } : { block: whole(length) })
    if (!TEXTS.has(type)) continue
    const keyword = keywordOf(at(body, Math.min(length, KEYWORD_BYTES)))
    if (PROFILES.has(keyword)) {
      profiles += 1
      if (profiles > MAX_PROFILES) continue
      const profile = length > MAX_PROFILE_BYTES ? { fault: TOO_LONG } : readProfile(type, whole(length))
      if ('xmp' in profile) found.xmp ??= profile.xmp
      // A fault of a profile of XMP says nothing of EXIF.
      else if (keyword !== 'Raw profile type xmp') found.exif = firstRead(found.exif, profile)
    } else if (keyword === XMP_KEYWORD) {
      const packet = bytesOf(type, whole(MAX_TEXT_BYTES), MAX_TEXT_BYTES)
      if (Buffer.isBuffer(packet)) found.xmp ??= packet
    } else if (found.texts.length < MAX_TEXTS) {
      const bytes = bytesOf(type, whole(MAX_TEXT_BYTES), MAX_TEXT_BYTES)
      const encoding = type === 'iTXt' ? 'utf8' : 'latin1'
      found.texts.push({ keyword, text: Buffer.isBuffer(bytes) ? bytes.toString(encoding) : '' })
    }
  }
  return { ...found, exif: firstRead(own, found.exif) }
}

/** A block before a fault, and the first of two alike. */
function firstRead(first: PngExif, second: PngExif): PngExif {
  const isBetter = first === undefined || ('fault' in first && second !== undefined && 'block' in second)
  return isBetter ? second : first
}

interface Chunk {
  type: string
  /** Offset of its content. */
  body: number
  length: number
}

function* chunksOf(source: ByteSource, at: ReturnType<typeof windowed>): Generator<Chunk> {
  let offset = 8
  for (let chunk = 0; chunk < MAX_CHUNKS; chunk += 1) {
    const head = at(offset, 8)
    const type = text(head, 4, 8)
    if (head.length < 8 || type === 'IEND') return
    const length = u32(head, 0, false)
    const body = offset + 8
    // A chunk that exceeds the file is damaged, and nothing valid follows it.
    if (body + length > source.size) return
    yield { type, body, length }
    offset = body + length + 4
  }
}

const TEXTS: ReadonlySet<string> = new Set(['tEXt', 'zTXt', 'iTXt'])
const KEYWORD_BYTES = MAX_KEYWORD_BYTES + 1
const TOO_LONG = 'the EXIF of the PNG is too long'
const DAMAGED = 'the raw EXIF profile of the PNG is damaged'

function keywordOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0)
  return end === -1 ? '' : Buffer.from(bytes.subarray(0, end)).toString('latin1')
}

function readProfile(type: string, body: Buffer): Exclude<PngExif, undefined> | { xmp: Buffer } {
  const bytes = bytesOf(type, body, MAX_PROFILE_BYTES)
  if (!Buffer.isBuffer(bytes)) return bytes
  const digits = bytes.toString('latin1')
  // A line break, the name of the profile, its length in decimal, then the digits in lines.
  const header = /^\s*(\w{1,20})\s+(\d{1,7})\s/.exec(digits.slice(0, 64))
  const length = Number(header?.[2] ?? 0)
  if (header === null || length > MAX_BLOCK_BYTES) return { fault: header === null ? DAMAGED : TOO_LONG }
  // Some programs write more behind the last digit; the length says where the profile ends.
  const hex = digits
    .slice(header[0].length)
    .replaceAll(/\s/g, '')
    .slice(0, 2 * length)
  if (hex.length < 2 * length || !/^[0-9a-fA-F]*$/.test(hex)) return { fault: DAMAGED }
  const block = Buffer.from(hex, 'hex')
  // An APP1 profile holds EXIF or XMP.
  if (block.toString('latin1', 0, 4) === 'Exif' || isTiff(block)) return { block }
  const isPrefixed = block.toString('latin1', 0, XMP_PREFIX.length) === XMP_PREFIX
  return { xmp: isPrefixed ? block.subarray(XMP_PREFIX.length) : block }
}

function isTiff(block: Buffer): boolean {
  return ['II*\0', 'MM\0*'].includes(block.toString('latin1', 0, 4))
}

// PNG (third edition) 11.3.3.2 to 11.3.3.4: text; compressed text after a method; either, after a flag, a method and
// two texts.
function bytesOf(type: string, body: Buffer, most: number): Buffer | { fault: string } {
  const keyword = body.indexOf(0)
  if (type === 'tEXt') return body.subarray(keyword + 1)
  if (type === 'zTXt') return inflated(body.subarray(keyword + 2), most)
  const language = body.indexOf(0, keyword + 3)
  const translated = language === -1 ? -1 : body.indexOf(0, language + 1)
  if (translated === -1) return { fault: DAMAGED }
  const rest = body.subarray(translated + 1)
  return body[keyword + 1] === 1 ? inflated(rest, most) : rest
}

function inflated(packed: Buffer, most: number): Buffer | { fault: string } {
  try {
    return inflateSync(packed, { maxOutputLength: most })
  } catch (error) {
    return { fault: error instanceof RangeError ? TOO_LONG : DAMAGED }
  }
}
