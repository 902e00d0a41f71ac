import { Registry } from 'prom-client'
import { afterEach, describe, expect, it } from 'vitest'
import { createInternalApp } from '#src/platform/http/internal.ts'
import { type Listening, listen } from '#src/platform/http/server.ts'
import { call, callRaw, startApp, type TestApp } from '../../support/http.ts'

const open: (TestApp | Listening)[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close(500)))
})

describe('the internal port', () => {
  async function startInternal(checks: Parameters<typeof createInternalApp>[0]['checks']) {
    const registry = new Registry()
    const failed: string[] = []
    const app = createInternalApp({
      checks,
      registry,
      onFailedCheck: (name) => void failed.push(name),
      checkTimeoutMs: 100,
      hosts: ['Metrics.Internal'],
    })
    const listening = await listen(app, { port: 0, host: '127.0.0.1' })
    open.push(listening)
    return { ...listening, failed }
  }

  it('is ready when every check passes', async () => {
    const app = await startInternal({ postgres: async () => 1, redis: async () => undefined })
    expect((await call(app, '/health/ready')).json).toEqual({ status: 'ready' })
    expect((await call(app, '/metrics')).status).toBe(200)
    expect((await call(app, '/')).status).toBe(404)
    expect((await call(app, '/metrics', { method: 'POST' })).status).toBe(405)
  })

  it.each([
    [200, ['127.0.0.1', '127.0.0.1:9090', '10.2.3.4:9090', '[::1]:9090', '[fd00::7]']],
    [
      200,
      ['localhost', 'LOCALHOST:9090', 'localhost.', 'app.localhost:1', 'metrics.internal', 'metrics.internal:9090'],
    ],
    [421, ['rebound.example', 'localhost.example', 'internal', 'web:9090', '127.0.0.1.example', '[::1].example']],
    [421, ['127.0.0.1@evil.example', 'evil.example#@127.0.0.1', '1', '[]', '']],
  ])('answers %i under %s', async (status, hosts) => {
    const app = await startInternal({})
    for (const host of hosts) {
      const text = await callRaw(app, `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
      expect({ host, status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]) }).toEqual({ host, status })
    }
  })

  it('names the checks that fail or hang', async () => {
    const app = await startInternal({
      postgres: async () => {
        throw new Error('down')
      },
      redis: () => new Promise(() => {}),
      disk: async () => true,
    })
    const { status, json } = await call(app, '/health/ready')
    expect([status, json]).toEqual([503, { status: 'unavailable', failed: ['postgres', 'redis'] }])
    expect(app.failed.sort()).toEqual(['postgres', 'redis'])
  })

  it('is not on the public port', async () => {
    const app = await startApp([])
    open.push(app)
    expect((await call(app, '/metrics')).status).toBe(404)
    expect((await call(app, '/health/ready')).status).toBe(404)
  })
})
