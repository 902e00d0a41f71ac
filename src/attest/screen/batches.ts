// Screenings in bulk. A line is two ids, so the whole body fits in memory; its valid lines become rows in one
// transaction.

import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { BEYOND_CAP, ROOM_TAKEN, takeRoom } from '#src/account/usage/caps.ts'
import { Failure, type FieldError } from '#src/failure.ts'
import { type BulkWork, inParts } from '#src/platform/bulk-work.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { TimeRange } from '#src/platform/db/id-ranges.ts'
import { retryDeadlocks } from '#src/platform/db/retry.ts'
import { createFairBudget, type FairBudget, type Hold } from '#src/platform/fair-budget.ts'
import {
  createReport,
  nothingAccepted,
  parseLine,
  type Rejection,
  type RejectionReport,
} from '#src/platform/http/bulk.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { readElements } from '#src/platform/http/json-array.ts'
import { readLines } from '#src/platform/http/ndjson.ts'
import { type CountedPage, type CountedQuery, listPage, type PageQuery, type Pager } from '#src/platform/http/page.ts'
import { checkId, newId, type Scope } from '#src/platform/ids.ts'
import type { Waiters } from '#src/platform/jobs/waiters.ts'
import { createSlice } from '#src/platform/slices.ts'
import { acceptScreenings, checkLine } from './accept.ts'
import {
  countScreeningBatches,
  findLastQueuedJob,
  findRejected,
  findScreeningBatch,
  findScreeningBatches,
  insertScreeningBatch,
  type ScreeningBatchRow,
  setRejected,
} from './batch-rows.ts'
import { type ScreenLine, screenLine } from './requests.ts'

/** Ten thousand lines of two ids each, with room for spaces. */
export const MAX_BATCH_BYTES = 8 * 1024 * 1024
const MAX_LINE_BYTES = 1_024
const LIMITS = { maxBytes: MAX_LINE_BYTES, maxDepth: 4, maxValues: 20 }
const MAX_LINES = 10_000
/** For callers whose key is published. */
const MAX_PUBLIC_LINES = 1_000
// Lines in memory, of all batches that are uploaded or wait: some thirty of the largest. One account gets half.
const LINES_BYTES = 128 * 1024 * 1024
// The upper estimate of a line's memory: its body, or its errors.
const BYTES_PER_LINE = 512
// Below a cap, one batch of an account at a time, over all processes.
const MAX_WAIT_MS = 60_000
const TRY_EVERY_MS = 100

interface Line {
  line: number
  body: ScreenLine
}

/** With the refused lines, as the answer of the upload has them. */
export type SubmittedScreeningBatch = ScreeningBatchRow & { rejected: Rejection[] }

export interface ScreeningUpload {
  stream: Readable
  /** A JSON array instead of NDJSON. */
  isArray: boolean
  idempotencyKey?: IdempotencyKey | undefined
}

export interface ScreeningBatchesDeps {
  db: Database
  pager: Pager
  waiters: Pick<Waiters, 'settled'>
  now: () => Date
  bulkWork: BulkWork
  /** Of lines in memory. */
  linesBudget?: FairBudget
}

export function createScreeningBatches({
  db,
  pager,
  waiters,
  now,
  bulkWork,
  linesBudget = createFairBudget(LINES_BYTES),
}: ScreeningBatchesDeps) {
  async function accept(
    tx: Tx,
    scope: Caller,
    lines: readonly Line[],
    intake: RejectionReport,
  ): Promise<SubmittedScreeningBatch> {
    const at = now()
    const id = newId('bat', scope.environment, at.getTime())
    const report = intake.copy()
    let accepted = 0
    const [room] = await Promise.all([takeRoom(tx, scope, at), insertScreeningBatch(tx, scope, { id, createdAt: at })])
    let isBeyondCap = false
    for await (const part of inParts([lines])) {
      const batch = { id, lines: part.map(({ line }) => line) }
      const bodies = part.map(({ body }) => body)
      const verdicts = await acceptScreenings(tx, scope, bodies, { batch, priority: 'bulk', room, now: at })
      verdicts.forEach((verdict, index) => {
        if ('screening' in verdict) accepted += 1
        else {
          report.add(part[index]?.line ?? 0, verdict.errors)
          isBeyondCap ||= verdict.errors.includes(BEYOND_CAP)
        }
      })
    }
    if (accepted === 0) {
      const rejected = report.rejections()
      throw isBeyondCap ? room.refusal({ accepted: 0, rejected }) : nothingAccepted(rejected)
    }
    await setRejected(tx, id, { accepted, rejected: report.rejections() })
    return getSubmittedBatch(tx, id)
  }

  async function acceptWithSlot(
    caller: Caller,
    { idempotencyKey }: ScreeningUpload,
    { lines, intake, hold }: { lines: readonly Line[]; intake: RejectionReport; hold: Hold },
  ): Promise<SubmittedScreeningBatch> {
    const acceptOnce = (tx: Tx) =>
      once(
        tx,
        idempotencyKey,
        () => accept(tx, caller, lines, intake),
        ({ id }) => id,
      )
    for (const deadline = performance.now() + MAX_WAIT_MS; ; await delay(TRY_EVERY_MS * (0.5 + Math.random()))) {
      const row = await bulkWork(caller.accountId, lines.length, async () => {
        if (!hold.begin()) throw tooManyUploads()
        return retryDeadlocks(() => db.tenant(caller, acceptOnce)).catch(undefinedIfTaken)
      })
      if (row !== undefined) return row
      if (performance.now() > deadline) {
        throw new Failure('service_unavailable', 'Other batches of this account are being accepted. Retry.')
      }
    }
  }

  return {
    /**
     * Reads a body to its end and accepts its valid lines in one transaction.
     * @throws {Failure} `payload_too_large`, `invalid_json` (a malformed array), `invalid_request` when no line can be
     * accepted (member `rejected` says why), `service_unavailable`, and any failure of the stream. Then nothing is stored.
     */
    async submit(caller: Caller, upload: ScreeningUpload): Promise<SubmittedScreeningBatch> {
      const hold = linesBudget.open(caller.accountId)
      try {
        const { lines, intake } = await readAll(caller, upload, hold)
        if (hold.isEvicted) throw tooManyUploads()
        if (lines.length === 0) throw nothingAccepted(intake.rejections())
        return await acceptWithSlot(caller, upload, { lines, intake, hold })
      } finally {
        hold.release()
      }
    },

    /** What `submit` answered, with the progress of now. @throws {Failure} `not_found`, `environment_mismatch`. */
    async getSubmitted(scope: Scope, id: string): Promise<SubmittedScreeningBatch> {
      checkId(id, 'bat', scope.environment)
      return db.tenant(scope, (tx) => getSubmittedBatch(tx, id))
    },

    /** Waits up to `waitSeconds` until each line has ended. @throws {Failure} `not_found`, `environment_mismatch`. */
    async awaitBatch(scope: Scope, id: string, waitSeconds: number, signal: AbortSignal): Promise<ScreeningBatchRow> {
      checkId(id, 'bat', scope.environment)
      const deadline = performance.now() + waitSeconds * 1_000
      const awaited = new Set<string>()
      for (;;) {
        const { row, jobId } = await db.tenant(scope, async (tx) => ({
          row: await getBatch(tx, id),
          jobId: waitSeconds === 0 ? undefined : await findLastQueuedJob(tx, id),
        }))
        // A job that has ended before its line did gave up: its end is written after it.
        if (jobId === undefined || awaited.has(jobId)) return row
        awaited.add(jobId)
        const hasEnded = await waiters.settled(jobId, deadline - performance.now(), signal)
        if (!hasEnded) return db.tenant(scope, (tx) => getBatch(tx, id))
      }
    },

    /** Newest first. @throws {Failure} `invalid_request` at `?cursor`. */
    async list(scope: Scope, range: TimeRange, query: CountedQuery): Promise<CountedPage<ScreeningBatchRow>> {
      const list = { route: 'GET /v1/media/screenings/batches', scope, query: { ...query, ...range } }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => findScreeningBatches(tx, scope, range, page),
        count: (tx) => countScreeningBatches(tx, scope, range),
      })
    },

    /**
     * The rejected lines, in the order of the input.
     * @throws {Failure} `not_found`, `environment_mismatch`, `invalid_request` at `?cursor`.
     */
    async listRejected(scope: Scope, id: string, query: PageQuery): Promise<CountedPage<Rejection>> {
      checkId(id, 'bat', scope.environment)
      const list = { route: `GET /v1/media/screenings/batches/${id}/rejected`, scope, query }
      return listPage({ db, pager }, list, {
        rows: async (tx, { before = '0', limit }) => {
          const rejected = await findRejected(tx, id)
          if (rejected === undefined) throw noBatch(id)
          return rejected.filter(({ line }) => line > Number(before)).slice(0, limit)
        },
        keyOf: ({ line }) => String(line),
      })
    },
  }
}

export type ScreeningBatches = ReturnType<typeof createScreeningBatches>

async function readAll(
  caller: Caller,
  { stream, isArray }: ScreeningUpload,
  hold: Hold,
): Promise<{ lines: Line[]; intake: RejectionReport }> {
  const intake = createReport()
  const lines: Line[] = []
  const limits = { maxLines: caller.isAccountBearing ? MAX_LINES : MAX_PUBLIC_LINES, maxLineBytes: MAX_LINE_BYTES }
  hold.mayBeEvicted(() => {
    lines.length = 0
  })
  const read = isArray ? readElements(stream, { ...limits, maxBytes: MAX_BATCH_BYTES }) : readLines(stream, limits)
  const slice = createSlice()
  for await (const { line, bytes } of read) {
    if (!hold.take(BYTES_PER_LINE)) throw tooManyUploads()
    const verdict = judgeLine(bytes, caller)
    if ('body' in verdict) lines.push({ line, body: verdict.body })
    else intake.add(line, verdict.errors)
    if (slice.isOver()) await slice.next()
  }
  return { lines, intake }
}

function tooManyUploads(): Failure {
  return new Failure('service_unavailable', 'Too many batches are being uploaded at once. Retry later.')
}

function undefinedIfTaken(error: unknown): undefined {
  if (error !== ROOM_TAKEN) throw error
}

async function getBatch(tx: Tx, id: string): Promise<ScreeningBatchRow> {
  const row = await findScreeningBatch(tx, id)
  if (row === undefined) throw noBatch(id)
  return row
}

async function getSubmittedBatch(tx: Tx, id: string): Promise<SubmittedScreeningBatch> {
  return { ...(await getBatch(tx, id)), rejected: (await findRejected(tx, id)) ?? [] }
}

const noBatch = (id: string) => new Failure('not_found', `There is no batch of screenings ${id}.`)

function judgeLine(bytes: Buffer | undefined, scope: Scope): { body: ScreenLine } | { errors: FieldError[] } {
  const parsed = parseLine(bytes, screenLine, LIMITS)
  if ('errors' in parsed) return parsed
  const errors = checkLine(parsed.value, scope)
  return errors.length === 0 ? { body: parsed.value } : { errors }
}
