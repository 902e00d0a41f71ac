import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { type Dispatching, startDispatching } from '../../support/engines.ts'

describe('a job whose caller waits', () => {
  let on: Dispatching

  beforeAll(async () => {
    on = await startDispatching('postgres')
  })
  afterEach(() => on.database.owner('TRUNCATE jobs, workers, queues CASCADE'))
  afterAll(() => on?.close())

  const addWorker = (concurrency: number) =>
    on.database.owner(`INSERT INTO workers (id, queue, concurrency) VALUES ($1, 'attest', $2)`, [
      randomUUID(),
      concurrency,
    ])
  async function dispatchNew(delayMs = 0): Promise<{ id: string; state: string; dispatches: number }> {
    const [id = ''] = await on.database.db.tenant(on.scope, (tx) =>
      enqueue(tx, 'attest', on.scope, [{ payload: { attestationId: randomUUID() }, delayMs }]),
    )
    await on.dispatcher.dispatchOne('attest', id)
    const [row] = await on.database.owner<{ id: string; state: string; dispatches: number }>(
      'SELECT id, state, dispatches FROM jobs WHERE id = $1',
      [id],
    )
    if (row === undefined) throw new Error('the job is gone')
    return row
  }

  it('is in the engine at once, as often as the window has room', async () => {
    await addWorker(2)
    for (let count = 0; count < 4; count += 1) {
      const { id, state, dispatches } = await dispatchNew()
      expect(state).toBe('dispatched')
      expect(await on.engine.producer('attest').held([{ id, dispatches }])).toEqual(new Set([id]))
    }
    expect(await dispatchNew()).toMatchObject({ state: 'queued', dispatches: 0 })
  })

  it('stays queued without a worker, in a paused queue, and before it is due', async () => {
    // Twice: the second time the statement is prepared.
    for (let time = 0; time < 2; time += 1) {
      expect(await dispatchNew()).toMatchObject({ state: 'queued' })
      await addWorker(8)
      expect(await dispatchNew(60_000)).toMatchObject({ state: 'queued' })
      await on.database.owner(`INSERT INTO queues (queue, paused_at) VALUES ('attest', now())`)
      expect(await dispatchNew()).toMatchObject({ state: 'queued' })
      await on.database.owner('DELETE FROM queues')
      expect(await dispatchNew()).toMatchObject({ state: 'dispatched' })
      await on.database.owner('DELETE FROM workers')
    }
  })

  it('is dispatched once, however often it is asked for', async () => {
    await addWorker(8)
    const { id } = await dispatchNew()
    await Promise.all([on.dispatcher.dispatchOne('attest', id), on.dispatcher.dispatchOne('attest', id)])
    expect(await on.database.owner('SELECT dispatches FROM jobs WHERE id = $1', [id])).toEqual([{ dispatches: 1 }])
  })
})
