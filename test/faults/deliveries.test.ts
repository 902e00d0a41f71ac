// The worker of deliveries dies in the middle of its calls, the engine loses everything, Postgres ends every connection,
// and receivers misbehave. After each: every event came to every endpoint, every signature is valid, and what came more
// often than it had to is counted.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { emitMany } from '#src/account/webhooks/emit.ts'
import { checkDeliveries, countDuplicates, type DeliveryEvidence } from '../../faults/check-deliveries.ts'
import type { Acknowledged, Endpoint, Received } from '../../faults/journal.ts'
import { escalated } from '../account/webhooks/fixture.ts'
import { actingIn } from '../support/callers.ts'
import { testedEngines } from '../support/engines.ts'
import { makeServices } from '../support/services.ts'
import { type System, startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'

const EVENTS = 60
const GIB = 2 ** 30
const HOSTILE = ['reset', 'huge', 'drip']
const redisUrl = inject('redisUrl')
const engine = testedEngines().includes('redis') ? 'redis' : 'postgres'
// A database of Redis of its own: other test files use the same server.
const ownRedis = `${redisUrl}/8`

let system: System
let services: ReturnType<typeof makeServices>
let receivers: Awaited<ReturnType<typeof startReceivers>>
const endpoints: Endpoint[] = []

beforeAll(async () => {
  const MASTER_KEY = randomBytes(32).toString('base64')
  receivers = await startReceivers()
  system = await startSystem({
    engine,
    only: ['dispatch', 'deliver'],
    environment: { MASTER_KEY, WEBHOOK_TIME_DIVISOR: '1000', ...(redisUrl === null ? {} : { REDIS_URL: ownRedis }) },
  })
  services = makeServices({ db: system.database.db }, { MASTER_KEY, OUTBOUND_ALLOW: '127.0.0.1' })
  await register('good')
})
afterAll(async () => {
  receivers?.close()
  await system?.close()
  await services?.close()
})

async function register(receiver: string): Promise<void> {
  const eventTypes = ['claim.escalated']
  const url = `http://127.0.0.1:${receivers.port}/${receiver}`
  const { endpoint, secret } = await services.account.webhooks.create(actingIn(system.scope), { url, eventTypes })
  const { accountId, environment } = system.scope
  endpoints.push({
    kind: 'endpoint',
    at: 0,
    accountId,
    environment,
    endpointId: endpoint.id,
    receiver,
    secret,
    eventTypes,
  })
}

/** Receivers that record, by the path. Those with a bad manner behave so at their first calls, and then well. */
async function startReceivers() {
  const received: Received[] = []
  const acknowledged: Acknowledged[] = []
  const held: (() => void)[] = []
  const calls = new Map<string, number>()
  const sockets = new Set<Socket>()
  const state = { isHolding: false, sentBytes: 0 }
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const receiver = request.url?.slice(1) ?? ''
    const n = received.length
    const headers = request.headers as Record<string, string>
    received.push({ kind: 'received', n, at: Date.now(), receiver, headers, body: Buffer.concat(chunks).toString() })
    const acknowledge = (status: number) => acknowledged.push({ kind: 'acknowledged', n, at: Date.now(), status })
    const turn = (calls.get(receiver) ?? 0) + 1
    calls.set(receiver, turn)
    const answer = () => response.writeHead(204).end(() => acknowledge(204))
    if (state.isHolding && receiver === 'good') held.push(answer)
    else if (turn > 3 || receiver === 'good') answer()
    else if (receiver === 'reset') reset(response, acknowledge)
    else if (receiver === 'huge') void flood(response, state, acknowledge)
    else drip(response)
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    received,
    acknowledged,
    held,
    state,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

type Acknowledge = (status: number) => unknown

function reset(response: ServerResponse, acknowledge: Acknowledge): void {
  response.writeHead(200, { 'content-length': '100' })
  response.write('half', () => {
    acknowledge(200)
    setTimeout(() => response.socket?.resetAndDestroy(), 100)
  })
}

async function flood(response: ServerResponse, state: { sentBytes: number }, acknowledge: Acknowledge): Promise<void> {
  response.writeHead(200, { 'content-length': String(GIB) })
  acknowledge(200)
  const chunk = Buffer.alloc(64 * 1_024, 'a')
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  for (let sent = 0; sent < GIB && !response.destroyed; sent += chunk.length) {
    state.sentBytes += chunk.length
    if (!response.write(chunk)) await once(response, 'drain', gone).catch(() => {})
  }
}

// No status ever comes to its end.
function drip(response: ServerResponse): void {
  const { socket } = response
  let sent = 0
  const timer = setInterval(() => socket?.write('HTTP/1.1 200 OK\r\nx: '[sent++] ?? 'a'), 1_000)
  socket?.on('close', () => clearInterval(timer))
}

const emit = async (count: number) => {
  for (let emitted = 0; emitted < count; emitted += 10) {
    const events = Array.from({ length: 10 }, (_, index) => escalated(`clm_test_${index}`))
    await system.database.db.tenant(system.scope, (tx) => emitMany(tx, system.scope, events))
  }
}
const untilDone = () =>
  until(
    async () =>
      (
        await system.database.owner(
          `SELECT FROM jobs WHERE queue = 'deliver' AND state IN ('queued', 'dispatched') LIMIT 1`,
        )
      ).length === 0,
    { everyMs: 100, what: 'every delivery has ended' },
  )

/** What came to some receivers, for the events since one: an endpoint gets those after its registration. */
async function readEvidence(names: readonly string[], since = ''): Promise<DeliveryEvidence> {
  const { accountId, environment } = system.scope
  const scope = `${accountId} ${environment}`
  const events = await system.database.owner<{ id: string; type: string; data: Record<string, unknown> }>(
    'SELECT id, type, data FROM events WHERE id > $1',
    [since],
  )
  const deliveries = await system.database.owner<DeliveryEvidence['deliveries'][number]>(
    `SELECT id, event_id AS "eventId", endpoint_id AS "endpointId", status, attempts, job_id AS "jobId" FROM deliveries
     WHERE event_id > $1`,
    [since],
  )
  return {
    events: events.map((event) => ({ ...event, scope })),
    deliveries: deliveries.map((delivery) => ({ ...delivery, scope })),
    endpoints: endpoints.filter(({ receiver }) => names.includes(receiver)),
    received: receivers.received.filter(
      ({ receiver, headers }) => names.includes(receiver) && (headers['service-event-id'] ?? '') > since,
    ),
    acknowledged: receivers.acknowledged,
  }
}

/** Nothing is lost or forged; prints the duplicates of everything so far. */
async function requireAll(what: string, names: readonly string[], since?: string): Promise<number> {
  await untilDone()
  const evidence = await readEvidence(names, since)
  expect(checkDeliveries(evidence)).toEqual([])
  expect(new Set(evidence.deliveries.map(({ status }) => status))).toEqual(new Set(['delivered']))
  const { taken, duplicates } = countDuplicates(evidence)
  const calls = evidence.received.length
  process.stdout.write(`${what}: ${calls} calls, ${taken} deliveries taken, ${duplicates} of them came again\n`)
  expect(taken).toBe(evidence.events.length * names.length)
  return duplicates
}

const lastEvent = async () => (await system.database.owner<{ id: string }>('SELECT max(id) AS id FROM events'))[0]?.id

it('no delivery is lost to a SIGKILL of the worker in calls, or to receivers that reset, send 1 GiB or a byte a second', async () => {
  receivers.state.isHolding = true
  await emit(EVENTS)
  await until(() => receivers.held.length >= 4, { what: 'calls hang' })
  system.supervisor.children.get('deliver')?.kill('SIGKILL')
  await until(() => system.warnings.some((line) => /deliver ended with SIGKILL/.test(line)))
  receivers.state.isHolding = false
  // To a worker that no longer exists.
  for (const answer of receivers.held.splice(0)) answer()
  // While the lost calls wait for their leases to lapse.
  const since = await lastEvent()
  for (const name of HOSTILE) await register(name)
  await emit(10)
  // At most what was in flight to the endpoint.
  expect(await requireAll('SIGKILL in calls', ['good'])).toBeLessThanOrEqual(8)
  expect(await requireAll('hostile receivers', HOSTILE, since)).toBe(0)
  // Three answers were begun; each ended soon after its first 16 KiB.
  expect(receivers.state.sentBytes).toBeLessThan(64 * 2 ** 20)
})

it('nothing is lost when the engine loses everything, and nothing comes twice', async () => {
  const since = await lastEvent()
  const emitted = emit(EVENTS)
  if (redisUrl !== null) {
    const redis = new Redis(ownRedis)
    await redis.flushdb()
    await emitted
    await redis.flushdb()
    redis.disconnect()
  }
  await emitted
  expect(await requireAll('engine loss', ['good', ...HOSTILE], since)).toBe(0)
})

it('nothing is lost when Postgres ends every connection', async () => {
  const since = await lastEvent()
  await emit(EVENTS)
  const end = () =>
    system.database.owner(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND usename <> current_user AND backend_type = 'client backend'`,
    )
  // The processes come back between two times.
  for (let time = 0; time < 3; time += 1) await until(async () => (await end()).length > 0)
  await requireAll('Postgres connections lost', ['good', ...HOSTILE], since)
})
