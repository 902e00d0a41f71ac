import { randomBytes, randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import pino from 'pino'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Scope } from '#src/platform/ids.ts'
import { enqueue, type NewJob } from '#src/platform/jobs/backlog.ts'
import { createEngine, type Engine } from '#src/platform/jobs/bull.ts'
import { startWorker, type Worker } from '#src/platform/jobs/consume.ts'
import { createDispatcher, type Dispatcher } from '#src/platform/jobs/dispatch.ts'
import { createJobMetrics } from '#src/platform/jobs/metrics.ts'
import { createWaiters } from '#src/platform/jobs/waiters.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const redisUrl = inject('redisUrl') ?? ''
const log = pino({ level: 'silent' })

describe.skipIf(redisUrl === '')('ended jobs on the channel of Redis', () => {
  const prefix = `t${randomBytes(4).toString('hex')}`
  const channel = `${prefix}:settled`
  const seen = new Set<string>()
  let database: TestDatabase
  let scope: Scope
  let engine: Engine
  let dispatcher: Dispatcher
  let worker: Worker
  let web: Engine

  beforeAll(async () => {
    database = await createTestDatabase()
    scope = await makeAccount(database)
    engine = createEngine({ redisUrl, prefix })
    web = createEngine({ redisUrl, prefix })
    dispatcher = createDispatcher({ db: database.db, engine, log })
    worker = await startWorker({
      queue: 'attest',
      work: {
        run: async (_, { attempt }) => (attempt === 1 ? { kind: 'done' } : { kind: 'dead', error: 'test' }),
        onDead: async () => {},
        onRedrive: async () => {},
      },
      db: database.db,
      engine,
      log,
      metrics: createJobMetrics(new Registry()),
    })
    web.settled.subscribe((ids) => {
      for (const id of ids) seen.add(id)
    })
    const probe = randomUUID()
    await until(() => {
      engine.settled.publish(probe)
      return seen.has(probe)
    })
  })
  afterAll(async () => {
    await worker?.close(5_000)
    await dispatcher?.close()
    await Promise.all([engine?.close(), web?.close()])
    await database?.close()
  })

  async function run(job: Partial<NewJob<'attest'>>): Promise<string> {
    const [id = ''] = await database.db.tenant(scope, (tx) =>
      enqueue(tx, 'attest', scope, [{ payload: { attestationId: randomUUID() }, ...job }]),
    )
    await until(async () => {
      await dispatcher.dispatch('attest')
      const [row] = await database.owner<{ state: string }>('SELECT state FROM jobs WHERE id = $1', [id])
      return row?.state === 'succeeded'
    })
    return id
  }

  it('are those that a caller may wait for: interactive, not bulk', async () => {
    const bulk = await run({ priority: 'bulk' })
    const interactive = await run({ priority: 'interactive' })
    await until(() => seen.has(interactive))
    expect(seen.has(bulk)).toBe(false)
  })

  it('wake the caller, who is not woken by a false or malformed message', async () => {
    const waiters = createWaiters({ db: database.db, reports: web.settled })
    const id = randomUUID()
    let isAwake = false
    const waiting = waiters.settled(id, 60_000).finally(() => {
      isAwake = true
    })
    const forger = new Redis(redisUrl)
    for (const message of ['', ' ', id, `${id} ${id}`, `${id} `.repeat(10_000), '\u0000'.repeat(100), '{"id":1}'])
      await forger.publish(channel, message)
    forger.disconnect()
    const probe = randomUUID()
    await until(() => {
      engine.settled.publish(probe)
      return seen.has(probe)
    })
    expect(isAwake).toBe(false)
    expect(await run({ id })).toBe(id)
    expect(await waiting).toBe(true)
    waiters.close()
  })

  it('are lost without harm while Redis is away', async () => {
    const away = createEngine({ redisUrl: 'redis://127.0.0.1:1', prefix })
    away.settled.subscribe(() => {})
    away.settled.publish(randomUUID())
    const waiters = createWaiters({ db: database.db, reports: away.settled })
    const id = randomUUID()
    const waiting = waiters.settled(id, 60_000)
    await run({ id })
    expect(await waiting).toBe(true)
    waiters.close()
    await away.close()
  })
})
