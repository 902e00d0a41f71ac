// The log of attempts: complete whatever dies, and whichever of two workers ends first.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDeliver } from '#src/account/webhooks/deliver.ts'
import { until } from '../../support/until.ts'
import { createFixture, escalated, type Fixture, type Responder } from './fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture.close())

async function makeDelivery(respond?: Responder) {
  const scope = await fixture.makeAccount()
  const { received, url } = await fixture.receiver(respond)
  const { id: endpointId } = await fixture.makeEndpoint(url, ['*'], scope)
  const [emitted] = await fixture.emit([escalated('clm_test_a')], scope)
  const deliveryId = emitted?.deliveryIds[0] ?? ''
  /** As the account's own API shows it. */
  const log = async () => {
    const { data } = await fixture.deliveries.list(scope, { endpointId, limit: 10 })
    return (data.find(({ id }) => id === deliveryId)?.log ?? []).map(
      ({ attempt, startedAt, finishedAt, responseStatus }) => ({
        attempt,
        isStarted: startedAt instanceof Date,
        isFinished: finishedAt !== null,
        responseStatus,
      }),
    )
  }
  return { scope, endpointId, received, deliveryId, log }
}

const shown = (attempt: number, responseStatus: number | null) => ({
  attempt,
  isStarted: true,
  isFinished: responseStatus !== null,
  responseStatus,
})
const dying = () =>
  createDeliver({ ...fixture, outbound: { send: () => Promise.reject(new Error('killed')) }, random: () => 0.5 })

describe('the log of a delivery', () => {
  it('has one row per attempt, which is written when the attempt has ended', async () => {
    let code = 500
    const { deliveryId, log } = await makeDelivery((response) => response.writeHead(code).end())
    await fixture.runOnce(deliveryId)
    code = 204
    await fixture.runOnce(deliveryId)
    expect(await log()).toEqual([shown(1, 500), shown(2, 204)])
  })

  it('shows an attempt while its call is under way', async () => {
    const held: (() => void)[] = []
    const { deliveryId, log } = await makeDelivery((response) => held.push(() => response.end()))
    const run = fixture.runOnce(deliveryId)
    await until(() => held.length === 1)
    expect(await log()).toEqual([shown(1, null)])
    held[0]?.()
    await run
    expect(await log()).toEqual([shown(1, 200)])
  })

  it('keeps every attempt whose process died, also several in a row', async () => {
    const { deliveryId, log } = await makeDelivery()
    for (let crash = 1; crash <= 3; crash += 1) {
      await expect(fixture.runOnce(deliveryId, { work: dying() })).rejects.toThrow('killed')
      expect(await log()).toEqual(Array.from({ length: crash }, (_, index) => shown(index + 1, null)))
    }
    await fixture.runOnce(deliveryId)
    expect(await log()).toEqual([shown(1, null), shown(2, null), shown(3, null), shown(4, 200)])
  })

  it('keeps a crashed attempt of a delivery that is cancelled afterwards', async () => {
    const { deliveryId, endpointId, log } = await makeDelivery()
    await expect(fixture.runOnce(deliveryId, { work: dying() })).rejects.toThrow('killed')
    await fixture.owner(`UPDATE webhook_endpoints SET status = 'disabled' WHERE id = $1`, [endpointId])
    await fixture.runOnce(deliveryId)
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'cancelled' })
    expect(await log()).toEqual([shown(1, null)])
  })

  it.each([
    ['completes the row of an overtaken attempt that is refused', 500, 500],
    ['leaves the row of an overtaken attempt that succeeds without the job', 200, null],
  ])('%s', async (_, code, recorded) => {
    const held: (() => void)[] = []
    const { deliveryId, log } = await makeDelivery((response) => {
      if (held.length === 0) held.push(() => response.writeHead(code).end())
      else response.end()
    })
    const overtaken = fixture.runOnce(deliveryId)
    await until(() => held.length === 1)
    // The lease lapsed, and another worker runs the job meanwhile.
    expect(await fixture.runOnce(deliveryId)).toEqual({ kind: 'settled' })
    expect(await log()).toEqual([shown(1, null), shown(2, 200)])
    held[0]?.()
    await overtaken
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'delivered', attempts: 2 })
    expect(await log()).toEqual([shown(1, recorded), shown(2, 200)])
  })

  it('is complete when the worker that holds the job ends an attempt after another one began', async () => {
    const held: (() => void)[] = []
    const { deliveryId, log } = await makeDelivery((response) => held.push(() => response.end()))
    const run = fixture.runOnce(deliveryId)
    await until(() => held.length === 1)
    // As a worker does that claimed the job earlier, lost it, and begins late.
    await fixture.owner(
      `UPDATE deliveries SET attempts = 2, interrupted_at = attempt_started_at, attempt_started_at = now() WHERE id = $1`,
      [deliveryId],
    )
    await fixture.owner(
      `INSERT INTO delivery_attempts (account_id, environment, delivery_id, attempt, started_at)
       SELECT account_id, environment, id, 1, interrupted_at FROM deliveries WHERE id = $1`,
      [deliveryId],
    )
    held[0]?.()
    expect(await run).toEqual({ kind: 'settled' })
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'delivered' })
    expect(await log()).toEqual([shown(1, 200), shown(2, null)])
  })
})
