// Decisions under policies of hundreds of rules that all match: what their entries name, and that everything that follows
// from an entry comes to the same with the part that it names.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { DecisionEntry } from '#src/platform/ledger/entry.ts'
import type { TestCaller } from '../../support/callers.ts'
import { type Intents, startIntents } from './service.ts'

const HOUR_MS = 3_600_000
const RULES = 150

let service: Intents
let caller: TestCaller

beforeAll(async () => {
  service = await startIntents({ scopes: ['all'] })
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

const range = () => ({
  from: new Date(Date.now() - HOUR_MS).toISOString(),
  to: new Date(Date.now() + HOUR_MS).toISOString(),
})
const many = (rule: (n: number) => object) => Array.from({ length: RULES }, (_, n) => rule(n) as { id: string })
/** 600 results, of which 450 are unmet. The last rule alone denies. */
const strict = many((n) => ({
  id: `rule-${n}`,
  require: { biometric: true, hardware: true, min_tier: 'strongbox', canary: { set: 'default', mode: 'best_effort' } },
  ...(n === RULES - 1 && { require: { deny: true } }),
}))
const shadows = many((n) => ({ id: `shadow-${n}`, shadow: true, require: { biometric: true, hardware: true } }))

async function verified(rules: object[]) {
  await service.setPolicy(caller, rules as never)
  const { token } = await service.issue(caller)
  const answer = await service.verify(caller, token)
  const entries = (await service.decisions(caller)).map(({ entry }) => JSON.parse(entry) as DecisionEntry)
  return { answer, entry: entries.find(({ id }) => id === answer.decision_id), entries }
}

describe('the entry of a decision under a long policy', () => {
  it('names what gave the answer and what refused first, and counts the rest', async () => {
    const { answer, entry } = await verified(strict)
    expect(answer).toMatchObject({ reason: 'policy_denied', matched_rule_id: `rule-${RULES - 1}` })
    const results = entry?.rule_results ?? []
    expect(results).toHaveLength(100)
    expect(entry?.rule_results_omitted).toBe(4 * (RULES - 1) + 1 - 100)
    expect(results.at(-1)).toMatchObject({ rule_id: `rule-${RULES - 1}`, effect: 'deny', met: false })
    expect(results.every(({ met }) => !met)).toBe(true)
    expect(results.slice(0, 3).map(({ rule_id, effect }) => `${rule_id} ${effect}`)).toEqual([
      'rule-0 biometric',
      'rule-0 hardware',
      'rule-0 tier',
    ])
  })

  it('is whole where the policy is short', async () => {
    const { entry } = await verified(strict.slice(-20))
    expect(entry?.rule_results).toHaveLength(4 * 19 + 1)
    expect(entry).not.toHaveProperty('rule_results_omitted')
  })

  it('has its hash with what it counts, and its facts lead to the same answer and to all results', async () => {
    const { answer } = await verified(strict)
    const { json } = await service.call(caller, `/v1/decisions/${answer.decision_id}/explain`)
    const omitted = 4 * (RULES - 1) + 1 - 100
    expect(json).toMatchObject({
      decision: { rule_results_omitted: omitted },
      entry_intact: true,
      facts_state: 'intact',
      same_answer: true,
      replay: { reason: 'policy_denied', matched_rule_id: `rule-${RULES - 1}` },
    })
    expect((json.replay as { rules: unknown[] }).rules).toHaveLength(omitted + 100)
    const listed = await service.call(caller, '/v1/decisions?kind=verify')
    expect(listed.json.data).toMatchObject([{ id: answer.decision_id, rule_results_omitted: omitted }])
  })
})

describe('what is made of these entries', () => {
  const report = async () => {
    const { from, to } = range()
    const { json } = await service.call(caller, `/v1/policy/shadow-report?from=${from}&to=${to}`)
    return json as { looked: number; data: Record<string, unknown>[] }
  }

  it('counts every shadow rule in the report, also those that no entry names', async () => {
    const { entry, entries } = await verified([
      ...shadows,
      { id: 'open', require: { canary: { set: 's', mode: 'best_effort' } } },
    ])
    expect(entry).toMatchObject({ valid: true, rule_results_omitted: 2 * RULES - 100 })
    const [shadow] = entries.filter(({ kind }) => kind === 'policy_shadow')
    expect(shadow?.rule_results).toHaveLength(100)
    expect(shadow?.rule_results_omitted).toBe(2 * RULES - 100)
    const { looked, data: rules } = await report()
    expect(looked).toBe(1)
    expect(rules.map(({ rule_id }) => rule_id)).toEqual(shadows.map(({ id }) => id).toSorted())
    for (const rule of rules) {
      expect(rule).toMatchObject({ matched: 1, would_deny: 1, divergent: 1, examples: [entry?.id] })
    }
  })

  it('counts every rule that refused in a replay, and changes what a document changes', async () => {
    const { answer } = await verified(strict)
    const replay = (rules: object[]) => service.done(caller, '/v1/policy/replay', { document: { rules }, ...range() })
    const same = await replay(strict)
    expect(same).toMatchObject({ looked: 1, would_change: 0, unknown: 0 })
    expect(same.rules).toEqual(
      strict.map(({ id }) => ({ rule_id: id, refused_before: 1, refuses_after: 1 })).toSorted(byRule),
    )
    const open = await replay([])
    expect(open.data).toMatchObject([
      { decision_id: answer.decision_id, before: { reason: 'policy_denied' }, after: { valid: true } },
    ])
    expect(open.rules).toHaveLength(RULES)
  })
})

function byRule(a: { rule_id: string }, b: { rule_id: string }): number {
  return a.rule_id < b.rule_id ? -1 : 1
}
