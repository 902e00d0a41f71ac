// The node:http server: limits so that a slow or silent peer holds nothing for long, and an ordered shutdown.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'

// Above the 60 s that load balancers keep an idle connection: their side must close first, or a request crosses our
// close and gets a 502.
const KEEP_ALIVE_MS = 75_000
const HEADERS_MS = 15_000
// A connection without traffic in either direction, including one whose reader stopped reading; above the 30 s that a
// waiting caller may be silent.
const SILENCE_MS = 120_000
const MAX_HEADER_BYTES = 16 * 1024
const SWEEP_MS = 100
// A connection that was just accepted may have a request on its way.
const UNUSED_GRACE_MS = 500

/** A Koa application, or any other request listener. */
export interface App {
  callback(): (req: IncomingMessage, res: ServerResponse) => unknown
}

export interface Listening {
  port: number
  /** Stops accepting, lets requests finish, and cuts the remaining connections after `deadlineMs`. */
  close(deadlineMs: number): Promise<void>
}

/** @param port 0 takes a free one. */
export async function listen(app: App, { port, host }: { port: number; host: string }): Promise<Listening> {
  const answer = app.callback()
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_MS,
    // An upload may take long: its minimum rate is checked where the body is read.
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: 5_000,
    // Node would refuse it with an empty answer; see below.
    requireHostHeader: false,
  })
  server.setTimeout(SILENCE_MS)

  let isClosing = false
  const onRequest = (req: IncomingMessage, res: ServerResponse) => {
    if (isClosing) res.setHeader('Connection', 'close')
    req.url = originForm(req.url ?? '/')
    // RFC 9112 3.2: the one header that HTTP/1.1 requires, and never more than one: proxies may have read another one of them.
    const hosts = countHosts(req.rawHeaders)
    if (hosts === 0 && req.httpVersionMinor >= 1) refuseHost(res, 'The request has no Host header.')
    else if (hosts > 1) refuseHost(res, 'The request has more than one Host header.')
    else answer(req, res)
  }
  server.on('request', onRequest)
  // Without this listener node would send 100 Continue for every body. The reader of a body sends it (see body.ts), so
  // that a refused upload is never sent.
  server.on('checkContinue', onRequest)
  // RFC 9110 10.1.1 permits ignoring an unknown expectation; node's own answer would not be problem+json.
  server.on('checkExpectation', onRequest)
  server.on('clientError', refuseMalformed)
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return {
    port: (server.address() as AddressInfo).port,
    close(deadlineMs) {
      isClosing = true
      return closeServer(server, sockets, deadlineMs)
    },
  }
}

function closeServer(server: Server, sockets: ReadonlySet<Socket>, deadlineMs: number): Promise<void> {
  return new Promise((resolve) => {
    const startedAt = performance.now()
    const closeIdle = () => {
      server.closeIdleConnections()
      if (performance.now() - startedAt < UNUSED_GRACE_MS) return
      // Connections opened in advance (browsers, pools) and never used: node counts them as waiting for headers, not as
      // idle.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    }
    // A connection becomes idle when its last answer has been sent, so connections are swept until all are closed.
    const sweep = setInterval(closeIdle, SWEEP_MS)
    const deadline = setTimeout(() => server.closeAllConnections(), deadlineMs)
    server.close(() => {
      clearInterval(sweep)
      clearTimeout(deadline)
      resolve()
    })
    closeIdle()
  })
}

// RFC 9112 3.2.2: the absolute form that proxies send is accepted too, whatever host it names. A host that can't be
// parsed throws in the parser that Koa uses.
function originForm(target: string): string {
  const [absolute] = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(target) ?? []
  if (absolute === undefined) return target
  const rest = target.slice(absolute.length)
  return rest.startsWith('/') ? rest : `/${rest}`
}

// Names and values in turns. Node keeps the first Host in `headers` and drops the others.
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1
  }
  return count
}

function refuseHost(res: ServerResponse, detail: string): void {
  const body = problem(false, detail)
  const headers = { 'Content-Type': 'application/problem+json', 'Content-Length': Buffer.byteLength(body) }
  res.writeHead(400, { ...headers, Connection: 'close' }).end(body)
}

function problem(isSlow: boolean, detail: string): string {
  return JSON.stringify({
    type: 'about:blank',
    title: isSlow ? 'Request too slow' : 'Invalid request',
    status: isSlow ? 408 : 400,
    code: isSlow ? 'request_timeout' : 'invalid_request',
    detail,
  })
}

// A request that is not HTTP has no route, no key and no request id; the answer is fixed text.
function refuseMalformed(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswered(socket)) {
    socket.destroy()
    return
  }
  const isSlow = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const detail =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? `The request line and headers must not be larger than ${MAX_HEADER_BYTES} bytes.`
      : isSlow
        ? `The headers did not arrive within ${HEADERS_MS / 1000} seconds.`
        : 'This is not a well-formed HTTP/1.1 request.'
  const body = problem(isSlow, detail)
  socket.end(
    `HTTP/1.1 ${isSlow ? '408 Request Timeout' : '400 Bad Request'}\r\nConnection: close\r\n` +
      `Content-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

// Node keeps the current answer on the socket: a second status line in its middle would corrupt it.
function isAnswered(socket: Duplex): boolean {
  const current: unknown = Reflect.get(socket, '_httpMessage')
  return typeof current === 'object' && current !== null && Reflect.get(current, 'headersSent') === true
}
