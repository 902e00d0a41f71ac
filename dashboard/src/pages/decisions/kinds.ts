// The kinds of entries of the ledger, and what an entry answered.

export const KINDS = [
  'authorize',
  'verify',
  'execute',
  'outcome',
  'approval',
  'approval_decision',
  'policy_change',
  'policy_shadow',
  'webhook_decision',
  'trace_check',
  'inference',
  'lock',
  'lock_clear',
  'agent_suspend',
  'agent_unsuspend',
  'revocation',
  'stop',
  'resume',
  'mandate_change',
  'mandate_heartbeat',
  'schedule_change',
  'clinician_order',
  'disclosure',
] as const

/** Entries that are neither a permission nor a refusal have no answer. */
export function answerOf(valid: boolean | null): string | null {
  return valid === null ? null : valid ? 'allowed' : 'refused'
}
