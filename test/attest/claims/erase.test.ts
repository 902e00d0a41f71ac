import { createHash } from 'node:crypto'
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BatchLine } from '#src/attest/claims/submission.ts'
import { newId } from '#src/platform/ids.ts'
import { acceptBatch } from './bulk.ts'
import { type Erasing, type Seen, startErasing } from './erasing.ts'
import { shoot } from './phone.ts'

let on: Erasing
beforeAll(async () => {
  on = await startErasing()
})
afterAll(() => on?.close())

describe('DELETE /v1/claims/:id', () => {
  it('removes every position and every byte of a photo, and keeps every hash', async () => {
    const [first, second] = [on.newPhoto(), on.newPhoto()]
    const gps = { lat: 48.1371541, lng: 11.5761243, accuracy_m: 4.25, mock: false }
    const loss = { lat: -33.8567844, lng: 151.2152967 }
    const shot = (photo: Buffer) => ({
      ...shoot(on.phone, { photo, gps }),
      claim: { reference: 'erased', loss_location: loss, loss_at: '2026-11-01T10:00:00Z' },
    })
    const before = (await on.service.judge(on.caller, shot(first))) as unknown as Seen
    await on.service.judge(on.caller, shot(second))
    expect(before.advisory_factors).toMatchObject([{ code: 'geofence_mismatch' }, { code: 'c2pa_absent' }])
    await on.download(before.media_id, '/thumbnail')
    const traces = [gps.lat, gps.lng, loss.lat, loss.lng].map((degrees) => String(Math.abs(degrees)))
    const held = await on.dump()
    for (const trace of traces) expect(held).toContain(trace)
    const files = (await on.filesWith(Buffer.from(''))).length
    expect(await on.filesWith(first.subarray(-40))).toHaveLength(1)

    const { status, json } = await on.erase(before.claim_id)
    expect(status).toBe(200)
    expect(json).toMatchObject({
      claim_id: before.claim_id,
      reference: 'erased',
      loss_location: null,
      loss_at: '2026-11-01T10:00:00.000Z',
      erased_at: expect.any(String),
    })

    const left = await on.dump()
    for (const trace of traces) expect(left).not.toContain(trace)
    for (const photo of [first, second]) {
      expect(await on.filesWith(photo.subarray(-40))).toEqual([])
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        expect(left).not.toContain(photo.subarray(-30).toString(encoding))
      }
      expect(left).toContain(createHash('sha256').update(photo).digest('hex'))
    }
    // Two photos and a thumbnail.
    expect(await on.filesWith(Buffer.from(''))).toHaveLength(files - 3)

    const { json: after } = await on.service.call(on.caller, `/v1/attestations/${before.attestation_id}`)
    const { erased_at: erasedAt, ...rest } = after
    expect(rest).toEqual(before)
    expect(erasedAt).toEqual(expect.any(String))
    const { payload } = await verifyRecord(String(after.result_jws))
    expect(payload).toMatchObject({
      media_sha256: createHash('sha256').update(first).digest('hex'),
      bundle_sha256: decodeJwt(before.result_jws).bundle_sha256,
    })

    const { json: claim } = await on.service.call(on.caller, `/v1/claims/${before.claim_id}/attestations`)
    const { data } = claim as unknown as {
      data: { submission: { bundle: object; claim: object }; erased_at: string }[]
    }
    expect(data).toHaveLength(2)
    for (const { submission, erased_at } of data) {
      expect(erased_at).toEqual(expect.any(String))
      expect(submission.claim).toEqual({ reference: 'erased', loss_at: '2026-11-01T10:00:00Z' })
      expect(submission.bundle).toMatchObject({ device_id: on.phone.id, biometric: { gated: true } })
      expect(submission.bundle).not.toHaveProperty('gps')
    }
    for (const more of ['', '/thumbnail']) {
      const gone = await on.download(before.media_id, more)
      expect([gone.status, gone.json.code]).toEqual([404, 'not_found'])
    }
  })

  it('answers the same the second time, and logs who asked', async () => {
    const { claim_id: id, attestation_id: attestation } = await on.judged('twice')
    on.logged.length = 0
    const first = await on.erase(id)
    expect(on.logged).toMatchObject([
      {
        claim: id,
        account: on.caller.accountId,
        actor: expect.stringMatching(/^key_/),
        requestId: expect.stringMatching(/^req_/),
      },
      { claim: id, msg: 'claim erased', attestations: 1, media: 1 },
    ])
    const row = await on.service.test.owner(
      'SELECT a::text, m::text FROM attestations a, media m WHERE a.id = $1 AND m.id = a.media_id',
      [attestation],
    )
    const second = await on.erase(id)
    expect([second.status, second.json]).toEqual([200, first.json])
    expect(
      await on.service.test.owner(
        'SELECT a::text, m::text FROM attestations a, media m WHERE a.id = $1 AND m.id = a.media_id',
        [attestation],
      ),
    ).toEqual(row)
    expect(on.logged).toHaveLength(2)
  })

  it('supports an Idempotency-Key', async () => {
    const { claim_id: id } = await on.judged('keyed')
    const first = await on.erase(id, { 'Idempotency-Key': 'erase-1' })
    const again = await on.erase(id, { 'Idempotency-Key': 'erase-1' })
    expect([again.status, again.json]).toEqual([200, first.json])
    expect(again.headers['idempotent-replayed']).toBe('true')
    const { claim_id: other } = await on.judged('keyed too')
    expect((await on.erase(other, { 'Idempotency-Key': 'erase-1' })).json.code).toBe('idempotency_key_reused')
    expect((await on.service.call(on.caller, `/v1/claims/${other}`)).json.erased_at).toBeNull()
  })

  it('needs the scope admin and a claim of the account', async () => {
    const { claim_id: id } = await on.judged('guarded')
    const scoped = on.service.addKey({ ...on.caller, scopes: ['attest', 'verify', 'escalate'] })
    expect((await on.erase(id, {}, scoped)).status).toBe(403)
    const stranger = on.service.addKey({ ...(await on.service.makeCaller()), scopes: ['all'] })
    expect((await on.erase(id, {}, stranger)).json.code).toBe('not_found')
    const live = on.service.addKey({ ...on.caller, environment: 'live', scopes: ['admin'] })
    expect((await on.erase(id, {}, live)).json.code).toBe('environment_mismatch')
    expect((await on.erase(newId('clm', 'sandbox'))).json.code).toBe('not_found')
    expect((await on.erase('clm_test_x')).json.code).toBe('not_found')
    expect((await on.service.call(on.caller, `/v1/claims/${id}`)).json.erased_at).toBeNull()
  })

  it('keeps a photo that another claim needs, and removes it from this claim', async () => {
    const photo = on.newPhoto()
    const [mine, theirs] = [await on.judged('shares', { photo }), await on.judged('shares too', { photo })]
    expect(mine.media_id).toBe(theirs.media_id)
    expect((await on.erase(mine.claim_id)).status).toBe(200)
    expect((await on.download(theirs.media_id)).status).toBe(200)
    const { json } = await on.service.call(on.caller, `/v1/attestations/${mine.attestation_id}`)
    expect(json.media_id).not.toBe(theirs.media_id)
    expect((await on.download(json.media_id)).status).toBe(404)
    const [row] = await on.service.test.owner<{ sha256: string }>(
      "SELECT encode(sha256, 'hex') AS sha256 FROM media WHERE id = $1",
      [json.media_id],
    )
    expect(row?.sha256).toBe(createHash('sha256').update(photo).digest('hex'))

    expect((await on.erase(theirs.claim_id)).status).toBe(200)
    expect(await on.filesWith(photo.subarray(-40))).toEqual([])
    expect((await on.download(theirs.media_id)).status).toBe(404)
  })

  it('allows the same bytes to be stored again as another medium', async () => {
    const photo = on.newPhoto()
    const old = await on.judged('comes again', { photo })
    await on.erase(old.claim_id)
    const fresh = await on.judged('has come again', { photo })
    expect(fresh.media_id).not.toBe(old.media_id)
    expect((await on.download(fresh.media_id)).status).toBe(200)
    expect((await on.download(old.media_id)).status).toBe(404)
  })

  it('cancels attestations that were not evaluated: waiting, failed and running', async () => {
    const submit = async () => {
      const { json } = await on.service.attest(on.caller, {
        ...shoot(on.phone, { photo: on.newPhoto() }),
        claim: { reference: 'unfinished' },
      })
      return {
        id: String(json.attestation_id),
        claimId: String(json.claim_id),
        jobId: await on.service.jobOf(String(json.attestation_id)),
      }
    }
    const [waiting, failed, running] = [await submit(), await submit(), await submit()]
    await on.service.test.owner("UPDATE jobs SET state = 'dead', settled_at = now() WHERE id = $1", [failed.jobId])
    await on.service.test.owner("UPDATE attestations SET status = 'failed', failure = 'why' WHERE id = $1", [failed.id])
    const job = await on.service.take(running.jobId)

    expect((await on.erase(waiting.claimId)).json).toMatchObject({
      risk_status: 'pending',
      erased_at: expect.any(String),
    })
    for (const { id } of [waiting, failed, running]) {
      const { json } = await on.service.call(on.caller, `/v1/attestations/${id}`)
      expect(json).toMatchObject({ status: 'cancelled', erased_at: expect.any(String) })
      expect(json.failure).toBeNull()
      expect((await on.service.call(on.caller, `/v1/attestations/${id}/retry`, { method: 'POST' })).status).toBe(409)
    }
    const events = await on.service.events(on.caller)
    expect(await on.service.runJob(running.id, job)).toEqual({ kind: 'done' })
    expect((await on.service.call(on.caller, `/v1/attestations/${running.id}`)).json.status).toBe('cancelled')
    expect(await on.service.events(on.caller)).toEqual(events)
    const states = await on.service.test.owner('SELECT state FROM jobs WHERE id = ANY($1::uuid[]) ORDER BY state', [
      [waiting.jobId, failed.jobId, running.jobId],
    ])
    expect(states).toEqual([{ state: 'cancelled' }, { state: 'cancelled' }, { state: 'succeeded' }])
  })

  it('makes an evaluation that is under way end without a result', async () => {
    const { json } = await on.service.attest(on.caller, {
      ...shoot(on.phone, { photo: on.newPhoto() }),
      claim: { reference: 'half done' },
    })
    const id = String(json.attestation_id)
    const verify = on.service.makeVerify({
      signRecord: async (...args) => {
        expect((await on.erase(String(json.claim_id))).status).toBe(200)
        return on.service.signRecord(...args)
      },
    })
    expect(await on.service.run(id, verify)).toEqual({ kind: 'settled' })
    expect((await on.service.call(on.caller, `/v1/attestations/${id}`)).json).toMatchObject({ status: 'cancelled' })
    const { json: claim } = await on.service.call(on.caller, `/v1/claims/${json.claim_id}`)
    expect(claim).toMatchObject({ risk_status: 'pending', factor_codes: [], erased_at: expect.any(String) })
  })

  it('closes the claim: a late capture is refused, and other captures of the same call are not', async () => {
    const { claim_id: id } = await on.judged('closed')
    await on.erase(id)
    const late = await on.service.attest(on.caller, {
      ...shoot(on.phone, { photo: on.newPhoto() }),
      claim: { reference: 'closed' },
    })
    expect([late.status, late.json.code, late.json.errors?.[0]]).toEqual([
      409,
      'claim_erased',
      { pointer: '/claim/reference', code: 'claim_erased', detail: expect.any(String) },
    ])
    expect((await on.service.call(on.caller, `/v1/claims?reference=closed`)).json.data).toMatchObject([
      { loss_location: null },
    ])
  })

  it('refuses late lines of a batch one by one, and creates no claim for them', async () => {
    await on.erase((await on.judged('closed line')).claim_id)
    const { media_id: mediaId } = await on.judged('open line')
    const lineOf = (externalId: string, claim?: { reference: string }) =>
      ({ ...shoot(on.phone), external_id: externalId, claim, media: { media_id: mediaId } }) as BatchLine
    const before = await on.service.count('claims')
    const bodies = [
      lineOf('l-1', { reference: 'closed line' }),
      lineOf('l-2', { reference: 'new line' }),
      lineOf('l-3'),
      lineOf('l-4', { reference: 'closed line' }),
    ]
    const verdicts = await acceptBatch(on.service.test.db, on.caller, bodies)
    expect(verdicts.map((verdict) => ('errors' in verdict ? verdict.errors[0]?.code : 'accepted'))).toEqual([
      'claim_erased',
      'accepted',
      'accepted',
      'claim_erased',
    ])
    expect(await on.service.count('claims')).toBe(before + 2)
  })
})

async function verifyRecord(jws: string) {
  const { json } = await on.service.call({ key: undefined }, '/v1/jwks')
  const { keys } = json as unknown as Parameters<typeof createLocalJWKSet>[0]
  return jwtVerify(jws, createLocalJWKSet({ keys }))
}
