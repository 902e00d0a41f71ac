// Tells the end of approvals: the event `approval.resolved` and the entry of the ledger. What people decide, and what a
// revocation cancels, is told in its own transaction. That an approval has expired is told by the clock, later: its state does
// not wait for that.

import { emitMany, type NewEvent } from '#src/account/webhooks/emit.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { unlabelledActor } from '#src/platform/http/actor.ts'
import { type Acting, type Actor, actorOf } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Ledger, NewDecision } from '#src/platform/ledger/record.ts'
import type { Log } from '#src/platform/log.ts'
import { type CancelledSubject, cancelPending, findUntold, markTold, type Resolved } from './resolution-rows.ts'
import { findVotes, type VoteRow } from './vote-rows.ts'

/** Approvals of one transaction: each writes an event, its deliveries and an entry. */
const TOLD_AT_ONCE = 100
/** Approvals of one round of the clock. */
const TOLD_A_ROUND = 1_000

export interface ResolutionsDeps {
  db: Pick<Database, 'tenant' | 'readSystem'>
  ledger: Pick<Ledger, 'recordMany'>
  log: Pick<Log, 'warn'>
  now(): Date
}

export type Resolutions = ReturnType<typeof createResolutions>

export function createResolutions({ db, ledger, log, now }: ResolutionsDeps) {
  async function tell(tx: Tx, scope: Scope, resolved: readonly Resolved[], actor: Actor | 'service'): Promise<void> {
    if (resolved.length === 0) return
    const at = now()
    const votes = Map.groupBy(
      await findVotes(
        tx,
        resolved.map(({ id }) => id),
      ),
      ({ approvalId }) => approvalId,
    )
    await Promise.all([
      ledger.recordMany(
        tx,
        scope,
        resolved.map((one) => entryOf(one, actor, at)),
      ),
      emitMany(
        tx,
        scope,
        resolved.map((one) => resolvedEvent(one, votes.get(one.id) ?? [])),
      ),
    ])
  }

  async function tellScope(scope: Scope, ids: readonly string[]): Promise<void> {
    await db.tenant(scope, async (tx) => tell(tx, scope, await markTold(tx, ids), 'service'))
  }

  return {
    /**
     * Cancels what is pending of a token, an agent session or a device, in the transaction that revokes it, after the tokens
     * were marked: approvals are locked after their tokens. All of it is cancelled by one statement. Beyond 100 the events and
     * entries are written by the clock. Returns how many.
     */
    async cancelApprovals(tx: Tx, acting: Acting, subject: CancelledSubject): Promise<number> {
      const cancelled = await cancelPending(tx, subject)
      const told = await markTold(tx, cancelled.slice(0, TOLD_AT_ONCE))
      await tell(tx, acting, told, actorOf(acting.principal))
      return cancelled.length
    },

    /** One round of the clock: publishes approvals that have expired, or were cancelled with many others. */
    async tellEnded(signal?: AbortSignal): Promise<number> {
      const untold = await db.readSystem<Scope & { id: string }>('approvals to tell', () => findUntold(TOLD_A_ROUND))
      const ofScope = Map.groupBy(untold, ({ accountId, environment }) => `${accountId} ${environment}`)
      for (const rows of ofScope.values()) {
        const [first] = rows
        for (let from = 0; first !== undefined && from < rows.length; from += TOLD_AT_ONCE) {
          if (signal?.aborted === true) return from
          const { accountId, environment } = first
          const ids = rows.slice(from, from + TOLD_AT_ONCE).map(({ id }) => id)
          try {
            await tellScope({ accountId, environment }, ids)
          } catch (error) {
            log.warn({ account: accountId, err: error }, 'publishing approval.resolved failed; it is tried again')
          }
        }
      }
      return untold.length
    },
  }
}

/** A person's decision is `human`, an expiry `timeout`, and a revocation `cancelled`. */
const RESOLUTION = { approved: 'human', denied: 'human', expired: 'timeout', cancelled: 'cancelled' } as const

export function resolutionOf(status: Resolved['status']): (typeof RESOLUTION)[Resolved['status']] {
  return RESOLUTION[status]
}

export function resolvedEvent({ id, jti, status }: Resolved, votes: readonly VoteRow[]): NewEvent {
  return {
    type: 'approval.resolved',
    data: {
      approval_id: id,
      jti,
      status,
      decisions: votes.map(({ userId, via, decision, decidedAt }) => ({
        by: unlabelledActor(userId),
        via,
        decision,
        at: decidedAt.toISOString(),
      })),
      resolution: resolutionOf(status),
    },
    dedupKey: `approval.resolved ${id}`,
  }
}

function entryOf({ id, jti, status, endedAt }: Resolved, actor: Actor | 'service', at: Date): NewDecision {
  return {
    kind: 'approval_decision',
    at,
    actor,
    subject: id,
    reason: `approval_${status}`,
    valid: false,
    inputs: { approval_id: id, jti, status, resolution: resolutionOf(status), ended_at: endedAt.toISOString() },
  }
}
