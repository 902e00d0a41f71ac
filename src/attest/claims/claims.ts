// Claims as the API sees them: submit, find, list. The evaluation is in verify.ts and in the factors.

import { recountLines } from '#src/account/usage/meter.ts'
import { Failure, refusalOf } from '#src/failure.ts'
import { createTransactionBatcher } from '#src/platform/batching.ts'
import { note } from '#src/platform/context.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { retryDeadlocks } from '#src/platform/db/retry.ts'
import type { Caller } from '#src/platform/http/endpoint.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, type CountedQuery, listPage, type Page, type Pager } from '#src/platform/http/page.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import { revive } from '#src/platform/jobs/backlog.ts'
import { createEagerDispatch } from '#src/platform/jobs/eager-dispatch.ts'
import type { Waiters } from '#src/platform/jobs/waiters.ts'
import { traceparentOf } from '#src/platform/trace.ts'
import type { Streams } from '../captures/streams.ts'
import { type BytesOf, type StoreInline, storeIfInline } from '../media/inline.ts'
import type { Acceptance, Accepted } from './accept.ts'
import { acceptInteractive } from './accept-interactive.ts'
import {
  type ClaimFilter,
  type ClaimOrder,
  type ClaimPlace,
  countClaims,
  findClaims,
  type ListedClaim,
  type PlacedClaim,
  selectClaim,
} from './claim-rows.ts'
import { resubmit } from './resubmit.ts'
import {
  type AttestationRow,
  findAttestation,
  findByExternalIds,
  markQueued,
  selectAttestation,
  selectAttestationsOfClaim,
} from './rows.ts'
import { type AttestRequest, type BatchLine, checkSubmission, type Submission } from './submission.ts'
import { listsManyChunks, prepareSubmission } from './submission-text.ts'
import { workStatusOf } from './views.ts'

// Submissions that share a transaction.
const MAX_TOGETHER = 16

export interface ClaimsDeps {
  db: Database
  /** Stores inline media as an upload does. */
  storeInline: StoreInline
  /** Assembles streamed chunks. */
  streams: Pick<Streams, 'assemble'>
  /** Hands one job to the engine at once when there is room. A failure is harmless: the dispatcher finds the job. */
  dispatchSoon(jobId: string): Promise<void>
  waiters: Waiters
  pager: Pager
  now: () => Date
}

export interface Waiting {
  waitSeconds: number
  signal: AbortSignal
}

export interface Submitting extends Waiting {
  bytesOf: BytesOf
  /** Why nothing new is accepted now. */
  overCap?: Failure | undefined
  key?: IdempotencyKey | undefined
}

export type ClaimEvidence = AttestationRow & { submission: Submission }

export function createClaims({ db, storeInline, streams, dispatchSoon, waiters, pager, now }: ClaimsDeps) {
  const { whileCounted, dispatchIfIdle } = createEagerDispatch(dispatchSoon)

  const acceptBatched = createTransactionBatcher<{ scope: Scope; body: BatchLine }, Acceptance>({
    keyOf: ({ scope }) => `${scope.accountId} ${scope.environment}`,
    maxSize: MAX_TOGETHER,
    run: (take, { scope }) =>
      retryDeadlocks(() =>
        db.tenant(scope, (tx) =>
          acceptInteractive(
            tx,
            scope,
            take().map(({ body }) => body),
            { now: now() },
          ),
        ),
      ),
  })

  function acceptSingle(scope: Scope, body: BatchLine, key?: IdempotencyKey): Promise<Accepted> {
    const accept = async (tx: Tx) => acceptedOf(...(await acceptInteractive(tx, scope, [body], { now: now() })))
    return retryDeadlocks(() => db.tenant(scope, (tx) => once(tx, key, accept, (accepted) => accepted.attestationId)))
  }

  // A traced request needs its own transaction, and an Idempotency-Key is stored in the transaction of its effect.
  async function accept(scope: Scope, body: BatchLine, key: IdempotencyKey | undefined): Promise<Accepted> {
    // Sixteen long videos in one transaction would be 40 MB.
    if (key !== undefined || traceparentOf() !== undefined || listsManyChunks(body.bundle))
      return acceptSingle(scope, body, key)
    const verdict = await acceptBatched({ scope, body })
    return isAboutName(verdict) ? acceptSingle(scope, body) : acceptedOf(verdict)
  }

  async function readAttestation(scope: Scope, id: string): Promise<AttestationRow> {
    const [[row]] = await db.readTenant<[AttestationRow]>(scope, [selectAttestation(id)])
    return row ?? refuseUnknown(id)
  }

  async function settledOrNow(
    scope: Scope,
    { id, jobId }: Pick<AttestationRow, 'id' | 'jobId'>,
    { waitSeconds, signal }: Waiting,
  ): Promise<AttestationRow> {
    await waiters.settled(jobId, waitSeconds * 1_000, signal)
    return readAttestation(scope, id)
  }

  /** Waits up to `waitSeconds` while it is queued. @throws {Failure} `not_found`, `environment_mismatch`. */
  async function awaitAttestation(scope: Scope, id: string, waiting: Waiting): Promise<AttestationRow> {
    checkId(id, 'att', scope.environment)
    const row = await readAttestation(scope, id)
    if (row.status !== 'queued' || waiting.waitSeconds === 0) return row
    return settledOrNow(scope, row, waiting)
  }

  // A repeat of what was accepted before is answered, and not counted.
  async function isKnown(scope: Scope, { external_id: name }: AttestRequest): Promise<boolean> {
    if (name === undefined) return false
    return (await db.tenant(scope, (tx) => findByExternalIds(tx, [name]))).length > 0
  }

  async function withStoredMedia(scope: Scope, request: AttestRequest, bytesOf: BytesOf): Promise<BatchLine> {
    const { media, ...rest } = request
    if (!('capture_session_id' in media))
      return { ...rest, media: await storeIfInline(storeInline, scope, media, bytesOf) }
    const { id } = await streams.assemble(scope, media.capture_session_id)
    return { ...rest, media: { media_id: id }, stream: media.capture_session_id }
  }

  return {
    /**
     * Accepts one submission and waits up to `waitSeconds` for its evaluation.
     * @throws {Failure} `invalid_request` with every finding, `environment_mismatch` and `not_found` for foreign media,
     * `conflict` when the external id names something else, and `overCap` unless it names an attestation.
     */
    async attest(
      caller: Caller,
      request: AttestRequest,
      { bytesOf, overCap, key, ...waiting }: Submitting,
    ): Promise<AttestationRow> {
      const errors = checkSubmission(request, caller.environment, now().getTime())
      if (errors.length > 0) throw refusalOf(errors)
      if (overCap !== undefined && !(await isKnown(caller, request))) throw overCap
      const body = await withStoredMedia(caller, request, bytesOf)
      await prepareSubmission(body)
      const { attestationId, claimId, jobId, isRepeat, row } = await whileCounted(() => accept(caller, body, key))
      note({ attestation: attestationId, claim: claimId })
      // An attestation that was evaluated long ago has no job left to wait for.
      if (isRepeat) return awaitAttestation(caller, attestationId, waiting)
      dispatchIfIdle(jobId)
      if (waiting.waitSeconds === 0 && row !== undefined) return row
      return settledOrNow(caller, { id: attestationId, jobId }, waiting)
    },

    awaitAttestation,
    retryAfterSeconds: waiters.retryAfterSeconds,

    /**
     * Restarts a failed evaluation, or submits a cancelled capture again.
     * @throws {Failure} `invalid_state_transition` unless it failed or was cancelled; `conflict` when a cancelled
     * capture was submitted again meanwhile, or its claim was erased.
     */
    async retry(scope: Scope, id: string, key?: IdempotencyKey): Promise<AttestationRow> {
      checkId(id, 'att', scope.environment)
      const retry = async (tx: Tx) => {
        const found = await getAttestation(tx, id)
        const isCancelled = found.status === 'cancelled'
        const isQueued = isCancelled ? await resubmit(tx, scope, found, now()) : await revive(tx, found.jobId)
        if (isQueued) await recountLines(tx, scope, 'attest', isCancelled ? [found] : await markQueued(tx, id))
        // Read again: of two concurrent retries the second sees the effect of the first.
        const current = await getAttestation(tx, id)
        if (!isQueued) throw notRetryable(current)
        return current
      }
      const row = await db.tenant(scope, (tx) => once(tx, key, retry, () => id))
      dispatchIfIdle(row.jobId)
      return row
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<ListedClaim> {
      checkId(id, 'clm', scope.environment)
      const [[claim]] = await db.readTenant<[ListedClaim]>(scope, [selectClaim(id)])
      if (claim === undefined) throw noClaim(id)
      return claim
    },

    /**
     * The attestations of a claim with their submissions, newest first.
     * @throws {Failure} `environment_mismatch`, `not_found`, `invalid_request` at `?cursor`.
     */
    async listAttestations(
      scope: Scope,
      id: string,
      query: { limit: number; cursor?: string | undefined },
    ): Promise<Page<ClaimEvidence>> {
      checkId(id, 'clm', scope.environment)
      const binding = { route: 'GET /v1/claims/:id/attestations', scope, query: { id } }
      const before = pager.decode(query.cursor, binding)
      const [[claim], rows] = await db.readTenant<[ListedClaim, ClaimEvidence]>(scope, [
        selectClaim(id),
        selectAttestationsOfClaim(id, { before, limit: query.limit + 1 }),
      ])
      if (claim === undefined) throw noClaim(id)
      return pager.page(rows, query.limit, (row) => row.id, binding)
    },

    async list(
      scope: Scope,
      filter: ClaimFilter,
      { order, ...query }: CountedQuery & { order: ClaimOrder },
    ): Promise<CountedPage<ListedClaim>> {
      const list = { route: 'GET /v1/claims', scope, query: { ...query, ...filter, ...order } }
      return listPage({ db, pager }, list, {
        rows: (tx, { before, limit }) => findClaims(tx, scope, filter, { order, after: placeOf(before), limit }),
        count: (tx) => countClaims(tx, scope, filter),
        keyOf: cursorOf,
      })
    },
  }
}

export type Claims = ReturnType<typeof createClaims>

const cursorOf = ({ id, place }: PlacedClaim): string => `${place} ${id}`

function placeOf(cursor: string | undefined): ClaimPlace | undefined {
  if (cursor === undefined) return undefined
  const [value = '', id = ''] = cursor.split(' ')
  return { value, id }
}

const noClaim = (id: string): Failure => new Failure('not_found', `There is no claim ${id}.`)

async function getAttestation(tx: Tx, id: string): Promise<AttestationRow> {
  return (await findAttestation(tx, id)) ?? refuseUnknown(id)
}

/** @throws {Failure} the refusal. */
function acceptedOf(verdict?: Acceptance): Accepted {
  if (verdict === undefined || 'errors' in verdict) throw refusalOf(verdict?.errors ?? [])
  return verdict.accepted
}

// Of submissions that share an external id, a batch tries only the first. Its result is known by now.
function isAboutName(verdict: Acceptance): boolean {
  return (
    'errors' in verdict && verdict.errors.some(({ code }) => code === 'duplicate_line' || code === 'external_id_reused')
  )
}

function refuseUnknown(id: string): never {
  throw new Failure('not_found', `There is no attestation ${id}.`)
}

function notRetryable({ status, erasedAt }: AttestationRow): Failure {
  const state = erasedAt === null ? workStatusOf(status) : 'erased'
  return new Failure('invalid_state_transition', {
    detail: `Only an attestation that failed or was cancelled can be retried; the status of this one is ${state}.`,
    members: { allowed: ['failed', 'cancelled'], current_status: state },
  })
}
