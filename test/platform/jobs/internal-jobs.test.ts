import { randomUUID } from 'node:crypto'
import pino from 'pino'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { QUEUE_NAMES, type QueueName } from '#src/catalogue/queues.ts'
import { createInternalApp } from '#src/platform/http/internal.ts'
import { type Listening, listen } from '#src/platform/http/server.ts'
import type { Scope } from '#src/platform/ids.ts'
import { enqueue, renew } from '#src/platform/jobs/backlog.ts'
import type { Work } from '#src/platform/jobs/consume.ts'
import { createInternalJobs } from '#src/platform/jobs/internal-jobs.ts'
import { listJobs } from '#src/platform/jobs/operate.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { call, startApp } from '../../support/http.ts'

const PASSWORD = 'correct horse battery'
const AUTHORIZED = { Authorization: `Basic ${Buffer.from(`operator:${PASSWORD}`).toString('base64')}` }

describe('the queues as JSON on the internal port', () => {
  let test: TestDatabase
  let scope: Scope
  let open: Listening
  let guarded: Listening
  const logged: Record<string, unknown>[] = []
  const told: string[] = []

  beforeAll(async () => {
    test = await createTestDatabase()
    scope = await makeAccount(test)
    open = await serve(undefined)
    guarded = await serve(PASSWORD)
  })
  afterAll(async () => {
    await open?.close(100)
    await guarded?.close(100)
    await test?.close()
  })

  function serve(password: string | undefined): Promise<Listening> {
    const log = pino({ base: null }, { write: (line: string) => void logged.push(JSON.parse(line)) })
    const work = {
      run: async () => ({ kind: 'settled' as const }),
      onDead: async () => {},
      onRedrive: async (_tx: unknown, _scope: Scope, payload: object) => void told.push(JSON.stringify(payload)),
    }
    const workOf = <Q extends QueueName>() => work as Work<Q>
    const parts = [createInternalJobs({ db: test.db, password, log, workOf })]
    const app = createInternalApp({ checks: {}, registry: new Registry(), parts })
    return listen(app, { port: 0, host: '127.0.0.1' })
  }

  async function makeDead(count: number): Promise<string[]> {
    const jobs = Array.from({ length: count }, () => ({ payload: { attestationId: randomUUID() } }))
    const ids = await test.db.tenant(scope, (tx) => enqueue(tx, 'attest', scope, jobs))
    await test.owner(`UPDATE jobs SET state = 'dead', attempts = 8, last_error = 'broke' WHERE id = ANY($1::uuid[])`, [
      ids,
    ])
    return ids
  }

  it('shows every queue and the workers that are alive, with no password where none is set', async () => {
    const id = randomUUID()
    await renew(test.db, { id, queue: 'attest', concurrency: 5, isLeaving: false }, [])
    await makeDead(1)
    const { status, json } = await call(open, '/jobs')
    const queues = json.queues as Record<string, unknown>[]
    expect([status, queues.map(({ queue }) => queue)]).toEqual([200, QUEUE_NAMES])
    expect(queues.find(({ queue }) => queue === 'attest')).toEqual({
      queue: 'attest',
      status: 'running',
      paused_at: null,
      workers: 1,
      slots: 5,
      due: 0,
      later: 0,
      in_flight: 0,
      dead: 1,
      oldest_due_seconds: null,
    })
    expect(json.workers).toEqual([{ worker_id: id, kind: 'attest', slots: 5, heartbeat_at: expect.any(String) }])
  })

  it('lists dead jobs page by page, newest first, with the password alone', async () => {
    const ids = await makeDead(3)
    const read = async (query: string) => {
      const { status, json } = await call(guarded, `/jobs/dead?queue=attest${query}`, { headers: AUTHORIZED })
      return { status, json, data: (json.data ?? []) as Record<string, unknown>[] }
    }
    const first = await read('&limit=2')
    expect([first.data.length, first.json.has_more]).toEqual([2, true])
    const rest = await read(`&cursor=${first.json.next_cursor}`)
    expect([rest.json.has_more, rest.json.next_cursor]).toEqual([false, null])
    const shown = [...first.data, ...rest.data].map(({ job_id }) => job_id)
    expect(shown).toEqual(expect.arrayContaining(ids))
    expect(new Set(shown).size).toBe(shown.length)
    expect(first.data[0]).toEqual({
      job_id: expect.any(String),
      queue: 'attest',
      account_id: scope.accountId,
      environment: scope.environment,
      payload: { attestationId: expect.any(String) },
      attempts: 8,
      last_error: 'broke',
      created_at: expect.any(String),
    })
    for (const wrong of ['&limit=0', '&limit=x', '&cursor=x']) expect((await read(wrong)).status).toBe(400)
    expect((await call(guarded, '/jobs/dead?queue=none', { headers: AUTHORIZED })).status).toBe(400)
  })

  it('redrives a dead job once, however many ask at the same time, and logs it', async () => {
    const [id = ''] = await makeDead(1)
    const ask = () => call(guarded, `/jobs/dead/${id}/redrive`, { method: 'POST', headers: AUTHORIZED })
    logged.length = 0
    told.length = 0
    const answers = await Promise.all(Array.from({ length: 4 }, ask))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
    expect(answers.find(({ status }) => status === 200)?.json).toEqual({ job_id: id, queue: 'attest', redriven: true })
    expect(told).toHaveLength(1)
    expect(logged).toMatchObject([{ act: 'jobs redrive', job: id, queue: 'attest', account: scope.accountId }])
    expect(await listJobs(test.db, { id, limit: 1 })).toMatchObject([{ state: 'queued', attempts: 0 }])
  })

  it('redrives nothing for another page, another method, another address, or without the password', async () => {
    const [id = ''] = await makeDead(1)
    const path = `/jobs/dead/${id}/redrive`
    const statusOf = async (app: Listening, to: string, method: string, headers = {}) =>
      (await call(app, to, { method, headers })).status
    expect(await statusOf(open, path, 'POST')).toBe(403)
    expect(await statusOf(open, '/jobs/dead', 'GET')).toBe(403)
    for (const [to, method] of [
      [path, 'POST'],
      ['/jobs/dead', 'GET'],
      ['/jobs', 'GET'],
      ['/jobs/none', 'GET'],
    ] as const) {
      expect(await statusOf(guarded, to, method), to).toBe(401)
    }
    for (const more of [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }]) {
      expect(await statusOf(guarded, path, 'POST', { ...AUTHORIZED, ...more })).toBe(403)
    }
    for (const [to, method, status] of [
      [path, 'GET', 405],
      [path, 'DELETE', 405],
      ['/jobs', 'POST', 405],
      ['/jobs/dead', 'POST', 405],
      ['/jobs/none', 'GET', 404],
      [`/jobs/dead/${randomUUID()}/redrive`, 'POST', 404],
      ['/jobs/dead/x/redrive', 'POST', 404],
    ] as const) {
      expect(await statusOf(guarded, to, method, AUTHORIZED), `${method} ${to}`).toBe(status)
    }
    expect(await listJobs(test.db, { id, limit: 1 })).toMatchObject([{ state: 'dead' }])
  })

  it('is not on the public port, and not under the name of another host', async () => {
    const app = await startApp([])
    try {
      for (const path of ['/jobs', '/jobs/dead', `/jobs/dead/${randomUUID()}/redrive`]) {
        for (const method of ['GET', 'POST']) {
          expect((await call(app, path, { method, headers: AUTHORIZED })).status).toBe(404)
          const foreign = await call(guarded, path, { method, headers: { ...AUTHORIZED, Host: 'rebound.example' } })
          expect(foreign.status).toBe(421)
        }
      }
    } finally {
      await app.close()
    }
  })
})
