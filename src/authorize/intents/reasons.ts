// The reasons of verify in their published order: of several that are true at once, the first is the answer. Identity
// and integrity come before policy, what is cheap to find out before what is expensive, and people last: people are not
// asked to approve an action that would fail anyway. Rules of a policy may answer with reasons of their own instead.

/**
 * The order of the keys is the order of the answers. Three stand at two places: `approval_pending` comes directly after
 * `approval_expired` once the token is past its expiry, `canary_tripped` by the kill switch directly after `agent_suspended`, and
 * `policy_denied` by the stop of an account or by an order before that of a rule.
 */
export const VERIFY_REASONS = {
  invalid_token:
    'The token is malformed, is not the exact one that authorize returned, belongs to another account, or is presented for another device, agent session or audience than it was issued for, or without one that the policy requires.',
  approval_denied: 'A person denied the step-up approval of this action.',
  approval_expired: 'The step-up approval of this action expired undecided.',
  token_expired: 'The token is past its expiry.',
  token_revoked: 'The token, its agent session or its device was revoked; `revoked_scope` says which.',
  session_canary_locked:
    'The agent session, or the agent, is locked after a canary trip; `lock_id` names the lock, or the first of several.',
  agent_suspended: "The token's agent is suspended.",
  action_hash_mismatch: 'The action description differs from the authorized one.',
  payload_hash_mismatch:
    'The action payload, the counterparty beside it, or the content of the order differs from the authorized one.',
  context_hash_mismatch:
    'The context evidence differs from the evidence that the token is bound to, or the policy requires it and it is absent.',
  canary_reading_mismatch: "The trace's stored reading differs from the one that the token is bound to.",
  token_already_executed:
    'The action, or the order of the token, was executed before. Only the same caller with the same Idempotency-Key can repeat that.',
  mandate_revoked: 'The mandate of the token is revoked.',
  mandate_expired: 'The mandate of the token is past its expiry.',
  mandate_heartbeat_lapsed: 'The mandate of the token missed its check-in.',
  mandate_constraint_violated: 'The action breaks a constraint of the mandate; `mandate_detail` names it.',
  mandate_budget_exceeded: "The action exceeds the mandate's remaining budget.",
  schedule_counterparty_mismatch: "The action's counterparty is not that of the schedule.",
  schedule_amount_exceeded: "The action's amount is not the one that the schedule allows.",
  schedule_already_executed: 'The current cycle of the schedule, or the token itself, was executed before.',
  schedule_occurrences_exhausted: 'The schedule has used all of its occurrences.',
  schedule_window_missed: "The window of the schedule's current cycle is closed.",
  prescriber_excluded: 'The prescriber, or the clinician who co-signed, is on an exclusion list.',
  order_declined: 'A clinician declined the order.',
  prescriber_tier_insufficient:
    "The verified tier of the prescriber, or of the clinician who co-signed, is too low for the order's schedule.",
  controlled_substance_cosign_required: 'The order needs the co-signature of a second clinician.',
  biometric_required: 'The action requires a biometric, and the token is not bound to one.',
  hardware_required_above_500: 'The amount requires a hardware-attested device, and this one is not.',
  policy_denied:
    'A rule of the policy denies the action, the account is stopped, or the order does not authorize; `matched_rule_id` names the rule.',
  policy_biometric_required: 'A rule of the policy requires a biometric, and the token is not bound to one.',
  policy_hardware_required: 'A rule of the policy requires a hardware-attested device, and this one is not.',
  policy_tier_required: 'A rule of the policy requires a higher hardware tier than the device has.',
  canary_tripped: 'A canary family reached its threshold; `canary_readings` has the readings.',
  canary_unavailable:
    'A canary condition has no reading of the set in `canary_set`: pass a `trace_id` or an `inference_input`.',
  policy_webhook_denied: "The account's policy webhook denied the action; `webhook_reason` has its reason.",
  policy_webhook_unavailable:
    "The account's policy webhook gave no valid answer in time; `webhook_unavailable_cause` says why.",
  approval_pending: 'A person has to approve the action; `approval_id` names the approval.',
} as const satisfies Record<string, string>

export type VerifyReason = keyof typeof VERIFY_REASONS

export const VERIFY_REASON_CODES = Object.keys(VERIFY_REASONS) as [VerifyReason, ...VerifyReason[]]

/** What a reason says, for people. */
export function describeReason(reason: string | null): string {
  if (reason === null) return 'The action may run now.'
  return isVerifyReason(reason)
    ? VERIFY_REASONS[reason]
    : 'A rule of the policy refused the action with its own reason.'
}

/** A label for metrics: a policy can invent any number of reasons. */
export function labelOf(reason: string | null): string {
  if (reason === null) return 'valid'
  return isVerifyReason(reason) ? reason : 'policy_own'
}

// Rules of a policy may answer with other reasons.
function isVerifyReason(reason: string): reason is VerifyReason {
  return Object.hasOwn(VERIFY_REASONS, reason)
}
