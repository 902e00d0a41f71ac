// Finds out whether a file holds a C2PA manifest, so that the reader starts only for those that do. Reads only the
// headers of the file's parts: a bounded number of small reads, whatever the file declares.

import { type ByteSource, type Peek, text, u16, u32, windowed } from './byte-source.ts'
import { SNIFF_BYTES, sniffType } from './sniff.ts'

export interface C2paScan {
  /**
   * `too_many_parts`: more parts than are examined, and none of those examined is a manifest. `unknown_format`: no
   * accepted media type.
   */
  state: 'present' | 'absent' | 'too_many_parts' | 'unknown_format'
  /** Size of the file in bytes. */
  size: number
}

// Photos have tens of parts. A PNG photo of 20 MB has thousands of IDAT chunks, but the manifest stands before them.
export const MAX_PARTS = 1_000
/**
 * The 250,000 fragments that a video may have (docs/attest/video.md), each with `styp`, `sidx`, `moof` and `mdat`. Walking so many
 * takes up to two seconds of processor time, as long as hashing 2 GiB.
 */
export const MAX_FRAGMENT_BOXES = 1_000_000
const MAX_DIRECTORIES = 16
const MAX_ENTRIES = 1_000

type Found = C2paScan['state']

export function scanForC2pa(source: ByteSource): C2paScan {
  const at = windowed(source)
  return { state: scan(at, source.size), size: source.size }
}

function scan(at: Peek, size: number): Found {
  switch (sniffType(at(0, SNIFF_BYTES))) {
    case 'image/jpeg':
      return scanJpeg(at, size)
    case 'image/png':
      return scanPng(at, size)
    case 'image/webp':
      return scanRiff(at, size)
    case 'image/tiff':
      return scanTiff(at, size)
    case 'image/heic':
    case 'image/avif':
      return scanBoxes(at, size, 0)
    case 'video/mp4':
    case 'video/quicktime':
      return scanBoxes(at, size, MAX_FRAGMENT_BOXES)
    // C2PA 2.2 A.3 defines no place in Matroska.
    case 'video/webm':
      return 'absent'
    default:
      return 'unknown_format'
  }
}

// C2PA 2.2 A.3.1: APP11 segments of JPEG XT boxes (ISO/IEC 18477-3), whose superbox has the content type of a manifest store.
function scanJpeg(at: Peek, size: number): Found {
  let offset = 2
  for (let part = 0; part < MAX_PARTS; part += 1) {
    const head = at(offset, 44)
    if (head.length < 4 || head[0] !== 0xff) return 'absent'
    const marker = head[1] ?? 0
    if (marker === 0xff) {
      offset += 1
      continue
    }
    // The image data begins; a manifest can't follow it.
    if (marker === 0xda || marker === 0xd9) return 'absent'
    if (marker === 0xeb && isManifestPacket(head)) return 'present'
    const isBare = marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)
    const length = isBare ? 0 : u16(head, 2, false)
    if (!isBare && length < 2) return 'absent'
    offset += 2 + length
    if (offset >= size) return 'absent'
  }
  return 'too_many_parts'
}

// Marker, length, 'JP', instance, packet number, then the box; a long box has eight more bytes of length.
function isManifestPacket(head: Uint8Array): boolean {
  const isBox = text(head, 4, 6) === 'JP' && text(head, 16, 20) === 'jumb'
  return isBox && (text(head, 28, 32) === 'c2pa' || text(head, 36, 40) === 'c2pa')
}

// C2PA 2.2 A.3.2: one caBX chunk, before the image data.
function scanPng(at: Peek, size: number): Found {
  let offset = 8
  for (let part = 0; part < MAX_PARTS; part += 1) {
    const head = at(offset, 8)
    if (head.length < 8) return 'absent'
    const type = text(head, 4, 8)
    if (type === 'caBX') return 'present'
    if (type === 'IDAT' || type === 'IEND') return afterData(at, offset, size)
    offset += 12 + u32(head, 0, false)
  }
  return 'too_many_parts'
}

// Readers accept a chunk in the wrong place too. A chunk beyond this many others is not searched for.
function afterData(at: Peek, from: number, size: number): Found {
  let offset = from
  for (let part = 0; part < MAX_PARTS && offset < size; part += 1) {
    const head = at(offset, 8)
    if (head.length < 8) return 'absent'
    if (text(head, 4, 8) === 'caBX') return 'present'
    offset += 12 + u32(head, 0, false)
  }
  return 'absent'
}

// C2PA 2.2 A.3.6: a chunk of its own. RIFF chunks are padded to even sizes.
function scanRiff(at: Peek, size: number): Found {
  let offset = 12
  for (let part = 0; part < MAX_PARTS; part += 1) {
    const head = at(offset, 8)
    if (head.length < 8) return 'absent'
    if (text(head, 0, 4) === 'C2PA') return 'present'
    const length = u32(head, 4, true)
    offset += 8 + length + (length % 2)
    if (offset >= size) return 'absent'
  }
  return 'too_many_parts'
}

const MANIFEST_BOX = 'd8fec3d61b0e483c92975828877ec481'
// What recorders write for each fragment: ISO/IEC 14496-12 8.8 and 8.16, and DASH events.
const FRAGMENT_BOXES = new Set(['moof', 'mdat', 'styp', 'sidx', 'ssix', 'prft', 'emsg'])

// C2PA 2.2 A.5: a uuid box at the top level. ISO/IEC 14496-12 4.2: size 1 has the size behind the type, size 0 ends the file.
function scanBoxes(at: Peek, size: number, maxFragmentBoxes: number): Found {
  let offset = 0
  let parts = 0
  let fragmentBoxes = 0
  while (parts < MAX_PARTS) {
    const head = at(offset, 32)
    if (head.length < 8) return 'absent'
    const type = text(head, 4, 8)
    if (fragmentBoxes < maxFragmentBoxes && FRAGMENT_BOXES.has(type)) fragmentBoxes += 1
    else parts += 1
    const short = u32(head, 0, false)
    const isLong = short === 1
    const length = isLong ? u32(head, 8, false) * 2 ** 32 + u32(head, 12, false) : short
    const body = isLong ? 16 : 8
    if (type === 'uuid' && Buffer.from(head.subarray(body, body + 16)).toString('hex') === MANIFEST_BOX) {
      return 'present'
    }
    if (length < body) return 'absent'
    offset += length
    if (offset >= size) return 'absent'
  }
  return 'too_many_parts'
}

const MANIFEST_TAG = 0xcd41

// C2PA 2.2 A.3.4: a tag of a directory. TIFF 6.0 section 2: each directory names the next.
function scanTiff(at: Peek, size: number): Found {
  const header = at(0, 8)
  const isLittle = header[0] === 0x49
  let offset = u32(header, 4, isLittle)
  for (let directory = 0; directory < MAX_DIRECTORIES; directory += 1) {
    if (offset < 8 || offset + 2 > size) return 'absent'
    const count = u16(at(offset, 2), 0, isLittle)
    if (count > MAX_ENTRIES) return 'too_many_parts'
    for (let entry = 0; entry < count; entry += 1) {
      const head = at(offset + 2 + entry * 12, 12)
      if (head.length < 12) return 'absent'
      if (u16(head, 0, isLittle) === MANIFEST_TAG) return 'present'
    }
    const next = at(offset + 2 + count * 12, 4)
    if (next.length < 4) return 'absent'
    offset = u32(next, 0, isLittle)
  }
  return 'too_many_parts'
}
