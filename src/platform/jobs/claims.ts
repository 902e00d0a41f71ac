// Deliveries that arrive in one turn of the event loop are claimed by one UPDATE: a claim's own transaction costs three
// round trips, and a busy worker's deliveries come in crowds.

import type { Database } from '#src/platform/db/database.ts'
import { type Claim, claimAll } from './backlog.ts'
import type { Ticket } from './bull.ts'
import type { QueueName } from './queues.ts'

/** Claims one delivery, together with those that came at the same time; undefined when it is from the past. */
export type Claimer = (ticket: Ticket) => Promise<Claim | undefined>

interface Waiting {
  ticket: Ticket
  resolve(claim: Claim | undefined): void
  reject(error: unknown): void
}

// One UPDATE at a time: what arrives while it runs goes with the next, so a crowd grows the batch and not the queue for
// connections.
export function createClaimer(db: Database, queue: QueueName): Claimer {
  let waiting: Waiting[] = []
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        const claims = await claimAll(
          db,
          queue,
          batch.map(({ ticket }) => ticket),
        )
        for (const { ticket, resolve } of batch) resolve(claims.get(`${ticket.id} ${ticket.dispatches}`))
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isRunning = false
  }

  return (ticket) =>
    new Promise((resolve, reject) => {
      waiting.push({ ticket, resolve, reject })
      if (!isRunning) {
        isRunning = true
        setImmediate(() => void run())
      }
    })
}
