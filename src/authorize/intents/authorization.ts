// What callers get of an authorization, from what was just issued or from what is stored.

import type { ApprovalRow } from '#src/authorize/approvals/rows.ts'
import type { IntentClaims } from '#src/authorize/tokens/format.ts'
import type { IntentRow } from '#src/authorize/tokens/rows.ts'
import { openFacts, openToken } from '#src/authorize/tokens/sealed.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import { tokenBindingsOf } from './action.ts'
import type { TokenBindings } from './facts.ts'
import type { VerifyOutcome } from './pipeline.ts'

export interface Authorization {
  jti: string
  expiresAt: Date
  /** null: of a replay after the token's expiry. */
  token: string | null
  /** The approval that the token waits for. */
  approval: ApprovalRow | undefined
  bindings: Bindings
  preflight: Preflight
}

/** Bindings as callers see them. */
export interface Bindings extends TokenBindings {
  policy_version: number
}

/** What a verification of the same action would answer now. */
export interface Preflight {
  would_be_valid: boolean
  reason: string | null
}

/** A webhook is asked at verify only, so it refuses: its answer is not known yet. */
export function preflightOf({ valid, reason, pending }: VerifyOutcome): Preflight {
  return { would_be_valid: valid, reason: pending === 'webhook' ? 'policy_webhook_pending' : reason }
}

export function bindingsOf(claims: IntentClaims, audience: string | null): Bindings {
  return { ...tokenBindingsOf(claims, audience), policy_version: claims.policy_version }
}

interface KeptFacts {
  preflight: Preflight
  single_use: boolean
}

export function replayOf(
  sealer: Sealer,
  { row, approvals }: { row: IntentRow; approvals: readonly ApprovalRow[] },
  now: Date,
): Authorization {
  const { jti, sealedToken, expiresAt } = row
  const { preflight, single_use } = openFacts(sealer, jti, row.sealedFacts) as unknown as KeptFacts
  return {
    jti,
    expiresAt,
    token: sealedToken === null || now >= expiresAt ? null : openToken(sealer, jti, sealedToken),
    approval: approvals.find(({ origin }) => origin === 'authorize'),
    bindings: {
      action_hash: row.actionHash,
      payload_hash: row.payloadHash,
      context_hash: row.contextHash,
      trace_id: row.traceId,
      reading_hash: row.readingHash,
      agent_id: row.agentId,
      agent_session_id: row.agentSessionId,
      device_id: row.deviceId,
      mandate_id: row.mandateId,
      schedule_id: row.scheduleId,
      order_id: row.orderId,
      order_hash: row.orderHash,
      biometric: row.biometric?.verified === true,
      single_use,
      audience: row.audience,
      policy_version: row.policyVersion,
    },
    preflight,
  }
}
