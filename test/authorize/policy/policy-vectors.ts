// The vectors of policies, and facts that are complete.

import { documentSchema, type PolicyDocument } from '#src/authorize/policy/document.ts'
import { NO_ANSWERS, type PolicyAnswers, type PolicyFacts } from '#src/authorize/policy/evaluate.ts'
import type {
  ConditionInput,
  EvaluationExpected,
  EvaluationInput,
} from '../../../tools/vectors/answers/service-policy.ts'
import { readVectors } from '../../../tools/vectors/file.ts'

export const CONDITIONS = readVectors<ConditionInput, { outcome: 'true' | 'false' | 'error' }>(
  'policy/conditions',
).cases
export const EVALUATIONS = readVectors<EvaluationInput, EvaluationExpected>('policy/evaluations').cases

const BASE: PolicyFacts = {
  action_type: null,
  action_description: '',
  action_payload: {},
  context: {},
  agent: null,
  device: { id: '', tier: 'none', enrolled: false },
  session: {},
  mandate: null,
  schedule: null,
  at: '2026-11-22T12:00:00.000Z',
  token: { biometric: false },
}

export function factsOf(facts: Partial<PolicyFacts> = {}): PolicyFacts {
  return { ...BASE, ...facts }
}

export function answersOf(answers: Partial<PolicyAnswers> = {}): PolicyAnswers {
  return { ...NO_ANSWERS, ...answers }
}

export function documentOf(document: unknown): PolicyDocument {
  return documentSchema.parse(document)
}
