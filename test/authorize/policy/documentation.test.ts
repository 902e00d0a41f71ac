// Every example of the guides to policies, their conditions and operators, and approvals, evaluated: the tables of the operators, and the
// policies with an input.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compilePolicy } from '#src/authorize/policy/compile.ts'
import { OPERATORS } from '#src/authorize/policy/document.ts'
import { evaluatePolicy, NO_ANSWERS } from '#src/authorize/policy/evaluate.ts'
import { MEMBERS } from '#src/authorize/policy/fields.ts'
import { documentOf, factsOf } from './policy-vectors.ts'

const read = (page: string) => readFileSync(new URL(`../../../docs/authorize/${page}`, import.meta.url), 'utf8')
const guide = ['policy.md', 'conditions.md', 'operators.md'].map(read).join('\n')
const approvals = read('approvals.md')

const CONDITION =
  /^##+ (.+)\n\n(?:(?!##|```)[\s\S])*?```json condition\n([\s\S]+?)```\n\n\| facts[^\n]*\n\| -[^\n]*\n((?:\|[^\n]*\n)+)/gm
const conditions = [...guide.matchAll(CONDITION)].flatMap(([, operator = '', condition = '', rows = '']) =>
  [...rows.matchAll(/^\| `(.*?)` +\| (.*?) +\|$/gm)].map(([, facts = '', outcome = '']) => ({
    operator,
    condition,
    facts,
    outcome,
  })),
)
const POLICY = /```json policy\n([\s\S]+?)```\n\n```json input\n([\s\S]+?)```\n\nThe answer is `([a-z0-9_]+)`/g
const policies = [guide, approvals]
  .flatMap((page) => [...page.matchAll(POLICY)])
  .map(([, policy = '', input = '', reason = '']) => ({
    policy,
    input,
    reason,
  }))

describe('the guides to policies and to approvals', () => {
  it.each(conditions)('$operator: $facts $outcome', ({ condition, facts, outcome }) => {
    const rules = [{ id: 'r', when: JSON.parse(condition), require: { deny: true } }]
    const policy = compilePolicy(documentOf({ rules, default_rules: { biometric_flag: false, hardware_above: null } }))
    const { results } = evaluatePolicy(policy, factsOf(JSON.parse(facts)), NO_ANSWERS)
    const found =
      results[0]?.error !== undefined ? 'is an error' : results[0] === undefined ? 'does not match' : 'matches'
    expect(found).toBe(outcome)
  })

  it('have an example that matches for every operator', () => {
    const matching = conditions.filter(({ outcome }) => outcome === 'matches').map(({ operator }) => operator)
    expect(OPERATORS.filter((operator) => !matching.includes(operator))).toEqual([])
  })

  it.each(policies)('give $reason', ({ policy, input, reason }) => {
    const { refusals } = evaluatePolicy(
      compilePolicy(documentOf(JSON.parse(policy))),
      factsOf(JSON.parse(input)),
      NO_ANSWERS,
    )
    expect(refusals[0]?.reason).toBe(reason)
  })

  it('list every field of the closed lists', () => {
    const { action_payload: _, context: __, ...closed } = MEMBERS
    const page = `${guide}${read('schedules.md')}`
    for (const [root, members] of Object.entries(closed)) {
      for (const member of members) expect(page).toContain(`\`${root}.${member.replace('**', '*')}\``)
    }
  })

  it('have no example that is not evaluated', () => {
    const count = (kind: string) => `${guide}${approvals}`.split(`\`\`\`json ${kind}\n`).length - 1
    expect(count('policy')).toBe(policies.length)
    expect(count('input')).toBe(policies.length)
    expect(count('condition')).toBe(new Set(conditions.map(({ operator }) => operator)).size)
  })
})
