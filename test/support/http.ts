import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll } from 'vitest'
import { type AppDeps, createApp } from '#src/app.ts'
import type { AuditAction } from '#src/catalogue/audit.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import type { Route } from '#src/platform/http/endpoint.ts'
import { listen } from '#src/platform/http/server.ts'
import { createSessionCookies, type SessionCookies } from '#src/platform/http/session-cookie.ts'
import { newAccountId, newId } from '#src/platform/ids.ts'
import { createLog } from '#src/platform/log.ts'
import { createMetrics, type Metrics } from '#src/platform/metrics.ts'
import { sendAgain } from './again.ts'
import { watchDeclared } from './declared.ts'

export interface TestApp {
  port: number
  url: string
  /** Every line that was logged, parsed. */
  logged: Record<string, unknown>[]
  metrics: Metrics
  /** What the audit log must have, as routes that declare it answered with success. */
  acted(): AuditAction[]
  /** Rejects when a route answered something that the OpenAPI document does not declare. */
  close(deadlineMs?: number): Promise<void>
}

export const testCookies = createSessionCookies({ key: Buffer.alloc(32, 7), baseUrl: 'https://api.example.test' })

/** Headers of a signed-in browser; without `withToken: false`, those of its mutations too. */
export function cookiesOf(
  session: { id: string; secret: string },
  { cookies = testCookies, withToken = true }: { cookies?: SessionCookies; withToken?: boolean } = {},
): Record<string, string> {
  const sent = cookies.issue({ ...session, maxAgeSeconds: 60 }).map((line) => line.split(';')[0] ?? '')
  return { Cookie: sent.join('; '), ...(withToken && { 'X-CSRF-Token': cookies.tokenOf(session.id) }) }
}

/** The real application on a free port. Without `findKey`, no key is known. */
export async function startApp(routes: Route[], deps: Partial<AppDeps> = {}): Promise<TestApp> {
  const logged: Record<string, unknown>[] = []
  const log = createLog({ process: 'web', level: 'debug' }, { write: (line) => void logged.push(JSON.parse(line)) })
  const metrics = createMetrics({ process: 'web' })
  const declared = watchDeclared(routes)
  const app = createApp({
    routes: declared.routes,
    findKey: async () => undefined,
    cookies: testCookies,
    findEffect: async () => undefined,
    jwks: async () => ({ keys: [] }),
    baseUrl: 'https://api.example.test',
    log,
    metrics,
    ...deps,
  })
  const { port, close } = await listen(app, { port: 0, host: '127.0.0.1' })
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    logged,
    metrics,
    acted: declared.acted,
    async close(deadlineMs = 1_000) {
      await close(deadlineMs)
      const undeclared = declared.undeclared()
      if (undeclared.length > 0) throw new Error(`not in the OpenAPI document:\n${undeclared.join('\n')}`)
    },
  }
}

/** A key as the store returns it, with defaults. */
export function makeKeyRow(row: Partial<KeyRow> = {}): KeyRow {
  const environment = row.environment ?? 'sandbox'
  return {
    keyId: newId('key', environment),
    accountId: newAccountId('acc'),
    environment,
    scopes: ['verify'],
    isAccountBearing: true,
    plan: 'enterprise',
    products: ['attest', 'authorize', 'trace'],
    expiresAt: undefined,
    revokedAt: undefined,
    suspendedAt: undefined,
    ipAllow: undefined,
    ...row,
  }
}

export interface TestAnswer {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The parsed body, or undefined when it is not JSON. */
  json: Record<string, unknown> & { code?: string; errors?: { pointer: string; code: string }[] }
}

interface Sent {
  method?: string
  headers?: Record<string, string | string[]>
  body?: string | Uint8Array
  key?: string
  json?: unknown
}

let returns503 = false

/** For a file or a describe block about 503: `call` returns the answer, and does not send the request again. */
export function return503(): void {
  beforeAll(() => {
    returns503 = true
  })
  afterAll(() => {
    returns503 = false
  })
}

/** One request on a connection of its own; after a 503 with Retry-After another one. */
export function call(app: { port: number }, path: string, sent: Sent = {}): Promise<TestAnswer> {
  if (returns503) return send(app, path, sent)
  return sendAgain(
    () => send(app, path, sent),
    ({ status, headers }) => ({ status, retryAfter: headers['retry-after'] }),
  )
}

function send(app: { port: number }, path: string, sent: Sent): Promise<TestAnswer> {
  const body = sent.json === undefined ? sent.body : JSON.stringify(sent.json)
  const headers = {
    ...(sent.key === undefined ? {} : { Authorization: `Bearer ${sent.key}` }),
    ...(sent.json === undefined ? {} : { 'Content-Type': 'application/json' }),
    ...sent.headers,
  }
  return new Promise((resolve, reject) => {
    const req = httpRequest(
      {
        host: '127.0.0.1',
        port: app.port,
        path,
        method: sent.method ?? (body === undefined ? 'GET' : 'POST'),
        headers,
        agent: false,
      },
      (res) => {
        const chunks: Buffer[] = []
        res.on('data', (chunk: Buffer) => chunks.push(chunk))
        res.on('error', reject)
        res.on('end', () => resolve(answerOf(res.statusCode ?? 0, res.headers, Buffer.concat(chunks).toString())))
      },
    )
    req.on('error', reject)
    if (body !== undefined) req.setHeader('Content-Length', Buffer.byteLength(body))
    req.end(body)
  })
}

/** Writes bytes unchanged, and returns all that came back until the server closed. */
export function callRaw(app: { port: number }, ...parts: (string | Uint8Array)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(app.port, '127.0.0.1', () => {
      for (const part of parts) socket.write(part)
    })
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('error', reject)
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
  })
}

function answerOf(status: number, headers: IncomingHttpHeaders, text: string): TestAnswer {
  const isJson = /[/+]json/.test(headers['content-type'] ?? '') && text !== ''
  return { status, headers, text, json: isJson ? JSON.parse(text) : {} }
}
