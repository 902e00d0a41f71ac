// Repeats a decision from its recorded facts: the same pipeline over the same facts gives the same answer. Pure, like the
// pipeline itself.

import { type CompiledPolicy, compilePolicy } from '#src/authorize/policy/compile.ts'
import { DEFAULT_DOCUMENT } from '#src/authorize/policy/document.ts'
import type { PolicyAnswers, PolicyFacts, PolicyRuleResult } from '#src/authorize/policy/evaluate.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { DecisionEntry } from '#src/platform/ledger/entry.ts'
import { policyFactsOf, type VerifyFacts } from './facts.ts'
import {
  answersFor,
  denialsOf,
  judgeSteps,
  runPipeline,
  STEPS,
  type StepInput,
  type VerifyOutcome,
} from './pipeline.ts'
import { describeReason } from './reasons.ts'
import type { RecordedFacts } from './record.ts'

/** Explainers of verify and authorize entries, by kind. */
export const INTENT_EXPLAINERS = { verify: explain, authorize: explain }

/** Results of rules that an explanation shows. */
const MAX_RULES = 1_000

/** The steps in their order: passed, refused, or not reached. `agrees`: the answer is the recorded one. */
function explain(recorded: Json, entry: DecisionEntry): Json {
  const { facts, document, outcome } = repeat(recorded)
  const { valid, reason, results, shadow, needs: _, pending, opens: __, isOverBudget: ___, ...details } = outcome
  // Verify answers what an answer that is missing comes to.
  const isPending = pending === 'webhook' && entry.kind === 'authorize'
  const answered = isPending ? 'policy_webhook_pending' : reason
  const rules = [...results, ...shadow]
  return {
    valid,
    reason: answered,
    detail: describeReason(reason),
    agrees: valid === entry.valid && answered === entry.reason,
    evaluated_at: facts.at,
    token_problem: facts.token_problem,
    ...details,
    steps: stepsOf(outcome, facts, document),
    rules: rules.slice(0, MAX_RULES) as unknown as Json,
    ...(rules.length > MAX_RULES && { rules_omitted: rules.length - MAX_RULES }),
    facts: facts as unknown as Json,
  }
}

/** All results of a decision. Its entry may name a part of them. */
export function resultsOf(recorded: Json): PolicyRuleResult[] {
  const { results, shadow } = repeat(recorded).outcome
  return [...results, ...shadow]
}

function repeat(recorded: Json) {
  const { facts, policy } = recorded as unknown as RecordedFacts
  const document = policy?.document ?? DEFAULT_DOCUMENT
  return { facts, document, outcome: runPipeline(facts, compilePolicy(document)) }
}

/**
 * Facts over which a draft policy is evaluated to replay a decision, and the reason with which the decision refuses
 * before its rules. Undefined where the recorded rules were not reached, so that the draft's would not be either, or
 * where the account was stopped or the order denied, so that no policy would have let the action run.
 */
export function replayable(
  recorded: Json,
  draft: CompiledPolicy,
): { contexts: PolicyFacts[]; answers: PolicyAnswers; refusal: string | undefined } | undefined {
  const { facts, policy } = recorded as unknown as RecordedFacts
  const { token } = facts
  if (token === null || policy === null || denialsOf(facts).length > 0) return undefined
  const reasonUnder = (document: StepInput['document']) => judgeSteps({ facts, token, document })?.reason
  const refusal = reasonUnder(draft.document)
  if (refusal !== undefined && refusal === reasonUnder(policy.document)) return undefined
  return { contexts: policyFactsOf(facts, token), answers: answersFor(facts, draft), refusal }
}

function stepsOf(outcome: VerifyOutcome, facts: VerifyFacts, document: StepInput['document']): Json {
  const { token } = facts
  let isOver = token === null
  const steps: { reasons: string[]; result: string }[] = STEPS.map(({ reasons, judge }, index) => {
    if (token === null) return { reasons: [...reasons], result: index === 0 ? 'refused' : 'not_reached' }
    if (isOver) return { reasons: [...reasons], result: 'not_reached' }
    isOver = judge({ facts, token, document }) !== undefined
    return { reasons: [...reasons], result: isOver ? 'refused' : 'passed' }
  })
  return [...steps, { reasons: ['policy'], result: isOver ? 'not_reached' : outcome.valid ? 'passed' : 'refused' }]
}
