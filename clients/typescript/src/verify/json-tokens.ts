// The scalars of the strict JSON scan: strings, numbers and words, and how a refusal says where it is.

export type JsonErrorCode =
  | 'malformed'
  | 'invalid_utf8'
  | 'duplicate_key'
  | 'lone_surrogate'
  | 'number_out_of_range'
  | 'too_deep'
  | 'too_many_values'

/** Where a text is refused, and why in words. */
export interface JsonPlace {
  /** In the text, in code units. */
  offset?: number
  /** RFC 6901: the nearest known place. */
  pointer?: string
  detail?: string
}

export class JsonError extends Error {
  readonly code: JsonErrorCode
  /** In the text; undefined for bytes that are no text, and for values. */
  readonly offset: number | undefined
  readonly pointer: string
  readonly detail: string

  constructor(code: JsonErrorCode, { offset, pointer = '', detail = code }: JsonPlace = {}) {
    super(offset === undefined ? code : `${code} at offset ${offset}`)
    this.name = 'JsonError'
    this.code = code
    this.offset = offset
    this.pointer = pointer
    this.detail = detail
  }
}

/** One pass over the text. `at` is the next code unit; `path[d]` is the key or index in the container at depth d. */
export interface Scan {
  readonly text: string
  readonly maxDepth: number
  readonly maxMembers: number
  readonly maxElements: number
  readonly maxValues: number
  readonly path: (string | number)[]
  readonly onNul: ((pointer: string, isName: boolean) => void) | undefined
  readonly piece: number
  at: number
  /** So far, as `maxValues` counts them. */
  values: number
  pauseAt: number
  /** Whether the last string so far has escapes, and U+0000 among them. */
  isEscaped: boolean
  hasNul: boolean
}

/** Returns whether the value has ended: a string that reaches `pauseAt` goes on with `continueString`. */
export function scanScalar(scan: Scan, depth: number): boolean {
  const { text } = scan
  const code = text.charCodeAt(scan.at)
  if (code === 0x22) return startString(scan, depth, false)
  if (code === 0x2d || isDigit(code)) scanNumber(scan, depth)
  else {
    const word = code === 0x74 ? 'true' : code === 0x66 ? 'false' : 'null'
    if (!text.startsWith(word, scan.at)) failExpected(scan, depth, 'a value')
    scan.at += word.length
  }
  return true
}

export function startString(scan: Scan, depth: number, isName: boolean): boolean {
  scan.at += 1
  scan.isEscaped = false
  scan.hasNul = false
  return continueString(scan, depth, isName)
}

/**
 * Reads a string on to its end, or to `pauseAt`. Returns whether it has ended. Decoded text can't contain a raw lone
 * surrogate; escapes can.
 */
export function continueString(scan: Scan, depth: number, isName: boolean): boolean {
  const { text, pauseAt } = scan
  let { at } = scan
  for (; at < pauseAt; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      scan.at = at + 1
      if (scan.hasNul) scan.onNul?.(pointerTo(scan.path.slice(0, depth)), isName)
      return true
    }
    if (code === 0x5c) {
      scan.isEscaped = true
      scan.at = at
      at = endOfEscape(scan, depth)
    } else if (!(code >= 0x20)) {
      // Also NaN, which charCodeAt returns past the end.
      scan.at = at
      failExpected(scan, depth, at < text.length ? 'an escape in place of a control character' : 'a closing quote')
    }
  }
  scan.at = at
  return false
}

// The index of the last code unit of the escape at `scan.at`; both halves of a surrogate pair are one.
function endOfEscape(scan: Scan, depth: number): number {
  const { text, at } = scan
  if (text.charCodeAt(at + 1) !== 0x75) {
    // The short escapes, of one letter.
    if (!'"\\/bfnrt'.includes(text[at + 1] ?? '?')) failExpected(scan, depth, 'a valid escape')
    return at + 1
  }
  const unit = readUnit(text, at + 2)
  if (unit === undefined) failExpected(scan, depth, 'a valid escape')
  scan.hasNul ||= unit === 0
  if (unit < 0xd800 || unit > 0xdfff) return at + 5
  const low = unit < 0xdc00 && text.startsWith('\\u', at + 6) ? readUnit(text, at + 8) : undefined
  if (low === undefined || low < 0xdc00 || low > 0xdfff) fail(scan, depth, 'lone_surrogate', 'a surrogate stands alone')
  return at + 11
}

// Four hexadecimal digits. No expression: it would be slow for a megabyte of escapes.
function readUnit(text: string, start: number): number | undefined {
  let unit = 0
  for (let index = start; index < start + 4; index += 1) {
    const code = text.charCodeAt(index)
    const lower = code | 0x20
    const digit = isDigit(code) ? code - 0x30 : lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : undefined
    if (digit === undefined) return undefined
    unit = unit * 16 + digit
  }
  return unit
}

// The reader does not know the field: many take numbers alone.
const NOT_PORTABLE =
  `not every reader takes the number for the same one: integers are at most ${Number.MAX_SAFE_INTEGER}, ` +
  'and larger ones can be sent only to fields that take them as strings'
const TOO_SMALL = 'no double but 0 is as near to 0 as the number; 0 itself must be written without digits other than 0'

function scanNumber(scan: Scan, depth: number): void {
  const { text } = scan
  const start = scan.at
  if (text.charCodeAt(scan.at) === 0x2d) scan.at += 1
  const firstDigit = text.charCodeAt(scan.at)
  const integerDigits = skipDigits(scan, depth)
  if (firstDigit === 0x30 && integerDigits > 1) {
    scan.at = start
    failExpected(scan, depth, 'a number without leading zeros')
  }
  let fractionDigits = 0
  if (text.charCodeAt(scan.at) === 0x2e) {
    scan.at += 1
    fractionDigits = skipDigits(scan, depth)
  }
  let hasExponent = false
  if ((text.charCodeAt(scan.at) | 0x20) === 0x65) {
    hasExponent = true
    const sign = text.charCodeAt(scan.at + 1)
    scan.at += sign === 0x2b || sign === 0x2d ? 2 : 1
    skipDigits(scan, depth)
  }
  // 15 digits are always below 2^53, and 300 places of a fraction always above the smallest double.
  if (integerDigits <= 15 && fractionDigits <= 300 && !hasExponent) return
  if (!isPortable(text.slice(start, scan.at), fractionDigits > 0 || hasExponent)) {
    const detail = Number(text.slice(start, scan.at)) === 0 ? TOO_SMALL : NOT_PORTABLE
    scan.at = start
    fail(scan, depth, 'number_out_of_range', detail)
  }
}

// RFC 7493 2.2. Between 2^53 and 1e21 RFC 8785 writes plain digits, which this parser would then refuse.
function isPortable(literal: string, isFloat: boolean): boolean {
  const value = Number(literal)
  // 1e-400 is not 0: an amount must not vanish.
  if (value === 0) return digitsOf(literal) === ''
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return true
  // The text of an infinite value has letters only.
  return isFloat && Math.abs(value) >= 1e21 && digitsOf(literal) === digitsOf(String(value))
}

// Significant digits, without sign, point, exponent and outer zeros. No `/0+$/`: it is quadratic on hostile zeros.
function digitsOf(literal: string): string {
  const digits = literal.replace(/e.*/i, '').replace(/[-.]/g, '')
  let start = 0
  let end = digits.length
  while (digits[start] === '0') start += 1
  while (end > start && digits[end - 1] === '0') end -= 1
  return digits.slice(start, end)
}

function skipDigits(scan: Scan, depth: number): number {
  const start = scan.at
  while (isDigit(scan.text.charCodeAt(scan.at))) scan.at += 1
  if (scan.at === start) failExpected(scan, depth, 'a digit')
  return scan.at - start
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

export function skipSpace(scan: Scan): void {
  const { text } = scan
  for (;;) {
    const code = text.charCodeAt(scan.at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
    scan.at += 1
  }
}

export function failExpected(scan: Scan, depth: number, expected: string): never {
  fail(
    scan,
    depth,
    'malformed',
    scan.at < scan.text.length ? `expected ${expected}` : `ends where ${expected} should be`,
  )
}

export function failLength(scan: Scan, depth: number, isObject: boolean): never {
  const detail = isObject ? `has more than ${scan.maxMembers} members` : `has more than ${scan.maxElements} items`
  throw new JsonError('too_many_values', { pointer: pointerTo(scan.path.slice(0, depth)), detail })
}

export function failValues(scan: Scan): never {
  throw new JsonError('too_many_values', { detail: `has more than ${scan.maxValues} values` })
}

export function fail(scan: Scan, depth: number, code: JsonErrorCode, detail: string): never {
  throw new JsonError(code, { offset: scan.at, pointer: pointerTo(scan.path.slice(0, depth)), detail })
}

// A hostile key may be a megabyte long, or contain U+0000, which the storage of a finding may reject: the pointer then
// ends at the nearest ancestor.
const MAX_POINTER_LENGTH = 512

function pointerTo(path: readonly (string | number)[]): string {
  let pointer = ''
  for (const token of path) {
    const step = String(token).slice(0, MAX_POINTER_LENGTH + 1)
    const next = `${pointer}/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (next.length > MAX_POINTER_LENGTH || step.includes('\0')) break
    pointer = next
  }
  return pointer
}
