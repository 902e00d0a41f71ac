// Writes TIFF structures and puts them into JPEGs, valid ones and ones that no camera writes.

export interface Entry {
  tag: number
  type: number
  /** Bytes of the value, or the value field itself (an offset, a number). */
  value: Uint8Array | number
  /** What the entry declares, where that is wrong. */
  count?: number
}

export const MAKE = 0x010f
export const MODEL = 0x0110
export const SOFTWARE = 0x0131
export const DATE = 0x9003
export const OFFSET = 0x9011
export const SUBSEC = 0x9291
const EXIF_POINTER = 0x8769

export function text(tag: number, value: string, type = 2): Entry {
  return { tag, type, value: Buffer.from(`${value}\0`) }
}

export function number(tag: number, value: number, type = 4): Entry {
  return { tag, type, value }
}

/** A TIFF 6.0 structure with an IFD0 and, if given, an EXIF IFD. `exifAt` gives a wrong offset of it. */
export function structure(
  given: { ifd0: Entry[]; exif?: Entry[]; exifAt?: number; trailer?: Uint8Array },
  order: 'II' | 'MM' = 'II',
): Buffer {
  const { ifd0, exif, trailer = Buffer.alloc(0) } = given
  const hasExif = exif !== undefined || given.exifAt !== undefined
  const exifAt = 8 + 2 + (ifd0.length + (hasExif ? 1 : 0)) * 12 + 4
  const valuesAt = exifAt + (exif === undefined ? 0 : 2 + exif.length * 12 + 4)
  const values: Uint8Array[] = []
  let freeAt = valuesAt
  const main = hasExif ? [...ifd0, number(EXIF_POINTER, given.exifAt ?? exifAt)] : ifd0
  const header = Buffer.concat([Buffer.from(order), u16(42), u32(8)])
  const directories = [directory(main), exif === undefined ? Buffer.alloc(0) : directory(exif)]
  return Buffer.concat([header, ...directories, ...values, trailer])

  function directory(entries: Entry[]): Buffer {
    return Buffer.concat([u16(entries.length), ...entries.map(entryOf), u32(0)])
  }

  function entryOf({ tag, type, value, count }: Entry): Buffer {
    if (typeof value === 'number') {
      const field = type === 3 ? Buffer.concat([u16(value), u16(0)]) : u32(value)
      return Buffer.concat([u16(tag), u16(type), u32(count ?? 1), field])
    }
    const head = Buffer.concat([u16(tag), u16(type), u32(count ?? value.length)])
    if (value.length <= 4) return Buffer.concat([head, value, Buffer.alloc(4 - value.length)])
    values.push(value)
    freeAt += value.length
    return Buffer.concat([head, u32(freeAt - value.length)])
  }

  function u16(value: number): Buffer {
    const bytes = Buffer.alloc(2)
    if (order === 'II') bytes.writeUInt16LE(value)
    else bytes.writeUInt16BE(value)
    return bytes
  }

  function u32(value: number): Buffer {
    const bytes = Buffer.alloc(4)
    if (order === 'II') bytes.writeUInt32LE(value)
    else bytes.writeUInt32BE(value)
    return bytes
  }
}

/** The JPEG with `block` as its EXIF segment. */
export function withBlock(jpeg: Buffer, block: Uint8Array): Buffer {
  const segment = Buffer.concat([Buffer.from('Exif\0\0'), block])
  const head = Buffer.from([0xff, 0xd8, 0xff, 0xe1, (segment.length + 2) >> 8, (segment.length + 2) & 0xff])
  return Buffer.concat([head, segment, jpeg.subarray(2)])
}

/** Numbers below `limit` from a seed, the same on every machine (mulberry32). */
export function createRandom(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}
