// Requests as fast as a server takes them, or at a rate. Bare sockets and prepared bytes: the measuring process must
// cost less than the measured one.

import { connect, type Socket } from 'node:net'
import { median } from './harness.ts'
import { type Process, processorMs } from './processes.ts'

export interface Answer {
  status: number
  body: Buffer
}

export interface Connection {
  /** Sends one request and answers its response. One at a time. */
  send(parts: readonly Uint8Array[]): Promise<Answer>
  close(): void
}

interface Wanted {
  method: 'GET' | 'POST' | 'PUT'
  path: string
  key?: string
  headers?: Record<string, string>
  body?: Uint8Array
  /** When the body is sent separately. */
  contentLength?: number
}

/** The bytes of a request. */
export function requestOf({ method, path, key, headers = {}, body, contentLength = body?.byteLength }: Wanted): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(contentLength === undefined ? [] : [`Content-Length: ${contentLength}`]),
  ]
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
  return body === undefined ? head : Buffer.concat([head, body])
}

export async function openConnection(port: number): Promise<Connection> {
  const socket = await new Promise<Socket>((done, fail) => {
    const opening = connect({ port, host: '127.0.0.1', noDelay: true }, () => done(opening)).once('error', fail)
  })
  let received: Buffer = Buffer.alloc(0)
  let waiting: { done(answer: Answer): void; fail(error: Error): void } | undefined
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd === -1) return
    const head = received.toString('latin1', 0, headEnd)
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
    if (length === undefined) return void socket.destroy(new Error(`an answer without a length: ${head}`))
    const end = headEnd + 4 + Number(length)
    if (received.length < end) return
    const body = received.subarray(headEnd + 4, end)
    received = received.subarray(end)
    waiting?.done({ status: Number(head.slice(9, 12)), body })
  })
  socket.on('error', (error) => waiting?.fail(error))
  socket.on('close', () => waiting?.fail(new Error('the connection was closed')))
  return {
    send: (parts) =>
      new Promise((done, fail) => {
        if (socket.destroyed) return fail(new Error('the server has closed the connection'))
        waiting = { done, fail }
        socket.cork()
        for (const part of parts) socket.write(part)
        socket.uncork()
      }),
    close: () => void socket.destroy(),
  }
}

interface LoadOptions {
  port: number
  connections: number
  seconds: number
  /** The next request's bytes. */
  request(): readonly Uint8Array[]
  /** The status that every answer must have. */
  status: number
}

export interface Loaded {
  /** Answers per second. */
  rate: number
  latenciesMs: number[]
}

/** Every connection sends its next request when it has its answer. */
export async function closedLoop({ port, connections, seconds, request, status }: LoadOptions): Promise<Loaded> {
  const open = await openAll(port, connections)
  const latenciesMs: number[] = []
  const startedAt = performance.now()
  const deadline = startedAt + seconds * 1_000
  await Promise.all(
    open.map(async (connection) => {
      for (let at = performance.now(); at < deadline; at = performance.now()) {
        check(await connection.send(request()), status)
        latenciesMs.push(performance.now() - at)
      }
    }),
  )
  const elapsedMs = performance.now() - startedAt
  for (const connection of open) connection.close()
  return { rate: (latenciesMs.length / elapsedMs) * 1_000, latenciesMs }
}

/** Each request is sent once: for those that use something up. @throws {Error} for an answer that is not good. */
export async function sendEach({
  port,
  connections,
  requests,
  isGood,
}: Pick<LoadOptions, 'port' | 'connections'> & {
  requests: readonly Uint8Array[]
  isGood(status: number, body: Buffer): boolean
}): Promise<Loaded & { statuses: ReadonlyMap<number, number> }> {
  const open = await openAll(port, connections)
  const latenciesMs: number[] = []
  const statuses = new Map<number, number>()
  const left = requests.values()
  const startedAt = performance.now()
  await Promise.all(
    open.map(async (connection) => {
      for (const bytes of left) {
        const at = performance.now()
        const { status, body } = await connection.send([bytes])
        if (!isGood(status, body)) throw new Error(`answered ${status}: ${body.toString().slice(0, 500)}`)
        latenciesMs.push(performance.now() - at)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }),
  )
  const elapsedMs = performance.now() - startedAt
  for (const connection of open) connection.close()
  return { rate: (latenciesMs.length / elapsedMs) * 1_000, latenciesMs, statuses }
}

/**
 * Requests are sent at their times, whether or not earlier ones have been answered: their wait for a connection counts.
 */
export async function openLoop({
  port,
  connections,
  seconds,
  request,
  status,
  ratePerSecond,
}: LoadOptions & { ratePerSecond: number }): Promise<Loaded> {
  const open = await openAll(port, connections)
  const free = [...open]
  const due: number[] = []
  const latenciesMs: number[] = []
  const total = Math.round(ratePerSecond * seconds)
  const startedAt = performance.now()
  let planned = 0
  await new Promise<void>((done, fail) => {
    const pump = () => {
      for (let at = due[0]; at !== undefined && free.length > 0; at = due[0]) {
        due.shift()
        void run(at, free.pop() as Connection).catch(fail)
      }
    }
    const run = async (at: number, connection: Connection) => {
      check(await connection.send(request()), status)
      latenciesMs.push(performance.now() - at)
      free.push(connection)
      if (latenciesMs.length === total) done()
      else pump()
    }
    const timer = setInterval(() => {
      const until = Math.min(total, ((performance.now() - startedAt) / 1_000) * ratePerSecond)
      for (; planned < until; planned += 1) due.push(startedAt + (planned / ratePerSecond) * 1_000)
      if (planned >= total) clearInterval(timer)
      pump()
    }, 1)
  })
  const elapsedMs = performance.now() - startedAt
  for (const connection of open) connection.close()
  return { rate: (total / elapsedMs) * 1_000, latenciesMs }
}

/** Rates of a process, and the processor time that one answer cost it, without Postgres's. */
export function createMeter(load: Omit<LoadOptions, 'port'>) {
  const costs = new Map<number, number[]>()
  return {
    async rateOf({ pid, port }: Pick<Process, 'pid' | 'port'>): Promise<number> {
      const before = processorMs(pid)
      const { rate, latenciesMs } = await closedLoop({ ...load, port })
      const after = processorMs(pid)
      if (before !== undefined && after !== undefined) {
        costs.set(pid, [...(costs.get(pid) ?? []), (after - before) / latenciesMs.length])
      }
      return rate
    },
    /** Medians, without the warm-up run. */
    costs(...processes: Pick<Process, 'pid'>[]): string {
      const told = processes.map(({ pid }) => `${median(costs.get(pid)?.slice(1) ?? []).toFixed(2)} ms`)
      return `processor time of the process per answer: ours ${told[0]}, floor ${told[1]}`
    },
  }
}

/** One request on its own connection. */
export async function once(port: number, parts: readonly Uint8Array[], status: number): Promise<Buffer> {
  const connection = await openConnection(port)
  try {
    return check(await connection.send(parts), status)
  } finally {
    connection.close()
  }
}

/** @throws {Error} because a benchmark of refusals would be a fast one. */
export function check({ status, body }: Answer, expected: number): Buffer {
  if (status !== expected)
    throw new Error(`answered ${status} instead of ${expected}: ${body.toString().slice(0, 500)}`)
  return body
}

function openAll(port: number, count: number): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => openConnection(port)))
}
