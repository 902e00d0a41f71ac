// The lists in Android's attestation extension use tag numbers up to 2^20 and gain new ones with each release. This
// parser accepts what der.ts refuses: multi-byte identifiers, and unknown elements. Lengths stay definite.

export interface Tagged {
  /** X.690 8.1.2.2: 0 universal, 1 application, 2 context-specific, 3 private. */
  readonly tagClass: number
  readonly isConstructed: boolean
  readonly number: number
  readonly content: Buffer
}

/**
 * The consecutive elements in `bytes`, with no bytes left over. Takes linear time for any input.
 * @throws {RangeError}
 */
export function readTagged(bytes: Buffer): Tagged[] {
  const elements: Tagged[] = []
  for (let at = 0; at < bytes.length; ) {
    const { end, ...element } = readOne(bytes, at)
    elements.push(element)
    at = end
  }
  return elements
}

function readOne(bytes: Buffer, start: number): Tagged & { end: number } {
  const first = byteAt(bytes, start)
  const { number, at: lengthAt } = readNumber(bytes, start, first & 0x1f)
  const { length, at: contentAt } = readLength(bytes, lengthAt)
  const end = contentAt + length
  if (end > bytes.length) throw new RangeError('the element is truncated')
  return {
    tagClass: first >> 6,
    isConstructed: (first & 0x20) !== 0,
    number,
    content: bytes.subarray(contentAt, end),
    end,
  }
}

// Three bytes of seven bits: Android's tags end at 2^20.
const MAX_NUMBER_BYTES = 3

function readNumber(bytes: Buffer, start: number, low: number): { number: number; at: number } {
  if (low !== 0x1f) return { number: low, at: start + 1 }
  let number = 0
  for (let at = start + 1; at <= start + MAX_NUMBER_BYTES; at += 1) {
    const byte = byteAt(bytes, at)
    number = number * 128 + (byte & 0x7f)
    if (byte < 0x80) return { number, at: at + 1 }
  }
  throw new RangeError('an absurd tag number')
}

function readLength(bytes: Buffer, at: number): { length: number; at: number } {
  const first = byteAt(bytes, at)
  if (first < 0x80) return { length: first, at: at + 1 }
  const count = first & 0x7f
  if (count === 0 || count > 4 || at + 1 + count > bytes.length) throw new RangeError('an invalid length')
  return { length: bytes.readUIntBE(at + 1, count), at: at + 1 + count }
}

function byteAt(bytes: Buffer, at: number): number {
  const byte = bytes[at]
  if (byte === undefined) throw new RangeError('the bytes end where an element should go on')
  return byte
}
