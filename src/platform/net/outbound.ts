// The only module that calls addresses which tenants name. It resolves the name itself, refuses when any of its
// addresses is not public, and connects to the address that it checked: no code resolves the name again. No redirects,
// no proxies, one deadline for the whole call, bounded answers. Every behaviour of the receiver becomes an answer,
// never an exception. https runs in egress threads, http (development, and the public sandbox) here.

import { setMaxListeners } from 'node:events'
import { LRUCache } from 'lru-cache'
import type { Environment } from '#src/platform/ids.ts'
import { failSpan, inSpan } from '#src/platform/trace.ts'
import { classifyAddress, isPublicAddress } from './address.ts'
import {
  type CallProblem,
  CONNECT_TIMEOUT_MS,
  createCaller,
  errorCodeOf,
  interruption,
  type Untimed,
} from './caller.ts'
import { type Deadline, startDeadline } from './deadline.ts'
import { createEgress } from './egress.ts'
import { createLookup, isUnanswered, type Lookup } from './lookup.ts'
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

/** The account of the deployment's own calls, to addresses that its operator names. */
export const OPERATOR = 'operator'

export interface OutboundRequest {
  /** An account's id, or `OPERATOR`. A slow receiver of one account must not delay the calls of another. */
  account: string
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

/** Milliseconds of each phase; null for one that did not happen, or did not end. */
export interface Timing {
  /** null: the URL names an address. */
  dnsMs: number | null
  /** null, like `tlsMs`: an open connection was used again. */
  connectMs: number | null
  tlsMs: number | null
  /** From the request to the head of the answer. */
  firstByteMs: number | null
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
      timing: Timing
    }
  | {
      ok: false
      code: OutboundErrorCode
      detail: string
      /** The status that came before the body failed. */
      status?: number
      /** The headers and the part of the body that came before it failed. */
      partial?: PartialAnswer
      durationMs: number
      address?: string
      timing?: Timing
      /** No connection was made: the receiver has certainly seen nothing. */
      isUnconnected?: boolean
      /** A limit or a failure of this service ended the call, or its name servers did: it says nothing of the receiver. */
      isOurs?: boolean
    }

export interface PartialAnswer {
  headers: ReadonlyMap<string, string>
  body: Buffer
}

export interface OutboundOptions {
  /**
   * Loopback hosts that may be called, `host` or `host:port`: `localhost`, `127.0.0.1:4000`, `[::1]:4000`. For
   * development.
   */
  allow?: readonly string[]
  lookup?: Lookup
  /** Certificates (PEM) to trust instead of the platform's. */
  ca?: string
}

export interface Outbound {
  /** The rules on a URL's text, to report a problem at once. `send` checks them again. */
  check(url: string, environment: Environment): ParsedTarget
  send(request: OutboundRequest): Promise<OutboundAnswer>
  close(): Promise<void>
}

const MAX_ADDRESSES_TRIED = 3
const MAX_TARGETS = 1_000
const NOTHING_TIMED: Timing = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null }

export function createOutbound({ allow = [], lookup = createLookup(), ca }: OutboundOptions = {}): Outbound {
  const allows = parseAllowList(allow)
  const targets = new LRUCache<string, ParsedTarget>({ max: MAX_TARGETS })
  const closing = new AbortController()
  // Every open socket adds a listener.
  setMaxListeners(0, closing.signal)
  // The key contains the address: a connection to one address never serves a request that was checked for another. It
  // contains the account, whose connections to one origin are bounded.
  const plain = createCaller({
    keyOf: ({ account, target, address }) => `${account} ${target.origin} ${address}`,
    connectorOf({ address }, build) {
      const connect = build({ allowH2: false, timeout: CONNECT_TIMEOUT_MS, signal: closing.signal })
      return ({ servername: _, ...options }, callback) => connect({ ...options, hostname: address }, callback)
    },
  })
  const secure = createEgress({ ca })

  // Only the text decides, so the result for the last text is reused.
  function targetOf({ url, environment }: OutboundRequest): ParsedTarget {
    const key = `${environment} ${url}`
    const known = targets.get(key)
    if (known !== undefined) return known
    const parsed = parseTarget(url, { environment, allows })
    if (parsed.ok) targets.set(key, parsed)
    return parsed
  }

  async function call(request: OutboundRequest, deadline: Deadline): Promise<Untimed> {
    const parsed = targetOf(request)
    if (!parsed.ok) {
      const code = parsed.code === 'address_not_public' ? 'refused_address' : 'invalid_url'
      return { ok: false, code, detail: `${parsed.code}: ${parsed.detail}` }
    }
    const { target } = parsed
    const lookedUpAt = performance.now()
    const resolved = await resolve(target, deadline)
    const dnsMs = target.isAddress ? null : Math.round(performance.now() - lookedUpAt)
    if ('code' in resolved) return { ok: false, ...resolved }
    const refused = resolved.addresses.find((address) => !isCallable(address, target))
    if (refused !== undefined && tellsAddresses(request, target)) {
      return { ok: false, code: 'refused_address', detail: `${refused} is not public (${classifyAddress(refused)})` }
    }
    let answer: Untimed = { ok: false, ...unresolved(target) }
    if (refused !== undefined) return answer
    for (const address of resolved.addresses.slice(0, MAX_ADDRESSES_TRIED)) {
      const caller = target.protocol === 'https:' ? secure : plain
      answer = await caller.call({ target, address, account: request.account }, request, deadline)
      // Only a request that never got a connection has certainly not been seen by the receiver.
      if (answer.ok || !answer.isUnconnected || deadline.ended() !== undefined) break
    }
    return { ...answer, timing: { ...(answer.timing ?? NOTHING_TIMED), dnsMs } }
  }

  async function resolve(target: Target, deadline: Deadline): Promise<{ addresses: string[] } | CallProblem> {
    if (target.isAddress) return { addresses: [target.hostname] }
    try {
      return { addresses: [...new Set(await deadline.race(lookup(target.hostname)))] }
    } catch (error) {
      const ended = interruption(deadline)
      if (ended !== undefined) return { ...ended, isOurs: true }
      if (!isUnanswered(error)) return unresolved(target)
      return { code: 'dns_failed', detail: `${target.hostname}: ${errorCodeOf(error)}`, isOurs: true }
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
      const closed = Promise.all([plain.close(), secure.close()])
      // undici waits for connections in progress, which may wait for a peer that never answers.
      closing.abort()
      await closed
    },
  }
}

// Which names exist in the network of the service is told to its operator alone: a tenant can't tell a name that leads to
// an address inside of it from one that does not exist.
function tellsAddresses({ account }: OutboundRequest, { isAddress }: Target): boolean {
  return isAddress || account === OPERATOR
}

function unresolved({ hostname }: Target): Pick<CallProblem, 'code' | 'detail'> {
  return { code: 'dns_failed', detail: `${hostname} has no public address` }
}

// Only the host: a tenant's path and query may be secret. No traceparent is sent: the receiver needs no trace ids, and
// identifies the event by its event id.
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
