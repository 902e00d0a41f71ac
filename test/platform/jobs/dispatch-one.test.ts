import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { createEngine, type Engine } from '#src/platform/jobs/bull.ts'
import { createDispatcher, type Dispatcher } from '#src/platform/jobs/dispatch.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'

describe('a job whose caller waits', () => {
  let database: TestDatabase
  let scope: Scope
  let engine: Engine
  let dispatcher: Dispatcher

  beforeAll(async () => {
    database = await createTestDatabase()
    scope = await makeAccount(database)
    engine = createEngine({ databaseUrl: database.url })
    dispatcher = createDispatcher({ db: database.db, engine, log: pino({ level: 'silent' }) })
  })
  afterEach(() => database.owner('TRUNCATE jobs, workers, queues CASCADE'))
  afterAll(async () => {
    await dispatcher?.close()
    await engine?.close()
    await database?.close()
  })

  const addWorker = (concurrency: number) =>
    database.owner(`INSERT INTO workers (id, queue, concurrency) VALUES ($1, 'attest', $2)`, [
      randomUUID(),
      concurrency,
    ])
  async function dispatchNew(delayMs = 0): Promise<{ id: string; state: string; dispatches: number }> {
    const [id = ''] = await database.db.tenant(scope, (tx) =>
      enqueue(tx, 'attest', scope, [{ payload: { attestationId: randomUUID() }, delayMs }]),
    )
    await dispatcher.dispatchOne('attest', id)
    const [row] = await database.owner<{ id: string; state: string; dispatches: number }>(
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
      expect(await engine.producer('attest').held([{ id, dispatches }])).toEqual(new Set([id]))
    }
    expect(await dispatchNew()).toMatchObject({ state: 'queued', dispatches: 0 })
  })

  it('stays queued without a worker, in a paused queue, and before it is due', async () => {
    // Twice: the second time the statement is prepared.
    for (let time = 0; time < 2; time += 1) {
      expect(await dispatchNew()).toMatchObject({ state: 'queued' })
      await addWorker(8)
      expect(await dispatchNew(60_000)).toMatchObject({ state: 'queued' })
      await database.owner(`INSERT INTO queues (queue, paused_at) VALUES ('attest', now())`)
      expect(await dispatchNew()).toMatchObject({ state: 'queued' })
      await database.owner('DELETE FROM queues')
      expect(await dispatchNew()).toMatchObject({ state: 'dispatched' })
      await database.owner('DELETE FROM workers')
    }
  })

  it('is dispatched once, however often it is asked for', async () => {
    await addWorker(8)
    const { id } = await dispatchNew()
    await Promise.all([dispatcher.dispatchOne('attest', id), dispatcher.dispatchOne('attest', id)])
    expect(await database.owner('SELECT dispatches FROM jobs WHERE id = $1', [id])).toEqual([{ dispatches: 1 }])
  })
})
