// How many rows a statement reads of a table, by its plan: a list must not read a whole log for a page.

import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { expect } from 'vitest'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'

/** What the work returns, and how many rows of the table one of its statements read at most. */
export async function readingRows<R>(
  db: Database,
  scope: Scope,
  table: string,
  work: (tx: Tx) => Promise<R>,
): Promise<{ answer: R; most: number }> {
  const counter = countingRows(table)
  const answer = await db.tenant(scope, (tx) => work(counter.watch(tx)))
  return { answer, most: counter.most() }
}

/** Counts the rows of a table that the statements of transactions read. Each runs twice: once to be explained. */
export function countingRows(table: string): { watch(tx: Tx): Tx; most(): number } {
  const plans: Plan[] = []
  return {
    watch(tx) {
      let last: Promise<unknown> = Promise.resolve()
      const explained =
        (run: Tx['query'], mode: string): Tx['query'] =>
        (text, values = []) => {
          const next = last.then(async () => {
            plans.push(await explain(tx, { text, values, mode }))
            return run<never>(text, values)
          })
          last = next
          return next
        }
      // A fixed statement is prepared, and Postgres may plan it once for all values.
      const query = explained(tx.query, 'force_generic_plan')
      return { ...tx, query, adhoc: explained(tx.adhoc, 'force_custom_plan') }
    },
    most() {
      expect(plans.some((plan) => reads(plan, table))).toBe(true)
      return Math.max(...plans.map((plan) => rowsRead(plan, table)))
    },
  }
}

interface Plan {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: Plan[]
}

async function explain(
  tx: Tx,
  { text, values, mode }: { text: string; values: readonly unknown[]; mode: string },
): Promise<Plan> {
  const literals = values.map((value) => (value === null ? 'NULL' : pg.escapeLiteral(textOf(value))))
  await tx.adhoc(`SET LOCAL plan_cache_mode = ${mode}`)
  // A plan for several processes reports the mean of them, rounded to two decimals.
  await tx.adhoc('SET LOCAL max_parallel_workers_per_gather = 0')
  const name = `explained_${randomBytes(6).toString('hex')}`
  await tx.adhoc(`PREPARE ${name} AS ${text}`)
  const execute = literals.length === 0 ? name : `${name} (${literals.join(', ')})`
  const [row] = await tx.adhoc<{ 'QUERY PLAN': { Plan: Plan }[] }>(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE ${execute}`)
  await tx.adhoc(`DEALLOCATE ${name}`)
  const plan = row?.['QUERY PLAN'][0]?.Plan
  if (plan === undefined) throw new Error('nothing was explained')
  return plan
}

function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`
  if (!Array.isArray(value)) return String(value)
  return `{${value.map((one) => (Buffer.isBuffer(one) ? `"\\${textOf(one)}"` : one)).join(',')}}`
}

function reads(plan: Plan, table: string): boolean {
  return plan['Relation Name'] === table || (plan.Plans ?? []).some((child) => reads(child, table))
}

function rowsRead(plan: Plan, table: string): number {
  const removed = (plan['Rows Removed by Filter'] ?? 0) + (plan['Rows Removed by Index Recheck'] ?? 0)
  // Postgres reports the mean of the loops, rounded to two decimals.
  const own = plan['Relation Name'] === table ? Math.round((plan['Actual Rows'] + removed) * plan['Actual Loops']) : 0
  return (plan.Plans ?? []).reduce((sum, child) => sum + rowsRead(child, table), own)
}
