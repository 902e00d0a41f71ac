// The work of the queue diff. It stores what it has measured every few seconds and continues there after a crash; the
// figures are the same as without one. The report, its event and the end of the job are one transaction.

import { countOperations } from '#src/account/usage/meter.ts'
import { emit } from '#src/account/webhooks/emit.ts'
import { Failure } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { STALE_JOB } from '#src/platform/jobs/backlog.ts'
import type { JobOutcome, RunningJob, Work } from '#src/platform/jobs/consume.ts'
import { failpoint } from '#src/platform/jobs/failpoint.ts'
import type { TraceBackend } from '../models/backend.ts'
import { deleteCheckpoint, findCheckpoint, originOf, storeCheckpoint } from './checkpoints.ts'
import { type DiffModels, measurePrompt, pairModels, startMeasures } from './compare.ts'
import { DEFAULT_EVAL_SET, type EvalPrompts, readDefaultEvalSet } from './eval-prompts.ts'
import type { EvalSets } from './eval-sets.ts'
import { type WrittenReport, writeReport } from './report.ts'
import { type DiffRow, failDiff, finishDiff, requeueDiff, startDiff } from './rows.ts'

// A crash costs as much work, and a checkpoint of a large model has a megabyte.
const CHECKPOINT_MS = 3_000
// A large set takes a large model hours. After a turn the diff goes to the end of the queue, or a few accounts would hold
// every worker for as long.
const TURN_MS = 300_000
// Another attempt would meet them again.
const FINAL = ['not_found', 'backend_capability_missing'] as const
export const DIFF_FAILURES = [...FINAL, 'service_unavailable'] as const
export type DiffFailureCode = (typeof DIFF_FAILURES)[number]

export interface DiffDeps {
  db: Pick<Database, 'tenant'>
  models: { get(id?: string): TraceBackend }
  evalSets: Pick<EvalSets, 'read' | 'hold'>
  now: () => Date
  /** 0: after each prompt. */
  checkpointMs?: number
  turnMs?: number
}

export function createDiff(deps: DiffDeps): Work<'diff'> {
  const { db, models, evalSets, now, checkpointMs = CHECKPOINT_MS, turnMs = TURN_MS } = deps

  async function run({ diffId }: { diffId: string }, job: RunningJob): Promise<JobOutcome> {
    const row = await db.tenant(job.scope, (tx) => startDiff(tx, diffId, now()))
    if (row === undefined) return { kind: 'done' }
    failpoint('diff:started')
    try {
      const written = await measure(row, job)
      if ('kind' in written) return written
      failpoint('diff:measured')
      await db.tenant(job.scope, async (tx) => {
        await succeed(tx, job.scope, row, written)
        await job.settle(tx)
        failpoint('diff:settling')
      })
    } catch (error) {
      // The worker stops, and another continues: that is no fault of the job, and costs it no attempt.
      if (job.signal.aborted && error !== STALE_JOB) return { kind: 'defer', reason: 'its worker stopped', delayMs: 0 }
      const code = error instanceof Failure ? FINAL.find((one) => one === error.code) : undefined
      if (!(error instanceof Failure) || code === undefined) throw error
      const { message: detail } = error
      await db.tenant(job.scope, async (tx) => {
        await fail(tx, job.scope, diffId, { code, detail })
        await job.settle(tx)
      })
    }
    failpoint('diff:settled')
    return { kind: 'settled' }
  }

  /** Without a report it was cancelled, or its turn is over. */
  async function measure(row: DiffRow, { scope, signal }: RunningJob): Promise<WrittenReport | JobOutcome> {
    const startedAt = performance.now()
    const settings = { signal, lane: scope.accountId }
    const pair: DiffModels = { base: models.get(row.baseModel), target: models.get(row.targetModel) }
    const pairing = await pairModels(pair, settings)
    const set: EvalPrompts =
      row.evalSet === DEFAULT_EVAL_SET ? readDefaultEvalSet() : await evalSets.read(scope, row.evalSet)
    const key = { diffId: row.id, origin: originOf(pairing, set) }
    const measures = (await db.tenant(scope, (tx) => findCheckpoint(tx, key))) ?? startMeasures(pairing)
    const store = () =>
      db.tenant(scope, async (tx) => {
        const isRunning = await storeCheckpoint(tx, scope, key, measures)
        if (isRunning) await holdPrompts(tx, row)
        return isRunning
      })
    if (!(await store())) return { kind: 'done' }
    let storedAt = performance.now()
    for (const prompt of set.prompts.slice(measures.done)) {
      signal.throwIfAborted()
      await measurePrompt(pair, prompt, { pairing, measures }, settings)
      if (performance.now() - storedAt < checkpointMs) continue
      if (!(await store())) return { kind: 'done' }
      storedAt = performance.now()
      failpoint('diff:checkpoint')
      const isOver = storedAt - startedAt >= turnMs && measures.done < set.prompts.length
      if (isOver) return { kind: 'defer', reason: 'it is the turn of others', delayMs: 0 }
    }
    return writeReport(pairing, set, row, measures)
  }

  /** @throws {Failure} `not_found` where the account has deleted its prompts: nothing more is made of them. */
  async function holdPrompts(tx: Tx, { evalSet }: DiffRow): Promise<void> {
    if (evalSet !== DEFAULT_EVAL_SET) await evalSets.hold(tx, evalSet)
  }

  async function succeed(tx: Tx, scope: Scope, row: DiffRow, { report, canonical, hash }: WrittenReport) {
    const { pass, verdict, families_drifted: familiesDrifted } = report
    const isFirst = await finishDiff(tx, row.id, { pass, verdict, familiesDrifted, report: canonical, hash, at: now() })
    if (!isFirst) return
    await holdPrompts(tx, row)
    await countOperations(tx, scope, 'diff', [row.id])
    await deleteCheckpoint(tx, row.id)
    await tell(tx, scope, row, { status: 'succeeded', pass, verdict, familiesDrifted, hash: hash.toString('hex') })
  }

  async function fail(tx: Tx, scope: Scope, id: string, why: { code: DiffFailureCode; detail: string }): Promise<void> {
    const row = await failDiff(tx, id, why)
    if (row === undefined) return
    await deleteCheckpoint(tx, id)
    await tell(tx, scope, row, { status: 'failed', pass: false, verdict: null, familiesDrifted: [], hash: null })
  }

  return {
    run,
    onDead: (tx, scope, { diffId }) =>
      fail(tx, scope, diffId, {
        code: 'service_unavailable',
        detail: 'The models failed repeatedly. The operator can run it again.',
      }),
    onRedrive: (tx, _scope, { diffId }) => requeueDiff(tx, diffId),
    endsAtOnce: true,
  }
}

interface Told {
  status: 'succeeded' | 'failed'
  pass: boolean
  verdict: string | null
  familiesDrifted: readonly string[]
  hash: string | null
}

async function tell(tx: Tx, scope: Scope, row: DiffRow, { status, pass, verdict, familiesDrifted, hash }: Told) {
  await emit(tx, scope, {
    type: 'trace.diff_completed',
    // A failed diff may be tried again, and fail again.
    dedupKey: `${row.id} ${status === 'succeeded' ? status : row.finishedAt?.toISOString()}`,
    data: {
      diff_id: row.id,
      status,
      base_model: row.baseModel,
      target_model: row.targetModel,
      pass,
      verdict,
      families_drifted: familiesDrifted,
      report_hash: hash,
    },
  })
}
