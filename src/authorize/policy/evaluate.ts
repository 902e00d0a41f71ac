// The policy over the facts of one authorization: which refusals it makes, in the published order, and what it would
// have to ask outside. Pure: the same policy, facts and answers give the same evaluation.

import type { HardwareTier } from '#src/attest/hardware/verdict.ts'
import type { StepBudget } from '#src/platform/automaton.ts'
import type { Json, JsonObject } from '#src/platform/crypto/canonical.ts'
import type { CompiledPolicy, CompiledRule } from './compile.ts'
import { createRun, MAX_PATTERN_STEPS, type Run } from './conditions.ts'
import { failedBy, judgeRequirement } from './requirements.ts'

/** What conditions read. A null is a missing field. */
export interface PolicyFacts {
  action_type: string | null
  action_description: string
  action_payload: JsonObject
  context: JsonObject
  agent: JsonObject | null
  device: { id: string; tier: HardwareTier; enrolled: boolean }
  session: JsonObject
  mandate: JsonObject | null
  schedule: JsonObject | null
  /** Of the reading that the request or the token names, for fields `canary.*`. */
  canary?: JsonObject | null
  /** ISO 8601 instant. */
  at: string
  token: { biometric: boolean }
}

export interface WebhookAnswer {
  decision: 'allow' | 'deny'
  reason?: string
}

export interface CanaryAnswer {
  tripped: boolean
  families: string[]
  set: string
  readings: Json
  /** Which trace was read. Absent in a simulation's answers. */
  trace_id?: string | null
  /** A client's own reading can refuse, and never satisfies a condition. */
  source: 'server' | 'client'
}

/** A question to a webhook that has no answer, and why. */
export interface NoWebhookAnswer {
  unavailable: string
}

/** By rule. One that is absent was not asked, and refuses like one that is unavailable. */
export interface PolicyAnswers {
  /** The word alone: in a simulation. */
  webhooks: Record<string, WebhookAnswer | NoWebhookAnswer | 'unavailable'>
  canaries: Record<string, CanaryAnswer | 'unavailable'>
  approvals: Record<string, 'covered'>
}

export type RequirementKind = 'deny' | 'biometric' | 'hardware' | 'tier' | 'canary' | 'webhook' | 'approval'

export interface PolicyRefusal {
  /** A code, or the rule's own reason as written. */
  reason: string
  kind: 'default' | RequirementKind
  ruleId: string
  priority: number
  /** The answer that the requirement needs has not been asked for. */
  isPending?: true
  /** It refuses for want of an answer: an answer that refuses is told first. */
  isUnanswered?: true
  webhookReason?: string
  /** Why the webhook gave no answer. */
  webhookCause?: string
  canarySet?: string
  canaryReadings?: Json
}

/** What one requirement of one rule came to. */
export interface PolicyRuleResult {
  rule_id: string
  effect: RequirementKind
  matched: boolean
  met: boolean
  shadow: boolean
  /** The condition could not be evaluated: the rule counts as matched and unmet. */
  error?: string
  note?: string
}

export type PolicyNeed =
  | { kind: 'webhook'; rule_id: string; url: string; timeout_ms: number }
  | {
      kind: 'canary'
      rule_id: string
      set: string
      families?: string[]
      mode: 'strict' | 'best_effort'
      max_age_s?: number
      source?: 'inference'
    }

export interface PolicyEvaluation {
  /** In the published order: the first is the answer. Empty: nothing refuses. */
  refusals: PolicyRefusal[]
  /** Of rules that matched, in the order of priority and id. */
  results: PolicyRuleResult[]
  /** The questions of matching rules that have no answer yet. */
  needs: PolicyNeed[]
  shadow: PolicyRuleResult[]
  /** The searches of all rules together cost more than they may: without one of the rules another might fare better. */
  isOverBudget?: true
}

export interface EvaluationOptions {
  /** Results of rules that did not match too. A policy of 1,000 rules has as many. */
  includesUnmatched?: boolean
  /** Default: `MAX_PATTERN_STEPS`. */
  budget?: StepBudget
}

export const NO_ANSWERS: PolicyAnswers = { webhooks: {}, canaries: {}, approvals: {} }

const RANK: Record<RequirementKind, number> = {
  deny: 0,
  biometric: 1,
  hardware: 2,
  tier: 3,
  canary: 4,
  webhook: 5,
  approval: 6,
}

export function evaluatePolicy(
  policy: CompiledPolicy,
  facts: PolicyFacts,
  answers: PolicyAnswers,
  options: EvaluationOptions = {},
): PolicyEvaluation {
  return evaluateContexts(policy, [facts], answers, options)
}

/**
 * Several facts of one decision, such as the context of authorize and that of verify: each is evaluated, and the first
 * refusal of all is the answer.
 */
export function evaluateContexts(
  policy: CompiledPolicy,
  contexts: readonly PolicyFacts[],
  answers: PolicyAnswers,
  { includesUnmatched = false, budget = { steps: MAX_PATTERN_STEPS } }: EvaluationOptions = {},
): PolicyEvaluation {
  const judgings = contexts.map((facts): Judging => {
    const evaluation: PolicyEvaluation = { refusals: [], results: [], needs: [], shadow: [] }
    return { run: createRun(facts, policy.slots, budget), facts, answers, evaluation, includesUnmatched }
  })
  for (const judging of judgings) {
    for (const rule of policy.defaults) judgeRule(rule, judging)
    const rules = includesUnmatched ? policy.rules : policy.rulesFor(judging.facts.action_type)
    for (const rule of rules) judgeRule(rule, judging)
  }
  // Last: what they cost can't change what a deciding rule comes to.
  for (const judging of judgings) for (const rule of policy.shadowRules) judgeRule(rule, judging)
  const [first, ...others] = judgings.map(({ evaluation }) => evaluation)
  if (first === undefined) throw new Error('a policy is evaluated over at least one context')
  first.refusals.sort(compareRefusals)
  const merged = others.reduce(mergeEvaluations, first)
  return budget.steps < 0 ? { ...merged, isOverBudget: true } : merged
}

/** What verify answers to it: it asks for the approval that a rule requires. */
export function answeredReason({ reason }: PolicyRefusal): string {
  return reason === 'approval_required' ? 'approval_pending' : reason
}

interface Judging {
  run: Run
  facts: PolicyFacts
  answers: PolicyAnswers
  evaluation: PolicyEvaluation
  includesUnmatched: boolean
}

function judgeRule(rule: CompiledRule, judging: Judging): void {
  const truth = rule.matches(judging.run)
  if (truth === false) {
    if (judging.includesUnmatched) addUnmatched(rule, judging.evaluation)
    return
  }
  const error = typeof truth === 'string' ? truth : undefined
  const { evaluation } = judging
  for (const requirement of rule.requirements) {
    const { refusal, note, need } =
      error === undefined ? judgeRequirement(rule, requirement, judging) : { refusal: failedBy(requirement) }
    const result: PolicyRuleResult = {
      rule_id: rule.id,
      effect: requirement.kind,
      matched: true,
      met: refusal === undefined,
      shadow: rule.isShadow,
      ...(error !== undefined && { error }),
      ...(note !== undefined && { note }),
    }
    if (rule.isShadow) {
      evaluation.shadow.push(result)
      continue
    }
    evaluation.results.push(result)
    if (need !== undefined) evaluation.needs.push(need)
    if (refusal === undefined) continue
    const { code, ...details } = refusal
    const isDenied = error !== undefined && requirement.kind === 'approval'
    const kind = rule.isDefault ? 'default' : isDenied ? 'deny' : requirement.kind
    evaluation.refusals.push({
      reason: rule.reason ?? code,
      kind,
      ruleId: rule.id,
      priority: rule.priority,
      ...details,
    })
  }
}

function addUnmatched({ id, requirements, isShadow }: CompiledRule, { results, shadow }: PolicyEvaluation): void {
  for (const { kind } of requirements) {
    const list = isShadow ? shadow : results
    list.push({ rule_id: id, effect: kind, matched: false, met: true, shadow: isShadow })
  }
}

function compareRefusals(a: PolicyRefusal, b: PolicyRefusal): number {
  const byAnswer = Number(a.isUnanswered ?? false) - Number(b.isUnanswered ?? false)
  const byId = a.ruleId < b.ruleId ? -1 : Number(a.ruleId > b.ruleId)
  return rankOf(a) - rankOf(b) || byAnswer || a.priority - b.priority || byId
}

function rankOf({ kind }: PolicyRefusal): number {
  return kind === 'default' ? -1 : RANK[kind]
}

function mergeEvaluations(a: PolicyEvaluation, b: PolicyEvaluation): PolicyEvaluation {
  return {
    refusals: distinct([...a.refusals, ...b.refusals].sort(compareRefusals), (one) => `${one.kind} ${one.ruleId}`),
    results: mergeResults(a.results, b.results),
    needs: distinct([...a.needs, ...b.needs], (one) => `${one.kind} ${one.rule_id}`),
    shadow: mergeResults(a.shadow, b.shadow),
  }
}

// A rule matched if it matched in either context, and its requirement is met if it is met in both.
function mergeResults(a: readonly PolicyRuleResult[], b: readonly PolicyRuleResult[]): PolicyRuleResult[] {
  const merged = new Map<string, PolicyRuleResult>()
  for (const result of [...a, ...b]) {
    const key = `${result.rule_id} ${result.effect}`
    const known = merged.get(key)
    if (known === undefined || (known.met && !result.met) || (!known.matched && result.matched)) merged.set(key, result)
  }
  return [...merged.values()]
}

// The first of each key.
function distinct<Value>(values: readonly Value[], keyOf: (value: Value) => string): Value[] {
  const seen = new Set<string>()
  return values.filter((value) => {
    const key = keyOf(value)
    return !seen.has(key) && seen.add(key)
  })
}
