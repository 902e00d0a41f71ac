// Parses I-JSON (RFC 7493): what two parsers could read differently is refused. `JSON.parse` keeps the last of two equal
// names and rounds integers, so that a signature over the text would cover another value than the one that is read.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

export type JsonErrorCode =
  | 'malformed'
  | 'invalid_utf8'
  | 'duplicate_key'
  | 'lone_surrogate'
  | 'number_out_of_range'
  | 'too_deep'

export class JsonError extends Error {
  readonly code: JsonErrorCode
  /** In the text; undefined for bytes that are no text. */
  readonly offset: number | undefined

  constructor(code: JsonErrorCode, offset?: number) {
    super(offset === undefined ? code : `${code} at offset ${offset}`)
    this.name = 'JsonError'
    this.code = code
    this.offset = offset
  }
}

export interface ParseOptions {
  /** Nested objects and arrays: 1 allows `[]`. 32 when absent. */
  maxDepth?: number
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws {JsonError} */
export function parseJson(source: string | Uint8Array, { maxDepth = 32 }: ParseOptions = {}): Json {
  const scan: Scan = { text: typeof source === 'string' ? source : decode(source), at: 0, maxDepth }
  skipSpace(scan)
  const value = readValue(scan, 0)
  skipSpace(scan)
  if (scan.at < scan.text.length) throw new JsonError('malformed', scan.at)
  return value
}

interface Scan {
  readonly text: string
  readonly maxDepth: number
  at: number
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new JsonError('invalid_utf8')
  }
}

function readValue(scan: Scan, depth: number): Json {
  const first = scan.text[scan.at]
  if (first === '{' || first === '[') {
    if (depth >= scan.maxDepth) throw new JsonError('too_deep', scan.at)
    return first === '{' ? readObject(scan, depth + 1) : readArray(scan, depth + 1)
  }
  if (first === '"') return readString(scan)
  for (const [word, value] of WORDS) {
    if (!scan.text.startsWith(word, scan.at)) continue
    scan.at += word.length
    return value
  }
  return readNumber(scan)
}

const WORDS: readonly [string, boolean | null][] = [
  ['true', true],
  ['false', false],
  ['null', null],
]

function readObject(scan: Scan, depth: number): Json {
  const members = new Map<string, Json>()
  scan.at += 1
  if (isNext(scan, '}')) return {}
  do {
    skipSpace(scan)
    const nameAt = scan.at
    if (scan.text[nameAt] !== '"') throw new JsonError('malformed', nameAt)
    const name = readString(scan)
    if (members.has(name)) throw new JsonError('duplicate_key', nameAt)
    if (!isNext(scan, ':')) throw new JsonError('malformed', scan.at)
    skipSpace(scan)
    members.set(name, readValue(scan, depth))
  } while (isNext(scan, ','))
  if (!isNext(scan, '}')) throw new JsonError('malformed', scan.at)
  // Not by assignment, which would not make `__proto__` an ordinary member.
  return Object.fromEntries(members)
}

function readArray(scan: Scan, depth: number): Json {
  const elements: Json[] = []
  scan.at += 1
  if (isNext(scan, ']')) return elements
  do {
    skipSpace(scan)
    elements.push(readValue(scan, depth))
  } while (isNext(scan, ','))
  if (!isNext(scan, ']')) throw new JsonError('malformed', scan.at)
  return elements
}

// Skips white space, and the character if it comes next.
function isNext(scan: Scan, character: string): boolean {
  skipSpace(scan)
  if (scan.text[scan.at] !== character) return false
  scan.at += 1
  return true
}

function skipSpace(scan: Scan): void {
  while (scan.at < scan.text.length && ' \n\r\t'.includes(scan.text.charAt(scan.at))) scan.at += 1
}

const SHORT = /["\\/bfnrt]/
const UNICODE = /^u[0-9a-fA-F]{4}$/

function readString(scan: Scan): string {
  const { text } = scan
  const start = scan.at
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '"') {
      scan.at = at + 1
      const value = JSON.parse(text.slice(start, scan.at)) as string
      if (hasLoneSurrogate(value)) throw new JsonError('lone_surrogate', start)
      return value
    }
    if (character < ' ') throw new JsonError('malformed', at)
    if (character !== '\\') continue
    if (SHORT.test(text.charAt(at + 1))) at += 1
    else if (UNICODE.test(text.slice(at + 1, at + 6))) at += 5
    else throw new JsonError('malformed', at)
  }
  throw new JsonError('malformed', text.length)
}

/** Half of a character beyond U+FFFF, which UTF-8 can't express. */
export function hasLoneSurrogate(text: string): boolean {
  for (const character of text) {
    const unit = character.charCodeAt(0)
    if (character.length === 1 && unit >= 0xd800 && unit <= 0xdfff) return true
  }
  return false
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y

function readNumber(scan: Scan): number {
  NUMBER.lastIndex = scan.at
  const [literal, fraction, exponent] = NUMBER.exec(scan.text) ?? []
  if (literal === undefined) throw new JsonError('malformed', scan.at)
  const value = Number(literal)
  const isFloat = fraction !== undefined || exponent !== undefined
  if (!isPortable(value, literal, isFloat)) throw new JsonError('number_out_of_range', scan.at)
  scan.at += literal.length
  return value
}

// RFC 7493 2.2: a double has no exact place for other integers. From 1e21 on, RFC 8785 writes an exponent.
function isPortable(value: number, literal: string, isFloat: boolean): boolean {
  // 1e-400 is not 0: an amount must not vanish.
  if (value === 0) return digitsOf(literal) === ''
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return true
  return isFloat && Math.abs(value) >= 1e21 && Number.isFinite(value) && digitsOf(literal) === digitsOf(String(value))
}

// Without sign, point, exponent and outer zeros. No `/0+$/`: it is quadratic on hostile zeros.
function digitsOf(literal: string): string {
  const digits = literal.replace(/e.*/i, '').replace(/[-.]/g, '')
  let start = 0
  let end = digits.length
  while (digits[start] === '0') start += 1
  while (end > start && digits[end - 1] === '0') end -= 1
  return digits.slice(start, end)
}
