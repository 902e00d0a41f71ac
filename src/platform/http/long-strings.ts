// A photo inside of JSON is one string of megabytes. Reading it like the other members (UTF-8, grammar, schema,
// canonical form, hash) blocks the event loop for half a second. So long strings are taken out of the body piece by
// piece while it arrives, and decoded from base64. A token that no caller can guess takes the place of each.

import { createHash, randomBytes } from 'node:crypto'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { freeBytes, freeInline, type InlineBytes, joinBytes } from '#src/platform/owned-bytes.ts'

/** Strings of this many bytes or more are taken out: no member other than media may be so long. */
export const LONG_STRING_BYTES = 64 * 1024

export interface LongString extends InlineBytes {
  sha256: Buffer
}

export interface LongStrings {
  /**
   * Takes the next bytes of a body. Returns how many bytes the body has so far without its long strings. May free the chunk:
   * the caller does not read it again.
   */
  push(chunk: Buffer): number
  /** The body without its long strings, with a token in place of each. */
  end(): Buffer
  /** Frees what was taken, in place of `end`. */
  discard(): void
  /** The offset in the original body of a byte of the shortened one. */
  offsetOf(offset: number): number
  /**
   * The parsed value of the shortened body. The token stays at `pointer`, for `taken`. A string there that is not
   * base64 becomes one that is not base64 either, and a long string elsewhere becomes one that is longer than any other
   * member may be.
   */
  place(value: Json, pointer: string): Json
  /** What was taken out, by token. */
  taken: ReadonlyMap<string, LongString>
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const NO_BASE64 = '*'
const TOO_LONG = 'x'.repeat(LONG_STRING_BYTES)
// A member's name is never media. Findings cut it short.
const LONG_NAME = 'x'.repeat(1_024)

export function createLongStrings(): LongStrings {
  const kept: Buffer[] = []
  let keptBytes = 0
  // Chunks of which parts are kept.
  const received: Buffer[] = []
  const cuts: { at: number; removed: number }[] = []
  const found = new Map<string, LongString | undefined>()
  const taken = new Map<string, LongString>()
  // The string in which the last chunk ended: its bytes so far, or their decoder once it is long.
  let open: { pieces: Buffer[]; bytes: number; decoder: Base64Decoder | undefined } | undefined
  // Whether the last chunk ended with an odd number of backslashes.
  let isEscaped = false

  function keep(bytes: Buffer): void {
    if (bytes.length === 0) return
    kept.push(bytes)
    keptBytes += bytes.length
  }

  function addToOpen(bytes: Buffer): void {
    if (open === undefined) return
    open.bytes += bytes.length
    if (open.decoder === undefined) {
      open.pieces.push(bytes)
      if (open.bytes < LONG_STRING_BYTES) return
      open.decoder = createBase64Decoder()
      for (const piece of open.pieces.splice(0)) open.decoder.push(piece)
    } else {
      open.decoder.push(bytes)
    }
  }

  function closeOpen(): void {
    if (open === undefined) return
    const { pieces, bytes, decoder } = open
    open = undefined
    if (decoder === undefined) {
      for (const piece of pieces) keep(piece)
      return
    }
    const token = randomBytes(48).toString('base64')
    const decoded = decoder.end()
    found.set(token, decoded)
    if (decoded !== undefined) taken.set(token, decoded)
    keep(Buffer.from(token))
    cuts.push({ at: keptBytes, removed: bytes - token.length })
  }

  return {
    taken,
    push(chunk) {
      let from = 0
      let at = 0
      while (at < chunk.length) {
        if (open === undefined) {
          const quote = indexOfQuote(chunk, at)
          if (quote === -1) break
          at = quote + 1
          isEscaped = false
          const close = closingQuote(chunk, at, false)
          if (close !== -1 && close - at < LONG_STRING_BYTES) {
            at = close + 1
            continue
          }
          // It is long, or it continues in the next chunk and may become long.
          keep(chunk.subarray(from, at))
          open = { pieces: [], bytes: 0, decoder: undefined }
          from = at
        }
        const close = closingQuote(chunk, at, isEscaped)
        if (close === -1) {
          isEscaped = endsEscaped(chunk, at, chunk.length, isEscaped)
          addToOpen(chunk.subarray(at))
          if (at === 0 && open.decoder !== undefined) freeBytes(chunk)
          else received.push(chunk)
          return keptBytes
        }
        addToOpen(chunk.subarray(at, close))
        closeOpen()
        from = close
        at = close + 1
      }
      keep(chunk.subarray(from))
      received.push(chunk)
      return keptBytes
    },
    end() {
      closeOpen()
      const joined = joinBytes(kept)
      for (const chunk of received) if (chunk.buffer !== joined.buffer) freeBytes(chunk)
      return joined
    },
    discard() {
      open?.decoder?.discard()
      freeInline(taken.values())
      for (const chunk of received) freeBytes(chunk)
    },
    offsetOf: (offset) => cuts.reduce((sum, { at, removed }) => (offset >= at ? sum + removed : sum), offset),
    place(value, pointer) {
      return found.size === 0 ? value : placeIn(value, '', pointer, found)
    },
  }
}

// The built-in search costs nothing per byte but has a price per call, which hostile quotes would multiply.
const NEAR_BYTES = 64

function indexOfQuote(chunk: Buffer, at: number): number {
  const near = Math.min(chunk.length, at + NEAR_BYTES)
  for (let index = at; index < near; index += 1) if (chunk[index] === QUOTE) return index
  return near === chunk.length ? -1 : chunk.indexOf(QUOTE, near)
}

// The first quote from `at` that no backslash escapes.
function closingQuote(chunk: Buffer, at: number, isEscaped: boolean): number {
  for (let quote = indexOfQuote(chunk, at); quote !== -1; quote = indexOfQuote(chunk, quote + 1)) {
    if (!endsEscaped(chunk, at, quote, isEscaped)) return quote
  }
  return -1
}

// Whether the byte at `end` is escaped, in a string whose bytes start at `at`. Each backslash is read once: the run
// before a quote ends at it.
function endsEscaped(bytes: Buffer, at: number, end: number, isEscapedBefore: boolean): boolean {
  let start = end
  while (start > at && bytes[start - 1] === BACKSLASH) start -= 1
  const isOdd = (end - start) % 2 === 1
  return start === at && isEscapedBefore ? !isOdd : isOdd
}

// A container without such strings is returned as it is: most of a long manifest.
function placeIn(value: Json, at: string, pointer: string, found: ReadonlyMap<string, LongString | undefined>): Json {
  if (typeof value === 'string') {
    if (!found.has(value)) return value
    if (at !== pointer) return TOO_LONG
    return found.get(value) === undefined ? NO_BASE64 : value
  }
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) {
    const placed = value.map((one, index) => placeIn(one, `${at}/${index}`, pointer, found))
    return placed.every((one, index) => one === value[index]) ? value : placed
  }
  let isSame = true
  const placed: [string, Json][] = []
  for (const name of Object.keys(value)) {
    const before = value[name] as Json
    const after = placeIn(before, `${at}/${name}`, pointer, found)
    isSame &&= after === before && !found.has(name)
    placed.push([found.has(name) ? LONG_NAME : name, after])
  }
  return isSame ? value : Object.fromEntries(placed)
}

interface Base64Decoder {
  push(bytes: Buffer): void
  /** Undefined when it was not base64 (RFC 4648 4, padded). */
  end(): LongString | undefined
  /** Frees what it decoded. */
  discard(): void
}

// An escape that the next bytes continue. Base64 can contain only the escapes of "+", "/" and "=" (some libraries write
// them so), and never a backslash: an escape that looks incomplete may be passed on.
const CUT_ESCAPE = /\\(?:u[0-9a-fA-F]{0,3})?$/
const LONGEST_CUT = 5

function createBase64Decoder(): Base64Decoder {
  const pieces: Buffer[] = []
  const hash = createHash('sha256')
  let byteLength = 0
  let rest = ''
  let isValid = true

  function decode(text: string, padding: number): void {
    const piece = Buffer.from(text, 'base64')
    // The decoder skips characters that it does not know, and accepts base64url.
    if (piece.length !== (text.length / 4) * 3 - padding || text.includes('-') || text.includes('_')) isValid = false
    pieces.push(piece)
    hash.update(piece)
    byteLength += piece.length
  }

  function discard(): void {
    for (const piece of pieces) freeBytes(piece)
  }

  return {
    push(bytes) {
      if (!isValid) return
      let text = rest + bytes.toString('latin1')
      let cut = ''
      if (text.includes('\\')) {
        cut = CUT_ESCAPE.exec(text.slice(-LONGEST_CUT))?.[0] ?? ''
        const whole = unescaped(text.slice(0, text.length - cut.length))
        if (whole === undefined) isValid = false
        text = whole ?? ''
      }
      const whole = text.length - (text.length % 4)
      // The last four may contain the padding, which is known only at the end.
      const now = Math.max(0, whole === text.length ? whole - 4 : whole)
      if (isValid) decode(text.slice(0, now), 0)
      rest = text.slice(now) + cut
    },
    end() {
      if (rest.includes('\\')) rest = unescaped(rest) ?? '*'
      const padding = /={0,2}$/.exec(rest)?.[0].length ?? 0
      if (rest.length % 4 !== 0) isValid = false
      if (isValid) decode(rest, padding)
      if (isValid) return { byteLength, pieces, sha256: hash.digest() }
      discard()
      return undefined
    },
    discard,
  }
}

function unescaped(text: string): string | undefined {
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return undefined
  }
}
