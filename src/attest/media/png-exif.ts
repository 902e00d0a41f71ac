// Reads EXIF of a PNG where the image library does not: in an eXIf chunk after the image data, and in the text chunk
// "Raw profile type exif" that ImageMagick, exiv2 and exiftool wrote before the eXIf chunk existed. Walks the chunks of
// the whole file and reads only the bytes that it needs; compressed data is inflated up to a limit.

import { inflateSync } from 'node:zlib'
import { type ByteSource, text, u32, windowed } from './byte-source.ts'

/** The block, or why an existing one can't be read; undefined when there is none. */
export type PngExif = { block: Buffer } | { fault: string } | undefined

// The data of a photo of 100 MB stands in 13,000 chunks of 8 KiB, as most encoders write them.
const MAX_CHUNKS = 65_536
/** A block in a JPEG has at most 64 KiB. */
export const MAX_BLOCK_BYTES = 512 * 1024
// Two digits per byte, and line breaks.
const MAX_PROFILE_BYTES = 3 * MAX_BLOCK_BYTES
const PROFILES: ReadonlySet<string> = new Set(['Raw profile type exif', 'Raw profile type APP1'])
// PNG (third edition) 11.3.3.1: a keyword has 1 to 79 bytes.
const MAX_KEYWORD_BYTES = 79

/** The eXIf chunk, wherever it stands; without one, the first raw profile that holds EXIF. */
export function readPngExif(source: ByteSource): PngExif {
  const at = windowed(source)
  let profile: PngExif
  let offset = 8
  for (let chunk = 0; chunk < MAX_CHUNKS; chunk += 1) {
    const head = at(offset, 8)
    const type = text(head, 4, 8)
    if (head.length < 8 || type === 'IEND') return profile
    const length = u32(head, 0, false)
    const body = offset + 8
    // A chunk that exceeds the file is damaged, and nothing valid follows it.
    if (body + length > source.size) return profile
    if (type === 'eXIf') {
      if (length > MAX_BLOCK_BYTES) return { fault: TOO_LONG }
      return { block: Buffer.from(source.read(body, length)) }
    }
    if (
      profile === undefined &&
      TEXTS.has(type) &&
      PROFILES.has(keywordOf(at(body, Math.min(length, KEYWORD_BYTES))))
    ) {
      profile =
        length > MAX_PROFILE_BYTES ? { fault: TOO_LONG } : readProfile(type, Buffer.from(source.read(body, length)))
    }
    offset = body + length + 4
  }
  return profile
}

const TEXTS: ReadonlySet<string> = new Set(['tEXt', 'zTXt', 'iTXt'])
const KEYWORD_BYTES = MAX_KEYWORD_BYTES + 1
const TOO_LONG = 'the EXIF of the PNG is too long'
const DAMAGED = 'the raw EXIF profile of the PNG is damaged'

function keywordOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0)
  return end === -1 ? '' : Buffer.from(bytes.subarray(0, end)).toString('latin1')
}

function readProfile(type: string, body: Buffer): PngExif {
  const digits = textOf(type, body)
  if (typeof digits !== 'string') return { fault: digits.fault }
  // A line break, the name of the profile, its length in decimal, then the digits in lines.
  const header = /^\s*(\w{1,20})\s+(\d{1,7})\s/.exec(digits.slice(0, 64))
  const length = Number(header?.[2] ?? 0)
  if (header === null || length > MAX_BLOCK_BYTES) return { fault: header === null ? DAMAGED : TOO_LONG }
  const hex = digits.slice(header[0].length).replaceAll(/\s/g, '')
  if (hex.length < 2 * length || !/^[0-9a-fA-F]*$/.test(hex)) return { fault: DAMAGED }
  const block = Buffer.from(hex.slice(0, 2 * length), 'hex')
  // An APP1 profile may hold XMP instead.
  return block.toString('latin1', 0, 4) === 'Exif' || isTiff(block) ? { block } : undefined
}

function isTiff(block: Buffer): boolean {
  return ['II*\0', 'MM\0*'].includes(block.toString('latin1', 0, 4))
}

// PNG (third edition) 11.3.3.2 to 11.3.3.4: text; compressed text after a method; either, after a flag, a method and
// two texts.
function textOf(type: string, body: Buffer): string | { fault: string } {
  const keyword = body.indexOf(0)
  if (type === 'tEXt') return body.toString('latin1', keyword + 1)
  if (type === 'zTXt') return inflated(body.subarray(keyword + 2))
  const language = body.indexOf(0, keyword + 3)
  const translated = language === -1 ? -1 : body.indexOf(0, language + 1)
  if (translated === -1) return { fault: DAMAGED }
  const rest = body.subarray(translated + 1)
  return body[keyword + 1] === 1 ? inflated(rest) : rest.toString('latin1')
}

function inflated(packed: Buffer): string | { fault: string } {
  try {
    return inflateSync(packed, { maxOutputLength: MAX_PROFILE_BYTES }).toString('latin1')
  } catch (error) {
    return { fault: error instanceof RangeError ? TOO_LONG : DAMAGED }
  }
}
