// CSV as office programs write it: comma, semicolon or tab, with or without a byte order mark, with line breaks in
// cells. A quote that is never closed would swallow the rest of the file, so records are cut out here and parsed one by
// one.

import type { Readable } from 'node:stream'
import { parse } from 'csv-parse/sync'
import { type Line, readLines } from '#src/platform/http/ndjson.ts'
import { usageError } from '../sentence.ts'
import { type Finding, finding } from './files.ts'

/** Values by column; empty cells are absent. */
export type Cells = ReadonlyMap<string, string>
export type Row = { line: number } & ({ cells: Cells } | { problem: Finding })

export interface TableOptions {
  required: readonly string[]
  known: readonly string[]
  /** Called once with the columns that are not used: one of them may be a typing error. */
  onUnknown(columns: readonly string[]): void
}

const MAX_RECORD_BYTES = 64 * 1024
const MAX_RECORD_LINES = 200
const DELIMITERS = [',', ';', '\t']
const QUOTE = 0x22
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** @throws a usage error when the first line names none of the known columns. */
export async function* readTable(stream: Readable, options: TableOptions): AsyncGenerator<Row, void> {
  const lines = readLines(stream, { maxLines: Number.POSITIVE_INFINITY, maxLineBytes: MAX_RECORD_BYTES })
  const first = await lines.next()
  if (first.done === true) throw usageError('The manifest is empty.')
  const header = readHeader(decode(first.value.bytes), options)
  for await (const { line, bytes } of recordsOf(lines, header.delimiter)) {
    const text = decode(bytes)
    if (bytes === undefined) yield { line, problem: finding('', 'too_long', `has more than ${MAX_RECORD_BYTES} bytes`) }
    else if (text === undefined)
      yield { line, problem: finding('', 'invalid_utf8', 'is not UTF-8: save it as CSV UTF-8') }
    else yield { line, ...readCells(text, header) }
  }
}

function readHeader(text: string | undefined, { required, known, onUnknown }: TableOptions) {
  const first = text?.replace(/^\uFEFF/, '') ?? ''
  const [delimiter = ','] = DELIMITERS.toSorted((a, b) => first.split(b).length - first.split(a).length)
  const cells = parseRecord(first, delimiter) ?? []
  const columns = cells.map((name) => name.trim().toLowerCase().replaceAll(/[ -]/g, '_'))
  const missing = required.filter((name) => !columns.includes(name))
  if (missing.length > 0) {
    const hint = text === undefined ? 'It is not UTF-8: save it as CSV UTF-8.' : `Its columns: ${known.join(', ')}.`
    throw usageError(`The manifest's first line must name the column ${missing.join(', ')}. ${hint}`)
  }
  const twice = known.filter((name) => columns.indexOf(name) !== columns.lastIndexOf(name))
  if (twice.length > 0) throw usageError(`The manifest has a column twice: ${twice.join(', ')}.`)
  const unknown = columns.filter((name) => name !== '' && !known.includes(name))
  if (unknown.length > 0) onUnknown(unknown)
  return { columns, delimiter }
}

function readCells(
  text: string,
  { columns, delimiter }: { columns: string[]; delimiter: string },
): { cells: Cells } | { problem: Finding } {
  const values = parseRecord(text, delimiter)
  if (values === undefined) return { problem: finding('', 'malformed', 'has a quotation mark that is never closed') }
  if (values.length !== columns.length && values.slice(columns.length).some((value) => value !== '')) {
    const detail = `has ${values.length} cells where the first line has ${columns.length}`
    return { problem: finding('', 'malformed', detail) }
  }
  const cells = columns.flatMap((column, index): [string, string][] => {
    const value = values[index]?.trim() ?? ''
    return value === '' ? [] : [[column, value]]
  })
  return { cells: new Map(cells) }
}

// People write `5" crack` in a cell without quotes. A cell that a quote opened needs a proper closing quote.
function parseRecord(text: string, delimiter: string, isRelaxed = true): string[] | undefined {
  try {
    const records: string[][] = parse(text, { delimiter, relax_column_count: true, relax_quotes: isRelaxed })
    return records.length > 1 ? undefined : (records[0] ?? [])
  } catch {
    return undefined
  }
}

// A record that does not end within bounds is only its first line; reading continues with the second.
async function* recordsOf(lines: AsyncGenerator<Line, void>, delimiter: string): AsyncGenerator<Line, void> {
  const ahead: Line[] = []
  const lookAhead = async (index: number): Promise<Buffer | undefined> => {
    if (index >= ahead.length) {
      const { value, done } = await lines.next()
      if (done !== true) ahead.push(value)
    }
    return ahead[index]?.bytes
  }
  for (;;) {
    const first = ahead.shift() ?? (await lines.next()).value
    if (first === undefined) return
    const { line, bytes } = first
    let joined = bytes
    let count = 0
    if (bytes !== undefined && hasOddQuotes(bytes) && parseRecord(decode(bytes) ?? '', delimiter) === undefined) {
      while (joined !== undefined && hasOddQuotes(joined)) {
        const more = count < MAX_RECORD_LINES ? await lookAhead(count) : undefined
        const isTooLong = more === undefined || joined.length + more.length > MAX_RECORD_BYTES
        joined = isTooLong ? undefined : Buffer.concat([joined, Buffer.from('\n'), more])
        count += 1
      }
      const isWhole = joined !== undefined && parseRecord(decode(joined) ?? '', delimiter, false) !== undefined
      if (isWhole) ahead.splice(0, count)
      else joined = bytes
    }
    yield { line, bytes: joined }
  }
}

function hasOddQuotes(bytes: Buffer): boolean {
  let count = 0
  for (let at = bytes.indexOf(QUOTE); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) count += 1
  return count % 2 === 1
}

function decode(bytes: Buffer | undefined): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
