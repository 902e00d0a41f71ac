// What a canary trip does: the lock under block_and_lock, and the event. Both stand in the transaction of the decision
// that the trip refused.

import { emit } from '#src/account/webhooks/emit.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Locks, TripSubject } from '../locks/locks.ts'
import type { TripSource } from '../locks/rows.ts'
import type { JudgedFamily, KillSwitchMode } from './judge.ts'

export interface Trip extends TripSubject {
  at: Date
  source: TripSource
  mode: KillSwitchMode
  /** Whether the session, or the agent, is to be locked. */
  isLocking: boolean
  reading: { traceId: string | null; hash: string; families: readonly JudgedFamily[] }
  /** Of a verify. */
  jti: string | null
  matchedRuleId: string | null
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
      // A reading that is checked often is one event, unless it locks again after a lock was cleared.
      dedupKey: `trace.canary_tripped:${lock?.lockId ?? `${source}:${jti ?? reading.traceId}`}`,
      data: {
        trace_id: reading.traceId,
        canary_hash: reading.hash,
        canary_readings: reading.families.map(({ family, score, threshold, tripped }) => ({
          family,
          score,
          threshold,
          tripped,
        })),
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
