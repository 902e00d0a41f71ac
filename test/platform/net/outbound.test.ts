import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import type { Lookup } from '#src/platform/net/lookup.ts'
import {
  createOutbound,
  OPERATOR,
  type OutboundAnswer,
  type OutboundOptions,
  type OutboundRequest,
} from '#src/platform/net/outbound.ts'
import { makeCertificate } from './certificate.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

function outbound(options: OutboundOptions = {}) {
  const created = createOutbound({ allow: ['127.0.0.1', 'receiver.test'], lookup: resolvesTo('127.0.0.1'), ...options })
  cleanups.push(() => created.close())
  return {
    ...created,
    send: (url: string, request: Partial<OutboundRequest> = {}) =>
      created.send({
        account: 'acc_1',
        url,
        environment: 'sandbox',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: Buffer.from('{}'),
        timeoutMs: 5_000,
        maxResponseBytes: 1_024,
        ...request,
      }),
  }
}

async function listen(server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  server.listen(port, host)
  await once(server, 'listening')
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((done) => server.close(done))
  })
  return (server.address() as AddressInfo).port
}

/** A receiver at HTTP's level. Counts connections and requests. */
async function receiver(answer: RequestListener, host?: string, port?: number) {
  const seen = { connections: 0, requests: 0 }
  const server = createHttpServer((request, response) => {
    seen.requests += 1
    answer(request, response)
  })
  server.on('connection', () => {
    seen.connections += 1
  })
  return { seen, port: await listen(server, host, port) }
}

/** A receiver at the socket's level, for answers that no HTTP library would send. */
async function rawReceiver(answer: (socket: Socket) => void) {
  return listen(
    createServer((socket) => {
      socket.once('data', () => answer(socket))
    }),
  )
}

function resolvesTo(...answers: (string | string[])[]): Lookup & { calls: string[] } {
  const calls: string[] = []
  const lookup = async (hostname: string) => {
    const answer = answers[Math.min(calls.length, answers.length - 1)] ?? []
    calls.push(hostname)
    return typeof answer === 'string' ? [answer] : answer
  }
  return Object.assign(lookup, { calls })
}

function codeOf(answer: OutboundAnswer) {
  return answer.ok ? `status ${answer.status}` : answer.code
}

describe('an outbound call', () => {
  it('sends method, path, headers and body, and returns the answer', async () => {
    const { port } = await receiver(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      response.setHeader('X-Twice', ['a', 'b'])
      response.end(JSON.stringify([request.method, request.url, request.headers, Buffer.concat(chunks).toString()]))
    })
    const answer = await outbound().send(`http://receiver.test:${port}/hook?x=1`, { body: Buffer.from('{"a":1}') })
    if (!answer.ok) throw new Error(answer.detail)
    const [method, path, headers, body] = JSON.parse(answer.body.toString())
    expect([answer.status, method, path, body]).toEqual([200, 'POST', '/hook?x=1', '{"a":1}'])
    expect(headers).toMatchObject({
      host: `receiver.test:${port}`,
      'content-type': 'application/json',
      'content-length': '7',
    })
    expect(answer.headers.get('x-twice')).toBe('a, b')
    expect(answer).toMatchObject({ address: '127.0.0.1', isTruncated: false })
    expect(answer.durationMs).toBeGreaterThanOrEqual(0)
  })

  it('reuses a connection for the next call to the same origin', async () => {
    const { port, seen } = await receiver((_, response) => void response.end('ok'))
    const { send } = outbound()
    for (let i = 0; i < 20; i += 1) expect(codeOf(await send(`http://127.0.0.1:${port}/`))).toBe('status 200')
    // The second call may come before the first socket is free again.
    expect(seen.connections).toBeLessThanOrEqual(2)
    expect(seen.requests).toBe(20)
  })

  it('uses the next checked address when the first refuses the connection', async () => {
    const { port } = await receiver((_, response) => void response.end())
    const answer = await outbound({ lookup: resolvesTo(['127.0.0.3', '127.0.0.1']) }).send(
      `http://receiver.test:${port}/`,
    )
    expect(answer).toMatchObject({ ok: true, address: '127.0.0.1' })
  })
})

describe('an address that is not public', () => {
  it.each([
    'http://127.0.0.1:4000/',
    'http://localhost:4000/',
    'http://[::ffff:127.0.0.1]:4000/',
    'http://2130706433:4000/',
    'https://169.254.169.254/',
  ])('is refused: %s', async (url) => {
    expect(codeOf(await outbound({ allow: [] }).send(url))).toBe('refused_address')
  })

  it('is refused when any address of a name is not public, without a connection to any of them', async () => {
    const { port, seen } = await receiver((_, response) => void response.end())
    for (const addresses of [['127.0.0.1'], ['93.184.216.34', '127.0.0.1'], ['2606:4700::1', '::ffff:10.0.0.1']]) {
      const { send } = outbound({ allow: [], lookup: resolvesTo(addresses) })
      expect(codeOf(await send(`http://rebind.test:${port}/`))).toBe('dns_failed')
    }
    expect(seen.connections).toBe(0)
  })

  it('can not be told from a name that does not exist, unless the service itself calls', async () => {
    const failing = () => Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }))
    const answers = []
    for (const lookup of [failing, resolvesTo([]), resolvesTo('10.0.0.1')]) {
      const { durationMs, timing, ...answer } = await outbound({ allow: [], lookup }).send('http://inside.test/')
      answers.push(answer)
    }
    expect(answers[0]).toEqual({ ok: false, code: 'dns_failed', detail: 'inside.test has no public address' })
    expect(answers).toEqual([answers[0], answers[0], answers[0]])
    const { send } = outbound({ allow: [], lookup: resolvesTo('10.0.0.1') })
    expect(await send('http://inside.test/', { account: OPERATOR })).toMatchObject({
      code: 'refused_address',
      detail: '10.0.0.1 is not public (private)',
    })
  })

  it('is never connected to by a second look-up: the name is resolved once per call', async () => {
    const { port, seen } = await receiver((_, response) => void response.end())
    // Unroutable where the tests run; only the address that was tried counts, and that no second query was sent.
    const lookup = resolvesTo('2a0e::1', '127.0.0.1')
    const { send } = outbound({ allow: [], lookup })
    const first = await send(`http://rebind.test:${port}/`, { timeoutMs: 300 })
    expect(first).toMatchObject({ ok: false, address: '2a0e::1' })
    expect(lookup.calls).toHaveLength(1)
    expect(codeOf(await send(`http://rebind.test:${port}/`))).toBe('dns_failed')
    expect(seen.connections).toBe(0)
  })

  it('is refused after an allowed answer too, whatever connection is still open', async () => {
    const { port, seen } = await receiver((_, response) => void response.end())
    const { send } = outbound({ lookup: resolvesTo('127.0.0.1', '10.0.0.1') })
    expect(codeOf(await send(`http://receiver.test:${port}/`))).toBe('status 200')
    expect(codeOf(await send(`http://receiver.test:${port}/`))).toBe('dns_failed')
    expect(seen.requests).toBe(1)
  })

  it('is never reached by a pooled connection of another checked address', async () => {
    const first = await receiver((_, response) => void response.end('first'))
    const second = await receiver((_, response) => void response.end('second'), '127.0.0.2', first.port)
    const { send } = outbound({ lookup: resolvesTo('127.0.0.1', '127.0.0.2', '127.0.0.1') })
    const bodies: string[] = []
    for (let i = 0; i < 3; i += 1) {
      const answer = await send(`http://receiver.test:${first.port}/`)
      bodies.push(answer.ok ? answer.body.toString() : answer.code)
    }
    expect(bodies).toEqual(['first', 'second', 'first'])
    expect([first.seen.connections, second.seen.connections]).toEqual([1, 1])
  })

  it('is allowed for an allowed name only if it is loopback', async () => {
    const { send } = outbound({ lookup: resolvesTo('192.168.0.1') })
    expect(codeOf(await send('http://receiver.test:4000/'))).toBe('dns_failed')
  })

  it('is refused over plain http in live even where loopback is allowed', async () => {
    expect(codeOf(await outbound().send('http://127.0.0.1:4000/', { environment: 'live' }))).toBe('invalid_url')
  })
})

describe('a call to a hostile receiver', () => {
  it('does not follow redirects', async () => {
    const target = await receiver((_, response) => void response.end())
    const { port } = await receiver((_, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${target.port}/` }).end()
    })
    const answer = await outbound().send(`http://127.0.0.1:${port}/`)
    expect(answer).toMatchObject({ ok: true, status: 307 })
    expect(target.seen.requests).toBe(0)
  })

  it.each([
    ['never answers', () => {}],
    ['sends headers one byte at a time', (socket: Socket) => void drip(socket, 'HTTP/1.1 200 OK\r\nx-', 'a')],
    [
      'sends informational answers for ever',
      (socket: Socket) => void drip(socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
    ],
    [
      'sends the body one byte at a time',
      (socket: Socket) => void drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n', 'a'),
    ],
  ])('ends at the deadline when the receiver %s', async (_, answer) => {
    const port = await rawReceiver(answer)
    const result = await outbound().send(`http://127.0.0.1:${port}/`, { timeoutMs: 300 })
    expect(codeOf(result)).toBe('timeout')
    expect(result.durationMs).toBeGreaterThanOrEqual(290)
    expect(result.durationMs).toBeLessThan(10_000)
  })

  it('reports the status that came before the body stopped', async () => {
    const port = await rawReceiver((socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'))
    const answer = await outbound().send(`http://127.0.0.1:${port}/`, { timeoutMs: 200 })
    expect(answer).toMatchObject({ ok: false, code: 'timeout', status: 200 })
  })

  it('stops reading a huge body at the limit and closes the connection', async () => {
    let sent = 0
    const { port } = await receiver(async (_, response) => {
      const chunk = Buffer.alloc(64 * 1024, 'a')
      response.setMaxListeners(0)
      while (!response.destroyed && sent < 512 * 1024 * 1024) {
        sent += chunk.length
        if (!response.write(chunk)) await new Promise((done) => response.once('drain', done).once('close', done))
      }
    })
    const answer = await outbound().send(`http://127.0.0.1:${port}/`)
    if (!answer.ok) throw new Error(answer.detail)
    expect([answer.status, answer.body.length, answer.isTruncated]).toEqual([200, 1_024, true])
    expect(sent).toBeLessThan(16 * 1024 * 1024)
  })

  it('accepts a body of exactly the limit as complete', async () => {
    const { port, seen } = await receiver((_, response) => void response.end('a'.repeat(1_024)))
    const { send } = outbound()
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ ok: true, isTruncated: false })
    for (let i = 0; i < 9; i += 1) await send(`http://127.0.0.1:${port}/`)
    expect(seen.connections).toBeLessThanOrEqual(2)
  })

  it('refuses a header bomb', async () => {
    const port = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      for (let i = 0; i < 2_000; i += 1) socket.write(`x-${i}: ${'a'.repeat(1_000)}\r\n`)
      socket.end('\r\n')
    })
    expect(codeOf(await outbound().send(`http://127.0.0.1:${port}/`))).toBe('response_too_large')
  })

  it.each([
    ['not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'invalid_response'],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', 'invalid_response'],
    [
      'a length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      'invalid_response',
    ],
    ['nothing', '', 'reset'],
    ['half a status line', 'HTTP/1.1 2', 'reset'],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', 'reset'],
  ])('returns a code for %s', async (_, text, code) => {
    const port = await rawReceiver((socket) => void socket.end(text))
    expect(codeOf(await outbound().send(`http://127.0.0.1:${port}/`))).toBe(code)
  })

  it('returns a code when the connection breaks in the body', async () => {
    const port = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', () => socket.resetAndDestroy())
    })
    expect(await outbound().send(`http://127.0.0.1:${port}/`)).toMatchObject({ code: 'reset', status: 200 })
  })

  it('does not take data after an answer for the answer to the next call', async () => {
    const forged = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged'
    const port = await rawReceiver(
      (socket) => void socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntrue${forged}`),
    )
    const { send } = outbound()
    for (let i = 0; i < 2; i += 1) {
      const answer = await send(`http://127.0.0.1:${port}/`)
      expect(answer.ok && answer.body.toString()).toBe('true')
    }
  })

  it('says that a status is none', async () => {
    const port = await rawReceiver((socket) => socket.end('HTTP/1.1 000 Nothing\r\nContent-Length: 0\r\n\r\n'))
    expect(await outbound().send(`http://127.0.0.1:${port}/`)).toMatchObject({
      code: 'invalid_response',
      detail: 'the status 000, which is below 100',
    })
  })

  it('returns a result for every status that HTTP has', async () => {
    const { port } = await receiver((request, response) => {
      response.writeHead(Number(request.url?.slice(1))).end()
    })
    const { send } = outbound()
    for (const status of [200, 204, 299, 301, 304, 400, 401, 407, 410, 421, 425, 429, 500, 503, 599, 999]) {
      expect(codeOf(await send(`http://127.0.0.1:${port}/${status}`))).toBe(`status ${status}`)
    }
  })
})

describe('a call with a failing name, connection or caller', () => {
  it('distinguishes a name without address, a refused connection and a bad URL', async () => {
    const failing = async () => {
      throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
    }
    const free = await rawReceiver(() => {})
    await cleanups.pop()?.()
    expect(await outbound({ lookup: failing }).send('http://a.test/')).toMatchObject({ code: 'dns_failed' })
    expect(codeOf(await outbound({ lookup: resolvesTo([]) }).send('http://a.test/'))).toBe('dns_failed')
    expect(codeOf(await outbound().send(`http://127.0.0.1:${free}/`))).toBe('connect_failed')
    expect(codeOf(await outbound().send('ftp://a.test/'))).toBe('invalid_url')
  })

  it('counts the look-up against the deadline', async () => {
    const answer = await outbound({ lookup: () => new Promise(() => {}) }).send('http://a.test/', { timeoutMs: 100 })
    expect(answer).toMatchObject({ code: 'timeout', isOurs: true })
  })

  it.each([
    ['ESERVFAIL', true],
    ['ETIMEOUT', true],
    ['ECONNREFUSED', true],
    ['EREFUSED', true],
    ['ENOTFOUND', false],
    ['ENODATA', false],
  ])('says of a look-up that failed with %s whether the name servers gave no answer: %s', async (code, isOurs) => {
    const lookup = () => Promise.reject(Object.assign(new Error('query failed'), { code }))
    expect(await outbound({ lookup }).send('http://a.test/')).toMatchObject({
      code: 'dns_failed',
      ...(isOurs ? { isOurs, detail: `a.test: ${code}` } : { detail: 'a.test has no public address' }),
    })
  })

  it('ends when the caller aborts, before and during the call', async () => {
    const port = await rawReceiver(() => {})
    const controller = new AbortController()
    const pending = outbound().send(`http://127.0.0.1:${port}/`, { signal: controller.signal })
    await delay(50)
    controller.abort()
    expect(codeOf(await pending)).toBe('aborted')
    expect(codeOf(await outbound().send(`http://127.0.0.1:${port}/`, { signal: controller.signal }))).toBe('aborted')
  })
})

describe('the TLS of a call', () => {
  async function secureReceiver(names: string[]) {
    const { key, cert } = await makeCertificate(names)
    const server = createHttpsServer({ key, cert }, (request, response) => {
      response.end(String((request.socket as { servername?: string }).servername))
    })
    return { port: await listen(server), ca: cert }
  }

  it('checks the certificate against the name while the socket connects to the address', async () => {
    const { port, ca } = await secureReceiver(['receiver.test'])
    const answer = await outbound({ ca }).send(`https://receiver.test:${port}/`, { environment: 'live' })
    expect(answer).toMatchObject({ ok: true, address: '127.0.0.1' })
    expect(answer.ok && answer.body.toString()).toBe('receiver.test')
  })

  it('checks the certificate of an address against the address', async () => {
    const { port, ca } = await secureReceiver(['127.0.0.1'])
    expect(codeOf(await outbound({ ca }).send(`https://127.0.0.1:${port}/`))).toBe('status 200')
  })

  it('refuses another name, an unknown issuer, and a server that does not speak TLS', async () => {
    const { port, ca } = await secureReceiver(['other.test'])
    expect(codeOf(await outbound({ ca }).send(`https://receiver.test:${port}/`))).toBe('tls_failed')
    expect(codeOf(await outbound().send(`https://receiver.test:${port}/`))).toBe('tls_failed')
    const plain = await rawReceiver((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    expect(codeOf(await outbound().send(`https://receiver.test:${plain}/`))).toBe('tls_failed')
  })

  it('ends an endless handshake at the deadline', async () => {
    const port = await rawReceiver(() => {})
    const answer = await outbound().send(`https://receiver.test:${port}/`, { timeoutMs: 200 })
    expect(codeOf(answer)).toBe('timeout')
    expect(answer.durationMs).toBeLessThan(10_000)
  })
})

async function drip(socket: Socket, head: string, drop: string): Promise<void> {
  socket.write(head)
  while (!socket.destroyed) {
    socket.write(drop)
    await delay(20)
  }
}
