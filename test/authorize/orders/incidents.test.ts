// The incident report of a day: what it counts, that it is written once, and for days on which nothing happened.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { listToday } from '../../support/exclusion-rows.ts'
import { type Json, ORDERS, type OrderService, startOrders } from './service.ts'

const REPORTS = '/v1/clinical/incident-reports'
const DAY_MS = 86_400_000

let orders: OrderService
beforeAll(async () => {
  orders = await startOrders()
})
afterAll(() => orders.close())

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

it('counts refused signatures, attempts of the excluded, overrides and changes of tiers, once, and nothing of the order', async () => {
  const { service, caller } = orders
  const prescriber = await orders.makePrescriber()
  const second = await orders.makePrescriber()
  const id = await orders.makeSigned(prescriber)
  const other = await orders.makeOrder(prescriber)
  await orders.as(second.person, `${ORDERS}/${other.order_id}/sign`, {})
  await listToday(service.test, caller, { npi: second.npi })
  const excluded = await orders.signBy(second.person, id, 'cosign')
  expect(excluded).toMatchObject({ status: 403, json: { code: 'prescriber_excluded' } })
  await orders.post(`/v1/clinical/prescribers/${second.id}/suspend`, { reason: 'excluded' })

  const { incidents } = service.services.authorize
  service.clock.now = new Date(Date.now() + 2 * DAY_MS)
  const written = await Promise.all([0, 1].map(() => incidents.incidents.writeDue(AbortSignal.timeout(60_000))))
  expect(Math.max(...written)).toBe(2)
  expect(await incidents.incidents.writeDue(AbortSignal.timeout(60_000))).toBe(0)
  service.clock.now = undefined

  const { json } = await service.call(caller, REPORTS)
  const { data } = json as {
    data: { day: string; counts: Json; incidents: { kind: string; cause: string | null }[] }[]
  }
  expect(data.map(({ day }) => day)).toEqual([dayOf(Date.now() + DAY_MS), dayOf(Date.now())])
  const [empty, report] = data
  expect(Object.values(empty?.counts ?? {}).every((count) => count === 0)).toBe(true)
  expect(report?.counts).toMatchObject({ failed_signature: 1, excluded_attempt: 1, refused_act: 0, override: 0 })
  expect(Number(report?.counts.tier_change)).toBeGreaterThan(5)
  expect(report?.incidents.filter(({ kind }) => /signature|excluded/.test(kind)).map(({ cause }) => cause)).toEqual([
    'signer_mismatch',
    'prescriber_excluded',
  ])
  const path = `${REPORTS}/${report?.day}`
  expect((await service.call(caller, path)).json).toEqual(report)
  for (const day of ['2026-02-30', 'x', '1999-01-01']) {
    expect(await service.call(caller, `${REPORTS}/${day}`)).toMatchObject({ status: 404 })
  }
})
