// The kinds of entries of the decision ledger. A new kind is one line here.

export const DECISION_KINDS = {
  authorize: 'an intent token was asked for',
  verify: 'a relying party asked whether an action may run now',
  execute: 'a token was used for its action',
  outcome: 'the executing party reported how the action ended',
  approval: 'the approval of a person was asked for',
  approval_decision: 'a person approved or denied',
  policy_change: 'the policy of the account was changed',
  policy_shadow: 'a shadow rule would have answered otherwise',
  webhook_decision: 'the policy webhook of the account answered, or did not',
  trace_check: 'the canaries of an inference were read',
  inference: 'an inference was traced',
  lock: 'a session was locked',
  lock_clear: 'the lock of a session was cleared',
  agent_suspend: 'an agent was suspended',
  agent_unsuspend: 'an agent was unsuspended',
  revocation: 'a token, a session or a device was revoked',
  stop: 'all intents of the account were stopped',
  resume: 'the stop of the account ended',
  mandate_change: 'a mandate was granted, narrowed or revoked',
  mandate_heartbeat: 'the agent of a mandate checked in',
  schedule_change: 'a standing schedule was set up, paused, resumed or cancelled',
  clinician_order: 'a clinician decided on an order',
  disclosure: 'personal data were shown to somebody',
} as const satisfies Record<string, string>

export type DecisionKind = keyof typeof DECISION_KINDS
export const DECISION_KIND_NAMES = Object.keys(DECISION_KINDS) as DecisionKind[]

/** Kept for at least `CLINICAL_DAYS`, on every plan and in both environments. */
export const CLINICAL_KINDS: readonly DecisionKind[] = ['clinician_order', 'disclosure']
/** Two years with a leap day. */
export const CLINICAL_DAYS = 731
