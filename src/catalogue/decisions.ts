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

/** Two years with a leap day. */
const CLINICAL_DAYS = 731
/** A mandate ends at most 366 days after its grant: each of these entries stays until the mandate that it is about has ended. */
const MANDATE_DAYS = 367

/** Days for which entries of a kind are kept at least, on every plan and in both environments. */
export const LONGER_KEPT: Partial<Record<DecisionKind, number>> = {
  clinician_order: CLINICAL_DAYS,
  disclosure: CLINICAL_DAYS,
  mandate_change: MANDATE_DAYS,
  mandate_heartbeat: MANDATE_DAYS,
}
export const LONGER_KEPT_KINDS = Object.keys(LONGER_KEPT) as DecisionKind[]
