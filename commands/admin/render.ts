// A terminal of usual width: beyond it a table's rows would break in the middle of a column.
const MAX_COLUMNS = 120

/**
 * For people: one object as aligned names and values, several as a table. Rows too long for a terminal become a block of names and values
 * each, and a value that is too long goes on below itself. No line has more than 120 characters.
 */
export function renderResult(result: object | object[]): string {
  if (!Array.isArray(result)) return block(result)
  if (result.length === 0) return 'None.\n'
  const rows = result.map((row: object) => new Map<string, unknown>(Object.entries(row)))
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))]
  const table = lines([names, ...rows.map((row) => names.map((name) => format(row.get(name))))])
  if (table.split('\n').every((line) => line.length <= MAX_COLUMNS)) return table
  return result.map(block).join('\n')
}

function block(row: object): string {
  const entries = Object.entries(row).map(([name, value]) => [`${name}:`, format(value)] as const)
  const indent = Math.max(0, ...entries.map(([name]) => name.length)) + 2
  return entries
    .flatMap(([name, value]) => wrap(value, MAX_COLUMNS - indent).map((part, index) => [index === 0 ? name : '', part]))
    .map(([name = '', part = '']) => `${name.padEnd(indent)}${part}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('')
}

/** Breaks at the last space that fits, and inside of a word that is longer than a line. */
function wrap(text: string, columns: number): string[] {
  if (text.length <= columns) return [text]
  const space = text.lastIndexOf(' ', columns)
  const end = space > 0 ? space : columns
  return [text.slice(0, end), ...wrap(text.slice(end).trimStart(), columns)]
}

function lines(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

function format(value: unknown): string {
  if (value === null || value === undefined) return '-'
  if (value instanceof Date) return value.toISOString()
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  // A job's error may contain any text: it must not move the cursor or break a row.
  return text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
}
