// The vectors of policies, with their facts completed.

import { readFileSync } from 'node:fs'
import type { PolicyCondition } from '#src/authorize/policy/document.ts'
import { documentSchema, type PolicyDocument } from '#src/authorize/policy/document.ts'
import { NO_ANSWERS, type PolicyAnswers, type PolicyFacts } from '#src/authorize/policy/evaluate.ts'

interface ConditionCase {
  about: string
  name: string
  when: PolicyCondition
  facts: Partial<PolicyFacts>
  expect: 'true' | 'false' | 'error'
  on_missing?: 'match'
}

interface EvaluationCase {
  about: string
  name: string
  document: { rules: { id: string }[] }
  contexts: Partial<PolicyFacts>[]
  answers: Partial<PolicyAnswers>
  refusals: [reason: string, ruleId: string][]
  needs?: [kind: string, ruleId: string][]
  error_in?: string[]
  shadow?: [ruleId: string, met: boolean, note: string | null][]
}

export const CONDITIONS: { base: PolicyFacts; cases: ConditionCase[] } = read('conditions.json')
export const EVALUATIONS: { cases: EvaluationCase[] } = read('evaluations.json')

export function factsOf(facts: Partial<PolicyFacts> = {}): PolicyFacts {
  return { ...CONDITIONS.base, ...facts }
}

export function answersOf(answers: Partial<PolicyAnswers> = {}): PolicyAnswers {
  return { ...NO_ANSWERS, ...answers }
}

export function documentOf(document: unknown): PolicyDocument {
  return documentSchema.parse(document)
}

function read<Vectors>(name: string): Vectors {
  return JSON.parse(readFileSync(new URL(`../../../vectors/policy/${name}`, import.meta.url), 'utf8')) as Vectors
}
