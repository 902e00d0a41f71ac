import { connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Failure } from '#src/failure.ts'
import type { KeyRow, SessionRow } from '#src/platform/http/caller.ts'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { watchAccess } from '#src/platform/http/watch-access.ts'
import { cookiesOf, makeKeyRow, startApp, type TestApp } from '../../support/http.ts'
import { until } from '../../support/until.ts'

// A caller that may no longer make a request loses the one that it began.

/** A caller of its own for each test, so that the tests wait beside each other. */
interface Stage {
  secret: string
  key: KeyRow
  session: SessionRow
  opened: number
  closed: number
  handled: number
  release: PromiseWithResolvers<void>
}

const stages: Stage[] = []
let app: TestApp

function stageOf({ accountId }: { accountId: string }): Stage {
  const stage = stages.find(({ key }) => key.accountId === accountId)
  if (stage === undefined) throw new Error(`no stage of ${accountId}`)
  return stage
}

const common = {
  sdk: { none: 'a route of a test' },
  effect: 'write',
  kind: 'call',
  summary: 'x',
  operationId: 'test',
  scope: 'verify',
  permission: 'claims.read',
} as const
const routes: Route[] = [
  endpoint(
    {
      ...common,
      method: 'GET',
      path: '/v1/endless',
      view: z.never(),
      streams: { contentType: 'application/x-ndjson' },
      status: [200],
    },
    async ({ caller }) => {
      const stage = stageOf(caller)
      stage.opened += 1
      const stream = new Readable({
        read() {
          this.push(`${'x'.repeat(65_536)}\n`)
        },
      }).on('close', () => {
        stage.closed += 1
      })
      return { status: 200, stream, headers: {} }
    },
  ),
  endpoint(
    {
      ...common,
      method: 'POST',
      path: '/v1/upload',
      rawBody: { contentTypes: ['text/plain'] },
      view: z.object({ bytes: z.number() }),
      status: [200],
    },
    async ({ stream, caller }) => {
      stageOf(caller).opened += 1
      let bytes = 0
      for await (const chunk of stream as AsyncIterable<Buffer>) bytes += chunk.length
      return { bytes }
    },
    async () => ({ bytes: 0 }),
  ),
  endpoint(
    {
      method: 'POST',
      path: '/v1/slow',
      operationId: 'sendSlowly',
      sdk: { none: 'a route of a test' },
      effect: 'write',
      kind: 'call',
      summary: 'Takes a JSON body',
      scope: 'verify',
      permission: 'claims.read',
      body: z.strictObject({ text: z.string() }),
      view: z.object({ ok: z.boolean() }),
      status: [200],
    },
    async ({ caller }) => {
      stageOf(caller).handled += 1
      return { ok: true }
    },
    async () => ({ ok: true }),
  ),
]

for (const [method, path, waits] of [
  ['GET', '/v1/waits', undefined],
  ['POST', '/v1/waits', true],
  ['DELETE', '/v1/waits', undefined],
] as const)
  routes.push(
    endpoint(
      {
        method,
        path,
        operationId: `${method.toLowerCase()}Waits`,
        sdk: { none: 'a route of a test' },
        effect: 'write',
        kind: 'call',
        summary: 'Waits until it is released',
        scope: 'verify',
        permission: 'claims.read',
        ...(waits && { waits }),
        view: z.object({ secret: z.string() }),
        status: [200],
      },
      async ({ caller }) => {
        const stage = stageOf(caller)
        stage.opened += 1
        await stage.release.promise
        return { secret: 'what happened meanwhile' }
      },
      async () => ({ secret: '' }),
    ),
  )

beforeAll(async () => {
  app = await startApp(routes, {
    findKey: async (raw) => stages.find(({ secret }) => secret === raw)?.key,
    findSession: async (given) => stages.find(({ secret }) => secret === given)?.session,
  })
})
afterAll(() => app.close())

function begin(): Stage {
  const key = makeKeyRow({ scopes: ['verify'] })
  const session: SessionRow = {
    sessionId: 'uss_1',
    userId: 'usr_1',
    accountId: key.accountId,
    role: 'owner',
    plan: 'enterprise',
    products: ['attest'],
    isSandboxOnly: false,
    hasEnded: false,
    suspendedAt: undefined,
  }
  const secret = String(stages.length).padStart(43, 'S')
  const stage = { secret, key, session, opened: 0, closed: 0, handled: 0, release: Promise.withResolvers<void>() }
  stages.push(stage)
  return stage
}

const GET = 'GET /v1/endless HTTP/1.1'

async function open(
  stage: Stage,
  headers: string[],
  first = GET,
): Promise<{ socket: Socket; text: () => string; isCut: () => boolean }> {
  const socket = connect(app.port, '127.0.0.1')
  let isCut = false
  let text = ''
  socket.on('error', () => {})
  socket.on('close', () => {
    isCut = true
  })
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1').slice(0, 2_000)
  })
  socket.write(`${[first, 'Host: x', ...headers].join('\r\n')}\r\n\r\n`)
  await until(() => stage.opened === 1)
  return { socket, text: () => text, isCut: () => isCut }
}

const keyHead = ({ secret }: Stage) => [`Authorization: Bearer ${secret}`]
const sessionHead = ({ secret }: Stage) =>
  Object.entries(cookiesOf({ id: 'uss_1', secret })).map(([name, value]) => `${name}: ${value}`)

describe.concurrent('a streamed answer', () => {
  const endSession = ({ session }: Stage) => Object.assign(session, { hasEnded: true })
  const revokeKey = ({ key }: Stage) => Object.assign(key, { revokedAt: new Date() })
  const lowerPlan = ({ session }: Stage) => Object.assign(session, { role: 'developer', plan: 'growth' })
  const compressed = (stage: Stage) => [...keyHead(stage), 'Accept-Encoding: gzip']
  it.each([
    ['of a session that ended', sessionHead, endSession, 'session_expired'],
    ['of a role that lost the permission', sessionHead, lowerPlan, 'plan_required'],
    ['of a key that was revoked', keyHead, revokeKey, 'api_key_revoked'],
    ['of a key that was revoked, compressed', compressed, revokeKey, 'api_key_revoked'],
  ])('%s is cut off, also from a reader that reads slowly', async (_name, head, lose, code) => {
    const stage = begin()
    const { socket } = await open(stage, head(stage))
    await until(() => socket.bytesRead > 0)
    socket.pause()
    lose(stage)
    await until(() => stage.closed === 1)
    const { accountId } = stage.key
    await until(() => app.logged.some((line) => line.account === accountId && line.code === code))
    // The reader takes what was on its way, and then the connection ends without the end of the body.
    let isEnded = false
    socket.on('close', () => {
      isEnded = true
    })
    socket.resume()
    await until(() => isEnded)
  })

  it('goes on for those who still may', async () => {
    const stage = begin()
    const { socket, isCut } = await open(stage, sessionHead(stage))
    let asked = 0
    stage.session = new Proxy(stage.session, {
      get(row, name) {
        if (name === 'hasEnded') asked += 1
        return Reflect.get(row, name)
      },
    })
    await until(() => asked >= 2)
    expect([isCut(), stage.closed]).toEqual([false, 0])
    socket.destroy()
    await until(() => stage.closed === 1)
  })
})

it.concurrent('an upload of a session that ended is refused before its end', async () => {
  const stage = begin()
  const head = [...sessionHead(stage), 'Content-Type: text/plain', 'Content-Length: 1000000']
  const { socket, text } = await open(stage, head, 'POST /v1/upload HTTP/1.1')
  socket.write('a first part')
  stage.session.hasEnded = true
  await until(() => text().includes('session_expired'))
  expect(text()).toMatch(/^HTTP\/1\.1 401 /)
  socket.destroy()
})

describe.concurrent('an answer that was waited for', () => {
  /** Sends a request, lets its handler wait for longer than a decision about access counts, and returns what is answered. */
  async function wait(method: string, lose: (stage: Stage) => void): Promise<string> {
    const stage = begin()
    const { socket, text } = await open(
      stage,
      [...sessionHead(stage), 'Content-Length: 0'],
      `${method} /v1/waits HTTP/1.1`,
    )
    const startedAt = performance.now()
    lose(stage)
    await until(() => performance.now() - startedAt > 2_100)
    stage.release.resolve()
    await until(() => text().includes('\r\n\r\n'))
    socket.destroy()
    return text()
  }
  const change = (changed: Partial<SessionRow>) => (stage: Stage) => void Object.assign(stage.session, changed)
  const losses: [string, (stage: Stage) => void, string][] = [
    ['whose session ended', change({ hasEnded: true }), 'session_expired'],
    ['whose plan was lowered', change({ role: 'analyst', plan: 'growth' }), 'plan_required'],
    ['whose account was suspended', change({ suspendedAt: new Date() }), 'account_suspended'],
  ]

  for (const method of ['GET', 'POST']) {
    it.each(losses)(`of ${method} is not shown to a caller %s`, async (_name, lose, code) => {
      const text = await wait(method, lose)
      expect([text.includes(code), text.includes('what happened')]).toEqual([true, false])
    })
  }

  it('is shown to those who still may', async () => {
    expect(await wait('GET', () => {})).toContain('what happened')
  })

  it('is shown where the change itself ended the access', async () => {
    expect(await wait('DELETE', change({ hasEnded: true }))).toContain('what happened')
  })
})

describe('the watch', () => {
  const refusal = new Failure('api_key_revoked', 'x')

  it('reports the loss once, and nothing after its end', async () => {
    const lost: Failure[] = []
    let asked = 0
    watchAccess(
      async () => {
        asked += 1
        throw refusal
      },
      (failure) => void lost.push(failure),
      { everyMs: 1 },
    )
    await until(() => lost.length === 1)
    const before = asked
    const answers: (() => void)[] = []
    const end = watchAccess(
      () =>
        new Promise((_resolve, reject) => {
          answers.push(() => reject(refusal))
        }),
      (failure) => void lost.push(failure),
      { everyMs: 1 },
    )
    await until(() => answers.length === 1)
    end()
    answers[0]?.()
    await new Promise((resolve) => setImmediate(resolve))
    expect([lost, asked]).toEqual([[refusal], before])
  })

  it('bears that nobody can tell, for a while', async () => {
    const lost: Failure[] = []
    let asked = 0
    const away = async () => {
      asked += 1
      throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
    }
    const end = watchAccess(away, (failure) => void lost.push(failure), { everyMs: 1, maxUnknownMs: 3_600_000 })
    await until(() => asked > 5)
    expect(lost).toEqual([])
    end()
    watchAccess(away, (failure) => void lost.push(failure), { everyMs: 1, maxUnknownMs: 5 })
    await until(() => lost.length === 1)
    expect(lost[0]?.code).toBe('service_unavailable')
  })
})

describe('a JSON body that arrives slowly', () => {
  it.concurrent('is not handled when its user was removed meanwhile', async () => {
    const stage = begin()
    const body = JSON.stringify({ text: 'x'.repeat(60) })
    const head = [
      'POST /v1/slow HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      ...sessionHead(stage),
    ]
    const socket = connect(app.port, '127.0.0.1')
    let text = ''
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      text += chunk.toString()
    })
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    // A byte at a time, for longer than a decision about access counts.
    const startedAt = performance.now()
    let sent = 0
    await until(
      () => {
        sent += 1
        socket.write(body.slice(sent - 1, sent))
        return performance.now() - startedAt > 2_500 || sent > body.length - 2
      },
      { everyMs: 100 },
    )
    stage.session.hasEnded = true
    socket.write(body.slice(sent))
    await until(() => text.includes('\r\n\r\n'))
    socket.destroy()
    expect(text).toContain('session_expired')
    expect(stage.handled).toBe(0)
  })
})
