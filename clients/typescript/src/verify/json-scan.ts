// The strict half of `parseJson`: one pass that reports only by throwing. It checks the grammar of
// RFC 8259 and the restrictions of RFC 7493, because the built-in parser keeps the last of two equal names, rounds
// integers and never reports where.

import {
  continueString,
  fail,
  failExpected,
  failLength,
  failValues,
  type Scan,
  scanScalar,
  skipSpace,
  startString,
} from './json-tokens.ts'

export type Json = null | boolean | number | string | Json[] | JsonObject
export type JsonObject = { [name: string]: Json }

export interface ScanOptions {
  /** Nested containers: 1 allows `[]`, 0 only a scalar. */
  maxDepth: number
  /** Members of one object; unlimited when absent. */
  maxMembers?: number | undefined
  /** Elements of one array; unlimited when absent. */
  maxElements?: number | undefined
  /** Scalars and empty containers of the whole text: one more than it has commas outside of strings. Unlimited when absent. */
  maxValues?: number | undefined
  /** Called for each string or name with an escaped U+0000, which I-JSON allows. */
  onNul?: ((pointer: string, isName: boolean) => void) | undefined
}

/**
 * Returns if the text is one I-JSON value.
 * @throws {JsonError} `too_many_values` above `maxMembers`, `maxElements` or `maxValues`.
 */
export function scanJson(text: string, options: ScanOptions): void {
  scanText(text, options, Number.POSITIVE_INFINITY).next()
}

// A millisecond or less to scan and to parse.
const PIECE = 32 * 1024

/** Same as `scanJson`, and parses the value. Yields after every `piece` characters, so that others may run. */
export function* parseInPieces(text: string, options: ScanOptions, piece = PIECE): Generator<void, Json, void> {
  const built = yield* scanText(text, options, piece)
  return built ?? (JSON.parse(text) as Json)
}

function* scanText(text: string, options: ScanOptions, piece: number): Generator<void, Json | undefined, void> {
  const scan: Scan = {
    text,
    at: 0,
    path: [],
    maxDepth: options.maxDepth,
    maxMembers: options.maxMembers ?? Number.POSITIVE_INFINITY,
    maxElements: options.maxElements ?? Number.POSITIVE_INFINITY,
    maxValues: options.maxValues ?? Number.POSITIVE_INFINITY,
    onNul: options.onNul,
    piece,
    values: 1,
    pauseAt: piece,
    isEscaped: false,
    hasNul: false,
  }
  if (text.charCodeAt(0) === 0xfeff) fail(scan, 0, 'malformed', 'a byte order mark is not allowed')
  skipSpace(scan)
  const built = yield* scanValue(scan, 0)
  skipSpace(scan)
  if (scan.at < text.length) fail(scan, 0, 'malformed', 'text follows the JSON value')
  return built
}

function isContainer({ text, at }: Scan): boolean {
  const code = text.charCodeAt(at)
  return code === 0x7b || code === 0x5b
}

function* scanValue(scan: Scan, depth: number): Generator<void, Json | undefined, void> {
  if (isContainer(scan)) return yield* scanContainer(scan, depth)
  if (!scanScalar(scan, depth)) yield* endString(scan, depth, false)
  return undefined
}

// A string may be a megabyte of escapes, each of which is read by itself.
function* endString(scan: Scan, depth: number, isName: boolean): Generator<void, void, void> {
  do {
    scan.pauseAt = scan.at + scan.piece
    yield
  } while (!continueString(scan, depth, isName))
}

// Returns the value of a container that is longer than a piece. A shorter one is parsed later, with its neighbours: the
// built-in parser is fastest, but it can't pause.
function* scanContainer(scan: Scan, depth: number): Generator<void, Json | undefined, void> {
  const isObject = scan.text.charCodeAt(scan.at) === 0x7b
  const close = isObject ? 0x7d : 0x5d
  enter(scan, depth)
  if (scan.text.charCodeAt(scan.at) === close) {
    scan.at += 1
    return undefined
  }
  const keys = isObject ? new Set<string>() : undefined
  const built = scan.piece === Number.POSITIVE_INFINITY ? undefined : createBuilder(scan, depth, isObject)
  for (let index = 0; ; index += 1) {
    const memberAt = scan.at
    if (index >= (isObject ? scan.maxMembers : scan.maxElements)) failLength(scan, depth, isObject)
    if (keys === undefined) scan.path[depth] = index
    else {
      if (scan.text.charCodeAt(scan.at) !== 0x22) failExpected(scan, depth, 'a key in double quotes')
      if (!startString(scan, depth, true)) yield* endString(scan, depth, true)
      takeName(scan, depth, { keyAt: memberAt, keys })
    }
    // Not `scanValue`: a generator for each scalar would cost more than the scalar.
    let value: Json | undefined
    if (isContainer(scan)) value = yield* scanContainer(scan, depth + 1)
    else if (!scanScalar(scan, depth + 1)) yield* endString(scan, depth + 1, false)
    if (scan.at >= scan.pauseAt || scan.at - memberAt >= scan.piece) {
      // Before the piece is parsed: a single string may be a megabyte long.
      scan.pauseAt = scan.at + scan.piece
      yield
    }
    built?.add(memberAt, value)
    if (isLast(scan, depth, close)) return built?.end()
  }
}

// The name that was read last, and the colon after it.
function takeName(scan: Scan, depth: number, { keyAt, keys }: { keyAt: number; keys: Set<string> }): void {
  const raw = scan.text.slice(keyAt + 1, scan.at - 1)
  const key = scan.isEscaped ? (JSON.parse(`"${raw}"`) as string) : raw
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
}

interface Builder {
  /** After a member or element was scanned; `value` where it is built already. */
  add(memberAt: number, value: Json | undefined): void
  /** undefined where nothing was built: the container is shorter than a piece. */
  end(): Json | undefined
}

// Members in a row that are not built yet are parsed together, once they are as long as a piece.
function createBuilder(scan: Scan, depth: number, isObject: boolean): Builder {
  const elements: Json[] = []
  const members: [string, Json][] = []
  // The run of members that are not built yet, as indices of the text: equal where there are none.
  let [runAt, endAt] = [scan.at, scan.at]

  function parseRun(): void {
    const run = scan.text.slice(runAt, endAt)
    runAt = endAt
    if (isObject) members.push(...Object.entries(JSON.parse(`{${run}}`) as Record<string, Json>))
    else for (const element of JSON.parse(`[${run}]`) as Json[]) elements.push(element)
  }

  return {
    add(memberAt, value) {
      if (value === undefined) {
        if (runAt === endAt) runAt = memberAt
        endAt = scan.at
        if (endAt - runAt >= scan.piece) parseRun()
        return
      }
      parseRun()
      if (isObject) members.push([String(scan.path[depth]), value])
      else elements.push(value)
    },
    end() {
      if (members.length + elements.length === 0) return undefined
      parseRun()
      // Not by assignment, which would not make `__proto__` an ordinary member.
      return isObject ? Object.fromEntries(members) : elements
    },
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
  scan.values += 1
  if (scan.values > scan.maxValues) failValues(scan)
  skipSpace(scan)
  return false
}
