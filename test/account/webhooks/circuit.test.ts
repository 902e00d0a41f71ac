// The circuit of an endpoint: what is parked costs no attempts, one delivery probes, a success closes it.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CIRCUIT_WINDOW_MS, judgeCircuit, OPEN_AFTER } from '#src/account/webhooks/circuit.ts'
import { createDeliver } from '#src/account/webhooks/deliver.ts'
import { actingIn } from '../../support/callers.ts'
import { call } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { createFixture, escalated, type Fixture } from './fixture.ts'

describe('the wait of an open circuit', () => {
  const closed = { isOpen: false, openings: 0, isProbe: false }
  const open = { isOpen: true, isProbe: true, failures: 1 }
  const sure = { random: () => 0.5, timeDivisor: 1 }

  it('begins with the tenth failure, doubles with each probe that fails, and ends at a quarter of an hour', () => {
    expect(judgeCircuit({ ...closed, failures: OPEN_AFTER - 1 }, sure)).toBeUndefined()
    expect(judgeCircuit({ ...closed, failures: OPEN_AFTER }, sure)).toBe(30_000)
    expect([1, 2, 3, 4, 5, 6, 60].map((openings) => judgeCircuit({ ...open, openings }, sure))).toEqual(
      [60, 120, 240, 480, 900, 900, 900].map((seconds) => seconds * 1_000),
    )
  })

  it('is not prolonged by attempts that began before it, follows Retry-After up to an hour, and has jitter', () => {
    expect(judgeCircuit({ ...open, isProbe: false, openings: 1 }, sure)).toBeUndefined()
    const tenth = { ...closed, failures: OPEN_AFTER }
    expect(judgeCircuit(tenth, { ...sure, retryAfterMs: 600_000 })).toBe(600_000)
    expect(judgeCircuit(tenth, { ...sure, retryAfterMs: 9e9 })).toBe(3_600_000)
    expect([0, 1].map((random) => judgeCircuit(tenth, { ...sure, random: () => random }))).toEqual([27_000, 33_000])
  })
})

describe('an endpoint that keeps failing', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await createFixture()
  })
  afterAll(() => fixture.close())

  async function makeFailing() {
    let code = 500
    const scope = await fixture.makeAccount()
    const { received, url } = await fixture.receiver((response) => response.writeHead(code).end())
    const { id } = await fixture.makeEndpoint(url, ['*'], scope)
    const emit = async (count: number) => {
      const events = Array.from({ length: count }, (_, index) => escalated(`clm_test_${index}`))
      return (await fixture.emit(events, scope)).flatMap(({ deliveryIds }) => deliveryIds)
    }
    const circuit = async () => {
      const [row] = await fixture.owner<{ isOpen: boolean; openings: number; waitMs: number; heldMs: number | null }>(
        `SELECT circuit_opened_at IS NOT NULL AS "isOpen", circuit_openings AS openings,
           (extract(epoch FROM circuit_until - now()) * 1000)::float8 AS "waitMs",
           (SELECT (extract(epoch FROM held_until - now()) * 1000)::float8 FROM job_lanes WHERE lane = $1) AS "heldMs"
         FROM webhook_endpoints WHERE id = $1`,
        [id],
      )
      if (row === undefined) throw new Error('no endpoint')
      return row
    }
    const pass = () =>
      fixture.owner(
        `WITH lane AS (UPDATE job_lanes SET held_until = now() WHERE lane = $1)
         UPDATE webhook_endpoints SET circuit_until = now() WHERE id = $1`,
        [id],
      )
    const [opening, parked] = [await emit(OPEN_AFTER), await emit(3)]
    for (const one of opening) await fixture.runOnce(one)
    return { scope, id, url, received, emit, circuit, pass, parked, answer: (next: number) => (code = next) }
  }

  it('gets nothing more until its circuit may be probed, at the cost of no attempt', async () => {
    const { circuit, parked, received, scope, id } = await makeFailing()
    const shown = await call(fixture.app, `/v1/webhook-endpoints/${id}`, { key: fixture.addKey(scope) })
    const opened_at = expect.any(String)
    expect(shown.json.circuit).toEqual({ status: 'open', opened_at, probe_at: expect.any(String) })
    const { isOpen, openings, waitMs, heldMs } = await circuit()
    expect({ isOpen, openings }).toEqual({ isOpen: true, openings: 1 })
    expect([waitMs, heldMs]).toEqual([expect.closeTo(30_000, -4), expect.closeTo(30_000, -4)])
    // As for a job that was dispatched before: its lane is held.
    for (const one of parked) {
      expect(await fixture.runOnce(one)).toMatchObject({ kind: 'defer', delayMs: expect.closeTo(30_000, -4) })
      expect(await fixture.deliveryOf(one)).toMatchObject({ status: 'pending', attempts: 0 })
    }
    expect(received).toHaveLength(OPEN_AFTER)
  })

  it('is probed by one delivery, however many run, and waits twice as long when that fails', async () => {
    const { circuit, pass, parked, received } = await makeFailing()
    await pass()
    const outcomes = await Promise.all(parked.map((one) => fixture.runOnce(one)))
    expect(outcomes.map((one) => (one === 'stale' ? one : one.kind)).sort()).toEqual(['defer', 'defer', 'retry'])
    expect(received).toHaveLength(OPEN_AFTER + 1)
    expect(await circuit()).toMatchObject({ isOpen: true, openings: 2, heldMs: expect.closeTo(60_000, -4) })
  })

  it('works again with the first success: the circuit is closed, and its lane is dispatched', async () => {
    const { circuit, pass, parked, received, answer } = await makeFailing()
    answer(200)
    await pass()
    for (const one of parked) expect(await fixture.runOnce(one)).toEqual({ kind: 'settled' })
    expect(received).toHaveLength(OPEN_AFTER + 3)
    expect(await circuit()).toMatchObject({ isOpen: false, openings: 0, heldMs: null })
  })

  it('gets a ping at once, whose success closes the circuit', async () => {
    const { circuit, scope, id, answer } = await makeFailing()
    answer(200)
    const { deliveryId } = await fixture.webhooks.test(scope, id)
    expect(await fixture.owner('SELECT lane FROM jobs WHERE id = $1', [await fixture.jobOf(deliveryId)])).toEqual([
      { lane: `${id} direct` },
    ])
    expect(await fixture.runOnce(deliveryId)).toEqual({ kind: 'settled' })
    expect(await circuit()).toMatchObject({ isOpen: false, heldMs: null })
  })

  it('is probed by the same delivery after its worker died, and by another one when that has ended', async () => {
    const { pass, parked, received, answer } = await makeFailing()
    await pass()
    const [first = '', second = ''] = parked
    const dying = createDeliver({ ...fixture, outbound: { send: () => Promise.reject(new Error('killed')) } })
    await expect(fixture.runOnce(first, { work: dying })).rejects.toThrow('killed')
    expect(await fixture.runOnce(second)).toMatchObject({ kind: 'defer' })
    await fixture.owner(`UPDATE deliveries SET status = 'cancelled' WHERE id = $1`, [first])
    await fixture.owner(`UPDATE webhook_endpoints SET circuit_probe_at = now() - interval '61 seconds'`)
    answer(200)
    expect(await fixture.runOnce(second)).toEqual({ kind: 'settled' })
    expect(received).toHaveLength(OPEN_AFTER + 1)
  })

  it('keeps a closed circuit when its failures are far apart, or a success is between them', async () => {
    const slow = await makeFailing()
    await fixture.owner(
      `UPDATE webhook_endpoints SET circuit_opened_at = NULL, circuit_failures = $2,
         circuit_since = now() - $3 * interval '1 millisecond' WHERE id = $1`,
      [slow.id, OPEN_AFTER - 1, CIRCUIT_WINDOW_MS + 1_000],
    )
    const [failing = '', succeeding = '', last = ''] = slow.parked
    await fixture.runOnce(failing)
    expect(await slow.circuit()).toMatchObject({ isOpen: false })
    await fixture.owner('UPDATE webhook_endpoints SET circuit_failures = $2, circuit_since = now() WHERE id = $1', [
      slow.id,
      OPEN_AFTER - 1,
    ])
    slow.answer(200)
    await fixture.runOnce(succeeding)
    slow.answer(500)
    await fixture.runOnce(last)
    expect(await slow.circuit()).toMatchObject({ isOpen: false })
  })

  it('begins anew when it is enabled again', async () => {
    const { scope, id, circuit } = await makeFailing()
    const key = fixture.addKey(scope)
    const patch = (status: string) =>
      call(fixture.app, `/v1/webhook-endpoints/${id}`, { key, method: 'PATCH', json: { status } })
    expect((await patch('disabled')).status).toBe(200)
    expect((await patch('enabled')).status).toBe(200)
    expect(await circuit()).toMatchObject({ isOpen: false, heldMs: null })
  })
})

describe('an endpoint that the service disables', () => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await createFixture()
  })
  afterAll(() => fixture.close())

  it('is told to owners and admins by mail, without the path of its URL', async () => {
    const scope = await fixture.makeAccount()
    const { url } = await fixture.receiver((response) => response.writeHead(410).end())
    const { id } = await fixture.makeEndpoint(`${url}?token=hidden`, ['*'], scope)
    for (const role of ['owner', 'admin', 'analyst'] as const) {
      await fixture.service.signIn(scope.accountId, { role, email: `${role}-${id}@example.com` })
    }
    const [emitted] = await fixture.emit([escalated('clm_test_a')], scope)
    await fixture.runOnce(emitted?.deliveryIds[0] ?? '')
    const mails = await fixture.owner<{ recipient: string; kind: string }>(
      'SELECT recipient, kind FROM mails WHERE account_id = $1 ORDER BY recipient',
      [scope.accountId],
    )
    const kind = 'webhook_endpoint_disabled'
    expect(mails).toEqual(['admin', 'owner'].map((role) => ({ recipient: `${role}-${id}@example.com`, kind })))
    const write = fixture.writeDisabled
    const letter = await write({ recipient: `owner-${id}@example.com`, subjectId: id, scope })
    expect(JSON.stringify(letter)).toContain('410')
    expect(JSON.stringify(letter)).not.toContain('hidden')
    expect(await write({ recipient: `analyst-${id}@example.com`, subjectId: id, scope })).toBeUndefined()
    await fixture.owner(`UPDATE webhook_endpoints SET status = 'enabled' WHERE id = $1`, [id])
    expect(await write({ recipient: `owner-${id}@example.com`, subjectId: id, scope })).toBeUndefined()
  })

  it('is not one that was deleted before it answered 410: nobody gets a mail', async () => {
    const scope = await fixture.makeAccount()
    const made: { id: string } = { id: '' }
    const { url } = await fixture.receiver(async (response) => {
      await fixture.webhooks.remove(actingIn(scope), made.id)
      response.writeHead(410).end()
    })
    made.id = (await fixture.makeEndpoint(url, ['*'], scope)).id
    await fixture.service.signIn(scope.accountId, { role: 'owner', email: `owner-${made.id}@example.com` })
    const [emitted] = await fixture.emit([escalated('clm_test_a')], scope)
    const [deliveryId = ''] = emitted?.deliveryIds ?? []
    const reasons: string[] = []
    const work = createDeliver({ ...fixture, onDisabled: (reason) => reasons.push(reason) })
    expect(await fixture.runOnce(deliveryId, { work })).toEqual({ kind: 'settled' })
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'cancelled' })
    expect(reasons).toEqual([])
    expect(await fixture.owner('SELECT kind FROM mails WHERE account_id = $1', [scope.accountId])).toEqual([])
  })

  it('has its waiting deliveries cancelled in steps, the rest by the jobs that still run', async () => {
    const scope = await fixture.makeAccount()
    const { url, received } = await fixture.receiver((response) => response.writeHead(410).end())
    const { id } = await fixture.makeEndpoint(url, ['*'], scope)
    const emit = async (count: number) =>
      (
        await fixture.emit(
          Array.from({ length: count }, () => escalated('clm_test_a')),
          scope,
        )
      ).flatMap(({ deliveryIds }) => deliveryIds)
    const [first = ''] = await emit(1)
    for (let page = 0; page < 3; page += 1) await emit(750)
    const count = async (status: string) => {
      const [row] = await fixture.owner<{ count: number }>(
        'SELECT count(*)::int AS count FROM deliveries WHERE endpoint_id = $1 AND status = $2',
        [id, status],
      )
      return row?.count
    }
    await fixture.runOnce(first)
    expect([await count('failed'), await count('cancelled'), await count('pending')]).toEqual([1, 1_000, 1_250])
    const next = async () => {
      const [row] = await fixture.owner<{ id: string }>(
        `SELECT id FROM deliveries WHERE endpoint_id = $1 AND status = 'pending' LIMIT 1`,
        [id],
      )
      return row?.id
    }
    await until(async () => {
      const one = await next()
      if (one !== undefined) await fixture.runOnce(one)
      return one === undefined
    })
    expect([await count('cancelled'), received.length]).toEqual([2_250, 1])
    expect(
      await fixture.owner(`SELECT FROM jobs WHERE lane = $1 AND state IN ('queued', 'dispatched') LIMIT 1`, [id]),
    ).toEqual([])
  })
})
