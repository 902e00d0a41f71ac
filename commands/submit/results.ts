// The outcome of each line of the input, in its order: a table for people, NDJSON for programs, and totals.

import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { stringify } from 'csv-stringify/sync'
import type { BatchLine } from '../../capture-kit/client.ts'
import type { Duplicates } from './duplicates.ts'
import type { Entry } from './entry.ts'
import type { Finding } from './files.ts'
import type { Journal, Outcome } from './journal.ts'
import type { Plan } from './plan.ts'

export interface Tally {
  captures: number
  passed: number
  review: number
  failed: number
  /** Not sent, or not accepted. */
  rejected: number
  /** Accepted, but their evaluation ended without a result. */
  errors: number
  /** Cancelled before their evaluation: the same command submits them again. */
  cancelled: number
  /** Not sent yet, or without a result yet. */
  pending: number
  /** Captures whose picture other claims show too. */
  duplicates: number
  /** How many results have each factor; advisory ones too. */
  factors: Record<string, number>
}

export const RESULT_FILES = { csv: 'results.csv', ndjson: 'results.ndjson' }

const COLUMNS = [
  'file',
  'source',
  'external_id',
  'claim_id',
  'attestation_id',
  'status',
  'provenance_status',
  'risk_status',
  'risk_score',
  'factors',
  'advisory_factors',
  'error_code',
  'error_pointer',
  'error_detail',
  'duplicates',
]

type State = BatchLine['status'] | 'rejected' | 'pending'

/** Each file is written whole or not at all. */
export async function writeResults(directory: string, plan: Plan, journal: Journal): Promise<Tally> {
  const tally = emptyTally()
  const csv = openAside(join(directory, RESULT_FILES.csv))
  const ndjson = openAside(join(directory, RESULT_FILES.ndjson))
  try {
    // Without the byte order mark, spreadsheets don't recognise UTF-8.
    await csv.write(`\uFEFF${row(COLUMNS)}`)
    for await (const entry of plan.entries()) {
      const outcome: Outcome | undefined =
        entry.problems.length > 0 ? { errors: entry.problems } : journal.read(entry.key)
      const duplicates = journal.duplicatesOf(entry.key)
      count(tally, outcome, duplicates)
      await csv.write(row([...cellsOf(entry, outcome), duplicatesCell(duplicates)]))
      await ndjson.write(`${JSON.stringify({ ...recordOf(entry, outcome), ...(duplicates && { duplicates }) })}\n`)
    }
    await csv.keep()
    await ndjson.keep()
  } finally {
    await Promise.all([csv.drop(), ndjson.drop()])
  }
  return tally
}

function emptyTally(): Tally {
  return {
    captures: 0,
    passed: 0,
    review: 0,
    failed: 0,
    rejected: 0,
    errors: 0,
    cancelled: 0,
    pending: 0,
    duplicates: 0,
    factors: {},
  }
}

function count(tally: Tally, outcome: Outcome | undefined, duplicates: Duplicates | undefined): void {
  tally.captures += 1
  if (duplicates !== undefined && duplicates.earlier.length + duplicates.later.length > 0) tally.duplicates += 1
  if (outcome === undefined) tally.pending += 1
  else if ('errors' in outcome) tally.rejected += 1
  else {
    const { status, risk_status: risk, factors = [], advisory_factors: advisory = [] } = outcome.result
    if (status === 'cancelled') tally.cancelled += 1
    else if (status !== 'succeeded') tally.errors += 1
    else if (risk === 'passed' || risk === 'review' || risk === 'failed') tally[risk] += 1
    for (const { code } of [...factors, ...advisory]) tally.factors[code] = (tally.factors[code] ?? 0) + 1
  }
}

function stateOf(outcome: Outcome | undefined): State {
  if (outcome === undefined) return 'pending'
  return 'errors' in outcome ? 'rejected' : outcome.result.status
}

function cellsOf({ file, source, body }: Entry, outcome: Outcome | undefined): (string | number | null)[] {
  const result = outcome !== undefined && 'result' in outcome ? outcome.result : undefined
  const errors = outcome !== undefined && 'errors' in outcome ? outcome.errors : []
  const list = (texts: string[]) => texts.join('; ')
  return [
    file,
    source,
    result?.external_id ?? (typeof body.external_id === 'string' ? body.external_id : null),
    result?.claim_id ?? null,
    result?.attestation_id ?? null,
    stateOf(outcome),
    result?.provenance_status ?? null,
    result?.risk_status ?? null,
    result?.risk_score ?? null,
    list((result?.factors ?? []).map(({ code, points }) => `${code} +${points}`)),
    list((result?.advisory_factors ?? []).map(({ code }) => code)),
    list(result?.failure == null ? errors.map(({ code }) => code) : [result.failure.code]),
    list(errors.map(({ pointer }) => pointer)),
    list(result?.failure == null ? errors.map(({ detail }) => detail) : [result.failure.detail]),
  ]
}

function duplicatesCell(duplicates: Duplicates | undefined): string | null {
  if (duplicates === undefined) return null
  const { earlier, earlier_more: more, later } = duplicates
  const matches = [...earlier, ...later].map((match) => `${match.kind} ${match.claim_id} ${match.distance_bits}`)
  return [...matches, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}

function recordOf({ file, source }: Entry, outcome: Outcome | undefined): Record<string, unknown> {
  const record = { file, source, status: stateOf(outcome) }
  if (outcome === undefined) return record
  if ('errors' in outcome) return { ...record, errors: outcome.errors satisfies Finding[] }
  // The position in a batch has no meaning for the user.
  const { line, cursor, ...result } = outcome.result
  return { ...record, result }
}

// Text that begins like a formula is quoted: names of files and claims come from strangers.
function row(cells: readonly (string | number | null)[]): string {
  return stringify([[...cells]], { escape_formulas: true })
}

function openAside(path: string) {
  const aside = `${path}.${process.pid}`
  const stream: WriteStream = createWriteStream(aside, { mode: 0o600 })
  // The next write, or the end, throws the error.
  stream.on('error', () => {})
  return {
    async write(text: string): Promise<void> {
      if (stream.errored) throw stream.errored
      if (!stream.write(text)) await once(stream, 'drain')
    },
    async keep(): Promise<void> {
      const end = finished(stream)
      stream.end()
      await end
      await rename(aside, path)
    },
    async drop(): Promise<void> {
      stream.destroy()
      await rm(aside, { force: true })
    },
  }
}
