// Revokes a token, or every token of an agent session or a device. The locks come first: decisions hold those of their
// session and device shared, so that none commits after a revocation that it has not read, and no token is issued while
// the tokens of its session are being marked.

import { readActors } from '#src/account/users/actors.ts'
import { emit } from '#src/account/webhooks/emit.ts'
import { Failure, invalidField } from '#src/failure.ts'
import { lockExclusive, subjectLock } from '#src/platform/db/advisory.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type ActorView, unlabelledActor } from '#src/platform/http/actor.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, listPage, type Pager } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, checkName, newId, type Scope } from '#src/platform/ids.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import { approvalFactsOf } from '../approvals/facts.ts'
import type { ApprovalsFeature } from '../approvals/feature.ts'
import type { CancelledSubject } from '../approvals/resolution-rows.ts'
import { type ApprovalRow, readApprovals } from '../approvals/rows.ts'
import { revokeIntents } from '../tokens/revoked-rows.ts'
import { findIntent, type IntentRow, type IntentStatusName, type RevokedScope } from '../tokens/rows.ts'
import {
  countRevocations,
  findLongest,
  findRevocation,
  insertRevocation,
  listRevocations,
  type RevocationFilter,
  type RevocationRow,
} from './rows.ts'

export interface NewRevocation {
  scope: RevokedScope
  subjectId: string
  reason: string
  /** Until when new tokens are refused; null: for ever. */
  expiresAt: Date | null
}

export interface RevocationDeps {
  db: Pick<Database, 'tenant'>
  ledger: Pick<Ledger, 'record'>
  pager: Pager
  now: () => Date
  cancelApprovals: ApprovalsFeature['cancelApprovals']
}

export interface RevocationQuery extends RevocationFilter {
  limit: number
  cursor?: string | undefined
  include?: 'total_count' | undefined
}

/** A revocation with who made it. */
export type ShownRevocation = RevocationRow & { revokedBy: ActorView }

export type Revocations = ReturnType<typeof createRevocations>

/** Of the event and of the ledger. */
const MEMBER = { token: 'jti', session: 'agent_session_id', device: 'device_id' } as const

export function createRevocations({ db, ledger, pager, now, cancelApprovals }: RevocationDeps) {
  // Under the locks. The event and the ledger entry are written with the marks of the tokens.
  async function revokeSubject(tx: Tx, acting: Acting, wanted: NewRevocation): Promise<RevocationRow> {
    const known = await findLongest(tx, wanted)
    if (known !== undefined && lastsAsLong(known, wanted)) return known
    const { scope, subjectId, reason } = wanted
    const id = newId('rev', acting.environment)
    const tokens = await revokeIntents(tx, { scope, subjectId }, id)
    // After their tokens: the order of the locks of every decision.
    await cancelApprovals(tx, acting, approvalsOf(wanted))
    const row = await insertRevocation(tx, acting, { ...wanted, id, tokens })
    const actor = actorOf(acting.principal)
    const subject = { [MEMBER[scope]]: subjectId }
    const recorded = ledger.record(tx, acting, {
      kind: 'revocation',
      at: row.createdAt,
      actor,
      subject: subjectId,
      reason: `${scope}_revoked`,
      valid: null,
      inputs: { revocation_id: id, ...subject },
      facts: { reason, expires_at: row.expiresAt?.toISOString() ?? null, tokens },
    })
    const data = { revocation_id: id, scope, ...subject, reason, actor: unlabelledActor(actor.id) }
    await Promise.all([recorded, emit(tx, acting, { type: 'intent.revoked', data })])
    return row
  }

  return {
    /**
     * A subject that is revoked at least as long already stays as it is: its revocation is returned.
     * @throws {Failure} `environment_mismatch`, `not_found` for a token that was never issued; `invalid_request` at
     * `/expires_at`.
     */
    async revoke(acting: Acting, wanted: NewRevocation, key?: IdempotencyKey): Promise<ShownRevocation> {
      const { scope, subjectId, expiresAt } = wanted
      if (scope === 'token') checkId(subjectId, 'jti', acting.environment)
      else checkName(subjectId, acting.environment)
      if (expiresAt !== null && expiresAt <= now()) {
        throw invalidField('/expires_at', 'out_of_range', 'must be in the future')
      }
      return db.tenant(acting, async (tx) => {
        await lockExclusive(tx, [await lockOf(tx, acting, wanted)])
        return once(
          tx,
          key,
          async () => showOne(tx, await revokeSubject(tx, acting, wanted)),
          ({ id }) => id,
        )
      })
    },

    /** In the transaction that revokes an enrolled device in its registry, which holds the device's lock exclusively. */
    async revokeDevice(tx: Tx, acting: Acting, device: { deviceId: string; reason: string }): Promise<void> {
      const { deviceId: subjectId, reason } = device
      await revokeSubject(tx, acting, { scope: 'device', subjectId, reason, expiresAt: null })
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<ShownRevocation> {
      checkId(id, 'rev', scope.environment)
      return db.tenant(scope, async (tx) => {
        const row = await findRevocation(tx, id)
        if (row === undefined) throw new Failure('not_found', `No revocation ${id}.`)
        return showOne(tx, row)
      })
    },

    /** Newest first. @throws {Failure} `environment_mismatch`; `invalid_request` at `?cursor`. */
    async list(scope: Scope, query: RevocationQuery): Promise<CountedPage<ShownRevocation>> {
      if (query.subjectId !== undefined) checkName(query.subjectId, scope.environment)
      const list = { route: 'GET /v1/intent/revocations', scope, query }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => listRevocations(tx, scope, query, page),
        count: (tx) => countRevocations(tx, scope, query),
        show: showAll,
      })
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async status(scope: Scope, jti: string): Promise<IntentStatus> {
      checkId(jti, 'jti', scope.environment)
      const [intent, approvals] = await db.tenant(scope, (tx) =>
        Promise.all([findIntent(tx, jti), readApprovals(tx, jti, false)]),
      )
      if (intent === undefined) throw noIntent(jti)
      return statusOf(intent, approvals, now())
    },
  }
}

async function showAll(tx: Tx, rows: readonly RevocationRow[]): Promise<ShownRevocation[]> {
  const actors = await readActors(
    tx,
    rows.map(({ actorId }) => actorId),
  )
  return rows.map((row) => ({ ...row, revokedBy: actors(row.actorId) }))
}

async function showOne(tx: Tx, row: RevocationRow): Promise<ShownRevocation> {
  const actors = await readActors(tx, [row.actorId])
  return { ...row, revokedBy: actors(row.actorId) }
}

export interface IntentStatus {
  jti: string
  status: IntentStatusName
  revokedScope: RevokedScope | null
  revokedAt: Date | null
  expiresAt: Date
}

/**
 * A token that was revoked stays so after its exp. One that can't be used any more for the sake of its approval is expired:
 * it was denied, expired or cancelled, or the token's own lifetime has passed since it was given.
 */
function statusOf(intent: IntentRow, approvals: readonly ApprovalRow[], at: Date): IntentStatus {
  const { jti, revokedScope, revokedAt, expiresAt } = intent
  const isOver = approvals
    .map((row) => approvalFactsOf(row, at))
    .some(({ status, usable_until: until }) =>
      status === 'approved' ? until !== null && at >= new Date(until) : status !== 'pending',
    )
  const lapsed = expiresAt <= at || isOver ? 'expired' : 'active'
  return { jti, status: revokedAt === null ? lapsed : 'revoked', revokedScope, revokedAt, expiresAt }
}

function approvalsOf({ scope, subjectId }: NewRevocation): CancelledSubject {
  if (scope === 'token') return { jti: subjectId }
  return scope === 'session' ? { agentSessionId: subjectId } : { deviceId: subjectId }
}

// A token has no lock of its own: decisions about it hold the lock of its session.
async function lockOf(tx: Tx, scope: Scope, { scope: kind, subjectId }: NewRevocation) {
  if (kind !== 'token') return subjectLock(scope, kind, subjectId)
  const intent = await findIntent(tx, subjectId)
  if (intent === undefined) throw noIntent(subjectId)
  return subjectLock(scope, 'session', intent.agentSessionId)
}

function lastsAsLong(known: RevocationRow, { expiresAt }: NewRevocation): boolean {
  if (known.expiresAt === null) return true
  return expiresAt !== null && known.expiresAt >= expiresAt
}

function noIntent(jti: string): Failure {
  return new Failure('not_found', `There is no intent token ${jti}.`)
}
