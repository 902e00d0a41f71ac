import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { emit, type NewEvent } from '#src/account/webhooks/emit.ts'
import { EVENT_DATA, EVENT_TYPES } from '#src/catalogue/events.ts'
import { createFixture, escalated, type Fixture } from '../account/webhooks/fixture.ts'
import { actingIn } from '../support/callers.ts'

const URL = 'http://127.0.0.1:4000/'

let fixture: Fixture
beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture.close())

const standing = { provenance_status: 'verified', risk_status: 'passed', risk_score: 0 }
const updated: NewEvent = {
  type: 'claim.provenance_updated',
  data: {
    claim_id: 'clm_test_x',
    previous: { provenance_status: null, risk_status: 'pending', risk_score: null },
    current: standing,
    added_factors: [],
    removed_factors: [],
  },
}
const created = (dedupKey?: string): NewEvent => ({
  type: 'attestation.created',
  data: {
    attestation_id: 'att_test_x',
    claim_id: 'clm_test_x',
    risk_score: 0,
    risk_status: 'passed',
    provenance_status: 'verified',
    factor_codes: [],
    advisory_codes: ['exif_stripped'],
  },
  ...(dedupKey === undefined ? {} : { dedupKey }),
})

const endpointsOf = async (eventId: string | undefined) => {
  const rows = await fixture.owner<{ endpoint_id: string }>(
    'SELECT endpoint_id FROM deliveries WHERE event_id = $1 ORDER BY endpoint_id',
    [eventId],
  )
  return rows.map(({ endpoint_id: id }) => id)
}

describe('the catalogue of events', () => {
  it('has the 14 types of the specification, and data shapes only for known types', () => {
    expect(Object.keys(EVENT_TYPES)).toHaveLength(14)
    for (const type of Object.keys(EVENT_DATA)) expect(EVENT_TYPES).toHaveProperty([type])
  })
})

describe('emitting an event', () => {
  it('writes event, delivery and job in the transaction of the caller, or none of them', async () => {
    const scope = await fixture.makeAccount()
    const { id } = await fixture.makeEndpoint(URL, ['*'], scope)
    const [emitted] = await fixture.emit([escalated('clm_test_a')], scope)
    expect(await endpointsOf(emitted?.eventId)).toEqual([id])
    const jobs = await fixture.owner('SELECT queue, lane, state, payload FROM jobs WHERE lane = $1', [id])
    expect(jobs).toEqual([
      { queue: 'deliver', lane: id, state: 'queued', payload: { deliveryId: emitted?.deliveryIds[0] } },
    ])

    const rolledBack = fixture.db.tenant(scope, async (tx) => {
      await emit(tx, scope, escalated('clm_test_b'))
      throw new Error('the change failed')
    })
    await expect(rolledBack).rejects.toThrow('the change failed')
    const [count] = await fixture.owner('SELECT count(*)::int AS events FROM events WHERE account_id = $1', [
      scope.accountId,
    ])
    expect(count).toEqual({ events: 1 })
  })

  it('writes an event with a key once, also in two concurrent transactions', async () => {
    const scope = await fixture.makeAccount()
    await fixture.makeEndpoint(URL, ['*'], scope)
    const both = await Promise.all([1, 2, 3].map(() => fixture.emit([created('attestation.created:x')], scope)))
    const [again] = await fixture.emit([created('attestation.created:x')], scope)
    expect(both.flat().filter(({ eventId }) => eventId !== undefined)).toHaveLength(1)
    expect(again).toEqual({ eventId: undefined, deliveryIds: [] })
    const [twice] = await Promise.all([fixture.emit([created('k'), created('k'), created()], scope)])
    expect(twice.map(({ eventId, deliveryIds }) => [eventId !== undefined, deliveryIds.length])).toEqual([
      [true, 1],
      [false, 0],
      [true, 1],
    ])
    const [count] = await fixture.owner('SELECT count(*)::int AS deliveries FROM deliveries WHERE account_id = $1', [
      scope.accountId,
    ])
    expect(count).toEqual({ deliveries: 3 })
  })

  it('separates keys of other accounts and of the other environment', async () => {
    const first = await fixture.makeAccount()
    const second = await fixture.makeAccount()
    for (const scope of [first, second, { ...first, environment: 'live' as const }]) {
      const [emitted] = await fixture.emit([created('same key')], scope)
      expect(emitted?.eventId).toMatch(scope.environment === 'live' ? /^evt_live_/ : /^evt_test_/)
    }
  })

  it('returns ascending ids in the order of the call', async () => {
    for (let i = 0; i < 20; i += 1) {
      const emitted = await fixture.emit([created(), updated, escalated('clm_test_a')])
      const ids = emitted.map(({ eventId }) => eventId)
      expect(ids).toEqual(ids.toSorted())
    }
  })

  it('throws before writing when the data does not match the type', async () => {
    const wrong = {
      ...escalated('clm_test_a'),
      data: { claim_id: 'clm_test_a', email: 'a@b.example' },
    } as unknown as NewEvent
    const scope = await fixture.makeAccount()
    await expect(fixture.emit([created(), wrong], scope)).rejects.toThrow(/email/)
    expect(await fixture.owner('SELECT id FROM events WHERE account_id = $1', [scope.accountId])).toEqual([])
  })

  it('returns an empty list for no events', async () => {
    expect(await fixture.emit([])).toEqual([])
  })
})

describe('the receivers of an event', () => {
  it('are the enabled endpoints of the account and environment that subscribed to the type or to all', async () => {
    const scope = await fixture.makeAccount()
    const live = { ...scope, environment: 'live' as const }
    const other = await fixture.makeAccount()
    const all = await fixture.makeEndpoint(URL, ['*'], scope)
    const named = await fixture.makeEndpoint(URL, ['claim.escalated', 'ping'], scope)
    await fixture.makeEndpoint(URL, ['attestation.created'], scope)
    await fixture.makeEndpoint(URL, ['*'], other)
    await fixture.makeEndpoint('https://receiver.example/', ['*'], live)
    const disabled = await fixture.makeEndpoint(URL, ['*'], scope)
    await fixture.owner(`UPDATE webhook_endpoints SET status = 'disabled' WHERE id = $1`, [disabled.id])
    const deleted = await fixture.makeEndpoint(URL, ['*'], scope)
    await fixture.webhooks.remove(actingIn(scope), deleted.id)

    const [emitted] = await fixture.emit([escalated('clm_test_a')], scope)
    expect(await endpointsOf(emitted?.eventId)).toEqual([all.id, named.id].toSorted())
  })

  it.each([
    [['attest'], ['attestation.created', 'claim.provenance_updated', 'claim.escalated']],
    [['authorize'], ['attestation.created']],
    [['trace'], []],
    [[], []],
  ])('with products %j are %j', async (products, expected) => {
    const scope = await fixture.makeAccount({ products })
    await fixture.makeEndpoint(URL, ['*'], scope)
    const events = [created(), updated, escalated('clm_test_a')]
    const emitted = await fixture.emit(events, scope)
    expect(events.filter((_, index) => emitted[index]?.deliveryIds.length === 1).map(({ type }) => type)).toEqual(
      expected,
    )
    expect(emitted.every(({ eventId }) => eventId !== undefined)).toBe(true)
  })

  it('are the one endpoint of a ping, whatever it or others subscribe to', async () => {
    const scope = await fixture.makeAccount({ products: [] })
    const asked = await fixture.makeEndpoint(URL, ['claim.escalated'], scope)
    await fixture.makeEndpoint(URL, ['*'], scope)
    const [emitted] = await fixture.emit([{ type: 'ping', data: { webhook_endpoint_id: asked.id } }], scope)
    expect(await endpointsOf(emitted?.eventId)).toEqual([asked.id])
  })
})
