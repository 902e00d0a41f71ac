// Every example of docs/policy.md, evaluated: the tables of the operators, and the policies with an input.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compilePolicy } from '#src/authorize/policy/compile.ts'
import { OPERATORS } from '#src/authorize/policy/document.ts'
import { evaluatePolicy, NO_ANSWERS } from '#src/authorize/policy/evaluate.ts'
import { documentOf, factsOf } from './policy-vectors.ts'

const guide = readFileSync(new URL('../../../docs/policy.md', import.meta.url), 'utf8')

const CONDITION =
  /^### (.+)\n\n(?:(?!###|```)[\s\S])*?```json condition\n([\s\S]+?)```\n\n\| facts[^\n]*\n\| -[^\n]*\n((?:\|[^\n]*\n)+)/gm
const conditions = [...guide.matchAll(CONDITION)].flatMap(([, operator = '', condition = '', rows = '']) =>
  [...rows.matchAll(/^\| `(.*?)` +\| (.*?) +\|$/gm)].map(([, facts = '', outcome = '']) => ({
    operator,
    condition,
    facts,
    outcome,
  })),
)
const POLICY = /```json policy\n([\s\S]+?)```\n\n```json input\n([\s\S]+?)```\n\nThe answer is `([a-z0-9_]+)`/g
const policies = [...guide.matchAll(POLICY)].map(([, policy = '', input = '', reason = '']) => ({
  policy,
  input,
  reason,
}))

describe('the guide to policies', () => {
  it.each(conditions)('$operator: $facts $outcome', ({ condition, facts, outcome }) => {
    const rules = [{ id: 'r', when: JSON.parse(condition), require: { deny: true } }]
    const policy = compilePolicy(documentOf({ rules, default_rules: { biometric_flag: false, hardware_above: null } }))
    const { results } = evaluatePolicy(policy, factsOf(JSON.parse(facts)), NO_ANSWERS)
    const found =
      results[0]?.error !== undefined ? 'is an error' : results[0] === undefined ? 'does not match' : 'matches'
    expect(found).toBe(outcome)
  })

  it('has an example that matches for every operator', () => {
    const matching = conditions.filter(({ outcome }) => outcome === 'matches').map(({ operator }) => operator)
    expect(OPERATORS.filter((operator) => !matching.includes(operator))).toEqual([])
  })

  it.each(policies)('gives $reason', ({ policy, input, reason }) => {
    const { refusals } = evaluatePolicy(
      compilePolicy(documentOf(JSON.parse(policy))),
      factsOf(JSON.parse(input)),
      NO_ANSWERS,
    )
    expect(refusals[0]?.reason).toBe(reason)
  })

  it('has no example that is not evaluated', () => {
    const count = (kind: string) => guide.split(`\`\`\`json ${kind}\n`).length - 1
    expect(count('policy')).toBe(policies.length)
    expect(count('input')).toBe(policies.length)
    expect(count('condition')).toBe(new Set(conditions.map(({ operator }) => operator)).size)
  })
})
