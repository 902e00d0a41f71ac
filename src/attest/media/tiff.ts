// Copies the few text tags that the factors need from an untrusted TIFF structure into a small one of our own, for
// exifr to decode. Given the original, exifr 7.1 follows every declared count and offset: it reads text beyond the
// block from whatever shares its ArrayBuffer (other requests' memory), allocates gigabytes for a hundred bytes, and
// detects other formats (whose parsers can loop forever) in an EXIF block.

/** Random access to a TIFF structure: an EXIF block, or a TIFF file that is not in memory. */
export interface TiffSource {
  size: number
  /** Exactly `length` bytes; called only for ranges within `size`. */
  read(offset: number, length: number): Promise<Buffer>
}

/**
 * `userComment`: the tag's bytes, cut at 64 KiB, because `exifr` does not decode them; null when absent or unreadable.
 */
export type CopiedTags =
  | { state: 'copied'; block: Uint8Array<ArrayBuffer>; userComment: Buffer | null }
  /** The structure is valid and has none of the text tags. */
  | { state: 'none'; userComment: Buffer | null }
  | { state: 'malformed'; detail: string }

// EXIF 3.0 4.6: Make, Model and Software stand in IFD0, the others in the EXIF IFD that it points to.
const IFD0_TAGS: ReadonlySet<number> = new Set([0x010f, 0x0110, 0x0131])
const EXIF_TAGS: ReadonlySet<number> = new Set([0x9003, 0x9010, 0x9011, 0x9012, 0x9291])
// OffsetTime and OffsetTimeDigitized: they stand in for OffsetTimeOriginal, so a damaged one is left out.
const OPTIONAL_TAGS: ReadonlySet<number> = new Set([0x9010, 0x9012])
const EXIF_POINTER = 0x8769
const USER_COMMENT = 0x9286

const BYTE = 1
const ASCII = 2
const LONG = 4
const UNDEFINED = 7
const IFD = 13
// EXIF 3.0 4.6.2. exifr does not support it.
const UTF8 = 129
// Some writers declare text as bytes.
const TEXT_TYPES: ReadonlySet<number> = new Set([BYTE, ASCII, UNDEFINED, UTF8])
const POINTER_TYPES: ReadonlySet<number> = new Set([LONG, IFD])

const HEADER_BYTES = 8
const ENTRY_BYTES = 12
// Cameras write fewer than 100 entries in a directory.
const MAX_ENTRIES = 1_000
// Text is shown up to 256 characters; this leaves room for multi-byte characters and padding.
const MAX_TEXT_BYTES = 1_024
// Generators store whole prompts in it.
const MAX_COMMENT_BYTES = 64 * 1024

type Fault = { fault: string }
type Text = { tag: number; bytes: Buffer }
type Directory = { texts: Text[]; exifOffset: number | null; userComment: Buffer | null }

/** Reads at most two directories of bounded size, eight texts and a comment, whatever the structure declares. */
export async function copyTextTags(source: TiffSource): Promise<CopiedTags> {
  if (source.size < HEADER_BYTES) return { state: 'malformed', detail: 'too short for a TIFF header' }
  const header = await source.read(0, HEADER_BYTES)
  const order = header.toString('latin1', 0, 4)
  if (order !== 'II*\0' && order !== 'MM\0*') return { state: 'malformed', detail: 'no TIFF header' }
  const number = reader(order === 'II*\0')

  const ifd0 = await readDirectory(source, number, number.u32(header, 4), IFD0_TAGS)
  if ('fault' in ifd0) return { state: 'malformed', detail: ifd0.fault }
  const exif = ifd0.exifOffset === null ? null : await readDirectory(source, number, ifd0.exifOffset, EXIF_TAGS)
  if (exif !== null && 'fault' in exif) return { state: 'malformed', detail: exif.fault }
  const userComment = exif?.userComment ?? null
  if (exif === null && ifd0.texts.length === 0) return { state: 'none', userComment }
  return { state: 'copied', block: writeBlock(ifd0.texts, exif?.texts ?? []), userComment }
}

interface NumberReader {
  u16(bytes: Buffer, offset: number): number
  u32(bytes: Buffer, offset: number): number
}

function reader(isLittleEndian: boolean): NumberReader {
  return isLittleEndian
    ? { u16: (bytes, offset) => bytes.readUInt16LE(offset), u32: (bytes, offset) => bytes.readUInt32LE(offset) }
    : { u16: (bytes, offset) => bytes.readUInt16BE(offset), u32: (bytes, offset) => bytes.readUInt32BE(offset) }
}

async function readDirectory(
  source: TiffSource,
  number: NumberReader,
  offset: number,
  wanted: ReadonlySet<number>,
): Promise<Directory | Fault> {
  if (offset < HEADER_BYTES || offset + 2 > source.size) return { fault: 'a directory lies outside' }
  const count = number.u16(await source.read(offset, 2), 0)
  if (count > MAX_ENTRIES) return { fault: 'a directory has too many entries' }
  if (offset + 2 + count * ENTRY_BYTES > source.size) return { fault: 'a directory runs over the end' }
  const entries = await source.read(offset + 2, count * ENTRY_BYTES)

  const directory: Directory = { texts: [], exifOffset: null, userComment: null }
  const seen = new Set<number>()
  for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
    const tag = number.u16(entries, at)
    if (seen.has(tag)) continue
    seen.add(tag)
    if (tag === EXIF_POINTER && wanted === IFD0_TAGS) {
      if (!POINTER_TYPES.has(number.u16(entries, at + 2))) return { fault: 'the EXIF pointer is no pointer' }
      directory.exifOffset = number.u32(entries, at + 8)
    } else if (tag === USER_COMMENT && wanted === EXIF_TAGS) {
      directory.userComment = await readComment(source, number, entries.subarray(at, at + ENTRY_BYTES))
    } else if (wanted.has(tag)) {
      const bytes = await readText(source, number, entries.subarray(at, at + ENTRY_BYTES))
      if ('fault' in bytes && OPTIONAL_TAGS.has(tag)) continue
      if ('fault' in bytes) return bytes
      directory.texts.push({ tag, bytes })
    }
  }
  return directory
}

async function readText(source: TiffSource, number: NumberReader, entry: Buffer): Promise<Buffer | Fault> {
  if (!TEXT_TYPES.has(number.u16(entry, 2))) return { fault: 'a text tag holds no text' }
  const length = number.u32(entry, 4)
  if (length <= 4) return untilNul(entry.subarray(8, 8 + length))
  const offset = number.u32(entry, 8)
  if (offset + length > source.size) return { fault: 'a text runs over the end' }
  return untilNul(await source.read(offset, Math.min(length, MAX_TEXT_BYTES)))
}

// TIFF 6.0 section 2, EXIF 3.0 4.6.2: NUL ends a text. Cameras write into fields of a fixed size: the bytes after the
// NUL are remains of an earlier, longer text.
function untilNul(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0)
  return end === -1 ? bytes : bytes.subarray(0, end)
}

/** Null instead of a fault: the factors don't use the comment. */
async function readComment(source: TiffSource, number: NumberReader, entry: Buffer): Promise<Buffer | null> {
  const length = number.u32(entry, 4)
  const offset = number.u32(entry, 8)
  if (!TEXT_TYPES.has(number.u16(entry, 2)) || length <= 8 || offset + length > source.size) return null
  return source.read(offset, Math.min(length, MAX_COMMENT_BYTES))
}

/** TIFF 6.0 section 2, little-endian: the header, IFD0, the EXIF IFD, then the texts that don't fit into an entry. */
function writeBlock(ifd0: Text[], exif: Text[]): Uint8Array<ArrayBuffer> {
  const exifOffset = HEADER_BYTES + directoryBytes(ifd0.length + 1)
  const textsOffset = exifOffset + directoryBytes(exif.length)
  const long = [...ifd0, ...exif].filter(({ bytes }) => bytes.length > 4)
  // Never Buffer.from or concat: those share one ArrayBuffer with other Buffers, and exifr reads past the view.
  const block = new Uint8Array(textsOffset + long.reduce((sum, { bytes }) => sum + bytes.length, 0))
  const view = new DataView(block.buffer)
  let freeAt = textsOffset

  block.set([0x49, 0x49, 0x2a, 0])
  view.setUint32(4, HEADER_BYTES, true)
  writeDirectory(HEADER_BYTES, ifd0, exifOffset)
  writeDirectory(exifOffset, exif, null)
  return block

  function writeDirectory(offset: number, texts: Text[], pointer: number | null): void {
    view.setUint16(offset, texts.length + (pointer === null ? 0 : 1), true)
    let at = offset + 2
    for (const { tag, bytes } of texts) {
      writeEntry(at, tag, ASCII, bytes.length)
      block.set(bytes, bytes.length > 4 ? freeAt : at + 8)
      if (bytes.length > 4) {
        view.setUint32(at + 8, freeAt, true)
        freeAt += bytes.length
      }
      at += ENTRY_BYTES
    }
    if (pointer === null) return
    writeEntry(at, EXIF_POINTER, LONG, 1)
    view.setUint32(at + 8, pointer, true)
  }

  function writeEntry(at: number, tag: number, type: number, count: number): void {
    view.setUint16(at, tag, true)
    view.setUint16(at + 2, type, true)
    view.setUint32(at + 4, count, true)
  }
}

/** Count, entries and the offset of the next directory, which is 0: none. */
function directoryBytes(entries: number): number {
  return 2 + entries * ENTRY_BYTES + 4
}
