// A detector as a real server on a free port: it answers what the test sets next, and records what it was asked.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Asked {
  url: string
  headers: IncomingHttpHeaders
  body: Buffer
}

export type Answer =
  | { status?: number; headers?: Record<string, string>; json?: unknown; text?: string | Buffer }
  /** Holds the call until the caller disconnects. */
  | 'hang'

export interface FakeDetector {
  url: string
  asked: Asked[]
  /** The answer to every further call. */
  answer: Answer | ((asked: Asked) => Answer)
  close(): Promise<void>
}

export async function startDetector(answer: FakeDetector['answer']): Promise<FakeDetector> {
  const asked: Asked[] = []
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('error', () => {})
    req.on('end', () => {
      const one = { url: req.url ?? '', headers: req.headers, body: Buffer.concat(chunks) }
      asked.push(one)
      const next = typeof detector.answer === 'function' ? detector.answer(one) : detector.answer
      if (next !== 'hang') send(res, next)
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as AddressInfo
  const detector: FakeDetector = {
    url: `http://127.0.0.1:${port}/check`,
    asked,
    answer,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections()
        server.close(() => done())
      }),
  }
  return detector
}

function send(res: ServerResponse, { status = 200, headers = {}, json, text }: Exclude<Answer, 'hang'>): void {
  res.on('error', () => {})
  res.writeHead(status, { 'content-type': 'application/json', ...headers })
  res.end(text ?? JSON.stringify(json))
}
