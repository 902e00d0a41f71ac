import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyWebhookSignature } from '#src/account/webhooks/signature.ts'
import type { Scope } from '#src/platform/ids.ts'
import { call } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { createFixture, escalated, type Fixture, type Received } from './fixture.ts'

const PATH = '/v1/webhook-endpoints'

let fixture: Fixture
beforeAll(async () => {
  fixture = await createFixture()
})
afterAll(() => fixture.close())

/** An account with a key and an endpoint whose receiver records. */
async function makeOwner() {
  const scope = await fixture.makeAccount()
  const key = fixture.addKey(scope)
  const { received, url } = await fixture.receiver()
  const { json } = await call(fixture.app, PATH, { key, json: { url, event_types: ['*'] } })
  const id = String(json.webhook_endpoint_id)
  const send = (method: string, path: string, body?: unknown, headers = {}) =>
    call(fixture.app, `${PATH}/${id}${path}`, { key, method, headers, ...(body === undefined ? {} : { json: body }) })
  return {
    scope,
    id,
    url,
    received,
    secret: String(json.signing_secret),
    read: async () => (await send('GET', '')).json,
    patch: (body: unknown, headers = {}) => send('PATCH', '', body, headers),
    rotate: (body?: unknown, headers = {}) => send('POST', '/rotate-secret', body, headers),
    escalate: async () => (await fixture.emit([escalated('clm_test_a')], scope))[0]?.deliveryIds[0],
  }
}

const auditOf = ({ accountId }: Scope) =>
  fixture.owner<{ action: string; before: unknown; after: unknown }>(
    `SELECT action, before, after FROM audit_entries WHERE account_id = $1 AND action LIKE 'webhook_endpoint.%' ORDER BY id`,
    [accountId],
  )

describe('changing an endpoint', () => {
  it('changes what the request names and nothing else, with an entry in the audit log that has no path and no metadata', async () => {
    const owner = await makeOwner()
    const before = await owner.read()
    const changed = await owner.patch({
      url: 'http://127.0.0.1:4001/other?token=abc',
      description: ' Claims desk ',
      metadata: { team: 'claims' },
      max_per_second: 5,
      max_concurrency: 2,
    })
    const lanes = await fixture.owner(
      `SELECT lane, per_second, most_in_flight FROM job_lanes WHERE lane LIKE $1 || '%' ORDER BY lane`,
      [owner.id],
    )
    expect(lanes).toEqual([{ lane: owner.id, per_second: 5, most_in_flight: 2 }])
    expect(changed.json).toEqual({
      ...before,
      url: 'http://127.0.0.1:4001/other?token=abc',
      description: 'Claims desk',
      metadata: { team: 'claims' },
      max_per_second: 5,
      max_concurrency: 2,
    })
    expect((await owner.patch({ max_per_second: null, metadata: {} })).json).toEqual({
      ...changed.json,
      max_per_second: null,
      metadata: {},
    })
    const [, first] = await auditOf(owner.scope)
    expect(first).toMatchObject({
      action: 'webhook_endpoint.changed',
      before: { max_per_second: null, status: 'enabled' },
      after: { origin: 'http://127.0.0.1:4001', max_per_second: 5, max_concurrency: 2 },
    })
    expect(JSON.stringify(first)).not.toMatch(/abc|claims/)
  })

  it.each([
    [{}, ''],
    [{ event_types: ['*', 'ping'] }, '/event_types/0'],
    [{ event_types: ['claim.lost'] }, '/event_types/0'],
    [{ url: 'https://169.254.169.254/' }, '/url'],
    [{ status: 'paused' }, '/status'],
    [{ disabled_reason: null }, '/disabled_reason'],
    [{ signing_secret: 'whsec_mine' }, '/signing_secret'],
  ])('refuses %j', async (body, pointer) => {
    const { patch } = await makeOwner()
    const { status, json } = await patch(body)
    expect([status, json.code, json.errors?.[0]?.pointer]).toEqual([400, 'invalid_request', pointer])
  })

  it('disables it, which cancels what waits, and enables it for the events from then on', async () => {
    const owner = await makeOwner()
    const waiting = (await owner.escalate()) ?? ''
    const disabled = await owner.patch({ status: 'disabled' })
    expect(disabled.json).toMatchObject({ status: 'disabled', disabled_reason: 'manual' })
    expect(disabled.json.disabled_at).toMatch(/Z$/)
    expect([await fixture.deliveryOf(waiting), await fixture.jobState(waiting)]).toMatchObject([
      { status: 'cancelled' },
      'cancelled',
    ])
    expect(await owner.escalate()).toBeUndefined()
    // A change of something else leaves it disabled.
    expect((await owner.patch({ description: 'x' })).json).toMatchObject({ disabled_at: disabled.json.disabled_at })

    await fixture.owner(
      'UPDATE webhook_endpoints SET consecutive_failures = 19, first_failure_at = now() WHERE id = $1',
      [owner.id],
    )
    expect((await owner.patch({ status: 'enabled' })).json).toMatchObject({
      status: 'enabled',
      disabled_reason: null,
      disabled_at: null,
    })
    const [row] = await fixture.owner(
      'SELECT consecutive_failures, first_failure_at FROM webhook_endpoints WHERE id = $1',
      [owner.id],
    )
    expect(row).toEqual({ consecutive_failures: 0, first_failure_at: null })
    await fixture.runOnce((await owner.escalate()) ?? '')
    expect(owner.received).toHaveLength(1)
  })

  it('cancels nothing of an endpoint that is enabled while a job of its old deliveries runs', async () => {
    const owner = await makeOwner()
    const deliveryId = (await owner.escalate()) ?? ''
    await fixture.owner(`UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = 'manual' WHERE id = $1`, [
      owner.id,
    ])
    let ran: ReturnType<Fixture['runOnce']> | undefined
    await fixture.db.tenant(owner.scope, async (tx) => {
      await tx.query(`UPDATE webhook_endpoints SET status = 'enabled', disabled_reason = NULL WHERE id = $1`, [
        owner.id,
      ])
      let hasRun = false
      ran = fixture.runOnce(deliveryId)
      void ran.then(() => {
        hasRun = true
      })
      await until(async () => hasRun || (await fixture.countLockWaits()) === 1)
    })
    expect(await ran).toMatchObject({ kind: 'defer' })
    expect(await fixture.deliveryOf(deliveryId)).toMatchObject({ status: 'pending' })
  })
})

describe('rotating the secret', () => {
  const isValid = ({ body, headers }: Received, secret: string) =>
    verifyWebhookSignature({ rawBody: body, headers }, [secret], Date.now() / 1_000).valid

  it('signs with both during the overlap, newest first, with the two newest after one more, and then with one', async () => {
    const owner = await makeOwner()
    const rotated = await owner.rotate({ grace_seconds: 600 })
    expect(rotated.json.signing_secret).toMatch(/^whsec_[A-Za-z0-9+/]{44}$/)
    const ends = Date.parse(String(rotated.json.previous_secret_expires_at))
    expect(ends - Date.parse(String(rotated.json.secret_rotated_at))).toBe(600_000)
    const second = String(rotated.json.signing_secret)
    const signers = async (...secrets: string[]) => {
      await fixture.runOnce((await owner.escalate()) ?? '')
      const last = owner.received.at(-1)
      if (last === undefined) throw new Error('nothing was received')
      return {
        count: String(last.headers['service-signature']).split('v1=').length - 1,
        valid: secrets.map((secret) => isValid(last, secret)),
      }
    }
    expect(await signers(owner.secret, second)).toEqual({ count: 2, valid: [true, true] })
    const third = String((await owner.rotate()).json.signing_secret)
    expect(await signers(owner.secret, second, third)).toEqual({ count: 2, valid: [false, true, true] })

    await fixture.owner(`UPDATE webhook_endpoints SET previous_secret_expires_at = now() WHERE id = $1`, [owner.id])
    expect(await signers(second, third)).toEqual({ count: 1, valid: [false, true] })
    expect((await owner.read()).previous_secret_expires_at).toBeNull()
    const fourth = String((await owner.rotate({ grace_seconds: 0 })).json.signing_secret)
    expect(await signers(third, fourth)).toEqual({ count: 1, valid: [false, true] })
  })

  it('refuses a longer overlap than seven days, and repeats by key without a second secret', async () => {
    const owner = await makeOwner()
    for (const grace_seconds of [-1, 604_801, 1.5, '5']) {
      expect((await owner.rotate({ grace_seconds })).status).toBe(400)
    }
    const first = await owner.rotate({ grace_seconds: 604_800 }, { 'Idempotency-Key': 'r' })
    const again = await owner.rotate({ grace_seconds: 604_800 }, { 'Idempotency-Key': 'r' })
    const { signing_secret: secret, ...shown } = first.json
    expect(secret).toMatch(/^whsec_/)
    expect(again.json).toEqual({ ...shown, secret_shown: false })
    expect((await auditOf(owner.scope)).map(({ action }) => action)).toEqual([
      'webhook_endpoint.created',
      'webhook_endpoint.secret_rotated',
    ])
  })
})
