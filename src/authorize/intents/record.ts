// What the ledger keeps of a decision about a token. Its facts are complete: with the rules that matched they give the
// same answer again (explain.ts), without the policy or the rows of that time.

import type { CurrentCompiled } from '#src/authorize/policy/current.ts'
import type { PolicyDocument } from '#src/authorize/policy/document.ts'
import type { PolicyAnswers, PolicyRuleResult, WebhookAnswer } from '#src/authorize/policy/evaluate.ts'
import type { UnavailableCause } from '#src/authorize/webhooks/answer.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { type Actor, actorOf, type Principal } from '#src/platform/http/principal.ts'
import { MAX_RULE_RESULTS, type NewDecision } from '#src/platform/ledger/entry.ts'
import type { Preflight } from './authorization.ts'
import { type Charges, inputsOfCharges } from './charging.ts'
import type { VerifyFacts } from './facts.ts'
import type { VerifyOutcome } from './pipeline.ts'

export interface RecordedFacts {
  facts: VerifyFacts
  policy: { version: number; digest: string; document: PolicyDocument } | null
}

interface Judged {
  id: string
  principal: Principal
  facts: VerifyFacts
  outcome: VerifyOutcome
  policy: CurrentCompiled | null
  tokenSha256: string | null
}

/** The entries of one verification, its own first. All of them are one statement. @param charges Of an execution. */
export function decisionsOfVerify(judged: Judged, charges: Charges | undefined): NewDecision[] {
  const { facts, outcome, principal } = judged
  const jti = facts.token?.jti ?? null
  const shared = { at: new Date(facts.at), actor: actorOf(principal), subject: jti, valid: null, reason: null }
  const verify: NewDecision = { ...decisionOf('verify', judged), valid: outcome.valid, reason: outcome.reason }
  const executions = charges === undefined ? [] : [{ jti, decision_id: judged.id, ...inputsOfCharges(charges) }]
  return [
    verify,
    ...executions.map((inputs): NewDecision => ({ ...shared, kind: 'execute', valid: true, inputs })),
    ...orderDecisions(judged, charges !== undefined, shared),
    ...webhookDecisions(facts.answers, { ...shared, jti, decisionId: judged.id }),
    ...shadowDecisions(judged, shared),
  ]
}

/** The entry of authorize: it says what the preflight foresees. */
export function decisionOfAuthorize(judged: Judged, { would_be_valid: valid, reason }: Preflight): NewDecision {
  return { ...decisionOf('authorize', judged), valid, reason }
}

/** The entry of an authorize that a trip refused. Its token was never issued, so the entry does not name it. */
export function decisionOfRefusal(judged: Judged, lockId: string | undefined): NewDecision {
  const { inputs, ...decision } = decisionOf('authorize', judged)
  const lock = lockId === undefined ? {} : { lock_id: lockId }
  return {
    ...decision,
    subject: judged.facts.token?.agent_session_id ?? null,
    inputs: { ...inputs, jti: null, ...lock },
  }
}

function decisionOf(
  kind: 'authorize' | 'verify',
  { id, principal, facts, outcome, policy, tokenSha256 }: Judged,
): NewDecision {
  const { token, request } = facts
  const approval = facts.approvals.at(-1)
  return {
    id,
    kind,
    at: new Date(facts.at),
    actor: actorOf(principal),
    subject: token?.jti ?? null,
    reason: outcome.reason,
    valid: outcome.valid,
    inputs: {
      jti: token?.jti ?? null,
      token_sha256: tokenSha256,
      action_hash: request.action_hash,
      payload_hash: request.payload_hash,
      context_hash: request.context_hash,
      trace_id: request.trace_id ?? token?.trace_id ?? null,
      agent_id: token?.agent_id ?? null,
      agent_session_id: token?.agent_session_id ?? null,
      device_id: token?.device_id ?? null,
      ...(token?.mandate_id && { mandate_id: token.mandate_id }),
      ...(token?.schedule_id && { schedule_id: token.schedule_id }),
      ...(token?.order_id && { order_id: token.order_id, order_hash: token.order_hash }),
      ...(approval !== undefined && { approval_id: approval.approval_id }),
    },
    policyVersion: policy?.version ?? null,
    matchedRuleId: outcome.matched_rule_id ?? null,
    ...namedResults(outcome.results, outcome.shadow, outcome.matched_rule_id),
    facts: { facts, policy: policy === null ? null : relevantPart(policy, outcome) } as unknown as Json,
  }
}

// A rule that did not match changes nothing in the answer. A policy may have a thousand of them. Unless the searches of all
// rules together cost too much.
function relevantPart(
  { version, digest, compiled }: CurrentCompiled,
  { results, shadow, isOverBudget }: VerifyOutcome,
) {
  const { document } = compiled
  if (isOverBudget === true) return { version, digest, document }
  const ids = new Set([...results, ...shadow].map(({ rule_id }) => rule_id))
  return { version, digest, document: { ...document, rules: document.rules.filter(({ id }) => ids.has(id)) } }
}

type Shared = Pick<NewDecision, 'at' | 'subject' | 'valid' | 'reason'> & { actor: Actor }

interface WebhookRecord {
  jti: string | null
  decisionId: string
}

function webhookDecisions(
  { webhooks }: PolicyAnswers,
  { jti, decisionId, ...shared }: Shared & WebhookRecord,
): NewDecision[] {
  return withoutRepeats(Object.entries(webhooks)).map(([ruleId, answer]) => {
    const inputs = { jti, decision_id: decisionId, rule_id: ruleId }
    if (!isAnswer(answer)) {
      const withCause = { ...inputs, cause: causeOf(answer) ?? null }
      return {
        ...shared,
        kind: 'webhook_decision',
        valid: false,
        reason: 'policy_webhook_unavailable',
        inputs: withCause,
      }
    }
    const isAllowed = answer.decision === 'allow'
    return {
      ...shared,
      kind: 'webhook_decision',
      valid: isAllowed,
      reason: isAllowed ? null : 'policy_webhook_denied',
      inputs,
    }
  })
}

// A policy may have a thousand webhook rules, and leaves stay permanently. Questions that were never sent get one entry
// for each cause; the rules are in the entry of the verification.
function withoutRepeats(answers: [string, RecordedAnswer][]): [string, RecordedAnswer][] {
  const seen = new Set<string>()
  return answers.filter(([, answer]) => {
    const cause = causeOf(answer)
    if (cause === undefined || !NOT_SENT.has(cause)) return true
    return !seen.has(cause) && seen.add(cause)
  })
}

type RecordedAnswer = PolicyAnswers['webhooks'][string]

function isAnswer(answer: RecordedAnswer): answer is WebhookAnswer {
  return typeof answer === 'object' && 'decision' in answer
}

function causeOf(answer: RecordedAnswer): string | undefined {
  return typeof answer === 'object' && 'unavailable' in answer ? answer.unavailable : undefined
}

const NOT_SENT: ReadonlySet<string> = new Set(['no_secret', 'busy'] satisfies UnavailableCause[])

// The execution of an order and each refusal of one are kept as long as what clinicians did to it. A check is neither.
function orderDecisions({ id, facts, outcome }: Judged, isExecuted: boolean, shared: Shared): NewDecision[] {
  const { order = null, token, request } = facts
  if (token === null || order === null || !request.execute || (outcome.valid && !isExecuted)) return []
  const { order_id, order_hash } = order
  return [
    {
      ...shared,
      kind: 'clinician_order',
      subject: order_id,
      valid: outcome.valid,
      reason: isExecuted ? 'order_executed' : outcome.reason,
      matchedRuleId: outcome.matched_rule_id ?? null,
      inputs: { order_id, order_hash, jti: token.jti, decision_id: id },
    },
  ]
}

// One entry records the shadow rules that would have refused, or that could not be evaluated for want of a webhook.
function shadowDecisions({ id, outcome, policy }: Judged, shared: Shared): NewDecision[] {
  const unmet = outcome.shadow.filter(({ matched, met }) => matched && !met)
  if (unmet.length === 0) return []
  const isUnevaluated = unmet.every(({ note }) => note === 'shadow_webhook_unevaluated')
  return [
    {
      ...shared,
      kind: 'policy_shadow',
      reason: isUnevaluated ? 'shadow_webhook_unevaluated' : null,
      inputs: { jti: shared.subject, decision_id: id },
      policyVersion: policy?.version ?? null,
      ...namedResults([], unmet),
    },
  ]
}

// The rest follows from the facts.
function namedResults(
  results: readonly PolicyRuleResult[],
  shadow: readonly PolicyRuleResult[],
  answeredBy?: string,
): Pick<NewDecision, 'ruleResults' | 'omittedRuleResults'> {
  const named = [...mostTelling(results, answeredBy), ...mostTelling(shadow)]
  return { ruleResults: named, omittedRuleResults: results.length + shadow.length - named.length }
}

// What gave the answer, then what refused too, then the others; in the order of the rules.
function mostTelling(results: readonly PolicyRuleResult[], answeredBy?: string): readonly PolicyRuleResult[] {
  if (results.length <= MAX_RULE_RESULTS) return results
  const rankOf = ({ rule_id, met }: PolicyRuleResult) => (met ? 2 : rule_id === answeredBy ? 0 : 1)
  const told = new Set(results.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, MAX_RULE_RESULTS))
  return results.filter((one) => told.has(one))
}
