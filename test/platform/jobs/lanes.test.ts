// The limits of one lane, enforced at dispatch, whichever dispatcher chooses.

import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import type { JobBatch } from '#src/platform/jobs/bull.ts'
import { createDispatcher, type Dispatcher } from '#src/platform/jobs/dispatch.ts'
import {
  cancelQueued,
  directLaneOf,
  holdLane,
  type LaneLimits,
  limitLane,
  releaseLanes,
} from '#src/platform/jobs/lanes.ts'
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

it('a lane may have more jobs in flight than the cap of the queue, where its own cap is larger', async () => {
  await fill('wide', 40)
  await limit('wide', { mostInFlight: 20, perSecond: null })
  expect([await dispatch(), await dispatch()]).toEqual([20, 0])
  await limit('wide', { mostInFlight: 20, perSecond: 30 })
  await end()
  expect(await dispatch()).toBe(20)
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

it('a lane that has as many jobs in flight as it may does not ask for more workers, and other lanes do', async () => {
  const oldest = async () => {
    const states = await readQueues(on.database.db)
    return states.find((state) => state.queue === queue)?.oldestDueSeconds ?? 0
  }
  const age = (lane: string, seconds: number) =>
    on.database.owner(`UPDATE jobs SET run_at = now() - $2 * interval '1 second' WHERE lane = $1`, [lane, seconds])
  await fill('full', 20)
  await fill('wide', 40)
  await fill(directLaneOf('full'), 20)
  await limit('wide', { mostInFlight: 20, perSecond: null })
  for (const lane of ['full', 'wide', directLaneOf('full')]) await age(lane, 400)
  expect(await oldest()).toBeGreaterThan(399)
  // The cap of the queue, which the lane shares with its direct lane, and the larger cap of the other lane.
  expect(await dispatch()).toBe(8 + 20)
  expect(await oldest()).toBe(0)
  await fill('free', 1)
  await age('free', 90)
  expect(await oldest()).toBeGreaterThan(89)
  expect(await oldest()).toBeLessThan(120)
  await on.database.owner(`DELETE FROM jobs WHERE lane = 'free'`)

  // More workers help where a job of a full lane waits for one.
  const claim = (lane: string) =>
    on.database.owner(`UPDATE jobs SET lease_until = now() WHERE state = 'dispatched' AND lane LIKE $1`, [lane])
  await on.database.owner(`UPDATE jobs SET dispatched_at = now() - interval '11 seconds' WHERE state = 'dispatched'`)
  await claim('full%')
  expect(await oldest()).toBeGreaterThan(399)
  await claim('wide')
  expect(await oldest()).toBe(0)
  await on.database.owner(
    `UPDATE jobs SET state = 'succeeded' WHERE id = (SELECT id FROM jobs WHERE state = 'dispatched' AND lane = 'full' LIMIT 1)`,
  )
  expect(await oldest()).toBeGreaterThan(399)
})

describe('a lane and its direct lane', () => {
  const inFlight = () =>
    on.database.owner<{ lane: string; count: number }>(
      `SELECT lane, count(*)::int AS count FROM jobs WHERE state = 'dispatched' GROUP BY lane ORDER BY lane`,
    )
  const fillBoth = async (lane: string, count: number) => {
    await fill(lane, count)
    await fill(directLaneOf(lane), count)
  }

  it('have no more jobs in flight together than their cap, and those of the direct lane go first', async () => {
    await fillBoth('both', 20)
    await limit('both', { mostInFlight: 3, perSecond: null })
    expect([await dispatch(), await dispatch()]).toEqual([3, 0])
    expect(await inFlight()).toEqual([
      { lane: 'both', count: 1 },
      { lane: 'both direct', count: 2 },
    ])
    await limit('both', { mostInFlight: 1, perSecond: null })
    await end()
    expect([await dispatch(), await dispatch()]).toEqual([1, 0])
    expect(await inFlight()).toEqual([{ lane: 'both direct', count: 1 }])
    // Without limits of their own, the cap of the queue is that of both.
    await limit('both', { mostInFlight: null, perSecond: null })
    expect([await dispatch(), await dispatch()]).toEqual([7, 0])
  })

  it('take the tokens of one bucket', async () => {
    await fillBoth('both', 20)
    await limit('both', { mostInFlight: null, perSecond: 4 })
    const stop = () => on.database.owner(`UPDATE job_lanes SET tokens_at = now() + interval '1 hour'`)
    await stop()
    expect(await on.dispatcher.dispatch(queue)).toMatchObject({ count: 4 })
    await end()
    await stop()
    expect([await dispatch(), await on.dispatcher.findDue([queue])]).toEqual([0, []])
    await on.database.owner(`UPDATE job_lanes SET tokens = 1`)
    expect(await on.dispatcher.findDue([queue])).toEqual([queue])
    expect(await second.dispatch(queue)).toMatchObject({ count: 1 })
    expect(await inFlight()).toEqual([{ lane: 'both direct', count: 1 }])
  })

  it('are not held together', async () => {
    await fillBoth('both', 20)
    await limit('both', { mostInFlight: 2, perSecond: null })
    await hold('both', 60_000)
    expect([await dispatch(), await inFlight()]).toEqual([2, [{ lane: 'both direct', count: 2 }]])
    await end()
    await hold('both', 0)
    // One of each: the held lane is tried with one job.
    expect([await dispatch(), await dispatch()]).toEqual([2, 0])
    await end()
    await on.database.owner(`UPDATE jobs SET run_at = now() - interval '90 seconds' WHERE lane = 'both direct'`)
    const states = await readQueues(on.database.db)
    expect(states.find((state) => state.queue === queue)?.oldestDueSeconds).toBeLessThan(60)
  })
})

/** A dispatcher, and what it gives to the engine. */
function watch() {
  const sent: JobBatch[] = []
  const producer: typeof on.engine.producer = (name) => {
    const real = on.engine.producer(name)
    return {
      ...real,
      add(batches) {
        sent.push(...batches)
        return real.add(batches)
      },
    }
  }
  const log = pino({ level: 'silent' })
  return { sent, watched: createDispatcher({ db: on.database.db, engine: { ...on.engine, producer }, log }) }
}

it('a job whose worker is gone waits behind no other job of its account', async () => {
  const { sent, watched } = watch()
  await fill('busy', 3)
  expect(await dispatch()).toBe(3)
  const jobs = ['lost', 'new'].map(() => ({ payload: { deliveryId: randomUUID() }, lane: 'one' }))
  const [lost = '', next = ''] = await tenant((tx) => enqueue(tx, queue, on.scope, jobs))
  await on.database.owner(
    `UPDATE jobs SET state = 'dispatched', dispatches = 1, attempts = 1, lease_until = now() - interval '1 second' WHERE id = $1`,
    [lost],
  )
  expect(await watched.reconcile(queue)).toBe(1)
  expect(await watched.dispatch(queue)).toMatchObject({ count: 2 })
  await watched.close()
  const priorities = new Map(sent.flatMap(({ tickets, priority }) => tickets.map(({ id }) => [id, priority])))
  expect(priorities.get(lost)).toBe(1)
  expect(priorities.get(next)).toBeGreaterThan(3)
})

it('jobs that callers wait for go to the engine before those of a bulk, and both by their age', async () => {
  const { sent, watched } = watch()
  await on.database.owner('INSERT INTO workers (id, queue, concurrency) VALUES ($1, $2, 100)', [randomUUID(), queue])
  const add = async (priority: 'interactive' | 'bulk', at: string) => {
    const job = { payload: { deliveryId: randomUUID() }, lane: 'one', priority }
    const [id = ''] = await tenant((tx) => enqueue(tx, queue, on.scope, [job]))
    await on.database.owner('UPDATE jobs SET run_at = $2 WHERE id = $1', [id, at])
    return id
  }
  const bulk = [await add('bulk', '2026-01-04'), await add('bulk', '2026-01-01'), await add('bulk', '2026-01-02')]
  const waited = [await add('interactive', '2026-01-06'), await add('interactive', '2026-01-05')]
  expect(await watched.dispatch(queue)).toMatchObject({ count: 5 })
  await watched.close()
  const order = sent.toSorted((a, b) => a.priority - b.priority).flatMap(({ tickets }) => tickets.map(({ id }) => id))
  expect(order).toEqual([waited[1], waited[0], bulk[1], bulk[2], bulk[0]])
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
