// Screenings as the API sees them: submit, find, list. screen.ts calls the detector.

import { Failure, refusalOf } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { retryDeadlocks } from '#src/platform/db/retry.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, type CountedQuery, listPage, type Pager } from '#src/platform/http/page.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import { createEagerDispatch } from '#src/platform/jobs/eager-dispatch.ts'
import type { Waiters } from '#src/platform/jobs/waiters.ts'
import { type BytesOf, type StoreInline, storeIfInline } from '../media/inline.ts'
import { acceptScreenings, checkLine } from './accept.ts'
import type { ScreenRequest } from './requests.ts'
import { countScreenings, findScreenings, type ScreeningFilter, type ScreeningRow, selectScreening } from './rows.ts'

export interface ScreeningsDeps {
  db: Database
  storeInline: StoreInline
  /** Hands one job to the engine at once when there is room. A failure is harmless: the dispatcher finds the job. */
  dispatchSoon(jobId: string): Promise<void>
  waiters: Waiters
  pager: Pager
  now: () => Date
}

interface Asking {
  bytesOf: BytesOf
  waitSeconds: number
  signal: AbortSignal
  key?: IdempotencyKey | undefined
}

// Where the single request has the members of a batch line.
const POINTERS = { media: '/media/media_id', claim: '/claim_id' }

export function createScreenings({ db, storeInline, dispatchSoon, waiters, pager, now }: ScreeningsDeps) {
  const { whileCounted, dispatchIfIdle } = createEagerDispatch(dispatchSoon)

  /** Waits up to `waitSeconds` while it is queued. @throws {Failure} `not_found`, `environment_mismatch`. */
  async function awaitScreening(scope: Scope, id: string, waitSeconds: number, signal: AbortSignal) {
    checkId(id, 'scr', scope.environment)
    const row = await getScreening(scope, id)
    if (row.status !== 'queued' || waitSeconds === 0) return row
    await waiters.settled(row.jobId, waitSeconds * 1_000, signal)
    return getScreening(scope, id)
  }

  // Hundreds of callers may be answered at the same moment.
  async function getScreening(scope: Scope, id: string): Promise<ScreeningRow> {
    const [[row]] = await db.readTenant<[ScreeningRow]>(scope, [selectScreening(id)])
    if (row === undefined) throw new Failure('not_found', `There is no screening ${id}.`)
    return row
  }

  return {
    /**
     * Accepts one screening and waits up to `waitSeconds` for it.
     * @throws {Failure} `environment_mismatch` and `not_found` for foreign media and claims, `claim_erased`,
     * and what an upload throws.
     */
    async screen(
      scope: Scope,
      request: ScreenRequest,
      { bytesOf, waitSeconds, signal, key }: Asking,
    ): Promise<ScreeningRow> {
      const { media } = request
      // The schema refuses URLs.
      if ('url' in media) throw new Failure('invalid_request', 'Media are not fetched from addresses.')
      const named = 'media_id' in media ? { media_id: media.media_id } : {}
      const errors = checkLine({ claim_id: request.claim_id, ...named }, scope, POINTERS)
      if (errors.length > 0) throw refusalOf(errors)
      const line = { claim_id: request.claim_id, ...(await storeIfInline(storeInline, scope, media, bytesOf)) }
      const accept = async (tx: Tx) => {
        const source = { priority: 'interactive' as const, now: now(), pointers: POINTERS }
        const [verdict] = await acceptScreenings(tx, scope, [line], source)
        if (verdict === undefined || 'errors' in verdict) throw refusalOf(verdict?.errors ?? [])
        return verdict.screening
      }
      const { id, jobId } = await whileCounted(() =>
        retryDeadlocks(() => db.tenant(scope, (tx) => once(tx, key, accept, (made) => made.id))),
      )
      note({ screening: id })
      dispatchIfIdle(jobId)
      return awaitScreening(scope, id, waitSeconds, signal)
    },

    awaitScreening,
    retryAfterSeconds: waiters.retryAfterSeconds,

    async list(scope: Scope, filter: ScreeningFilter, query: CountedQuery): Promise<CountedPage<ScreeningRow>> {
      const list = { route: 'GET /v1/media/screenings', scope, query: { ...query, ...filter } }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => findScreenings(tx, scope, filter, page),
        count: (tx) => countScreenings(tx, scope, filter),
      })
    },
  }
}

export type Screenings = ReturnType<typeof createScreenings>
