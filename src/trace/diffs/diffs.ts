// Diffs of two model versions, as accounts see them. The work is done by the queue `diff` (run.ts).

import { randomInt } from 'node:crypto'
import { rowWithActors, type WithActors, withActors } from '#src/account/users/actors.ts'
import { Failure, invalidField } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { again, type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, createdBetween, type ListQuery, listPage, type Pager } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import type { WorkStatus } from '#src/platform/http/views.ts'
import { checkId, newId, newJobId, type Scope } from '#src/platform/ids.ts'
import { cancelJobs, enqueue } from '#src/platform/jobs/backlog.ts'
import type { AwaitedRow, PolledWaits } from '#src/platform/polled-waits.ts'
import { isOpen, notReady, refusedCancel, tooManyOpen } from '../jobs/jobs.ts'
import type { TraceBackend } from '../models/backend.ts'
import { deleteCheckpoint } from './checkpoints.ts'
import { checkComparable } from './compare.ts'
import { DEFAULT_EVAL_SET, readDefaultEvalSet } from './eval-prompts.ts'
import type { EvalSets } from './eval-sets.ts'
import { completeThresholds, type DiffVerdict, type GivenThresholds } from './judge.ts'
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
  waits: Pick<PolledWaits<AwaitedRow>, 'ended'>
}

/** A diff with who requested it. */
export type ShownDiff = WithActors<DiffRow, 'createdBy'>

export interface DiffListQuery extends ListQuery {
  status?: readonly WorkStatus[] | undefined
  verdict?: readonly DiffVerdict[] | undefined
}

export type Diffs = ReturnType<typeof createDiffs>

export function createDiffs({ db, pager, now, models, evalSets, waits }: DiffsDeps) {
  async function get(scope: Scope, id: string): Promise<ShownDiff> {
    checkId(id, 'dif', scope.environment)
    return db.tenant(scope, async (tx) => shown(tx, await getDiff(tx, id)))
  }

  return {
    /**
     * @throws {Failure} `not_found` for a model or a set; `backend_capability_missing`; `invalid_request` at
     * `/thresholds`; `rate_limited` beyond `MAX_OPEN_DIFFS`.
     */
    async create(by: Acting, request: DiffRequest, key?: IdempotencyKey): Promise<ShownDiff> {
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
        return getDiff(tx, row.id)
      }
      return db.tenant(by, async (tx) => shown(tx, await once(tx, key, insert, ({ id }) => id)))
    },

    /** @throws {Failure} `not_found`, `environment_mismatch`. */
    get,

    /** The same, after its end or `waitSeconds` later. @param signal Aborted when the caller has gone. */
    async getEnded(scope: Scope, id: string, waitSeconds: number, signal: AbortSignal): Promise<ShownDiff> {
      const first = await get(scope, id)
      if (waitSeconds === 0 || !isOpen(first)) return first
      const { accountId, environment } = scope
      await waits.ended({ accountId, environment, id }, waitSeconds * 1_000, signal)
      return get(scope, id)
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async list(scope: Scope, query: DiffListQuery): Promise<CountedPage<ShownDiff>> {
      const filter = { ...createdBetween(query), statuses: query.status, verdicts: query.verdict }
      const list = { route: 'GET /v1/trace/diffs', scope, query }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => findDiffs(tx, scope, filter, page),
        count: (tx) => countDiffs(tx, scope, filter),
        show: (tx, rows) => withActors(tx, rows, ['createdBy']),
      })
    },

    /** Canonical JSON. @throws {Failure} `not_found`, `environment_mismatch`; `not_ready` while there is none. */
    async report(scope: Scope, id: string): Promise<string> {
      checkId(id, 'dif', scope.environment)
      const found = await db.tenant(scope, (tx) => findReport(tx, id))
      if (found === undefined) throw notFound(id)
      if (found.report === null) throw notReady(`${id} has no report`, found)
      return found.report
    },

    /** Idempotent for one that was cancelled. @throws {Failure} `not_found`; `invalid_state_transition` when it has ended. */
    async cancel(scope: Scope, id: string, key?: IdempotencyKey): Promise<ShownDiff> {
      checkId(id, 'dif', scope.environment)
      const cancel = async (tx: Tx) => {
        const cancelled = await cancelDiff(tx, id, now())
        const row = cancelled ?? (await getDiff(tx, id))
        if (row.status !== 'cancelled') throw refusedCancel(row)
        if (cancelled !== undefined) {
          // A job that runs finds the row ended at its next checkpoint.
          await cancelJobs(tx, [row.jobId])
          await deleteCheckpoint(tx, id)
        }
        return row
      }
      return db.tenant(scope, async (tx) => shown(tx, await again(tx, key, cancel)))
    },
  }
}

async function getDiff(tx: Tx, id: string): Promise<DiffRow> {
  const row = await findDiff(tx, id)
  if (row === undefined) throw notFound(id)
  return row
}

const shown = (tx: Tx, row: DiffRow): Promise<ShownDiff> => rowWithActors(tx, row, ['createdBy'])

const notFound = (id: string) => new Failure('not_found', `There is no diff ${id}.`)
