// A database that answers late, behind a relay that holds its connections until the test lets them through.

import { createConnection, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { reachPostgres, reachRedis } from '../../commands/reach.ts'
import { createWaits } from '../../commands/waits.ts'
import { until } from '../support/until.ts'

let relay: Awaited<ReturnType<typeof startRelay>>
afterEach(() => relay.close())

async function startRelay(target: { host: string; port: number }) {
  const gate = Promise.withResolvers<void>()
  const sockets = new Set<Socket>()
  const server = createServer(async (socket) => {
    sockets.add(socket.on('error', () => {}))
    await gate.promise
    const onward = createConnection(target)
    sockets.add(onward.on('error', () => {}))
    socket.pipe(onward).pipe(socket)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    held: () => sockets.size,
    open: gate.resolve,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** The URL by way of the relay. */
async function relayed(url: string, usualPort: number): Promise<string> {
  const through = new URL(url)
  relay = await startRelay({ host: '127.0.0.1', port: Number(through.port || usualPort) })
  through.host = `127.0.0.1:${relay.port}`
  through.search = ''
  return through.href
}

const redisUrl = inject('redisUrl')

describe('a store that answers late', () => {
  let lines: string[]
  let end: AbortController
  const makeWaits = () => createWaits({ say: (line) => void lines.push(line), everyMs: 20, signal: end.signal })
  beforeEach(() => {
    lines = []
    end = new AbortController()
  })

  it('Postgres is named and waited for', async () => {
    const reached = reachPostgres('DATABASE_URL', await relayed(inject('postgresUrl'), 5432), { waits: makeWaits() })
    await until(() => lines.length > 20)
    expect(lines.at(-1)).toMatch(/^waiting for DATABASE_URL \(\S+@127\.0\.0\.1:\d+\/\S+\), which has not answered for/)
    relay.open()
    await reached
  })

  it('Postgres is waited for no longer when the start is interrupted', async () => {
    const reached = reachPostgres('DATABASE_URL', await relayed(inject('postgresUrl'), 5432), { waits: makeWaits() })
    const refused = expect(reached).rejects.toBe('Interrupted')
    await until(() => relay.held() > 0)
    end.abort('Interrupted')
    await refused
  })

  it.runIf(redisUrl !== null)('Redis is named and waited for', async () => {
    const engine = { check: async () => {} }
    const reached = reachRedis(engine, await relayed(redisUrl ?? '', 6379), makeWaits())
    await until(() => lines.length > 20)
    expect(lines.at(-1)).toMatch(/^waiting for REDIS_URL \(127\.0\.0\.1:\d+.*\), which has not answered for/)
    relay.open()
    await reached
  })

  it('a store that refuses is an error at once', async () => {
    relay = await startRelay({ host: '127.0.0.1', port: 1 })
    relay.close()
    const url = `postgres://someone@127.0.0.1:${relay.port}/db`
    const reached = reachPostgres('DATABASE_URL', url, { waits: makeWaits() })
    await expect(reached).rejects.toThrow(/^DATABASE_URL \(someone@127\.0\.0\.1:\d+\/db\): nothing listens there/)
  })
})
