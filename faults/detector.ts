// The detector of the `screen` queue: a detector of the operator's own, as docs/attest/screening.md describes it. Its score
// follows from the bytes alone, so that the checker knows it too. It can turn hostile as receivers do.

import { createHash } from 'node:crypto'
import { type CalledServer, startCalledServer } from './hostility.ts'
import { clock, type Journal } from './journal.ts'

/** Returns a score between 0 and 1 with two places, from the digest's first byte. */
export function scoreOf(sha256: string): number {
  return Math.round((Number.parseInt(sha256.slice(0, 2), 16) / 255) * 100) / 100
}

export function startDetector(journal: Journal): Promise<CalledServer> {
  return startCalledServer(async (req, res, turn) => {
    const hash = createHash('sha256')
    for await (const chunk of req) hash.update(chunk)
    const sha256 = hash.digest('hex')
    const isHostile = turn(res)
    journal.write({ kind: 'looked', at: clock(), sha256, isAnswered: !isHostile })
    if (isHostile) return
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end(JSON.stringify({ genai_score: scoreOf(sha256), deepfake_score: null }))
  })
}
