/** For people: one object as aligned names and values, several as a table. */
export function renderResult(result: object | object[]): string {
  if (!Array.isArray(result)) return lines(Object.entries(result).map(([name, value]) => [`${name}:`, format(value)]))
  if (result.length === 0) return 'None.\n'
  const rows = result.map((row: object) => new Map<string, unknown>(Object.entries(row)))
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))]
  return lines([names, ...rows.map((row) => names.map((name) => format(row.get(name))))])
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
