// The part of DER (X.690) that certificates need: definite lengths in their shortest form, one-byte tags. Throws on
// everything else, so that the same bytes can't be read in two ways.

export interface Element {
  /** The identifier octet: 0x30 is a SEQUENCE, 0xa3 a constructed [3]. */
  readonly tag: number
  readonly content: Buffer
  /** Tag, length and content. */
  readonly bytes: Buffer
}

/**
 * The consecutive elements of `bytes`, which they fill completely.
 * @throws {RangeError}
 */
export function readDerElements(bytes: Buffer): Element[] {
  const elements: Element[] = []
  for (let at = 0; at < bytes.length; ) {
    const element = readElement(bytes, at)
    elements.push(element)
    at += element.bytes.length
  }
  return elements
}

/**
 * The single element in `bytes`.
 * @throws {RangeError} also when bytes follow it, or its tag is different.
 */
export function readOnly(bytes: Buffer, tag: number): Element {
  const element = readElement(bytes, 0)
  if (element.bytes.length !== bytes.length) throw new RangeError('bytes follow the DER element')
  return expectTag(element, tag)
}

/** @throws {RangeError} when there is no element, or its tag is different. */
export function expectTag(element: Element | undefined, tag: number): Element {
  if (element?.tag !== tag) throw new RangeError(`expected the DER tag 0x${tag.toString(16)}`)
  return element
}

// The longest in use have about 20 bytes. Writing an arc of 16 KiB in decimal would block the event loop for 65 ms.
const MAX_OID_BYTES = 64

/**
 * An OBJECT IDENTIFIER's content in dotted form.
 * @throws {RangeError} when it is longer than 64 bytes, or its last arc is incomplete.
 */
export function formatOid(content: Buffer): string {
  if (content.length > MAX_OID_BYTES) throw new RangeError('an absurd object identifier')
  if ((content.at(-1) ?? 0x80) >= 0x80) throw new RangeError('an unfinished object identifier')
  const arcs: bigint[] = []
  let arc = 0n
  for (const byte of content) {
    arc = (arc << 7n) | BigInt(byte & 0x7f)
    if (byte >= 0x80) continue
    arcs.push(arc)
    arc = 0n
  }
  const [first = 0n, ...rest] = arcs
  const root = first < 80n ? first / 40n : 2n
  return [root, first - root * 40n, ...rest].join('.')
}

function readElement(bytes: Buffer, at: number): Element {
  const tag = bytes[at]
  if (tag === undefined) throw new RangeError('the DER ends where an element should begin')
  if ((tag & 0x1f) === 0x1f) throw new RangeError('a DER tag of several bytes')
  const { length, contentAt } = readLength(bytes, at + 1)
  const end = contentAt + length
  if (end > bytes.length) throw new RangeError('the DER is truncated')
  return { tag, content: bytes.subarray(contentAt, end), bytes: bytes.subarray(at, end) }
}

function readLength(bytes: Buffer, at: number): { length: number; contentAt: number } {
  const first = bytes[at]
  if (first === undefined) throw new RangeError('the DER is truncated')
  if (first < 0x80) return { length: first, contentAt: at + 1 }
  const count = first & 0x7f
  if (count === 0 || count > 4 || at + 1 + count > bytes.length) throw new RangeError('an invalid DER length')
  const length = bytes.readUIntBE(at + 1, count)
  if (length < 0x80 || length < 2 ** (8 * (count - 1))) throw new RangeError('a DER length longer than needed')
  return { length, contentAt: at + 1 + count }
}
