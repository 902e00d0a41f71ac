import type { Database, Tx } from './db/database.ts'
import type { Scope } from './ids.ts'

export interface Past {
  /** What is older goes. */
  before: Date
  /** Rows at most: small steps keep no snapshot for long, and a stopping process waits for one of them. */
  limit: number
}

/**
 * Forgets rows of one kind in one transaction. Answers how many, which is fewer than the limit when none are left.
 * The way to old rows is the primary key, whose ids sort by age (`idsBefore`). OFFSET 0 keeps a NOT EXISTS what it says, one
 * look-up per row: as a join it would read a whole table of the account for each step.
 */
export type Step = (tx: Tx, scope: Scope, past: Past) => Promise<number>

/**
 * Deletes rows that a look has found, and answers how many. The look is a statement of its own: as part of the DELETE, a
 * planner without statistics compares each found row with each of the table, 60 s for 2,000 of 4,500.
 */
export async function deleteRows(tx: Tx, table: string, found: readonly { id: string }[]): Promise<number> {
  if (found.length === 0) return 0
  await tx.query(`DELETE FROM ${table} WHERE id = ANY($1)`, [found.map(({ id }) => id)])
  return found.length
}

const STEP_ROWS = 2_000

/** Takes steps until nothing is left. Several at once are harmless: one works, the others leave this tenant to it. */
export async function forgetInSteps(
  db: Pick<Database, 'tenant'>,
  { what, scope, before, signal }: { what: string; scope: Scope; before: Date; signal: AbortSignal },
  step: Step,
): Promise<number> {
  for (let forgotten = 0; ; ) {
    const count = await db.tenant(scope, async (tx) =>
      (await tryLock(tx, `retention ${what} ${scope.accountId} ${scope.environment}`))
        ? step(tx, scope, { before, limit: STEP_ROWS })
        : 0,
    )
    forgotten += count
    if (count < STEP_ROWS || signal.aborted) return forgotten
  }
}

async function tryLock(tx: Tx, name: string): Promise<boolean> {
  const [row] = await tx.query<{ isLocked: boolean }>(
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS "isLocked"',
    [name],
  )
  return row?.isLocked === true
}
