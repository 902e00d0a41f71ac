// Writes all rows of a list into a file of the browser. A cell that a spreadsheet would run as a formula is quoted.

type Format = 'ndjson' | 'csv'

// A browser holds the file in memory.
const MAX_ROWS = 100_000

interface ExportOptions {
  format: Format
  name: string
  /** How many rows there are so far. */
  onCount(count: number): void
}

/** @throws {CountersignError} when a page can't be read: then there is no file. */
export async function exportRows(
  rows: AsyncIterable<unknown>,
  { format, name, onCount }: ExportOptions,
): Promise<void> {
  const all: unknown[] = []
  for await (const row of rows) {
    all.push(row)
    if (all.length % 100 === 0) onCount(all.length)
    if (all.length >= MAX_ROWS) break
  }
  const text = format === 'csv' ? toCsv(all) : all.map((row) => `${JSON.stringify(row)}\n`).join('')
  const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson'
  const url = URL.createObjectURL(new Blob([text], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${name}.${format}`
  link.click()
  URL.revokeObjectURL(url)
}

/** RFC 4180. Members of objects become columns of their own, as `a.b`; lists are JSON. */
export function toCsv(rows: readonly unknown[]): string {
  const flat = rows.map((row) => flatten(row))
  const columns = [...new Set(flat.flatMap((row) => [...row.keys()]))]
  const lines = [columns.map(quote), ...flat.map((row) => columns.map((column) => quote(row.get(column) ?? '')))]
  // Excel reads UTF-8 with a byte order mark only.
  return `\uFEFF${lines.map((cells) => `${cells.join(',')}\r\n`).join('')}`
}

function flatten(value: unknown, prefix = '', into = new Map<string, string>()): Map<string, string> {
  if (typeof value !== 'object' || value === null) return into.set(prefix, value === null ? '' : `${value}`)
  if (Array.isArray(value)) return into.set(prefix, value.length === 0 ? '' : JSON.stringify(value))
  for (const [name, member] of Object.entries(value)) flatten(member, prefix === '' ? name : `${prefix}.${name}`, into)
  return into
}

function quote(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && !/^-?\d+(?:\.\d+)?$/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
