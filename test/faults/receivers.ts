// Where webhooks go: real HTTP servers' worth of endpoints that write down each delivery as it came, and can turn hostile.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { clock, type Journal } from './journal.ts'
import type { Hostility } from './plan.ts'

export interface Receivers {
  port: number
  /** How all of them answer from now on. */
  behave(how: 'well' | Hostility): void
  close(): Promise<void>
}

const MAX_BYTES = 1_000_000

/** One server; the last part of the path names the receiver. */
export async function startReceivers(journal: Journal): Promise<Receivers> {
  let behaviour: 'well' | Hostility = 'well'
  let count = 0
  const hanging = new Set<ServerResponse>()

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
    answer(res, behaviour, acknowledge)
  }

  function answer(res: ServerResponse, how: 'well' | Hostility, acknowledge: (status: number) => void): void {
    const end = (status: number, headers: Record<string, string> = {}) => {
      res.writeHead(status, headers)
      res.end(() => acknowledge(status))
    }
    if (how === 'well') end(204)
    else if (how === 'error') end(500)
    // To where nothing listens: whoever follows it has failed already.
    else if (how === 'redirect') end(302, { location: 'http://127.0.0.1:1/elsewhere' })
    else if (how === 'close') res.socket?.resetAndDestroy()
    else if (how === 'hang') hanging.add(res)
    else {
      // A status that says no, and then bytes without end: slowly, or as fast as they go.
      res.writeHead(503)
      acknowledge(503)
      const chunk = Buffer.alloc(how === 'drip' ? 1 : 65_536, 'x')
      const timer = setInterval(() => void res.write(chunk), how === 'drip' ? 500 : 1)
      res.on('close', () => clearInterval(timer))
      res.on('error', () => clearInterval(timer))
    }
  }

  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    behave(how) {
      behaviour = how
      if (how !== 'well') return
      for (const res of hanging) res.destroy()
      hanging.clear()
    },
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
