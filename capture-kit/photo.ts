// Photos as a phone's camera writes them: rendered from a seed, or a user's own with new EXIF.
import exifr from 'exifr'
import sharp from 'sharp'
import { type ExifFacts, exifBlock } from './exif.ts'
import { addGrain, createDice, sceneSvg } from './scene.ts'

export interface RenderRequest {
  /** The same seed gives the same bytes, on the same build of sharp. */
  seed: number
  /** Pixels; by default 4000 x 3000, 12 megapixels. */
  width?: number
  height?: number
  /** `null`: a photo without EXIF. */
  exif: ExifFacts | null
  /** JPEG quality, 1 to 100. The default of 88 gives about 2 MB at 12 megapixels. */
  quality?: number
}

/** What a photo says about itself. */
export interface CameraFacts {
  capturedAt?: Date
  /** How the time zone is known: written in the EXIF, derived from the GPS clock, or guessed as this machine's. */
  zone?: 'written' | 'gps' | 'machine'
  gps?: { lat: number; lng: number }
}

// Drawn at a quarter of the size and enlarged by repeating pixels: drawing at full size takes twenty times as long, and
// at screen size the difference is invisible.
const ENLARGEMENT = 4
const GRAIN = 24

export async function renderPhoto(request: RenderRequest): Promise<Buffer> {
  const { seed, width = 4000, height = 3000, exif, quality = 88 } = request
  const small = { width: Math.ceil(width / ENLARGEMENT), height: Math.ceil(height / ENLARGEMENT) }
  const svg = sceneSvg(createDice(seed), small.width, small.height)
  const pixels = await sharp(Buffer.from(svg)).removeAlpha().raw().toBuffer()
  addGrain(pixels, seed, GRAIN)
  const jpeg = await sharp(pixels, { raw: { ...small, channels: 3 } })
    .resize(width, height, { kernel: 'nearest', fit: 'fill' })
    .jpeg({ quality, optimiseCoding: false })
    .toBuffer()
  return withExif(jpeg, exif)
}

/**
 * The same picture with other EXIF, or with none. Only the APP1 segment is replaced: pixels, tables and every other
 * segment stay as they are.
 * @throws {TypeError} when the bytes are not a JPEG.
 */
export function withExif(jpeg: Uint8Array, exif: ExifFacts | null): Buffer {
  const { kept, scan, size } = readSegments(Buffer.from(jpeg.buffer, jpeg.byteOffset, jpeg.byteLength))
  const app1 = exif === null ? [] : [segment(APP1, exifBlock(exif, size))]
  return Buffer.concat([Buffer.from([0xff, SOI]), ...app1, ...kept, scan])
}

/**
 * Reads the time and place of a user's own photo from its EXIF. Never throws: for an unreadable photo all values are
 * absent.
 */
export async function readCameraFacts(photo: Uint8Array): Promise<CameraFacts> {
  const tags = await readTags(photo)
  const time = captureTime(tags)
  const gps = position(tags)
  return { ...time, ...(gps === undefined ? {} : { gps }) }
}

/** The media type by the first bytes; `undefined` when it is not an accepted type. */
export function sniffContentType(photo: Uint8Array): string | undefined {
  const head = Buffer.from(photo.buffer, photo.byteOffset, Math.min(photo.byteLength, 16)).toString('latin1')
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return 'image/webp'
  if (head.startsWith('II*\0') || head.startsWith('MM\0*')) return 'image/tiff'
  if (head.slice(4, 8) !== 'ftyp') return undefined
  if (/^avi[fs]/.test(head.slice(8))) return 'image/avif'
  return /^(?:hei[cxms]|hev[cx]|mif1|msf1)/.test(head.slice(8)) ? 'image/heic' : undefined
}

const SOI = 0xd8
const SOS = 0xda
const APP1 = 0xe1
const MAX_SEGMENT_BYTES = 65_533
const EXIF_HEAD = Buffer.from('Exif\0\0', 'latin1')

interface Segments {
  /** Every segment before the first scan, unchanged, without EXIF. */
  kept: Buffer[]
  /** From the first scan to the end of the file. */
  scan: Buffer
  size: { width: number; height: number }
}

// ITU-T T.81 annex B: marker, then a length that counts itself.
function readSegments(jpeg: Buffer): Segments {
  const notJpeg = (): TypeError => new TypeError('not a JPEG: its segments can not be followed')
  if (jpeg[0] !== 0xff || jpeg[1] !== SOI) throw notJpeg()
  const kept: Buffer[] = []
  let size = { width: 0, height: 0 }
  let at = 2
  while (at + 4 <= jpeg.length && jpeg[at] === 0xff) {
    const marker = jpeg[at + 1] ?? 0
    if (marker === 0xff) {
      at += 1
      continue
    }
    if (marker === SOS) return { kept, scan: jpeg.subarray(at), size }
    const end = at + 2 + jpeg.readUInt16BE(at + 2)
    const content = jpeg.subarray(at + 4, end)
    if (isFrameHeader(marker) && content.length >= 5) {
      size = { height: content.readUInt16BE(1), width: content.readUInt16BE(3) }
    }
    const isExif = marker === APP1 && content.subarray(0, EXIF_HEAD.length).equals(EXIF_HEAD)
    if (!isExif) kept.push(jpeg.subarray(at, end))
    at = Math.max(end, at + 4)
  }
  throw notJpeg()
}

// SOF0 to SOF15 without DHT (c4), JPG (c8) and DAC (cc).
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}

function segment(marker: number, content: Buffer): Buffer {
  if (content.length > MAX_SEGMENT_BYTES) throw new RangeError('EXIF does not fit into one segment: shorten its texts')
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(content.length + 2, 2)
  return Buffer.concat([head, content])
}

const PICKED = [
  'DateTimeOriginal',
  'SubSecTimeOriginal',
  'OffsetTimeOriginal',
  'GPSLatitude',
  'GPSLatitudeRef',
  'GPSLongitude',
  'GPSLongitudeRef',
  'GPSDateStamp',
  'GPSTimeStamp',
]

type Tags = Record<string, unknown>

// exifr follows pointers through a whole file and can loop forever on a hostile one. So sharp extracts the block, and
// exifr reads only that. A TIFF or DNG is such a block itself.
async function readTags(photo: Uint8Array): Promise<Tags> {
  try {
    const block = sniffContentType(photo) === 'image/tiff' ? Buffer.from(photo) : await blockOf(photo)
    if (block === undefined) return {}
    return (await exifr.parse(block, { pick: PICKED, reviveValues: false, translateValues: false })) ?? {}
  } catch {
    return {}
  }
}

async function blockOf(photo: Uint8Array): Promise<Buffer | undefined> {
  const { exif } = await sharp(photo, { limitInputPixels: 200e6 }).metadata()
  return exif?.subarray(0, EXIF_HEAD.length).equals(EXIF_HEAD) ? exif.subarray(EXIF_HEAD.length) : exif
}

// DateTimeOriginal is local time. Its zone is OffsetTimeOriginal, otherwise its difference from the GPS clock, which is
// UTC, rounded to quarter hours like all zones.
function captureTime(tags: Tags): Pick<CameraFacts, 'capturedAt' | 'zone'> {
  const wall = parseStamp(tags.DateTimeOriginal)
  if (wall === undefined) return {}
  const fraction = typeof tags.SubSecTimeOriginal === 'string' ? Number(`0.${tags.SubSecTimeOriginal.trim()}`) : 0
  const wallMs = wall + (Number.isFinite(fraction) ? Math.floor(fraction * 1000) : 0)

  const written = parseOffset(tags.OffsetTimeOriginal)
  if (written !== undefined) return { capturedAt: new Date(wallMs - written * 60_000), zone: 'written' }

  const utc = gpsClock(tags)
  const quarters = utc === undefined ? Number.NaN : Math.round((wall - utc) / 900_000)
  if (Math.abs(quarters) <= 14 * 4) return { capturedAt: new Date(wallMs - quarters * 900_000), zone: 'gps' }

  const local = new Date(wallMs)
  local.setTime(wallMs + local.getTimezoneOffset() * 60_000)
  return { capturedAt: local, zone: 'machine' }
}

function parseStamp(value: unknown): number | undefined {
  const match = typeof value === 'string' ? /^(\d{4}):(\d\d):(\d\d) (\d\d):(\d\d):(\d\d)/.exec(value) : null
  if (match === null) return undefined
  const [, year, month, day, hour, minute, second] = match
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  return Number.isNaN(ms) ? undefined : ms
}

function parseOffset(value: unknown): number | undefined {
  const match = typeof value === 'string' ? /^([+-])(\d\d):(\d\d)/.exec(value) : null
  if (match === null) return undefined
  const minutes = Number(match[2]) * 60 + Number(match[3])
  return match[1] === '-' ? -minutes : minutes
}

function gpsClock(tags: Tags): number | undefined {
  const time = numbers(tags.GPSTimeStamp, 3)
  if (typeof tags.GPSDateStamp !== 'string' || time === undefined) return undefined
  const midnight = parseStamp(`${tags.GPSDateStamp.slice(0, 10)} 00:00:00`)
  const [hours = 0, minutes = 0, seconds = 0] = time
  return midnight === undefined ? undefined : midnight + (hours * 3600 + minutes * 60 + seconds) * 1000
}

function position(tags: Tags): CameraFacts['gps'] | undefined {
  const lat = angle(tags.GPSLatitude, tags.GPSLatitudeRef, 'S')
  const lng = angle(tags.GPSLongitude, tags.GPSLongitudeRef, 'W')
  if (lat === undefined || lng === undefined || Math.abs(lat) > 90 || Math.abs(lng) > 180) return undefined
  return { lat, lng }
}

function angle(value: unknown, reference: unknown, negative: 'S' | 'W'): number | undefined {
  const parts = numbers(value, 3)
  if (parts === undefined) return undefined
  const [degrees = 0, minutes = 0, seconds = 0] = parts
  // Seven decimals are a centimetre.
  const size = Math.round((degrees + minutes / 60 + seconds / 3600) * 1e7) / 1e7
  return reference === negative ? -size : size
}

function numbers(value: unknown, count: number): number[] | undefined {
  if (!Array.isArray(value) || value.length !== count) return undefined
  return value.every((part) => typeof part === 'number' && Number.isFinite(part)) ? value : undefined
}
