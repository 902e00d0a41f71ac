// Bulk jobs of a lane beside interactive ones that never end: single captures beside a batch of the same account.

import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { QUEUE_NAMES, type QueueName } from '#src/catalogue/queues.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { BULK_EVERY } from '#src/platform/jobs/fair-share.ts'
import { type Dispatching, startDispatching, testedEngines } from '../../support/engines.ts'
import { until } from '../../support/until.ts'

describe.each(testedEngines())('bulk jobs beside interactive ones, on %s', (kind) => {
  let on: Dispatching
  beforeAll(async () => {
    on = await startDispatching(kind)
  })
  afterEach(() => on.database.owner('TRUNCATE jobs, workers, queues CASCADE'))
  afterAll(() => on?.close())

  const add = (queue: QueueName, priority: 'interactive' | 'bulk', count: number) =>
    on.database.db.tenant(on.scope, (tx) =>
      enqueue(
        tx,
        queue as 'attest',
        on.scope,
        Array.from({ length: count }, () => ({ payload: { attestationId: randomUUID() }, priority })),
      ),
    )
  const addWorker = (queue: QueueName, concurrency: number) =>
    on.database.owner('INSERT INTO workers (id, queue, concurrency) VALUES ($1, $2, $3)', [
      randomUUID(),
      queue,
      concurrency,
    ])
  const end = async () => {
    const rows = await on.database.owner<{ priority: number }>(
      `UPDATE jobs SET state = 'succeeded', settled_at = now() WHERE state = 'dispatched' RETURNING priority`,
    )
    return rows.map(({ priority }) => priority)
  }

  it.each(QUEUE_NAMES)('have one turn in eight of %s, one job at a time or many', async (queue) => {
    for (const concurrency of [1, 20]) {
      await addWorker(queue, concurrency)
      await add(queue, 'interactive', 400)
      await add(queue, 'bulk', 400)
      const ended: number[] = []
      while (ended.length < 4 * BULK_EVERY) {
        await on.dispatcher.dispatch(queue)
        ended.push(...(await end()))
      }
      const bulk = ended.filter((priority) => priority === 1).length
      expect(bulk).toBeGreaterThanOrEqual(Math.floor(ended.length / BULK_EVERY))
      expect(bulk).toBeLessThanOrEqual(Math.ceil(ended.length / BULK_EVERY))
      await on.database.owner('TRUNCATE jobs, workers CASCADE')
    }
  })

  it('have all turns where they are alone, and interactive ones have all where those are', async () => {
    await addWorker('attest', 20)
    for (const priority of ['bulk', 'interactive'] as const) {
      await add('attest', priority, 100)
      const { count } = await on.dispatcher.dispatch('attest')
      expect([priority, count]).toEqual([priority, 20])
      await on.database.owner('TRUNCATE jobs CASCADE')
    }
  })

  it('have their turns also where each interactive job asks to be dispatched at once', async () => {
    await addWorker('attest', 1)
    await add('attest', 'bulk', 40)
    const ended: number[] = []
    while (ended.length < 4 * BULK_EVERY) {
      const ids = await add('attest', 'interactive', 2)
      for (const id of ids) await on.dispatcher.dispatchOne('attest', id)
      await on.dispatcher.dispatch('attest')
      ended.push(...(await end()))
    }
    expect(ended.filter((priority) => priority === 1).length).toBeGreaterThanOrEqual(
      Math.floor(ended.length / BULK_EVERY),
    )
  })

  it('leave an interactive job that a caller waits for its turn at once, while they have their part', async () => {
    await addWorker('attest', 20)
    await add('attest', 'bulk', 100)
    await on.dispatcher.dispatch('attest')
    const [id = ''] = await add('attest', 'interactive', 1)
    await on.dispatcher.dispatchOne('attest', id)
    expect(await on.database.owner('SELECT state FROM jobs WHERE id = $1', [id])).toEqual([{ state: 'dispatched' }])
  })

  it('end in a worker whose interactive jobs never do', async () => {
    const LINES = 6
    const done = { interactive: 0, bulk: 0 }
    const lines = new Set(await add('attest', 'bulk', LINES))
    await add('attest', 'interactive', 30)
    const worker = await on.start(
      async (job) => {
        const outcome = await on.settleNow(job)
        if (lines.has(job.id)) done.bulk += 1
        else {
          done.interactive += 1
          // Another one takes its place, and asks to be dispatched first.
          const [id = ''] = await add('attest', 'interactive', 1)
          await on.dispatcher.dispatchOne('attest', id)
        }
        return outcome
      },
      { concurrency: 2 },
    )
    try {
      await until(async () => {
        await on.dispatcher.dispatch('attest')
        return done.bulk === LINES
      })
      // Some were dispatched ahead.
      expect(done.interactive).toBeLessThanOrEqual((LINES + 2) * BULK_EVERY)
    } finally {
      await worker.close(5_000)
    }
  })
})
