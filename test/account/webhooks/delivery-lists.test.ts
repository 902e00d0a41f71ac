// Lists of deliveries by their status read what they list, and not the log around it.

import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  countDeliveries,
  type DeliveryFilter,
  findAttempts,
  listDeliveries,
} from '#src/account/webhooks/delivery-rows.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { actingIn } from '../../support/callers.ts'
import { readingRows } from '../../support/rows-read.ts'
import { createFixture, escalated, type Fixture } from './fixture.ts'

const DELIVERED = 3_000
// A page and the row after it, and what is read of the endpoints.
const FEW_ROWS = 30

let fixture: Fixture
let scope: Scope
let endpointId: string
const of: Record<'pending' | 'cancelled', string[]> = { pending: [], cancelled: [] }

beforeAll(async () => {
  fixture = await createFixture()
  scope = await fixture.makeAccount()
  const acting = actingIn(scope)
  const { url } = await fixture.receiver()
  ;({ id: endpointId } = await fixture.makeEndpoint(url, ['*'], scope))
  const emit = async (count: number) => {
    const events = Array.from({ length: count }, () => escalated('clm_test_a'))
    return (await fixture.emit(events, scope)).flatMap(({ deliveryIds }) => deliveryIds)
  }
  of.cancelled = await emit(4)
  await fixture.changes.update(acting, endpointId, { status: 'disabled' })
  await fixture.changes.update(acting, endpointId, { status: 'enabled' })
  of.pending = await emit(3)
  // One that a person sends again, and one whose attempt is under way.
  const [again = ''] = of.cancelled.splice(0, 1)
  await fixture.deliveries.redeliver(acting, endpointId, again)
  of.pending.push(again, (await fixture.webhooks.test(scope, endpointId)).deliveryId)
  await fixture.owner(`UPDATE jobs SET state = 'dispatched', lease_until = now() WHERE id = $1`, [
    await fixture.jobOf(of.pending[0] ?? ''),
  ])
  await deliver(DELIVERED)
}, 60_000)
afterAll(() => fixture.close())

/** A log of deliveries that are newer, and of which nothing waits. */
async function deliver(count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, index) => newId('whd', 'sandbox', Date.now() + index))
  await fixture.owner(
    `INSERT INTO deliveries (account_id, environment, id, endpoint_id, event_id, event_type, job_id, status, delivered_at)
     SELECT $1, $2, id, $3, 'evt' || id, 'claim.escalated', gen_random_uuid(), 'delivered', now()
     FROM unnest($4::text[]) AS made (id)`,
    [scope.accountId, scope.environment, endpointId, ids],
  )
  await fixture.owner('ANALYZE deliveries, jobs')
}

const newestFirst = (ids: string[]) => ids.toSorted().reverse()

it.each(['pending', 'cancelled'] as const)('%s deliveries are listed and counted by few rows', async (status) => {
  const wanted: Omit<DeliveryFilter, 'status'>[] = [{ endpointId }, {}, { eventTypes: ['claim.escalated'] }]
  for (const rest of wanted) {
    const filter = { ...rest, status: [status] }
    const expected = await idsOf(status, rest.eventTypes)
    const list = (range: Parameters<typeof listDeliveries>[3]) =>
      reading((tx) => listDeliveries(tx, scope.environment, filter, range))
    expect(await list({ before: undefined, limit: 21 })).toEqual(expected)
    expect(await list({ after: '', limit: 20 })).toEqual(expected.toReversed())
    expect(await list({ before: expected[0], limit: 1 })).toEqual(expected.slice(1, 2))
    const { answer, most } = await readingRows(fixture.db, scope, 'deliveries', (tx) =>
      countDeliveries(tx, scope.environment, filter),
    )
    expect(answer).toBe(expected.length)
    expect(most).toBeLessThan(FEW_ROWS)
  }
})

async function idsOf(status: keyof typeof of, eventTypes: DeliveryFilter['eventTypes']): Promise<string[]> {
  const ids = newestFirst(of[status])
  if (eventTypes === undefined) return ids
  const rows = await fixture.owner<{ id: string }>(
    'SELECT id FROM deliveries WHERE id = ANY($1) AND event_type = ANY($2)',
    [ids, eventTypes],
  )
  return ids.filter((id) => rows.some((row) => row.id === id))
}

async function reading(work: Parameters<typeof readingRows<{ id: string }[]>>[3]): Promise<string[]> {
  const { answer, most } = await readingRows(fixture.db, scope, 'deliveries', work)
  expect(most).toBeLessThan(FEW_ROWS)
  return answer.map(({ id }) => id)
}

it('deliveries of several statuses are listed by few rows, newest first', async () => {
  const filter = { status: ['pending', 'cancelled'] as const, endpointId }
  const found = await reading((tx) => listDeliveries(tx, scope.environment, filter, { before: undefined, limit: 50 }))
  expect(found).toEqual(newestFirst([...of.pending, ...of.cancelled]))
})

it('a delivery that has ended is no longer listed as pending', async () => {
  const [waiting = ''] = of.pending
  await fixture.runOnce(waiting)
  const page = await fixture.deliveries.list(scope, { limit: 20, status: ['pending'], endpointId })
  expect(page.data.map(({ id }) => id)).toEqual(newestFirst(of.pending.slice(1)))
})

it('a list reads of its attempts what it shows, and neither URL nor headers nor bodies', async () => {
  const { url } = await fixture.receiver((response) => response.writeHead(500).end('broken'))
  const { id } = await fixture.makeEndpoint(url, ['intent.revoked'], scope)
  const { deliveryId } = await fixture.webhooks.test(scope, id)
  await fixture.runOnce(deliveryId)
  const read = (withBodies: boolean) => fixture.db.tenant(scope, (tx) => findAttempts(tx, [deliveryId], { withBodies }))
  const timing = { dns_ms: null, connect_ms: expect.any(Number), tls_ms: null, first_byte_ms: expect.any(Number) }
  const shown = { responseStatus: 500, errorDetail: null, timing }
  expect(await read(false)).toEqual([expect.objectContaining({ ...shown, detail: null, responseBody: null })])
  const detail = expect.objectContaining({ url, signed_headers: expect.anything() })
  expect(await read(true)).toEqual([expect.objectContaining({ ...shown, detail, responseBody: Buffer.from('broken') })])
})
