import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { makeFleet } from '../support/fleet.ts'
import { slowAvif } from '../support/slow-avif.ts'
import { type System, startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'

// What a loaded machine may add to the end of a process.
const SLACK_MS = 4_000

/** Stops a process of the system by its own child, whose supervisor starts another. How it ended, and after how long. */
async function terminate({ supervisor }: System, name: string) {
  const child = supervisor.children.get(name)
  if (child === undefined) throw new Error(`no ${name} runs`)
  const ended = once(child, 'exit')
  const since = performance.now()
  child.kill('SIGTERM')
  const [code, signal]: (number | string | null)[] = await ended
  return { code, signal, afterMs: performance.now() - since, endedAt: Date.now() }
}

async function idIn(response: Response, name: string): Promise<string> {
  const body: unknown = await response.json()
  if (typeof body !== 'object' || body === null) throw new Error('not an object')
  return String(Reflect.get(body, name))
}

const call = ({ baseUrl, key }: System, path: string, init: RequestInit = {}) =>
  fetch(`${baseUrl}${path}`, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } })

describe('a stopping web process', () => {
  let system: System | undefined
  afterEach(() => system?.close())

  it('reports unready to load balancers while it still accepts, and then stops accepting', async () => {
    const started = await startSystem({
      engine: 'postgres',
      only: ['web'],
      environment: { SHUTDOWN_NOTICE_SECONDS: '4' },
    })
    system = started
    const { baseUrl, supervisor } = started
    const ready = `http://127.0.0.1:${supervisor.internalPorts.web}/health/ready`
    const statusOf = async (url: string) => {
      const response = await fetch(url, { headers: { connection: 'close' } })
      await response.text()
      return response.status
    }
    expect(await statusOf(ready)).toBe(200)

    const child = supervisor.children.get('web')
    const exited = new Promise((done) => child?.once('exit', done))
    const signalledAt = performance.now()
    const stopped = supervisor.stop()
    await until(async () => (await statusOf(ready)) === 503)
    expect(await (await fetch(ready)).json()).toEqual({ status: 'stopping' })
    // Requests that come now are still answered, on new connections too.
    expect(await statusOf(`${baseUrl}/health`)).toBe(200)
    await until(() =>
      statusOf(`${baseUrl}/health`).then(
        () => false,
        () => true,
      ),
    )
    expect(performance.now() - signalledAt).toBeGreaterThan(3_900)
    await Promise.all([stopped, exited])
    expect(child?.exitCode).toBe(0)
  })
})

describe('a process that is stopped while work hangs', () => {
  let system: System | undefined
  const closers: (() => unknown)[] = []
  afterEach(async () => {
    await system?.close()
    for (const closer of closers.splice(0)) closer()
  })

  it('is gone within its deadline, and the delivery whose receiver hangs is sent elsewhere at once', {
    timeout: 90_000,
  }, async () => {
    const hung: ServerResponse[] = []
    const receiver = createServer((req, res) => {
      req.resume()
      // The first call hangs.
      if (hung.push(res) > 1) res.end()
    })
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    closers.push(
      () => receiver.closeAllConnections(),
      () => receiver.close(),
    )
    const { port } = receiver.address() as AddressInfo
    system = await startSystem({
      engine: 'postgres',
      only: ['web', 'dispatch', 'deliver'],
      environment: { SHUTDOWN_SECONDS: '4' },
    })
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ url: `http://127.0.0.1:${port}/`, event_types: ['*'] })
    const made = await call(system, '/v1/webhook-endpoints', { method: 'POST', headers, body })
    const id = await idIn(made, 'webhook_endpoint_id')
    await call(system, `/v1/webhook-endpoints/${id}/test`, { method: 'POST' })
    await until(() => hung.length === 1, { timeoutMs: 30_000 })

    const { database } = system
    const end = await terminate(system, 'deliver')
    expect(end.afterMs).toBeLessThan(4_000 + SLACK_MS)
    expect(end.code).toBe(0)
    expect(await database.owner(`SELECT FROM jobs WHERE queue = 'deliver' AND lease_until IS NOT NULL`)).toHaveLength(0)
    await until(async () => (await database.owner(`SELECT FROM deliveries WHERE status = 'delivered'`)).length === 1, {
      timeoutMs: 15_000,
    })
  })

  it('answers callers that wait for a result, and is gone at once', { timeout: 90_000 }, async () => {
    system = await startSystem({ engine: 'postgres', only: ['web'] })
    const fleet = await makeFleet(system, 1)
    closers.push(() => fleet.client.close())
    const [body] = fleet.bodies
    if (body === undefined) throw new Error('no capture')
    const answer = fleet.client.attest(body, 30)
    const { database } = system
    await until(async () => (await database.owner('SELECT FROM attestations')).length === 1)
    const { code, afterMs } = await terminate(system, 'web')
    expect((await answer).status).toBe('queued')
    expect(code).toBe(0)
    expect(afterMs).toBeLessThan(5_000 + SLACK_MS)
  })

  it('is gone within its deadline while a picture takes seconds to decode', { timeout: 90_000 }, async () => {
    system = await startSystem({ engine: 'postgres', only: ['web'], environment: { SHUTDOWN_SECONDS: '2' } })
    const headers = { 'content-type': 'image/avif' }
    const uploaded = await call(system, '/v1/media', { method: 'POST', headers, body: new Uint8Array(slowAvif(1)) })
    const id = await idIn(uploaded, 'media_id')
    const answer = call(system, `/v1/media/${id}/thumbnail`).then(
      (response) => response.status,
      () => 'closed',
    )
    // Still decoding: a picture of this size takes longer.
    expect(await Promise.race([answer, new Promise((done) => setTimeout(done, 300, 'decoding'))])).toBe('decoding')
    expect((await terminate(system, 'web')).afterMs).toBeLessThan(2_000 + SLACK_MS)
    await answer
  })
})
