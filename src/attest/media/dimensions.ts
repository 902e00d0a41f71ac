// Reads the dimensions of an image from its first bytes, so that a decompression bomb is refused while it is being sent.
// This is only a first check: what the image library reads from the finished file decides. Pure; every walk is bounded
// by the head.

import type { MediaType } from './sniff.ts'

export interface Dimensions {
  width: number
  height: number
}

// Real cameras end at 204 megapixels and 20,000 pixels a side; every accepted format can declare far more.
export const MAX_SIDE = 30_000
export const MAX_PIXELS = 256_000_000

/** Why these dimensions are refused, or `undefined`. */
export function judgeDimensions({ width, height }: Dimensions): string | undefined {
  if (width > MAX_SIDE || height > MAX_SIDE)
    return `The image is ${width} x ${height}; a side may have ${MAX_SIDE} pixels.`
  if (width * height > MAX_PIXELS) return `The image is ${width} x ${height}; it may have ${MAX_PIXELS} pixels in all.`
  return undefined
}

/** `undefined` when the head does not contain the dimensions, or is invalid: then the image library will report it. */
export function readDimensions(type: MediaType, head: Uint8Array): Dimensions | undefined {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  const dimensions = READERS[type]?.(view)
  return dimensions !== undefined && dimensions.width > 0 && dimensions.height > 0 ? dimensions : undefined
}

const READERS: Partial<Record<MediaType, (view: DataView) => Dimensions | undefined>> = {
  'image/png': readPng,
  'image/jpeg': readJpeg,
  'image/webp': readWebp,
  'image/tiff': readTiff,
  'image/heic': readBoxes,
  'image/avif': readBoxes,
}

// PNG (third edition) 11.2.1: IHDR comes first.
function readPng(view: DataView): Dimensions | undefined {
  return view.byteLength < 24 ? undefined : { width: view.getUint32(16), height: view.getUint32(20) }
}

// ITU-T T.81 B.1.1.4, B.2.2: walks the marker segments to the frame header.
function readJpeg(view: DataView): Dimensions | undefined {
  let at = 2
  while (at + 9 <= view.byteLength) {
    if (view.getUint8(at) !== 0xff) return undefined
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) {
      at += 1
      continue
    }
    if (isFrameHeader(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    if (marker === 0xd9 || marker === 0xda) return undefined
    const isBare = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)
    const length = isBare ? 0 : view.getUint16(at + 2)
    if (!isBare && length < 2) return undefined
    at += 2 + length
  }
  return undefined
}

const isFrameHeader = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

// RFC 9649 sections 2.5 to 2.7.
function readWebp(view: DataView): Dimensions | undefined {
  if (view.byteLength < 30) return undefined
  const u24 = (at: number): number => view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
  switch (tag(view, 12)) {
    case 'VP8X':
      return { width: u24(24) + 1, height: u24(27) + 1 }
    case 'VP8L':
      return {
        width: (view.getUint16(21, true) & 0x3fff) + 1,
        height: ((view.getUint32(21, true) >>> 14) & 0x3fff) + 1,
      }
    case 'VP8 ':
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
    default:
      return undefined
  }
}

// TIFF 6.0 section 2: the first directory may be anywhere; tags 256 and 257 are the dimensions, as SHORT (3) or LONG (4).
function readTiff(view: DataView): Dimensions | undefined {
  if (view.byteLength < 10) return undefined
  const isLittle = view.getUint8(0) === 0x49
  const directory = view.getUint32(4, isLittle)
  if (directory + 2 > view.byteLength) return undefined
  const count = view.getUint16(directory, isLittle)
  const dimensions: Dimensions = { width: 0, height: 0 }
  for (let i = 0; i < count; i += 1) {
    const at = directory + 2 + i * 12
    if (at + 12 > view.byteLength) return undefined
    const tagId = view.getUint16(at, isLittle)
    if (tagId !== 256 && tagId !== 257) continue
    const isShort = view.getUint16(at + 2, isLittle) === 3
    dimensions[tagId === 256 ? 'width' : 'height'] = isShort
      ? view.getUint16(at + 8, isLittle)
      : view.getUint32(at + 8, isLittle)
  }
  return dimensions
}

// ISO/IEC 23008-12 6.5.3: meta / iprp / ipco / ispe. A grid declares its tiles too; the largest is the picture.
function readBoxes(view: DataView): Dimensions | undefined {
  const meta = findBox(view, { from: 0, to: view.byteLength }, 'meta')
  // meta is a full box: four bytes of version and flags before its children.
  const properties = meta && findBox(view, { from: meta.from + 4, to: meta.to }, 'iprp')
  const container = properties && findBox(view, properties, 'ipco')
  if (container === undefined) return undefined
  let largest: Dimensions | undefined
  for (const box of boxes(view, container)) {
    if (box.type !== 'ispe' || box.to - box.from < 12) continue
    const dimensions = { width: view.getUint32(box.from + 4), height: view.getUint32(box.from + 8) }
    if (largest === undefined || dimensions.width * dimensions.height > largest.width * largest.height)
      largest = dimensions
  }
  return largest
}

interface Span {
  from: number
  to: number
}

function findBox(view: DataView, span: Span, type: string): Span | undefined {
  for (const box of boxes(view, span)) if (box.type === type) return box
  return undefined
}

// ISO/IEC 14496-12 4.2. A box that exceeds the span ends the walk: it has not arrived yet, or its size is false.
function* boxes(view: DataView, { from, to }: Span): Generator<Span & { type: string }> {
  let at = from
  while (at + 8 <= to) {
    const size = view.getUint32(at)
    if (size < 8 || at + size > to) return
    yield { type: tag(view, at + 4), from: at + 8, to: at + size }
    at += size
  }
}

function tag(view: DataView, at: number): string {
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3))
}
