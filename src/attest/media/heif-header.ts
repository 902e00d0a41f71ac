// HEIF and AVIF list the bytes of each of their items (ISO/IEC 14496-12 8.11.3), and the library reads every listed
// range, even repeated ones: ten items that list the same ten megabytes thirty times take three gigabytes.

import { type Peek, text, u16, u32 } from './byte-source.ts'

/** A picture of 200 megapixels has 800 tiles. */
const MAX_ITEMS = 4_096
const MAX_BOXES = 1_000
// Items may share a little, for example a colour profile.
const SHARED_BYTES = 64 * 1024

const TOO_MANY = 'the header has too many boxes or items'

/** Why the library must not read this header; undefined when it stays within the limits. */
export function judgeHeif(at: Peek, size: number): string | undefined {
  let named = 0
  const inMeta = (box: Box): string | undefined => {
    if (box.type !== 'iloc') return undefined
    const bytes = namedBytes(at, box, size)
    if (bytes === undefined) return TOO_MANY
    named += bytes
    return named > size + SHARED_BYTES ? 'the items hold more than the file has' : undefined
  }
  return eachBox(at, { from: 0, end: size }, ({ type, from, end }) =>
    // Version and flags precede its children.
    type === 'meta' ? eachBox(at, { from: from + 4, end }, inMeta) : undefined,
  )
}

/**
 * The codec of the pictures, by the types of the items (AV1 Image File Format 2.1, ISO/IEC 23008-12 B.4.1). The image
 * library uses the major brand, which may be a generic one. Undefined when there are no items, or items of both codecs.
 */
export function readHeifCodec(at: Peek, size: number): 'avif' | 'heic' | undefined {
  const types = new Set<string>()
  eachBox(at, { from: 0, end: size }, ({ type, from, end }) =>
    type === 'meta'
      ? eachBox(at, { from: from + 4, end }, (box) => (box.type === 'iinf' ? noteItems(at, box, types) : undefined))
      : undefined,
  )
  const [isAvif, isHeic] = [types.has('av01'), types.has('hvc1')]
  return isAvif === isHeic ? undefined : isAvif ? 'avif' : 'heic'
}

// ISO/IEC 14496-12 8.11.6: version 0 counts in two bytes, the others in four. An entry of version 2 names its item in two, of 3 in four.
function noteItems(at: Peek, { from, end }: Span, types: Set<string>): undefined {
  const first = from + 4 + ((at(from, 1)[0] ?? 0) === 0 ? 2 : 4)
  eachBox(at, { from: first, end }, (entry) => {
    const version = at(entry.from, 1)[0] ?? 0
    const typeAt = entry.from + 4 + (version === 3 ? 4 : 2) + 2
    if (entry.type === 'infe' && version >= 2) types.add(text(at(typeAt, 4), 0, 4))
    return undefined
  })
}

interface Span {
  from: number
  end: number
}

interface Box extends Span {
  type: string
}

/** The first result of `judge` that is not `undefined`. `from` of a box is where its content begins. */
function eachBox(at: Peek, { from, end }: Span, judge: (box: Box) => string | undefined): string | undefined {
  let offset = from
  for (let count = 0; count < MAX_BOXES; count += 1) {
    const head = at(offset, 16)
    if (offset >= end || head.length < 8) return undefined
    const short = u32(head, 0, false)
    const isLong = short === 1
    const length = isLong ? u32(head, 8, false) * 2 ** 32 + u32(head, 12, false) : short === 0 ? end - offset : short
    const header = isLong ? 16 : 8
    if (length < header) return undefined
    const found = judge({ type: text(head, 4, 8), from: offset + header, end: Math.min(end, offset + length) })
    if (found !== undefined) return found
    offset += length
  }
  return TOO_MANY
}

/** The sum of all extents; undefined when there are too many to count. */
function namedBytes(at: Peek, { from, end }: Span, size: number): number | undefined {
  const head = at(from, 10)
  const version = head[0] ?? 0
  const [sizes = 0, more = 0] = head.subarray(4, 6)
  const [offsetBytes, lengthBytes, baseBytes] = [sizes >> 4, sizes & 0xf, more >> 4]
  const indexBytes = version === 0 ? 0 : more & 0xf
  const idBytes = version === 2 ? 4 : 2
  const items = version === 2 ? u32(head, 6, false) : u16(head, 6, false)
  if (items > MAX_ITEMS) return undefined
  let offset = from + 6 + idBytes
  let extents = 0
  let bytes = 0
  for (let item = 0; item < items && offset < end; item += 1) {
    offset += idBytes + (version === 0 ? 0 : 2) + 2 + baseBytes
    const count = u16(at(offset, 2), 0, false)
    offset += 2
    extents += count
    if (extents > MAX_ITEMS) return undefined
    for (let extent = 0; extent < count && offset < end; extent += 1) {
      const length = numberAt(at(offset + indexBytes + offsetBytes, lengthBytes))
      // 0: the whole file.
      bytes += length === 0 ? size : Math.min(length, size)
      offset += indexBytes + offsetBytes + lengthBytes
    }
  }
  return bytes
}

const numberAt = (bytes: Uint8Array): number => bytes.reduce((value, byte) => value * 256 + byte, 0)
