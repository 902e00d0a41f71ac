// Claims in bulk. A body becomes rows in one transaction after its last byte, or not at all. An invalid line is
// reported with its number and does not affect the other lines.

import { tmpdir } from 'node:os'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { BEYOND_CAP, ROOM_TAKEN, type Room, takeRoom } from '#src/account/usage/caps.ts'
import { countBatch } from '#src/account/usage/meter.ts'
import { Failure } from '#src/failure.ts'
import { type BulkWork, inParts } from '#src/platform/bulk-work.ts'
import type { SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { retryDeadlocks } from '#src/platform/db/retry.ts'
import { createFairBudget, type FairBudget } from '#src/platform/fair-budget.ts'
import { createReport, nothingAccepted, type Rejection, type RejectionReport } from '#src/platform/http/bulk.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import { type IdempotencyKey, once, refuseRepeat } from '#src/platform/http/idempotency.ts'
import { readElements } from '#src/platform/http/json-array.ts'
import { type Line, readLines } from '#src/platform/http/ndjson.ts'
import { type CountedPage, type CountedQuery, listPage, type PageQuery, type Pager } from '#src/platform/http/page.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import { cancelJobs } from '#src/platform/jobs/backlog.ts'
import type { Waiters } from '#src/platform/jobs/waiters.ts'
import { createSlice } from '#src/platform/slices.ts'
import { isLockTimeout } from '#src/platform/unavailable.ts'
import type { Acceptance } from '../claims/accept.ts'
import { acceptBulk } from '../claims/accept-bulk.ts'
import { cancelCaptures, resetClaims } from '../claims/cancelled-rows.ts'
import { CLAIM_CLOSED, type DeferredClaims, deferClaims } from '../claims/deferred-claims.ts'
import { MAX_BODY_BYTES as MAX_ARRAY_BYTES } from '../claims/submission.ts'
import { judgeLine, MAX_LINE_BYTES } from './lines.ts'
import { type BatchCounts, countsFrom, measureProgress, type Progress, RECENT_MS } from './progress.ts'
import { readResults } from './results.ts'
import {
  type BatchFilter,
  type BatchSummary,
  completeBatch,
  countBatches,
  countLines,
  countRunning,
  countUnfinished,
  findBatch,
  findBatches,
  findOpenCaptures,
  findOpenJob,
  findRejected,
  insertBatch,
  markCancelled,
  tryLockBatches,
} from './rows.ts'
import { createSpool, type Spool, type SpooledLine } from './spool.ts'

export const MAX_BATCH_BYTES = 256 * 1024 * 1024
const MAX_LINES = 10_000
/** For callers whose key is published. */
const MAX_PUBLIC_LINES = 1_000

// Eight of the largest bodies at once, four of one account; all processes of the machine share the disk.
const SPOOL_BYTES = 2 * 1024 * 1024 * 1024
// One batch of an account and environment at a time, over all processes, and each takes seconds; an idle connection is cut
// after 120 s.
const MAX_WAIT_MS = 60_000
const TRY_EVERY_MS = 100

export interface BatchesDeps {
  db: Database
  pager: Pager
  /** They say which results were signed by a revoked key. */
  signingKeys: Pick<SigningKeys, 'jwks'>
  waiters: Pick<Waiters, 'settled'>
  now: () => Date
  bulkWork: BulkWork
  /** Of disk for the lines of incomplete bodies. */
  spoolBudget?: FairBudget
  /** Where the lines of an incomplete body are stored. Default: the system's temporary directory. */
  spoolDirectory?: string
}

export interface BatchState {
  row: BatchSummary
  progress: Progress
}

export interface ListedBatch {
  row: BatchSummary
  counts: BatchCounts
}

/** A batch as it was accepted. */
export interface SubmittedBatch extends BatchState {
  rejected: readonly Rejection[]
}

export interface BatchUpload {
  stream: Readable
  /** A JSON array instead of NDJSON. */
  isArray: boolean
  /** Aborted when the client disconnects. */
  signal: AbortSignal
  idempotencyKey?: IdempotencyKey | undefined
}

export function createBatches({
  db,
  pager,
  signingKeys,
  waiters,
  now,
  bulkWork,
  spoolBudget = createFairBudget(SPOOL_BYTES),
  spoolDirectory = tmpdir(),
}: BatchesDeps) {
  async function stateOf(tx: Tx, scope: Scope, id: string): Promise<BatchState> {
    const row = await findBatch(tx, id)
    if (row === undefined) throw new Failure('not_found', `There is no batch ${id}.`)
    const at = now()
    const counts = await countLines(tx, id, new Date(at.getTime() - RECENT_MS))
    const running = (await countRunning(tx, scope, [id])).get(id) ?? 0
    return { row, progress: measureProgress(counts, { running, createdAt: row.createdAt, now: at }) }
  }

  async function withRejected(tx: Tx, state: BatchState): Promise<SubmittedBatch> {
    const rejected = await findRejected(tx, state.row.id, { after: 0, limit: null })
    return { ...state, rejected: rejected.map(({ rejection }) => rejection) }
  }

  const read = (scope: Scope, id: string) => db.tenant(scope, (tx) => stateOf(tx, scope, id))

  async function acceptWithSlot(
    scope: Caller,
    spool: Spool,
    intake: RejectionReport,
    { signal, idempotencyKey }: BatchUpload,
  ): Promise<SubmittedBatch> {
    // Undefined, with nothing written, while another batch of the account is being accepted.
    const tryAccept = async (tx: Tx) => {
      if (!(await tryLockBatches(tx, scope))) return undefined
      return once(
        tx,
        idempotencyKey,
        () => acceptAll(tx, scope, spool, intake),
        ({ row }) => row.id,
      )
    }
    const startOver = (error: unknown) => {
      if (error !== CLAIM_CLOSED && error !== ROOM_TAKEN && !isLockTimeout(error)) throw error
      return undefined
    }
    for (const deadline = performance.now() + MAX_WAIT_MS; ; await delay(TRY_EVERY_MS * (0.5 + Math.random()))) {
      const state = await bulkWork(scope.accountId, spool.count(), async () => {
        // The client would never learn the batch's id.
        if (signal.aborted) throw new Failure('request_timeout', 'The client went away before its answer.')
        return retryDeadlocks(() => db.tenant(scope, tryAccept)).catch(startOver)
      })
      if (state !== undefined) return state
      if (performance.now() > deadline) {
        throw new Failure(
          'service_unavailable',
          'Other batches of this account are being accepted, or its claims are being changed. Retry.',
        )
      }
    }
  }

  async function acceptAll(tx: Tx, scope: Caller, spool: Spool, intake: RejectionReport): Promise<SubmittedBatch> {
    const at = now()
    const id = newId('bat', scope.environment, at.getTime())
    const report = intake.copy()
    let accepted = 0
    const repeated: [line: number, attestationId: string][] = []
    const [claims, room] = await Promise.all([
      deferClaims(tx, scope, id),
      takeRoom(tx, scope, at),
      insertBatch(tx, scope, { id, createdAt: at }),
    ])
    let isBeyondCap = false
    for await (const part of inParts(spool.chunks())) {
      const verdicts = await acceptPart(tx, scope, part, { id, now: at, claims, room })
      for (const [line, verdict] of verdicts) {
        if ('errors' in verdict) {
          report.add(line, verdict.errors)
          isBeyondCap ||= verdict.errors.includes(BEYOND_CAP)
        } else {
          accepted += 1
          if (verdict.accepted.isRepeat) repeated.push([line, verdict.accepted.attestationId])
        }
      }
    }
    if (accepted === 0) {
      const rejected = report.rejections()
      throw isBeyondCap ? room.refusal({ accepted: 0, rejected }) : nothingAccepted(rejected)
    }
    await Promise.all([
      completeBatch(tx, id, { accepted, rejected: report.rejections(), repeated }),
      countBatch(tx, scope, 'attest', { batchId: id, lines: accepted - repeated.length }),
    ])
    const state = await withRejected(tx, await stateOf(tx, scope, id))
    await claims.write()
    return state
  }

  return {
    /**
     * Reads a body to its end and accepts its valid lines in one transaction.
     * @throws {Failure} `payload_too_large`, `invalid_json` (a malformed array), `invalid_request` when no line can be
     * accepted (member `rejected` says why), `service_unavailable`, and any failure of the stream. Then nothing is
     * stored.
     */
    async submit(caller: Caller, upload: BatchUpload): Promise<SubmittedBatch> {
      const spool = await createSpool({ directory: spoolDirectory, hold: spoolBudget.open(caller.accountId) })
      try {
        const intake = createReport()
        const nowMs = now().getTime()
        const slice = createSlice()
        for await (const { line, bytes } of linesOf(upload, caller)) {
          const verdict = judgeLine(bytes, caller.environment, nowMs)
          if ('body' in verdict) await spool.add({ line, body: verdict.body })
          else intake.add(line, verdict.errors)
          if (slice.isOver()) await slice.next()
        }
        if (spool.count() === 0) throw nothingAccepted(intake.rejections())
        return await acceptWithSlot(caller, spool, intake, upload)
      } finally {
        await spool.close()
      }
    },

    /** @throws {Failure} `not_found`, `environment_mismatch`. */
    async get(scope: Scope, id: string): Promise<BatchState> {
      checkId(id, 'bat', scope.environment)
      return read(scope, id)
    },

    /** For a repeat of `submit`. @throws {Failure} `not_found`. */
    getSubmitted: (scope: Scope, id: string): Promise<SubmittedBatch> =>
      db.tenant(scope, async (tx) => withRejected(tx, await stateOf(tx, scope, id))),

    /**
     * Waits up to `waitSeconds` until all lines have ended.
     * @throws {Failure} `not_found`, `environment_mismatch`.
     */
    async awaitEnd(scope: Scope, id: string, waitSeconds: number, signal: AbortSignal): Promise<BatchState> {
      checkId(id, 'bat', scope.environment)
      const found = await read(scope, id)
      if (waitSeconds === 0 || found.progress.settled >= found.row.accepted) return found
      const deadline = performance.now() + waitSeconds * 1_000
      for (;;) {
        const jobId = await db.tenant(scope, (tx) => findOpenJob(tx, id))
        // One job after the other: the last is among the last to end, and a place to wait is for one job.
        if (jobId === undefined || !(await waiters.settled(jobId, deadline - performance.now(), signal))) break
      }
      return read(scope, id)
    },

    /** Rejected lines, by line. @throws {Failure} `not_found`, `environment_mismatch`, `invalid_request` at `?cursor`. */
    async listRejected(scope: Scope, id: string, query: PageQuery): Promise<CountedPage<Rejection>> {
      checkId(id, 'bat', scope.environment)
      const list = { route: 'GET /v1/claims/batches/:id/rejected', scope, query: { ...query, id } }
      return listPage({ db, pager }, list, {
        rows: async (tx, { before = '0', limit }) => {
          if ((await findBatch(tx, id)) === undefined) throw new Failure('not_found', `There is no batch ${id}.`)
          return findRejected(tx, id, { after: Number(before), limit })
        },
        keyOf: ({ place }) => String(place),
        show: async (_tx, rows) => rows.map(({ rejection }) => rejection),
      })
    },

    async list(scope: Scope, filter: BatchFilter, query: CountedQuery): Promise<CountedPage<ListedBatch>> {
      const list = { route: 'GET /v1/claims/batches', scope, query: { ...query, ...filter } }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => findBatches(tx, scope, filter, page),
        count: (tx) => countBatches(tx, scope, filter),
        show: async (tx, rows) => {
          const ids = rows.map(({ id }) => id)
          const [unfinished, running] = await Promise.all([countUnfinished(tx, ids), countRunning(tx, scope, ids)])
          return rows.map((row) => {
            const own = unfinished.filter(({ batchId }) => batchId === row.id)
            return { row, counts: countsFrom(row, own, running.get(row.id) ?? 0) }
          })
        },
      })
    },

    /**
     * The results as NDJSON, in input order, up to the first line that is not settled; with `showsPending` to the end.
     * views.ts describes the lines.
     * @throws {Failure} `not_found`, `environment_mismatch`, `invalid_request` (a cursor of another batch, or
     * malformed).
     */
    async results(
      scope: Scope,
      id: string,
      { cursor, showsPending }: { cursor: string | undefined; showsPending: boolean },
    ): Promise<Readable> {
      checkId(id, 'bat', scope.environment)
      const row = await db.tenant(scope, (tx) => findBatch(tx, id))
      if (row === undefined) throw new Failure('not_found', `There is no batch ${id}.`)
      return Readable.from(readResults({ db, pager, signingKeys }, { scope, batchId: id, cursor, showsPending }))
    },

    /**
     * Cancels the lines that have not started; running ones finish. Idempotent. A cancelled line counts as never
     * submitted. Where it fails on the way, the lines cancelled so far stay so, and a repeat cancels the others.
     * @throws {Failure} `not_found`, `environment_mismatch`.
     */
    async cancel(scope: Scope, id: string, key?: IdempotencyKey): Promise<BatchState & { cancelled: number }> {
      checkId(id, 'bat', scope.environment)
      const run = <R>(work: (tx: Tx) => Promise<R>) => retryDeadlocks(() => db.tenant(scope, work))
      const open = await run(async (tx) => {
        if (key !== undefined) await refuseRepeat(tx, key)
        const found = await findOpenCaptures(tx, id)
        if (found.length > 0) await markCancelled(tx, id, now())
        return found
      })
      let cancelled = 0
      // Workers claim jobs of all accounts together, and wait for a row that a transaction holds: ten thousand lines in one
      // delayed every other account by a tenth of a second, and their lists blocked the event loop for as long.
      for await (const part of inParts([open])) {
        cancelled += await run(async (tx) => {
          const jobIds = new Set(await cancelJobs(tx, jobIdsOf(part)))
          const captures = part.filter(({ jobId }) => jobIds.has(jobId))
          await resetClaims(tx, await cancelCaptures(tx, scope, { batchId: id, captures }))
          return captures.length
        })
      }
      const answer = async (tx: Tx) => ({ ...(await stateOf(tx, scope, id)), cancelled })
      return run((tx) => once(tx, key, answer, () => String(cancelled)))
    },
  }
}

export type Batches = ReturnType<typeof createBatches>

const jobIdsOf = (captures: readonly { jobId: string }[]) => captures.map(({ jobId }) => jobId)

function linesOf({ stream, isArray }: BatchUpload, { isAccountBearing }: Caller): AsyncGenerator<Line, void> {
  const limits = { maxLines: isAccountBearing ? MAX_LINES : MAX_PUBLIC_LINES, maxLineBytes: MAX_LINE_BYTES }
  return isArray ? readElements(stream, { ...limits, maxBytes: MAX_ARRAY_BYTES }) : readLines(stream, limits)
}

async function acceptPart(
  tx: Tx,
  scope: Scope,
  part: readonly SpooledLine[],
  { id, now, claims, room }: { id: string; now: Date; claims: DeferredClaims; room: Room },
): Promise<Map<number, Acceptance>> {
  const verdicts = await accept(part)
  // An external id that occurs twice in one call is refused there. On a second call the later line gets the attestation
  // that the first line created, as it would from another part or another batch.
  const again = part.filter(({ line }) => isDuplicate(verdicts.get(line)))
  if (again.length > 0) for (const [line, verdict] of await accept(again)) verdicts.set(line, verdict)
  return verdicts

  async function accept(lines: readonly SpooledLine[]): Promise<Map<number, Acceptance>> {
    const answers = await acceptBulk(tx, scope, lines, { batchId: id, claims, room, now })
    return new Map(answers.map((answer, index) => [lines[index]?.line ?? 0, answer]))
  }
}

function isDuplicate(verdict: Acceptance | undefined): boolean {
  return verdict !== undefined && 'errors' in verdict && verdict.errors.some(({ code }) => code === 'duplicate_line')
}
