import 'reflect-metadata'
import { KeyObject, verify } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import type { Worker } from 'node:worker_threads'
import { PemConverter } from '@peculiar/x509'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createManualDeadline, startDeadline } from '#src/platform/net/deadline.ts'
import { createEgress, type EgressOptions } from '#src/platform/net/egress.ts'
import { createOutbound } from '#src/platform/net/outbound.ts'
import { parseTarget } from '#src/platform/net/url.ts'
import { until } from '../../support/until.ts'
import { makeDer, makeSlowRsa, rsa } from '../crypto/pki.ts'
import { makeCertificate } from './certificate.ts'

const MISBEHAVING = new URL('./misbehaving-egress.ts', import.meta.url)
const { key, cert } = await makeCertificate(['127.0.0.1'])
const allows = () => true

const cleanups: (() => unknown)[] = []
const workers: Worker[] = []
const note = (message: unknown) => void workers.push((message as { worker: Worker }).worker)
beforeEach(() => {
  workers.length = 0
  subscribe('worker_threads', note)
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  unsubscribe('worker_threads', note)
})

function egress(options: EgressOptions = {}) {
  const created = createEgress({ ca: cert, ...options })
  cleanups.push(() => created.close())
  return (
    url: string,
    account: string,
    { timeoutMs = 20_000, maxResponseBytes = 1_024, body = Buffer.from('{}') } = {},
  ) => {
    const parsed = parseTarget(url, { environment: 'sandbox', allows })
    if (!parsed.ok) throw new Error(parsed.detail)
    const deadline = startDeadline(timeoutMs)
    const request = { method: 'POST' as const, headers: { 'content-type': 'application/json' }, body, maxResponseBytes }
    const to = { target: parsed.target, address: '127.0.0.1', account }
    return created.call(to, request, deadline).finally(() => deadline.clear())
  }
}

async function listen(server: Server): Promise<{ url: string; connections(): number }> {
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((done) => server.close(done))
  })
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`, connections: () => sockets.length }
}

const honest = (answer: RequestListener = (_, response) => void response.end('ok')) =>
  listen(createServer({ key, cert }, answer))

/** A receiver whose chain has that many certificates, of keys whose public exponents are as long as their moduli. */
async function slowReceiver(certificates: number) {
  const keys = await makeSlowRsa()
  const issuer = (level: number) => ({ name: `Slow ${level}`, keys, algorithm: rsa(3072) })
  const chain: string[] = []
  for (let level = 0; level < certificates; level += 1) {
    const { der } = await makeDer({
      name: `Slow ${level}`,
      isCa: true,
      keys,
      algorithm: rsa(3072),
      issuer: issuer(level + 1),
    })
    chain.push(PemConverter.encode(der, 'CERTIFICATE'))
  }
  const privateKey = PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY')
  const options = { key: privateKey, cert: chain.join('\n') }
  const receiver = await listen(createServer(options, (_, response) => void response.end()))
  return { ...receiver, heavyMs: verifyingMs(KeyObject.from(keys.publicKey), certificates) / 2 }
}

/**
 * The least processor time of that many signatures. No chain within the size limit takes 100 ms on every machine: a fast
 * one verifies it in half of that.
 */
function verifyingMs(key: KeyObject, signatures: number): number {
  const [data, signature] = [Buffer.alloc(1_024), Buffer.alloc(384, 1)]
  const rounds = Array.from({ length: 3 }, () => {
    const before = process.threadCpuUsage()
    for (let count = 0; count < signatures; count += 1) verify('sha256', data, key, signature)
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1_000
  })
  return Math.min(...rounds)
}

describe('a receiver whose certificates take long to verify', () => {
  it('spends the budget of its account, and does not slow another account in the same thread', async () => {
    const [slow, other] = await Promise.all([slowReceiver(16), honest()])
    const probedAt = performance.now()
    await egress({ threads: 1, heavyMs: slow.heavyMs })(slow.url, 'probe')
    const handshakeMs = performance.now() - probedAt
    const call = egress({ threads: 1, heavyMs: slow.heavyMs })
    expect(await call(other.url, 'quiet')).toMatchObject({ ok: true })
    const attack = Promise.all(Array.from({ length: 24 }, (_, index) => call(`${slow.url}${index}`, 'hostile')))
    let isOver = false
    void attack.then(() => {
      isOver = true
    })
    const waits: number[] = []
    while (!isOver) {
      const since = performance.now()
      // Both a call on an open connection, and a call that has to make one.
      expect(await call(other.url, 'quiet')).toMatchObject({ ok: true })
      expect(await call(other.url, `new ${waits.length}`)).toMatchObject({ ok: true })
      waits.push(performance.now() - since)
    }
    const answers = await attack
    expect(new Set(answers.map((answer) => (answer.ok ? 'ok' : answer.code)))).toEqual(new Set(['tls_failed']))
    const refused = answers.filter((answer) => !answer.ok && answer.detail.includes('processor time'))
    // One handshake is measured and found heavy. Few had been given to OpenSSL before.
    expect(refused.length).toBeGreaterThanOrEqual(20)
    expect(refused.filter((answer) => answer.ok || answer.isOurs !== true)).toEqual([])
    // Some 0.2 s; 24 such handshakes in a row would be 3 s on an idle machine, and longer where one takes longer.
    expect(Math.max(...waits)).toBeLessThan(Math.max(2_000, 10 * handshakeMs))

    const connections = slow.connections()
    expect(await call(slow.url, 'hostile')).toMatchObject({ ok: false, code: 'tls_failed', isUnconnected: true })
    expect(slow.connections()).toBe(connections)
    expect(await call(other.url, 'third')).toMatchObject({ ok: true })
  })

  it('is refused before its certificates are verified when there are 72 of them', async () => {
    const { url } = await slowReceiver(72)
    const call = egress({ threads: 1 })
    const before = process.cpuUsage()
    const answers = await Promise.all(Array.from({ length: 8 }, () => call(url, 'hostile')))
    const { user, system } = process.cpuUsage(before)
    for (const answer of answers) {
      expect(answer).toMatchObject({ ok: false, code: 'tls_failed', detail: expect.stringContaining('24576 bytes') })
    }
    // Of the whole process, thread and receiver and their start included; verifying would be 4 s more.
    expect((user + system) / 1_000).toBeLessThan(3_000)
  })
})

describe('an https call', () => {
  it('continues on an open connection when its account has spent its budget', async () => {
    const [slow, other] = await Promise.all([slowReceiver(16), honest()])
    const call = egress({ threads: 1, heavyMs: slow.heavyMs })
    expect(await call(other.url, 'both')).toMatchObject({ ok: true })
    expect(await call(slow.url, 'both')).toMatchObject({ ok: false, code: 'tls_failed' })
    expect(await call(slow.url, 'both')).toMatchObject({ detail: expect.stringContaining('processor time') })
    expect(await call(other.url, 'both')).toMatchObject({ ok: true })
    expect(other.connections()).toBe(1)
  })

  it('carries bodies of any size both ways, up to the limit', async () => {
    const { url } = await honest(async (request, response) => {
      let size = 0
      for await (const chunk of request) size += chunk.length
      response.setHeader('x-size', String(size))
      response.end('a'.repeat(300_000))
    })
    const call = egress()
    const body = Buffer.alloc(3_000_000, 'b')
    const whole = await call(url, 'a', { body, maxResponseBytes: 300_000 })
    expect(whole).toMatchObject({ ok: true, status: 200, isTruncated: false })
    expect(whole.ok && [whole.body.toString().length, whole.headers.get('x-size')]).toEqual([300_000, '3000000'])
    expect(body.every((byte) => byte === 0x62)).toBe(true)
    const cut = await call(url, 'a', { maxResponseBytes: 1_000 })
    expect(cut.ok && [cut.body.toString(), cut.isTruncated]).toEqual(['a'.repeat(1_000), true])
  })

  it('shares no connection with another account', async () => {
    const accountsOf = new Map<unknown, Set<string | undefined>>()
    const { url } = await honest(({ socket, url: path }, response) => {
      accountsOf.set(socket, (accountsOf.get(socket) ?? new Set()).add(path))
      response.end('ok')
    })
    const call = egress()
    for (const account of ['a', 'b', 'a', 'b']) expect(await call(url + account, account)).toMatchObject({ ok: true })
    // An idle connection may have ended between two calls on a busy machine: there are two or more.
    for (const accounts of accountsOf.values()) expect(accounts.size).toBe(1)
    expect(accountsOf.size).toBeGreaterThan(1)
  })

  it('ends at its deadline, and reports the status that came before it', async () => {
    const { url } = await honest((_, response) => {
      response.writeHead(202, { 'content-length': '9' })
      response.write('half')
    })
    const call = egress()
    // The thread is running by then.
    await call(url, 'a', { timeoutMs: 2_000 })
    expect(await call(url, 'a', { timeoutMs: 300 })).toMatchObject({ ok: false, code: 'timeout', status: 202 })
  })

  it('ends when its caller aborts, also before its thread is running', async () => {
    const { url } = await listen(createTcpServer())
    const created = createEgress()
    cleanups.push(() => created.close())
    const parsed = parseTarget(url, { environment: 'sandbox', allows })
    if (!parsed.ok) throw new Error(parsed.detail)
    const { end, ...deadline } = createManualDeadline()
    const to = { target: parsed.target, address: '127.0.0.1', account: 'a' }
    const pending = created.call(to, { method: 'GET', headers: {}, maxResponseBytes: 10 }, deadline)
    end('aborted')
    expect(await pending).toMatchObject({ ok: false, code: 'aborted' })
    const late = created.call(to, { method: 'GET', headers: {}, maxResponseBytes: 10 }, deadline)
    expect(await late).toMatchObject({ ok: false, code: 'aborted' })
  })

  it('is answered when everything closes meanwhile', async () => {
    const { url } = await listen(createTcpServer())
    const call = egress()
    const pending = call(url, 'a')
    await cleanups.pop()?.()
    expect(await pending).toMatchObject({ ok: false, code: 'reset' })
    expect(await call(url, 'a')).toMatchObject({ ok: false, code: 'reset' })
  })
})

describe('egress threads', () => {
  it('start at the first https call, and none is left after the end', async () => {
    const { url } = await honest()
    const outbound = createOutbound({ allow: ['127.0.0.1'], ca: cert })
    const send = (to: string, account: string) =>
      outbound.send({
        account,
        url: to,
        environment: 'sandbox',
        method: 'GET',
        headers: {},
        timeoutMs: 10_000,
        maxResponseBytes: 10,
      })
    expect(await send('http://127.0.0.1:1024/', 'a')).toMatchObject({ ok: false })
    expect(workers).toEqual([])
    expect(await send(url, 'a')).toMatchObject({ ok: true })
    expect(workers).toHaveLength(1)
    for (let count = 0; count < 20; count += 1) await send(url, `account ${count}`)
    expect(workers).toHaveLength(2)
    await outbound.close()
    expect(workers.map(({ threadId }) => threadId)).toEqual([-1, -1])
  })

  it('that die fail their own calls, and the next call starts another', async () => {
    const call = egress({ threads: 1, thread: MISBEHAVING })
    // Ours: it says nothing of the receiver.
    const died = { ok: false, code: 'reset', isOurs: true }
    expect(await call('https://127.0.0.1:4000/die', 'a')).toMatchObject(died)
    expect(await call('https://127.0.0.1:4000/die', 'a')).toMatchObject(died)
    expect(workers).toHaveLength(2)
  })

  it('that hang are replaced, and no answer waits for them', async () => {
    const call = egress({ threads: 1, thread: MISBEHAVING, stuckMs: 1_000 })
    const [first, second] = [
      call('https://127.0.0.1:4000/hang', 'a', { timeoutMs: 100 }),
      call('https://127.0.0.1:4000/', 'b'),
    ]
    expect(await first).toMatchObject({ ok: false, code: 'timeout' })
    // Not at its own deadline: with its thread.
    expect(await second).toMatchObject({ ok: false, code: 'reset', isOurs: true })
    await until(async () => workers[0]?.threadId === -1)
  })
})
