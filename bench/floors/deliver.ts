// Sends signed bodies as fast as the receivers take them, and records nothing.

import { Agent, request } from 'undici'
import { signDelivery } from '#src/account/webhooks/signature.ts'
import { work } from './floor.ts'

const CONCURRENCY = 128
const agent = new Agent()

interface Task {
  url: string
  count: number
  body: string
}

/** Returns how many it sends per second. */
work(async ({ url, count, body }: Task) => {
  const rawBody = Buffer.from(body)
  let left = count
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      while (left > 0) {
        left -= 1
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
      }
    }),
  )
  return count / ((performance.now() - startedAt) / 1_000)
})
