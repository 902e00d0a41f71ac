// The receivers of webhooks: endpoints on real HTTP servers that record each delivery as it came, and can turn hostile.

import type { IncomingMessage } from 'node:http'
import { type CalledServer, startCalledServer } from './hostility.ts'
import { clock, type Journal } from './journal.ts'

const MAX_BYTES = 1_000_000

/** One server; the last part of the path names the receiver. */
export function startReceivers(journal: Journal): Promise<CalledServer> {
  let count = 0
  return startCalledServer(async (req, res, turn) => {
    const body = await readBody(req)
    count += 1
    const n = count
    const headers = Object.fromEntries(
      Object.entries(req.headers).filter(([name]) => /^(?:service-|webhook-)/.test(name)),
    ) as Record<string, string>
    journal.write({ kind: 'received', n, at: clock(), receiver: req.url?.split('/').pop() ?? '', headers, body })
    const acknowledge = (status: number) => journal.write({ kind: 'acknowledged', n, at: clock(), status })
    if (turn(res, acknowledge)) return
    res.writeHead(204)
    res.end(() => acknowledge(204))
  })
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
