import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import { DAY_MS } from '#src/platform/retention.ts'
import type { TestCaller } from '../../support/callers.ts'
import { type Sent, startTestService, type TestService } from '../../support/service.ts'

type Members = Record<string, unknown>

let service: TestService
let caller: TestCaller

beforeAll(async () => {
  service = await startTestService()
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()
const EXPIRES_AT = inDays(30)
const wanted = (more: Members = {}) => ({
  principal: 'buying@example.com',
  description: 'Spare parts',
  constraints: { max_amount: 500, currency: 'EUR' },
  expires_at: EXPIRES_AT,
  ...more,
})
const post = (path: string, json: Members | undefined, sent: Sent = {}, by: { key?: string } = caller) =>
  service.call(by, path, { method: 'POST', json, ...sent })
async function grant(more: Members = {}, by: TestCaller = caller): Promise<Members & { mandate_id: string }> {
  const { status, json } = await post('/v1/mandates', wanted(more), {}, by)
  expect({ status, json }).toMatchObject({ status: 200 })
  return json as Members & { mandate_id: string }
}
const get = async (id: string) => (await service.call(caller, `/v1/mandates/${id}`)).json
const patch = (id: string, json: Members, sent: Sent = {}) =>
  service.call(caller, `/v1/mandates/${id}`, { method: 'PATCH', json, ...sent })
const revoke = (id: string, sent: Sent = {}) => post(`/v1/mandates/${id}/revoke`, { reason: 'over' }, sent)
const checkIn = (id: string, sent: Sent = {}) => post(`/v1/mandates/${id}/heartbeat`, undefined, sent)
const listed = async (query: string) => {
  const { status, json } = await service.call(caller, `/v1/mandates?${query}`)
  expect(status).toBe(200)
  return json.data.map(({ mandate_id }: { mandate_id: string }) => mandate_id)
}
const ledgerOf = async (kind: string) => {
  const rows = await service.test.owner<{ entry: string }>(
    'SELECT entry FROM decisions WHERE account_id = $1 AND kind = $2 ORDER BY id',
    [caller.accountId, kind],
  )
  return rows.map(({ entry }) => JSON.parse(entry))
}
/** Moves a mandate in time, as if it had been granted or had checked in earlier. */
const shift = (id: string, columns: Members) => {
  const names = Object.keys(columns)
  const sets = names.map((name, index) => `${name} = now() + $${index + 2}::interval`)
  return service.test.owner(`UPDATE mandates SET ${sets.join(', ')} WHERE id = $1`, [id, ...Object.values(columns)])
}
const codes = (json: Members) =>
  ((json.errors ?? []) as { pointer: string; code: string }[])
    .map(({ pointer, code }) => `${pointer} ${code}`)
    .toSorted()

describe('a mandate', () => {
  it('is granted with its terms, and read as they were written', async () => {
    const { json: agent } = await post('/v1/agents', { name: 'Buyer', owner: 'buying@example.com' })
    const made = await grant({
      agent_id: agent.agent_id,
      timezone: 'Europe/Berlin',
      constraints: {
        max_amount: '500.50',
        currency: 'EUR',
        action_types: ['purchase', 'purchase'],
        counterparties: ['Example Parts'],
        window: { weekdays: [5, 1], from: '07:00', to: '24:00' },
      },
      budget: { limit: 2_000, currency: 'EUR', period: 'month' },
      payload_pointers: { amount: '/order/total' },
      heartbeat: { interval_seconds: 300 },
    })
    expect(made).toMatchObject({
      mandate_id: expect.stringMatching(/^mnd_test_/),
      parent_id: null,
      ancestors: [],
      status: 'active',
      status_of: made.mandate_id,
      agent_id: agent.agent_id,
      constraints: {
        max_amount: '500.5',
        currency: 'EUR',
        action_types: ['purchase'],
        counterparties: ['Example Parts'],
        window: { weekdays: [1, 5], from: '07:00', to: '24:00' },
      },
      payload_pointers: { amount: '/order/total' },
      budget: { limit: '2000', currency: 'EUR', period: 'month', spent: '0', remaining: '2000' },
      remaining: '2000',
      heartbeat: { interval_seconds: 300, reactivation_window_seconds: 86_400 },
      revoked_at: null,
    })
    expect(await get(made.mandate_id)).toEqual(made)
    expect(await ledgerOf('mandate_change')).toMatchObject([
      { subject: made.mandate_id, reason: 'granted', inputs: { agent_id: agent.agent_id, parent_id: null } },
    ])
  })

  it('is refused with a constraint that is not known, and with terms that contradict or limit nothing', async () => {
    const refused: [Members, string[]][] = [
      [{ constraints: { max_amount: 5, currency: 'EUR', max_weight: 3 } }, ['/constraints/max_weight unknown_field']],
      [{ budget: { limit: 5, currency: 'EUR', period: 'week' } }, ['/budget/period invalid_value']],
      [{ budget: { limit: 5, currency: 'USD', period: 'day' } }, ['/budget/currency mismatch']],
      [{ constraints: { max_amount: 5 } }, ['/constraints/currency required']],
      [{ constraints: { max_amount: -5, currency: 'EUR' } }, ['/constraints/max_amount invalid_amount']],
      [
        { constraints: { max_amount: '0.00001', currency: 'eur' } },
        ['/constraints/currency invalid_currency', '/constraints/max_amount invalid_amount'],
      ],
      [{ constraints: { window: { from: '09:00', to: '09:00' } } }, ['/constraints/window/to invalid_value']],
      [{ constraints: {} }, ['/constraints required']],
      [{ timezone: '+02:00' }, ['/timezone unknown_timezone']],
      [{ timezone: 'CET' }, ['/timezone unknown_timezone']],
      [{ timezone: 'Europe/Atlantis' }, ['/timezone unknown_timezone']],
      [{ payload_pointers: { amount: 'total' } }, ['/payload_pointers/amount invalid_pointer']],
      [{ heartbeat: { interval_seconds: 299 } }, ['/heartbeat/interval_seconds out_of_range']],
      [{ expires_at: inDays(-1) }, ['/expires_at out_of_range']],
      [{ expires_at: inDays(367) }, ['/expires_at out_of_range']],
    ]
    for (const [members, expected] of refused) {
      const { status, json } = await post('/v1/mandates', wanted(members))
      expect({ members, status, errors: codes(json) }).toEqual({ members, status: 400, errors: expected })
    }
    const [agent, live] = [newId('agt', 'sandbox'), newId('agt', 'live')]
    expect(await post('/v1/mandates', wanted({ agent_id: agent }))).toMatchObject({ status: 404 })
    expect((await post('/v1/mandates', wanted({ agent_id: live }))).json.code).toBe('environment_mismatch')
    expect(await service.count(`mandates WHERE account_id = '${caller.accountId}'`)).toBe(0)
  })

  it('is granted with escalate only; an agent reads, narrows and revokes it with intent', async () => {
    const agent = { key: service.addKey({ ...caller, scopes: ['intent'] }) }
    const refused = await post('/v1/mandates', wanted(), {}, agent)
    expect(refused).toMatchObject({ status: 403, json: { code: 'insufficient_scope', required_scope: 'escalate' } })
    const { mandate_id: id } = await grant({ heartbeat: { interval_seconds: 300 } })
    expect(await service.call(agent, `/v1/mandates/${id}`)).toMatchObject({ status: 200 })
    expect(await post(`/v1/mandates/${id}/heartbeat`, undefined, {}, agent)).toMatchObject({ status: 200 })
    expect(await post(`/v1/mandates/${id}/revoke`, { reason: 'over' }, {}, agent)).toMatchObject({ status: 200 })
  })

  it('is made, changed and ended once per Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': 'one' }
    const body = wanted({ heartbeat: { interval_seconds: 300 } })
    const [first, second] = [
      await post('/v1/mandates', body, { headers }),
      await post('/v1/mandates', body, { headers }),
    ]
    expect(second.json).toEqual(first.json)
    expect(second.headers).toMatchObject({ 'idempotent-replayed': 'true' })
    const { mandate_id: id } = first.json
    for (const act of [
      () => patch(id, { constraints: { max_amount: 400 } }, { headers }),
      () => checkIn(id, { headers }),
      () => revoke(id, { headers }),
    ]) {
      const [done, again] = [await act(), await act()]
      expect(again.json).toEqual(done.json)
      expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true' })
    }
    expect((await ledgerOf('mandate_change')).map(({ reason }) => reason)).toEqual(['granted', 'narrowed', 'revoked'])
    expect(await ledgerOf('mandate_heartbeat')).toHaveLength(1)
  })

  it('is not found by another account, nor under another environment', async () => {
    const { mandate_id: id } = await grant()
    const stranger = await service.makeCaller()
    for (const [method, path, json] of [
      ['GET', '', undefined],
      ['PATCH', '', { expires_at: inDays(1) }],
      ['POST', '/revoke', { reason: 'over' }],
      ['POST', '/heartbeat', undefined],
    ] as const) {
      const sent = { method, json }
      expect((await service.call(stranger, `/v1/mandates/${id}${path}`, sent)).json.code).toBe('not_found')
      const other = `/v1/mandates/${newId('mnd', 'live')}${path}`
      expect((await service.call(caller, other, sent)).json.code).toBe('environment_mismatch')
    }
    const child = await post('/v1/mandates', wanted({ parent_id: id }), {}, stranger)
    expect(child).toMatchObject({ status: 404, json: { code: 'not_found' } })
  })

  it('is listed newest first, by status, agent and parent, in pages', async () => {
    const { json: agent } = await post('/v1/agents', { name: 'Buyer', owner: 'buying@example.com' })
    const root = (await grant()).mandate_id
    const child = (await grant({ parent_id: root, agent_id: agent.agent_id })).mandate_id
    const other = (await grant()).mandate_id
    expect(await listed('')).toEqual([other, child, root])
    expect(await listed(`parent_id=${root}`)).toEqual([child])
    expect(await listed(`agent_id=${agent.agent_id}`)).toEqual([child])
    await revoke(root)
    expect(await listed('status=revoked')).toEqual([child, root])
    expect(await listed('status=active')).toEqual([other])
    const { json } = await service.call(caller, '/v1/mandates?limit=2&include=total_count')
    expect(json).toMatchObject({ has_more: true, total_count: 3 })
    expect(await listed(`limit=2&cursor=${json.next_cursor}`)).toEqual([root])
    const elsewhere = await service.call(caller, `/v1/mandates?status=active&cursor=${json.next_cursor}`)
    expect(codes(elsewhere.json)).toEqual(['?cursor invalid_cursor'])
  })
})

describe('a narrowing', () => {
  const TERMS = {
    timezone: 'Europe/Berlin',
    constraints: {
      max_amount: 500,
      currency: 'EUR',
      action_types: ['purchase', 'refund'],
      counterparties: ['a', 'b'],
      window: { weekdays: [1, 2, 3], from: '08:00', to: '18:00' },
    },
    budget: { limit: 1_000, currency: 'EUR', period: 'day' },
    heartbeat: { interval_seconds: 3_600, reactivation_window_seconds: 7_200 },
  }

  it('makes each term allow less', async () => {
    const { mandate_id: id } = await grant(TERMS)
    const { json: agent } = await post('/v1/agents', { name: 'Buyer', owner: 'buying@example.com' })
    const expiresAt = inDays(2)
    const { status, json } = await patch(id, {
      agent_id: agent.agent_id,
      constraints: {
        max_amount: '499.99',
        counterparties: ['b'],
        window: { weekdays: [2], from: '08:00', to: '12:00' },
      },
      budget: { limit: 900 },
      expires_at: expiresAt,
      heartbeat: { interval_seconds: 300, reactivation_window_seconds: 60 },
    })
    expect(status).toBe(200)
    expect(json).toMatchObject({
      agent_id: agent.agent_id,
      constraints: {
        ...TERMS.constraints,
        max_amount: '499.99',
        counterparties: ['b'],
        window: { weekdays: [2], from: '08:00', to: '12:00' },
      },
      budget: { limit: '900', currency: 'EUR', period: 'day' },
      expires_at: expiresAt,
      heartbeat: { interval_seconds: 300, reactivation_window_seconds: 60 },
    })
    expect((await ledgerOf('mandate_change')).map(({ reason }) => reason)).toEqual(['granted', 'narrowed'])
  })

  it('is refused where a term would allow more, and changes nothing', async () => {
    const { json: agent } = await post('/v1/agents', { name: 'Buyer', owner: 'buying@example.com' })
    const made = await grant({ ...TERMS, agent_id: agent.agent_id })
    const refused: [Members, string[]][] = [
      [{ agent_id: newId('agt', 'sandbox') }, ['/agent_id wider']],
      [{ constraints: { max_amount: 501 } }, ['/constraints/max_amount wider']],
      [{ constraints: { currency: 'USD' } }, ['/budget/currency mismatch', '/constraints/currency wider']],
      [{ constraints: { action_types: ['purchase', 'wire'] } }, ['/constraints/action_types wider']],
      [{ constraints: { counterparties: ['c'] } }, ['/constraints/counterparties wider']],
      [{ constraints: { window: { weekdays: [1, 4], from: '08:00', to: '18:00' } } }, ['/constraints/window wider']],
      [{ constraints: { window: { weekdays: [1], from: '07:59', to: '18:00' } } }, ['/constraints/window wider']],
      [{ constraints: { window: { weekdays: [1], from: '08:00' } } }, ['/constraints/window wider']],
      [{ budget: { limit: 1_001 } }, ['/budget/limit wider']],
      [{ budget: { limit: 1, period: 'month' } }, ['/budget/period wider']],
      [{ expires_at: inDays(31) }, ['/expires_at wider']],
      [{ expires_at: inDays(-1) }, ['/expires_at out_of_range']],
      [
        { heartbeat: { interval_seconds: 3_601, reactivation_window_seconds: 7_201 } },
        ['/heartbeat/interval_seconds wider', '/heartbeat/reactivation_window_seconds wider'],
      ],
    ]
    for (const [members, expected] of refused) {
      const { status, json } = await patch(made.mandate_id, members)
      expect({ members, status, errors: codes(json) }).toEqual({ members, status: 400, errors: expected })
    }
    expect(await patch(made.mandate_id, {})).toMatchObject({ status: 400 })
    expect(await get(made.mandate_id)).toEqual(made)
  })

  it('limits what was not limited: a constraint, a budget, a heartbeat', async () => {
    const { mandate_id: id } = await grant({ constraints: { action_types: ['purchase'] } })
    const incomplete = await patch(id, { budget: { limit: 5 } })
    expect(codes(incomplete.json)).toEqual(['/budget/currency required', '/budget/period required'])
    expect(codes((await patch(id, { constraints: { max_amount: 5 } })).json)).toEqual([
      '/constraints/currency required',
    ])
    const { json } = await patch(id, {
      constraints: { max_amount: 5, currency: 'EUR' },
      budget: { limit: 10, currency: 'EUR', period: 'total' },
      heartbeat: { interval_seconds: 300 },
    })
    expect(json).toMatchObject({
      status: 'active',
      constraints: { action_types: ['purchase'], max_amount: '5', currency: 'EUR' },
      remaining: '10',
      heartbeat: { interval_seconds: 300 },
    })
  })

  it('is refused of a mandate whose state is final, and of the heartbeat of a suspended one', async () => {
    const { mandate_id: id } = await grant({ heartbeat: { interval_seconds: 300, reactivation_window_seconds: 600 } })
    await shift(id, { last_check_in_at: '-400 seconds' })
    const heartbeat = await patch(id, { heartbeat: { interval_seconds: 300, reactivation_window_seconds: 600 } })
    expect(heartbeat).toMatchObject({ status: 409, json: { code: 'invalid_state_transition', state: 'suspended' } })
    expect(await patch(id, { constraints: { max_amount: 1 } })).toMatchObject({ status: 200 })
    await revoke(id)
    const refused = await patch(id, { constraints: { max_amount: 1 } })
    expect(refused).toMatchObject({ status: 409, json: { state: 'revoked', allowed: ['active', 'suspended'] } })
  })
})

describe('a child', () => {
  const ROOT = {
    timezone: 'Europe/Berlin',
    constraints: { max_amount: 500, action_types: ['purchase', 'refund'], window: { from: '08:00', to: '18:00' } },
    budget: { limit: 1_000, currency: 'EUR', period: 'total' },
    payload_pointers: { amount: '/total' },
  }

  it('lies within its parent and all of its ancestors, inherits what it does not limit, and reads the same members', async () => {
    const root = await grant(ROOT)
    const middle = await grant({
      parent_id: root.mandate_id,
      constraints: { max_amount: 400 },
      budget: { limit: 700, currency: 'EUR', period: 'day' },
    })
    const leaf = await grant({ parent_id: middle.mandate_id, constraints: {} })
    expect(leaf).toMatchObject({
      parent_id: middle.mandate_id,
      ancestors: [root.mandate_id, middle.mandate_id],
      constraints: {},
      budget: null,
      remaining: '700',
      payload_pointers: { amount: '/total' },
    })
    const refused: [Members, string[]][] = [
      [{ constraints: { max_amount: 401 } }, ['/constraints/max_amount wider']],
      [{ constraints: { currency: 'USD' } }, ['/constraints/currency wider']],
      [{ constraints: { action_types: ['wire'] } }, ['/constraints/action_types wider']],
      [{ budget: { limit: 701, currency: 'EUR', period: 'total' } }, ['/budget/limit wider']],
      [{ budget: { limit: 1, currency: 'USD', period: 'total' } }, ['/budget/currency wider']],
      [
        { timezone: 'Europe/Berlin', constraints: { window: { from: '07:00', to: '09:00' } } },
        ['/constraints/window wider'],
      ],
      [{ expires_at: inDays(31) }, ['/expires_at wider']],
      [{ payload_pointers: { amount: '/amount' } }, ['/payload_pointers not_allowed']],
    ]
    for (const [members, expected] of refused) {
      const body = wanted({ constraints: {}, parent_id: middle.mandate_id, ...members })
      const { status, json } = await post('/v1/mandates', body)
      expect({ members, status, errors: codes(json) }).toEqual({ members, status: 400, errors: expected })
    }
    // Windows of two zones are compared by each decision.
    await grant({ constraints: { window: { from: '01:00', to: '02:00' } }, parent_id: middle.mandate_id })
  })

  it('stands at most four levels below its root', async () => {
    let parent = (await grant()).mandate_id
    for (let level = 2; level <= 5; level += 1)
      parent = (await grant({ parent_id: parent, constraints: {} })).mandate_id
    const { json } = await post('/v1/mandates', wanted({ parent_id: parent, constraints: {} }))
    expect(codes(json)).toEqual(['/parent_id too_deep'])
  })

  it('has the state of its worst ancestor, and none is granted under one that is not active', async () => {
    const states: [string, Members, (id: string) => Promise<unknown>][] = [
      ['revoked', {}, (id) => revoke(id)],
      ['expired', {}, (id) => shift(id, { expires_at: '-1 seconds' })],
      ['suspended', { heartbeat: { interval_seconds: 300 } }, (id) => shift(id, { last_check_in_at: '-400 seconds' })],
      ['lapsed', { heartbeat: { interval_seconds: 300 } }, (id) => shift(id, { last_check_in_at: '-2 days' })],
    ]
    for (const [state, more, reach] of states) {
      const root = await grant(more)
      const child = await grant({ parent_id: root.mandate_id, constraints: {}, heartbeat: { interval_seconds: 300 } })
      expect(child).toMatchObject({ status: 'active', status_of: child.mandate_id })
      await reach(root.mandate_id)
      expect(await get(child.mandate_id)).toMatchObject({ status: state, status_of: root.mandate_id })
      const granted = await post('/v1/mandates', wanted({ parent_id: child.mandate_id, constraints: {} }))
      expect(granted).toMatchObject({ status: 409, json: { code: 'invalid_state_transition', state } })
      // A suspended ancestor may come back, so its children go on checking in.
      const { status } = await checkIn(child.mandate_id)
      expect({ state, status }).toEqual({ state, status: state === 'suspended' ? 200 : 409 })
    }
  })

  it('can not be granted beyond what its parent has left', async () => {
    const root = await grant({ budget: { limit: 100, currency: 'EUR', period: 'total' } })
    await service.test.owner(
      `INSERT INTO mandate_spend (account_id, environment, mandate_id, period_start, spent)
       SELECT account_id, environment, id, started_on, 60 FROM mandates WHERE id = $1`,
      [root.mandate_id],
    )
    const child = (limit: number) =>
      post(
        '/v1/mandates',
        wanted({ parent_id: root.mandate_id, constraints: {}, budget: { limit, currency: 'EUR', period: 'total' } }),
      )
    expect(codes((await child(40.01)).json)).toEqual(['/budget/limit wider'])
    expect(await child(40)).toMatchObject({ status: 200, json: { remaining: '40' } })
  })
})

describe('a revocation of a mandate', () => {
  it('is permanent: the first one stays, and a check-in does not undo it', async () => {
    const { mandate_id: id } = await grant({ heartbeat: { interval_seconds: 300 } })
    const { json } = await revoke(id)
    expect(json).toMatchObject({ status: 'revoked', revoked_reason: 'over', revoked_at: expect.any(String) })
    const again = await post(`/v1/mandates/${id}/revoke`, { reason: 'other' })
    expect(again).toMatchObject({ status: 200, json })
    expect(await checkIn(id)).toMatchObject({
      status: 409,
      json: { code: 'invalid_state_transition', state: 'revoked' },
    })
    expect((await ledgerOf('mandate_change')).map(({ reason }) => reason)).toEqual(['granted', 'revoked'])
  })
})

describe('a heartbeat', () => {
  it('keeps a mandate active, makes a suspended one active again, and is on the ledger', async () => {
    const { mandate_id: id } = await grant({ heartbeat: { interval_seconds: 300, reactivation_window_seconds: 600 } })
    await shift(id, { last_check_in_at: '-359 seconds' })
    expect(await get(id)).toMatchObject({ status: 'active' })
    const { json: first } = await checkIn(id)
    expect(first).toMatchObject({ status: 'active' })
    const { last_check_in_at: at, next_check_in_by: by, lapses_at: lapses } = first.heartbeat
    expect([Date.parse(by) - Date.parse(at), Date.parse(lapses) - Date.parse(by)]).toEqual([360_000, 600_000])

    await shift(id, { last_check_in_at: '-361 seconds' })
    expect(await get(id)).toMatchObject({ status: 'suspended' })
    expect((await checkIn(id)).json).toMatchObject({ status: 'active' })
    expect((await ledgerOf('mandate_heartbeat')).map(({ reason, subject }) => [reason, subject])).toEqual([
      [null, id],
      ['reactivated', id],
    ])
  })

  it('is refused of a mandate that lapsed, which stays so, and of one without a heartbeat', async () => {
    const { mandate_id: id } = await grant({ heartbeat: { interval_seconds: 300, reactivation_window_seconds: 600 } })
    await shift(id, { last_check_in_at: '-961 seconds' })
    const { status, json } = await checkIn(id)
    expect({ status, json }).toMatchObject({
      status: 409,
      json: { code: 'invalid_state_transition', state: 'lapsed', allowed: ['active', 'suspended'] },
    })
    expect(await get(id)).toMatchObject({ status: 'lapsed' })
    expect(await ledgerOf('mandate_heartbeat')).toEqual([])
    const bare = await grant()
    expect(await checkIn(bare.mandate_id)).toMatchObject({ status: 409, json: { code: 'conflict' } })
  })
})
