// The strict half of `parseJson`: one pass that builds nothing and reports only by throwing. It checks the grammar of
// RFC 8259 and the restrictions of RFC 7493, because the built-in parser keeps the last of two equal names, rounds
// integers and never reports where.

import { Failure } from '#src/failure.ts'

export type JsonErrorCode =
  | 'malformed'
  | 'invalid_utf8'
  | 'duplicate_key'
  | 'lone_surrogate'
  | 'number_out_of_range'
  | 'too_deep'

/**
 * Returns if the text is one I-JSON value with at most `maxDepth` nested containers.
 * @throws {Failure} `invalid_json`
 */
export function scanJson(text: string, maxDepth: number, offsetOf = (offset: number) => offset): void {
  const scan: Scan = { text, at: 0, maxDepth, path: [], offsetOf }
  if (text.charCodeAt(0) === 0xfeff) fail(scan, 0, 'malformed', 'a byte order mark is not allowed')
  skipSpace(scan)
  if (scan.at === text.length) fail(scan, 0, 'malformed', 'there is no JSON value')
  scanValue(scan, 0)
  skipSpace(scan)
  if (scan.at < text.length) fail(scan, 0, 'malformed', 'text follows the JSON value')
}

/** The refusal of a body: `offset` in bytes, `pointer` as in RFC 6901. */
export function invalidJson(
  pointer: string,
  code: JsonErrorCode,
  detail: string,
  offset: number,
  cause?: unknown,
): Failure {
  const place = pointer === '' ? '' : ` in ${pointer}`
  return new Failure('invalid_json', {
    detail: `The JSON is refused at byte ${offset}${place}: ${detail}.`,
    errors: [{ pointer, code, detail: `${detail} (byte ${offset})` }],
    cause,
  })
}

/** One pass over the text. `at` is the next code unit; `path[d]` is the key or index in the container at depth d. */
interface Scan {
  readonly text: string
  readonly maxDepth: number
  readonly path: (string | number)[]
  readonly offsetOf: (offset: number) => number
  at: number
}

function scanValue(scan: Scan, depth: number): void {
  const { text } = scan
  const code = text.charCodeAt(scan.at)
  if (code === 0x22) scanString(scan, depth)
  else if (code === 0x7b) scanObject(scan, depth)
  else if (code === 0x5b) scanArray(scan, depth)
  else if (code === 0x2d || isDigit(code)) scanNumber(scan, depth)
  else {
    const word = code === 0x74 ? 'true' : code === 0x66 ? 'false' : code === 0x6e ? 'null' : undefined
    if (word === undefined || !text.startsWith(word, scan.at)) failExpected(scan, depth, 'a value')
    scan.at += word.length
  }
}

function scanObject(scan: Scan, depth: number): void {
  enter(scan, depth)
  if (scan.text.charCodeAt(scan.at) === 0x7d) {
    scan.at += 1
    return
  }
  const keys = new Set<string>()
  for (;;) {
    if (scan.text.charCodeAt(scan.at) !== 0x22) failExpected(scan, depth, 'a key in double quotes')
    const keyAt = scan.at
    const isEscaped = scanString(scan, depth)
    const raw = scan.text.slice(keyAt + 1, scan.at - 1)
    const key = isEscaped ? (JSON.parse(`"${raw}"`) as string) : raw
    scan.path[depth] = key
    if (keys.has(key)) {
      scan.at = keyAt
      fail(scan, depth + 1, 'duplicate_key', 'the name appears twice in one object')
    }
    keys.add(key)
    skipSpace(scan)
    if (scan.text.charCodeAt(scan.at) !== 0x3a) failExpected(scan, depth + 1, 'a colon')
    scan.at += 1
    skipSpace(scan)
    scanValue(scan, depth + 1)
    if (isLast(scan, depth, 0x7d)) return
  }
}

function scanArray(scan: Scan, depth: number): void {
  enter(scan, depth)
  if (scan.text.charCodeAt(scan.at) === 0x5d) {
    scan.at += 1
    return
  }
  for (let index = 0; ; index += 1) {
    scan.path[depth] = index
    scanValue(scan, depth + 1)
    if (isLast(scan, depth, 0x5d)) return
  }
}

function enter(scan: Scan, depth: number): void {
  if (depth >= scan.maxDepth) fail(scan, depth, 'too_deep', `more than ${scan.maxDepth} levels`)
  scan.at += 1
  skipSpace(scan)
}

// After a member or element: true at the closing bracket, false at the comma before the next one.
function isLast(scan: Scan, depth: number, close: number): boolean {
  skipSpace(scan)
  const code = scan.text.charCodeAt(scan.at)
  if (code !== close && code !== 0x2c) failExpected(scan, depth, `a comma or ${String.fromCharCode(close)}`)
  scan.at += 1
  if (code === close) return true
  skipSpace(scan)
  return false
}

// Returns whether the string has escapes. Decoded text can't contain a raw lone surrogate; escapes can.
function scanString(scan: Scan, depth: number): boolean {
  const { text } = scan
  let isEscaped = false
  for (let at = scan.at + 1; ; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      scan.at = at + 1
      return isEscaped
    }
    if (code === 0x5c) {
      isEscaped = true
      scan.at = at
      at = endOfEscape(scan, depth)
    } else if (!(code >= 0x20)) {
      // Also NaN, which charCodeAt returns past the end.
      scan.at = at
      failExpected(scan, depth, at < text.length ? 'an escape in place of a control character' : 'a closing quote')
    }
  }
}

const ESCAPE = /\\(?:["\\/bfnrt]|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u([0-9a-fA-F]{4}))/y

// The index of the last code unit of the escape at `scan.at`; both halves of a surrogate pair are one.
function endOfEscape(scan: Scan, depth: number): number {
  ESCAPE.lastIndex = scan.at
  const match = ESCAPE.exec(scan.text)
  if (match === null) failExpected(scan, depth, 'a valid escape')
  // A surrogate that the pair's pattern did not match is a lone one.
  if (match[1] !== undefined && /^d[89a-f]/i.test(match[1])) {
    fail(scan, depth, 'lone_surrogate', 'a surrogate stands alone')
  }
  return ESCAPE.lastIndex - 1
}

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
  let hasFraction = false
  if (text.charCodeAt(scan.at) === 0x2e) {
    hasFraction = true
    scan.at += 1
    skipDigits(scan, depth)
  }
  let hasExponent = false
  if ((text.charCodeAt(scan.at) | 0x20) === 0x65) {
    hasExponent = true
    const sign = text.charCodeAt(scan.at + 1)
    scan.at += sign === 0x2b || sign === 0x2d ? 2 : 1
    skipDigits(scan, depth)
  }
  // 15 digits are always below 2^53.
  if (integerDigits <= 15 && !hasExponent) return
  if (!isPortable(text.slice(start, scan.at), hasFraction || hasExponent)) {
    scan.at = start
    fail(scan, depth, 'number_out_of_range', 'the number has no exact place in a double; send it as a string')
  }
}

// RFC 7493 2.2. Between 2^53 and 1e21 RFC 8785 writes plain digits, which this parser would then refuse.
function isPortable(literal: string, isFloat: boolean): boolean {
  const value = Number(literal)
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return true
  return isFloat && Math.abs(value) >= 1e21 && Number.isFinite(value) && digitsOf(literal) === digitsOf(String(value))
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

function skipSpace(scan: Scan): void {
  const { text } = scan
  for (;;) {
    const code = text.charCodeAt(scan.at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
    scan.at += 1
  }
}

function failExpected(scan: Scan, depth: number, expected: string): never {
  fail(
    scan,
    depth,
    'malformed',
    scan.at < scan.text.length ? `expected ${expected}` : `ends where ${expected} should be`,
  )
}

function fail(scan: Scan, depth: number, code: JsonErrorCode, detail: string): never {
  const offset = scan.offsetOf(Buffer.byteLength(scan.text.slice(0, scan.at)))
  throw invalidJson(pointerTo(scan.path.slice(0, depth)), code, detail, offset)
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
