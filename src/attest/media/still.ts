// Only still pictures are accepted: a result is about one picture, and a viewer would show others. One rule for all formats that
// can move: APNG, animated WebP, sequences in AVIF and HEIC.

import { text, u32 } from './byte-source.ts'
import { type MediaType, readBrands } from './sniff.ts'

export const ANIMATED = 'it is animated, and only still pictures are accepted'

/** ISO/IEC 23008-12 10.2 and AV1 Image File Format 6.3: files with a sequence of pictures have one of these. */
const SEQUENCE_BRANDS: ReadonlySet<string> = new Set(['msf1', 'hevc', 'hevx', 'hevm', 'hevs', 'avis'])
/** Whether a picture is still, from its first bytes; undefined when they don't suffice. */
export function isStill(type: MediaType, head: Uint8Array): boolean | undefined {
  switch (type) {
    case 'image/png':
      return isStillPng(head)
    case 'image/webp':
      return isStillWebp(head)
    case 'image/avif':
    case 'image/heic':
      return !readBrands(head).some((brand) => SEQUENCE_BRANDS.has(brand))
    default:
      return true
  }
}

// PNG (third edition) 11.3.6: acTL comes before IDAT, and without it further frames are ignored.
function isStillPng(head: Uint8Array): boolean | undefined {
  for (let at = 8; at + 8 <= head.length; at += 12 + u32(head, at, false)) {
    const type = text(head, at + 4, at + 8)
    if (type === 'acTL') return false
    if (type === 'IDAT' || type === 'IEND') return true
  }
  return undefined
}

// RFC 9649 2.7.1: a flag of the extended header announces frames.
function isStillWebp(head: Uint8Array): boolean | undefined {
  const flags = head[20]
  if (flags === undefined) return undefined
  return text(head, 12, 16) !== 'VP8X' || (flags & 0x02) === 0
}
