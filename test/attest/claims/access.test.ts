// Access control: who may submit what, and see what.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import { attestFixture, BARE_PHOTO, makeMedia, PHOTO, type Phone, shoot } from './phone.ts'
import { type Body, expectRefusal, pngOf } from './refusal.ts'
import type { Caller, Service } from './service.ts'

let service: Service
let caller: Caller
let phone: Phone
let mediaId: string

beforeAll(async () => {
  ;({ service, caller, phone } = await attestFixture())
  mediaId = await makeMedia(service, caller)
})
afterAll(() => service.close())

const good = (): Body => ({ ...shoot(phone), media: { media_id: mediaId } })

describe('media is refused', () => {
  const mp4 = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypisom\0\0\x02\0isomiso2'), Buffer.alloc(64)])
  const words = Buffer.from('just some words, and no picture at all')
  const cases: [name: string, [type: string, data: Buffer | string], at: 'content_type' | 'data', finding: string][] = [
    ['another type than the bytes', ['image/png', PHOTO], 'data', 'content_type_mismatch'],
    ['no bytes', ['image/jpeg', ''], 'data', 'empty_body'],
    ['wrong base64', ['image/jpeg', '/9j/4*=='], 'data', 'invalid_format'],
    ['base64url', ['image/jpeg', '_9j_4AAQ'], 'data', 'invalid_format'],
    ['a broken image', ['image/jpeg', PHOTO.subarray(0, 30)], 'data', 'unreadable_media'],
    ['text', ['image/jpeg', words], 'data', 'content_type_mismatch'],
    ['50,000 pixels', ['image/png', pngOf(50_000, 50_000)], 'data', 'too_many_pixels'],
    ['video', ['video/mp4', mp4], 'content_type', 'wrong_media_type'],
    ['video in capitals', [' Video/MP4; x=1', mp4], 'content_type', 'wrong_media_type'],
  ]
  it.each(cases)('inline: %s', async (_name, [content_type, data], at, finding) => {
    const body = {
      media_type: 'image',
      media: { content_type, data: typeof data === 'string' ? data : data.toString('base64') },
    }
    const refusal = { status: 400, code: 'invalid_request', pointer: `/media/${at}`, finding }
    await expectRefusal(service, () => service.attest(caller, body), refusal)
  })

  it('inline: a content type that is not an image', async () => {
    const body = { media_type: 'image', media: { content_type: 'application/pdf', data: 'QUJD' } }
    const refusal = { status: 415, code: 'unsupported_media_type', pointer: '/media/content_type' }
    await expectRefusal(service, () => service.attest(caller, body), refusal)
  })

  it('by its id: a video', async () => {
    const id = newId('med', 'sandbox')
    await service.test.owner(
      `INSERT INTO media (account_id, environment, id, sha256, size, content_type) VALUES ($1, $2, $3, $4, 1, 'video/mp4')`,
      [caller.accountId, caller.environment, id, Buffer.alloc(32)],
    )
    const refusal = { status: 400, code: 'invalid_request', pointer: '/media/media_id', finding: 'wrong_media_type' }
    await expectRefusal(service, () => service.attest(caller, { ...good(), media: { media_id: id } }), refusal)
  })

  it('by its id: 403 for one of the other environment, 404 for one of another account or an unknown one', async () => {
    const other = await service.makeCaller()
    const live = await service.makeCaller({ environment: 'live' })
    const store = async (owner: Caller, data: Buffer) =>
      (await service.media.storeInline(owner, { contentType: 'image/jpeg', data })).id
    const cases = [
      [await store(other, BARE_PHOTO), 404, 'not_found'],
      // We store the same bytes too: the id of the other account's media stays unusable.
      [await store(other, PHOTO), 404, 'not_found'],
      [await store(live, PHOTO), 403, 'environment_mismatch'],
      [newId('med', 'live'), 403, 'environment_mismatch'],
      [newId('med', 'sandbox'), 404, 'not_found'],
      [newId('dev', 'sandbox'), 404, 'not_found'],
      ['anything', 404, 'not_found'],
    ] as const
    for (const [media_id, status, code] of cases) {
      const refusal = { status, code, pointer: '/media/media_id', finding: code }
      await expectRefusal(service, () => service.attest(caller, { ...good(), media: { media_id } }), refusal)
    }
  })
})

it('an id of the other environment outranks every other error, an invalid value outranks not found', async () => {
  const bundle = { ...(good().bundle as Body), captured_at: '2999-01-01T00:00:00Z' }
  const live = { ...good(), bundle: { ...bundle, device_id: newId('dev', 'live') } }
  const mismatch = { status: 403, code: 'environment_mismatch', pointer: '/bundle/device_id' }
  await expectRefusal(service, () => service.attest(caller, live), mismatch)
  const both = { ...good(), media: { media_id: 'anything' }, certificate_chain: [pngOf(8, 8).toString('base64')] }
  const wrong = { status: 400, code: 'invalid_request', pointer: '/certificate_chain/0', finding: 'not_a_certificate' }
  await expectRefusal(service, () => service.attest(caller, both), wrong)
})

describe('every route', () => {
  let attestationId: string
  let claimId: string
  beforeAll(async () => {
    const { json } = await service.attest(caller, good())
    attestationId = String(json.attestation_id)
    claimId = String(json.claim_id)
  })
  const routes: [method: string, path: () => string, scope: 'attest' | 'verify'][] = [
    ['POST', () => '/v1/claims/attest', 'attest'],
    ['GET', () => `/v1/attestations/${attestationId}`, 'attest'],
    ['POST', () => `/v1/attestations/${attestationId}/retry`, 'attest'],
    ['GET', () => '/v1/claims', 'verify'],
    ['GET', () => `/v1/claims/${claimId}`, 'verify'],
  ]
  const ask = (key: string | undefined, method: string, path: string) => () => {
    const sent = path.endsWith('/attest') ? { method, json: good() } : { method }
    return service.call({ key }, path, sent)
  }

  it.each(routes)('needs a key with the right scope: %s (%#)', async (method, path, scope) => {
    const refusals: [key: string | undefined, status: number, code: string][] = [
      [undefined, 401, 'authentication_required'],
      ['nonsense', 401, 'invalid_api_key'],
      [service.addKey({ ...caller, revokedAt: new Date() }), 401, 'api_key_revoked'],
      [service.addKey({ ...caller, expiresAt: new Date() }), 401, 'api_key_expired'],
    ]
    for (const other of ['attest', 'verify', 'admin', 'escalate', 'intent', 'screen'] as const) {
      if (other !== scope) refusals.push([service.addKey({ ...caller, scopes: [other] }), 403, 'insufficient_scope'])
    }
    for (const [key, status, code] of refusals) await expectRefusal(service, ask(key, method, path()), { status, code })
    const right = service.addKey({ ...caller, scopes: [scope] })
    expect([200, 202, 409]).toContain((await ask(right, method, path())()).status)
  })

  it('shows only the caller’s own rows: not found in another account, refused in the other environment', async () => {
    const stranger = await service.makeCaller()
    const live = service.addKey({ accountId: caller.accountId, environment: 'live' })
    for (const [method, path] of routes) {
      if (!path().includes('_test_')) continue
      await expectRefusal(service, ask(stranger.key, method, path()), { status: 404, code: 'not_found' })
      await expectRefusal(service, ask(live, method, path()), { status: 403, code: 'environment_mismatch' })
    }
    for (const key of [stranger.key, live]) {
      const { json } = await ask(key, 'GET', '/v1/claims?include=total_count')()
      expect(json).toMatchObject({ data: [], has_more: false, total_count: 0 })
    }
  })

  it('refuses a malformed id', async () => {
    const wrong = ['x', newId('med', 'sandbox'), '%00', '%F0%9F%98%80', `${attestationId}0`]
    for (const path of wrong.flatMap((id) => [`/v1/attestations/${id}`, `/v1/claims/${id}`])) {
      await expectRefusal(service, ask(caller.key, 'GET', path), { status: 404, code: 'not_found' })
    }
  })

  it('accepts a wait of whole seconds up to thirty', async () => {
    const path = `/v1/attestations/${attestationId}`
    for (const wait of ['31', '-1', '1.5', 'x', '', '0x10', '1e1', ' 1', '99']) {
      const refusal = { status: 400, code: 'invalid_request', pointer: '?wait' }
      await expectRefusal(service, ask(caller.key, 'GET', `${path}?wait=${encodeURIComponent(wait)}`), refusal)
    }
    const unknown = { status: 400, code: 'invalid_request', pointer: '?waits', finding: 'unknown_field' }
    await expectRefusal(service, ask(caller.key, 'GET', `${path}?waits=1`), unknown)
  })
})
