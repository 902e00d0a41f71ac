// The only module that calls addresses which tenants name. It resolves the name itself, refuses when any address of it is
// not public, and connects to the very address that it checked: nothing resolves a second time. No redirects, no proxies,
// one deadline over everything, bounded answers. Whatever the other side does is an answer, never an exception.

import { setMaxListeners } from 'node:events'
import { buildConnector, Pool } from 'undici'
import { createLru } from '#src/platform/crypto/lru.ts'
import type { Environment } from '#src/platform/ids.ts'
import { failSpan, inSpan } from '#src/platform/trace.ts'
import { classifyAddress, isPublicAddress } from './address.ts'
import { type Deadline, startDeadline } from './deadline.ts'
import { exchange } from './exchange.ts'
import { createLookup, type Lookup } from './lookup.ts'
import { type ParsedTarget, parseAllowList, parseTarget, type Target } from './url.ts'

export type OutboundErrorCode =
  | 'invalid_url'
  | 'refused_address'
  | 'dns_failed'
  | 'connect_failed'
  | 'tls_failed'
  | 'timeout'
  | 'reset'
  | 'invalid_response'
  | 'response_too_large'
  | 'aborted'

export interface OutboundRequest {
  url: string
  environment: Environment
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: Uint8Array
  /** For name, connection, headers and body together. */
  timeoutMs: number
  /** The rest of a longer body is not read; it is no error. */
  maxResponseBytes: number
  signal?: AbortSignal
}

export type OutboundAnswer =
  | {
      ok: true
      status: number
      /** Names in lower case; repeated ones joined by a comma. */
      headers: ReadonlyMap<string, string>
      body: Buffer
      isTruncated: boolean
      durationMs: number
      address: string
    }
  | {
      ok: false
      code: OutboundErrorCode
      detail: string
      /** The status that came before the body failed. */
      status?: number
      durationMs: number
      address?: string
      /** No connection came about: the receiver has surely seen nothing. */
      isUnconnected?: boolean
    }

export interface OutboundOptions {
  /** Loopback hosts that may be called, `host` or `host:port`: `localhost`, `127.0.0.1:4000`, `[::1]:4000`. For development. */
  allow?: readonly string[]
  lookup?: Lookup
  /** Certificates (PEM) to trust instead of the platform's. */
  ca?: string
}

export interface Outbound {
  /** The rules on the text of a URL, for telling a caller at once. `send` asks them again. */
  check(url: string, environment: Environment): ParsedTarget
  send(request: OutboundRequest): Promise<OutboundAnswer>
  close(): Promise<void>
}

// A dead address must leave time for the next one within the usual 15 s.
const CONNECT_TIMEOUT_MS = 5_000
const MAX_ADDRESSES_TRIED = 3
const MAX_HEADER_BYTES = 16 * 1024
// Idle sockets close by themselves after seconds; this bounds the empty pools that remember them.
const MAX_POOLS = 256
const MAX_TARGETS = 1_000
const KEEP_ALIVE_MS = 4_000
const KEEP_ALIVE_MAX_MS = 30_000

type Problem = Pick<Extract<OutboundAnswer, { ok: false }>, 'code' | 'detail'>

export function createOutbound({ allow = [], lookup = createLookup(), ca }: OutboundOptions = {}): Outbound {
  const allows = parseAllowList(allow)
  // The key holds the address: a connection of one address is never offered to a request that was checked for another.
  const pools = new Map<string, Pool>()
  const targets = createLru<string, ParsedTarget>(MAX_TARGETS)
  const connectErrors = new WeakSet<Error>()
  const closing = new AbortController()
  // Every open socket listens.
  setMaxListeners(0, closing.signal)

  // The text alone decides, so the same text is not read again.
  function targetOf({ url, environment }: OutboundRequest): ParsedTarget {
    const key = `${environment} ${url}`
    const known = targets.get(key)
    if (known !== undefined) return known
    const parsed = parseTarget(url, { environment, allows })
    if (parsed.ok) targets.set(key, parsed)
    return parsed
  }

  function poolOf(target: Target, address: string): Pool {
    const key = `${target.origin} ${address}`
    const known = pools.get(key)
    pools.delete(key)
    const pool = known ?? new Pool(target.origin, { ...POOL, connect: pin(target, address) })
    pools.set(key, pool)
    for (const [oldest, idle] of pools) {
      if (pools.size <= MAX_POOLS) break
      pools.delete(oldest)
      // Running requests finish; each has its deadline.
      void idle.close()
    }
    return pool
  }

  function pin(target: Target, address: string): buildConnector.connector {
    const connect = buildConnector({
      allowH2: false,
      timeout: CONNECT_TIMEOUT_MS,
      rejectUnauthorized: true,
      signal: closing.signal,
      ...(ca === undefined ? {} : { ca }),
    })
    // TLS checks the certificate against the name, the socket goes to the address.
    const name = target.isAddress || target.protocol === 'http:' ? {} : { servername: target.hostname }
    return ({ servername: _, ...options }, callback) =>
      connect({ ...options, hostname: address, ...name }, (error, socket) => {
        if (error === null) return callback(null, socket)
        // undici treats some errors by their code; to it this is one kind, to us the cause tells.
        const wrapped = new Error('connect', { cause: error })
        connectErrors.add(wrapped)
        callback(wrapped, null)
      })
  }

  async function callAt(
    target: Target,
    address: string,
    request: OutboundRequest,
    deadline: Deadline,
  ): Promise<Untimed> {
    const answer = await exchange(
      poolOf(target, address),
      { path: target.path, method: request.method, headers: request.headers, body: request.body ?? null },
      request.maxResponseBytes,
      deadline,
    )
    if ('received' in answer) return { ok: true, ...answer.received, address }
    const { error, status } = answer
    const isUnconnected = connectErrors.has(error)
    const problem =
      interruption(deadline) ?? (isUnconnected ? judgeConnectError(error.cause, target) : judgeError(error))
    return { ok: false, ...problem, isUnconnected, address, ...(status === undefined ? {} : { status }) }
  }

  async function call(request: OutboundRequest, deadline: Deadline): Promise<Untimed> {
    const parsed = targetOf(request)
    if (!parsed.ok) {
      const code = parsed.code === 'address_not_public' ? 'refused_address' : 'invalid_url'
      return { ok: false, code, detail: `${parsed.code}: ${parsed.detail}` }
    }
    const { target } = parsed
    const resolved = await resolve(target, deadline)
    if ('code' in resolved) return { ok: false, ...resolved }
    const refused = resolved.addresses.find((address) => !isCallable(address, target))
    if (refused !== undefined) {
      return { ok: false, code: 'refused_address', detail: `${refused} is not public (${classifyAddress(refused)})` }
    }
    let answer: Untimed = { ok: false, code: 'dns_failed', detail: `${target.hostname} has no address` }
    for (const address of resolved.addresses.slice(0, MAX_ADDRESSES_TRIED)) {
      answer = await callAt(target, address, request, deadline)
      // Only what never got a connection has surely not been seen by the receiver.
      if (answer.ok || !answer.isUnconnected || deadline.ended() !== undefined) break
    }
    return answer
  }

  async function resolve(target: Target, deadline: Deadline): Promise<{ addresses: string[] } | Problem> {
    if (target.isAddress) return { addresses: [target.hostname] }
    try {
      return { addresses: [...new Set(await deadline.race(lookup(target.hostname)))] }
    } catch (error) {
      return interruption(deadline) ?? { code: 'dns_failed', detail: `${target.hostname}: ${codeOf(error)}` }
    }
  }

  function isCallable(address: string, { hostname, port }: Target): boolean {
    return isPublicAddress(address) || (classifyAddress(address) === 'loopback' && allows(hostname, port))
  }

  return {
    check: (url, environment) => parseTarget(url, { environment, allows }),

    async send(request) {
      const startedAt = performance.now()
      const deadline = startDeadline(request.timeoutMs, request.signal)
      try {
        return await inSpan(spanOf(request), async (span) => {
          const answer = await call(request, deadline)
          if (answer.status !== undefined) span.setAttribute('http.response.status_code', answer.status)
          if (answer.address !== undefined) span.setAttribute('network.peer.address', answer.address)
          if (!answer.ok) failSpan(span, answer.code)
          else if (answer.status >= 400) failSpan(span, String(answer.status))
          return { ...answer, durationMs: Math.round(performance.now() - startedAt) }
        })
      } finally {
        deadline.clear()
      }
    },

    async close() {
      const open = [...pools.values()]
      pools.clear()
      const destroyed = open.map((pool) => pool.destroy())
      // undici waits for connections in the making, which may be waiting for a peer that never answers.
      closing.abort()
      await Promise.all(destroyed)
    },
  }
}

// The host alone: a tenant's path and query may be its secret. And no traceparent goes out: whoever answers is a stranger,
// who needs none of our ids, and knows the event by its own.
function spanOf({ url, method }: OutboundRequest) {
  return () => ({
    name: method,
    kind: 'client' as const,
    attributes: {
      'http.request.method': method,
      'server.address': URL.canParse(url) ? new URL(url).hostname : '',
    },
  })
}

const POOL = {
  allowH2: false,
  pipelining: 1,
  maxHeaderSize: MAX_HEADER_BYTES,
  keepAliveTimeout: KEEP_ALIVE_MS,
  keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
  // The call's own deadline covers both; undici's would be two more timers.
  headersTimeout: 0,
  bodyTimeout: 0,
} satisfies Pool.Options

type Untimed = DistributiveOmit<OutboundAnswer, 'durationMs'>
type DistributiveOmit<Union, Key extends PropertyKey> = Union extends unknown ? Omit<Union, Key> : never

function interruption(deadline: Deadline): Problem | undefined {
  const code = deadline.ended()
  return code && { code, detail: code === 'timeout' ? 'not done in time' : 'the caller gave up' }
}

const UNREACHABLE = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'EACCES', 'EPERM'])

function judgeConnectError(error: unknown, { protocol }: Target): Problem {
  const code = codeOf(error)
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
    return { code: 'timeout', detail: `no connection after ${CONNECT_TIMEOUT_MS} ms` }
  }
  if (UNREACHABLE.has(code) || protocol === 'http:') return { code: 'connect_failed', detail: code }
  // Before the handshake is done everything else is the handshake: certificates, versions, a peer that isn't TLS.
  return { code: 'tls_failed', detail: code }
}

function judgeError(error: unknown): Problem {
  const code = codeOf(error)
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW') {
    return { code: 'response_too_large', detail: `headers of more than ${MAX_HEADER_BYTES} bytes` }
  }
  if (code.startsWith('HPE_') || code === 'HTTPParserError' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return { code: 'invalid_response', detail: code }
  }
  // An argument that undici refuses is our mistake, not the receiver's.
  if (code === 'UND_ERR_INVALID_ARG') throw error
  return { code: 'reset', detail: code }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
