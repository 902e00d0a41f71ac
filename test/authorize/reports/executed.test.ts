// Reports over entries that real executions wrote: what they say is what the mandates themselves say.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestCaller } from '../../support/callers.ts'
import { type Intents, startIntents } from '../intents/service.ts'
import { createUnder, type Under } from '../intents/under.ts'

let service: Intents
let under: Under
let caller: TestCaller

beforeAll(async () => {
  service = await startIntents()
  under = createUnder(service)
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

interface Row {
  [member: string]: unknown
}

async function report(path: string, query = ''): Promise<Row & { data: Row[] }> {
  // The end of a range is excluded, and the last entries are of this millisecond.
  const to = new Date(Date.now() + 60_000).toISOString()
  const { status, json } = await service.call(caller, `/v1/analytics/${path}?to=${to}${query}`)
  expect({ status, json }).toMatchObject({ status: 200 })
  return json as Row & { data: Row[] }
}

/** Executes under a mandate, and reports how it ended. Returns the token's id. */
async function run(mandate_id: string, amount: string, outcome?: 'succeeded' | 'failed' | 'not_run'): Promise<string> {
  const { token, jti } = await under.issue(caller, amount, { mandate_id })
  expect(await under.verify(caller, token, amount, { key: jti })).toMatchObject({ valid: true })
  if (outcome !== undefined) await under.outcome(caller, jti, outcome)
  return jti
}

const budget = (limit: string, period = 'total') => ({ budget: { limit, currency: 'EUR', period } })

describe('spend by mandate', () => {
  it('is what the budget of each mandate has lost', async () => {
    const root = await under.mandate(caller, budget('1000', 'month'))
    const child = await under.mandate(caller, { parent_id: root, ...budget('500', 'day') })
    await run(root, '100')
    await run(root, '50.5', 'succeeded')
    await run(root, '25', 'failed')
    await run(child, '7.25')
    await run(child, '3', 'not_run')
    const { data } = await report('mandate-spend')
    const { json: ofRoot } = await service.call(caller, `/v1/mandates/${root}`)
    const { json: ofChild } = await service.call(caller, `/v1/mandates/${child}`)
    const startOf = (json: Row) => (json.budget as Row).period_start
    const shared = { currency: 'EUR' }
    expect(data).toEqual([
      {
        ...shared,
        mandate_id: child,
        period_start: startOf(ofChild),
        executions: 2,
        charged: '10.25',
        released: '3',
        spent: '7.25',
      },
      {
        ...shared,
        mandate_id: root,
        period_start: startOf(ofRoot),
        executions: 3,
        charged: '175.5',
        released: '25',
        spent: '150.5',
      },
    ])
    expect(ofChild.budget).toMatchObject({ spent: '7.25' })
    // With what its child spent.
    expect(ofRoot.budget).toMatchObject({ spent: '157.75' })
  })

  it('knows what was given back under a mandate without a budget of its own, and where no level has one', async () => {
    const root = await under.mandate(caller, budget('1000'))
    const child = await under.mandate(caller, { parent_id: root, budget: undefined })
    const free = await under.mandate(caller, {
      budget: undefined,
      constraints: { counterparties: ['Example Garage'] },
    })
    for (const id of [child, free]) {
      await run(id, '100')
      await run(id, '40', 'failed')
    }
    const { json } = await service.call(caller, `/v1/mandates/${root}`)
    expect(json.budget).toMatchObject({ spent: '100' })
    const sums = { period_start: null, executions: 2, charged: '140', released: '40', spent: '100' }
    expect((await report('mandate-spend')).data).toMatchObject([
      { mandate_id: free, ...sums },
      { mandate_id: child, ...sums },
    ])
    expect((await report('mandate-spend', `&mandate_id=${child}`)).data).toHaveLength(1)
    const released = (await under.entries(caller, 'outcome')).map(({ inputs }) => inputs)
    expect(released[0]).toMatchObject({ mandate_id: child, amount: '40', currency: 'EUR' })
  })
})

describe('the other reports', () => {
  it('list what was never executed, and count approvals by how they ended', async () => {
    const mandate_id = await under.mandate(caller)
    await service.setPolicy(caller, [
      {
        id: 'large',
        when: { field: 'context.transaction_amount', op: 'gte', value: 200 },
        require: { approval: { min_approvals: 1, ttl_seconds: 3_600 } },
      },
    ])
    const executed = await run(mandate_id, '10')
    const unused = await under.issue(caller, '11', { mandate_id })
    const checked = await under.issue(caller, '12', { mandate_id })
    await under.verify(caller, checked.token, '12', { execute: false })
    const authorized = await Promise.all(
      [0, 1, 2].map(() => service.authorize(caller, { ...under.payload('200'), mandate_id })),
    )
    const open = authorized.map(({ json }) => json)
    const owner = await service.signIn(caller.accountId)
    const headers = { ...owner.headers, 'Service-Environment': 'sandbox' }
    const [first, second] = open.map(({ approval_id }) => String(approval_id))
    const decide = (path: string, body: object) =>
      service.call({}, path, { method: 'POST', json: { ...body }, headers })
    expect(await decide(`/v1/approvals/${first}/approve`, {})).toMatchObject({ status: 200 })
    expect(await decide(`/v1/approvals/${second}/deny`, { reason: 'No.' })).toMatchObject({ status: 200 })

    const listed = (await report('unexecuted')).data
    const jtis = listed.map(({ jti }) => jti)
    expect(new Set(jtis)).toEqual(new Set([unused.jti, checked.jti, ...open.map(({ jti }) => jti)]))
    expect(jtis).not.toContain(executed)
    const ages = await report('approvals')
    expect((ages.age_classes as Row[])[0]).toMatchObject({
      total: 3,
      by_status: { approved: 1, denied: 1, pending: 1 },
    })
    expect(ages.oldest_pending).toMatchObject({ approval_id: expect.any(String) })
  })
})
