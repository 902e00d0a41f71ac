// Re-evaluations as the API sees them: their cause, their progress and the results that they replaced.

import { type Counts, countMarks } from '#src/attest/causes/mark-rows.ts'
import { findReevaluation, findReevaluations, type ReevaluationRow } from '#src/attest/causes/rows.ts'
import { findPastResults, type PastResult } from '#src/attest/claims/result-rows.ts'
import { Failure } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import {
  type CountedPage,
  createdBetween,
  listPage,
  numberOf,
  type PageQuery,
  type Pager,
} from '#src/platform/http/page.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import type { Waiters } from '#src/platform/jobs/waiters.ts'
import { findAttestation } from '../claims/rows.ts'
import { type DryRun, type DryRunRequest, dryRun } from './dry-run.ts'

export type Reevaluation = Omit<ReevaluationRow, 'counts'> & { counts: Counts }

export interface ReevaluationListQuery {
  limit: number
  cursor?: string | undefined
  created_gte?: string | undefined
  created_lt?: string | undefined
  cause?: readonly string[] | undefined
}

export type Reevaluations = ReturnType<typeof createReevaluations>

interface ReevaluationsDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
  waiters: Pick<Waiters, 'settled'>
}

export function createReevaluations({ db, pager, waiters }: ReevaluationsDeps) {
  async function get(scope: Scope, id: string): Promise<Reevaluation> {
    const found = await db.tenant(scope, async (tx) => {
      const row = await findReevaluation(tx, id)
      return row && counted(tx, row)
    })
    if (found === undefined) throw new Failure('not_found', `There is no re-evaluation ${id}.`)
    return found
  }

  return {
    /**
     * Waits up to `waitSeconds` for its end.
     * @throws {Failure} `environment_mismatch`, `not_found`.
     */
    async awaitReevaluation(scope: Scope, id: string, waitSeconds: number, signal: AbortSignal): Promise<Reevaluation> {
      checkId(id, 'ree', scope.environment)
      const found = await get(scope, id)
      const { finishedAt, failedAt, jobId } = found
      if (finishedAt !== null || failedAt !== null || waitSeconds === 0) return found
      await waiters.settled(jobId, waitSeconds * 1_000, signal)
      return get(scope, id)
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async list(scope: Scope, query: ReevaluationListQuery): Promise<CountedPage<Reevaluation>> {
      const filter = { causes: query.cause, ...createdBetween(query) }
      const list = { route: 'GET /v1/account/reevaluations', scope, query }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => findReevaluations(tx, scope, filter, page),
        show: async (tx, rows) => {
          const data: Reevaluation[] = []
          for (const row of rows) data.push(await counted(tx, row))
          return data
        },
      })
    },

    /** @throws {Failure} `invalid_request` at `/cursor`. */
    dryRun: (scope: Scope, request: DryRunRequest): Promise<DryRun> => dryRun({ db, pager }, scope, request),

    /**
     * The replaced results of an attestation, newest first.
     * @throws {Failure} `environment_mismatch`, `not_found`; `invalid_request` at `?cursor`.
     */
    async results(scope: Scope, id: string, query: PageQuery): Promise<CountedPage<PastResult>> {
      checkId(id, 'att', scope.environment)
      const list = { route: `GET /v1/attestations/${id}/results`, scope, query }
      return listPage({ db, pager }, list, {
        rows: async (tx, { before, limit }) => {
          if ((await findAttestation(tx, id)) === undefined)
            throw new Failure('not_found', `There is no attestation ${id}.`)
          return findPastResults(tx, id, { before: numberOf(before), limit })
        },
        keyOf: ({ seq }) => String(seq),
      })
    },
  }
}

// The counts of an ended re-evaluation don't change while its marks exist, so they are stored with it.
async function counted(tx: Tx, row: ReevaluationRow): Promise<Reevaluation> {
  return { ...row, counts: row.finishedAt === null || row.counts === null ? await countMarks(tx, row.id) : row.counts }
}
