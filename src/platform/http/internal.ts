// The internal port (loopback by default): readiness, metrics, and the queues as a page and as JSON, for operators only.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Registry } from 'prom-client'
import { isEqualBytes, sha256 } from '#src/platform/crypto/digest.ts'
import { isOwnHost } from './request-headers.ts'
import type { App } from './server.ts'

/** Resolves when the part is healthy. `/health/ready` shows its name. */
export type Check = (signal: AbortSignal) => Promise<unknown>

/** Answers everything at and below its path, in any method. */
export interface InternalPart {
  path: string
  answer(req: IncomingMessage, res: ServerResponse): Promise<void>
}

interface InternalDeps {
  checks: Record<string, Check>
  registry: Registry
  onFailedCheck?: (name: string, error: unknown) => void
  /** The process is stopping: a load balancer should choose another one. */
  isStopping?: () => boolean
  parts?: readonly InternalPart[]
  /** Host names that a request may use besides addresses and localhost. */
  hosts?: readonly string[]
  /** A check that takes longer has failed: a load balancer probes every few seconds. */
  checkTimeoutMs?: number
}

/**
 * `GET /health/ready`: 200 `{status:'ready'}`, or 503 `{status:'unavailable', failed:[names]}` or
 * `{status:'stopping'}`. `GET /metrics`: Prometheus text. Each part is below its own path. 421 where Host is a name
 * that is not allowed. Pass the app to `listen`.
 */
export function createInternalApp({
  checks,
  registry,
  onFailedCheck = () => {},
  isStopping = () => false,
  parts = [],
  hosts = [],
  checkTimeoutMs = 2_000,
}: InternalDeps): App {
  async function runCheck(name: string, check: Check): Promise<string | undefined> {
    const signal = AbortSignal.timeout(checkTimeoutMs)
    try {
      await Promise.race([check(signal), rejectOn(signal)])
      return undefined
    } catch (error) {
      onFailedCheck(name, error)
      return name
    }
  }

  const allowed = new Set(hosts.map((host) => host.toLowerCase()))

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (!isOwnHost(req.headers.host, allowed)) return write(res, 421, { status: 'host_not_allowed' })
    const path = req.url?.split('?')[0] ?? ''
    const part = parts.find((one) => path === one.path || path.startsWith(`${one.path}/`))
    if (part !== undefined) return part.answer(req, res)
    if (req.method !== 'GET' && req.method !== 'HEAD') return write(res, 405, { status: 'method_not_allowed' })
    if (path === '/metrics') {
      const text = await registry.metrics()
      res.writeHead(200, { 'Content-Type': registry.contentType }).end(text)
      return
    }
    if (path !== '/health/ready') return write(res, 404, { status: 'not_found' })
    if (isStopping()) return write(res, 503, { status: 'stopping' })
    const outcomes = await Promise.all(Object.entries(checks).map(([name, check]) => runCheck(name, check)))
    const failed = outcomes.filter((name) => name !== undefined)
    if (failed.length === 0) write(res, 200, { status: 'ready' })
    else write(res, 503, { status: 'unavailable', failed })
  }

  return {
    callback: () => (req, res) => {
      answer(req, res).catch((error: unknown) => {
        onFailedCheck('internal port', error)
        if (res.headersSent) res.destroy()
        else write(res, 500, { status: 'error' })
      })
    },
  }
}

/** RFC 7617; any user name is accepted. */
export function hasPassword(req: IncomingMessage, password: string): boolean {
  const given = /^Basic ([A-Za-z0-9+/=]{1,400})$/.exec(req.headers.authorization ?? '')?.[1]
  if (given === undefined) return false
  const [, ...rest] = Buffer.from(given, 'base64').toString().split(':')
  return isEqualBytes(sha256(rest.join(':')), sha256(password))
}

/** A browser that knows the password also sends it with requests that other pages cause. */
export function isFromHere(req: IncomingMessage): boolean {
  const { origin, host, 'sec-fetch-site': site } = req.headers
  const isOriginOurs = origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
  return isOriginOurs && (site === undefined || site === 'same-origin')
}

function write(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }).end(JSON.stringify(body))
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('the check took too long')), { once: true })
  })
}
