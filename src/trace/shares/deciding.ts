// The account decides about requests: it grants, denies and revokes; the clock writes down what has ended by itself. What a
// grant does is written once, in the transaction of the grant.

import { recordAudit, type Unattended } from '#src/account/audit/record.ts'
import { type LetterWriter, sendMail } from '#src/account/mail/send.ts'
import { readActors } from '#src/account/users/actors.ts'
import { emit } from '#src/account/webhooks/emit.ts'
import { Failure } from '#src/failure.ts'
import { note as noteForLog } from '#src/platform/context.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Platform } from '#src/platform/feature.ts'
import { type ActorView, unlabelledActor } from '#src/platform/http/actor.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, createdBetween, type ListQuery, listPage } from '#src/platform/http/page.ts'
import { type Acting, type Actor, actorOf } from '#src/platform/http/principal.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import {
  countRequests,
  endRequest,
  expireRequests,
  findEnding,
  findGrantSecret,
  findRequest,
  findRequests,
  grantRequest,
  type RequestRow,
  type RequestStatus,
} from './disclosure-rows.ts'
import { grantLetter, openPerson, type Person } from './person.ts'
import { findSharesById, holdShare, type ShareRow, statusOf, subjectOf } from './rows.ts'
import { noShareOfId } from './shares.ts'

export const GRANT_SECONDS = 86_400
const EXPIRED_AT_ONCE = 100
const EXPIRED_A_ROUND = 1_000
const AUTO = 'auto'

/** A request with who asks, while that is known. */
export type ListedRequest = RequestRow & { person: Person | undefined; share: ShareRow; decider: ActorView | null }

type DecidingDeps = Pick<Platform, 'db' | 'now' | 'pager' | 'sealer' | 'linkTokens' | 'baseUrl' | 'ledger' | 'log'>

export type DisclosureDecisions = ReturnType<typeof createDisclosureDecisions>

export function createDisclosureDecisions({ db, now, pager, sealer, linkTokens, baseUrl, ledger, log }: DecidingDeps) {
  // The id of a request is that of its code's token: the token of its grant has another.
  const grantId = (id: string) => `${id} grant`

  async function record(
    tx: Tx,
    scope: Scope,
    entry: { requestId: string; shareId: string; reason: string; at: Date; actor: Actor | 'service' },
  ): Promise<void> {
    await ledger.record(tx, scope, {
      kind: 'disclosure',
      at: entry.at,
      actor: entry.actor,
      subject: entry.requestId,
      reason: entry.reason,
      valid: null,
      inputs: { share_id: entry.shareId },
    })
  }

  /**
   * Grants a pending request. @param acting Absent: by the mode `auto`.
   * @throws {Failure} `invalid_state_transition` for one that is not pending.
   */
  async function grantIn(
    tx: Tx,
    scope: Scope,
    { requestId, share, at, acting, seconds = GRANT_SECONDS }: GrantWanted,
  ): Promise<void> {
    const row = await getRequest(tx, requestId, at)
    const { nonce, tokenHash } = linkTokens.make(grantId(requestId))
    // A share that has ended shows nothing.
    const endsAt = new Date(Math.min(at.getTime() + seconds * 1_000, share.expiresAt.getTime()))
    const by = acting === undefined ? AUTO : actorOf(acting.principal).id
    if (row.sealedPerson === null || !(await grantRequest(tx, requestId, { by, at, endsAt, nonce, tokenHash }))) {
      throw notIn(row, ['pending'])
    }
    const { email } = openPerson(sealer, requestId, row.sealedPerson)
    await sendMail(tx, { kind: 'disclosure_grant', recipient: email, subjectId: requestId, scope })
    await emit(tx, scope, {
      type: 'trace.disclosure_granted',
      data: {
        request_id: requestId,
        ...subjectOf(share),
        expires_at: endsAt.toISOString(),
        decided_by: unlabelledActor(by),
      },
      dedupKey: `trace.disclosure_granted ${requestId}`,
    })
    const unattended: Unattended = { accountId: scope.accountId, environment: scope.environment, kind: 'service' }
    await recordAudit(tx, acting ?? unattended, {
      action: 'disclosure.granted',
      subjectId: requestId,
      after: { share_id: share.id, expires_at: endsAt.toISOString(), decided_by: by },
    })
    const actor = acting === undefined ? 'service' : actorOf(acting.principal)
    await record(tx, scope, { requestId, shareId: share.id, reason: 'disclosure_granted', at, actor })
  }

  /** Denies what is pending, or revokes what is granted. */
  async function end(
    acting: Acting,
    requestId: string,
    how: { from: 'pending'; to: 'denied' } | { from: 'granted'; to: 'revoked' },
    key: IdempotencyKey | undefined,
  ): Promise<ListedRequest> {
    checkId(requestId, 'dsr', acting.environment)
    noteForLog({ disclosure: requestId })
    const work = async (tx: Tx): Promise<ListedRequest> => {
      const at = now()
      const row = await getRequest(tx, requestId, at)
      const actor = actorOf(acting.principal)
      if (!(await endRequest(tx, requestId, { ...how, by: actor.id, at })))
        throw notIn(await getRequest(tx, requestId, at), [how.from])
      await recordAudit(tx, acting, {
        action: how.to === 'denied' ? 'disclosure.denied' : 'disclosure.revoked',
        subjectId: requestId,
        after: { share_id: row.shareId },
      })
      await record(tx, acting, { requestId, shareId: row.shareId, reason: `disclosure_${how.to}`, at, actor })
      return show(tx, requestId)
    }
    return db.tenant(acting, (tx) => once(tx, key, work, () => requestId))
  }

  async function show(tx: Tx, id: string): Promise<ListedRequest> {
    const row = await getRequest(tx, id, now())
    const [shown] = await showAll(tx, [row])
    if (shown === undefined) throw new Error('a request has no view')
    return shown
  }

  async function showAll(tx: Tx, rows: readonly RequestRow[]): Promise<ListedRequest[]> {
    const [shares, actorOf] = await Promise.all([
      findSharesById(tx, [...new Set(rows.map(({ shareId }) => shareId))]),
      readActors(
        tx,
        rows.map(({ decidedBy }) => decidedBy),
      ),
    ])
    return rows.map((row) => {
      const share = shares.find(({ id }) => id === row.shareId)
      if (share === undefined) throw new Error('a request has no share')
      const person = row.sealedPerson === null ? undefined : openPerson(sealer, row.id, row.sealedPerson)
      return { ...row, person, share, decider: actorOf(row.decidedBy) }
    })
  }

  return {
    grantIn,

    /**
     * @throws {Failure} `environment_mismatch`, `not_found`; `invalid_state_transition` where it is not pending, or where its
     * share has ended.
     */
    async grant(acting: Acting, requestId: string, seconds: number, key?: IdempotencyKey): Promise<ListedRequest> {
      checkId(requestId, 'dsr', acting.environment)
      noteForLog({ disclosure: requestId })
      const work = async (tx: Tx): Promise<ListedRequest> => {
        const at = now()
        const row = await getRequest(tx, requestId, at)
        // Before the row of the request, as a change of the share does.
        const share = await holdShare(tx, row.shareId)
        if (share === undefined) throw noShareOfId(row.shareId)
        if (statusOf(share, at) !== 'active') throw notIn(row, ['pending'])
        await grantIn(tx, acting, { requestId, share, at, acting, seconds })
        return show(tx, requestId)
      }
      return db.tenant(acting, (tx) => once(tx, key, work, () => requestId))
    },

    /** @throws {Failure} as `grant`. */
    deny: (acting: Acting, requestId: string, key?: IdempotencyKey) =>
      end(acting, requestId, { from: 'pending', to: 'denied' }, key),

    /** Ends a grant, from the next view on. @throws {Failure} as `grant`, for what is not granted. */
    revoke: (acting: Acting, requestId: string, key?: IdempotencyKey) =>
      end(acting, requestId, { from: 'granted', to: 'revoked' }, key),

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<ListedRequest> {
      checkId(id, 'dsr', scope.environment)
      return db.tenant(scope, (tx) => show(tx, id))
    },

    /** @throws {Failure} `invalid_request` at `?cursor`; `environment_mismatch`. */
    async list(
      scope: Scope,
      query: ListQuery & {
        status?: readonly RequestStatus[] | undefined
        share_id?: string | undefined
        order: 'asc' | 'desc'
      },
    ): Promise<CountedPage<ListedRequest>> {
      const { status: statuses, share_id: shareId, order } = query
      if (shareId !== undefined) checkId(shareId, 'shr', scope.environment)
      const filter = { statuses, shareId, at: now(), ...createdBetween(query) }
      const list = { route: 'GET /v1/trace/disclosure-requests', scope, query }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => findRequests(tx, scope, filter, { ...page, order }),
        count: (tx) => countRequests(tx, scope, filter),
        show: showAll,
      })
    },

    /** One round of the clock. Returns how many have ended. */
    async expire(signal?: AbortSignal): Promise<number> {
      const due = await db.readSystem<Scope & { id: string }>('disclosure requests that ended', () =>
        findEnding(EXPIRED_A_ROUND, now()),
      )
      for (const rows of Map.groupBy(due, ({ accountId, environment }) => `${accountId} ${environment}`).values()) {
        for (let from = 0; from < rows.length; from += EXPIRED_AT_ONCE) {
          const [scope] = rows
          if (signal?.aborted === true || scope === undefined) return from
          try {
            const ids = rows.slice(from, from + EXPIRED_AT_ONCE).map(({ id }) => id)
            await expireIn({ accountId: scope.accountId, environment: scope.environment }, ids)
          } catch (error) {
            log.warn({ account: scope.accountId, err: error }, 'ending disclosure requests failed; it is tried again')
          }
        }
      }
      return due.length
    },

    /** Of the mail queue: no letter for a grant that has ended meanwhile. */
    writeGrantLetter: (async ({ subjectId, scope }) => {
      const found = await db.tenant(scope, (tx) => findGrantSecret(tx, subjectId, now()))
      const token = found && linkTokens.recompute({ id: grantId(subjectId), ...found })
      return token === undefined || found === undefined ? undefined : grantLetter(baseUrl, token, found.endsAt)
    }) satisfies LetterWriter,
  }

  async function expireIn(scope: Scope, ids: readonly string[]): Promise<void> {
    await db.tenant(scope, async (tx) => {
      const at = now()
      const ended = await expireRequests(tx, ids, at)
      for (const { id, before, shareId } of ended) {
        if (before === 'granted') {
          await record(tx, scope, { requestId: id, shareId, reason: 'disclosure_expired', at, actor: 'service' })
        }
      }
    })
  }
}

interface GrantWanted {
  requestId: string
  share: ShareRow
  at: Date
  acting?: Acting
  seconds?: number
}

async function getRequest(tx: Tx, id: string, at: Date): Promise<RequestRow> {
  const row = await findRequest(tx, id, at)
  if (row === undefined) throw new Failure('not_found', `There is no disclosure request ${id}.`)
  return row
}

function notIn({ id, status }: Pick<RequestRow, 'id' | 'status'>, allowed: readonly RequestStatus[]): Failure {
  return new Failure('invalid_state_transition', {
    detail: `${id} is ${status}, or its share has ended: only what is ${allowed.join(' or ')} can be decided so.`,
    members: { allowed, current_status: status },
  })
}
