// The internal port (loopback by default): readiness, metrics and the board of the queues, for operators only.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Registry } from 'prom-client'
import { isOwnHost } from './request-headers.ts'
import type { App } from './server.ts'

/** Resolves when the part is healthy. `/health/ready` shows its name. */
export type Check = (signal: AbortSignal) => Promise<unknown>

interface InternalDeps {
  checks: Record<string, Check>
  registry: Registry
  onFailedCheck?: (name: string, error: unknown) => void
  /** The process is stopping: a load balancer should choose another one. */
  isStopping?: () => boolean
  /** Answers everything below its path, in any method. */
  board?: { path: string; answer(req: IncomingMessage, res: ServerResponse): Promise<void> }
  /** Host names that a request may use besides addresses and localhost. */
  hosts?: readonly string[]
  /** A check that takes longer has failed: a load balancer probes every few seconds. */
  checkTimeoutMs?: number
}

/**
 * `GET /health/ready`: 200 `{status:'ready'}`, or 503 `{status:'unavailable', failed:[names]}` or
 * `{status:'stopping'}`. `GET /metrics`: Prometheus text. The board is below its own path. 421 where Host is a name
 * that is not allowed. Pass the app to `listen`.
 */
export function createInternalApp({
  checks,
  registry,
  onFailedCheck = () => {},
  isStopping = () => false,
  board,
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
    if (board !== undefined && (path === board.path || path.startsWith(`${board.path}/`))) return board.answer(req, res)
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

function write(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }).end(JSON.stringify(body))
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('the check took too long')), { once: true })
  })
}
