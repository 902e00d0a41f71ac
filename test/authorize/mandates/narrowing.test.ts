// PATCH of a mandate: each term allows less than before, and a child stays within its ancestors.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readMandateFacts } from '#src/authorize/mandates/facts-rows.ts'
import { lockMandate, narrowMandate } from '#src/authorize/mandates/rows.ts'
import { termsOf } from '#src/authorize/mandates/terms.ts'
import { newId } from '#src/platform/ids.ts'
import type { TestCaller } from '../../support/callers.ts'
import { until } from '../../support/until.ts'
import {
  codes,
  expectRefused,
  inDays,
  type MandatesService,
  type Members,
  startMandates,
  wanted as wantedMandate,
} from './service.ts'

let service: MandatesService
let caller: TestCaller

beforeAll(async () => {
  service = await startMandates()
})
beforeEach(async () => {
  caller = await service.enter()
})
afterAll(() => service?.close())

const total = (limit: number) => ({ limit, currency: 'EUR', period: 'total' })
const SHORT_BEAT = { heartbeat: { interval_seconds: 300, reactivation_window_seconds: 600 } }

describe('a narrowing', () => {
  const TERMS = {
    timezone: 'Europe/Berlin',
    constraints: {
      min_amount: 5,
      max_amount: 500,
      currency: 'EUR',
      action_types: ['purchase', 'refund'],
      counterparties: ['a', 'b'],
      window: { weekdays: [1, 2, 3], from: '08:00', to: '18:00' },
    },
    budget: { limit: 1_000, currency: 'EUR', period: 'day', max_count: 10 },
    not_before: inDays(1),
    instruments: ['card:1', 'card:2'],
    heartbeat: { interval_seconds: 3_600, reactivation_window_seconds: 7_200 },
  }

  const NARROWER = {
    min_amount: '5.01',
    max_amount: '499.99',
    counterparties: ['b'],
    window: { weekdays: [2], from: '08:00', to: '12:00' },
  }

  it('makes each term allow less', async () => {
    const { mandate_id: id } = await service.grant(TERMS)
    const agentId = await service.makeAgent()
    const [notBefore, expiresAt] = [inDays(1.5), inDays(2)]
    const { status, json } = await service.patch(id, {
      agent_id: agentId,
      constraints: NARROWER,
      budget: { limit: 900, max_count: 9 },
      not_before: notBefore,
      instruments: ['card:2'],
      expires_at: expiresAt,
      heartbeat: { interval_seconds: 300, reactivation_window_seconds: 60 },
    })
    expect(status).toBe(200)
    expect(json).toMatchObject({
      agent_id: agentId,
      constraints: { ...TERMS.constraints, ...NARROWER },
      budget: { limit: '900', currency: 'EUR', period: 'day', max_count: 9 },
      not_before: notBefore,
      instruments: ['card:2'],
      expires_at: expiresAt,
      heartbeat: { interval_seconds: 300, reactivation_window_seconds: 60 },
    })
    expect((await service.ledgerOf('mandate_change')).map(({ reason }) => reason)).toEqual(['granted', 'narrowed'])
  })

  it('is refused where a term would allow more, and changes nothing', async () => {
    const agentId = await service.makeAgent()
    const made = await service.grant({ ...TERMS, agent_id: agentId })
    const refused: [Members, string[]][] = [
      [{ agent_id: newId('agt', 'sandbox') }, ['/agent_id wider']],
      [{ constraints: { max_amount: 501 } }, ['/constraints/max_amount wider']],
      [{ constraints: { min_amount: '4.99' } }, ['/constraints/min_amount wider']],
      [{ constraints: { min_amount: 501 } }, ['/constraints/min_amount out_of_range']],
      [{ budget: { limit: 900, max_count: 11 } }, ['/budget/max_count wider']],
      [{ not_before: inDays(0.5) }, ['/not_before wider']],
      [{ not_before: inDays(31) }, ['/not_before out_of_range']],
      [{ instruments: ['card:1', 'card:3'] }, ['/instruments wider']],
      [{ constraints: { currency: 'USD' } }, ['/budget/currency mismatch', '/constraints/currency wider']],
      [{ constraints: { action_types: ['purchase', 'wire'] } }, ['/constraints/action_types wider']],
      [{ constraints: { counterparties: ['c'] } }, ['/constraints/counterparties wider']],
      [{ constraints: { window: { weekdays: [1, 4], from: '08:00', to: '18:00' } } }, ['/constraints/window wider']],
      [{ constraints: { window: { weekdays: [1], from: '07:59', to: '18:00' } } }, ['/constraints/window wider']],
      [{ constraints: { window: { weekdays: [1], from: '08:00' } } }, ['/constraints/window wider']],
      [{ budget: { limit: 1_001 } }, ['/budget/limit wider']],
      [{ budget: { limit: 1, period: 'month' } }, ['/budget/period wider']],
      [{ expires_at: inDays(31) }, ['/expires_at wider']],
      [{ expires_at: inDays(-1) }, ['/expires_at out_of_range', '/not_before out_of_range']],
      [
        { heartbeat: { interval_seconds: 3_601, reactivation_window_seconds: 7_201 } },
        ['/heartbeat/interval_seconds wider', '/heartbeat/reactivation_window_seconds wider'],
      ],
    ]
    await expectRefused(refused, (members) => service.patch(made.mandate_id, members))
    expect(await service.patch(made.mandate_id, {})).toMatchObject({ status: 400 })
    expect(await service.get(made.mandate_id)).toEqual(made)
  })

  it('limits what was not limited: a constraint, a budget, a heartbeat', async () => {
    const { mandate_id: id } = await service.grant({ constraints: { action_types: ['purchase'] } })
    const incomplete = await service.patch(id, { budget: { limit: 5 } })
    expect(codes(incomplete.json)).toEqual(['/budget/currency required', '/budget/period required'])
    expect(codes((await service.patch(id, { constraints: { max_amount: 5 } })).json)).toEqual([
      '/constraints/currency required',
    ])
    const { json } = await service.patch(id, {
      constraints: { max_amount: 5, currency: 'EUR' },
      budget: total(10),
      heartbeat: { interval_seconds: 300 },
    })
    expect(json).toMatchObject({
      status: 'active',
      constraints: { action_types: ['purchase'], max_amount: '5', currency: 'EUR' },
      remaining: '10',
      heartbeat: { interval_seconds: 300, reactivation_window_seconds: 86_400 },
    })
  })

  it('of the budget leaves its max_count as it is', async () => {
    const { mandate_id: id } = await service.grant(TERMS)
    expect((await service.patch(id, { budget: { limit: 10 } })).json).toMatchObject({ budget: { max_count: 10 } })
  })

  it('of the interval alone leaves the reactivation window as it is', async () => {
    for (const reactivation_window_seconds of [2_592_000, 3_600]) {
      const { mandate_id: id } = await service.grant({
        heartbeat: { interval_seconds: 900, reactivation_window_seconds },
      })
      const { status, json } = await service.patch(id, { heartbeat: { interval_seconds: 600 } })
      expect({ status, json }).toMatchObject({
        status: 200,
        json: { heartbeat: { interval_seconds: 600, reactivation_window_seconds } },
      })
    }
  })

  it('is made only in the version that the caller has read, where it names one', async () => {
    const { mandate_id: id } = await service.grant(SHORT_BEAT)
    const narrow = (most: number, match: string) =>
      service.patch(id, { constraints: { max_amount: most } }, { headers: { 'If-Match': match } })
    const first = await narrow(400, '"1"')
    expect(first).toMatchObject({ status: 200, json: { version: 2 } })
    // A check-in changes the answer, and nothing that a narrowing changes.
    await service.checkIn(id)
    expect(await narrow(300, String(first.headers.etag))).toMatchObject({ status: 200, json: { version: 3 } })
    expect(await narrow(200, String(first.headers.etag))).toMatchObject({
      status: 412,
      json: { code: 'precondition_failed', version: 3 },
    })
    const revoked = await service.revoke(id)
    expect(revoked.json).toMatchObject({ version: 4, revoked_by: { type: 'key', id: expect.any(String) } })
    expect(revoked.headers.etag).toMatch(/^"4-/)
    expect((await service.get(id)).constraints).toMatchObject({ max_amount: '300' })
  })

  it('is refused of a mandate whose state is final, and of the heartbeat of a suspended one', async () => {
    const { mandate_id: id } = await service.grant(SHORT_BEAT)
    await service.shift(id, { last_check_in_at: '-400 seconds' })
    const heartbeat = await service.patch(id, SHORT_BEAT)
    expect(heartbeat).toMatchObject({
      status: 409,
      json: { code: 'invalid_state_transition', current_status: 'suspended' },
    })
    expect(await service.patch(id, { constraints: { max_amount: 1 } })).toMatchObject({ status: 200 })
    await service.revoke(id)
    const refused = await service.patch(id, { constraints: { max_amount: 1 } })
    expect(refused).toMatchObject({
      status: 409,
      json: { current_status: 'revoked', allowed: ['active', 'suspended'] },
    })
  })
})

describe('a narrowing of a child', () => {
  const WAITING = `pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
  const usd = (limit: number) => ({ limit, currency: 'USD', period: 'day' })

  it('is compared with its ancestors where it limits what they limit for it', async () => {
    const root = await service.grant({
      timezone: 'Europe/Berlin',
      constraints: { max_amount: 500, action_types: ['purchase'], window: { from: '08:00', to: '18:00' } },
      budget: total(1_000),
    })
    const middle = await service.grant({ parent_id: root.mandate_id, constraints: { counterparties: ['a', 'b'] } })
    const child = await service.grant({ parent_id: middle.mandate_id, constraints: {}, timezone: 'Europe/Berlin' })
    const refused: [Members, string[]][] = [
      [{ budget: usd(50) }, ['/budget/currency wider']],
      [{ constraints: { currency: 'USD' } }, ['/constraints/currency wider']],
      [{ constraints: { max_amount: 501 } }, ['/constraints/max_amount wider']],
      [{ constraints: { action_types: ['wire'] } }, ['/constraints/action_types wider']],
      [{ constraints: { counterparties: ['c'] } }, ['/constraints/counterparties wider']],
      [{ constraints: { window: { from: '19:00' } } }, ['/constraints/window wider']],
      [{ budget: total(1_001) }, ['/budget/limit wider']],
    ]
    await expectRefused(refused, (members) => service.patch(child.mandate_id, members))
    expect(await service.get(child.mandate_id)).toEqual(child)
    // An ancestor names the currency, as in a grant.
    const amount = await service.patch(child.mandate_id, { constraints: { max_amount: 10 } })
    expect(amount).toMatchObject({ status: 200, json: { constraints: { max_amount: '10' } } })
    expect(await service.patch(child.mandate_id, { budget: usd(50) })).toMatchObject({ status: 400 })
    expect(await service.patch(child.mandate_id, { budget: total(50) })).toMatchObject({ status: 200 })
    expect(await service.patch(child.mandate_id, { constraints: { currency: 'EUR' } })).toMatchObject({ status: 200 })
  })

  it('that only allows less than before is not refused because an ancestor allows even less by now', async () => {
    const root = await service.grant({ budget: total(1_000) })
    const child = await service.grant({
      parent_id: root.mandate_id,
      constraints: { max_amount: 400 },
      budget: total(900),
    })
    const less = { constraints: { max_amount: 100 }, budget: { limit: 100 }, expires_at: inDays(2) }
    expect(await service.patch(root.mandate_id, less)).toMatchObject({ status: 200 })
    for (const members of [
      { constraints: { max_amount: 300 } },
      { budget: { limit: 800 } },
      { expires_at: inDays(3) },
    ]) {
      expect(await service.patch(child.mandate_id, members)).toMatchObject({ status: 200 })
    }
  })

  it('waits for a change of an ancestor, holding nothing, and is compared with what that leaves', async () => {
    const root = await service.grant({ constraints: { action_types: ['purchase', 'refund'] } })
    const child = await service.grant({ parent_id: root.mandate_id, constraints: {} })
    const isLocked = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const changing = service.test.db.tenant(caller, async (tx) => {
      const row = await lockMandate(tx, root.mandate_id)
      if (row === undefined) throw new Error('no mandate')
      const terms = { ...termsOf(row), constraints: { action_types: ['refund'] } }
      await narrowMandate(tx, root.mandate_id, terms, { restartsHeartbeat: false })
      isLocked.resolve()
      await mayCommit.promise
      // As a charge does, root first: the narrowing that waits for the root does not hold the child.
      await readMandateFacts(tx, child.mandate_id, 'update')
    })
    await isLocked.promise
    let isAnswered = false
    const narrowed = service.patch(child.mandate_id, { constraints: { action_types: ['purchase'] } }).finally(() => {
      isAnswered = true
    })
    await until(async () => isAnswered || (await service.count(WAITING)) > 0)
    mayCommit.resolve()
    await changing
    expect(codes((await narrowed).json)).toEqual(['/constraints/action_types wider'])
  })
})

describe('a child', () => {
  it('is within the counts, the beginning, the instruments and the least amount of its ancestors', async () => {
    const notBefore = inDays(1)
    const root = await service.grant({
      constraints: { min_amount: 5, currency: 'EUR' },
      budget: { ...total(100), max_count: 3 },
      not_before: notBefore,
      instruments: ['card:1', 'card:2'],
    })
    const parent_id = root.mandate_id
    const wanted = { parent_id, constraints: {} }
    const refused: [Members, string[]][] = [
      [{ constraints: { min_amount: 4 } }, ['/constraints/min_amount wider']],
      [{ budget: { ...total(10), max_count: 4 } }, ['/budget/max_count wider']],
      [{ not_before: inDays(0.5) }, ['/not_before wider']],
      [{ instruments: ['card:3'] }, ['/instruments wider']],
    ]
    const grant = (members: Members) => service.post('/v1/mandates', wantedMandate({ ...wanted, ...members }))
    await expectRefused(refused, grant)
    const free = await service.grant(wanted)
    const narrowed = [
      [{ constraints: { min_amount: 4 } }, ['/constraints/min_amount wider']],
      [{ budget: { ...total(10), max_count: 4 } }, ['/budget/max_count wider']],
      [{ not_before: inDays(0.5) }, ['/not_before wider']],
      [{ instruments: ['card:3'] }, ['/instruments wider']],
    ] satisfies [Members, string[]][]
    await expectRefused(narrowed, (members) => service.patch(free.mandate_id, members))
    const within = {
      constraints: { min_amount: '6' },
      budget: { ...total(10), max_count: 3 },
      not_before: inDays(2),
      instruments: ['card:2'],
    }
    expect(await service.patch(free.mandate_id, within)).toMatchObject({
      status: 200,
      json: { ...within, budget: { max_count: 3, count: 0 } },
    })
    expect(await grant(within)).toMatchObject({ status: 200 })
  })
})
