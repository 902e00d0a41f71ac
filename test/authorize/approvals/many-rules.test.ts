// Approvals for hundreds of rules with long descriptions: what lists show of them, what one shows, and that all count.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestCaller } from '../../support/callers.ts'
import { ACTION, BOUND } from '../intents/service.ts'
import { type ApprovalService, startApprovals } from './service.ts'

const RULES = 150
const WORDS = 'Two people agree. '.repeat(50)
const rules = Array.from({ length: RULES }, (_, n) => ({
  id: `rule-${n}`,
  priority: n,
  description: `${n}: ${WORDS}`,
  require: { approval: {} },
}))

let on: ApprovalService
let caller: TestCaller

beforeAll(async () => {
  on = await startApprovals({ scopes: ['all'] })
})
beforeEach(async () => {
  caller = await on.makeCaller()
  await on.setPolicy(caller, { rules })
})
afterAll(() => on?.close())

const post = async (path: string, json: object) => (await on.call(caller, path, { method: 'POST', json })).json
const authorize = () => post('/v1/intent/authorize', { ...ACTION, ...BOUND })

interface Shown {
  rules: { rule_id: string; rule_hash: string; description: string | null }[]
  rules_omitted: number
}

describe('an approval for many rules', () => {
  it('shows 20 of them in a list, without their descriptions, and counts the rest', async () => {
    for (let n = 0; n < 5; n += 1) await authorize()
    const { status, json } = await on.call(caller, '/v1/approvals?limit=100')
    expect(status).toBe(200)
    const data = json.data as Shown[]
    expect(data).toHaveLength(5)
    for (const { rules: shown, rules_omitted: omitted } of data) {
      expect(shown.map(({ rule_id }) => rule_id)).toEqual(rules.slice(0, 20).map(({ id }) => id))
      expect(new Set(shown.map(({ description }) => description))).toEqual(new Set([null]))
      expect(omitted).toBe(RULES - 20)
    }
    expect(JSON.stringify(json).length).toBeLessThan(5 * 4_000)
  })

  it('shows 100 of them with their descriptions where one is read', async () => {
    const { approval_id } = await authorize()
    const { rules: shown, rules_omitted: omitted } = (await on.read(caller, String(approval_id))) as unknown as Shown
    expect(shown.map(({ description }) => description)).toEqual(rules.slice(0, 100).map((rule) => rule.description))
    expect(omitted).toBe(RULES - 100)
    // Nor are the other descriptions kept.
    const [stored] = await on.test.owner<{ bytes: number }>(
      'SELECT length(rules::text) AS bytes FROM approvals WHERE id = $1',
      [approval_id],
    )
    expect(stored?.bytes).toBeLessThan(100 * (WORDS.length + 200) + 50 * 200)
  })

  it('covers all of them once people have approved', async () => {
    const { approval_id, intent_token } = await authorize()
    const verify = () => post('/v1/intent/verify', { ...ACTION, intent_token, execute: false })
    expect(await verify()).toMatchObject({ valid: false, reason: 'approval_pending', approval_id })
    const user = await on.join(caller)
    expect((await on.approve(user, String(approval_id))).json).toMatchObject({ status: 'approved', rules_omitted: 50 })
    expect(await verify()).toMatchObject({ valid: true })
    await on.setPolicy(caller, { rules: rules.with(-1, { ...rules[RULES - 1], description: 'Another.' } as never) })
    expect(await verify()).toMatchObject({ valid: false, reason: 'approval_pending', matched_rule_id: 'rule-149' })
  })
})
