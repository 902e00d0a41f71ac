// What a decision asks of canaries: a reading for a condition of the policy, and what happens when it trips.

import type { Json } from '#src/platform/crypto/canonical.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'

export interface CanaryFamily {
  family: string
  score: number
  /** That of the kill switch where it names one, else that of the reading. */
  threshold: number
  tripped: boolean
}

export interface CanaryReading {
  set: string
  traceId: string | null
  /**
   * `client`: a caller sent it. It is answered only where a family tripped: it can refuse an action and never allows
   * one.
   */
  source: 'server' | 'client'
  readingAt: Date
  /** `canary_hash`. */
  hash: string
  families: CanaryFamily[]
}

export interface CanaryQuestion {
  set: string
  /** All of the reading when absent. */
  families?: readonly string[] | undefined
  traceId?: string | null | undefined
  inferenceInput?: Json | undefined
  agentSessionId: string | null
  agentId: string | null
  maxAgeSeconds: number
}

export interface CanaryTrip {
  jti: string
  matchedRuleId: string | null
  reading: CanaryReading
  agentId: string | null
  agentSessionId: string | null
}

export interface CanaryPort {
  /** undefined: unavailable. Outside of any transaction. */
  read(scope: Scope, question: CanaryQuestion, signal: AbortSignal): Promise<CanaryReading | undefined>
  /** The stored hash of a trace; undefined where there is no such trace. */
  readReadingHash(tx: Tx, traceId: string): Promise<string | undefined>
  /**
   * Of a decision that a tripped condition denied: emits `trace.canary_tripped`, and locks where the kill switch says
   * `block_and_lock`. The transaction holds the locks on session and agent.
   */
  tripAtVerify(tx: Tx, scope: Scope, trip: CanaryTrip): Promise<{ lockId?: string }>
}
