// The judgement of verify: one pure function over facts, used twice by every verification (before and inside of its
// transaction), by the preflight of authorize, and by explain. The steps stand in the published order of their reasons
// (reasons.ts); the first that refuses answers.

import { type ApprovalFacts, coveredRules } from '#src/authorize/approvals/facts.ts'
import type { MandateDetail } from '#src/authorize/mandates/judge.ts'
import { ORDER_REASONS } from '#src/authorize/orders/judge.ts'
import type { CompiledPolicy } from '#src/authorize/policy/compile.ts'
import type { PolicyDocument } from '#src/authorize/policy/document.ts'
import {
  evaluateContexts,
  type PolicyAnswers,
  type PolicyEvaluation,
  type PolicyNeed,
  type PolicyRefusal,
  type PolicyRuleResult,
} from '#src/authorize/policy/evaluate.ts'
import { SCHEDULE_REASONS } from '#src/authorize/schedules/judge.ts'
import type { RevokedScope } from '#src/authorize/tokens/rows.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { KillSwitchTrip } from '#src/trace/canaries/conditions.ts'
import { shownFamily } from '#src/trace/canaries/judge.ts'
import { policyFactsOf, type TokenFacts, type VerifyFacts } from './facts.ts'
import {
  isCounterpartyContradicted,
  isOrderChanged,
  isOrderExecuted,
  judgeBoundMandate,
  judgeBoundOrder,
  judgeBoundSchedule,
  MANDATE_REASONS,
  orderRefusalOf,
} from './limits-steps.ts'
import type { VerifyReason } from './reasons.ts'

export interface VerifyOutcome extends Partial<RefusalDetails>, Pick<PolicyEvaluation, 'isOverBudget'> {
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
  /**
   * Rules that require an approval that was not opened yet, where no other rule refuses: one approval is to be opened.
   */
  opens?: readonly string[]
}

/** The members of an answer that belong to single reasons (specification, Verify result, but for one). */
export interface RefusalDetails {
  approval_id: string
  matched_rule_id: string
  webhook_reason: string
  /** Not of the specification: what gave no answer, whatever reason the rule has of its own. */
  unavailable_check: PolicyNeed['kind']
  /** Not of the specification: why the policy webhook gave no answer. */
  webhook_unavailable_cause: string
  revoked_scope: RevokedScope
  lock_id: string
  canary_set: string
  canary_readings: Json
  mandate_detail: MandateDetail
}

export interface StepRefusal extends Partial<RefusalDetails> {
  reason: string
}

export interface StepInput {
  facts: VerifyFacts
  token: TokenFacts
  document: Pick<PolicyDocument, 'require_bindings'>
}

/** A step gives one of its reasons, or passes. */
interface Step {
  reasons: readonly VerifyReason[]
  judge(judged: StepInput): StepRefusal | undefined
}

/** All steps but the policy, which is last. */
export const STEPS: readonly Step[] = [
  step(
    'invalid_token',
    ({ facts: { request }, token, document }) =>
      differs(request.agent_session_id, token.agent_session_id, document) ||
      differs(request.device_id, token.device_id, document) ||
      differs(request.audience, token.audience, document),
  ),
  approvalStep('approval_denied', ({ status }) => status === 'denied'),
  approvalStep('approval_expired', ({ status }) => status === 'expired'),
  approvalStep('approval_pending', isPending, ({ facts, token }) => facts.at >= token.expires_at),
  // A token that waited for an approval is valid for its own lifetime from the decision on.
  step('token_expired', ({ facts: { at, approvals }, token }) => {
    const isUsedUp = ({ status, usable_until: until }: ApprovalFacts) =>
      status === 'approved' && until !== null && at >= until
    return at >= token.expires_at || approvals.some(isUsedUp)
  }),
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
  {
    reasons: ['canary_tripped'],
    judge: ({ facts: { canary_trip: trip } }) =>
      trip === null
        ? undefined
        : { reason: 'canary_tripped', canary_set: trip.canary_set, canary_readings: readingsOf(trip) },
  },
  step('action_hash_mismatch', ({ facts: { request }, token }) => request.action_hash !== token.action_hash),
  // A mandate and a schedule have reasons of their own for another counterparty.
  step('payload_hash_mismatch', ({ facts, token }) => {
    const isBound = token.mandate_id !== null || token.schedule_id !== null
    const isOther = facts.request.payload_hash !== token.payload_hash || isOrderChanged(facts, token)
    return isOther || (!isBound && isCounterpartyContradicted(facts))
  }),
  step('context_hash_mismatch', ({ facts: { request }, token, document }) =>
    differs(request.context_hash, token.context_hash, document),
  ),
  step('canary_reading_mismatch', ({ facts, token }) =>
    token.reading_hash === null ? false : facts.reading_hash !== token.reading_hash,
  ),
  // Under a schedule it is schedule_already_executed.
  step('token_already_executed', ({ facts, token }) => {
    const { approvals, execution, order = null } = facts
    if (execution === null) return isOrderExecuted(facts)
    const isOnceAlone = token.single_use || approvals.length > 0
    const isOnce = token.mandate_id !== null || order !== null || (token.schedule_id === null && isOnceAlone)
    return isOnce && !execution.is_retry
  }),
  { reasons: MANDATE_REASONS, judge: judgeBoundMandate },
  { reasons: SCHEDULE_REASONS, judge: judgeBoundSchedule },
  { reasons: ORDER_REASONS, judge: judgeBoundOrder },
]

/** The answer to facts under a policy. The same arguments always have the same answer. */
export function runPipeline(facts: VerifyFacts, policy: CompiledPolicy): VerifyOutcome {
  const { token } = facts
  const already = facts.execution !== null
  if (token === null) return refused({ reason: 'invalid_token' }, already)
  const refusal = judgeSteps({ facts, token, document: policy.document })
  if (refusal !== undefined) return refused(refusal, already)
  const answers = answersFor(facts, policy)
  const { refusals, results, shadow, needs, ...rest } = evaluateContexts(policy, policyFactsOf(facts, token), answers)
  const denials = denialsOf(facts)
  const all = denials.length === 0 ? refusals : [...refusals.filter(({ kind }) => kind === 'default'), ...denials]
  const [first] = all
  const { refusal: approval, opens } = judgeApproval(facts, policy, all)
  const answer = first === undefined || first.kind === 'approval' ? approval : detailsOf(first)
  return {
    ...(answer === undefined ? { valid: true, reason: null } : { valid: false, ...answer }),
    already_executed: already,
    results,
    shadow,
    needs: first === undefined || first.isPending === true || first.kind === 'approval' ? needs : [],
    ...(opens.length > 0 && { opens }),
    ...rest,
  }
}

/** What refuses before the rules of the policy. */
export function judgeSteps(input: StepInput): StepRefusal | undefined {
  for (const { judge } of STEPS) {
    const refusal = judge(input)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** What the policy was answered: which of its approvals were given depends on the rules as they are now. */
export function answersFor({ answers, approvals }: VerifyFacts, policy: CompiledPolicy): PolicyAnswers {
  return { ...answers, approvals: coveredRules(approvals, policy) }
}

/**
 * Approvals open only when no other rule refuses; a question that was not asked outside yet refuses nothing so far. A
 * token has one approval of authorize and one of verify, for rules that came later: rules that need a third deny.
 */
function judgeApproval(
  { approvals, execution }: VerifyFacts,
  policy: CompiledPolicy,
  refusals: readonly PolicyRefusal[],
): { refusal: StepRefusal | undefined; opens: readonly string[] } {
  const waiting = approvals.filter(isPending)
  const promised = coveredRules(
    waiting.map((one) => ({ ...one, status: 'approved' as const })),
    policy,
  )
  const required = refusals.filter(({ kind }) => kind === 'approval')
  const unasked = required.filter(({ ruleId }) => !Object.hasOwn(promised, ruleId))
  const mayAsk = execution === null && !approvals.some(({ origin }) => origin === 'verify')
  const [impossible] = mayAsk ? [] : unasked
  if (impossible !== undefined) {
    const { reason, ruleId } = impossible
    const denied = { reason: reason === REQUIRED ? 'policy_denied' : reason, matched_rule_id: ruleId }
    return { refusal: denied, opens: [] }
  }
  const [first] = required
  const isLast = refusals.every(({ kind, isPending: isUnanswered }) => kind === 'approval' || isUnanswered === true)
  const opens = mayAsk && isLast ? [...new Set(unasked.map(({ ruleId }) => ruleId))] : []
  const [approval] = waiting
  if (first === undefined && approval === undefined) return { refusal: undefined, opens }
  return {
    refusal: {
      reason: first === undefined || first.reason === REQUIRED ? 'approval_pending' : first.reason,
      ...(approval !== undefined && { approval_id: approval.approval_id }),
      ...(first !== undefined && { matched_rule_id: first.ruleId }),
    },
    opens,
  }
}

// Reason of an evaluation of the policy alone, which does not know approvals.
const REQUIRED = 'approval_required'

/** The rule that stands for the stop of an account. */
export const STOP_RULE = 'system:stop'

/**
 * Denials that no policy of the account can lift: the stop, and what denies the order. They come after the refusals of the default
 * rules and before all others.
 */
export function denialsOf(facts: VerifyFacts): PolicyRefusal[] {
  const order = orderRefusalOf(facts)
  const rules = [
    ...(facts.stop === null ? [] : [STOP_RULE]),
    ...(order?.reason === 'policy_denied' ? [order.matched_rule_id] : []),
  ]
  return rules.map((ruleId) => ({ reason: 'policy_denied', kind: 'deny', ruleId, priority: 0 }))
}

function detailsOf(refusal: PolicyRefusal): StepRefusal & Pick<VerifyOutcome, 'pending'> {
  const { reason, kind, ruleId, webhookReason, webhookCause, canarySet, canaryReadings, isPending } = refusal
  return {
    reason,
    ...(kind !== 'default' && { matched_rule_id: ruleId }),
    ...(webhookReason !== undefined && { webhook_reason: webhookReason }),
    ...(refusal.isUnanswered === true && { unavailable_check: kind === 'canary' ? 'canary' : 'webhook' }),
    ...(webhookCause !== undefined && { webhook_unavailable_cause: webhookCause }),
    ...(canarySet !== undefined && { canary_set: canarySet }),
    ...(canaryReadings !== undefined && { canary_readings: canaryReadings }),
    ...(isPending === true && { pending: kind === 'canary' ? 'canary' : 'webhook' }),
  }
}

function refused(refusal: StepRefusal, already: boolean): VerifyOutcome {
  return { valid: false, ...refusal, already_executed: already, results: [], shadow: [], needs: [] }
}

const readingsOf = ({ families }: KillSwitchTrip): Json => families.map((family) => ({ ...shownFamily(family) }))

function isPending({ status }: ApprovalFacts): boolean {
  return status === 'pending'
}

/** Judges the approvals of the token. */
function approvalStep(
  reason: VerifyReason,
  isCause: (approval: ApprovalFacts) => boolean,
  isNow: (judged: StepInput) => boolean = () => true,
): Step {
  return {
    reasons: [reason],
    judge(judged) {
      const cause = isNow(judged) ? judged.facts.approvals.find(isCause) : undefined
      return cause === undefined ? undefined : { reason, approval_id: cause.approval_id }
    },
  }
}

function step(reason: VerifyReason, isTrue: (judged: StepInput) => boolean): Step {
  return { reasons: [reason], judge: (judged) => (isTrue(judged) ? { reason } : undefined) }
}

/** What the request leaves out differs where the policy requires it. */
function differs(
  named: string | null,
  bound: string | null,
  { require_bindings: isRequired = false }: StepInput['document'],
): boolean {
  return named === null ? isRequired && bound !== null : named !== bound
}
