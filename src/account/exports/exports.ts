// Exports of everything that an account has, as the account sees them. The archive is made by a job (export.ts).

import type { Readable } from 'node:stream'
import type { ReadAudit } from '#src/account/audit/reads.ts'
import { recordAudit } from '#src/account/audit/record.ts'
import { checkFreshSession } from '#src/account/sessions/own-sessions.ts'
import { readActors } from '#src/account/users/actors.ts'
import { Failure } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { ActorView } from '#src/platform/http/actor.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import {
  type CountedPage,
  createdBetween,
  inBothEnvironments,
  type ListQuery,
  listPage,
  type Pager,
} from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { newAccountId, newJobId, type Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import type { AwaitedRow, PolledWaits } from '#src/platform/polled-waits.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import {
  countExports,
  type ExportRow,
  expireExport,
  findExport,
  findNthNewest,
  findOldExports,
  insertExport,
  listExports,
} from './rows.ts'

/** Each reads every table of the account and writes a new archive, of many gigabytes with media. Failed ones count too. */
const MAX_EXPORTS_A_DAY = 3
const DAY_MS = 86_400_000

/** An export whose archive can be downloaded. */
export interface ReadyExport extends ExportRow {
  size: number
  sha256: Buffer
}

interface ExportsDeps {
  db: Pick<Database, 'tenant'>
  store: Pick<BlobStore, 'openRead' | 'delete'>
  pager: Pager
  waits: Pick<PolledWaits<AwaitedRow>, 'ended'>
  now: () => Date
  recordRead: ReadAudit
}

export interface ShownExport extends ExportRow {
  requester: ActorView
}

export type AccountExports = ReturnType<typeof createExports>

export function createExports({ db, store, pager, waits, now, recordRead }: ExportsDeps) {
  async function get(by: Acting, id: string): Promise<ShownExport> {
    checkProven(by)
    return db.tenant(by, async (tx) => {
      const row = await findExport(tx, id)
      if (row === undefined) throw new Failure('not_found', `There is no export ${id}.`)
      return withRequester(tx, row)
    })
  }

  return {
    /**
     * @throws {Failure} `conflict` while another export of the account has not ended; `rate_limited` beyond
     * `MAX_EXPORTS_A_DAY`; `session_required`, `session_expired`.
     */
    create(by: Acting, wanted: { includesMedia: boolean }, key?: IdempotencyKey): Promise<ShownExport> {
      const id = newAccountId('exp')
      const jobId = newJobId()
      const { includesMedia } = wanted
      const { accountId } = by
      const insert = async (tx: Tx) => {
        await checkFreshSession(tx, by, now(), 'An account is exported')
        const requestedBy = actorOf(by.principal).id
        const at = now()
        const row = await insertExport(tx, { accountId, id, includesMedia, requestedBy, jobId, createdAt: at })
        if (row === undefined) {
          throw new Failure('conflict', 'An export of this account is being made. Wait for its end, or download it.')
        }
        // After the insert: until its transaction ends, no other export of the account is inserted.
        await checkQuota(tx, at)
        await enqueue(tx, 'export', by, [{ id: jobId, payload: { exportId: id }, priority: 'bulk' }])
        const after = { includes_media: includesMedia }
        await recordAudit(tx, by, { action: 'account.exported', subjectId: id, after, isScoped: false })
        return withRequester(tx, row)
      }
      return db.tenant(by, (tx) => once(tx, key, insert, (row) => row.id))
    },

    /** @throws {Failure} `not_found`; `environment_mismatch` for a session whose link proved no address. */
    get,

    /** The same, after its end or `waitSeconds` later. @param signal Aborted when the caller has gone. */
    async getEnded(by: Acting, id: string, waitSeconds: number, signal: AbortSignal): Promise<ShownExport> {
      const first = await get(by, id)
      if (waitSeconds === 0 || !['queued', 'running'].includes(first.state)) return first
      await waits.ended({ ...liveOf(by), id }, waitSeconds * 1_000, signal)
      return get(by, id)
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`; `environment_mismatch`. */
    async list(by: Acting, query: ListQuery): Promise<CountedPage<ShownExport>> {
      checkProven(by)
      const filter = createdBetween(query)
      const list = { ...inBothEnvironments(by), route: 'GET /v1/account/exports', query }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => listExports(tx, filter, page),
        count: (tx) => countExports(tx, filter),
        show: async (tx, rows) => {
          const actor = await readActors(
            tx,
            rows.map(({ requestedBy }) => requestedBy),
          )
          return rows.map((row) => ({ ...row, requester: actor(row.requestedBy) }))
        },
      })
    },

    /**
     * For a download. @throws {Failure} `not_found`; `not_ready` before it is made; `conflict` when it failed or has expired; `session_required`,
     * `session_expired`.
     */
    async getReady(by: Acting, id: string): Promise<ReadyExport> {
      const row = await get(by, id)
      await db.tenant(by, (tx) => checkFreshSession(tx, by, now(), 'An archive is downloaded'))
      const { state, size, sha256, expiresAt } = row
      if (state !== 'ready' || size === null || sha256 === null || (expiresAt !== null && expiresAt <= now())) {
        throw notDownloadable(row)
      }
      return { ...row, size, sha256 }
    },

    /** The archive or a range of it, once the download is in the audit log. */
    async open(by: Acting, { id, sha256 }: ReadyExport, range?: { first: number; last: number }): Promise<Readable> {
      await recordRead(by, {
        action: 'account.export_read',
        subjectId: id,
        representation: 'archive',
        // A download begins with the first byte: further ranges continue it.
        hasOwnEntry: range === undefined || range.first === 0,
        isScoped: false,
      })
      const blob = await store.openRead(liveOf(by), sha256.toString('hex'), range === undefined ? {} : { range })
      if (blob === undefined) throw new Failure('conflict', `${id} can not be downloaded: it is expired.`)
      return blob.stream
    },

    /** Deletes the archives whose time is over. Returns how many. */
    async expire(scope: Scope, signal: AbortSignal): Promise<number> {
      // Archives are kept once per account, beside the media of the live environment.
      if (scope.environment !== 'live') return 0
      const old = await db.tenant(scope, (tx) => findOldExports(tx, now()))
      let expired = 0
      for (const { id, sha256 } of old) {
        if (signal.aborted) break
        await store.delete(scope, sha256)
        await db.tenant(scope, (tx) => expireExport(tx, id))
        expired += 1
      }
      return expired
    },
  }
}

async function withRequester(tx: Tx, row: ExportRow): Promise<ShownExport> {
  const actor = await readActors(tx, [row.requestedBy])
  return { ...row, requester: actor(row.requestedBy) }
}

/** With the export that was just inserted. @throws {Failure} `rate_limited` */
async function checkQuota(tx: Tx, at: Date): Promise<void> {
  const oldest = await findNthNewest(tx, MAX_EXPORTS_A_DAY + 1)
  if (oldest === undefined) return
  const waitMs = oldest.getTime() + DAY_MS - at.getTime()
  if (waitMs <= 0) return
  const seconds = Math.ceil(waitMs / 1_000)
  throw new Failure('rate_limited', {
    detail: `An account requests at most ${MAX_EXPORTS_A_DAY} exports in 24 hours, failed ones too. Try again in ${seconds} s.`,
    members: { limit: 'exports' },
    headers: { 'Retry-After': String(seconds) },
  })
}

function notDownloadable({ id, state }: ExportRow): Failure {
  if (state === 'queued' || state === 'running') {
    return new Failure('not_ready', {
      detail: `${id} can not be downloaded yet: it is ${state}.`,
      members: { current_status: state },
    })
  }
  return new Failure('conflict', `${id} can not be downloaded: it ${state === 'failed' ? 'failed' : 'has expired'}.`)
}

function liveOf({ accountId }: Scope): Scope {
  return { accountId, environment: 'live' }
}

// An archive has the data of the live environment too.
function checkProven({ principal }: Acting): void {
  if (principal.kind === 'session' && !principal.isSandboxOnly) return
  throw new Failure(
    'environment_mismatch',
    'The link of this session was shown and not mailed, so it reaches the sandbox only: sign in with a mailed link, or with one that ' +
      'the operator prints.',
  )
}
