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

const SECRET = 'S'.repeat(43)
let key: KeyRow
let session: SessionRow
let [opened, closed] = [0, 0]
let handled = 0
let app: TestApp

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
    async () => {
      opened += 1
      const stream = new Readable({
        read() {
          this.push(`${'x'.repeat(65_536)}\n`)
        },
      }).on('close', () => {
        closed += 1
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
    async ({ stream }) => {
      opened += 1
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
    async () => {
      handled += 1
      return { ok: true }
    },
    async () => ({ ok: true }),
  ),
]

let release = Promise.withResolvers<void>()
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
      async () => {
        opened += 1
        await release.promise
        return { secret: 'what happened meanwhile' }
      },
      async () => ({ secret: '' }),
    ),
  )

beforeAll(async () => {
  app = await startApp(routes, {
    findKey: async () => key,
    findSession: async (secret) => (secret === SECRET ? session : undefined),
  })
})
afterAll(() => app.close())

function begin(): void {
  key = makeKeyRow({ scopes: ['verify'] })
  session = {
    sessionId: 'uss_1',
    userId: 'usr_1',
    accountId: 'acc_1',
    role: 'owner',
    plan: 'enterprise',
    products: ['attest'],
    isSandboxOnly: false,
    hasEnded: false,
    suspendedAt: undefined,
  }
  opened = 0
  closed = 0
}

const GET = 'GET /v1/endless HTTP/1.1'

async function open(
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
  await until(() => opened === 1)
  return { socket, text: () => text, isCut: () => isCut }
}

const sessionHead = Object.entries(cookiesOf({ id: 'uss_1', secret: SECRET })).map(
  ([name, value]) => `${name}: ${value}`,
)

describe('a streamed answer', () => {
  it.each([
    [
      'of a session that ended',
      () => sessionHead,
      () => {
        session = { ...session, hasEnded: true }
      },
      'session_expired',
    ],
    [
      'of a role that lost the permission',
      () => sessionHead,
      () => {
        session = { ...session, role: 'developer', plan: 'growth' }
      },
      'plan_required',
    ],
    [
      'of a key that was revoked',
      () => ['Authorization: Bearer k'],
      () => {
        key = { ...key, revokedAt: new Date() }
      },
      'api_key_revoked',
    ],
    [
      'of a key that was revoked, compressed',
      () => ['Authorization: Bearer k', 'Accept-Encoding: gzip'],
      () => {
        key = { ...key, revokedAt: new Date() }
      },
      'api_key_revoked',
    ],
  ])('%s is cut off, also from a reader that reads slowly', async (_name, head, lose, code) => {
    begin()
    const { socket } = await open(head())
    await until(() => socket.bytesRead > 0)
    socket.pause()
    lose()
    await until(() => closed === 1)
    await until(() => app.logged.some((line) => line.code === code))
    // The reader takes what was on its way, and then the connection ends without the end of the body.
    let isEnded = false
    socket.on('close', () => {
      isEnded = true
    })
    socket.resume()
    await until(() => isEnded)
  })

  it('goes on for those who still may', async () => {
    begin()
    const { socket, isCut } = await open(sessionHead)
    let asked = 0
    session = new Proxy(session, {
      get(row, name) {
        if (name === 'hasEnded') asked += 1
        return Reflect.get(row, name)
      },
    })
    await until(() => asked >= 2)
    expect([isCut(), closed]).toEqual([false, 0])
    socket.destroy()
    await until(() => closed === 1)
  })
})

it('an upload of a session that ended is refused before its end', async () => {
  begin()
  const head = [...sessionHead, 'Content-Type: text/plain', 'Content-Length: 1000000']
  const { socket, text } = await open(head, 'POST /v1/upload HTTP/1.1')
  socket.write('a first part')
  session = { ...session, hasEnded: true }
  await until(() => text().includes('session_expired'))
  expect(text()).toMatch(/^HTTP\/1\.1 401 /)
  socket.destroy()
})

describe('an answer that was waited for', () => {
  /** Sends a request, lets its handler wait for longer than a decision about access counts, and returns what is answered. */
  async function wait(method: string, lose: () => void): Promise<string> {
    begin()
    release = Promise.withResolvers()
    const { socket, text } = await open([...sessionHead, 'Content-Length: 0'], `${method} /v1/waits HTTP/1.1`)
    const startedAt = performance.now()
    lose()
    await until(() => performance.now() - startedAt > 2_100)
    release.resolve()
    await until(() => text().includes('\r\n\r\n'))
    socket.destroy()
    return text()
  }
  const losses: [string, () => void, string][] = [
    ['whose session ended', () => Object.assign(session, { hasEnded: true }), 'session_expired'],
    ['whose plan was lowered', () => Object.assign(session, { role: 'analyst', plan: 'growth' }), 'plan_required'],
    ['whose account was suspended', () => Object.assign(session, { suspendedAt: new Date() }), 'account_suspended'],
  ]

  it.each(losses)('is not shown to a caller %s', async (_name, lose, code) => {
    for (const method of ['GET', 'POST']) {
      const text = await wait(method, lose)
      expect([method, text.includes(code), text.includes('what happened')]).toEqual([method, true, false])
    }
  })

  it('is shown to those who still may, and so is that of a change that ended the access itself', async () => {
    expect(await wait('GET', () => {})).toContain('what happened')
    expect(await wait('DELETE', () => Object.assign(session, { hasEnded: true }))).toContain('what happened')
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
  it('is not handled when its user was removed meanwhile', async () => {
    begin()
    handled = 0
    const body = JSON.stringify({ text: 'x'.repeat(60) })
    const head = [
      'POST /v1/slow HTTP/1.1',
      'Host: x',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      ...sessionHead,
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
    session = { ...session, hasEnded: true }
    socket.write(body.slice(sent))
    await until(() => text.includes('\r\n\r\n'))
    socket.destroy()
    expect(text).toContain('session_expired')
    expect(handled).toBe(0)
  })
})
