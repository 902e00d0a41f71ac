// The limits of one lane, enforced at dispatch, whichever dispatcher chooses.

import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { createDispatcher, type Dispatcher } from '#src/platform/jobs/dispatch.ts'
import { cancelQueued, holdLane, type LaneLimits, limitLane, releaseLanes } from '#src/platform/jobs/lanes.ts'
import { readQueues } from '#src/platform/jobs/metrics.ts'
import { type Dispatching, startDispatching } from '../../support/engines.ts'

let on: Dispatching
let second: Dispatcher

beforeAll(async () => {
  on = await startDispatching('postgres')
  second = createDispatcher({ db: on.database.db, engine: on.engine, log: pino({ level: 'silent' }) })
})
afterEach(() => on.database.owner('TRUNCATE jobs, workers, queues, job_lanes CASCADE'))
afterAll(async () => {
  await second?.close()
  await on?.close()
})

const tenant = <R>(run: Parameters<typeof on.database.db.tenant<R>>[1]) => on.database.db.tenant(on.scope, run)
const queue = 'deliver' as const

async function fill(lane: string, count: number): Promise<void> {
  await on.database.owner('INSERT INTO workers (id, queue, concurrency) VALUES ($1, $2, 100)', [randomUUID(), queue])
  const jobs = Array.from({ length: count }, () => ({ payload: { deliveryId: randomUUID() }, lane }))
  await tenant((tx) => enqueue(tx, queue, on.scope, jobs))
}
const limit = (lane: string, limits: LaneLimits) => tenant((tx) => limitLane(tx, on.scope, { queue, lane, ...limits }))
const hold = (lane: string, delayMs: number) => tenant((tx) => holdLane(tx, on.scope, { queue, lane, delayMs }))
/** Both dispatchers at once. */
const dispatch = async () => {
  const rounds = await Promise.all([on.dispatcher.dispatch(queue), second.dispatch(queue)])
  return rounds.reduce((sum, { count }) => sum + count, 0)
}
const end = () => on.database.owner(`UPDATE jobs SET state = 'succeeded' WHERE state = 'dispatched'`)

it('a held lane is not dispatched, is no work that is due, and does not ask for more workers', async () => {
  await fill('held', 5)
  await fill('free', 2)
  await hold('held', 60_000)
  await on.database.owner(`UPDATE jobs SET run_at = now() - interval '90 seconds' WHERE lane = 'held'`)
  expect(await dispatch()).toBe(2)
  expect(await on.dispatcher.findDue([queue])).toEqual([])
  const states = await readQueues(on.database.db)
  expect(states.find((state) => state.queue === queue)?.oldestDueSeconds).toBeLessThan(60)
  // The hold wrote no job.
  expect(await on.database.owner(`SELECT DISTINCT state, attempts, dispatches FROM jobs WHERE lane = 'held'`)).toEqual([
    { state: 'queued', attempts: 0, dispatches: 0 },
  ])
})

it('a lane whose hold has passed is tried with one job at a time, until it is released', async () => {
  await fill('tried', 20)
  await hold('tried', 0)
  expect(await on.dispatcher.findDue([queue])).toEqual([queue])
  expect([await dispatch(), await dispatch()]).toEqual([1, 0])
  await end()
  expect(await dispatch()).toBe(1)
  await tenant((tx) => releaseLanes(tx, queue, ['tried']))
  // The cap of the queue, of which one is in flight.
  expect(await dispatch()).toBe(7)
})

it('a lane has no more jobs in flight than its own cap', async () => {
  await fill('narrow', 20)
  await limit('narrow', { mostInFlight: 3, perSecond: null })
  expect([await dispatch(), await dispatch()]).toEqual([3, 0])
  await limit('narrow', { mostInFlight: null, perSecond: null })
  expect(await dispatch()).toBe(5)
})

it('a lane gets the jobs that its rate admits, over all dispatchers, and its tokens come back with time', async () => {
  await fill('slow', 40)
  await limit('slow', { mostInFlight: null, perSecond: 4 })
  // No token comes back before that time.
  const stop = () => on.database.owner(`UPDATE job_lanes SET tokens_at = now() + interval '1 hour'`)
  await stop()
  expect(await dispatch()).toBe(4)
  await end()
  await stop()
  expect(await dispatch()).toBe(0)
  expect(await on.dispatcher.findDue([queue])).toEqual([])
  await on.database.owner(`UPDATE job_lanes SET tokens_at = now() - interval '600 milliseconds'`)
  expect(await on.dispatcher.findDue([queue])).toEqual([queue])
  const taken = await dispatch()
  expect(taken).toBeGreaterThanOrEqual(2)
  expect(taken).toBeLessThanOrEqual(4)
  await end()
  // Idle for an hour, it has saved a second's worth.
  await on.database.owner(`UPDATE job_lanes SET tokens_at = now() - interval '1 hour'`)
  expect(await dispatch()).toBe(4)
})

it('queued jobs of a lane are cancelled in steps, without those that are dispatched', async () => {
  await fill('ended', 20)
  expect(await dispatch()).toBe(8)
  const sizes: number[] = []
  for (let size = -1; size !== 0; sizes.push(size)) {
    size = (await tenant((tx) => cancelQueued(tx, queue, 'ended', 5))).length
  }
  expect(sizes).toEqual([5, 5, 2, 0])
})
