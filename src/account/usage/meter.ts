// Counts metered operations: entries that are inserted in the transaction of the effect that they count, so that neither
// exists without the other. Send them together with another statement of that transaction: then they cost no round trip.
//
// What is counted, exactly once: a subject (an attestation, a screening) when it succeeds, or a batch with its number of
// lines when it is accepted. A line that then does not succeed is given back.

import type { MeteredOperation } from '#src/catalogue/metered.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { type CountedLine, insertUsageEntries, type LineTurn, turnLines } from './rows.ts'

/** Counts one operation per subject. A subject counts once, however often this is called. */
export async function countOperations(
  tx: Tx,
  scope: Scope,
  operation: MeteredOperation,
  subjectIds: readonly string[],
): Promise<void> {
  if (!isMetered(scope) || subjectIds.length === 0) return
  await insertUsageEntries(
    tx,
    scope,
    operation,
    subjectIds.map((subjectId) => ({ subjectId, units: 1 })),
  )
}

/** Counts the accepted lines of a batch. */
export async function countBatch(
  tx: Tx,
  scope: Scope,
  operation: MeteredOperation,
  { batchId, lines }: { batchId: string; lines: number },
): Promise<void> {
  if (!isMetered(scope) || lines === 0) return
  await insertUsageEntries(tx, scope, operation, [{ subjectId: batchId, units: lines }])
}

/** What was counted with its batch, or by itself (then its batch is null). */
export interface MeteredLine {
  id: string
  batchId: string | null
}

/** Gives back lines that will have no success: their job died, or they were cancelled before it ran. Idempotent. */
export async function giveBackLines(
  tx: Tx,
  scope: Scope,
  operation: MeteredOperation,
  lines: readonly MeteredLine[],
): Promise<void> {
  await turn(tx, scope, operation, { lines, units: -1 })
}

/**
 * Counts lines again that were given back, because they are tried again. Idempotent.
 * @param lines Those that the transaction has queued again: after the retention of entries nothing else says that they were
 * given back.
 */
export async function recountLines(
  tx: Tx,
  scope: Scope,
  operation: MeteredOperation,
  lines: readonly MeteredLine[],
): Promise<void> {
  await turn(tx, scope, operation, { lines, units: 1 })
}

async function turn(
  tx: Tx,
  scope: Scope,
  operation: MeteredOperation,
  { lines, units }: Pick<LineTurn, 'units'> & { lines: readonly MeteredLine[] },
): Promise<void> {
  const counted = lines.flatMap(({ id, batchId }): CountedLine[] => (batchId === null ? [] : [{ id, batchId }]))
  if (isMetered(scope) && counted.length > 0) await turnLines(tx, scope, operation, { lines: counted, units })
}

/** The sandbox is free. */
export function isMetered({ environment }: Pick<Scope, 'environment'>): boolean {
  return environment === 'live'
}
