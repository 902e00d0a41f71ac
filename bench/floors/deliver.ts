// Sends signed bodies as fast as the receivers take them. Records nothing, or one durable row per delivery.

import pg from 'pg'
import { Agent, request } from 'undici'
import { signDelivery } from '#src/account/webhooks/signature.ts'
import { QUEUES } from '#src/catalogue/queues.ts'
import { setting, work } from './floor.ts'

// Slots that one account gets of a deliver worker.
const CONCURRENCY = QUEUES.deliver.concurrency / 2
const agent = new Agent()
const pool = new pg.Pool({ connectionString: setting('FLOOR_DATABASE_URL'), max: 10 })

interface Task {
  url: string
  count: number
  body: string
  isRecorded: boolean
}

/** Returns how many it sends per second. */
work(async ({ url, count, body, isRecorded }: Task) => {
  const rawBody = Buffer.from(body)
  let left = count
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (left > 0) {
        left -= 1
        const sentAt = performance.now()
        const nowSeconds = Math.floor(Date.now() / 1_000)
        const signed = signDelivery({ rawBody, eventId: `evt_${left}`, secrets: ['whsec_c2VjcmV0'], nowSeconds })
        const answer = await request(url, {
          method: 'POST',
          dispatcher: agent,
          headers: { 'content-type': 'application/json', ...signed },
          body: rawBody,
        })
        await answer.body.dump()
        if (answer.statusCode !== 204) throw new Error(`answered ${answer.statusCode}`)
        if (isRecorded) await record(`evt_${left}`, answer.statusCode, Math.round(performance.now() - sentAt))
      }
    }),
  )
  return count / ((performance.now() - startedAt) / 1_000)
})

function record(eventId: string, status: number, durationMs: number): Promise<unknown> {
  return pool.query({
    name: 'record',
    text: 'INSERT INTO floor_deliveries (event_id, status, duration_ms) VALUES ($1, $2, $3)',
    values: [eventId, status, durationMs],
  })
}
