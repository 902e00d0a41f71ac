// The answers of authorize, verify and executions.

import { z } from 'zod'
import { approvalFactsOf } from '#src/authorize/approvals/facts.ts'
import type { ApprovalRow } from '#src/authorize/approvals/rows.ts'
import { approvalStatusView } from '#src/authorize/approvals/views.ts'
import { MANDATE_CONSTRAINTS } from '#src/authorize/mandates/judge.ts'
import { approverRole } from '#src/authorize/policy/document.ts'
import { policyNeedKind } from '#src/authorize/policy/views.ts'
import { revokedScopeView } from '#src/authorize/revocations/routes.ts'
import { UNAVAILABLE_CAUSES } from '#src/authorize/webhooks/answer.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { timestampView } from '#src/platform/http/views.ts'
import type { Authorization } from './authorization.ts'
import { leftOf } from './charging.ts'
import type { Execution } from './executions.ts'
import { describeReason, VERIFY_REASON_CODES } from './reasons.ts'
import type { Verified } from './settling.ts'

const EXECUTED_BEFORE = 'The action was executed before: do not run it again.'
const REASONS = `null when valid; else one of ${VERIFY_REASON_CODES.map((code) => `\`${code}\``).join(', ')}, or a policy rule’s own reason. When several reasons apply, the first in this order is answered.`

const hash = z.string().meta({ description: 'SHA-256, base64url without padding.' })

const authorizedApprovalView = z
  .strictObject({
    approval_id: z.string(),
    status: approvalStatusView,
    min_approvals: z.number().int(),
    roles: z.array(approverRole),
    require_passkey: z.boolean(),
    rule_ids: z.array(z.string()),
    expires_at: timestampView,
  })
  .meta({ id: 'RequiredApproval' })

const bindingsView = z
  .strictObject({
    action_hash: hash,
    payload_hash: hash,
    context_hash: hash.nullable(),
    trace_id: z.string().nullable(),
    reading_hash: z.string().nullable(),
    agent_id: z.string().nullable(),
    agent_session_id: z.string(),
    device_id: z.string(),
    mandate_id: z.string().nullable(),
    schedule_id: z.string().nullable(),
    order_id: z.string().nullable(),
    order_hash: hash.nullable().meta({ description: 'Content of the order that the token is bound to.' }),
    biometric: z.boolean().meta({ description: 'A person confirmed exactly this action with a passkey.' }),
    single_use: z.boolean().meta({ description: 'Value in the request.' }),
    audience: z.string().nullable(),
    policy_version: z.number().int(),
  })
  .meta({ id: 'IntentBindings' })

const preflightView = z
  .strictObject({ would_be_valid: z.boolean(), reason: z.string().nullable() })
  .meta({ id: 'IntentPreflight' })

export const authorizeView = z
  .strictObject({
    intent_token: z.string().nullable().meta({
      description: 'ES256 token; present it unchanged. null only in a replay after its expiry.',
    }),
    jti: z.string(),
    expires_at: timestampView,
    approval_id: z.string().optional().meta({
      description:
        'Id of the approval that the policy requires. Until people have approved, verify answers `approval_pending`.',
    }),
    approval: authorizedApprovalView.optional(),
    bindings: bindingsView,
    preflight: preflightView.describe(
      'What verify would answer now. The check consumes nothing, and a later verify may answer differently.',
    ),
  })
  .meta({ id: 'Authorization' })

const mandateDetailView = z
  .strictObject({
    constraint: z.enum(MANDATE_CONSTRAINTS).meta({ id: 'MandateConstraintName' }),
    expected: z.custom<Json>().meta({ description: 'Limit in the mandate.' }),
    actual: z.custom<Json>().meta({ description: 'Value in the action; null: absent or not readable.' }),
    remaining: z.string().optional().meta({ description: 'Set with `budget`: the remainder of the budget.' }),
    mandate_id: z.string().meta({ description: 'The level that refuses: the mandate or one of its ancestors.' }),
  })
  .meta({ id: 'MandateDetail', description: 'Set with a reason of the mandate: the limit that refuses.' })

export const verifyView = z
  .strictObject({
    valid: z.boolean(),
    reason: z.string().nullable().meta({ description: REASONS }),
    detail: z.string(),
    jti: z.string().nullable(),
    decision_id: z.string(),
    evaluated_at: timestampView,
    already_executed: z
      .boolean()
      .optional()
      .meta({
        description:
          'true: an earlier verification executed the action; with a single use, a mandate, a schedule or an ' +
          'approval, it was by this caller with this Idempotency-Key. Do not run the action again.',
      }),
    approval_id: z.string().optional(),
    matched_rule_id: z.string().optional(),
    webhook_reason: z.string().optional(),
    unavailable_check: policyNeedKind
      .optional()
      .describe(
        'Check that gave no answer, so that its rule refuses; set also where the rule has a reason of its own. ' +
          'webhook: the policy webhook; canary: there is no reading of `canary_set`.',
      ),
    webhook_unavailable_cause: z
      .string()
      .meta({ id: 'PolicyWebhookUnavailableCause', enum: [...UNAVAILABLE_CAUSES] })
      .optional()
      .describe('Set with the check `webhook`: why the webhook gave no answer.'),
    revoked_scope: revokedScopeView.optional(),
    lock_id: z.string().optional(),
    canary_set: z.string().optional(),
    canary_readings: z
      .custom<Json>()
      .optional()
      .meta({ type: 'array', items: { type: 'object', additionalProperties: true } }),
    mandate_detail: mandateDetailView.optional(),
    mandate_remaining: z.string().nullable().optional().meta({
      description:
        'Remainder of the budgets of the mandate and its ancestors after this decision; null without a budget.',
    }),
    schedule_cycle: z.number().int().nullable().optional().meta({
      description: 'The current cycle; null before the first.',
    }),
    receipt: z.string().nullable().optional().meta({
      description: 'JWS by a record key, where the request asked for it; null when it could not be signed now.',
    }),
  })
  .meta({ id: 'VerifyResult' })

export const executionView = z
  .strictObject({
    jti: z.string(),
    status: z.enum(['executed', 'succeeded', 'failed', 'not_run']).meta({ id: 'ExecutionStatus' }),
    executed_at: timestampView,
    outcome_at: timestampView.nullable(),
    action_hash: hash,
    payload_hash: hash,
  })
  .meta({ id: 'Execution' })

export function toAuthorizeView(
  { token, jti, expiresAt, approval, bindings, preflight }: Authorization,
  now: Date,
): z.input<typeof authorizeView> {
  return {
    intent_token: token,
    jti,
    expires_at: expiresAt.toISOString(),
    ...(approval !== undefined && { approval_id: approval.id, approval: toApprovalPart(approval, now) }),
    bindings,
    preflight,
  }
}

function toApprovalPart(approval: ApprovalRow, now: Date) {
  const { approval_id, status, expires_at, rules } = approvalFactsOf(approval, now)
  return {
    approval_id,
    status,
    min_approvals: approval.minApprovals,
    roles: approval.roles,
    require_passkey: approval.requiresPasskey,
    rule_ids: rules.map(({ rule_id }) => rule_id),
    expires_at,
  }
}

/** @param receipt undefined: not asked for. */
export function toVerifyView(
  { decisionId, facts, outcome, isExecuted }: Verified,
  receipt: string | null | undefined,
): z.input<typeof verifyView> {
  const {
    valid,
    reason,
    already_executed,
    results: _,
    shadow: __,
    needs: ___,
    pending: ____,
    opens: _____,
    isOverBudget: ______,
    ...details
  } = outcome
  return {
    valid,
    reason,
    detail: valid && already_executed ? EXECUTED_BEFORE : describeReason(reason),
    jti: facts.token?.jti ?? null,
    decision_id: decisionId,
    evaluated_at: facts.at,
    ...(valid && already_executed && { already_executed }),
    ...details,
    // A caller whom the token was not issued to does not see these members.
    ...(reason !== 'invalid_token' && leftOf(facts, isExecuted)),
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
