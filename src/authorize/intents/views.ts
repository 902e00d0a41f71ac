// The answers of authorize, verify and executions.

import { z } from 'zod'
import { revokedScopeView } from '#src/authorize/revocations/routes.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { Authorization } from './authorizing.ts'
import type { Execution } from './executions.ts'
import { describeReason, VERIFY_REASON_CODES } from './reasons.ts'
import type { Verified } from './verifying.ts'

const REASONS = `null when valid; else one of ${VERIFY_REASON_CODES.map((code) => `\`${code}\``).join(', ')}, or the own reason of a policy rule. Of several that apply, the first in this order is answered.`

const hash = z.string().meta({ description: 'SHA-256, base64url without padding.' })

export const authorizeView = z
  .strictObject({
    intent_token: z.string().nullable().meta({
      description: 'ES256 token, to be presented as it is. null only in a replay after its expiry.',
    }),
    jti: z.string(),
    expires_at: z.iso.datetime(),
    bindings: z.strictObject({
      action_hash: hash,
      payload_hash: hash,
      context_hash: hash.nullable(),
      trace_id: z.string().nullable(),
      reading_hash: z.string().nullable(),
      agent_id: z.string().nullable(),
      agent_session_id: z.string(),
      device_id: z.string(),
      audience: z.string().nullable(),
      policy_version: z.number().int(),
    }),
    preflight: z
      .strictObject({
        would_be_valid: z.boolean(),
        reason: z.string().nullable(),
      })
      .meta({ description: 'What verify would answer now. It uses nothing up, and can change until then.' }),
  })
  .meta({ id: 'Authorization' })

export const verifyView = z
  .strictObject({
    valid: z.boolean(),
    reason: z.string().nullable().meta({ description: REASONS }),
    detail: z.string(),
    jti: z.string().nullable(),
    decision_id: z.string(),
    evaluated_at: z.iso.datetime(),
    already_executed: z.boolean().optional().meta({
      description: 'true: an earlier verification executed the action. Do not run it again.',
    }),
    approval_id: z.string().optional(),
    matched_rule_id: z.string().optional(),
    webhook_reason: z.string().optional(),
    revoked_scope: revokedScopeView.optional(),
    lock_id: z.string().optional(),
    canary_set: z.string().optional(),
    canary_readings: z
      .custom<Json>()
      .optional()
      .meta({ type: 'array', items: { type: 'object' } }),
    mandate_detail: z.custom<Json>().optional().meta({ type: 'object' }),
    receipt: z.string().nullable().optional().meta({
      description: 'JWS by a record key, where it was asked for; null when it could not be signed now.',
    }),
  })
  .meta({ id: 'VerifyResult' })

export const executionView = z
  .strictObject({
    jti: z.string(),
    status: z.enum(['executed', 'succeeded', 'failed', 'not_run']),
    executed_at: z.iso.datetime(),
    outcome_at: z.iso.datetime().nullable(),
    action_hash: hash,
    payload_hash: hash,
  })
  .meta({ id: 'Execution' })

export function toAuthorizeView({ token, jti, expiresAt, bindings, preflight }: Authorization) {
  return { intent_token: token, jti, expires_at: expiresAt.toISOString(), bindings, preflight }
}

/** @param receipt undefined: not asked for. */
export function toVerifyView(
  { decisionId, facts, outcome }: Verified,
  receipt: string | null | undefined,
): z.input<typeof verifyView> {
  const { valid, reason, already_executed, results: _, shadow: __, needs: ___, pending: ____, ...details } = outcome
  return {
    valid,
    reason,
    detail: describeReason(reason),
    jti: facts.token?.jti ?? null,
    decision_id: decisionId,
    evaluated_at: facts.at,
    ...(valid && already_executed && { already_executed }),
    ...details,
    ...(receipt !== undefined && { receipt }),
  }
}

export function toExecutionView({ jti, status, executedAt, outcomeAt, actionHash, payloadHash }: Execution) {
  return {
    jti,
    status,
    executed_at: executedAt.toISOString(),
    outcome_at: outcomeAt?.toISOString() ?? null,
    action_hash: actionHash,
    payload_hash: payloadHash,
  }
}
