// A manifest: one capture per line, as a table or as JSON. A bad line does not affect the others.

import { createReadStream } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { basename, dirname, join, parse } from 'node:path'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { readLines } from '#src/platform/http/ndjson.ts'
import type { Body, Found } from './entry.ts'
import { type Finding, finding, isFinding, parseBody, readBody, resolveInside } from './files.ts'
import { createNameSearch, type NameSearch } from './names.ts'
import { type Cells, type Row, readTable } from './table.ts'

export interface ManifestOptions {
  /** The folder of its photos: nothing outside of it is read. */
  directory: string
  onNote(text: string): void
}

const MAX_LINE_BYTES = 256 * 1024
/** Columns whose value goes into the body, and its pointer there. */
const COLUMNS = new Map([
  ['external_id', '/external_id'],
  ['reference', '/claim/reference'],
  ['line', '/claim/line'],
  ['loss_at', '/claim/loss_at'],
  ['loss_lat', '/claim/loss_location/lat'],
  ['loss_lng', '/claim/loss_location/lng'],
])
const FILES = ['file', 'body', 'bundle']

export async function* readManifest(path: string, options: ManifestOptions): AsyncGenerator<Found, void> {
  const base = await openFolder(options.directory)
  const name = basename(path)
  if (/\.(?:ndjson|jsonl)$/i.test(path)) {
    const lines = readLines(createReadStream(path), {
      maxLines: Number.POSITIVE_INFINITY,
      maxLineBytes: MAX_LINE_BYTES,
    })
    for await (const { line, bytes } of lines) yield await readJsonLine(base, `${name}:${line}`, bytes)
    return
  }
  const table = readTable(createReadStream(path), {
    required: ['file'],
    known: [...FILES, ...COLUMNS.keys()],
    onUnknown: (columns) => options.onNote(`${name}: columns that are not used: ${columns.join(', ')}`),
  })
  for await (const row of table) yield await readRow(base, `${name}:${row.line}`, row)
}

interface Folder {
  /** A real path. */
  path: string
  search: NameSearch
}

async function openFolder(directory: string): Promise<Folder> {
  const path = await realpath(directory)
  return { path, search: createNameSearch(path) }
}

async function readJsonLine(base: Folder, source: string, bytes: Buffer | undefined): Promise<Found> {
  if (bytes === undefined) return refuse(source, [finding('', 'too_long', `has more than ${MAX_LINE_BYTES} bytes`)])
  const body = parseBody(bytes)
  if (Array.isArray(body)) return refuse(source, body)
  const { media } = body
  const file = typeof media === 'object' && media !== null && !Array.isArray(media) ? media.file : undefined
  if (typeof file !== 'string') return { source, file: '', body }
  const { media: _, ...rest } = body
  return { source, file, body: rest, ...(await locate(base, file, '/media/file')) }
}

async function readRow(base: Folder, source: string, row: Row): Promise<Found> {
  if ('problem' in row) return refuse(source, [row.problem])
  const { cells } = row
  const file = cells.get('file') ?? ''
  if (file === '') return refuse(source, [finding('file', 'required', 'names no photo')])
  const located = await locate(base, file, 'file')
  const { body, bodyPath, problems } = await readRowBody(base, file, cells)
  const columns = new Map([...COLUMNS].flatMap(([column, pointer]) => (cells.has(column) ? [[pointer, column]] : [])))
  const wrong = [...(located.problems ?? []), ...problems, ...fillIn(body, cells)]
  return {
    source,
    file,
    body,
    columns,
    ...located,
    ...(bodyPath === undefined ? {} : { bodyPath }),
    ...(wrong.length === 0 ? {} : { problems: wrong }),
  }
}

async function readRowBody(
  base: Folder,
  file: string,
  cells: Cells,
): Promise<{ body: Body; bodyPath?: string; problems: Finding[] }> {
  const column = cells.has('body') ? 'body' : 'bundle'
  const name = cells.get(column)
  const { dir, name: stem } = parse(file)
  // Without a name, the JSON file beside the photo.
  for (const one of name === undefined ? [`${file}.json`, join(dir, `${stem}.json`)] : [name]) {
    const path = await resolveInside(base.path, one, base.search)
    if (isFinding(path)) {
      if (name === undefined && path.code === 'not_found') continue
      return { body: {}, problems: [{ ...path, pointer: column }] }
    }
    const read = await readBody(path)
    if (!Array.isArray(read)) return { body: read, bodyPath: path, problems: [] }
    const problems = read.map((error) => ({ ...error, pointer: `${column}${error.pointer}` }))
    return { body: {}, problems }
  }
  return { body: {}, problems: [] }
}

// The sender maintains the table by hand, so it overrides the file. The table is not signed.
function fillIn(body: Body, cells: Cells): Finding[] {
  const problems: Finding[] = []
  for (const [column, pointer] of COLUMNS) {
    const text = cells.get(column)
    if (text === undefined) continue
    const isNumber = column === 'loss_lat' || column === 'loss_lng'
    if (isNumber && !/^[+-]?\d+(?:\.\d+)?$/.test(text)) {
      problems.push(finding(column, 'invalid_number', 'must be degrees with a decimal point, such as 52.5163'))
    } else {
      setAt(body, pointer.slice(1).split('/'), isNumber ? Number(text) : text)
    }
  }
  return problems
}

function setAt(body: Body, [member = '', ...rest]: string[], value: Json): void {
  if (rest.length === 0) {
    body[member] = value
    return
  }
  const inner = body[member]
  const next: Body = typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? inner : {}
  body[member] = next
  setAt(next, rest, value)
}

async function locate(base: Folder, file: string, pointer: string): Promise<{ photo?: string; problems?: Finding[] }> {
  const path = await resolveInside(base.path, file, base.search)
  return isFinding(path) ? { problems: [{ ...path, pointer }] } : { photo: path }
}

function refuse(source: string, problems: Finding[]): Found {
  return { source, file: '', problems }
}

/** The folder of a manifest's photos when none is given. */
export function directoryOf(manifest: string): string {
  return dirname(manifest)
}
