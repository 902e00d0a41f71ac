// A server that plays the answers of clients/scenarios.json, one for each request, and keeps what arrived.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ScriptedAnswer {
  status?: number
  headers?: Record<string, string>
  json?: unknown
  text?: string
  /** A Content-Length that is longer than the body. */
  declaredBytes?: number
  /** Ends the connection without an answer. */
  close?: true
  /** Never answers, or never ends its body. */
  hang?: true
}

export interface Arrived {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

export interface ScriptedServer {
  url: string
  arrived: Arrived[]
  close(): Promise<void>
}

/** @param onArrival Called when a request has arrived as a whole, before it is answered. */
export async function startScripted(
  answers: readonly ScriptedAnswer[],
  onArrival: () => void = () => {},
): Promise<ScriptedServer> {
  const arrived: Arrived[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => {})
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const answer = answers[arrived.length]
      arrived.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
      onArrival()
      play(answer ?? { status: 418, text: 'the script has no more answers' }, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function play(answer: ScriptedAnswer, response: ServerResponse): void {
  const { status = 200, headers = {}, json, text = JSON.stringify(json ?? ''), declaredBytes, close, hang } = answer
  if (close) return void response.destroy()
  if (hang && answer.status === undefined) return
  const type = json === undefined ? 'text/plain' : status < 400 ? 'application/json' : 'application/problem+json'
  response.writeHead(status, {
    'Content-Type': type,
    ...headers,
    'Content-Length': declaredBytes ?? Buffer.byteLength(text),
  })
  if (declaredBytes === undefined) return void response.end(text)
  response.write(text, () => {
    if (!hang) response.destroy()
  })
}
