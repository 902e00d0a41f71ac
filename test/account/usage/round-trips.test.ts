import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Environment } from '#src/platform/ids.ts'
import { makeMedia } from '../../attest/claims/phone.ts'
import { type Service, startService } from '../../attest/claims/service.ts'

// Statements that are sent together cost one round trip: counted is each statement that finds no other one in flight.

let service: Service
let trips = 0
beforeAll(async () => {
  service = await startService({ through: counting })
})
afterAll(() => service.close())

function counting(db: Database): Database {
  return { ...db, tenant: (scope, work, options) => db.tenant(scope, (tx) => work(countingTx(tx)), options) }
}

function countingTx(tx: Tx): Tx {
  let inFlight = 0
  const counted = async <R>(send: () => Promise<R>): Promise<R> => {
    if (inFlight === 0) trips += 1
    inFlight += 1
    try {
      return await send()
    } finally {
      inFlight -= 1
    }
  }
  return {
    query: (text, values) => counted(() => tx.query(text, values)),
    withCommit: tx.withCommit,
    adhoc: (text, values) => counted(() => tx.adhoc(text, values)),
  }
}

async function tripsOf(work: () => Promise<unknown>): Promise<number> {
  trips = 0
  await work()
  return trips
}

async function measure(environment: Environment) {
  const caller = await service.makeCaller({ environment, plan: 'growth' })
  const id = await makeMedia(service, caller)
  const capture = { media_type: 'image', media: { media_id: id } }
  const submit = async () => String((await service.attest(caller, capture)).json.attestation_id)
  await service.run(await submit())

  let attestationId = ''
  const accept = await tripsOf(async () => {
    attestationId = await submit()
  })
  const job = await service.take(await service.jobOf(attestationId))
  const attest = await tripsOf(() => service.runJob(attestationId, job))
  const headers = { 'Content-Type': 'application/x-ndjson' }
  const body = `${JSON.stringify(capture)}\n`.repeat(3)
  const batch = await tripsOf(() => service.call(caller, '/v1/claims/batches', { method: 'POST', body, headers }))
  const [entries] = await service.test.owner<{ units: number }>(
    'SELECT coalesce(sum(units), 0)::int AS units FROM usage_entries WHERE account_id = $1',
    [caller.accountId],
  )
  return { trips: { accept, attest, batch }, units: entries?.units }
}

test('counting and caps add no round trip to accepting, evaluating and batches', async () => {
  const [sandbox, live] = [await measure('sandbox'), await measure('live')]
  expect([sandbox.units, live.units]).toEqual([0, 5])
  expect(live.trips).toEqual(sandbox.trips)
  expect(Math.min(...Object.values(live.trips))).toBeGreaterThan(0)
})
