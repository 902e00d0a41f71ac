// The judgement of verify: one pure function over facts, used twice by every verification (before and inside of its
// transaction), by the preflight of authorize, and by explain. The steps stand in the published order of their reasons
// (reasons.ts); the first that refuses answers.

import type { CompiledPolicy } from '#src/authorize/policy/compile.ts'
import {
  evaluateContexts,
  type PolicyNeed,
  type PolicyRefusal,
  type PolicyRuleResult,
} from '#src/authorize/policy/evaluate.ts'
import type { RevokedScope } from '#src/authorize/tokens/rows.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { policyFactsOf, type TokenFacts, type VerifyFacts } from './facts.ts'
import type { VerifyReason } from './reasons.ts'

export interface VerifyOutcome extends Partial<RefusalDetails> {
  valid: boolean
  /** One of VERIFY_REASONS or the own reason of a rule; null when valid. */
  reason: string | null
  /** The action was executed before this verification. */
  already_executed: boolean
  results: PolicyRuleResult[]
  shadow: PolicyRuleResult[]
  /** What must be asked outside before this answer is final; empty where it does not matter any more. */
  needs: PolicyNeed[]
  /** The refusal is for want of an answer that was not asked for yet. */
  pending?: PolicyNeed['kind']
}

/** The members of an answer that belong to single reasons (specification, Verify result). */
export interface RefusalDetails {
  matched_rule_id: string
  webhook_reason: string
  revoked_scope: RevokedScope
  lock_id: string
  canary_set: string
  canary_readings: Json
}

interface Refusal extends Partial<RefusalDetails> {
  reason: string
}

interface Judged {
  facts: VerifyFacts
  token: TokenFacts
}

/** A step gives one of its reasons, or passes. */
interface Step {
  reasons: readonly VerifyReason[]
  judge(judged: Judged): Refusal | undefined
}

/** All steps but the policy, which is last. */
export const STEPS: readonly Step[] = [
  step(
    'invalid_token',
    ({ facts: { request }, token }) =>
      differs(request.agent_session_id, token.agent_session_id) ||
      differs(request.device_id, token.device_id) ||
      differs(request.audience, token.audience),
  ),
  reserved('approval_denied', 'approval_expired', 'approval_pending'),
  step('token_expired', ({ facts, token }) => facts.at >= token.expires_at),
  {
    reasons: ['token_revoked'],
    judge: ({ facts: { revocation } }) =>
      revocation === null ? undefined : { reason: 'token_revoked', revoked_scope: revocation.scope },
  },
  {
    reasons: ['session_canary_locked'],
    judge: ({ facts: { lock } }) =>
      lock === null ? undefined : { reason: 'session_canary_locked', lock_id: lock.lock_id },
  },
  // An agent that the token names and that is not there any more is no agent that may act.
  step('agent_suspended', ({ facts: { agent }, token }) =>
    token.agent_id === null ? false : agent?.status !== 'active',
  ),
  step('action_hash_mismatch', ({ facts: { request }, token }) => request.action_hash !== token.action_hash),
  step('payload_hash_mismatch', ({ facts: { request }, token }) => request.payload_hash !== token.payload_hash),
  step('context_hash_mismatch', ({ facts: { request }, token }) => differs(request.context_hash, token.context_hash)),
  step('canary_reading_mismatch', ({ facts, token }) =>
    token.reading_hash === null ? false : facts.reading_hash !== token.reading_hash,
  ),
  step('token_already_executed', ({ facts: { execution, request }, token }) => {
    const isOnce = token.mandate_id !== null || token.schedule_id !== null
    return request.execute && isOnce && execution !== null && !execution.is_same_caller
  }),
  reserved(
    'mandate_revoked',
    'mandate_expired',
    'mandate_heartbeat_lapsed',
    'mandate_constraint_violated',
    'mandate_budget_exceeded',
  ),
  reserved(
    'schedule_counterparty_mismatch',
    'schedule_amount_exceeded',
    'schedule_already_executed',
    'schedule_occurrences_exhausted',
    'schedule_window_missed',
  ),
  reserved(
    'prescriber_excluded',
    'prescriber_tier_insufficient',
    'controlled_substance_cosign_required',
    'order_declined',
  ),
]

/** The answer to facts under a policy. The same arguments always have the same answer. */
export function runPipeline(facts: VerifyFacts, policy: CompiledPolicy): VerifyOutcome {
  const { token } = facts
  const already = facts.execution !== null
  if (token === null) return refused({ reason: 'invalid_token' }, already)
  for (const { judge } of STEPS) {
    const refusal = judge({ facts, token })
    if (refusal !== undefined) return refused(refusal, already)
  }
  const { refusals, results, shadow, needs } = evaluateContexts(policy, policyFactsOf(facts, token), facts.answers)
  const [first] = facts.stop === null ? refusals : [...refusals.filter(({ kind }) => kind === 'default'), STOPPED]
  return {
    ...(first === undefined ? { valid: true, reason: null } : { valid: false, ...detailsOf(first) }),
    already_executed: already,
    results,
    shadow,
    needs: first === undefined || first.isPending === true || first.kind === 'approval' ? needs : [],
  }
}

/** The rule that stands for the stop of an account. */
export const STOP_RULE = 'system:stop'

// After the refusals of the default rules and before those of all others.
const STOPPED: PolicyRefusal = { reason: 'policy_denied', kind: 'deny', ruleId: STOP_RULE, priority: 0 }

function detailsOf(refusal: PolicyRefusal): Refusal & Pick<VerifyOutcome, 'pending'> {
  const { reason, kind, ruleId, webhookReason, canarySet, canaryReadings, isPending } = refusal
  return {
    reason,
    ...(kind !== 'default' && { matched_rule_id: ruleId }),
    ...(webhookReason !== undefined && { webhook_reason: webhookReason }),
    ...(canarySet !== undefined && { canary_set: canarySet }),
    ...(canaryReadings !== undefined && { canary_readings: canaryReadings }),
    ...(isPending === true && { pending: kind === 'canary' ? 'canary' : 'webhook' }),
  }
}

function refused(refusal: Refusal, already: boolean): VerifyOutcome {
  return { valid: false, ...refusal, already_executed: already, results: [], shadow: [], needs: [] }
}

function step(reason: VerifyReason, isTrue: (judged: Judged) => boolean): Step {
  return { reasons: [reason], judge: (judged) => (isTrue(judged) ? { reason } : undefined) }
}

/** A place in the order for what no token can be bound to yet: authorize refuses to bind it. */
function reserved(...reasons: VerifyReason[]): Step {
  return { reasons, judge: () => undefined }
}

function differs(named: string | null, bound: string | null): boolean {
  return named !== null && named !== bound
}
