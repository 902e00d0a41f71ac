import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import pino from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { acceptSubmissions } from '#src/attest/claims/accept.ts'
import { type ClaimErasure, createClaimErasure } from '#src/attest/claims/erase.ts'
import { claimErasureRoutes } from '#src/attest/claims/erase-routes.ts'
import type { BatchLine } from '#src/attest/claims/submission.ts'
import { createEraser } from '#src/attest/media/erase.ts'
import { mediaRoutes } from '#src/attest/media/routes.ts'
import { Failure } from '#src/failure.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import { createFindEffect } from '#src/platform/http/idempotency.ts'
import { newId } from '#src/platform/ids.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import { call, makeKeyRow, startApp, type TestApp } from '../../support/http.ts'
import { makePhone, PHOTO, type Phone, shoot } from './phone.ts'
import { type Caller, type Service, startService } from './service.ts'

let service: Service
let caller: Caller
let phone: Phone
let erasure: ClaimErasure
// Erasing and media have an application of their own, on the same rows and files.
let app: TestApp
let root: string
const keys = new Map<string, KeyRow>()
const logged: Record<string, unknown>[] = []
// What the store does with the next deletions instead of deleting.
let brokenDeletes = 0

beforeAll(async () => {
  service = await startService()
  caller = await service.makeCaller()
  phone = await makePhone(service, caller)
  const { db } = service.test
  const { store } = service
  const log = pino({ base: null }, { write: (line: string) => void logged.push(JSON.parse(line)) })
  const fragile: BlobStore = {
    ...store,
    async delete(...args) {
      if (brokenDeletes > 0) {
        brokenDeletes -= 1
        throw new Failure('service_unavailable', 'The media store does not answer. Try again.')
      }
      return store.delete(...args)
    },
  }
  erasure = createClaimErasure({ db, eraser: createEraser({ db, store: fragile }), log })
  app = await startApp([...claimErasureRoutes(erasure), ...mediaRoutes(service.media)], {
    findKey: async (raw) => keys.get(raw),
    findEffect: createFindEffect(db),
  })
  addKey('admin', { ...caller, scopes: ['admin', 'verify'] })
  root = join(store.path(caller, 'a'.repeat(64)), '../../../..')
})
beforeEach(() => {
  logged.length = 0
  brokenDeletes = 0
})
afterAll(async () => {
  await app?.close()
  await service?.close()
})

function addKey(raw: string, row: Partial<KeyRow>): string {
  keys.set(raw, makeKeyRow(row))
  return raw
}

let photos = 0
/** A photo with bytes of its own: what follows the end of a JPEG belongs to nobody. */
function newPhoto(): Buffer {
  photos += 1
  return Buffer.concat([PHOTO, Buffer.from(`the bytes of photo ${photos}, which must go`)])
}

interface Seen {
  claim_id: string
  attestation_id: string
  media_id: string
  result_jws: string
  factors: unknown
  advisory_factors: unknown
}

async function judged(
  reference: string,
  { photo = newPhoto(), ...changes }: Record<string, unknown> & { photo?: Buffer } = {},
): Promise<Seen> {
  const body = { ...shoot(phone, { photo }), claim: { reference, ...changes } }
  return (await service.judge(caller, body)) as unknown as Seen
}

const erase = (id: string, headers: Record<string, string> = {}, key = 'admin') =>
  call(app, `/v1/claims/${id}`, { method: 'DELETE', headers, key })

const download = (mediaId: unknown, more = '') => call(app, `/v1/media/${mediaId}${more}`, { key: 'admin' })

/** Every row of every table, as text; what is in columns of bytes is there in hex. */
async function dump(): Promise<string> {
  const tables = await service.test.owner<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'",
  )
  const texts = await Promise.all(
    tables.map(async ({ name }) => {
      const rows = await service.test.owner<{ text: string }>(`SELECT t::text AS text FROM ${name} t`)
      return rows.map(({ text }) => `${name} ${text}`).join('\n')
    }),
  )
  return texts.join('\n')
}

function filesWith(bytes: Buffer): string[] {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(bytes))
}

describe('DELETE /v1/claims/:id', () => {
  it('leaves no position and no byte of a photo anywhere, and every hash', async () => {
    const [first, second] = [newPhoto(), newPhoto()]
    const gps = { lat: 48.1371541, lng: 11.5761243, accuracy_m: 4.25, mock: false }
    const loss = { lat: -33.8567844, lng: 151.2152967 }
    const shot = (photo: Buffer) => ({
      ...shoot(phone, { photo, gps }),
      claim: { reference: 'erased', loss_location: loss, loss_at: '2026-11-01T10:00:00Z' },
    })
    const before = (await service.judge(caller, shot(first))) as unknown as Seen
    await service.judge(caller, shot(second))
    expect(before.advisory_factors).toMatchObject([{ code: 'geofence_mismatch' }])
    await download(before.media_id, '/thumbnail')
    const traces = [gps.lat, gps.lng, loss.lat, loss.lng].map((degrees) => String(Math.abs(degrees)))
    const held = await dump()
    for (const trace of traces) expect(held).toContain(trace)
    const files = filesWith(Buffer.from('')).length
    expect(filesWith(first.subarray(-40))).toHaveLength(1)

    const { status, json } = await erase(before.claim_id)
    expect(status).toBe(200)
    expect(json).toMatchObject({
      claim_id: before.claim_id,
      reference: 'erased',
      loss_location: null,
      loss_at: '2026-11-01T10:00:00.000Z',
      erased_at: expect.any(String),
    })

    const left = await dump()
    for (const trace of traces) expect(left).not.toContain(trace)
    for (const photo of [first, second]) {
      expect(filesWith(photo.subarray(-40))).toEqual([])
      for (const encoding of ['hex', 'base64', 'base64url'] as const) {
        expect(left).not.toContain(photo.subarray(-30).toString(encoding))
      }
      expect(left).toContain(createHash('sha256').update(photo).digest('hex'))
    }
    // Two photos and a thumbnail.
    expect(filesWith(Buffer.from(''))).toHaveLength(files - 3)

    const { json: after } = await service.call(caller, `/v1/attestations/${before.attestation_id}`)
    const { erased_at: erasedAt, ...rest } = after
    expect(rest).toEqual(before)
    expect(erasedAt).toEqual(expect.any(String))
    const { payload } = await verifyRecord(String(after.result_jws))
    expect(payload).toMatchObject({
      media_sha256: createHash('sha256').update(first).digest('hex'),
      bundle_sha256: decodeJwt(before.result_jws).bundle_sha256,
    })

    const { json: claim } = await service.call(caller, `/v1/claims/${before.claim_id}`)
    const { data } = claim.attestations as {
      data: { submission: { bundle: object; claim: object }; erased_at: string }[]
    }
    expect(data).toHaveLength(2)
    for (const { submission, erased_at } of data) {
      expect(erased_at).toEqual(expect.any(String))
      expect(submission.claim).toEqual({ reference: 'erased', loss_at: '2026-11-01T10:00:00Z' })
      expect(submission.bundle).toMatchObject({ device_id: phone.id, biometric: { gated: true } })
      expect(submission.bundle).not.toHaveProperty('gps')
    }
    for (const more of ['', '/thumbnail']) {
      const gone = await download(before.media_id, more)
      expect([gone.status, gone.json.code]).toEqual([404, 'not_found'])
    }
  })

  it('answers the same the second time, and says in the log who asked', async () => {
    const { claim_id: id, attestation_id: attestation } = await judged('twice')
    const first = await erase(id)
    expect(logged).toMatchObject([
      {
        claim: id,
        account: caller.accountId,
        key: expect.stringMatching(/^key_/),
        requestId: expect.stringMatching(/^req_/),
      },
      { claim: id, msg: 'a claim was erased', attestations: 1, media: 1 },
    ])
    const row = await service.test.owner(
      'SELECT a::text, m::text FROM attestations a, media m WHERE a.id = $1 AND m.id = a.media_id',
      [attestation],
    )
    const second = await erase(id)
    expect([second.status, second.json]).toEqual([200, first.json])
    expect(
      await service.test.owner(
        'SELECT a::text, m::text FROM attestations a, media m WHERE a.id = $1 AND m.id = a.media_id',
        [attestation],
      ),
    ).toEqual(row)
    expect(logged).toHaveLength(2)
  })

  it('heeds an Idempotency-Key', async () => {
    const { claim_id: id } = await judged('keyed')
    const first = await erase(id, { 'Idempotency-Key': 'erase-1' })
    const again = await erase(id, { 'Idempotency-Key': 'erase-1' })
    expect([again.status, again.json]).toEqual([200, first.json])
    expect(again.headers['idempotent-replayed']).toBe('true')
    const { claim_id: other } = await judged('keyed too')
    expect((await erase(other, { 'Idempotency-Key': 'erase-1' })).json.code).toBe('idempotency_key_reused')
    expect((await service.call(caller, `/v1/claims/${other}`)).json.erased_at).toBeNull()
  })

  it('is for the scope admin, and for the account’s own claims', async () => {
    const { claim_id: id } = await judged('guarded')
    const scoped = addKey('scoped', { ...caller, scopes: ['attest', 'verify', 'escalate'] })
    expect((await erase(id, {}, scoped)).status).toBe(403)
    const stranger = addKey('stranger', { ...(await service.makeCaller()), scopes: ['all'] })
    expect((await erase(id, {}, stranger)).json.code).toBe('not_found')
    const live = addKey('live', { ...caller, environment: 'live', scopes: ['admin'] })
    expect((await erase(id, {}, live)).json.code).toBe('environment_mismatch')
    expect((await erase(newId('clm', 'sandbox'))).json.code).toBe('not_found')
    expect((await erase('clm_test_x')).json.code).toBe('not_found')
    expect((await service.call(caller, `/v1/claims/${id}`)).json.erased_at).toBeNull()
  })

  it('keeps a photo that another claim needs, and takes it from this one', async () => {
    const photo = newPhoto()
    const [mine, theirs] = [await judged('shares', { photo }), await judged('shares too', { photo })]
    expect(mine.media_id).toBe(theirs.media_id)
    expect((await erase(mine.claim_id)).status).toBe(200)
    expect((await download(theirs.media_id)).status).toBe(200)
    const { json } = await service.call(caller, `/v1/attestations/${mine.attestation_id}`)
    expect(json.media_id).not.toBe(theirs.media_id)
    expect((await download(json.media_id)).status).toBe(404)
    const [row] = await service.test.owner<{ sha256: string }>(
      "SELECT encode(sha256, 'hex') AS sha256 FROM media WHERE id = $1",
      [json.media_id],
    )
    expect(row?.sha256).toBe(createHash('sha256').update(photo).digest('hex'))

    expect((await erase(theirs.claim_id)).status).toBe(200)
    expect(filesWith(photo.subarray(-40))).toEqual([])
    expect((await download(theirs.media_id)).status).toBe(404)
  })

  it('lets the same bytes come again as another medium', async () => {
    const photo = newPhoto()
    const old = await judged('comes again', { photo })
    await erase(old.claim_id)
    const fresh = await judged('has come again', { photo })
    expect(fresh.media_id).not.toBe(old.media_id)
    expect((await download(fresh.media_id)).status).toBe(200)
    expect((await download(old.media_id)).status).toBe(404)
  })

  it('cancels what was not evaluated: waiting, failed and running', async () => {
    const submit = async () => {
      const { json } = await service.attest(caller, {
        ...shoot(phone, { photo: newPhoto() }),
        claim: { reference: 'unfinished' },
      })
      return {
        id: String(json.attestation_id),
        claimId: String(json.claim_id),
        jobId: await service.jobOf(String(json.attestation_id)),
      }
    }
    const [waiting, failed, running] = [await submit(), await submit(), await submit()]
    await service.test.owner("UPDATE jobs SET state = 'dead', settled_at = now() WHERE id = $1", [failed.jobId])
    await service.test.owner("UPDATE attestations SET status = 'failed', failure = 'why' WHERE id = $1", [failed.id])
    const job = await service.take(running.jobId)

    expect((await erase(waiting.claimId)).json).toMatchObject({ risk_status: 'pending', erased_at: expect.any(String) })
    for (const { id } of [waiting, failed, running]) {
      const { json } = await service.call(caller, `/v1/attestations/${id}`)
      expect(json).toMatchObject({ status: 'cancelled', erased_at: expect.any(String) })
      expect(json).not.toHaveProperty('failure')
      expect((await service.call(caller, `/v1/attestations/${id}/retry`, { method: 'POST' })).status).toBe(409)
    }
    const events = await service.events(caller)
    expect(await service.verify.run({ attestationId: running.id }, job)).toEqual({ kind: 'settled' })
    expect((await service.call(caller, `/v1/attestations/${running.id}`)).json.status).toBe('cancelled')
    expect(await service.events(caller)).toEqual(events)
    const states = await service.test.owner('SELECT state FROM jobs WHERE id = ANY($1::uuid[]) ORDER BY state', [
      [waiting.jobId, failed.jobId, running.jobId],
    ])
    expect(states).toEqual([{ state: 'cancelled' }, { state: 'cancelled' }, { state: 'succeeded' }])
  })

  it('lets a judgement that is half done end without a result', async () => {
    const { json } = await service.attest(caller, {
      ...shoot(phone, { photo: newPhoto() }),
      claim: { reference: 'half done' },
    })
    const id = String(json.attestation_id)
    const verify = service.makeVerify({
      signRecord: async (...args) => {
        expect((await erase(String(json.claim_id))).status).toBe(200)
        return service.signRecord(...args)
      },
    })
    expect(await service.run(id, verify)).toEqual({ kind: 'settled' })
    expect((await service.call(caller, `/v1/attestations/${id}`)).json).toMatchObject({ status: 'cancelled' })
    const { json: claim } = await service.call(caller, `/v1/claims/${json.claim_id}`)
    expect(claim).toMatchObject({ risk_status: 'pending', factor_codes: [], erased_at: expect.any(String) })
  })

  it('closes the claim: a capture that comes late is refused, and others of the same call are not', async () => {
    const { claim_id: id } = await judged('closed')
    await erase(id)
    const late = await service.attest(caller, {
      ...shoot(phone, { photo: newPhoto() }),
      claim: { reference: 'closed' },
    })
    expect([late.status, late.json.code, late.json.errors?.[0]]).toEqual([
      409,
      'conflict',
      { pointer: '/claim/reference', code: 'claim_erased', detail: expect.any(String) },
    ])
    expect((await service.call(caller, `/v1/claims?reference=closed`)).json.data).toMatchObject([
      { loss_location: null },
    ])
  })

  it('refuses it in a batch line by line, and leaves no claim behind for the others', async () => {
    await erase((await judged('closed line')).claim_id)
    const { media_id: mediaId } = await judged('open line')
    const lineOf = (externalId: string, claim?: { reference: string }) =>
      ({ ...shoot(phone), external_id: externalId, claim, media: { media_id: mediaId } }) as BatchLine
    const before = await service.count('claims')
    const source = { priority: 'bulk', now: new Date() } as const
    const bodies = [
      lineOf('l-1', { reference: 'closed line' }),
      lineOf('l-2', { reference: 'new line' }),
      lineOf('l-3'),
      lineOf('l-4', { reference: 'closed line' }),
    ]
    const verdicts = await service.test.db.tenant(caller, (tx) => acceptSubmissions(tx, caller, bodies, source))
    expect(verdicts.map((verdict) => ('errors' in verdict ? verdict.errors[0]?.code : 'accepted'))).toEqual([
      'claim_erased',
      'accepted',
      'accepted',
      'claim_erased',
    ])
    expect(await service.count('claims')).toBe(before + 2)
  })

  it('says so when bytes can’t be erased now, and goes on where it stopped', async () => {
    const photo = newPhoto()
    const { claim_id: id, media_id: mediaId } = await judged('interrupted', { photo })
    brokenDeletes = 1
    expect((await erase(id)).json.code).toBe('service_unavailable')
    // Closed, unreadable, and not yet gone.
    expect((await service.call(caller, `/v1/claims/${id}`)).json).toMatchObject({
      erased_at: null,
      loss_location: null,
    })
    expect((await download(mediaId)).status).toBe(404)
    expect(filesWith(photo.subarray(-40))).toHaveLength(1)
    // Whoever began may still be at it, and may not delete what somebody stores after us.
    const early = await erase(id)
    expect([early.json.code, early.headers['retry-after']]).toEqual(['service_unavailable', '5'])
    await service.test.owner("UPDATE media SET erasing_since = now() - interval '6 minutes' WHERE state = 'erasing'")
    expect((await erase(id)).json.erased_at).toEqual(expect.any(String))
    expect(filesWith(photo.subarray(-40))).toEqual([])
  })

  it('is finished by clock when nobody asks again', async () => {
    const photo = newPhoto()
    const { claim_id: id } = await judged('abandoned', { photo })
    brokenDeletes = 1
    await erase(id)
    const { signal } = new AbortController()
    expect(await erasure.finishUnfinished(caller, signal)).toBe(0)
    await service.test.owner("UPDATE media SET erasing_since = now() - interval '6 minutes' WHERE state = 'erasing'")
    await service.test.owner("UPDATE claims SET erasing_since = now() - interval '6 minutes' WHERE id = $1", [id])
    const done = await Promise.all(
      [erasure.finishUnfinished(caller, signal), erasure.finishUnfinished(caller, signal)].map((one) =>
        one.catch(() => 0),
      ),
    )
    expect(Math.max(...done)).toBe(1)
    expect((await service.call(caller, `/v1/claims/${id}`)).json.erased_at).toEqual(expect.any(String))
    expect(filesWith(photo.subarray(-40))).toEqual([])
  })

  it('races with submissions of the same photo: what was accepted keeps it, or was erased with the claim', async () => {
    for (let round = 0; round < 6; round += 1) {
      const photo = newPhoto()
      const { claim_id: id, media_id: mediaId } = await judged(`race ${round}`, { photo })
      const submit = (reference: string) =>
        service.attest(caller, { ...shoot(phone, { photo }), media: { media_id: mediaId }, claim: { reference } })
      const answers = await Promise.all([
        ...Array.from({ length: 4 }, (_, index) => submit(`race ${round} other ${index}`)),
        erase(id),
        ...Array.from({ length: 4 }, () => submit(`race ${round}`)),
        erase(id),
      ])
      for (const { status, text } of answers) expect([200, 202, 404, 409, 503], text).toContain(status)
      await expect.poll(async () => (await erase(id)).status).toBe(200)
      const rows = await service.test.owner<{ state: string; erased: boolean; sha256: string }>(
        `SELECT m.state, a.erased_at IS NOT NULL AS erased, encode(m.sha256, 'hex') AS sha256
         FROM attestations a JOIN media m ON m.id = a.media_id WHERE m.sha256 = sha256($1)`,
        [photo],
      )
      for (const { state, erased } of rows)
        expect({ state, erased }).toEqual({ state: erased ? 'erased' : 'stored', erased })
      const isNeeded = rows.some(({ erased }) => !erased)
      expect(filesWith(photo.subarray(-40))).toHaveLength(isNeeded ? 1 : 0)
    }
  })
})

async function verifyRecord(jws: string) {
  const { json } = await service.call({ key: undefined }, '/v1/jwks')
  const { keys } = json as unknown as Parameters<typeof createLocalJWKSet>[0]
  return jwtVerify(jws, createLocalJWKSet({ keys }))
}
