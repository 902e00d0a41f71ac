// Calls to one checked address, over pools of connections to it. The same code serves http, in the calling thread, and
// https, in an egress thread. Every behaviour of the receiver becomes an answer, never an exception.

import type { buildConnector, Pool } from 'undici'
import { QUEUES } from '#src/catalogue/queues.ts'
import type { Deadline } from './deadline.ts'
import { exchange, INVALID_STATUS } from './exchange.ts'
import type { OutboundAnswer, OutboundRequest } from './outbound.ts'
import type { Target } from './url.ts'

/** The destination of a call: its address was checked, and no code resolves the name again. */
export interface Destination {
  target: Target
  address: string
  /** The account on whose behalf the call is made. */
  account: string
}

export type CallerRequest = Pick<OutboundRequest, 'method' | 'headers' | 'body' | 'maxResponseBytes'>

export interface Connector {
  call(to: Destination, request: CallerRequest, deadline: Deadline): Promise<Untimed>
  close(): Promise<void>
}

export type Untimed = DistributiveOmit<OutboundAnswer, 'durationMs'>
export type CallProblem = Pick<Extract<OutboundAnswer, { ok: false }>, 'code' | 'detail' | 'isOurs'>
type DistributiveOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never

interface CallerOptions {
  /** Calls with the same key share connections. The key must contain origin and address. */
  keyOf(to: Destination): string
  /** Made once per key. */
  connectorOf(to: Destination, build: typeof buildConnector): buildConnector.connector
}

// A hundred modules, loaded at the first call: most processes make none.
let library: typeof import('undici') | undefined

interface ConnectTimes {
  connectMs: number | null
  tlsMs: number | null
}

/** The times of the last connection of a pool that no request has started on. */
interface Fresh {
  times: ConnectTimes | undefined
}

interface TimedPool {
  pool: Pool
  fresh: Fresh
}

/** What the TCP connection under a TLS socket took, in milliseconds. */
export const tcpTimes = new WeakMap<object, number>()

// A dead address must leave time for the next one within the usual 15 s.
export const CONNECT_TIMEOUT_MS = 5_000
const MAX_HEADER_BYTES = 16 * 1024
// Idle sockets close by themselves after seconds; this bounds the number of empty pools.
const MAX_POOLS = 256
// An account's calls at once to one origin: its half of a deliver worker. More would wait for a connection, within their
// deadline.
const MAX_CONNECTIONS = QUEUES.deliver.concurrency / 2
const KEEP_ALIVE_MS = 4_000
const KEEP_ALIVE_MAX_MS = 30_000

export function createCaller({ keyOf, connectorOf }: CallerOptions): Connector {
  const pools = new Map<string, TimedPool>()
  const connectErrors = new WeakSet<Error>()

  function poolOf(to: Destination, undici: typeof import('undici')): TimedPool {
    const key = keyOf(to)
    const known = pools.get(key)
    pools.delete(key)
    const fresh: Fresh = { times: undefined }
    const made = known ?? {
      fresh,
      pool: new undici.Pool(to.target.origin, {
        ...POOL,
        connect: marked(connectorOf(to, undici.buildConnector), to.target, fresh),
      }),
    }
    pools.set(key, made)
    for (const [oldest, idle] of pools) {
      if (pools.size <= MAX_POOLS) break
      pools.delete(oldest)
      // Running requests finish; each has its own deadline.
      void idle.pool.close()
    }
    return made
  }

  function marked(connect: buildConnector.connector, { protocol }: Target, fresh: Fresh): buildConnector.connector {
    return (options, callback) => {
      const startedAt = performance.now()
      connect(options, (error, socket) => {
        if (error === null) {
          const totalMs = Math.round(performance.now() - startedAt)
          const tcpMs = tcpTimes.get(socket) ?? totalMs
          fresh.times = { connectMs: tcpMs, tlsMs: protocol === 'https:' ? Math.max(0, totalMs - tcpMs) : null }
          return callback(null, socket)
        }
        // undici treats some errors by their code. Here they get one code, and the cause tells them apart.
        const wrapped = new Error('connect', { cause: error })
        connectErrors.add(wrapped)
        callback(wrapped, null)
      })
    }
  }

  return {
    async call(to, { method, headers, body = null, maxResponseBytes }, deadline) {
      const { target, address } = to
      library ??= await import('undici')
      const { pool, fresh } = poolOf(to, library)
      let connected: ConnectTimes = { connectMs: null, tlsMs: null }
      const answer = await exchange(
        pool,
        { path: target.path, method, headers, body },
        {
          maxBytes: maxResponseBytes,
          deadline,
          // undici starts a waiting request as soon as its connection is open: the first start after a connect is that
          // of the request that caused it.
          onStart() {
            if (fresh.times !== undefined) connected = fresh.times
            fresh.times = undefined
          },
        },
      )
      const timing = { dnsMs: null, ...connected, firstByteMs: answer.firstByteMs }
      if ('received' in answer) return { ok: true, ...answer.received, address, timing }
      const { error, status, partial } = answer
      const isUnconnected = connectErrors.has(error)
      const problem =
        interruption(deadline) ?? (isUnconnected ? judgeConnectError(error.cause, target) : judgeError(error))
      return {
        ok: false,
        ...problem,
        isUnconnected,
        address,
        timing,
        ...(status === undefined ? {} : { status }),
        ...(partial === undefined ? {} : { partial }),
      }
    },

    async close() {
      const open = [...pools.values()]
      pools.clear()
      await Promise.all(open.map(({ pool }) => pool.destroy()))
    },
  }
}

/** The problem that an ended deadline turns the call into. */
export function interruption(deadline: Pick<Deadline, 'ended'>): CallProblem | undefined {
  const code = deadline.ended()
  return code && { code, detail: code === 'timeout' ? 'not done in time' : 'the caller gave up' }
}

export function errorCodeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

const POOL = {
  allowH2: false,
  pipelining: 1,
  connections: MAX_CONNECTIONS,
  maxHeaderSize: MAX_HEADER_BYTES,
  keepAliveTimeout: KEEP_ALIVE_MS,
  keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
  // The call's own deadline covers both; undici's would be two more timers.
  headersTimeout: 0,
  bodyTimeout: 0,
} satisfies Pool.Options

const UNREACHABLE = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EACCES', 'EPERM'])
// This machine has no descriptor, port or memory left for a connection.
const EXHAUSTED = new Set(['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS', 'ENOMEM'])

function judgeConnectError(error: unknown, { protocol }: Target): CallProblem {
  const code = errorCodeOf(error)
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
    return { code: 'timeout', detail: `no connection after ${CONNECT_TIMEOUT_MS} ms` }
  }
  if (EXHAUSTED.has(code)) return { code: 'connect_failed', detail: code, isOurs: true }
  if (UNREACHABLE.has(code) || protocol === 'http:') return { code: 'connect_failed', detail: code }
  // Until the handshake is done, every other error belongs to the handshake: certificates, versions, a peer that isn't
  // TLS.
  const hasWords = code.startsWith('HANDSHAKE_') && error instanceof Error
  return { code: 'tls_failed', detail: hasWords ? error.message : code, isOurs: code === 'HANDSHAKE_BUDGET' }
}

function judgeError(error: unknown): CallProblem {
  const code = errorCodeOf(error)
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW') {
    return { code: 'response_too_large', detail: `headers of more than ${MAX_HEADER_BYTES} bytes` }
  }
  if (code === INVALID_STATUS && error instanceof Error) return { code: 'invalid_response', detail: error.message }
  if (code.startsWith('HPE_') || code === 'HTTPParserError' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return { code: 'invalid_response', detail: code }
  }
  // An argument that undici refuses is our error, not the receiver's.
  if (code === 'UND_ERR_INVALID_ARG') throw error
  return { code: 'reset', detail: code }
}
