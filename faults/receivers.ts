// The receivers of webhooks: endpoints on real HTTP servers that record each delivery as it came, and can turn hostile.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createHostility, type Manner } from './hostility.ts'
import { clock, type Journal } from './journal.ts'

export interface Receivers {
  port: number
  /** How all of them answer from now on. */
  behave(how: Manner): void
  close(): Promise<void>
}

const MAX_BYTES = 1_000_000

/** One server; the last part of the path names the receiver. */
export async function startReceivers(journal: Journal): Promise<Receivers> {
  const hostility = createHostility()
  let count = 0

  const server = createServer((req, res) => void receive(req, res).catch(() => res.destroy()))
  server.keepAliveTimeout = 60_000
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))

  async function receive(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = await readBody(req)
    count += 1
    const n = count
    const headers = Object.fromEntries(
      Object.entries(req.headers).filter(([name]) => /^(?:service-|webhook-)/.test(name)),
    ) as Record<string, string>
    journal.write({ kind: 'received', n, at: clock(), receiver: req.url?.split('/').pop() ?? '', headers, body })
    const acknowledge = (status: number) => journal.write({ kind: 'acknowledged', n, at: clock(), status })
    if (hostility.turn(res, acknowledge)) return
    res.writeHead(204)
    res.end(() => acknowledge(204))
  }

  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    behave: hostility.behave,
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

async function readBody(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of req) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error('a delivery of this size is not one of ours')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
