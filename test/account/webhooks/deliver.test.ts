import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDeliver } from '#src/account/webhooks/deliver.ts'
import { WAITS_MS } from '#src/account/webhooks/schedule.ts'
import { newSecret, sealSecret } from '#src/account/webhooks/secret.ts'
import { verifyWebhookSignature } from '#src/account/webhooks/signature.ts'
import { createSealer } from '#src/platform/crypto/seal.ts'
import { claimAll, settle } from '#src/platform/jobs/backlog.ts'
import { actingIn } from '../../support/callers.ts'
import { until } from '../../support/until.ts'
import { createFixture, escalated, type Fixture, type Responder } from './fixture.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture.close())

/** One account with one endpoint and one delivery to it. */
async function makeDelivery(respond?: Responder) {
  const scope = await fixture.makeAccount()
  const { received, url } = await fixture.receiver(respond)
  const { id: endpointId, secret } = await fixture.makeEndpoint(url, ['*'], scope)
  const emit = async () => {
    const [emitted] = await fixture.emit([escalated('clm_test_a')], scope)
    return emitted?.deliveryIds[0] ?? ''
  }
  const deliveryId = await emit()
  return { scope, endpointId, secret, received, deliveryId, emit, url }
}

const attemptsOf = (deliveryId: string) =>
  fixture.owner<{ attempt: number; finished: boolean; response_status: number | null; error: string | null }>(
    `SELECT attempt, finished_at IS NOT NULL AS finished, response_status, error FROM delivery_attempts
     WHERE delivery_id = $1
     UNION ALL SELECT attempts, false, NULL, NULL FROM deliveries WHERE id = $1 AND attempt_started_at IS NOT NULL
     ORDER BY attempt`,
    [deliveryId],
  )

async function endpointOf(id: string) {
  const [row] = await fixture.owner<{
    status: string
    disabled_reason: string | null
    url: string
    consecutive_failures: number
    first_failure_at: Date | null
    last_success_at: Date | null
  }>('SELECT * FROM webhook_endpoints WHERE id = $1', [id])
  return row
}

const status = (code: number, headers: Record<string, string> = {}): Responder => {
  return (response) => response.writeHead(code, headers).end()
}

describe('a delivery', () => {
  it('sends the envelope of the specification, signed for the endpoint, and ends with the first 2xx', async () => {
    const { scope, secret, received, deliveryId, endpointId } = await makeDelivery(status(204))
    expect(await fixture.runOnce(deliveryId)).toEqual({ kind: 'settled' })

    const [call] = received
    if (call === undefined) throw new Error('nothing arrived')
    expect(Object.keys(call.json)).toEqual(['event_id', 'type', 'created_at', 'environment', 'account_id', 'data'])
    expect(call.json).toMatchObject({
      type: 'claim.escalated',
      environment: 'sandbox',
      account_id: scope.accountId,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      data: { claim_id: 'clm_test_a', risk_score: 80, factor_codes: ['device_revoked'] },
    })
    expect(call.headers).toMatchObject({
      'content-type': 'application/json',
      'service-event-id': call.json.event_id,
      'service-event-type': 'claim.escalated',
      'service-delivery-id': deliveryId,
      'service-delivery-attempt': '1',
      'webhook-id': call.json.event_id,
    })
    expect(verifyWebhookSignature({ rawBody: call.body, headers: call.headers }, [secret], Date.now() / 1_000)).toEqual(
      { valid: true },
    )

    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({
      status: 'delivered',
      attempts: 1,
      next_attempt_at: null,
    })
    expect(await fixture.jobState(deliveryId)).toBeUndefined()
    expect(await attemptsOf(deliveryId)).toEqual([{ attempt: 1, finished: true, response_status: 204, error: null }])
    expect(await endpointOf(endpointId)).toMatchObject({ consecutive_failures: 0, last_success_at: expect.any(Date) })
  })

  it('is a no-op the second time: settled rows send nothing', async () => {
    const { received, deliveryId } = await makeDelivery()
    await fixture.runOnce(deliveryId)
    expect(await fixture.runOnce(deliveryId)).toBe('stale')
    expect(received).toHaveLength(1)
    expect(await attemptsOf(deliveryId)).toHaveLength(1)
  })

  it('runs in one batch with others, of which one fails and one was taken over', async () => {
    const held: (() => void)[] = []
    const { deliveryId, emit } = await makeDelivery((response, { headers }) => {
      const code = headers['service-delivery-id'] === failing ? 500 : 200
      held.push(() => response.writeHead(code).end())
    })
    const ids = [deliveryId, ...(await Promise.all(Array.from({ length: 23 }, emit)))]
    const [, failing = '', overtaken = ''] = ids
    const running = ids.map((id) => fixture.runOnce(id))
    await until(() => held.length === ids.length)
    await fixture.owner('UPDATE jobs SET fence = fence + 1 WHERE id = $1', [await fixture.jobOf(overtaken)])
    for (const answer of held) answer()

    const outcomes = await Promise.all(running)
    for (const [index, id] of ids.entries()) {
      const isEnded = id !== failing && id !== overtaken
      expect(outcomes[index]).toEqual(
        id === failing ? expect.objectContaining({ kind: 'retry' }) : isEnded ? { kind: 'settled' } : 'stale',
      )
      expect(await fixture.deliveryOf(id)).toMatchObject({ status: isEnded ? 'delivered' : 'pending', attempts: 1 })
      // The worker that took the job over calls again: the overtaken attempt never gets an end.
      const [attempt] = await attemptsOf(id)
      expect(attempt).toMatchObject({
        finished: id !== overtaken,
        response_status: id === overtaken ? null : id === failing ? 500 : 200,
      })
    }
  })

  it('sends the same bytes of one event to several endpoints, signed by the secret of each', async () => {
    const scope = await fixture.makeAccount()
    const { received, url } = await fixture.receiver()
    const ends = await Promise.all(Array.from({ length: 4 }, () => fixture.makeEndpoint(url, ['*'], scope)))
    const emitted = await fixture.emit([escalated('clm_test_a'), escalated('clm_test_b')], scope)
    // The deliveries of both events begin in one transaction, as in a job batch.
    await Promise.all(emitted.flatMap(({ deliveryIds }) => deliveryIds).map((id) => fixture.runOnce(id)))

    expect(received).toHaveLength(8)
    for (const [index, { eventId }] of emitted.entries()) {
      const calls = received.filter(({ headers }) => headers['service-event-id'] === eventId)
      expect(new Set(calls.map(({ body }) => body.toString())).size).toBe(1)
      expect(calls[0]?.json).toMatchObject({ event_id: eventId, data: { claim_id: `clm_test_${'ab'[index]}` } })
      for (const { secret } of ends) {
        const verdicts = calls.map(({ body, headers }) =>
          verifyWebhookSignature({ rawBody: body, headers }, [secret], Date.now() / 1_000),
        )
        expect(verdicts.filter(({ valid }) => valid)).toHaveLength(1)
      }
    }
  })

  it('is signed with the secret that its endpoint has now', async () => {
    const { endpointId, secret, received, deliveryId } = await makeDelivery(status(500))
    await fixture.runOnce(deliveryId)
    const next = newSecret()
    await fixture.owner('UPDATE webhook_endpoints SET sealed_secret = $2 WHERE id = $1', [
      endpointId,
      sealSecret(fixture.sealer, endpointId, next),
    ])
    await fixture.runOnce(deliveryId)
    const verdicts = received.map(({ body, headers }) =>
      [secret, next].map((one) => verifyWebhookSignature({ rawBody: body, headers }, [one], Date.now() / 1_000).valid),
    )
    expect(verdicts).toEqual([
      [true, false],
      [false, true],
    ])
  })

  it('settles its job when the delivery row no longer exists', async () => {
    const { deliveryId, scope } = await makeDelivery()
    const jobId = await fixture.jobOf(deliveryId)
    await fixture.owner(`UPDATE jobs SET state = 'dispatched', dispatches = 1 WHERE id = $1`, [jobId])
    const [claimed] = await claimAll(fixture.db, 'deliver', [{ id: jobId, dispatches: 1 }])
    if (claimed === undefined) throw new Error('not claimed')
    const job = {
      ...claimed,
      scope,
      isLastAttempt: false,
      signal: new AbortController().signal,
      settle: (tx: Parameters<typeof settle>[0]) => settle(tx, claimed),
    }
    expect(await fixture.deliver.run({ deliveryId: 'whd_test_gone' }, job)).toEqual({ kind: 'settled' })
    expect(await fixture.jobState(deliveryId)).toBeUndefined()
  })
})

describe('a failed attempt', () => {
  it.each([
    ['redirects', status(307, { location: 'https://example.com/' }), 307, null],
    ['client errors', status(404), 404, null],
    ['server errors', status(500), 500, null],
    ['broken connections', ((response) => response.destroy()) satisfies Responder, null, 'reset'],
  ])('is one that got %s', async (_, respond, responseStatus, error) => {
    const { deliveryId } = await makeDelivery(respond)
    expect(await fixture.runOnce(deliveryId)).toMatchObject({ kind: 'retry', delayMs: 5_000 })
    expect(await attemptsOf(deliveryId)).toEqual([
      { attempt: 1, finished: true, response_status: responseStatus, error },
    ])
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'pending', attempts: 1 })
  })

  it('is followed by the next one of the schedule, and by none after the tenth', async () => {
    const { deliveryId, received, endpointId } = await makeDelivery(status(500))
    const delays: unknown[] = []
    for (let attempt = 1; attempt <= 9; attempt += 1) {
      const outcome = await fixture.runOnce(deliveryId)
      delays.push(outcome !== 'stale' && outcome.kind === 'retry' ? outcome.delayMs : outcome)
    }
    expect(delays).toEqual(WAITS_MS.slice(1))
    expect(await fixture.runOnce(deliveryId)).toEqual({ kind: 'settled' })
    expect(await fixture.deliveryOf(deliveryId)).toEqual({ status: 'failed', attempts: 10, next_attempt_at: null })
    expect(await fixture.jobState(deliveryId)).toBeUndefined()
    expect(received.map(({ headers }) => headers['service-delivery-attempt'])).toEqual(
      Array.from({ length: 10 }, (_, index) => String(index + 1)),
    )
    expect(await endpointOf(endpointId)).toMatchObject({ status: 'enabled', consecutive_failures: 10 })
  })

  it('is repeated with the same bytes and a new signature', async () => {
    const { deliveryId, received } = await makeDelivery(status(500))
    const later = createDeliver({ ...fixture, now: () => new Date(Date.now() + 60_000) })
    await fixture.runOnce(deliveryId)
    await fixture.runOnce(deliveryId, { work: later })
    const [first, second] = received
    expect(second?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true)
    expect(second?.headers['service-signature']).not.toBe(first?.headers['service-signature'])
  })

  it('is repeated after the time that the receiver asks for, up to an hour', async () => {
    const patient = await makeDelivery(status(503, { 'retry-after': '120' }))
    expect(await fixture.runOnce(patient.deliveryId)).toMatchObject({ delayMs: 120_000 })
    const greedy = await makeDelivery(status(429, { 'retry-after': '999999' }))
    expect(await fixture.runOnce(greedy.deliveryId)).toMatchObject({ delayMs: 3_600_000 })
    const broken = await makeDelivery((response) => {
      response.writeHead(503, { 'retry-after': '120', 'content-length': '100' })
      response.write('half', () => setTimeout(() => response.destroy(), 50))
    })
    expect(await fixture.runOnce(broken.deliveryId)).toMatchObject({ delayMs: 120_000 })
  })

  it('is not held against an endpoint that has another address by now', async () => {
    const moved: { id?: string } = {}
    const { deliveryId, endpointId, url } = await makeDelivery(async (response) => {
      await fixture.owner(`UPDATE webhook_endpoints SET url = url || '/new' WHERE id = $1`, [moved.id])
      response.writeHead(410).end()
    })
    moved.id = endpointId
    expect(await fixture.runOnce(deliveryId)).toMatchObject({ kind: 'retry', delayMs: 5_000 })
    expect(await endpointOf(endpointId)).toMatchObject({
      url: `${url}/new`,
      status: 'enabled',
      consecutive_failures: 0,
    })
    expect(await attemptsOf(deliveryId)).toMatchObject([{ response_status: 410 }])
  })

  it('is not held against the endpoint where a limit of the service ended the call', async () => {
    const { deliveryId, endpointId } = await makeDelivery()
    const answer = {
      ok: false,
      code: 'tls_failed',
      detail: 'the budget is used up',
      isOurs: true,
      durationMs: 0,
    } as const
    const work = createDeliver({ ...fixture, random: () => 0.5, outbound: { send: async () => answer } })
    expect(await fixture.runOnce(deliveryId, { work })).toMatchObject({ kind: 'retry', delayMs: 5_000 })
    expect(await endpointOf(endpointId)).toMatchObject({ consecutive_failures: 0, first_failure_at: null })
    expect(await attemptsOf(deliveryId)).toMatchObject([{ error: 'tls_failed' }])
  })

  it('stores on the row when the next one is due, and is not repeated earlier', async () => {
    const { deliveryId, received } = await makeDelivery(status(500))
    await fixture.runOnce(deliveryId)
    // As after a crash between the end of the attempt and the return of the job to the queue.
    const outcome = await fixture.runOnce(deliveryId, { isDue: false })
    expect(outcome).toMatchObject({ kind: 'defer' })
    if (outcome !== 'stale' && outcome.kind === 'defer') {
      expect(outcome.delayMs).toBeGreaterThan(3_000)
      expect(outcome.delayMs).toBeLessThanOrEqual(5_000)
    }
    expect(received).toHaveLength(1)
  })

  it('is recorded without a call when the address is refused', async () => {
    const { deliveryId, endpointId, received } = await makeDelivery()
    await fixture.owner('UPDATE webhook_endpoints SET url = $2 WHERE id = $1', [endpointId, 'http://169.254.169.254/'])
    expect(await fixture.runOnce(deliveryId)).toMatchObject({ kind: 'retry' })
    expect(await attemptsOf(deliveryId)).toMatchObject([{ response_status: null, error: 'refused_address' }])
    expect(received).toHaveLength(0)
  })

  it('no longer counts after a success', async () => {
    let code = 500
    const { deliveryId, endpointId } = await makeDelivery((response) => response.writeHead(code).end())
    await fixture.runOnce(deliveryId)
    expect(await endpointOf(endpointId)).toMatchObject({ consecutive_failures: 1, first_failure_at: expect.any(Date) })
    code = 200
    await fixture.runOnce(deliveryId)
    expect(await endpointOf(endpointId)).toMatchObject({ consecutive_failures: 0, first_failure_at: null })
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'delivered', attempts: 2 })
  })
})

describe('a delivery after a crash or a takeover', () => {
  it('repeats a call whose process died, with the next attempt number', async () => {
    const { deliveryId, received } = await makeDelivery()
    const dying = createDeliver({ ...fixture, outbound: { send: () => Promise.reject(new Error('killed')) } })
    await expect(fixture.runOnce(deliveryId, { work: dying })).rejects.toThrow('killed')
    expect(await attemptsOf(deliveryId)).toMatchObject([{ attempt: 1, finished: false }])
    expect(await fixture.runOnce(deliveryId)).toEqual({ kind: 'settled' })
    expect(received[0]?.headers['service-delivery-attempt']).toBe('2')
    expect(await attemptsOf(deliveryId)).toMatchObject([
      { finished: false },
      { attempt: 2, finished: true, response_status: 200 },
    ])
  })

  it('ends after ten attempt numbers even when each of them crashed', async () => {
    const { deliveryId } = await makeDelivery()
    await fixture.owner('UPDATE deliveries SET attempts = 10 WHERE id = $1', [deliveryId])
    expect(await fixture.runOnce(deliveryId)).toEqual({ kind: 'settled' })
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'failed' })
  })

  it('writes nothing when another worker has the job now', async () => {
    const { deliveryId } = await makeDelivery(async (response) => {
      await fixture.owner('UPDATE jobs SET fence = fence + 1 WHERE id = $1', [await fixture.jobOf(deliveryId)])
      response.end()
    })
    expect(await fixture.runOnce(deliveryId)).toBe('stale')
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'pending' })
    expect(await attemptsOf(deliveryId)).toMatchObject([{ finished: false }])
  })

  it('stops the call when the job is taken over, and counts no failure', async () => {
    const { deliveryId, endpointId } = await makeDelivery(() => setTimeout(() => controller.abort(), 20))
    const controller = new AbortController()
    expect(await fixture.runOnce(deliveryId, { signal: controller.signal })).toMatchObject({
      kind: 'retry',
      delayMs: 0,
    })
    expect(await endpointOf(endpointId)).toMatchObject({ consecutive_failures: 0 })
    expect(await attemptsOf(deliveryId)).toMatchObject([{ finished: false }])
  })

  it('does not count an attempt when the secret can not be opened', async () => {
    const { deliveryId, received } = await makeDelivery()
    const keyless = createDeliver({ ...fixture, sealer: createSealer({ current: { id: 'k2', key: randomBytes(32) } }) })
    await expect(fixture.runOnce(deliveryId, { work: keyless })).rejects.toThrow(/k1/)
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'pending', attempts: 0 })
    expect(received).toHaveLength(0)
  })

  it('is failed when its job is dead, and pending again when the job is redriven', async () => {
    const { deliveryId, scope } = await makeDelivery()
    await fixture.db.tenant(scope, (tx) => fixture.deliver.onDead(tx, scope, { deliveryId }, 'no attempts are left'))
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'failed' })
    await fixture.db.tenant(scope, (tx) => fixture.deliver.onRedrive(tx, scope, { deliveryId }))
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'pending' })
    expect(await fixture.runOnce(deliveryId)).toEqual({ kind: 'settled' })
  })
})

describe('an endpoint', () => {
  it('that answers 410 is disabled at once, and its waiting deliveries are cancelled with their jobs', async () => {
    const { deliveryId, emit, endpointId } = await makeDelivery(status(410))
    const waiting = await emit()
    expect(await fixture.runOnce(deliveryId)).toEqual({ kind: 'settled' })
    expect(await endpointOf(endpointId)).toMatchObject({ status: 'disabled', disabled_reason: 'gone' })
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'failed', attempts: 1 })
    expect(await fixture.deliveryOf(waiting)).toMatchObject({ status: 'cancelled', attempts: 0 })
    expect(await fixture.jobState(waiting)).toBe('cancelled')
    expect(await emit()).toBe('')
  })

  it('is disabled after 20 failures in a row over five days, not before', async () => {
    const { deliveryId, endpointId, scope } = await makeDelivery(status(500))
    const age = (failures: number, days: number) =>
      fixture.owner(
        `UPDATE webhook_endpoints SET consecutive_failures = $2, first_failure_at = now() - $3 * interval '1 day' WHERE id = $1`,
        [endpointId, failures, days],
      )
    await age(18, 6)
    await fixture.runOnce(deliveryId)
    await age(100, 4.9)
    await fixture.runOnce(deliveryId)
    expect(await endpointOf(endpointId)).toMatchObject({ status: 'enabled' })
    await age(19, 5)
    expect(await fixture.runOnce(deliveryId)).toEqual({ kind: 'settled' })
    expect(await endpointOf(endpointId)).toMatchObject({ status: 'disabled', disabled_reason: 'failing' })
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'failed' })
    await expect(fixture.webhooks.test(scope, endpointId)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('that was disabled or deleted meanwhile gets no call: the delivery is cancelled', async () => {
    const disabled = await makeDelivery()
    await fixture.owner(`UPDATE webhook_endpoints SET status = 'disabled' WHERE id = $1`, [disabled.endpointId])
    const deleted = await makeDelivery()
    await fixture.owner('UPDATE webhook_endpoints SET deleted_at = now() WHERE id = $1', [deleted.endpointId])
    for (const { deliveryId, received } of [disabled, deleted]) {
      expect(await fixture.runOnce(deliveryId)).toEqual({ kind: 'settled' })
      expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'cancelled', attempts: 0 })
      expect(received).toHaveLength(0)
    }
  })

  it('can be deleted while deliveries to it fail: each is cancelled, one that was queued again when it runs', async () => {
    const { deliveryId, emit, endpointId, scope } = await makeDelivery(status(500))
    const ids = [deliveryId, ...(await Promise.all(Array.from({ length: 7 }, emit)))]
    const runs = ids.map((id) => fixture.runOnce(id))
    await fixture.webhooks.remove(actingIn(scope), endpointId)
    await Promise.all(runs)
    for (const id of ids) if ((await fixture.deliveryOf(id))?.status === 'pending') await fixture.runOnce(id)
    for (const id of ids) expect(await fixture.deliveryOf(id)).toMatchObject({ status: 'cancelled' })
  })
})
