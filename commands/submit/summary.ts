// Text for people: problems as they are found, and the table at the end.

import { styleText } from 'node:util'
import type { Entry } from './entry.ts'
import type { Tally } from './results.ts'

const TOP_FACTORS = 12

/**
 * One line per problem: where, which field, what. Names come from strangers: no control characters reach the terminal.
 */
export function problemLines({ source, file, problems }: Entry): string[] {
  const where = file === '' || file === source ? source : `${source} (${file})`
  return problems.map(({ pointer, code, detail }) =>
    printable(`${where}: ${pointer === '' ? '' : `${pointer}: `}${detail} [${code}]`),
  )
}

export function summaryLines(tally: Tally, seconds: number): string[] {
  const rows: [string, number, string][] = [
    ['passed', tally.passed, ''],
    ['review', tally.review, ''],
    ['failed', tally.failed, ''],
    ['rejected', tally.rejected, 'not accepted: see error_code and error_detail'],
    ['errors', tally.errors, 'accepted, but without a result: see error_detail'],
    ['cancelled', tally.cancelled, 'before their evaluation: the same command submits them again'],
    ['pending', tally.pending, 'not done yet: the same command goes on'],
    ['with duplicates', tally.duplicates, 'other claims show the same picture: see duplicates'],
  ]
  const factors = Object.entries(tally.factors).toSorted(([, a], [, b]) => b - a)
  const settled = tally.passed + tally.review + tally.failed
  const shown = factors.slice(0, TOP_FACTORS)
  return [
    '',
    styleText('bold', `${tally.captures} captures, ${settled} evaluated, ${seconds.toFixed(1)} s`),
    ...rows.filter(([, count], index) => index < 3 || count > 0).map(([name, count, what]) => line(name, count, what)),
    ...(shown.length === 0 ? [] : ['', styleText('bold', 'Most frequent factors')]),
    ...shown.map(([code, count]) => line(code, count, '')),
    ...(factors.length > shown.length ? [`  and ${factors.length - shown.length} more`] : []),
    '',
  ]
}

export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, '\uFFFD')
}

function line(name: string, count: number, what: string): string {
  return `  ${name.padEnd(26)}${String(count).padStart(8)}${what === '' || count === 0 ? '' : `  ${what}`}`
}
