// The limits of an endpoint hold for everything that is sent to it, by however many processes.

import type { ServerResponse } from 'node:http'
import pino from 'pino'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startWorker, type Worker } from '#src/platform/jobs/consume.ts'
import { createDispatcher, type Dispatcher } from '#src/platform/jobs/dispatch.ts'
import { createJobMetrics } from '#src/platform/jobs/metrics.ts'
import { actingIn } from '../../support/callers.ts'
import { makeEngine } from '../../support/engines.ts'
import { until } from '../../support/until.ts'
import { createFixture, escalated, type Fixture } from './fixture.ts'

const log = pino({ level: 'silent' })

let fixture: Fixture
const systems: { dispatcher: Dispatcher; worker: Worker; close(): Promise<void> }[] = []
beforeAll(async () => {
  fixture = await createFixture()
  for (let count = 0; count < 2; count += 1) {
    const engine = makeEngine('postgres', fixture)
    const dispatcher = createDispatcher({ db: fixture.db, engine, log })
    const metrics = createJobMetrics(new Registry())
    const worker = await startWorker({ queue: 'deliver', work: fixture.deliver, db: fixture.db, engine, log, metrics })
    const close = async () => {
      await worker.close(10_000)
      await dispatcher.close()
      await engine.close()
    }
    systems.push({ dispatcher, worker, close })
  }
})
afterAll(async () => {
  await Promise.all(systems.map(({ close }) => close()))
  await fixture.close()
})

/** Both at once. */
async function dispatch(): Promise<number> {
  const rounds = await Promise.all(systems.map(({ dispatcher }) => dispatcher.dispatch('deliver')))
  return rounds.reduce((sum, { count }) => sum + count, 0)
}

it.each([
  [{ maxConcurrency: 2 }, 2],
  [{}, 8],
])('an endpoint with %j gets %i deliveries at once, events and pings together', async (settings, most) => {
  const scope = await fixture.makeAccount()
  const open: ServerResponse[] = []
  const { received, url } = await fixture.receiver((response) => open.push(response))
  const { id } = await fixture.makeEndpoint(url, ['*'], scope)
  await fixture.changes.update(actingIn(scope), id, settings)
  await fixture.emit(
    Array.from({ length: 12 }, () => escalated('clm_test_a')),
    scope,
  )
  for (let count = 0; count < 6; count += 1) await fixture.webhooks.test(scope, id)

  for (let ended = 0; ended < 18; ended += most) {
    const next = Math.min(most, 18 - ended)
    // What has ended makes room when its end is written.
    await until(async () => {
      await dispatch()
      return open.length >= next
    })
    expect([await dispatch(), open.length]).toEqual([0, next])
    for (const response of open.splice(0)) response.end()
  }
  const types = received.map(({ json }) => json.type)
  expect([types.length, types.slice(0, most).filter((type) => type === 'ping').length]).toEqual([18, most / 2])
})

it('an endpoint gets as many deliveries a second as it admits, events and pings together', async () => {
  const scope = await fixture.makeAccount()
  const { received, url } = await fixture.receiver()
  const { id } = await fixture.makeEndpoint(url, ['*'], scope)
  await fixture.changes.update(actingIn(scope), id, { maxPerSecond: 3 })
  await fixture.emit([escalated('clm_test_a'), escalated('clm_test_b'), escalated('clm_test_c')], scope)
  for (let count = 0; count < 3; count += 1) await fixture.webhooks.test(scope, id)
  // An hour ahead: no token comes back before the next round.
  const stop = (tokens: string) =>
    fixture.owner(`UPDATE job_lanes SET tokens = ${tokens}, tokens_at = now() + interval '1 hour' WHERE lane = $1`, [
      id,
    ])
  await stop('3')
  expect(await systems[0]?.dispatcher.dispatch('deliver')).toMatchObject({ count: 3 })
  await stop('tokens')
  await until(async () => received.length === 3)
  expect(await dispatch()).toBe(0)
  await stop('3')
  await until(async () => {
    await dispatch()
    return received.length === 6
  })
})
