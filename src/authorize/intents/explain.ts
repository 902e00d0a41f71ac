// Repeats a decision from its recorded facts: the same pipeline over the same facts gives the same answer. Pure, like the
// pipeline itself.

import { type CompiledPolicy, compilePolicy } from '#src/authorize/policy/compile.ts'
import { DEFAULT_DOCUMENT } from '#src/authorize/policy/document.ts'
import type { PolicyAnswers, PolicyFacts } from '#src/authorize/policy/evaluate.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import type { DecisionEntry } from '#src/platform/ledger/entry.ts'
import { OPEN_READING, preflightOf } from './authorization.ts'
import { factsOfStored, policyFactsOf, type VerifyFacts } from './facts.ts'
import { answersFor, runPipeline, STEPS, type VerifyOutcome } from './pipeline.ts'
import { describeReason } from './reasons.ts'
import type { RecordedFacts } from './record.ts'

/** Of a verify entry and of an authorize entry, by kind. */
export const INTENT_EXPLAINERS = { verify: explain, authorize: explain }

const OPEN_DETAIL = 'A canary condition with mode best_effort has no reading yet: verify may be given one.'

/** The steps in their order: passed, refused, or not reached. `agrees`: the answer is the recorded one. */
function explain(recorded: Json, entry: DecisionEntry): Json {
  const { facts: stored, policy } = recorded as unknown as RecordedFacts
  const facts = factsOfStored(stored)
  const outcome = runPipeline(facts, compilePolicy(policy?.document ?? DEFAULT_DOCUMENT))
  const {
    results,
    shadow,
    valid: _,
    reason,
    needs: __,
    pending: ___,
    opens: ____,
    isOverBudget: _____,
    ...details
  } = outcome
  const { valid, reason: answered } = answeredIn(entry, outcome)
  return {
    valid,
    reason: answered,
    detail: answered === OPEN_READING ? OPEN_DETAIL : describeReason(reason),
    agrees: valid === entry.valid && answered === entry.reason,
    evaluated_at: facts.at,
    token_problem: facts.token_problem,
    ...details,
    steps: stepsOf(outcome, facts),
    rules: [...results, ...shadow] as unknown as Json,
    facts: stored as unknown as Json,
  }
}

/** Verify answers what an answer that is missing comes to, and authorize that it is missing. */
function answeredIn(entry: DecisionEntry, outcome: VerifyOutcome): Pick<VerifyOutcome, 'valid' | 'reason'> {
  // Earlier entries of authorize are valid where a reading under `best_effort` was not known.
  if (entry.kind !== 'authorize' || (outcome.valid && entry.valid === true)) return outcome
  const { would_be_valid: valid, reason } = preflightOf(outcome)
  return { valid, reason }
}

/**
 * What a draft of a policy is evaluated over to replay a decision; undefined where the policy was not reached, or the account
 * was stopped, so that no policy would have let the action run.
 */
export function replayable(
  recorded: Json,
  draft: CompiledPolicy,
): { contexts: PolicyFacts[]; answers: PolicyAnswers } | undefined {
  const { facts: stored, policy } = recorded as unknown as RecordedFacts
  const facts = factsOfStored(stored)
  const { token } = facts
  if (token === null || policy === null || facts.stop !== null) return undefined
  const isReached = STEPS.every(({ judge }) => judge({ facts, token }) === undefined)
  return isReached ? { contexts: policyFactsOf(facts, token), answers: answersFor(facts, draft) } : undefined
}

function stepsOf(outcome: VerifyOutcome, facts: VerifyFacts): Json {
  const { token } = facts
  let isOver = token === null
  const steps: { reasons: string[]; result: string }[] = STEPS.map(({ reasons, judge }, index) => {
    if (token === null) return { reasons: [...reasons], result: index === 0 ? 'refused' : 'not_reached' }
    if (isOver) return { reasons: [...reasons], result: 'not_reached' }
    isOver = judge({ facts, token }) !== undefined
    return { reasons: [...reasons], result: isOver ? 'refused' : 'passed' }
  })
  return [...steps, { reasons: ['policy'], result: isOver ? 'not_reached' : outcome.valid ? 'passed' : 'refused' }]
}
