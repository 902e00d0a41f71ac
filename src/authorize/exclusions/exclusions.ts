// The exclusion lists of an account as its callers see them: which files are in force, uploads, screenings and reviews.

import { recordAudit } from '#src/account/audit/record.ts'
import { rowWithActors, type WithActors, withActors } from '#src/account/users/actors.ts'
import { Failure, invalidField } from '#src/failure.ts'
import { note } from '#src/platform/context.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import {
  type CountedPage,
  createdBetween,
  type ListQuery,
  listPage,
  type PageQuery,
  type Pager,
} from '#src/platform/http/page.ts'
import { type Acting, actorOf, roleOf } from '#src/platform/http/principal.ts'
import { checkId, getOwned, newId, newJobId, type Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import type { AwaitedRow, PolledWaits } from '#src/platform/polled-waits.ts'
import type { BlobSource, BlobStore } from '#src/platform/store/blobs.ts'
import { type FileKind, type ListName, readFileName } from './formats.ts'
import { staleLists } from './judge.ts'
import {
  countImports,
  countReviews,
  decideReview,
  findImport,
  findPointer,
  findReview,
  hasImported,
  type ImportRow,
  insertImport,
  listImports,
  listReviews,
  type Pointer,
  type ReviewRow,
} from './rows.ts'
import {
  type ChangeRow,
  countScreenings,
  type ExclusionScreeningRow,
  findScreening,
  listChanges,
  listScreenings,
} from './screening-rows.ts'

export const MAX_UPLOAD_BYTES = 200 * 1024 * 1024

export interface ExclusionsDeps {
  db: Pick<Database, 'tenant'>
  store: Pick<BlobStore, 'put'>
  ledger: Pick<Ledger, 'record'>
  pager: Pager
  waits: Pick<PolledWaits<AwaitedRow>, 'ended'>
  now: () => Date
}

export type ShownImport = WithActors<ImportRow, 'requestedBy'>
export type ShownReview = WithActors<ReviewRow, 'decidedBy'>

export interface ListState {
  list: ListName
  pointer: Pointer | undefined
  isStale: boolean
}

/** An upload, before its bytes are known. */
export interface ListUpload {
  list: ListName
  fileName: string | undefined
  kind: FileKind | undefined
  isForced: boolean
}

/** Why a person clears or confirms a review. */
export const REVIEW_REASONS = [
  'birth_date_differs',
  'npi_differs',
  'ssn_differs',
  'address_differs',
  'other_person',
  'same_person',
] as const
export type ReviewReason = (typeof REVIEW_REASONS)[number]

export type Exclusions = ReturnType<typeof createExclusions>

export function createExclusions({ db, store, ledger, pager, waits, now }: ExclusionsDeps) {
  async function getImport(scope: Scope, id: string): Promise<ShownImport> {
    checkId(id, 'exi', scope.environment)
    return db.tenant(scope, async (tx) => shown(tx, await getOwned(findImport(tx, scope, id), id)))
  }

  const shown = (tx: Tx, row: ImportRow): Promise<ShownImport> => rowWithActors(tx, row, ['requestedBy'])

  return {
    async state(scope: Scope, list: ListName): Promise<ListState> {
      const pointer = await db.tenant(scope, (tx) => findPointer(tx, scope, list))
      const dates = new Map(pointer === undefined ? [] : [[list, pointer.listDate] as const])
      const isStale = staleLists(dates, now().toISOString().slice(0, 10)).includes(list)
      return { list, pointer, isStale }
    },

    /**
     * Streams a file into the store, and queues its import.
     * @throws {Failure} `payload_too_large`, `invalid_request` (empty), `insufficient_role` (force by others than an owner),
     * and any failure of the stream.
     */
    async upload(
      by: Acting,
      upload: ListUpload,
      { source, key }: { source: BlobSource; key?: IdempotencyKey | undefined },
    ): Promise<ShownImport> {
      if (upload.isForced && roleOf(by.principal) !== 'owner') {
        throw new Failure('insufficient_role', {
          detail: 'Only an owner replaces a list against its checks.',
          members: { allowed: ['owner'] },
        })
      }
      const { sha256, size } = await store.put(by, source, { maxBytes: MAX_UPLOAD_BYTES, ownsChunks: true })
      if (size === 0) throw invalidField('', 'empty_body', 'is empty: send the bytes of one file')
      key?.bodyIs(Buffer.from(sha256, 'hex'))
      const insert = async (tx: Tx) => {
        const row = await insertUpload(tx, by, { ...upload, sha256, size, requestedBy: actorOf(by.principal).id })
        await enqueue(tx, 'exclusions', by, [{ id: newJobId(), payload: { exclusionImportId: row.id } }])
        await recordAudit(tx, by, {
          action: 'exclusion_list.uploaded',
          subjectId: row.id,
          after: { list: row.list, kind: row.kind, file_sha256: sha256, force: upload.isForced },
        })
        return shown(tx, row)
      }
      return db.tenant(by, (tx) => once(tx, key, insert, ({ id }) => id))
    },

    /**
     * The same of the operator, from bytes that are in the store: without a job where `isQueued` is false.
     * @returns undefined when the same bytes were imported or refused before.
     */
    async insertOperators(
      scope: Scope,
      upload: ListUpload & { sha256: string; size: number },
      { isQueued }: { isQueued: boolean },
    ): Promise<ImportRow | undefined> {
      return db.tenant(scope, async (tx) => {
        const isKnown = await hasImported(tx, scope, upload.list, Buffer.from(upload.sha256, 'hex'))
        if (isQueued && isKnown) return undefined
        const row = await insertUpload(tx, scope, { ...upload, requestedBy: 'operator' })
        if (isQueued) await enqueue(tx, 'exclusions', scope, [{ payload: { exclusionImportId: row.id } }])
        return row
      })
    },

    /** @throws {Failure} `not_found`, `environment_mismatch`. */
    getImport,

    /** The same, after its end or `waitSeconds` later. @param signal Aborted when the caller has gone. */
    async getEndedImport(scope: Scope, id: string, waitSeconds: number, signal: AbortSignal): Promise<ShownImport> {
      const first = await getImport(scope, id)
      if (waitSeconds === 0 || !['queued', 'running'].includes(first.status)) return first
      const { accountId, environment } = scope
      await waits.ended({ accountId, environment, id }, waitSeconds * 1_000, signal)
      return getImport(scope, id)
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async imports(
      scope: Scope,
      query: ListQuery & { list?: ListName | undefined; status?: readonly string[] | undefined },
    ): Promise<CountedPage<ShownImport>> {
      const filter = { list: query.list, statuses: query.status, ...createdBetween(query) }
      const request = { route: 'GET /v1/clinical/exclusion-imports', scope, query }
      return listPage({ db, pager }, request, {
        rows: (tx, page) => listImports(tx, scope, { ...filter, ...page }),
        count: (tx) => countImports(tx, scope, filter),
        show: (tx, rows) => withActors(tx, rows, ['requestedBy']),
      })
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async screenings(
      scope: Scope,
      query: ListQuery & { status?: readonly string[] | undefined },
    ): Promise<CountedPage<ExclusionScreeningRow>> {
      const filter = { statuses: query.status, ...createdBetween(query) }
      return listPage(
        { db, pager },
        { route: 'GET /v1/clinical/exclusion-screenings', scope, query },
        {
          rows: (tx, page) => listScreenings(tx, scope, { ...filter, ...page }),
          count: (tx) => countScreenings(tx, scope, filter),
        },
      )
    },

    /** In the order of the prescribers' ids. @throws {Failure} `not_found`, `environment_mismatch`, `invalid_request`. */
    async changes(scope: Scope, id: string, query: PageQuery): Promise<CountedPage<ChangeRow>> {
      checkId(id, 'exs', scope.environment)
      await db.tenant(scope, (tx) => getOwned(findScreening(tx, scope, id), id))
      const request = { route: `GET /v1/clinical/exclusion-screenings/${id}/changes`, scope, query }
      return listPage({ db, pager }, request, {
        rows: (tx, { before, limit }) => listChanges(tx, scope, { screeningId: id, after: before, limit }),
        keyOf: ({ prescriberId }: ChangeRow) => prescriberId,
      })
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async reviews(
      scope: Scope,
      query: ListQuery & {
        status?: readonly string[] | undefined
        list?: ListName | undefined
        prescriber_id?: string | undefined
      },
    ): Promise<CountedPage<ShownReview>> {
      const { status: statuses, list, prescriber_id: prescriberId } = query
      if (prescriberId !== undefined) checkId(prescriberId, 'prs', scope.environment)
      const filter = { statuses, list, prescriberId, ...createdBetween(query) }
      return listPage(
        { db, pager },
        { route: 'GET /v1/clinical/exclusion-reviews', scope, query },
        {
          rows: (tx, page) => listReviews(tx, scope, { ...filter, ...page }),
          count: (tx) => countReviews(tx, scope, filter),
          show: (tx, rows) => withActors(tx, rows, ['decidedBy']),
        },
      )
    },

    /** @throws {Failure} `not_found`, `environment_mismatch`. */
    async getReview(scope: Scope, id: string): Promise<ShownReview> {
      checkId(id, 'exr', scope.environment)
      return db.tenant(scope, async (tx) =>
        rowWithActors(tx, await getOwned(findReview(tx, scope, id), id), ['decidedBy']),
      )
    },

    /**
     * A decision is changed by the opposite one. Of two that come at once, one is refused.
     * @throws {Failure} `not_found`, `environment_mismatch`; `invalid_state_transition` when it has this status already.
     */
    async decide(
      by: Acting,
      id: string,
      { status, reason }: { status: 'cleared' | 'confirmed'; reason: ReviewReason },
      key?: IdempotencyKey,
    ): Promise<ShownReview> {
      checkId(id, 'exr', by.environment)
      note({ exclusionReview: id })
      const decide = async (tx: Tx) => {
        const before = await getOwned(findReview(tx, by, id), id)
        const decidedBy = actorOf(by.principal).id
        const from = [before.status].filter((one) => one !== status)
        const row = await decideReview(tx, by, { id, from, status, reason, decidedBy })
        if (row === undefined) throw refusedDecision(id, status, before.status)
        await recordDecision(tx, by, { row, before: before.status, reason })
        return rowWithActors(tx, row, ['decidedBy'])
      }
      return db.tenant(by, (tx) => once(tx, key, decide, (row) => row.id))
    },
  }

  async function insertUpload(
    tx: Tx,
    scope: Scope,
    {
      list,
      fileName,
      kind,
      isForced,
      sha256,
      size,
      requestedBy,
    }: ListUpload & {
      sha256: string
      size: number
      requestedBy: string
    },
  ): Promise<ImportRow> {
    const createdAt = now()
    return insertImport(tx, scope, {
      id: newId('exi', scope.environment, createdAt.getTime()),
      list,
      kind: kind ?? readFileName(list, fileName).kind ?? 'full',
      fileName: fileName ?? null,
      sha256: Buffer.from(sha256, 'hex'),
      size,
      isForced,
      requestedBy,
      createdAt,
    })
  }

  async function recordDecision(
    tx: Tx,
    by: Acting,
    { row, before, reason }: { row: ReviewRow; before: string; reason: ReviewReason },
  ): Promise<void> {
    const { id, prescriberId, list, rowHash, status } = row
    await recordAudit(tx, by, {
      action: 'exclusion_review.decided',
      subjectId: id,
      before: { status: before },
      after: { status, reason, prescriber_id: prescriberId, list, row_hash: rowHash },
    })
    await ledger.record(tx, by, {
      kind: 'clinician_order',
      at: row.decidedAt ?? now(),
      actor: actorOf(by.principal),
      subject: id,
      reason: `exclusion_review_${status}`,
      valid: null,
      inputs: { prescriber_id: prescriberId, list, row_hash: rowHash, reason, status_before: before },
    })
  }
}

function refusedDecision(id: string, status: 'cleared' | 'confirmed', current: string): Failure {
  const allowed = ['open', status === 'cleared' ? 'confirmed' : 'cleared']
  return new Failure('invalid_state_transition', {
    detail: `${id} can not be ${status}: it is ${current === status ? current : 'decided otherwise meanwhile'}.`,
    members: { allowed, current_status: current },
  })
}
