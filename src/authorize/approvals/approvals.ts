// Step-up approvals as callers see them: what waits for people, what they decided, and the mail that asks them.

import type { LetterWriter } from '#src/account/mail/send.ts'
import { readActors } from '#src/account/users/actors.ts'
import { Failure, invalidField } from '#src/failure.ts'
import { createTransactionBatcher } from '#src/platform/batching.ts'
import type { JsonObject } from '#src/platform/crypto/canonical.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { createFairSemaphore } from '#src/platform/fair-semaphore.ts'
import type { ActorsOf } from '#src/platform/http/actor.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, listPage, type Pager } from '#src/platform/http/page.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { checkId, checkName, type Scope } from '#src/platform/ids.ts'
import type { AwaitedRow, PolledWaits } from '#src/platform/polled-waits.ts'
import type { Assertions, PasskeyChallenge } from '../passkeys/assertions.ts'
import type { PolicyReader } from '../policy/current.ts'
import { boundOf, type Deciding, type Decision, noApproval } from './decide.ts'
import { countedVotes, type MissingVotes, missingVotes, requiresHumanSession } from './facts.ts'
import { letterOf } from './letter.ts'
import {
  type ApprovalFilter,
  countApprovals,
  findApproval,
  findApprovalAfterDecisions,
  findSealedPayload,
  type ListedRow,
  listApprovals,
  type ShownApproval,
} from './rows.ts'
import { openDescription, openPayload } from './sealed.ts'
import { findApprovers, findVotes, readLiveVotes, type VoteRow } from './vote-rows.ts'

/** An approval with what people decided. */
export interface ListedApproval<Row extends ListedRow | ShownApproval = ListedRow> {
  row: Row
  description: string
  votes: VoteRow[]
  /** Of all who are named in it. */
  actors: ActorsOf
}

export interface WholeApproval extends ListedApproval<ShownApproval> {
  payload: JsonObject
  /** While it is pending. */
  missing: MissingVotes[]
}

export interface ApprovalsDeps {
  db: Pick<Database, 'tenant'>
  sealer: Sealer
  pager: Pager
  baseUrl: string
  readPolicy: PolicyReader['readPolicy']
  deciding: Deciding
  assertions: Pick<Assertions, 'issueChallenge' | 'reissueChallenge'>
  waits: Pick<PolledWaits<AwaitedRow>, 'ended' | 'tell'>
}

interface Named {
  scope: Scope
  id: string
}

export interface ApprovalQuery extends Omit<ApprovalFilter, 'awaiting'> {
  /** Those alone that the caller may decide and has not decided. */
  awaiting?: 'me' | undefined
  limit: number
  cursor?: string | undefined
  include?: 'total_count' | undefined
}

type Person = Omit<NonNullable<ApprovalFilter['awaiting']>, 'isHumanOnly'>

export type Approvals = ReturnType<typeof createApprovals>

// Fewer than the connections of an account, which other requests need too.
const READS = {
  slots: 3,
  slotsEach: 2,
  maxWaitingEach: 4_000,
  maxWaiting: 8_000,
  refusal: { detail: 'Too many callers read approvals at this moment. Try again.', retryAfterSeconds: 2 },
}

const LIST_ROUTE = 'GET /v1/approvals'
// Of a letter: enough to know whether the recipient is among them.
const MAX_APPROVERS = 10_000

export function createApprovals(deps: ApprovalsDeps) {
  const { db, sealer, pager, baseUrl, readPolicy, deciding, assertions, waits } = deps

  // What looks expired may have been decided in time by a transaction that has not committed.
  async function findSettled(tx: Tx, id: string): Promise<ShownApproval | undefined> {
    const row = await findApproval(tx, id)
    return row?.status === 'expired' ? findApprovalAfterDecisions(tx, id) : row
  }

  async function isHumanOnly(tx: Tx, { environment }: Scope): Promise<boolean> {
    return requiresHumanSession((await readPolicy(tx)).compiled.document, environment)
  }

  /** The filter of what waits for a person. */
  async function awaitedBy(tx: Tx, scope: Scope, person: Person): Promise<ApprovalFilter['awaiting']> {
    return { ...person, isHumanOnly: await isHumanOnly(tx, scope) }
  }

  async function readMissing(tx: Tx, scope: Scope, row: ShownApproval): Promise<MissingVotes[]> {
    const [live, hasPeopleOnly] = await Promise.all([readLiveVotes(tx, row.id), isHumanOnly(tx, scope)])
    return missingVotes(row, countedVotes(live, hasPeopleOnly))
  }

  async function findWhole(tx: Tx, scope: Scope, id: string): Promise<WholeApproval | undefined> {
    const row = await findSettled(tx, id)
    if (row === undefined) return undefined
    const [votes, sealed, missing] = await Promise.all([
      findVotes(tx, [id]),
      findSealedPayload(tx, id),
      row.status === 'pending' ? readMissing(tx, scope, row) : [],
    ])
    if (sealed === undefined) throw new Error('an approval without a payload')
    return {
      row,
      votes,
      description: openDescription(sealer, id, row.sealedDescription),
      payload: openPayload(sealer, id, sealed),
      missing,
      actors: await readActors(tx, actorIdsOf(row, votes)),
    }
  }

  // A transaction for all callers that read one approval at the same moment, and a few at a time for different ones: hundreds
  // that were answered together waited for a connection until they were refused.
  const inTurn = createFairSemaphore(READS)
  const readTogether = createTransactionBatcher<Named, WholeApproval | undefined>({
    keyOf: ({ scope, id }) => `${scope.accountId} ${scope.environment} ${id}`,
    maxRunning: 1,
    run: (take, { scope, id }) =>
      inTurn(scope.accountId, () =>
        db.tenant(scope, async (tx) => {
          const callers = take()
          const found = await findWhole(tx, scope, id)
          return callers.map(() => found)
        }),
      ),
  })

  async function read({ accountId, environment }: Scope, id: string): Promise<WholeApproval> {
    return (await readTogether({ scope: { accountId, environment }, id })) ?? refuseUnknown(id)
  }

  async function get(scope: Scope, id: string): Promise<WholeApproval> {
    checkId(id, 'apr', scope.environment)
    return read(scope, id)
  }

  return {
    get,

    /**
     * Waits up to `waitSeconds` while it is pending.
     * @throws {Failure} `environment_mismatch`, `not_found`.
     */
    async awaitEnd(scope: Scope, id: string, waitSeconds: number, signal: AbortSignal): Promise<WholeApproval> {
      const first = await get(scope, id)
      if (waitSeconds === 0 || first.row.status !== 'pending') return first
      const { accountId, environment } = scope
      await waits.ended({ accountId, environment, id }, waitSeconds * 1_000, signal)
      return read(scope, id)
    },

    /**
     * Newest first.
     * @throws {Failure} `environment_mismatch`; `invalid_request` at `?cursor`, and at `?awaiting` for a key.
     */
    async list(acting: Acting, query: ApprovalQuery): Promise<CountedPage<ListedApproval>> {
      const { jti, agentSessionId, awaiting } = query
      if (jti !== undefined) checkId(jti, 'jti', acting.environment)
      if (agentSessionId !== undefined) checkName(agentSessionId, acting.environment)
      const person = awaiting === undefined ? undefined : personOf(acting)
      const filterOf = async (tx: Tx) => ({ ...query, awaiting: person && (await awaitedBy(tx, acting, person)) })
      const list = { route: LIST_ROUTE, scope: acting, query: { ...query, userId: person?.userId } }
      return listPage({ db, pager }, list, {
        rows: async (tx, page) => listApprovals(tx, acting, await filterOf(tx), page),
        count: async (tx) => countApprovals(tx, acting, await filterOf(tx)),
        show: async (tx, rows) => {
          const all = await findVotes(
            tx,
            rows.map(({ id }) => id),
          )
          const votes = Map.groupBy(all, ({ approvalId }) => approvalId)
          const actors = await readActors(
            tx,
            rows.flatMap((row) => actorIdsOf(row, votes.get(row.id) ?? [])),
          )
          return rows.map((row) => ({
            row,
            description: openDescription(sealer, row.id, row.sealedDescription),
            votes: votes.get(row.id) ?? [],
            actors,
          }))
        },
      })
    },

    /** What waits for a person, as the list has it; of a key all that are pending. At most `most`. */
    async countAwaiting(tx: Tx, acting: Acting, most: number): Promise<number> {
      const filter: ApprovalFilter =
        acting.principal.kind === 'session'
          ? { awaiting: await awaitedBy(tx, acting, personOf(acting)) }
          : { statuses: ['pending'] }
      return countApprovals(tx, acting, filter, most)
    },

    /** @throws {Failure} as `Deciding.decide`. */
    async decide(acting: Acting, id: string, given: Decision, key?: IdempotencyKey): Promise<WholeApproval> {
      await deciding.decide(acting, id, given, key)
      waits.tell(id)
      // Before those whom this has woken.
      return (await db.tenant(acting, (tx) => findWhole(tx, acting, id))) ?? refuseUnknown(id)
    },

    /**
     * A challenge that a passkey signs, for one decision about this approval.
     * @throws {Failure} `environment_mismatch`, `not_found`, `approval_already_decided`.
     */
    async challenge(acting: Acting, id: string, key?: IdempotencyKey): Promise<PasskeyChallenge> {
      checkId(id, 'apr', acting.environment)
      return db.tenant(acting, async (tx) => {
        const row = await findSettled(tx, id)
        if (row === undefined) throw noApproval(id)
        if (row.status !== 'pending') {
          throw new Failure('approval_already_decided', {
            detail: `${id} is ${row.status}: there is nothing to confirm.`,
            members: { approval_status: row.status },
          })
        }
        return once(
          tx,
          key,
          () => assertions.issueChallenge(tx, acting, boundOf(row)),
          ({ challenge_id }) => challenge_id,
        )
      })
    },

    /** What an earlier request with the same Idempotency-Key made. */
    challengeAgain: (scope: Scope, challengeId: string): Promise<PasskeyChallenge> =>
      assertions.reissueChallenge(scope, challengeId),

    /** Of the mail queue. No letter for what has ended, and for a person who may not decide it any more. */
    writeLetter: (async ({ subjectId: id, recipient, scope }) =>
      db.tenant(scope, async (tx) => {
        const row = await findApproval(tx, id)
        if (row?.status !== 'pending') return undefined
        const wanted = { roles: row.roles, except: row.excludedIds, limit: MAX_APPROVERS }
        const approvers = await findApprovers(tx, scope, wanted)
        const isAsked = approvers.some(({ email }) => email === recipient)
        return isAsked ? letterOf(row, scope.environment, baseUrl) : undefined
      })) satisfies LetterWriter,
  }
}

function actorIdsOf({ requesterId, actorId }: ListedRow | ShownApproval, votes: readonly VoteRow[]) {
  return [requesterId, actorId, ...votes.map(({ userId }) => userId)]
}

function personOf({ principal }: Acting): Person {
  if (principal.kind === 'session') return { userId: principal.userId, role: principal.role }
  throw invalidField('?awaiting', 'not_allowed', 'is for sessions: an API key speaks for several people')
}

function refuseUnknown(id: string): never {
  throw noApproval(id)
}
