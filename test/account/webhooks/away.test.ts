// The answer of a receiver is recorded even if Postgres is away at that moment: else the receiver is called again.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDeliver, type DeliverDeps } from '#src/account/webhooks/deliver.ts'
import { until } from '../../support/until.ts'
import { createFixture, escalated, type Fixture, type Responder } from './fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture.close())

/** Runs one delivery; each transaction begun after the receiver has answered fails with the next of `failures`. */
async function deliverWith(failures: Error[], respond?: Responder, signal?: AbortSignal) {
  const scope = await fixture.makeAccount()
  const { received, url } = await fixture.receiver(respond)
  await fixture.makeEndpoint(url, ['*'], scope)
  const [emitted] = await fixture.emit([escalated('clm_test_a')], scope)
  const deliveryId = emitted?.deliveryIds[0] ?? ''
  const db: DeliverDeps['db'] = {
    tenant: (of, run) => {
      const failure = received.length > 0 ? failures.shift() : undefined
      return failure === undefined ? fixture.db.tenant(of, run) : Promise.reject(failure)
    },
  }
  const { sealer, outbound } = fixture
  const work = createDeliver({ db, sealer, outbound, random: () => 0.5 })
  const outcome = fixture.runOnce(deliveryId, signal === undefined ? { work } : { work, signal })
  return { outcome, received, deliveryId }
}

const away = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
const starting = () => Object.assign(new Error('the database system is starting up'), { code: '57P03' })

describe('the recorded answer of a receiver', () => {
  it('is written when Postgres is back', async () => {
    const { outcome, received, deliveryId } = await deliverWith([away(), starting()])
    expect(await outcome).toEqual({ kind: 'settled' })
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'delivered', attempts: 1 })
    expect(received).toHaveLength(1)
  })

  it('is written when Postgres is back also if it was a refusal', async () => {
    const { outcome, deliveryId } = await deliverWith([away()], (response) => response.writeHead(500).end())
    expect(await outcome).toMatchObject({ kind: 'retry', error: 'status 500' })
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'pending', attempts: 1 })
  })

  it('is given up when the job is taken over', async () => {
    const controller = new AbortController()
    const failures = Array.from({ length: 100 }, away)
    const { outcome } = await deliverWith(failures, undefined, controller.signal)
    const failed = expect(outcome).rejects.toThrow('ECONNRESET')
    await until(() => failures.length < 99)
    controller.abort()
    await failed
  })

  it('is not retried when the error is our own', async () => {
    const failures = [new Error('a column is missing'), new Error('a column is missing')]
    const { outcome } = await deliverWith(failures)
    await expect(outcome).rejects.toThrow('a column is missing')
    expect(failures).toHaveLength(1)
  })
})
