// The log of deliveries: everything that was sent and answered, what is sent again, and the export.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cancelWaiting } from '#src/account/webhooks/backlog.ts'
import { verifyWebhookSignature } from '#src/account/webhooks/signature.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { call } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { createFixture, escalated, type Fixture, type Responder } from './fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture.close())

async function makeDelivery(respond?: Responder, of?: Scope) {
  const scope = of ?? (await fixture.makeAccount())
  const { received, url } = await fixture.receiver(respond)
  const { id: endpointId, secret } = await fixture.makeEndpoint(url, ['*'], scope)
  const [emitted] = await fixture.emit([escalated('clm_test_a')], scope)
  const deliveryId = emitted?.deliveryIds.at(-1) ?? ''
  const key = fixture.addKey(scope)
  const path = `/v1/webhook-endpoints/${endpointId}/deliveries/${deliveryId}`
  const get = async () => (await call(fixture.app, path, { key })).json as unknown as Full
  const redeliver = (headers: Record<string, string> = {}) =>
    call(fixture.app, `${path}/redeliver`, { key, method: 'POST', headers })
  return { scope, key, endpointId, secret, received, deliveryId, url, get, redeliver }
}

interface Full {
  status: string
  body: string
  attempts: {
    attempt: number
    error: string | null
    error_detail: string | null
    address: string | null
    request: { url: string; headers: Record<string, string> } | null
    response: { headers: Record<string, string>; body: string; body_encoding: string; is_truncated: boolean } | null
    timing: Record<string, number | null>
  }[]
}

describe('the log of an attempt', () => {
  it('has the headers and the body as they arrived, and no secret', async () => {
    const { deliveryId, received, get, url, secret } = await makeDelivery((response) =>
      response.writeHead(503, { 'retry-after': '7' }).end('deploying'),
    )
    await fixture.runOnce(deliveryId)
    const { body, attempts } = await get()
    const [call] = received
    expect(body).toBe(call?.body.toString())
    expect(attempts).toHaveLength(1)
    const [{ request, response, timing, address } = {} as Full['attempts'][number]] = attempts
    expect(request?.url).toBe(url)
    // Headers that HTTP itself adds are not shown.
    const { host: _h, connection: _c, 'content-length': _l, ...sent } = call?.headers ?? {}
    expect(request?.headers).toEqual(sent)
    const now = Date.now() / 1_000
    expect(
      verifyWebhookSignature({ rawBody: Buffer.from(body), headers: request?.headers ?? {} }, [secret], now),
    ).toEqual({ valid: true })
    expect(JSON.stringify(attempts)).not.toContain(secret)
    expect(response).toMatchObject({
      headers: { 'retry-after': '7' },
      body: 'deploying',
      body_encoding: 'utf8',
      is_truncated: false,
    })
    expect(address).toBe('127.0.0.1')
    expect(timing).toEqual({
      dns_ms: null,
      connect_ms: expect.any(Number),
      tls_ms: null,
      first_byte_ms: expect.any(Number),
    })
  })

  it('is bounded whatever the receiver answers: 16 KiB of the body, 32 headers', async () => {
    const { deliveryId, get } = await makeDelivery((response) => {
      for (let index = 0; index < 60; index += 1) response.setHeader(`x-${index}`, 'a'.repeat(100))
      response.writeHead(200)
      const drip = () => response.write(Buffer.alloc(65_536, 0xff)) && setImmediate(drip)
      response.on('drain', drip).on('error', () => {})
      drip()
    })
    await fixture.runOnce(deliveryId)
    const { status, attempts } = await get()
    const response = attempts[0]?.response
    expect(status).toBe('delivered')
    expect(response).toMatchObject({ body_encoding: 'base64', is_truncated: true })
    expect(Buffer.from(response?.body ?? '', 'base64')).toEqual(Buffer.alloc(16 * 1_024, 0xff))
    expect(Object.keys(response?.headers ?? {})).toHaveLength(32)
  })

  it('names why there was no answer, and keeps the part of one that broke off', async () => {
    const broken = await makeDelivery((response) => {
      response.writeHead(500, { 'content-length': '100' })
      response.write('half', () => response.socket?.resetAndDestroy())
    })
    await fixture.runOnce(broken.deliveryId)
    expect((await broken.get()).attempts[0]).toMatchObject({
      error: 'reset',
      response: { body: 'half', headers: { 'content-length': '100' } },
    })
    const refused = await makeDelivery()
    await fixture.owner('UPDATE webhook_endpoints SET url = $2 WHERE id = $1', [
      refused.endpointId,
      'http://169.254.169.254/latest',
    ])
    await fixture.runOnce(refused.deliveryId)
    expect((await refused.get()).attempts[0]).toMatchObject({
      error: 'refused_address',
      error_detail: expect.stringContaining('link_local'),
      address: null,
      request: { url: 'http://169.254.169.254/latest' },
      response: null,
    })
  })
})

describe('sending again', () => {
  it('begins a new round of attempts with the same event, and its log goes on', async () => {
    let code = 500
    const { deliveryId, received, get, redeliver, endpointId, key } = await makeDelivery((response) =>
      response.writeHead(code).end(),
    )
    for (let attempt = 1; attempt <= 10; attempt += 1) await fixture.runOnce(deliveryId)
    expect(await get()).toMatchObject({ status: 'failed', failed_at: expect.any(String) })
    const failed = await call(fixture.app, '/v1/webhook-deliveries?status=failed', { key })
    expect((failed.json.data as { delivery_id: string }[]).map((row) => row.delivery_id)).toEqual([deliveryId])

    expect((await redeliver()).status).toBe(202)
    expect(await get()).toMatchObject({ status: 'pending', failed_at: null })
    // The first wait of the schedule, not the last. Its circuit has opened, which does not park it.
    expect(await fixture.runOnce(deliveryId)).toMatchObject({ kind: 'retry', delayMs: 5_000 })
    code = 200
    expect((await redeliver()).status).toBe(202)
    expect(await fixture.runOnce(deliveryId)).toEqual({ kind: 'settled' })
    expect((await redeliver()).status).toBe(202)
    expect(await fixture.runOnce(deliveryId)).toEqual({ kind: 'settled' })
    expect((await get()).attempts.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 13 }, (_, i) => i + 1))
    expect(new Set(received.map(({ json }) => json.event_id)).size).toBe(1)
    const audited = await fixture.owner(`SELECT FROM audit_entries WHERE subject_id = $1`, [deliveryId])
    expect(audited).toHaveLength(3)
    const elsewhere = await call(
      fixture.app,
      `/v1/webhook-deliveries?webhook_endpoint_id=${endpointId}&event_type=ping`,
      {
        key,
      },
    )
    expect(elsewhere.json.data).toEqual([])
  })

  it('is read by its id alone, and of another account never', async () => {
    const { deliveryId, endpointId, key } = await makeDelivery()
    await fixture.runOnce(deliveryId)
    const alone = await call(fixture.app, `/v1/webhook-deliveries/${deliveryId}`, { key })
    const nested = await call(fixture.app, `/v1/webhook-endpoints/${endpointId}/deliveries/${deliveryId}`, { key })
    expect([alone.status, alone.json]).toEqual([200, nested.json])
    const stranger = fixture.addKey(await fixture.makeAccount())
    const foreign = await call(fixture.app, `/v1/webhook-deliveries/${deliveryId}`, { key: stranger })
    expect([foreign.status, foreign.json.code]).toEqual([404, 'not_found'])
  })

  it('makes one job, however many ask at once, and one effect per Idempotency-Key', async () => {
    const { deliveryId, redeliver } = await makeDelivery((response) => response.writeHead(410).end())
    await fixture.owner(`UPDATE deliveries SET status = 'failed', failed_at = now() WHERE id = $1`, [deliveryId])
    await fixture.owner(`UPDATE jobs SET state = 'succeeded' WHERE payload ->> 'deliveryId' = $1`, [deliveryId])
    const queued = () =>
      fixture.owner(`SELECT id FROM jobs WHERE payload ->> 'deliveryId' = $1 AND state = 'queued'`, [deliveryId])
    const keyed = await Promise.all([1, 2].map(() => redeliver({ 'Idempotency-Key': 'again' })))
    expect(keyed.map(({ status }) => status).sort()).toEqual(expect.arrayContaining([202]))
    const [first] = await queued()
    await redeliver({ 'Idempotency-Key': 'again' })
    expect(await queued()).toEqual([first])
    const answers = await Promise.all([1, 2, 3, 4].map(() => redeliver()))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    expect(await queued()).toHaveLength(1)
  })

  it('is refused while an attempt runs, to a disabled endpoint, and when the event has gone', async () => {
    const { deliveryId, endpointId, redeliver } = await makeDelivery()
    const codeOf = async () => (await redeliver()).json.code
    await fixture.owner(`UPDATE jobs SET state = 'dispatched', lease_until = now() WHERE id = $1`, [
      await fixture.jobOf(deliveryId),
    ])
    expect(await codeOf()).toBe('conflict')
    await fixture.runOnce(deliveryId)
    await fixture.owner(`UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = 'gone' WHERE id = $1`, [
      endpointId,
    ])
    expect(await codeOf()).toBe('conflict')
    await fixture.owner(`UPDATE webhook_endpoints SET status = 'enabled' WHERE id = $1`, [endpointId])
    await fixture.owner('DELETE FROM events WHERE id = (SELECT event_id FROM deliveries WHERE id = $1)', [deliveryId])
    expect(await codeOf()).toBe('conflict')
  })

  it('ends with the fiftieth attempt, because the log is read whole', async () => {
    const { deliveryId, redeliver } = await makeDelivery()
    await fixture.runOnce(deliveryId)
    await fixture.owner('UPDATE deliveries SET attempts = 49 WHERE id = $1', [deliveryId])
    expect((await redeliver()).status).toBe(202)
    await fixture.runOnce(deliveryId)
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'delivered', attempts: 50 })
    expect((await redeliver()).json.code).toBe('conflict')
  })

  it('is limited for each account, with the tests of its endpoints', async () => {
    const [mine, others] = [await makeDelivery(), await makeDelivery()]
    const again = () => mine.redeliver({ 'Idempotency-Key': 'same' })
    expect((await again()).status).toBe(202)
    // An hour ahead: no token comes back while the test runs.
    await fixture.owner(
      `UPDATE job_lanes SET tokens = 0, tokens_at = now() + interval '1 hour' WHERE lane = $1 AND tokens = burst - 1`,
      [`${mine.scope.accountId} direct`],
    )
    const refused = await mine.redeliver()
    expect(refused).toMatchObject({ status: 429, json: { code: 'rate_limited', limit: 'direct_deliveries' } })
    expect(refused.headers['retry-after']).toBe('1')
    const test = (of: typeof mine) =>
      call(fixture.app, `/v1/webhook-endpoints/${of.endpointId}/test`, { key: of.key, method: 'POST' })
    expect((await test(mine)).status).toBe(429)
    expect([(await test(others)).status, (await others.redeliver()).status]).toEqual([202, 202])
    expect((await again()).status).toBe(202)
    await fixture.owner(`UPDATE job_lanes SET tokens_at = now() - interval '1 second' WHERE lane = $1`, [
      `${mine.scope.accountId} direct`,
    ])
    expect([(await test(mine)).status, (await mine.redeliver()).status]).toEqual([202, 202])
    await fixture.owner(`UPDATE job_lanes SET tokens_at = tokens_at + interval '1 hour' WHERE lane = $1`, [
      `${mine.scope.accountId} direct`,
    ])
    expect((await test(mine)).status).toBe(429)
  })

  it('ends the job that is dead, so that nobody redrives it beside the new one', async () => {
    const { deliveryId, redeliver } = await makeDelivery()
    const dead = await fixture.jobOf(deliveryId)
    await fixture.owner(`UPDATE jobs SET state = 'dead' WHERE id = $1`, [dead])
    await fixture.owner(`UPDATE deliveries SET status = 'failed', failed_at = now() WHERE id = $1`, [deliveryId])
    expect((await redeliver()).status).toBe(202)
    expect(await fixture.owner('SELECT state FROM jobs WHERE id = $1', [dead])).toEqual([{ state: 'cancelled' }])
    expect(await fixture.jobState(deliveryId)).toBe('queued')
  })

  it('waits for what changes the endpoint, and then sees that it is disabled', async () => {
    const { deliveryId, endpointId, scope, redeliver } = await makeDelivery()
    let answered: ReturnType<typeof redeliver> | undefined
    await fixture.db.tenant(scope, async (tx) => {
      await tx.query(`UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = 'manual' WHERE id = $1`, [
        endpointId,
      ])
      answered = redeliver()
      let isAnswered = false
      void answered.then(() => {
        isAnswered = true
      })
      await until(async () => isAnswered || (await fixture.countLockWaits()) === 1)
      await cancelWaiting(tx, endpointId)
    })
    expect((await answered)?.json.code).toBe('conflict')
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'cancelled' })
  })

  it('reaches no delivery of another endpoint or account', async () => {
    const one = await makeDelivery()
    const sibling = await makeDelivery(undefined, one.scope)
    const stranger = await makeDelivery()
    for (const [endpointId, deliveryId, key] of [
      [one.endpointId, sibling.deliveryId, one.key],
      [one.endpointId, one.deliveryId, stranger.key],
      [one.endpointId, newId('whd', 'sandbox'), one.key],
    ] as const) {
      const path = `/v1/webhook-endpoints/${endpointId}/deliveries/${deliveryId}`
      expect((await call(fixture.app, path, { key })).json.code).toBe('not_found')
      const posted = await call(fixture.app, `${path}/redeliver`, { key, method: 'POST' })
      expect(posted.json.code).toBe('not_found')
    }
  })
})

it('the export has every delivery of the filter once, oldest first, with what was answered', async () => {
  const scope = await fixture.makeAccount()
  const { url } = await fixture.receiver((response) => response.end('thanks'))
  const { id } = await fixture.makeEndpoint(url, ['*'], scope)
  // More than two pages.
  const emitted = await fixture.emit(
    Array.from({ length: 120 }, (_, index) => escalated(`clm_test_${index}`)),
    scope,
  )
  const ids = emitted.flatMap(({ deliveryIds }) => deliveryIds)
  await fixture.runOnce(ids[0] ?? '')
  const key = fixture.addKey(scope)
  const read = async (query: string) => {
    const { text } = await call(fixture.app, `/v1/webhook-deliveries/export${query}`, { key })
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  }
  const lines = await read(`?webhook_endpoint_id=${id}`)
  expect(lines.map(({ delivery_id }) => delivery_id)).toEqual([...ids].sort())
  expect(await read('?status=delivered')).toEqual([
    expect.objectContaining({
      delivery_id: ids[0],
      attempts: [expect.objectContaining({ response: expect.objectContaining({ body: 'thanks' }) })],
    }),
  ])
  expect(await read('?status=failed')).toEqual([])
})
