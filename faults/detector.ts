// The detector of the `screen` queue: a detector of the operator's own, as docs/screening.md describes it. Its score
// follows from the bytes alone, so that the checker knows it too. It can turn hostile as receivers do.

import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { createHostility, type Manner } from './hostility.ts'
import { clock, type Journal } from './journal.ts'

export interface DetectorServer {
  port: number
  /** How it answers from now on. */
  behave(how: Manner): void
  close(): Promise<void>
}

/** Between 0 and 1, with two places: from the digest's first byte. */
export function scoreOf(sha256: string): number {
  return Math.round((Number.parseInt(sha256.slice(0, 2), 16) / 255) * 100) / 100
}

export async function startDetector(journal: Journal): Promise<DetectorServer> {
  const hostility = createHostility()
  const server = createServer(async (req, res) => {
    const hash = createHash('sha256')
    try {
      for await (const chunk of req) hash.update(chunk)
    } catch {
      return void res.destroy()
    }
    const sha256 = hash.digest('hex')
    const isHostile = hostility.turn(res)
    journal.write({ kind: 'looked', at: clock(), sha256, isAnswered: !isHostile })
    if (isHostile) return
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(JSON.stringify({ genai_score: scoreOf(sha256), deepfake_score: null }))
  })
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
