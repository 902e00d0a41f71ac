// Answers of webhooks and canaries under the policy that decides, which may be another than the one that asked.

import { afterEach, describe, expect, it, vi } from 'vitest'
import { answersUnder, NOTHING_ASKED, type OutsideAnswers } from '#src/authorize/intents/outside-answers.ts'
import { compilePolicy } from '#src/authorize/policy/compile.ts'
import { documentSchema } from '#src/authorize/policy/document.ts'
import { needsOf } from '#src/authorize/policy/requirements.ts'

const asks = (count: number, urlOf = (n: number) => `https://policy.example.com/${n}`) => {
  const rules = Array.from({ length: count }, (_, n) => ({ id: `ask-${n}`, require: { webhook: { url: urlOf(n) } } }))
  return compilePolicy(documentSchema.parse({ rules }))
}
const allowedBy = ({ rules }: ReturnType<typeof asks>): OutsideAnswers => ({
  ...NOTHING_ASKED,
  needs: rules.flatMap(needsOf),
  answers: {
    ...NOTHING_ASKED.answers,
    webhooks: Object.fromEntries(rules.map(({ id }) => [id, { decision: 'allow' as const }])),
  },
})

afterEach(() => {
  vi.restoreAllMocks()
})

describe('the answers to a long policy', () => {
  it('are kept where the questions are the same, and unavailable where one has changed', () => {
    const asked = allowedBy(asks(20))
    expect(answersUnder(asks(20), asked)).toBe(asked)
    expect(answersUnder(asks(10), asked)).toBe(asked)
    const changed = asks(20, (n) => `https://policy.example.com/${n === 7 ? 'other' : n}`)
    const { answers } = answersUnder(changed, asked)
    expect(answers.webhooks).toEqual({ ...asked.answers.webhooks, 'ask-7': { unavailable: 'policy_changed' } })
  })

  it('are compared in proportion to their number', () => {
    const [policy, count] = [asks(500), 500]
    const asked = allowedBy(policy)
    const stringify = vi.spyOn(JSON, 'stringify')
    expect(answersUnder(policy, asked)).toBe(asked)
    expect(stringify.mock.calls.length).toBeLessThanOrEqual(2 * count)
  })
})
