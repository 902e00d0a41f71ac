// Recoveries: what an endpoint did not take is sent again, once, however often the walk is interrupted.

import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Scope } from '#src/platform/ids.ts'
import { claimAll, settle } from '#src/platform/jobs/backlog.ts'
import type { RunningJob } from '#src/platform/jobs/consume.ts'
import { call } from '../../support/http.ts'
import { createFixture, escalated, type Fixture } from './fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture.close())

const PAST = new Date(Date.now() - 86_400_000).toISOString()

async function makeEndpoint(eventTypes?: string[], of?: Scope) {
  const scope = of ?? (await fixture.makeAccount())
  const { received, url } = await fixture.receiver()
  const { id } = await fixture.makeEndpoint(url, eventTypes, scope)
  const key = fixture.addKey(scope)
  const path = `/v1/webhook-endpoints/${id}`
  const emit = async (count: number) =>
    (
      await fixture.emit(
        Array.from({ length: count }, () => escalated('clm_test_a')),
        scope,
      )
    ).flatMap(({ deliveryIds }) => deliveryIds)
  /** As after the last attempt of each. */
  const end = (ids: string[], status: string) =>
    fixture.owner(
      `WITH ended AS (UPDATE deliveries SET status = $2, failed_at = CASE WHEN $2 = 'failed' THEN now() END,
         delivered_at = CASE WHEN $2 = 'delivered' THEN now() END WHERE id = ANY($1::text[]) RETURNING job_id)
       UPDATE jobs SET state = 'succeeded' FROM ended WHERE jobs.id = ended.job_id`,
      [ids, status],
    )
  const recover = (json: Record<string, unknown>, headers: Record<string, string> = {}) =>
    call(fixture.app, `${path}/recover`, { key, method: 'POST', json, headers })
  const read = async (recoveryId: unknown) =>
    (await call(fixture.app, `${path}/recoveries/${recoveryId}`, { key })).json
  const count = async (status: string) => {
    const [row] = await fixture.owner<{ count: number }>(
      'SELECT count(*)::int AS count FROM deliveries WHERE endpoint_id = $1 AND status = $2',
      [id, status],
    )
    return row?.count
  }
  return { scope, id, key, path, received, emit, end, recover, read, count }
}

/** Claims the walk's job as a worker does. @param pages After so many the worker loses the job. */
async function walk(recoveryId: unknown, pages = Number.POSITIVE_INFINITY) {
  const [row] = await fixture.owner<{ id: string; dispatches: number }>(
    `UPDATE jobs SET state = 'dispatched', dispatches = dispatches + 1 WHERE payload ->> 'recoveryId' = $1
     RETURNING id, dispatches`,
    [recoveryId],
  )
  const [lease] = row === undefined ? [] : await claimAll(fixture.db, 'deliver', [row])
  if (lease === undefined) throw new Error('not claimed')
  let left = pages
  const signal = {
    get aborted() {
      left -= 1
      return left < 0
    },
  } as AbortSignal
  const job: RunningJob = { ...lease, isLastAttempt: false, signal, settle: (tx) => settle(tx, lease) }
  return fixture.deliver.run({ recoveryId: String(recoveryId) }, job)
}

it('is waited for: the answer comes with its end, and names who began it', async () => {
  const { emit, end, recover, path, key } = await makeEndpoint()
  await end(await emit(1), 'failed')
  const { json } = await recover({ from: PAST })
  const waiting = call(fixture.app, `${path}/recoveries/${json.recovery_id}?wait=30`, { key })
  await walk(json.recovery_id)
  expect((await waiting).json).toMatchObject({ status: 'succeeded', failure: null, created_by: { type: 'key' } })
})

it('sends again what failed since a time, nothing else, and shows its progress', async () => {
  const { emit, end, recover, read, count, received, path, key } = await makeEndpoint()
  const [failed, delivered, waiting] = [await emit(3), await emit(2), await emit(1)]
  await end(failed, 'failed')
  await end(delivered, 'delivered')
  const old = failed.slice(0, 1)
  await fixture.owner(`UPDATE deliveries SET created_at = now() - interval '2 days' WHERE id = ANY($1)`, [old])

  const begun = await recover({ from: PAST })
  expect(begun.status).toBe(202)
  expect(begun.json).toMatchObject({ which: 'failed', status: 'running', examined: 0, sent: 0, finished_at: null })
  expect(await walk(begun.json.recovery_id)).toEqual({ kind: 'settled' })
  expect(await read(begun.json.recovery_id)).toMatchObject({ status: 'succeeded', examined: 2, sent: 2 })
  expect([await count('failed'), await count('delivered'), await count('pending')]).toEqual([1, 2, 3])
  for (const one of [...failed.slice(1), ...waiting]) expect(await fixture.runOnce(one)).toEqual({ kind: 'settled' })
  expect(received).toHaveLength(3)
  const list = await call(fixture.app, `${path}/recoveries`, { key })
  expect(list.json.data).toEqual([await read(begun.json.recovery_id)])
})

it('goes on where a lost worker stopped, and sends nothing twice, also when two workers run it', async () => {
  const { emit, end, recover, read, id } = await makeEndpoint()
  const ids: string[] = []
  for (let page = 0; page < 3; page += 1) ids.push(...(await emit(500)))
  await end(ids, 'failed')
  const { json } = await recover({ from: PAST })
  expect(await walk(json.recovery_id, 1)).toMatchObject({ kind: 'retry' })
  expect(await read(json.recovery_id)).toMatchObject({ status: 'running', examined: 500, sent: 500 })
  // A lease that lapsed while its worker still runs: both walk, and one of them finds the job gone.
  const both = await Promise.allSettled([walk(json.recovery_id), walk(json.recovery_id)])
  expect(both.some(({ status }) => status === 'fulfilled')).toBe(true)
  expect(await read(json.recovery_id)).toMatchObject({ status: 'succeeded', examined: 1_500, sent: 1_500 })
  expect(
    await fixture.owner(
      `SELECT count(*)::int AS jobs, count(DISTINCT payload ->> 'deliveryId')::int AS deliveries FROM jobs
       WHERE lane = $1 AND state = 'queued'`,
      [id],
    ),
  ).toEqual([{ jobs: 1_500, deliveries: 1_500 }])
})

it('replays the events that an endpoint lacks: failed, cancelled and never written, of its types and products', async () => {
  const scope = await fixture.makeAccount()
  const first = await makeEndpoint(['claim.escalated'], scope)
  const [taken, failed, cancelled, waiting] = [
    await first.emit(1),
    await first.emit(1),
    await first.emit(1),
    await first.emit(1),
  ]
  await first.end(taken, 'delivered')
  await first.end(failed, 'failed')
  await first.end(cancelled, 'cancelled')
  await fixture.owner(`UPDATE webhook_endpoints SET status = 'disabled' WHERE id = $1`, [first.id])
  await fixture.emit([escalated('clm_test_missed'), escalated('clm_test_missed')], scope)
  await fixture.owner(`UPDATE webhook_endpoints SET status = 'enabled' WHERE id = $1`, [first.id])
  await fixture.webhooks.test(scope, first.id)
  const { json } = await first.recover({ from: PAST, which: 'missing' })
  expect(await walk(json.recovery_id)).toEqual({ kind: 'settled' })
  expect(await first.read(json.recovery_id)).toMatchObject({ status: 'succeeded', examined: 7, sent: 4 })
  const rows = await fixture.owner<{ id: string }>(
    `SELECT id FROM deliveries WHERE endpoint_id = $1 AND status = 'pending' AND event_type <> 'ping'`,
    [first.id],
  )
  for (const { id } of rows) await fixture.runOnce(id)
  // Four that were missing, and the one that waited.
  expect(first.received).toHaveLength(5)
  expect(new Set(first.received.map(({ json: event }) => event.event_id)).size).toBe(5)
  expect(await fixture.deliveryOf(waiting[0] ?? '')).toMatchObject({ status: 'delivered' })

  // Registered after them, of another type or without the product: it lacks nothing that it would get.
  const late = await makeEndpoint(['intent.revoked'], scope)
  const none = await late.recover({ from: PAST, which: 'missing' })
  await walk(none.json.recovery_id)
  expect(await late.read(none.json.recovery_id)).toMatchObject({ examined: 7, sent: 0 })
  await fixture.owner(`UPDATE accounts SET products = '{trace}' WHERE id = $1`, [scope.accountId])
  const other = await makeEndpoint(['*'], scope)
  const refused = await other.recover({ from: PAST, which: 'missing' })
  await walk(refused.json.recovery_id)
  expect(await other.read(refused.json.recovery_id)).toMatchObject({ examined: 7, sent: 0 })
})

it('takes no event as missing whose delivery may have been deleted by age, and leaves alone what had fifty attempts', async () => {
  const { emit, end, recover, read, id, count } = await makeEndpoint()
  const [old, recent, often] = [await emit(1), await emit(1), await emit(1)]
  await fixture.owner(
    `UPDATE events SET created_at = now() - days * interval '1 day' FROM unnest($1::text[], $2::int[]) AS of (delivery_id, days)
     JOIN deliveries ON deliveries.id = of.delivery_id WHERE events.id = deliveries.event_id`,
    [
      [...old, ...recent],
      [7, 6],
    ],
  )
  // Delivered, and then deleted: the sandbox keeps them for a week.
  await end(old, 'delivered')
  await fixture.owner('DELETE FROM deliveries WHERE id = ANY($1)', [old])
  await end([...recent, ...often], 'failed')
  await fixture.owner('UPDATE deliveries SET attempts = 50 WHERE id = ANY($1)', [often])
  const since = new Date(Date.now() - 20 * 86_400_000).toISOString()
  const { json } = await recover({ from: since, which: 'missing' })
  await walk(json.recovery_id)
  expect(await read(json.recovery_id)).toMatchObject({ status: 'succeeded', examined: 2, sent: 1 })
  const other = await recover({ from: since })
  await walk(other.json.recovery_id)
  expect(await read(other.json.recovery_id)).toMatchObject({ status: 'succeeded', examined: 1, sent: 0 })
  expect([await count('pending'), await count('failed')]).toEqual([1, 1])
  expect(await fixture.owner('SELECT FROM deliveries WHERE endpoint_id = $1', [id])).toHaveLength(2)
})

it('runs once at a time of each kind, ends with its endpoint, and is refused where nothing can be sent', async () => {
  const { recover, read, id, emit, end } = await makeEndpoint()
  await end(await emit(1), 'failed')
  const answers = await Promise.all([1, 2, 3].map(() => recover({ from: PAST })))
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409])
  const begun = answers.find(({ status }) => status === 202)
  expect((await recover({ from: PAST, which: 'missing' })).status).toBe(202)
  await fixture.owner(`UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = 'manual' WHERE id = $1`, [
    id,
  ])
  expect(await walk(begun?.json.recovery_id)).toEqual({ kind: 'settled' })
  expect(await read(begun?.json.recovery_id)).toMatchObject({ status: 'cancelled', sent: 0 })
  expect((await recover({ from: PAST })).json.code).toBe('conflict')
  const future = new Date(Date.now() + 60_000).toISOString()
  expect((await recover({ from: future })).json.code).toBe('invalid_request')
  const stranger = await makeEndpoint()
  const path = `/v1/webhook-endpoints/${id}/recover`
  const foreign = await call(fixture.app, path, { key: stranger.key, method: 'POST', json: { from: PAST } })
  expect(foreign.json.code).toBe('not_found')
})

it('is failed when its job is dead, and goes on when the job is redriven', async () => {
  const { recover, read, scope, emit, end } = await makeEndpoint()
  await end(await emit(2), 'failed')
  const key = { 'Idempotency-Key': 'outage' }
  const { json } = await recover({ from: PAST }, key)
  expect((await recover({ from: PAST }, key)).json.recovery_id).toBe(json.recovery_id)
  const payload = { recoveryId: String(json.recovery_id) }
  await fixture.db.tenant(scope, (tx) => fixture.deliver.onDead(tx, scope, payload, 'spent'))
  expect(await read(json.recovery_id)).toMatchObject({ status: 'failed', finished_at: expect.any(String) })
  await fixture.db.tenant(scope, (tx) => fixture.deliver.onRedrive(tx, scope, payload))
  await walk(json.recovery_id)
  expect(await read(json.recovery_id)).toMatchObject({ status: 'succeeded', sent: 2 })
})
