import { randomUUID } from 'node:crypto'
import { appRoutes } from '@bull-board/api/dist/routes.js'
import pino from 'pino'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { QUEUE_NAMES } from '#src/catalogue/queues.ts'
import { createInternalApp } from '#src/platform/http/internal.ts'
import { type Listening, listen } from '#src/platform/http/server.ts'
import { createBoard } from '#src/platform/jobs/board.ts'
import type { Engine } from '#src/platform/jobs/bull.ts'
import { readQueues } from '#src/platform/jobs/metrics.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { makeEngine, testedEngines } from '../../support/engines.ts'
import { call, callRaw } from '../../support/http.ts'
import { until } from '../../support/until.ts'

const PASSWORD = 'correct horse battery'
const basic = (password: string) => ({
  Authorization: `Basic ${Buffer.from(`operator:${password}`).toString('base64')}`,
})

describe.each(testedEngines())('the board on %s', (kind) => {
  let test: TestDatabase
  let engine: Engine
  let open: Listening
  let guarded: Listening
  let enginesAskedFor = 0
  const logged: Record<string, unknown>[] = []
  const id = randomUUID()
  const jobId = `attest-${id}-1`

  beforeAll(async () => {
    test = await createTestDatabase()
    engine = makeEngine(kind, test)
    const producer = engine.producer('attest')
    const tickets = [{ id, dispatches: 1, account: 'acc_a' }] as const
    await until(async () => (await producer.add([{ tickets, priority: 1 }])).stored.size === 1)
    await producer.close()
    open = await serve(undefined)
    guarded = await serve(PASSWORD)
  })
  afterAll(async () => {
    await open?.close(100)
    await guarded?.close(100)
    await engine?.close()
    await test?.close()
  })

  function serve(password: string | undefined): Promise<Listening> {
    const log = pino({ base: null }, { write: (line: string) => void logged.push(JSON.parse(line)) })
    const asked = () => {
      enginesAskedFor += 1
      return engine
    }
    const board = createBoard({ db: test.db, engine: asked, password, log })
    const app = createInternalApp({ checks: {}, registry: new Registry(), parts: [board] })
    return listen(app, { port: 0, host: '127.0.0.1' })
  }

  it('does not connect to the engine before the first request', async () => {
    expect((await call(open, '/health/ready')).status).toBe(200)
    expect(enginesAskedFor).toBe(0)
  })

  it('shows what the engine holds: ids and nothing else', async () => {
    const { status, json } = await call(
      open,
      '/queues/api/queues?activeQueue=attest&status=prioritized&page=1&jobsPerPage=10',
    )
    expect(status).toBe(200)
    const queues = json.queues as {
      name: string
      counts: Record<string, number>
      jobs: { id: string; data: object }[]
    }[]
    expect(queues.map(({ name }) => name)).toEqual(QUEUE_NAMES)
    expect(queues[0]).toMatchObject({ counts: { prioritized: 1 }, readOnlyMode: true, isPaused: false })
    expect(queues[0]?.jobs).toMatchObject([{ id: jobId, data: { tickets: [{ id, dispatches: 1 }] } }])
    const job = await call(open, `/queues/api/queues/attest/${jobId}`)
    expect(job.json).toMatchObject({ job: { id: jobId }, status: 'prioritized' })
    expect((await call(open, '/queues/api/redis/stats')).json).toMatchObject({
      backend: kind,
      version: expect.any(String),
    })
  })

  it('answers every request that its page can send', async () => {
    for (const { method, route } of routes().filter(({ method }) => method === 'get')) {
      const answer = await call(open, `/queues${fill(route)}`, { method: method.toUpperCase() })
      expect([200, 404], `${route} ${answer.text}`).toContain(answer.status)
    }
  })

  it('is a page of its own, without outside hosts', async () => {
    for (const path of ['/queues', '/queues/', '/queues/queue/attest']) {
      const page = await call(open, path)
      expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      expect(page.text).toContain('<base href="/queues/"')
      expect(page.text).not.toMatch(/<%|https?:\/\//)
      expect(page.headers['content-security-policy']).toContain("default-src 'self'")
      for (const [, name] of page.text.matchAll(/(?:src|href)="(static\/[^"]+\.(?:js|css))"/g)) {
        const file = await call(open, `/queues/${name}`)
        expect([name, file.status]).toEqual([name, 200])
        expect(file.headers['content-type']).toMatch(/javascript|css/)
      }
    }
  })

  it('serves no other file', async () => {
    for (const path of [
      '../package.json',
      '..%2fpackage.json',
      '%2e%2e/%2e%2e/package.json',
      '/etc/passwd',
      '',
      '%',
      'index.ejs',
    ]) {
      const answer = await callRaw(
        open,
        `GET /queues/static/${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
      )
      expect(answer.split('\r\n')[0], path).toMatch(/ (404|200) /)
      expect(answer, path).not.toMatch(/"version"|root:/)
    }
  })

  it('changes nothing without a password, by any route or method', async () => {
    const before = await readQueues(test.db)
    for (const { method, route } of routes().filter(({ method }) => method !== 'get')) {
      const answer = await call(open, `/queues${fill(route)}`, { method: method.toUpperCase(), json: { force: true } })
      expect([route, answer.status]).toEqual([route, 405])
    }
    for (const method of ['DELETE', 'POST', 'OPTIONS', 'PUT']) {
      for (const path of ['/queues', '/queues/static/x', '/queues/api/queues', '/queues/api/nothing']) {
        expect((await call(open, path, { method, json: {} })).status).toBe(405)
      }
    }
    expect(await readQueues(test.db)).toEqual(before)
    expect((await call(open, `/queues/api/queues/attest/${jobId}`)).status).toBe(200)
  })

  it('requires its configured password for every request', async () => {
    for (const headers of [
      {},
      basic('wrong'),
      basic(''),
      basic(`${PASSWORD} `),
      { Authorization: 'Basic ???' },
      { Authorization: `Bearer ${PASSWORD}` },
    ]) {
      for (const path of ['/queues', '/queues/api/queues', '/queues/static/favicon.ico']) {
        const answer = await call(guarded, path, { headers })
        expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Basic realm="queues"'])
      }
      expect((await call(guarded, '/queues/api/queues/pause', { method: 'PUT', headers })).status).toBe(401)
    }
    expect((await call(guarded, '/queues', { headers: basic(PASSWORD) })).status).toBe(200)
    expect((await call(guarded, '/metrics')).status).toBe(200)
  })

  it('pauses and resumes a queue where dispatch reads it, and logs that', async () => {
    const headers = basic(PASSWORD)
    const put = (path: string, more = {}) =>
      call(guarded, `/queues/api/queues${path}`, { method: 'PUT', headers: { ...headers, ...more } })
    const paused = async () => (await readQueues(test.db)).flatMap(({ queue, isPaused }) => (isPaused ? [queue] : []))
    logged.length = 0
    expect(
      (await put('/attest/pause', { Origin: `http://127.0.0.1:${guarded.port}`, 'Sec-Fetch-Site': 'same-origin' }))
        .status,
    ).toBe(200)
    expect(await paused()).toEqual(['attest'])
    const { json } = await call(guarded, '/queues/api/queues', { headers })
    expect(json.queues).toMatchObject(QUEUE_NAMES.map((name) => ({ name, isPaused: name === 'attest' })))
    expect((await put('/attest/resume')).status).toBe(200)
    expect((await put('/pause')).status).toBe(200)
    expect((await paused()).sort()).toEqual(QUEUE_NAMES.toSorted())
    expect((await put('/resume')).status).toBe(200)
    expect(await paused()).toEqual([])
    expect(logged.map(({ act }) => act)).toEqual([
      'put /api/queues/:queueName/pause',
      'put /api/queues/:queueName/resume',
      'put /api/queues/pause',
      'put /api/queues/resume',
    ])
  })

  it('refuses the password that a browser sends for another page', async () => {
    for (const headers of [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
    ]) {
      const answer = await call(guarded, '/queues/api/queues/pause', {
        method: 'PUT',
        headers: { ...basic(PASSWORD), ...headers },
      })
      expect(answer.status).toBe(405)
    }
    expect((await readQueues(test.db)).some(({ isPaused }) => isPaused)).toBe(false)
  })

  it('does nothing else, also with the password', async () => {
    const acts = routes().filter(({ method, route }) => method !== 'get' && !/\/(pause|resume)$/.test(route))
    expect(acts.length).toBeGreaterThan(15)
    for (const { method, route } of acts) {
      const answer = await call(guarded, `/queues${fill(route)}`, {
        method: method.toUpperCase(),
        headers: basic(PASSWORD),
        json: { force: true },
      })
      expect([route, answer.status]).toEqual([route, 405])
    }
    expect((await call(guarded, `/queues/api/queues/attest/${jobId}`, { headers: basic(PASSWORD) })).status).toBe(200)
  })

  function routes(): { method: string; route: string }[] {
    return appRoutes.api.flatMap(({ method, route }) =>
      [method].flat().flatMap((verb) => [route].flat().map((one) => ({ method: verb, route: one }))),
    )
  }

  function fill(route: string): string {
    return route.replace(':queueName', 'attest').replace(':jobId', jobId).replace(/:\w+/g, 'completed')
  }
})
