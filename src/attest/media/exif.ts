import { constants } from 'node:fs'
import { access, open } from 'node:fs/promises'
import exifr from 'exifr'
import type { Metadata } from 'sharp'
import { quote } from '#src/platform/sanitize.ts'
import { windowed, withSource } from './byte-source.ts'
import type { C2paScan } from './c2pa-scan.ts'
import type { DeclaredFacts } from './declared.ts'
import { readDeclared } from './declared-read.ts'
import { isUnknownOffset, readOffset } from './exif-time.ts'
import { UNKNOWN_HEADER } from './header.ts'
import { readHeifCodec } from './heif-header.ts'
import { type PngMetadata, readPngMetadata } from './png-metadata.ts'
import { HEADER_REFUSED, MAX_METADATA_PIXELS, MAX_SIDE_PIXELS, openImage } from './sharp.ts'
import { type CopiedTags, copyTextTags, type TiffSource } from './tiff.ts'

/** EXIF values as written; the factors parse the times. Texts have at most 256 characters and no control characters. */
export type ExifFacts =
  | {
      state: 'read'
      /** `YYYY:MM:DD HH:MM:SS` where the writer kept to the standard. */
      dateTimeOriginal: string | null
      /** SubSecTimeOriginal: the digits after the decimal point. */
      subSec: string | null
      /** OffsetTimeOriginal: `+hh:mm`. Where it is absent or can't be read, the offset of another time of the file. */
      offset: string | null
      make: string | null
      model: string | null
      software: string | null
    }
  | { state: 'missing' }
  | { state: 'unreadable'; detail: string }
  /** The media is no image. */
  | { state: 'not_applicable' }

export type ImageFormat = 'jpeg' | 'png' | 'webp' | 'heic' | 'avif' | 'tiff'

/** `format`, `width` and `height` (pixels, before any EXIF orientation) are null when it is no supported image. */
export interface ImageFacts {
  format: ImageFormat | null
  width: number | null
  height: number | null
  exif: ExifFacts
  /** Empty where the header can't be read. */
  declared: DeclaredFacts
}

/** What the inspector reads from any file. */
export interface FileFacts extends ImageFacts {
  c2pa: C2paScan
}

// EXIF 3.0 4.6.6: of DateTimeOriginal, of DateTime, of DateTimeDigitized. A camera has one clock; some write one offset for it.
const OFFSETS = ['OffsetTimeOriginal', 'OffsetTime', 'OffsetTimeDigitized']

// exifr caches by the identity of this object: a literal at each call would leak memory.
const EXIFR_OPTIONS = {
  pick: ['Make', 'Model', 'Software', 'DateTimeOriginal', 'SubSecTimeOriginal', ...OFFSETS],
  reviveValues: false,
  translateValues: false,
  silentErrors: false,
}

/**
 * The EXIF of an image file (a local path or its bytes). Whatever the bytes are, the result is a state, never an error.
 * @throws when a path can't be read: that is a fault of the store and no finding about the image.
 */
export async function readExif(input: string | Buffer): Promise<ExifFacts> {
  return (await readImageFacts(input)).exif
}

/** Format, size, EXIF and declarations, from one read of the header. @throws as `readExif`. */
export async function readImageFacts(input: string | Buffer): Promise<ImageFacts> {
  if (typeof input === 'string') await access(input, constants.R_OK)
  const header = await readHeader(input)
  if ('fault' in header) {
    return { format: null, width: null, height: null, exif: unreadable(header.fault), declared: NOTHING }
  }
  const { width, height } = header
  const format = formatOf(header) === 'heic' ? (codecOf(input) ?? 'heic') : formatOf(header)
  if (Math.max(width, height) > MAX_SIDE_PIXELS) {
    return { format, width, height, exif: unreadable('the image has too long a side'), declared: NOTHING }
  }
  // For a PNG sharp reads few kinds of chunks, and those before the image data only.
  const png = format === 'png' ? withSource(input, readPngMetadata) : undefined
  const { exif, userComment } = await exifOf(input, format, header.exif, png)
  const texts = png === undefined ? header : { comments: png.texts, xmp: png.xmp ?? header.xmp }
  return { format, width, height, exif, declared: readDeclared(texts, exif, userComment) }
}

const NOTHING: DeclaredFacts = { sourceTypes: [], generators: [], manifestReference: null }

async function readHeader(input: string | Buffer): Promise<Metadata | { fault: string }> {
  try {
    return await openImage(input, { maxPixels: MAX_METADATA_PIXELS }).metadata()
  } catch (error) {
    if (error instanceof Error && error.cause === HEADER_REFUSED) return { fault: error.message }
    // libvips's own message can hold a path and changes with its version.
    const isTooLarge = error instanceof Error && error.message.includes('pixel limit')
    return { fault: isTooLarge ? 'the image has too many pixels' : UNKNOWN_HEADER }
  }
}

function formatOf({ format, compression }: Metadata): ImageFormat | null {
  switch (format) {
    case 'jpeg':
    case 'png':
    case 'webp':
    case 'tiff':
      return format
    case 'heif':
      return compression === 'av1' ? 'avif' : 'heic'
    default:
      return null
  }
}

function codecOf(input: string | Buffer): 'avif' | 'heic' | undefined {
  return withSource(input, (source) => readHeifCodec(windowed(source), source.size))
}

async function exifOf(
  input: string | Buffer,
  format: ImageFormat | null,
  block: Buffer | undefined,
  png: PngMetadata | undefined,
): Promise<DecodedExif> {
  // Sharp returns no EXIF block for TIFF: there the file itself is the structure.
  if (format === 'tiff') return decode(await copyFromTiff(input))
  const found = block === undefined ? png?.exif : { block }
  if (found === undefined) return { exif: { state: 'missing' }, userComment: null }
  if ('fault' in found) return { exif: unreadable(found.fault), userComment: null }
  return decode(await copyTextTags(sourceOf(withoutPrefix(found.block))))
}

interface DecodedExif {
  exif: ExifFacts
  userComment: Buffer | null
}

async function copyFromTiff(input: string | Buffer): Promise<CopiedTags> {
  if (typeof input !== 'string') return copyTextTags(sourceOf(input))
  await using file = await open(input)
  const { size } = await file.stat()
  return await copyTextTags({
    size,
    async read(offset, length) {
      const bytes = Buffer.alloc(length)
      const { bytesRead } = await file.read(bytes, 0, length, offset)
      if (bytesRead < length) throw new Error('the file became shorter while it was read')
      return bytes
    },
  })
}

function sourceOf(bytes: Buffer): TiffSource {
  return { size: bytes.length, read: async (offset, length) => bytes.subarray(offset, offset + length) }
}

// JPEG, WebP and HEIF store the block with the prefix of a JPEG segment, PNG without (EXIF 3.0 4.7.2.1).
function withoutPrefix(block: Buffer): Buffer {
  return block.toString('latin1', 0, 6) === 'Exif\0\0' ? block.subarray(6) : block
}

async function decode(copied: CopiedTags): Promise<DecodedExif> {
  if (copied.state === 'malformed') return { exif: unreadable(copied.detail), userComment: null }
  const { userComment } = copied
  return { exif: copied.state === 'none' ? { state: 'missing' } : await factsOf(copied.block), userComment }
}

async function factsOf(block: Uint8Array): Promise<ExifFacts> {
  const tags = await parse(block)
  if (tags === null) return unreadable('the EXIF block does not parse')
  return {
    state: 'read',
    dateTimeOriginal: textOf(tags, 'DateTimeOriginal'),
    subSec: textOf(tags, 'SubSecTimeOriginal'),
    offset: offsetOf(tags),
    make: textOf(tags, 'Make'),
    model: textOf(tags, 'Model'),
    software: textOf(tags, 'Software'),
  }
}

async function parse(block: Uint8Array): Promise<Record<string, unknown> | null> {
  try {
    // Undefined when every text is empty.
    return (await exifr.parse(block, EXIFR_OPTIONS)) ?? {}
  } catch {
    return null
  }
}

function offsetOf(tags: Record<string, unknown>): string | null {
  const texts = OFFSETS.flatMap((name) => textOf(tags, name) ?? [])
  return (
    texts.find((text) => readOffset(text) !== null) ?? texts.find((text) => !isUnknownOffset(text)) ?? texts[0] ?? null
  )
}

function textOf(tags: Record<string, unknown>, name: string): string | null {
  const text = tags[name]
  return typeof text === 'string' ? quote(text) : null
}

function unreadable(detail: string): ExifFacts {
  return { state: 'unreadable', detail }
}
