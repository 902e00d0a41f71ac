// Suspends and resumes agents. Callers hold the exclusive lock on the agent, or the shared one in a decision that locks:
// the rows make one cause of each lock, and no cause is lifted by anything but its own.

import type { Tx } from '#src/platform/db/database.ts'
import type { Acting, Actor } from '#src/platform/http/principal.ts'
import { actorOf } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Ledger } from '#src/platform/ledger/record.ts'
import { deleteSuspension, insertSuspension, noteRetirement } from './rows.ts'

export type Suspensions = ReturnType<typeof createSuspensions>

export function createSuspensions({ ledger }: { ledger: Pick<Ledger, 'record'> }) {
  return {
    /** The manual cause. When it holds already, the first one stays and nothing is recorded. */
    async suspend(tx: Tx, acting: Acting, agentId: string, { reason, at }: { reason: string; at: Date }) {
      const actor = actorOf(acting.principal)
      if (!(await insertSuspension(tx, acting, agentId, { cause: 'manual', reason, by: actor.id, at }))) return
      await ledger.record(tx, acting, {
        kind: 'agent_suspend',
        at,
        actor,
        subject: agentId,
        reason: null,
        valid: null,
        inputs: {},
        facts: { cause: 'manual', reason },
      })
    },

    /** The cause that is never lifted. Returns false when it holds already: nothing is recorded then. */
    async retire(tx: Tx, acting: Acting, agentId: string, { reason, at }: { reason: string; at: Date }) {
      const actor = actorOf(acting.principal)
      if (!(await insertSuspension(tx, acting, agentId, { cause: 'retired', reason, by: actor.id, at }))) return false
      await noteRetirement(tx, agentId, at)
      await ledger.record(tx, acting, {
        kind: 'agent_suspend',
        at,
        actor,
        subject: agentId,
        reason: null,
        valid: null,
        inputs: {},
        facts: { cause: 'retired', reason },
      })
      return true
    },

    /** Lifts the manual cause. Returns whether it held. */
    async unsuspend(tx: Tx, acting: Acting, agentId: string, at: Date): Promise<boolean> {
      const { held } = await deleteSuspension(tx, agentId, null)
      if (held) {
        const actor = actorOf(acting.principal)
        const common = { kind: 'agent_unsuspend', subject: agentId, reason: null, valid: null, inputs: {} } as const
        await ledger.record(tx, acting, { ...common, at, actor, facts: { cause: 'manual' } })
      }
      return held
    },

    /** A session lock suspends the agent of the session. */
    async suspendForLock(tx: Tx, scope: Scope, agentId: string, { lockId, at }: { lockId: string; at: Date }) {
      const row = { cause: 'lock' as const, lockId, reason: 'session_canary_locked', by: null, at }
      if (!(await insertSuspension(tx, scope, agentId, row))) return
      await ledger.record(tx, scope, {
        kind: 'agent_suspend',
        at,
        actor: 'service',
        subject: agentId,
        reason: 'session_canary_locked',
        valid: null,
        inputs: { lock_id: lockId },
        facts: { cause: 'lock', lock_id: lockId },
      })
    },

    /** Lifts the cause of a lock that was cleared. Returns whether the agent is active by that. */
    async resumeAfterLock(
      tx: Tx,
      scope: Scope,
      agentId: string,
      { lockId, actor, at }: { lockId: string; actor: Actor; at: Date },
    ): Promise<boolean> {
      const { held, isActive } = await deleteSuspension(tx, agentId, lockId)
      const isResumed = held && isActive
      if (isResumed) {
        await ledger.record(tx, scope, {
          kind: 'agent_unsuspend',
          at,
          actor,
          subject: agentId,
          reason: 'agent_unsuspended',
          valid: null,
          inputs: { lock_id: lockId },
          facts: { cause: 'lock', lock_id: lockId },
        })
      }
      return isResumed
    },
  }
}
