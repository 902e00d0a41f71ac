import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

export interface Question {
  headers: IncomingHttpHeaders
  rawBody: Buffer
  json: Record<string, unknown> & { rule_id: string; deadline_ms: number }
}

export type Answering = (response: ServerResponse, question: Question) => unknown

export const decide =
  (decision: string, more: object = {}): Answering =>
  (response) =>
    response.end(JSON.stringify({ decision, ...more }))

/** Real receivers on free ports of 127.0.0.1; `close` ends all of them. */
export function createReceivers() {
  const closers: (() => unknown)[] = []

  async function listen(server: Server): Promise<number> {
    const sockets = new Set<Socket>()
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((done) => server.close(done))
    })
    return (server.address() as AddressInfo).port
  }

  function recording(answer: Answering) {
    const questions: Question[] = []
    const serve = async (request: import('node:http').IncomingMessage, response: ServerResponse) => {
      const rawBody = Buffer.concat(await request.toArray())
      const question = { headers: request.headers, rawBody, json: JSON.parse(rawBody.toString()) }
      questions.push(question)
      answer(response, question)
    }
    return { questions, serve }
  }

  return {
    /** Answers over http, and records the questions. */
    async plain(answer: Answering) {
      const { questions, serve } = recording(answer)
      return { questions, url: `http://127.0.0.1:${await listen(createHttpServer(serve))}/decide?for=policy` }
    },
    async secure(name: string, { key, cert }: { key: string; cert: string }, answer: Answering) {
      const { questions, serve } = recording(answer)
      return { questions, url: `https://${name}:${await listen(createHttpsServer({ key, cert }, serve))}/decide` }
    },
    /** At the socket's level, for answers that no HTTP library sends. */
    async raw(answer: (socket: Socket) => unknown) {
      return `http://127.0.0.1:${await listen(createServer((socket) => socket.once('data', () => answer(socket))))}/`
    },
    async close() {
      for (const close of closers.splice(0).reverse()) await close()
    },
  }
}

export async function drip(socket: Socket, head: string, drop: string): Promise<void> {
  socket.write(head)
  while (!socket.destroyed) {
    socket.write(drop)
    await delay(20)
  }
}

/** Sends until the connection is closed. Returns how many bytes were sent. */
export async function flood(socket: Socket, head: string): Promise<number> {
  let sent = 0
  socket.write(head)
  const chunk = Buffer.alloc(64 * 1024, 'a')
  while (!socket.destroyed && sent < 256 * 1024 * 1024) {
    sent += chunk.length
    if (!socket.write(chunk)) await new Promise((done) => socket.once('drain', done).once('close', done))
  }
  return sent
}
