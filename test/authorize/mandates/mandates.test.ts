import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import type { TestCaller } from '../../support/callers.ts'
import { codes, expectRefused, inDays, type MandatesService, type Members, startMandates, wanted } from './service.ts'

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
const BEATING = { heartbeat: { interval_seconds: 300 } }
const SHORT_BEAT = { heartbeat: { interval_seconds: 300, reactivation_window_seconds: 600 } }

describe('a mandate', () => {
  it('is granted with its terms, and read as they were written', async () => {
    const agentId = await service.makeAgent()
    const made = await service.grant({
      agent_id: agentId,
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
      agent_id: agentId,
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
      version: 1,
      created_by: { type: 'key', id: expect.stringMatching(/^key_test_/) },
    })
    expect(await service.get(made.mandate_id)).toEqual(made)
    expect(await service.ledgerOf('mandate_change')).toMatchObject([
      { subject_id: made.mandate_id, reason: 'granted', inputs: { agent_id: agentId, parent_id: null } },
    ])
  })

  it('is not granted to a retired agent, and not narrowed to one', async () => {
    const agentId = await service.makeAgent()
    const { mandate_id: id } = await service.grant()
    await service.post(`/v1/agents/${agentId}/retire`, { reason: 'over' })
    const refused = { status: 400, json: { errors: [{ pointer: '/agent_id', code: 'not_allowed' }] } }
    expect(await service.post('/v1/mandates', wanted({ agent_id: agentId }))).toMatchObject(refused)
    expect(await service.patch(id, { agent_id: agentId })).toMatchObject(refused)
  })

  it('is refused with a constraint that is not known, and with terms that contradict or limit nothing', async () => {
    const refused: [Members, string[]][] = [
      [{ constraints: { max_amount: 5, currency: 'EUR', max_weight: 3 } }, ['/constraints/max_weight unknown_field']],
      [{ budget: { limit: 5, currency: 'EUR', period: 'hour' } }, ['/budget/period invalid_value']],
      [{ budget: { limit: 5, currency: 'EUR', period: 'week', max_count: 0 } }, ['/budget/max_count out_of_range']],
      [
        { budget: { limit: 5, currency: 'XYZ', period: 'day' }, constraints: {} },
        ['/budget/currency invalid_currency'],
      ],
      [{ constraints: { min_amount: 5 } }, ['/constraints/currency required']],
      [{ constraints: { min_amount: 6, max_amount: 5, currency: 'EUR' } }, ['/constraints/min_amount out_of_range']],
      [{ instruments: [] }, ['/instruments too_few']],
      [{ not_before: inDays(31) }, ['/not_before out_of_range']],
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
    await expectRefused(refused, (members) => service.post('/v1/mandates', wanted(members)))
    const [agent, live] = [newId('agt', 'sandbox'), newId('agt', 'live')]
    expect(await service.post('/v1/mandates', wanted({ agent_id: agent }))).toMatchObject({ status: 404 })
    expect((await service.post('/v1/mandates', wanted({ agent_id: live }))).json.code).toBe('environment_mismatch')
    expect(await service.count(`mandates WHERE account_id = '${caller.accountId}'`)).toBe(0)
  })

  it('is granted with escalate only; an agent reads, narrows and revokes it with intent', async () => {
    const agent = { key: service.addKey({ ...caller, scopes: ['intent'] }) }
    const refused = await service.post('/v1/mandates', wanted(), {}, agent)
    expect(refused).toMatchObject({ status: 403, json: { code: 'insufficient_scope', required_scope: 'escalate' } })
    const { mandate_id: id } = await service.grant(BEATING)
    expect(await service.call(agent, `/v1/mandates/${id}`)).toMatchObject({ status: 200 })
    expect(await service.post(`/v1/mandates/${id}/heartbeat`, undefined, {}, agent)).toMatchObject({ status: 200 })
    expect(await service.post(`/v1/mandates/${id}/revoke`, { reason: 'over' }, {}, agent)).toMatchObject({
      status: 200,
    })
  })

  it('is made, changed and ended once per Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': 'one' }
    const body = wanted({ heartbeat: { interval_seconds: 300 } })
    const [first, second] = [
      await service.post('/v1/mandates', body, { headers }),
      await service.post('/v1/mandates', body, { headers }),
    ]
    expect(second.json).toEqual(first.json)
    expect(second.headers).toMatchObject({ 'idempotent-replayed': 'true' })
    const id = String(first.json.mandate_id)
    for (const act of [
      () => service.patch(id, { constraints: { max_amount: 400 } }, { headers }),
      () => service.checkIn(id, { headers }),
      () => service.revoke(id, { headers }),
    ]) {
      const [done, again] = [await act(), await act()]
      expect(again.json).toEqual(done.json)
      expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true' })
    }
    expect((await service.ledgerOf('mandate_change')).map(({ reason }) => reason)).toEqual([
      'granted',
      'narrowed',
      'revoked',
    ])
    expect(await service.ledgerOf('mandate_heartbeat')).toHaveLength(1)
  })

  it('is not found by another account, nor under another environment', async () => {
    const { mandate_id: id } = await service.grant()
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
    const child = await service.post('/v1/mandates', wanted({ parent_id: id }), {}, stranger)
    expect(child).toMatchObject({ status: 404, json: { code: 'not_found' } })
  })

  it('is listed newest first, by status, agent and parent, in pages', async () => {
    const agentId = await service.makeAgent()
    const root = (await service.grant()).mandate_id
    const child = (await service.grant({ parent_id: root, agent_id: agentId })).mandate_id
    const other = (await service.grant()).mandate_id
    expect(await service.listed('')).toEqual([other, child, root])
    expect(await service.listed(`parent_id=${root}`)).toEqual([child])
    expect(await service.listed(`agent_id=${agentId}`)).toEqual([child])
    await service.revoke(root)
    expect(await service.listed('status=revoked')).toEqual([child, root])
    expect(await service.listed('status=active')).toEqual([other])
    const { json } = await service.call(caller, '/v1/mandates?limit=2&include=total_count')
    expect(json).toMatchObject({ has_more: true, total_count: 3 })
    expect(await service.listed(`limit=2&cursor=${json.next_cursor}`)).toEqual([root])
    const elsewhere = await service.call(caller, `/v1/mandates?status=active&cursor=${json.next_cursor}`)
    expect(codes(elsewhere.json)).toEqual(['?cursor invalid_cursor'])
  })
})

describe('a child', () => {
  const ROOT = {
    timezone: 'Europe/Berlin',
    constraints: { max_amount: 500, action_types: ['purchase', 'refund'], window: { from: '08:00', to: '18:00' } },
    budget: total(1_000),
    payload_pointers: { amount: '/total' },
  }

  it('lies within its parent and all of its ancestors, inherits what it does not limit, and reads the same members', async () => {
    const root = await service.grant(ROOT)
    const middle = await service.grant({
      parent_id: root.mandate_id,
      constraints: { max_amount: 400 },
      budget: { limit: 700, currency: 'EUR', period: 'day' },
    })
    const leaf = await service.grant({ parent_id: middle.mandate_id, constraints: {} })
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
      [{ budget: total(701) }, ['/budget/limit wider']],
      [{ budget: { limit: 1, currency: 'USD', period: 'total' } }, ['/budget/currency wider']],
      [
        { timezone: 'Europe/Berlin', constraints: { window: { from: '07:00', to: '09:00' } } },
        ['/constraints/window wider'],
      ],
      [{ expires_at: inDays(31) }, ['/expires_at wider']],
      [{ payload_pointers: { amount: '/amount' } }, ['/payload_pointers not_allowed']],
    ]
    await expectRefused(refused, (members) =>
      service.post('/v1/mandates', wanted({ constraints: {}, parent_id: middle.mandate_id, ...members })),
    )
    // Windows of two zones are compared by each decision.
    await service.grant({ constraints: { window: { from: '01:00', to: '02:00' } }, parent_id: middle.mandate_id })
  })

  it('stands at most four levels below its root', async () => {
    let parent = (await service.grant()).mandate_id
    for (let level = 2; level <= 5; level += 1)
      parent = (await service.grant({ parent_id: parent, constraints: {} })).mandate_id
    const { json } = await service.post('/v1/mandates', wanted({ parent_id: parent, constraints: {} }))
    expect(codes(json)).toEqual(['/parent_id too_deep'])
  })

  it('has the state of its worst ancestor, and none is granted under one that is not active', async () => {
    const states: [string, Members, (id: string) => Promise<unknown>][] = [
      ['revoked', {}, (id) => service.revoke(id)],
      ['expired', {}, (id) => service.shift(id, { expires_at: '-1 seconds' })],
      ['suspended', BEATING, (id) => service.shift(id, { last_check_in_at: '-400 seconds' })],
      ['lapsed', BEATING, (id) => service.shift(id, { last_check_in_at: '-2 days' })],
    ]
    for (const [state, more, reach] of states) {
      const root = await service.grant(more)
      const child = await service.grant({
        parent_id: root.mandate_id,
        constraints: {},
        heartbeat: { interval_seconds: 300 },
      })
      expect(child).toMatchObject({ status: 'active', status_of: child.mandate_id })
      await reach(root.mandate_id)
      expect(await service.get(child.mandate_id)).toMatchObject({ status: state, status_of: root.mandate_id })
      expect(await service.listed(`status=${state}`)).toEqual([child.mandate_id, root.mandate_id])
      const granted = await service.post('/v1/mandates', wanted({ parent_id: child.mandate_id, constraints: {} }))
      expect(granted).toMatchObject({ status: 409, json: { code: 'invalid_state_transition', current_status: state } })
      // A suspended ancestor may come back, so its children go on checking in.
      const { status } = await service.checkIn(child.mandate_id)
      expect({ state, status }).toEqual({ state, status: state === 'suspended' ? 200 : 409 })
    }
  })

  it('can not be granted beyond what its parent has left', async () => {
    const root = await service.grant({ budget: total(100) })
    await service.test.owner(
      `INSERT INTO mandate_spend (account_id, environment, mandate_id, period_start, spent)
       SELECT account_id, environment, id, started_on, 60 FROM mandates WHERE id = $1`,
      [root.mandate_id],
    )
    const child = (limit: number) =>
      service.post('/v1/mandates', wanted({ parent_id: root.mandate_id, constraints: {}, budget: total(limit) }))
    expect(codes((await child(40.01)).json)).toEqual(['/budget/limit wider'])
    expect(await child(40)).toMatchObject({ status: 200, json: { remaining: '40' } })
  })
})

describe('a revocation of a mandate', () => {
  it('is permanent: the first one stays, and a check-in does not undo it', async () => {
    const { mandate_id: id } = await service.grant(BEATING)
    const { json } = await service.revoke(id)
    expect(json).toMatchObject({ status: 'revoked', revoked_reason: 'over', revoked_at: expect.any(String) })
    const again = await service.post(`/v1/mandates/${id}/revoke`, { reason: 'other' })
    expect(again).toMatchObject({ status: 200, json })
    expect(await service.checkIn(id)).toMatchObject({
      status: 409,
      json: { code: 'invalid_state_transition', current_status: 'revoked' },
    })
    expect((await service.ledgerOf('mandate_change')).map(({ reason }) => reason)).toEqual(['granted', 'revoked'])
  })
})

describe('a heartbeat', () => {
  it('keeps a mandate active, makes a suspended one active again, and is on the ledger', async () => {
    const { mandate_id: id } = await service.grant(SHORT_BEAT)
    await service.shift(id, { last_check_in_at: '-300 seconds' })
    expect(await service.get(id)).toMatchObject({ status: 'active' })
    const { json: first } = await service.checkIn(id)
    const {
      last_check_in_at: at,
      next_check_in_by: by,
      lapses_at: lapses,
    } = first.heartbeat as { [name: string]: string }
    expect([
      Date.parse(String(by)) - Date.parse(String(at)),
      Date.parse(String(lapses)) - Date.parse(String(by)),
    ]).toEqual([360_000, 600_000])

    await service.shift(id, { last_check_in_at: '-361 seconds' })
    expect(await service.get(id)).toMatchObject({ status: 'suspended' })
    expect((await service.checkIn(id)).json).toMatchObject({ status: 'active' })
    expect((await service.ledgerOf('mandate_heartbeat')).map(({ reason, subject_id }) => [reason, subject_id])).toEqual(
      [
        [null, id],
        ['reactivated', id],
      ],
    )
  })

  it('is refused of a mandate that lapsed, which stays so, and of one without a heartbeat', async () => {
    const { mandate_id: id } = await service.grant(SHORT_BEAT)
    await service.shift(id, { last_check_in_at: '-961 seconds' })
    const { status, json } = await service.checkIn(id)
    expect({ status, json }).toMatchObject({
      status: 409,
      json: { code: 'invalid_state_transition', current_status: 'lapsed', allowed: ['active', 'suspended'] },
    })
    expect(await service.get(id)).toMatchObject({ status: 'lapsed' })
    expect(await service.ledgerOf('mandate_heartbeat')).toEqual([])
    const bare = await service.grant()
    expect(await service.checkIn(bare.mandate_id)).toMatchObject({ status: 409, json: { code: 'conflict' } })
  })
})
