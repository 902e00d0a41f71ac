// What a canary trip does: the lock under block_and_lock, and the event. Both stand in the transaction of the decision
// that the trip refused.

import { emit } from '#src/account/webhooks/emit.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Locks, TripSubject } from '../locks/locks.ts'
import type { TripSource } from '../locks/rows.ts'
import { type CheckJudgement, type JudgedFamily, type KillSwitchMode, shownFamily } from './judge.ts'

export interface Trip extends TripSubject {
  at: Date
  source: TripSource
  mode: KillSwitchMode
  /** Whether the session, or the agent, is to be locked. */
  isLocking: boolean
  reading: { traceId: string | null; hash: string; families: readonly JudgedFamily[] }
  /** Token of a verify; null at authorize. */
  jti: string | null
  matchedRuleId: string | null
}

/** Returns the trip of a judgement like a check's; undefined where no family tripped. */
export function tripOf(
  { mode, families, locks, tripped_by: by }: Pick<CheckJudgement, 'mode' | 'families' | 'locks' | 'tripped_by'>,
  subject: TripSubject,
  at: string,
): Trip | undefined {
  if (by === null) return undefined
  const reading = { traceId: by.trace_id, hash: by.canary_hash, families }
  const { agentSessionId, agentId } = subject
  const whom = { agentSessionId, agentId, jti: null, matchedRuleId: null }
  return { ...whom, at: new Date(at), source: 'check', mode, isLocking: locks, reading }
}

export type RecordTrip = (tx: Tx, scope: Scope, trip: Trip) => Promise<{ lockId: string | null }>

export function createRecordTrip({ lockAfterTrip }: Pick<Locks, 'lockAfterTrip'>): RecordTrip {
  return async (tx, scope, trip) => {
    const { at, source, mode, reading, agentSessionId, agentId, jti, matchedRuleId } = trip
    const trippedFamilies = reading.families.filter(({ tripped }) => tripped).map(({ family }) => family)
    const cause = { at, source, agentSessionId, agentId, traceId: reading.traceId, trippedFamilies, jti, matchedRuleId }
    const lock = trip.isLocking ? await lockAfterTrip(tx, scope, cause) : undefined
    // The trip that made the lock has sent the event.
    if (lock?.isNew === false) return { lockId: lock.lockId }
    await emit(tx, scope, {
      type: 'trace.canary_tripped',
      // A reading is one event, by whatever it is judged and however often, unless it locks again after a lock was cleared.
      dedupKey: `trace.canary_tripped:${lock?.lockId ?? jti ?? reading.traceId}`,
      data: {
        trace_id: reading.traceId,
        canary_hash: reading.hash,
        canary_readings: reading.families.map(shownFamily),
        tripped_families: trippedFamilies,
        mode,
        source,
        agent_id: agentId,
        agent_session_id: agentSessionId,
        lock_id: lock?.lockId ?? null,
        jti,
        matched_rule_id: matchedRuleId,
      },
    })
    return { lockId: lock?.lockId ?? null }
  }
}
