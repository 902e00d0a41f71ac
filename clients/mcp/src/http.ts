// MCP over HTTP. On loopback the key of the environment serves every local caller, so a page of another site must not get through:
// Host and Origin are checked. On any other address each request brings a key of its own, and that of the environment is not used.

import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpServer,
  originValidationResponse,
} from '@modelcontextprotocol/server'

export interface HttpOptions {
  host: string
  port: number
  /** The key of the environment. */
  apiKey: string | undefined
  serverFor(apiKey: string): McpServer
  onError(error: Error): void
}

export interface HttpServer {
  url: string
  close(): Promise<void>
}

const PATH = '/mcp'
const LOOPBACK = ['127.0.0.1', '::1', 'localhost']

/** Other machines can't reach it. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.includes(host)
}

export async function serveHttp({ host, port, apiKey, serverFor, onError }: HttpOptions): Promise<HttpServer> {
  const isLocal = isLoopback(host)
  const handler = createMcpHandler(
    ({ authInfo }) => {
      if (authInfo === undefined) throw new Error('a request without a key reached the handler')
      return serverFor(authInfo.token)
    },
    { onerror: onError },
  )

  async function answer(request: Request): Promise<Response> {
    if (new URL(request.url).pathname !== PATH) return problem(404, `Only ${PATH} is here.`)
    if (isLocal) {
      const refused =
        hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
        originValidationResponse(request, localhostAllowedOrigins())
      if (refused !== undefined) return refused
    }
    const own = keyOf(request)
    const key = own ?? (isLocal && !request.headers.has('Authorization') ? apiKey : undefined)
    if (key === undefined) {
      return problem(401, 'Send an API key of Countersign as Authorization: Bearer.', { 'WWW-Authenticate': 'Bearer' })
    }
    // The service checks the key with each call.
    return handler.fetch(request, { authInfo: { token: key, clientId: 'key', scopes: [] } })
  }

  const server = createHttpServer((incoming, outgoing) => {
    serve(incoming, outgoing, answer).catch((error: unknown) => {
      // A caller that went away is no fault.
      if (!outgoing.destroyed) onError(error instanceof Error ? error : new Error('a request failed'))
      outgoing.destroy()
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}${PATH}`,
    async close() {
      await handler.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: (request: Request) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController()
  outgoing.once('close', () => gone.abort())
  const request = requestOf(incoming, gone.signal)
  const response =
    request === undefined ? problem(400, 'The request has no valid address or header.') : await answer(request)
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body === null) outgoing.end()
  else await pipeline(Readable.fromWeb(response.body), outgoing)
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = 'GET', url = '/', headers: sent } = incoming
  try {
    const headers = new Headers()
    for (const [name, value] of Object.entries(sent)) {
      for (const one of Array.isArray(value) ? value : [value ?? '']) headers.append(name, one)
    }
    const hasBody = method !== 'GET' && method !== 'HEAD'
    const body = hasBody
      ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' as const }
      : {}
    return new Request(new URL(url, 'http://localhost'), { method, headers, signal, ...body })
  } catch {
    return undefined
  }
}

function keyOf({ headers }: Request): string | undefined {
  return /^Bearer +([!-~]+)$/i.exec(headers.get('Authorization') ?? '')?.[1]
}

function problem(status: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, { status, headers })
}
