// A walk turns a cause into jobs of its own queue, one per attestation that the cause affects, and records the end when
// they have ended. Each transaction is small and a compare-and-set, so any worker can continue a walk, and of two workers that
// run the same walk one writes each step.

import { countMarks, hasPending, insertMarks } from '#src/attest/causes/mark-rows.ts'
import {
  findReevaluation,
  isSettled,
  lockOpen,
  markFinished,
  markSeen,
  moveOn,
  type ReevaluationRow,
} from '#src/attest/causes/rows.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import type { JobOutcome, RunningJob } from '#src/platform/jobs/consume.ts'
import { failpoint } from '#src/platform/jobs/failpoint.ts'
import { READ_EVERY_MS } from '../hardware/lists.ts'
import { findTouched } from './affected.ts'

export interface WalkDeps {
  db: Database
  now: () => Date
  /** How long a process may use a list that it has read. */
  listSeconds?: number
}

export type Walk = (job: RunningJob, reevaluationId: string) => Promise<JobOutcome>

// Attestations per transaction: it holds no locks that others wait for, but its rows stay in memory and in the WAL.
const STEP = 200
// A walk of a million attestations takes minutes. After this time it makes room for other jobs.
const TURN_MS = 5_000
// A fetch that began before the list was stored may end after it.
const READ_SLACK_SECONDS = 5
// Waiting for other jobs: short at first, then a quarter of the time that it has taken.
const WAIT_MS = { least: 250, most: 30_000 }

export function createWalk({ db, now, listSeconds = READ_EVERY_MS / 1_000 + READ_SLACK_SECONDS }: WalkDeps): Walk {
  return async (job, id) => {
    const { scope, signal } = job
    const deadline = performance.now() + TURN_MS
    while (!signal.aborted && performance.now() < deadline) {
      const row = await db.tenant(scope, (tx) => findReevaluation(tx, id))
      if (row === undefined || row.finishedAt !== null) return { kind: 'done' }
      const waiting = row.walkedAt === null ? await advance(scope, row) : await finish(job, row)
      if (waiting !== undefined) return waiting
    }
    return { kind: 'defer', reason: 'the search continues', delayMs: 0 }
  }

  /** Undefined when the search may continue at once. */
  async function advance(scope: Scope, row: ReevaluationRow): Promise<JobOutcome | undefined> {
    if (row.seenAt === null) {
      await db.tenant(scope, (tx) => markSeen(tx, row.id))
      return undefined
    }
    const graceSeconds = row.cause === 'revocation_list' ? listSeconds : 0
    const chunk = await db.tenant(scope, async (tx) =>
      row.cursor === null && !(await isSettled(tx, scope, row.id, graceSeconds))
        ? undefined
        : findTouched(tx, row, STEP),
    )
    if (chunk === undefined) return wait('evaluations are running that may not know the cause', row.seenAt)
    const ids = chunk.touched()
    failpoint('reevaluate:found')
    await db.tenant(scope, async (tx) => {
      if (!(await moveOn(tx, row, chunk))) return
      const marked = await insertMarks(tx, scope, row.id, ids)
      await enqueue(
        tx,
        'reevaluate',
        scope,
        marked.map((attestationId) => ({ payload: { attestationId }, priority: 'bulk' })),
      )
    })
    failpoint('reevaluate:marked')
    return undefined
  }

  async function finish(job: RunningJob, { id, walkedAt }: ReevaluationRow): Promise<JobOutcome> {
    const isFinished = await db.tenant(job.scope, async (tx) => {
      if (await hasPending(tx, id)) return false
      await job.settle(tx)
      // Counted behind the lock: see reopen.
      if ((await lockOpen(tx, id)) === undefined) return true
      const counts = await countMarks(tx, id)
      if (counts.pending > 0) throw new Error('an attestation of it is retried')
      await markFinished(tx, id, counts)
      return true
    })
    return isFinished ? { kind: 'settled' } : wait('its attestations are being re-evaluated', walkedAt)
  }

  function wait(reason: string, since: Date | null): JobOutcome {
    const waitedMs = since === null ? 0 : now().getTime() - since.getTime()
    const delayMs = Math.round(Math.min(WAIT_MS.most, Math.max(WAIT_MS.least, waitedMs / 4)))
    return { kind: 'defer', reason, delayMs }
  }
}
