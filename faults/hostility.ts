// Servers that we call, and their bad answers.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Hostility } from './plan.ts'

export type Manner = 'well' | Hostility

interface Hostile {
  behave(how: Manner): void
  /** Whether it answered: false where a good answer is due. `ended` gets the status that was sent. */
  turn(res: ServerResponse, ended?: (status: number) => void): boolean
}

export interface CalledServer {
  port: number
  /** How it answers from now on. */
  behave(how: Manner): void
  close(): Promise<void>
}

/** @param handle Gives the good answer, unless `turn` has answered. */
export async function startCalledServer(
  handle: (req: IncomingMessage, res: ServerResponse, turn: Hostile['turn']) => Promise<void>,
): Promise<CalledServer> {
  const hostility = createHostility()
  const server = createServer((req, res) => void handle(req, res, hostility.turn).catch(() => res.destroy()))
  server.keepAliveTimeout = 60_000
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
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

function createHostility(): Hostile {
  let how: Manner = 'well'
  const hanging = new Set<ServerResponse>()

  function answer(res: ServerResponse, hostility: Hostility, ended: (status: number) => void): void {
    const end = (status: number, headers: Record<string, string> = {}) => {
      res.writeHead(status, headers)
      res.end(() => ended(status))
    }
    if (hostility === 'error') end(500)
    // To an address where nothing listens: a client that follows the redirect fails.
    else if (hostility === 'redirect') end(302, { location: 'http://127.0.0.1:1/elsewhere' })
    else if (hostility === 'close') res.socket?.resetAndDestroy()
    else if (hostility === 'hang') hanging.add(res)
    else if (hostility === 'abort') {
      // It has taken the delivery: the status arrives before the connection is reset.
      res.writeHead(200, { 'content-length': '100' })
      res.write('half', () => {
        ended(200)
        setTimeout(() => res.socket?.resetAndDestroy(), 100)
      })
    } else {
      // A refusing status, and then bytes without end: slowly, or as fast as they go.
      res.writeHead(503)
      ended(503)
      const chunk = Buffer.alloc(hostility === 'drip' ? 1 : 65_536, 'x')
      const timer = setInterval(() => void res.write(chunk), hostility === 'drip' ? 500 : 1)
      res.on('close', () => clearInterval(timer))
      res.on('error', () => clearInterval(timer))
    }
  }

  return {
    behave(next) {
      how = next
      if (how !== 'well') return
      for (const res of hanging) res.destroy()
      hanging.clear()
    },
    turn(res, ended = () => {}) {
      if (how === 'well') return false
      answer(res, how, ended)
      return true
    },
  }
}
