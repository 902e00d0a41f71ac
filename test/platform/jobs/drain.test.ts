// A worker that is told to stop ends within its deadline, whatever hangs, and what it held runs elsewhere at once.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '#src/platform/db/database.ts'
import { SHOWN_STATE, STALE_JOB } from '#src/platform/jobs/backlog.ts'
import type { RunningJob } from '#src/platform/jobs/consume.ts'
import { type Dispatching, startDispatching, testedEngines } from '../../support/engines.ts'
import { until } from '../../support/until.ts'

const DEADLINE_MS = 2_000
// What a loaded machine may add to a timer. A lease would lapse after 15 s.
const SLACK_MS = 3_000

describe.each(testedEngines())('a worker that is stopped, on %s', (kind) => {
  let on: Dispatching

  beforeAll(async () => {
    on = await startDispatching(kind)
  })
  afterAll(() => on?.close())

  const states = (ids: readonly string[]) =>
    on.database.owner<{ state: string; attempts: number; isLeased: boolean }>(
      `SELECT ${SHOWN_STATE} AS state, attempts, lease_until IS NOT NULL AS "isLeased" FROM jobs
       WHERE id = ANY($1::uuid[])`,
      [ids],
    )
  const dispatchUntil = (isSo: () => Promise<boolean>) =>
    until(
      async () => {
        await on.dispatcher.dispatch('attest')
        return isSo()
      },
      { timeoutMs: 15_000 },
    )

  it('returns in time when a handler ignores its signal, whose job another worker runs at once', {
    timeout: 60_000,
  }, async () => {
    const hung: RunningJob[] = []
    const worker = await on.start(
      (job) => {
        hung.push(job)
        return new Promise(() => {})
      },
      { concurrency: 6 },
    )
    const ids = await on.addJobs(3)
    await dispatchUntil(async () => hung.length === 3)

    const since = performance.now()
    await worker.close(DEADLINE_MS)
    expect(performance.now() - since).toBeLessThan(DEADLINE_MS + SLACK_MS)
    expect(hung.every(({ signal }) => signal.aborted)).toBe(true)
    for (const job of await states(ids)) expect(job).toEqual({ state: 'queued', attempts: 1, isLeased: false })

    // Also where a batch that began earlier is committed now.
    const all = [...ids, ...(await on.addJobs(3))]
    await on.database.owner(`UPDATE jobs SET run_at = run_at - interval '30 seconds' WHERE id = ANY($1::uuid[])`, [
      all.slice(3),
    ])
    const dueFirst = await on.database.owner<{ id: string }>(
      'SELECT id FROM jobs WHERE id = ANY($1::uuid[]) ORDER BY run_at LIMIT 3',
      [all],
    )
    expect(dueFirst.map(({ id }) => id).sort()).toEqual([...ids].sort())
    const next = await on.start(on.settleNow)
    await dispatchUntil(async () => (await states(all)).every(({ state }) => state === 'succeeded'))
    expect(performance.now() - since).toBeLessThan(20_000)
    // The handler that hung ends after all.
    for (const job of hung) await expect(on.database.db.tenant(on.scope, job.settle)).rejects.toBe(STALE_JOB)
    await next.close(5_000)
  })

  it('hands back at once what waits for a slot, while it finishes what runs', { timeout: 60_000 }, async () => {
    let release = () => {}
    const released = new Promise<void>((done) => {
      release = done
    })
    const ran: string[] = []
    const worker = await on.start(
      async (job) => {
        ran.push(job.id)
        await released
        return on.settleNow(job)
      },
      { concurrency: 2 },
    )
    const ids = await on.addJobs(2)
    // An account alone gets half of the slots and of the window: one job runs, and the worker has fetched one more.
    await dispatchUntil(async () => ran.length === 1 && (await states(ids)).every(({ state }) => state !== 'queued'))
    const producer = on.engine.producer('attest')
    await until(async () => (await producer.waiting()) === 0)
    await producer.close()
    const closed = worker.close(30_000)
    await until(async () => (await states(ids)).some(({ state }) => state === 'queued'), { timeoutMs: 10_000 })
    expect((await states(ids)).map(({ state }) => state).sort()).toEqual(['queued', 'running'])
    release()
    await closed
    expect((await states(ids)).map(({ state }) => state).sort()).toEqual(['queued', 'succeeded'])
    expect(ran).toHaveLength(1)
    await on.database.owner(`DELETE FROM jobs WHERE id = ANY($1::uuid[])`, [ids])
  })

  it('ends jobs that are cheap to begin again at once, also those that start meanwhile', {
    timeout: 60_000,
  }, async () => {
    const ran: RunningJob[] = []
    const worker = await on.start(
      async (job) => {
        ran.push(job)
        if (!job.signal.aborted) await new Promise((done) => job.signal.addEventListener('abort', done))
        return { kind: 'defer', reason: 'the worker stopped waiting', delayMs: 0 }
      },
      { concurrency: 2, endsAtOnce: true },
    )
    const ids = await on.addJobs(2)
    // One runs, and one waits for its slot.
    await dispatchUntil(async () => ran.length === 1 && (await states(ids)).every(({ state }) => state !== 'queued'))
    // At its deadline the test would have failed long before.
    await worker.close(600_000)
    expect(ran.every(({ signal }) => signal.aborted)).toBe(true)
    for (const job of await states(ids)) expect(job).toEqual({ state: 'queued', attempts: 0, isLeased: false })
    await on.database.owner(`DELETE FROM jobs WHERE id = ANY($1::uuid[])`, [ids])
  })

  it('returns in time when Postgres does not answer', async () => {
    let isAway = false
    const db: Database = {
      ...on.database.db,
      system: (reason, ...rest) => (isAway ? new Promise(() => {}) : on.database.db.system(reason, ...rest)),
    }
    const worker = await on.start(on.settleNow, { db })
    isAway = true
    const since = performance.now()
    await worker.close(DEADLINE_MS)
    expect(performance.now() - since).toBeLessThan(DEADLINE_MS + SLACK_MS)
  })
})
