// A host that vanishes leaves connections on which nothing arrives, not even a reset, while new ones reach its successor.

import { randomBytes, randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { createEngine, type Engine, type Producer } from '#src/platform/jobs/bull.ts'
import { createSharedBuckets } from '#src/platform/limits/shared-buckets.ts'
import { type Relay, startRelay } from '../../../faults/proxy.ts'
import { createTestDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const redisUrl = inject('redisUrl') ?? ''

describe.skipIf(redisUrl === '')('connections to a Redis whose host vanished', () => {
  let relay: Relay
  let url: string
  let prefix: string
  let engine: Engine

  beforeEach(async () => {
    relay = await startRelay([Number(new URL(redisUrl).port)])
    const through = new URL(redisUrl)
    through.port = String(relay.port)
    url = through.href
    prefix = `t${randomBytes(4).toString('hex')}`
    engine = createEngine({ redisUrl: url, prefix, waits: { idleSeconds: 1, answerMs: 500 } })
  })
  afterEach(async () => {
    await engine?.close()
    relay?.close()
  })

  const add = () => addTo(engine.producer('attest'))

  it('are replaced for producers and for workers', async () => {
    const seen = new Set<string>()
    const consumer = engine.consume('attest', {
      concurrency: 2,
      async process(tickets) {
        for (const { id } of tickets) seen.add(id)
      },
      onError() {},
      onForgotten() {},
    })
    const before = await add()
    await until(() => seen.has(before))
    relay.abandon()
    const after = await add()
    await until(() => seen.has(after), { timeoutMs: 30_000, what: 'a job after the loss' })
    await consumer.close()
  })

  it('are told from those of a worker for which Redis has no jobs', async () => {
    const redis = new Redis(redisUrl)
    const errors: Error[] = []
    const seen = new Set<string>()
    const consumer = engine.consume('attest', {
      concurrency: 1,
      async process(tickets) {
        for (const { id } of tickets) seen.add(id)
      },
      onError: (error) => void errors.push(error),
      onForgotten() {},
    })
    try {
      const first = await add()
      await until(() => seen.has(first))
      // Older than the time for an answer (1.5 s) although nothing but the ends of its waits arrived.
      const isOld = (client: string) =>
        client.includes(`name=${prefix}:`) && Number(/ age=(\d+)/.exec(client)?.[1]) >= 4
      await until(
        async () =>
          String(await redis.client('LIST'))
            .split('\n')
            .some(isOld),
        { what: 'an old connection' },
      )
      expect(errors).toEqual([])
      const second = await add()
      await until(() => seen.has(second))
    } finally {
      await consumer.close()
      redis.disconnect()
    }
  })

  it('are replaced for the buckets that processes share', async () => {
    const shared = createSharedBuckets({ redisUrl: url, prefix, timeoutMs: 100 })
    try {
      await shared.connect()
      await until(() => shared.isHere())
      relay.abandon()
      await until(async () => !(await shared.take('key', { perSecond: 1, burst: 1 }, NEED_ONE).then(...HERE)))
      await until(() => shared.isHere(), { timeoutMs: 30_000, what: 'the successor' })
    } finally {
      shared.close()
    }
  })
})

describe('connections of the engine on Postgres to a host that vanished', () => {
  it('are replaced for producers and for workers', async () => {
    const database = await createTestDatabase()
    const relay = await startRelay([Number(new URL(database.url).port)])
    const url = new URL(database.url)
    url.host = `127.0.0.1:${relay.port}`
    url.search = ''
    const engine = createEngine({ databaseUrl: url.href, waits: { idleSeconds: 1, answerMs: 500 } })
    const producer = engine.producer('attest')
    const seen = new Set<string>()
    const consumer = engine.consume('attest', {
      concurrency: 2,
      async process(tickets) {
        for (const { id } of tickets) seen.add(id)
      },
      onError() {},
      onForgotten() {},
    })
    try {
      const before = await addTo(producer)
      await until(() => seen.has(before))
      // A connection that is lost while BullMQ begins to listen on it waits for the kernel. Between two of its statements all
      // connections are idle for a moment.
      const isListening = async () =>
        (
          await database.owner(
            `SELECT 1 AS one FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'countersign engine'
             HAVING bool_and(state = 'idle' AND state_change < clock_timestamp() - interval '0.1 s')`,
          )
        ).length === 1
      await until(isListening, { timeoutMs: 30_000, what: 'an idle worker' })
      relay.abandon()
      const after = await addTo(producer)
      await until(() => seen.has(after), { timeoutMs: 30_000, what: 'a job after the loss' })
    } finally {
      relay.close()
      await consumer.close()
      await engine.close()
      await database.close()
    }
  })
})

/** Adds a job, as often as it takes. */
async function addTo(producer: Producer): Promise<string> {
  const id = randomUUID()
  const tickets = [{ id, dispatches: 1, account: 'acc_a' }] as const
  const isStored = async () => (await producer.add([{ tickets, priority: 1 }])).stored.has(id)
  await until(isStored, { timeoutMs: 30_000, what: 'an add' })
  return id
}

const NEED_ONE = { need: 1, extra: 0, back: 0 }
const HERE = [() => true, () => false] as const
