// Writes TIFF structures (TIFF 6.0 section 2): EXIF blocks and TIFF files.

export interface Entry {
  tag: number
  type: number
  count: number
  value: Buffer
}

export interface Directory {
  entries: Entry[]
  /** Tags that point to further directories. */
  links?: { tag: number; to: Directory }[]
  /** The picture, in one strip; the tags with its position are added. */
  strip?: Uint8Array
}

const FIRST_OFFSET = 8
const STRIP_OFFSETS = 273
const STRIP_BYTE_COUNTS = 279

/** Big-endian: a directory, then those that it points to, then its picture. */
export function writeTiff(first: Directory): Buffer {
  return Buffer.concat([Buffer.from('MM\0*\0\0\0\x08', 'latin1'), ...write(first, FIRST_OFFSET)])
}

function write(directory: Directory, offset: number): Buffer[] {
  const { links = [], strip } = directory
  const pointers = [...links.map(({ tag }) => tag), ...(strip === undefined ? [] : [STRIP_OFFSETS])]
  const plain = [...directory.entries, ...(strip === undefined ? [] : [long(STRIP_BYTE_COUNTS, strip.length)])]
  let at = offset + sizeOf([...plain, ...pointers.map((tag) => long(tag, 0))])
  const parts: Buffer[] = []
  const found: Entry[] = []
  for (const { tag, to } of links) {
    found.push(long(tag, at))
    const written = Buffer.concat(write(to, at))
    parts.push(written)
    at += written.length
  }
  if (strip !== undefined) {
    found.push(long(STRIP_OFFSETS, at))
    parts.push(Buffer.from(strip), Buffer.alloc(strip.length % 2))
  }
  return [
    layOut(
      [...plain, ...found].sort((a, b) => a.tag - b.tag),
      offset,
    ),
    ...parts,
  ]
}

function sizeOf(entries: Entry[]): number {
  return 6 + 12 * entries.length + entries.reduce((sum, { value }) => sum + overflow(value), 0)
}

// Entries in ascending order of tag; a value of up to four bytes stands in the entry itself, a longer one after the
// directory at an even offset.
function layOut(entries: Entry[], offset: number): Buffer {
  const bytes = Buffer.alloc(sizeOf(entries))
  let valueAt = 6 + 12 * entries.length
  bytes.writeUInt16BE(entries.length, 0)
  for (const [index, { tag, type, count, value }] of entries.entries()) {
    const at = 2 + 12 * index
    bytes.writeUInt16BE(tag, at)
    bytes.writeUInt16BE(type, at + 2)
    bytes.writeUInt32BE(count, at + 4)
    if (value.length <= 4) {
      value.copy(bytes, at + 8)
    } else {
      bytes.writeUInt32BE(offset + valueAt, at + 8)
      value.copy(bytes, valueAt)
      valueAt += overflow(value)
    }
  }
  return bytes
}

function overflow(value: Buffer): number {
  return value.length <= 4 ? 0 : value.length + (value.length % 2)
}

export function ascii(tag: number, text: string): Entry {
  const value = Buffer.from(`${text}\0`, 'utf8')
  return { tag, type: 2, count: value.length, value }
}

export function bytes(tag: number, ...numbers: number[]): Entry {
  return { tag, type: 1, count: numbers.length, value: Buffer.from(numbers) }
}

export function short(tag: number, ...numbers: number[]): Entry {
  const value = Buffer.alloc(2 * numbers.length)
  for (const [index, number] of numbers.entries()) value.writeUInt16BE(number, 2 * index)
  return { tag, type: 3, count: numbers.length, value }
}

export function long(tag: number, number: number): Entry {
  const value = Buffer.alloc(4)
  value.writeUInt32BE(number)
  return { tag, type: 4, count: 1, value }
}

export function raw(tag: number, text: string): Entry {
  const value = Buffer.from(text, 'latin1')
  return { tag, type: 7, count: value.length, value }
}

export type Fraction = [numerator: number, denominator: number]

export function rational(tag: number, ...fractions: Fraction[]): Entry {
  const value = Buffer.alloc(8 * fractions.length)
  for (const [index, [numerator, denominator]] of fractions.entries()) {
    value.writeUInt32BE(numerator, 8 * index)
    value.writeUInt32BE(denominator, 8 * index + 4)
  }
  return { tag, type: 5, count: fractions.length, value }
}
