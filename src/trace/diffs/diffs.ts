// Diffs of two model versions, as accounts see them. The work is done by the queue `diff` (run.ts).

import { randomInt } from 'node:crypto'
import { Failure, invalidField } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { again, type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, createdBetween, type ListQuery, type Pager } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, newId, newJobId, type Scope } from '#src/platform/ids.ts'
import { cancelJobs, enqueue } from '#src/platform/jobs/backlog.ts'
import { refusedCancel, tooManyOpen } from '../jobs/jobs.ts'
import type { TraceJobState } from '../jobs/rows.ts'
import type { TraceBackend } from '../models/backend.ts'
import { deleteCheckpoint } from './checkpoints.ts'
import { checkComparable } from './compare.ts'
import { DEFAULT_EVAL_SET, readDefaultEvalSet } from './eval-prompts.ts'
import type { EvalSets } from './eval-sets.ts'
import { completeThresholds, type GivenThresholds } from './judge.ts'
import {
  cancelDiff,
  countDiffs,
  countOpenDiffs,
  type DiffRow,
  findDiff,
  findDiffs,
  findReport,
  insertDiff,
} from './rows.ts'

/** Of an account and environment, queued and running: they run one after the other. */
export const MAX_OPEN_DIFFS = 20
const MAX_SEED = 2 ** 31

export interface DiffRequest {
  base_model: string
  target_model: string
  eval_set: string
  thresholds: GivenThresholds
  seed?: number | undefined
}

interface DiffsDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
  now: () => Date
  models: { get(id?: string): TraceBackend }
  evalSets: Pick<EvalSets, 'get'>
}

export type Diffs = ReturnType<typeof createDiffs>

export function createDiffs({ db, pager, now, models, evalSets }: DiffsDeps) {
  async function get(scope: Scope, id: string): Promise<DiffRow> {
    checkId(id, 'dif', scope.environment)
    const row = await db.tenant(scope, (tx) => findDiff(tx, id))
    if (row === undefined) throw notFound(id)
    return row
  }

  return {
    /**
     * @throws {Failure} `not_found` for a model or a set; `backend_capability_missing`; `invalid_request` at
     * `/thresholds`; `rate_limited` beyond `MAX_OPEN_DIFFS`.
     */
    async create(by: Acting, request: DiffRequest, key?: IdempotencyKey): Promise<DiffRow> {
      const { base_model: baseModel, target_model: targetModel, eval_set: evalSet } = request
      const thresholds = completeThresholds(request.thresholds)
      if (thresholds.psi_warn > thresholds.psi_drift) {
        throw invalidField('/thresholds/psi_warn', 'out_of_range', 'must not be above psi_drift')
      }
      await checkComparable({ base: models.get(baseModel), target: models.get(targetModel) })
      const prompts =
        evalSet === DEFAULT_EVAL_SET ? readDefaultEvalSet().prompts.length : (await evalSets.get(by, evalSet)).prompts
      const createdAt = now()
      const row = {
        id: newId('dif', by.environment, createdAt.getTime()),
        baseModel,
        targetModel,
        evalSet,
        thresholds,
        seed: request.seed ?? randomInt(MAX_SEED),
        jobId: newJobId(),
        prompts,
        createdBy: actorOf(by.principal).id,
        createdAt,
      }
      const insert = async (tx: Tx) => {
        // Two at once may both be the last one: the bound is against waste.
        if ((await countOpenDiffs(tx)) >= MAX_OPEN_DIFFS) {
          throw tooManyOpen('trace_diffs', MAX_OPEN_DIFFS)
        }
        await insertDiff(tx, by, row)
        await enqueue(tx, 'diff', by, [{ id: row.jobId, payload: { diffId: row.id }, priority: 'bulk' }])
        const made = await findDiff(tx, row.id)
        if (made === undefined) throw notFound(row.id)
        return made
      }
      return db.tenant(by, (tx) => once(tx, key, insert, ({ id }) => id))
    },

    /** @throws {Failure} `not_found`, `environment_mismatch`. */
    get,

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async list(scope: Scope, query: ListQuery & { state?: TraceJobState | undefined }): Promise<CountedPage<DiffRow>> {
      const binding = { route: 'GET /v1/trace/diffs', scope, query: { ...query } }
      const before = pager.decode(query.cursor, binding)
      const filter = { ...createdBetween(query), state: query.state }
      return db.tenant(scope, async (tx) => {
        const rows = await findDiffs(tx, scope, filter, { before, limit: query.limit + 1 })
        const page = pager.page(rows, query.limit, ({ id }) => id, binding)
        return query.include === undefined ? page : { ...page, total_count: await countDiffs(tx, scope, filter) }
      })
    },

    /** Canonical JSON. @throws {Failure} `not_found`, `environment_mismatch`; `conflict` while there is none. */
    async report(scope: Scope, id: string): Promise<string> {
      checkId(id, 'dif', scope.environment)
      const found = await db.tenant(scope, (tx) => findReport(tx, id))
      if (found === undefined) throw notFound(id)
      if (found.report === null) throw new Failure('conflict', `${id} has no report: it is ${found.state}.`)
      return found.report
    },

    /** Idempotent for one that was cancelled. @throws {Failure} `not_found`; `invalid_state_transition` when it has ended. */
    async cancel(scope: Scope, id: string, key?: IdempotencyKey): Promise<DiffRow> {
      checkId(id, 'dif', scope.environment)
      const cancel = async (tx: Tx) => {
        const cancelled = await cancelDiff(tx, id, now())
        const row = cancelled ?? (await findDiff(tx, id))
        if (row === undefined) throw notFound(id)
        if (row.state !== 'cancelled') throw refusedCancel(row)
        if (cancelled !== undefined) {
          // A job that runs finds the row ended at its next checkpoint.
          await cancelJobs(tx, [row.jobId])
          await deleteCheckpoint(tx, id)
        }
        return row
      }
      return db.tenant(scope, (tx) => again(tx, key, cancel))
    },
  }
}

const notFound = (id: string) => new Failure('not_found', `There is no diff ${id}.`)
