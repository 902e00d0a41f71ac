// Executions under one mandate that arrive at the same time: each is decided by itself, and none of them is turned away.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestCaller } from '../../support/callers.ts'
import { type Intents, startIntents } from './service.ts'
import { createUnder, type Under } from './under.ts'

type Members = Record<string, unknown>

let service: Intents
let under: Under
let caller: TestCaller

beforeAll(async () => {
  // As many connections as a process has by default.
  service = await startIntents({ poolSize: 4 })
  under = createUnder(service)
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

const budgetOf = (limit: string) => ({ budget: { limit, currency: 'EUR', period: 'total' } })

/** One request, which is not sent again. */
async function verifyOnce(token: string, amount: string, more: Members = {}, key?: string) {
  const body = { ...under.payload(amount), intent_token: token, ...more }
  const { status, json } = await service.post(
    caller,
    '/v1/intent/verify',
    body,
    key === undefined ? {} : { headers: { 'Idempotency-Key': key } },
  )
  return { status, ...(json as Members) } as Members & { status: number }
}

const issueMany = (count: number, amount: string, mandateIdOf: (index: number) => string) =>
  Promise.all(
    Array.from({ length: count }, (_, index) => under.issue(caller, amount, { mandate_id: mandateIdOf(index) })),
  )

const countBy = (answers: readonly Members[], member: string) =>
  Object.fromEntries(
    [...Map.groupBy(answers, (answer) => String(answer[member]))].map(([name, group]) => [name, group.length]),
  )

const remainingOf = async (id: string) => (await service.call(caller, `/v1/mandates/${id}`)).json.remaining

describe('200 executions of one mandate at once', () => {
  it('are all answered, and as many are valid as the budget allows', async () => {
    const mandateId = await under.mandate(caller, budgetOf('100'))
    const tokens = await issueMany(200, '0.99', () => mandateId)
    const answers = await Promise.all(tokens.map(({ token }) => verifyOnce(token, '0.99')))
    expect(countBy(answers, 'status')).toEqual({ 200: 200 })
    expect(countBy(answers, 'reason')).toEqual({ null: 101, mandate_budget_exceeded: 99 })
    expect(await remainingOf(mandateId)).toBe('0.01')
    const verifies = await under.entries(caller, 'verify')
    expect(new Set(verifies.map(({ id }) => id))).toEqual(new Set(answers.map(({ decision_id }) => decision_id)))
    expect(await under.entries(caller, 'execute')).toHaveLength(101)
  })
})
