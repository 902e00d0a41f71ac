import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SHOWN_STATE } from '#src/platform/jobs/backlog.ts'
import type { RunningJob } from '#src/platform/jobs/consume.ts'
import { type Dispatching, startDispatching, testedEngines } from '../../support/engines.ts'
import { until } from '../../support/until.ts'

describe.each(testedEngines())('reconciling the queue on %s', (kind) => {
  let on: Dispatching

  beforeAll(async () => {
    on = await startDispatching(kind)
  })
  afterAll(() => on?.close())

  const states = (ids: string[]) =>
    on.database.owner<{ id: string; state: string; attempts: number }>(
      `SELECT id, ${SHOWN_STATE} AS state, attempts FROM jobs WHERE id = ANY($1::uuid[])`,
      [ids],
    )
  const settledAll = (ids: string[]) =>
    until(async () => {
      await on.dispatcher.dispatch('attest')
      return (await states(ids)).every((job) => job.state === 'succeeded')
    })

  /** As their worker leaves them when it is killed while it runs them for the first time. */
  async function abandon(ids: string[]): Promise<void> {
    await on.database.owner(
      `UPDATE jobs SET state = 'dispatched', dispatches = 1, attempts = 1, lease_until = now() - interval '1 second'
       WHERE id = ANY($1::uuid[])`,
      [ids],
    )
    expect(await on.dispatcher.reconcile('attest')).toBe(ids.length)
  }

  it('recovers a dispatch that never arrived, and an expired lease', async () => {
    const ids = await on.addJobs(4)
    const [unclaimed, lapsed, older, held] = ids
    await on.database.owner(
      "UPDATE jobs SET state = 'dispatched', dispatches = 7, dispatched_at = now() - interval '11 seconds' WHERE id = $1",
      [unclaimed],
    )
    await on.database.owner(
      "UPDATE jobs SET state = 'dispatched', dispatches = 1, attempts = 1, lease_until = now() - interval '1 second' WHERE id = $1",
      [lapsed],
    )
    // As workers of an earlier release leave it.
    await on.database.owner(
      "UPDATE jobs SET state = 'dispatched', dispatches = 1, attempts = 1, lease_until = now() - interval '1 second' WHERE id = $1",
      [older],
    )
    // Dispatched long ago, and no longer held by the engine: its lease says that it runs.
    await on.database.owner(
      `UPDATE jobs SET state = 'dispatched', dispatches = 1, dispatched_at = now() - interval '11 seconds',
         lease_until = now() + interval '1 hour' WHERE id = $1`,
      [held],
    )
    expect(await on.dispatcher.reconcile('attest')).toBe(3)
    expect(await states([held ?? ''])).toMatchObject([{ state: 'running' }])
    await on.database.owner("UPDATE jobs SET lease_until = now() - interval '1 second' WHERE id = $1", [held])
    expect(await on.dispatcher.reconcile('attest')).toBe(1)
    const worker = await on.start(on.settleNow)
    await settledAll(ids)
    const rows = new Map((await states(ids)).map((job) => [job.id, job.attempts]))
    expect(rows.get(unclaimed ?? '')).toBe(1)
    expect(rows.get(lapsed ?? '')).toBe(2)
    await worker.close(5_000)
  })

  it('runs jobs apart whose workers died with them three times, for one of them may be the cause', async () => {
    const ids = await on.addJobs(30)
    const [twice, ...others] = ids
    await on.database.owner(
      `UPDATE jobs SET state = 'dispatched', dispatches = 3, attempts = CASE WHEN id = $2 THEN 2 ELSE 3 END,
         lease_until = now() - interval '1 second' WHERE id = ANY($1::uuid[])`,
      [ids, twice],
    )
    expect(await on.dispatcher.reconcile('attest')).toBe(ids.length)
    const rows = await on.database.owner<{ id: string; seconds: number }>(
      'SELECT id, extract(epoch FROM run_at - now())::float8 AS seconds FROM jobs WHERE id = ANY($1::uuid[])',
      [ids],
    )
    const dueIn = new Map(rows.map(({ id, seconds }) => [id, seconds]))
    expect(dueIn.get(twice ?? '')).toBeLessThanOrEqual(0)
    const later = others.map((id) => dueIn.get(id) ?? 0)
    expect(Math.min(...later)).toBeGreaterThan(-2)
    expect(Math.max(...later)).toBeLessThanOrEqual(60)
    expect(Math.max(...later) - Math.min(...later)).toBeGreaterThan(10)
    await on.database.owner("UPDATE jobs SET state = 'cancelled' WHERE id = ANY($1::uuid[])", [ids])
  })

  it("runs a killed worker's jobs before others of their account that wait, also in the worker that gets them", async () => {
    const running: { id: string; end(): void }[] = []
    const started: string[] = []
    const run = async (job: RunningJob) => {
      started.push(job.id)
      await new Promise<void>((end) => running.push({ id: job.id, end }))
      return on.settleNow(job)
    }
    const ids = await on.addJobs(40)
    const [first, second, ...others] = ids.slice(-4)
    // Of a batch that was committed when those of the other one were running already.
    await on.database.owner("UPDATE jobs SET run_at = run_at - interval '30 seconds' WHERE id = ANY($1::uuid[])", [
      ids.slice(0, 20),
    ])
    await abandon([first ?? '', second ?? ''])
    // One account has four jobs of the window of eight, of which two run, and two wait in the worker for their slot.
    const worker = await on.start(run, { concurrency: 4 })
    const fetched = (starts: number) =>
      until(async () => {
        await on.dispatcher.dispatch('attest')
        const open = (await states(ids)).filter(({ state }) => state !== 'queued' && state !== 'succeeded')
        return started.length === starts && open.length === 4 && open.every(({ id }) => on.delivered.has(id))
      })
    try {
      await fetched(2)
      expect(started.sort()).toEqual([first, second])
      await abandon(others)
      const waiting = (await states(ids)).filter(({ state }) => state === 'dispatched').map(({ id }) => id)
      running.shift()?.end()
      // The first that waited began. Its place went to an abandoned one, which is next in the worker.
      await fetched(3)
      expect(waiting).toContain(started[2])
      running.shift()?.end()
      await fetched(4)
      expect(others).toContain(started[3])
      running.shift()?.end()
      await fetched(5)
      expect(others).toContain(started[4])
    } finally {
      const ending = setInterval(() => running.shift()?.end(), 1)
      await settledAll(ids)
      clearInterval(ending)
      await worker.close(5_000)
    }
  })
})
