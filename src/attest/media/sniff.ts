// Detects the type of a file from its first bytes alone: the declared type and the name come from the sender. Pure and
// bounded: it reads a few fixed places and walks only structures that the head contains whole.

export type MediaKind = 'image' | 'video'

/** All accepted types, with the extension of a download. */
export const MEDIA_TYPES = {
  'image/jpeg': { kind: 'image', extension: 'jpg' },
  'image/png': { kind: 'image', extension: 'png' },
  'image/webp': { kind: 'image', extension: 'webp' },
  'image/heic': { kind: 'image', extension: 'heic' },
  'image/avif': { kind: 'image', extension: 'avif' },
  'image/tiff': { kind: 'image', extension: 'tif' },
  'video/mp4': { kind: 'video', extension: 'mp4' },
  'video/quicktime': { kind: 'video', extension: 'mov' },
  'video/webm': { kind: 'video', extension: 'webm' },
} as const satisfies Record<string, { kind: MediaKind; extension: string }>

export type MediaType = keyof typeof MEDIA_TYPES

export function isMediaType(text: string): text is MediaType {
  return Object.hasOwn(MEDIA_TYPES, text)
}

/** Enough of a file for `sniffType` to be certain; with fewer bytes `undefined` may mean "not yet". */
export const SNIFF_BYTES = 1024

/** The type that the magic bytes indicate; `undefined` when it is not accepted. */
export function sniffType(head: Uint8Array): MediaType | undefined {
  if (startsWith(head, [0xff, 0xd8, 0xff])) return 'image/jpeg'
  if (startsWith(head, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'image/png'
  if (ascii(head, 0, 4) === 'RIFF' && ascii(head, 8, 12) === 'WEBP') return 'image/webp'
  // TIFF 6.0 section 2: byte order, then 42 in that order.
  if (startsWith(head, [0x49, 0x49, 0x2a, 0x00]) || startsWith(head, [0x4d, 0x4d, 0x00, 0x2a])) return 'image/tiff'
  if (startsWith(head, [0x1a, 0x45, 0xdf, 0xa3])) return sniffEbml(head)
  return sniffBoxes(head)
}

const HEIC_BRANDS = new Set(['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs'])
const AVIF_BRANDS = new Set(['avif', 'avis'])
// ISO/IEC 23008-12: these brands mean "an image in boxes"; the compatible brands name the codec.
const STRUCTURAL_BRANDS = new Set(['mif1', 'mif2', 'msf1', 'miaf'])
const MP4_BRANDS =
  /^(?:iso[m2-9a-c]|mp4[12]|avc1|hvc1|hev1|av01|M4V |M4VH|M4VP|MSNV|dash|cmf[2cfs]|f4v |NDS[CHMPSX]|XAVC|3gp[4-9]|3g2[a-c])$/
// Sound and raw photos, which are accepted as nothing, name a brand of MP4 among the compatible ones.
const OTHER_BRANDS = new Set(['M4A ', 'M4B ', 'M4P ', 'F4A ', 'F4B ', 'aax ', 'aaxc', 'crx '])
// QuickTime files older than ftyp begin with one of these atoms.
const QUICKTIME_ATOMS = new Set(['moov', 'mdat', 'pnot'])
// ISO/IEC 14496-12 8.1.2, QuickTime File Format "Overview of Movie Resource Formatting": they may stand before any box.
const PADDING = new Set(['free', 'skip', 'wide'])

function sniffBoxes(head: Uint8Array): MediaType | undefined {
  const at = behindPadding(head)
  if (QUICKTIME_ATOMS.has(ascii(head, at + 4, at + 8))) return 'video/quicktime'
  const brands = readBrands(head)
  if (brands.some((brand, index) => index === 0 && OTHER_BRANDS.has(brand))) return undefined
  for (const brand of brands) {
    const type = typeOfBrand(brand)
    if (type !== undefined) return type
    if (!STRUCTURAL_BRANDS.has(brand)) continue
    if (brands.some((one) => AVIF_BRANDS.has(one))) return 'image/avif'
    return brands.some((one) => HEIC_BRANDS.has(one)) ? 'image/heic' : undefined
  }
  return undefined
}

/**
 * The brands of a file in boxes, the major one first; empty where the head does not hold them all. ISO/IEC 14496-12 4.3: size,
 * 'ftyp', major brand, minor version, compatible brands.
 */
export function readBrands(head: Uint8Array): string[] {
  const at = behindPadding(head)
  if (ascii(head, at + 4, at + 8) !== 'ftyp') return []
  const size = sizeAt(head, at)
  const end = at + size
  if (size < 16 || end > Math.min(SNIFF_BYTES, head.byteLength)) return []
  const brands = [ascii(head, at + 8, at + 12)]
  for (let from = at + 16; from + 4 <= end; from += 4) brands.push(ascii(head, from, from + 4))
  return brands
}

function behindPadding(head: Uint8Array): number {
  let at = 0
  while (PADDING.has(ascii(head, at + 4, at + 8))) {
    const size = sizeAt(head, at)
    if (size < 8 || at + size > SNIFF_BYTES) return head.byteLength
    at += size
  }
  return at
}

const sizeAt = (head: Uint8Array, at: number): number =>
  new DataView(head.buffer, head.byteOffset, head.byteLength).getUint32(at)

function typeOfBrand(brand: string): MediaType | undefined {
  if (HEIC_BRANDS.has(brand)) return 'image/heic'
  if (AVIF_BRANDS.has(brand)) return 'image/avif'
  if (brand === 'qt  ') return 'video/quicktime'
  return MP4_BRANDS.test(brand) ? 'video/mp4' : undefined
}

// RFC 8794 section 11.2: the EBML header's children in any order; DocType (0x4282) tells WebM from other Matroska.
function sniffEbml(head: Uint8Array): MediaType | undefined {
  const header = readVint(head, 4)
  if (header === undefined) return undefined
  const end = Math.min(header.next + header.value, head.byteLength, SNIFF_BYTES)
  let at = header.next
  while (at + 2 < end) {
    const isDocType = head[at] === 0x42 && head[at + 1] === 0x82
    const size = readVint(head, at + idLength(head[at] ?? 0))
    if (size === undefined) return undefined
    at = size.next + size.value
    if (!isDocType) continue
    // The head may end inside a longer name, and hold only its first letters.
    const isWhole = at <= head.byteLength
    return isWhole && ascii(head, size.next, at).replace(/\0+$/, '') === 'webm' ? 'video/webm' : undefined
  }
  return undefined
}

const idLength = (first: number): number => Math.max(1, Math.clz32(first) - 23)

// RFC 8794 section 4: the number of leading zero bits is the number of bytes that follow. Headers are short: four bytes
// of value at most.
function readVint(bytes: Uint8Array, at: number): { value: number; next: number } | undefined {
  const first = bytes[at] ?? 0
  const extra = Math.clz32(first) - 24
  if (extra > 7 || at + extra >= bytes.byteLength) return undefined
  let value = first & (0x7f >> extra)
  for (let i = 1; i <= extra; i += 1) value = value * 256 + (bytes[at + i] ?? 0)
  return { value, next: at + extra + 1 }
}

const startsWith = (bytes: Uint8Array, magic: number[]): boolean => magic.every((byte, i) => bytes[i] === byte)

const ascii = (bytes: Uint8Array, from: number, to: number): string =>
  String.fromCharCode(...bytes.subarray(from, Math.min(to, from + 64)))
