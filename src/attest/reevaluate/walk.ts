// Runs in the clock process: turns a cause into jobs of the attest queue, in small transactions that any clock can
// continue.

import { countMarks, hasPending, insertMarks } from '#src/attest/causes/mark-rows.ts'
import {
  findOpen,
  isSettled,
  lockOpen,
  markFinished,
  markSeen,
  moveOn,
  type ReevaluationRow,
} from '#src/attest/causes/rows.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { READ_EVERY_MS } from '../hardware/lists.ts'
import { findTouched } from './touched.ts'

export interface WalkDeps {
  db: Database
  /** How long a process may use a list that it has read. */
  listSeconds?: number
}

// Attestations per transaction: it holds no locks that others wait for, but its rows stay in memory and in the WAL.
const STEP = 200
const OPEN_AT_ONCE = 100
// A fetch that began before the list was stored may end after it.
const READ_SLACK_SECONDS = 5

/** Whether a re-evaluation advanced and may continue at once, or waits. */
type Progress = 'moved' | 'waits'

/**
 * Advances all open re-evaluations. Any number of clocks may run it: each step belongs to one. Returns the number of
 * steps.
 */
export function createWalk({ db, listSeconds = READ_EVERY_MS / 1_000 + READ_SLACK_SECONDS }: WalkDeps) {
  async function step(scope: Scope, id: string): Promise<Progress> {
    return db.tenant(scope, async (tx) => {
      const row = await lockOpen(tx, id)
      if (row === undefined) return 'waits'
      if (row.seenAt === null) {
        await markSeen(tx, id)
        return 'moved'
      }
      return row.walkedAt === null ? walk(tx, scope, row) : finish(tx, row)
    })
  }

  async function walk(tx: Tx, scope: Scope, row: ReevaluationRow): Promise<Progress> {
    const graceSeconds = row.cause === 'revocation_list' ? listSeconds : 0
    if (row.cursor === null && !(await isSettled(tx, scope, row.id, graceSeconds))) return 'waits'
    const { ids, ...chunk } = await findTouched(tx, row, STEP)
    const marked = await insertMarks(tx, scope, row.id, ids)
    await enqueue(
      tx,
      'attest',
      scope,
      marked.map((attestationId) => ({ payload: { attestationId }, priority: 'bulk' })),
    )
    await moveOn(tx, row.id, chunk)
    return 'moved'
  }

  async function finish(tx: Tx, { id }: ReevaluationRow): Promise<Progress> {
    if (await hasPending(tx, id)) return 'waits'
    await markFinished(tx, id, await countMarks(tx, id))
    return 'waits'
  }

  return async (signal?: AbortSignal): Promise<number> => {
    const open = await db.system('reevaluations', (tx) => findOpen(tx, OPEN_AT_ONCE))
    let steps = 0
    for (const { id, scope } of open) {
      while (signal?.aborted !== true && (await step(scope, id)) === 'moved') steps += 1
    }
    return steps
  }
}
