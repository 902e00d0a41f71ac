import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_CAS } from '#src/attest/trust/registry.ts'
import { newId } from '#src/platform/ids.ts'
import { type C2paSigner, makeC2paSigner } from '../media/c2pa-signing.ts'
import { structure, withBlock } from '../media/structure.ts'
import { attestFixture, BARE_PHOTO, codesOf, PHOTO, type Phone, shoot } from './phone.ts'
import type { Caller, Service } from './service.ts'

const PATH = '/v1/admin/c2pa-anchors'

let service: Service
let caller: Caller
let phone: Phone
let signer: C2paSigner
let signed: Buffer

beforeAll(async () => {
  ;({ service, caller, phone } = await attestFixture({ row: { scopes: ['attest', 'verify', 'admin'] } }))
  signer = await makeC2paSigner()
  signed = await signer.sign(PHOTO, 'image/jpeg', { sourceType: 'digitalCapture' })
})
afterAll(() => service.close())

const pemOf = (der: Buffer) => `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`
const add = (by: { key: string }, der: Buffer, name = 'Cameras') =>
  service.call(by, PATH, { method: 'POST', json: { name, certificate: pemOf(der) } })
const c2paOf = async (photo: Buffer, by = caller) => {
  const json = await service.judge(by, shoot(phone, { photo }))
  const found = (json.advisory_factors as { code: string; evidence: Record<string, unknown> }[]).find(({ code }) =>
    code.startsWith('c2pa_'),
  )
  return { code: found?.code, evidence: found?.evidence, json }
}

describe('an evaluation of a C2PA manifest', () => {
  it('trusts the signer only while the account trusts its root; the score stays', async () => {
    const before = await c2paOf(signed)
    expect(before).toMatchObject({ code: 'c2pa_present_valid', evidence: { trusted: false } })
    expect(before.json.observations).toMatchObject([{ code: 'declared_capture' }])

    const { json: anchor } = await add(caller, signer.root)
    const trusted = await c2paOf(signed)
    expect(trusted).toMatchObject({
      code: 'c2pa_present_valid',
      evidence: { trusted: true, signer: { issuer: 'Acme' }, trust_list: { certificates: 31 } },
    })
    // Another capture of the same bytes with the same lists.
    const again = await c2paOf(signed)
    expect(JSON.stringify(again.evidence)).toBe(JSON.stringify(trusted.evidence))
    expect(JSON.stringify(again.json.observations)).toBe(JSON.stringify(trusted.json.observations))
    expect([before, trusted].map(({ json }) => json.risk_score)).toEqual([40, 40])

    const stranger = await service.makeCaller()
    expect(await c2paOf(signed, stranger)).toMatchObject({ code: 'c2pa_present_valid', evidence: { trusted: false } })

    await service.call(caller, `${PATH}/${anchor.c2pa_anchor_id}`, { method: 'DELETE' })
    expect((await c2paOf(signed)).evidence).toMatchObject({ trusted: false })
  })

  it('reports a manifest over other bytes as invalid, with a bundle and without, and adds no points', async () => {
    const changed = Buffer.from(signed)
    changed.writeUInt8(changed.readUInt8(changed.length - 3) ^ 1, changed.length - 3)
    expect(await c2paOf(changed)).toMatchObject({ code: 'c2pa_invalid', json: { risk_score: 40 } })
    const { bundle, signature, certificate_chain, ...bare } = shoot(phone, { photo: changed })
    const json = await service.judge(caller, bare)
    expect([codesOf(json), codesOf(json, 'advisory_factors')]).toEqual([['no_manifest'], ['c2pa_invalid']])
  })

  it('reports what a generator wrote as an observation', async () => {
    const comment = Buffer.from('photo of a duck\nSteps: 20, Sampler: Euler, Seed: 1')
    const text = Buffer.concat([Buffer.from('ASCII\0\0\0'), comment])
    const block = structure({ ifd0: [], exif: [{ tag: 0x9286, type: 7, value: text }] }, 'MM')
    const photo = withBlock(BARE_PHOTO, block)
    const { json } = await c2paOf(photo)
    expect(json.observations).toMatchObject([
      {
        code: 'declared_ai_generated',
        evidence: { declarations: [{ where: 'exif', field: 'UserComment', generator: 'AUTOMATIC1111' }] },
      },
    ])
    expect(json.risk_score).toBe(40)
  })
})

describe('C2PA anchors', () => {
  it('are registered once, listed newest first, read and deleted', async () => {
    const one = await makeC2paSigner()
    const two = await makeC2paSigner()
    const by = await service.makeCaller({ scopes: ['admin'] })
    const first = await add(by, one.root, 'One')
    expect(first).toMatchObject({
      status: 200,
      json: { c2pa_anchor_id: expect.stringMatching(/^cpa_test_/), name: 'One' },
    })
    expect((await add(by, one.root, 'Other name')).json).toEqual(first.json)
    // Two anchors of one millisecond have no order.
    service.clock.now = new Date(service.clock.now.getTime() + 1)
    const second = await add(by, two.root, 'Two')
    service.clock.now = undefined
    const page = await service.call(by, `${PATH}?limit=1&include=total_count`)
    expect(page.json).toMatchObject({ has_more: true, total_count: 2, data: [{ name: 'Two' }] })
    const rest = await service.call(by, `${PATH}?limit=1&include=total_count&cursor=${page.json.next_cursor}`)
    expect(rest.json).toMatchObject({ has_more: false, data: [{ name: 'One' }] })
    const path = `${PATH}/${second.json.c2pa_anchor_id}`
    expect(await service.call(by, path)).toMatchObject({ status: 200, json: second.json })
    expect(await service.call(by, path, { method: 'DELETE' })).toMatchObject({ status: 200, json: { deleted: true } })
    expect(await service.call(by, path)).toMatchObject({ status: 404, json: { code: 'not_found' } })
  })

  it.each([
    ['no certificate', { name: 'a', certificate: 'bm8=' }, '/certificate'],
    ['no CA', undefined, '/certificate'],
    ['a private key', { name: 'a', certificate: '-----BEGIN PRIVATE KEY-----\nMA==\n-----END' }, '/certificate'],
    ['another member', { name: 'a', certificate: 'bm8=', trust: true }, '/trust'],
    ['no name', { certificate: 'bm8=' }, '/name'],
  ])('are refused with %s', async (_, body, pointer) => {
    const leaf = phone.device.chain[0] ?? new Uint8Array(0)
    const json = body ?? { name: 'a', certificate: Buffer.from(leaf).toString('base64') }
    const answer = await service.call(caller, PATH, { method: 'POST', json })
    expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_request', errors: [{ pointer }] } })
  })

  it('are refused in bodies that are not JSON or too large; a cursor of another list is refused', async () => {
    const headers = { 'Content-Type': 'application/json' }
    const send = (body: string) => service.call(caller, PATH, { method: 'POST', body, headers })
    expect(await send('{"name":')).toMatchObject({ status: 400, json: { code: 'invalid_json' } })
    expect(await send(`{"name":"${'a'.repeat(2 * 1024 * 1024)}"}`)).toMatchObject({ status: 413 })
    expect(await service.call(caller, `${PATH}?cursor=abc`)).toMatchObject({ status: 400 })
  })

  it('are accessible with admin keys of the account and environment only', async () => {
    const { json } = await add(caller, (await makeC2paSigner()).root)
    const path = `${PATH}/${json.c2pa_anchor_id}`
    const weak = { key: service.addKey({ ...caller, scopes: ['attest', 'verify'] }) }
    const other = await service.makeCaller({ scopes: ['admin'] })
    const requests = [
      [PATH, { method: 'POST', json: { name: 'a', certificate: 'bm8=' } }],
      [PATH, {}],
      [path, {}],
      [path, { method: 'DELETE' }],
    ] as const
    for (const [where, sent] of requests) {
      expect(await service.call({ key: undefined }, where, sent)).toMatchObject({ status: 401 })
      expect(await service.call(weak, where, sent)).toMatchObject({ status: 403, json: { code: 'insufficient_scope' } })
    }
    for (const method of ['GET', 'DELETE']) {
      expect(await service.call(other, path, { method })).toMatchObject({ status: 404, json: { code: 'not_found' } })
      const live = `${PATH}/${newId('cpa', 'live')}`
      expect(await service.call(caller, live, { method })).toMatchObject({ json: { code: 'environment_mismatch' } })
      expect(await service.call(caller, `${PATH}/nobody`, { method })).toMatchObject({ status: 404 })
    }
    expect((await service.call(other, PATH)).json.data).toEqual([])
    expect(await service.call(caller, path)).toMatchObject({ status: 200 })
  })

  it(`are limited to ${MAX_CAS}`, async () => {
    const by = await service.makeCaller({ scopes: ['admin'] })
    await service.test.owner(
      `INSERT INTO c2pa_anchors (account_id, environment, id, name, certificate, fingerprint, subject, not_before, not_after)
       SELECT $1, $2, 'cpa_test_' || n, 'n', 'c', decode(md5(n::text), 'hex'), 's', now(), now() FROM generate_series(1, $3) n`,
      [by.accountId, by.environment, MAX_CAS],
    )
    expect(await add(by, signer.root)).toMatchObject({
      status: 409,
      json: { code: 'limit_reached', maximum: expect.any(Number) },
    })
  })

  it('are registered once for an Idempotency-Key', async () => {
    const headers = { 'Idempotency-Key': randomBytes(8).toString('hex') }
    const json = { name: 'Cameras', certificate: pemOf((await makeC2paSigner()).root) }
    const [first, second] = [
      await service.call(caller, PATH, { method: 'POST', json, headers }),
      await service.call(caller, PATH, { method: 'POST', json, headers }),
    ]
    expect(second).toMatchObject({ status: 200, json: first?.json, headers: { 'idempotent-replayed': 'true' } })
  })
})
