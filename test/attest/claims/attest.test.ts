import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { within } from '#src/platform/context.ts'
import { newId } from '#src/platform/ids.ts'
import type { Worker } from '#src/platform/jobs/consume.ts'
import { until } from '../../support/until.ts'
import { attestFixture, BARE_PHOTO, PHOTO, type Phone, shoot } from './phone.ts'
import type { Caller, Service } from './service.ts'

let service: Service
let caller: Caller
let phone: Phone

beforeAll(async () => {
  ;({ service, caller, phone } = await attestFixture())
})
afterAll(() => service.close())

const upload = async (owner: Caller, bytes = PHOTO) =>
  (await service.media.storeInline(owner, { contentType: 'image/jpeg', data: bytes })).id

describe('a submission without Prefer: wait', () => {
  it('is queued: 202 gives the address, the retry time and the applied preference', async () => {
    const { status, headers, json } = await service.attest(caller, shoot(phone, { claim: { reference: 'C-1' } }))
    expect(status).toBe(202)
    expect(json).toEqual({
      attestation_id: expect.stringMatching(/^att_test_[0-9a-z]{26}$/),
      claim_id: expect.stringMatching(/^clm_test_[0-9a-z]{26}$/),
      status: 'queued',
      external_id: null,
      batch_id: null,
      media_id: expect.stringMatching(/^med_test_/),
      device_id: phone.id,
      accepted_at: expect.stringMatching(/^\d{4}-.*Z$/),
      failure: null,
    })
    expect(headers).toMatchObject({
      location: `/v1/attestations/${json.attestation_id}`,
      'retry-after': '1',
      'preference-applied': 'wait=0',
    })
    const { accepted_at } = json
    expect(Math.abs(Date.now() - Date.parse(String(accepted_at)))).toBeLessThan(10_000)
  })

  it('emits no event until it is evaluated, and creates one interactive job', async () => {
    const { json } = await service.attest(caller, shoot(phone))
    const jobs = await service.test.owner<{ state: string; priority: number; payload: object; account_id: string }>(
      'SELECT state, priority, payload, account_id FROM jobs WHERE id = $1',
      [await service.jobOf(String(json.attestation_id))],
    )
    expect(jobs).toEqual([
      { state: 'queued', priority: 0, payload: { attestationId: json.attestation_id }, account_id: caller.accountId },
    ])
    expect(await service.events(caller)).toEqual([])
  })

  it('needs no claim, no bundle and no external id', async () => {
    const bare = await service.attest(caller, { media_type: 'image', media: { media_id: await upload(caller) } })
    expect(bare.status).toBe(202)
    const other = await service.attest(caller, { media_type: 'image', media: { media_id: await upload(caller) } })
    expect(other.json.claim_id).not.toBe(bare.json.claim_id)
  })
})

describe('with a running worker', () => {
  let worker: Worker
  beforeAll(async () => {
    worker = await service.startWorker()
  })
  afterAll(() => worker.close(5_000))

  it('a submission returns the result, whose points add up to the score', async () => {
    const { status, headers, json } = await service.attest(caller, shoot(phone), '')
    expect(status).toBe(200)
    expect(headers).not.toHaveProperty('preference-applied')
    expect(headers).not.toHaveProperty('location')
    expect(json).toMatchObject({
      status: 'succeeded',
      provenance_status: 'verified',
      risk_status: 'review',
      risk_score: 40,
      factors: [{ code: 'hardware_backing_absent', points: 40, evidence: { found: 'none' } }],
      advisory_factors: [{ code: 'c2pa_absent', evidence: { found: 'absent' } }],
      observations: [],
      hardware_tier: 'none',
      rules_version: expect.stringMatching(/^attest-rules\//),
      result_jws: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    })
    const again = await service.call(caller, `/v1/attestations/${json.attestation_id}`)
    expect(again).toMatchObject({ status: 200, json })
  })

  it('a submission reports the preference that was applied, also when more was asked for', async () => {
    for (const [prefer, applied] of [
      ['wait=20', 'wait=20'],
      ['wait=600', 'wait=30'],
      ['respond-async, wait=5', 'wait=5'],
      ['wait=soon', undefined],
    ] as const) {
      const { status, headers } = await service.attest(caller, shoot(phone), prefer)
      expect(status).toBe(200)
      expect(headers['preference-applied']).toBe(applied)
    }
  })

  it('a GET of the attestation waits as long as requested', async () => {
    const { json } = await service.attest(caller, shoot(phone))
    const seen = await service.call(caller, `/v1/attestations/${json.attestation_id}?wait=20`)
    expect(seen).toMatchObject({ status: 200, json: { status: 'succeeded' } })
  })
})

describe('without a worker', () => {
  it('a wait ends with 202, at its time and not much later', async () => {
    const startedAt = performance.now()
    const { status, headers } = await service.attest(caller, shoot(phone), 'wait=1')
    const tookMs = performance.now() - startedAt
    expect(status).toBe(202)
    expect(headers['preference-applied']).toBe('wait=1')
    expect(tookMs).toBeGreaterThan(900)
    expect(tookMs).toBeLessThan(15_000)
  })

  it('a GET of a queued attestation is 200 and says when to ask again', async () => {
    const { json } = await service.attest(caller, shoot(phone))
    const { status, headers, json: seen } = await service.call(caller, `/v1/attestations/${json.attestation_id}`)
    expect(status).toBe(200)
    expect(seen).toEqual(json)
    expect(headers).toMatchObject({ 'retry-after': '1' })
  })

  it('a client that disconnects while it waits leaves the stored submission and no waiter', async () => {
    const before = await service.count('attestations')
    const controller = new AbortController()
    const left = fetch(`${service.app.url}/v1/claims/attest`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${caller.key}`, 'Content-Type': 'application/json', Prefer: 'wait=30' },
      body: JSON.stringify(shoot(phone)),
      signal: controller.signal,
    }).catch((error: Error) => error.name)
    await until(async () => (await service.count('attestations')) > before)
    controller.abort()
    expect(await left).toBe('AbortError')
    // 499 is counted for a request whose client left: its handler has ended long before the 30 seconds.
    await until(async () => /"499"/.test(await service.app.metrics.registry.metrics()))
    expect(await service.count('attestations')).toBe(before + 1)
  })

  it('beyond nine hundred waiting callers the next one of an account gets 202, and waits longer before it asks again', async () => {
    const controller = new AbortController()
    const { attestation_id } = (await service.attest(caller, shoot(phone))).json
    const jobId = await service.jobOf(String(attestation_id))
    const waiting = Array.from({ length: 900 }, () =>
      within({ account: caller.accountId }, () => service.waiters.settled(jobId, 60_000, controller.signal)),
    )
    expect((await service.attest(caller, shoot(phone), 'wait=1')).status).toBe(202)
    const asked = await service.call(caller, `/v1/attestations/${attestation_id}?wait=1`)
    expect([asked.status, asked.headers['retry-after']]).toEqual([200, '5'])
    controller.abort()
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([false]))
  })
})

describe('an external id', () => {
  const counts = async () => ({
    attestations: await service.count('attestations'),
    claims: await service.count('claims'),
    jobs: await service.count('jobs'),
    events: await service.count('events'),
  })

  it('sent again with the same content is the same attestation: no further row, job, nonce or event', async () => {
    const { sessions } = await service.captures.issue(caller, { count: 1 })
    const body = shoot(phone, {
      externalId: newId('clm', 'sandbox'),
      claim: { reference: 'C-7', loss_location: { lat: 1, lng: 2 } },
      sessionNonce: sessions[0]?.session_nonce,
    })
    const first = await service.attest(caller, body)
    const rows = await service.fingerprint()
    const before = await counts()
    const reordered = Object.fromEntries(Object.entries(body).reverse())
    for (const again of [body, reordered, { ...body, media: { media_id: await upload(caller) } }]) {
      const answer = await service.attest(caller, again)
      expect(answer.status).toBe(202)
      expect(answer.json).toEqual(first.json)
    }
    expect(await counts()).toEqual(before)
    // A repeat does not write the claim's row again.
    expect(await service.fingerprint()).toBe(rows)
  })

  it('sent again after the evaluation returns its result at once, however long ago that was', async () => {
    const body = shoot(phone, { externalId: newId('clm', 'sandbox') })
    const { attestation_id } = (await service.attest(caller, body)).json
    await service.run(String(attestation_id))
    // Settled jobs are deleted after a day.
    await service.test.owner('DELETE FROM jobs WHERE id = $1', [await service.jobOf(String(attestation_id))])
    const startedAt = performance.now()
    const again = await service.attest(caller, body, 'wait=30')
    expect(again).toMatchObject({ status: 200, json: { attestation_id, status: 'succeeded' } })
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  })

  it('sent with any other content is a conflict that names the field and changes nothing', async () => {
    const body = shoot(phone, { externalId: newId('clm', 'sandbox'), claim: { reference: 'C-8' } })
    await service.attest(caller, body)
    const otherMedia = await upload(caller, BARE_PHOTO)
    const rows = await service.fingerprint()
    const changes = [
      { claim: { reference: 'C-9' } },
      { claim: { reference: 'C-8', line: 'auto' } },
      { claim: { reference: 'C-8', loss_location: { lat: 3, lng: 4 } } },
      { media: { media_id: otherMedia } },
      { bundle: undefined, signature: undefined, certificate_chain: undefined },
      { certificate_chain: undefined },
      { assertion: 'QUJD' },
    ]
    for (const change of changes) {
      const { status, json } = await service.attest(caller, { ...body, ...change })
      expect(status).toBe(409)
      expect(json).toMatchObject({
        code: 'external_id_reused',
        errors: [{ pointer: '/external_id', code: 'external_id_reused' }],
      })
      expect(await service.fingerprint()).toBe(rows)
    }
  })

  it('belongs to one account: other accounts may use the same one', async () => {
    const other = await service.makeCaller()
    const name = newId('clm', 'sandbox')
    const first = await service.attest(caller, {
      media_type: 'image',
      external_id: name,
      media: { media_id: await upload(caller) },
    })
    const second = await service.attest(other, {
      media_type: 'image',
      external_id: name,
      media: { media_id: await upload(other) },
    })
    expect(second.status).toBe(202)
    expect(second.json.attestation_id).not.toBe(first.json.attestation_id)
  })
})

describe('one claim of many captures', () => {
  it('is found by its reference; later captures add what it lacks and change nothing that it states', async () => {
    const send = async (claim: object) =>
      String(
        (await service.attest(caller, { media_type: 'image', media: { media_id: await upload(caller) }, claim })).json
          .claim_id,
      )
    const ids = [
      await send({ reference: 'C-20', line: 'auto' }),
      await send({ reference: 'C-20', line: 'home', loss_location: { lat: 10, lng: 20 } }),
      await send({ reference: 'C-20', loss_location: { lat: 30, lng: 40 }, loss_at: '2026-11-01T10:00:00.5+02:00' }),
      await send({ reference: 'C-20' }),
    ]
    expect(new Set(ids).size).toBe(1)
    const { json } = await service.call(caller, `/v1/claims/${ids[0]}`)
    expect(json).toMatchObject({
      reference: 'C-20',
      line: 'auto',
      loss_location: { lat: 10, lng: 20 },
      loss_at: '2026-11-01T08:00:00.500Z',
      risk_status: 'pending',
      risk_score: null,
      provenance_status: null,
    })
  })
})
