import 'reflect-metadata'
import { Extension } from '@peculiar/x509'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sha256Hex } from '#src/platform/crypto/digest.ts'
import { AT, type Issued, make, makeChain, P384, rsa } from '../../platform/crypto/pki.ts'
import { createDice, flipBit } from '../../platform/crypto/seeded.ts'
import { type AttestApp, startAttestApp } from '../../support/attest.ts'
import type { TestCaller } from '../../support/callers.ts'

const { root, intermediate, leaf } = await makeChain()
let app: AttestApp
let admin: TestCaller

beforeAll(async () => {
  app = await startAttestApp(AT)
})
afterAll(() => app.close())
beforeEach(async () => {
  app.clock.now = AT
  admin = await app.makeCaller()
  await app.rootCas.register(admin, { name: 'Root', certificate: base64(root) })
})

describe('enrollment accepts', () => {
  it('a chain that leads to a registered root', async () => {
    const { status, json } = await enroll([leaf, intermediate], { name: 'Phone 1' })
    expect(status).toBe(200)
    expect(json).toEqual({
      device_id: expect.stringMatching(/^dev_test_/),
      name: 'Phone 1',
      status: 'enrolled',
      hardware_tier: 'none',
      hardware: null,
      certificate: {
        subject: 'CN=Device 1',
        serial: leaf.certificate.serialNumberHex,
        not_before: '2026-01-01T00:00:00.000Z',
        not_after: '2027-01-01T00:00:00.000Z',
        fingerprint: sha256Hex(leaf.der),
      },
      spki_sha256: sha256Hex(leaf.certificate.spki),
      enrolled_at: AT.toISOString(),
      expires_at: '2027-01-01T00:00:00.000Z',
      revoked_at: null,
      revoke_effective_at: null,
      revoke_reason: null,
    })
    expect((await send(`/${json.device_id}`)).json).toEqual(json)
  })

  it('the same key again as the same device, unchanged', async () => {
    const first = await enroll([leaf, intermediate], { name: 'Phone 1' })
    const renewed = await make({
      name: 'Device 1',
      issuer: intermediate,
      keys: leaf.keys,
      until: '2028-01-01T00:00:00Z',
    })
    const second = await enroll([renewed, intermediate], { name: 'Phone 2' })
    expect(second).toMatchObject({ status: 200, json: first.json })
  })

  it('an expired key again with a certificate that is valid now, and keeps the former validity', async () => {
    const first = await enroll([leaf, intermediate])
    app.clock.now = new Date('2027-06-01T00:00:00Z')
    expect((await send(`/${first.json.device_id}`)).json.status).toBe('expired')
    const newRoot = await make({ name: 'Root 2', isCa: true, until: '2030-01-01T00:00:00Z' })
    await app.rootCas.register(admin, { name: 'Root 2', certificate: base64(newRoot) })
    const renewed = await make({
      name: 'Device 1',
      issuer: newRoot,
      keys: leaf.keys,
      from: '2027-05-01T00:00:00Z',
      until: '2029-01-01T00:00:00Z',
    })
    const second = await enroll([renewed])
    expect(second.json).toMatchObject({ device_id: first.json.device_id, status: 'enrolled' })
    expect(second.json.certificate).toMatchObject({ fingerprint: renewed.certificate.fingerprint })
    const [row] = await app.test.owner<{ not_before: Date; not_after: Date }>(
      'SELECT not_before, not_after FROM devices WHERE id = $1',
      [first.json.device_id],
    )
    expect(row).toEqual({ not_before: leaf.certificate.notBefore, not_after: renewed.certificate.notAfter })
  })

  it('one key as two devices in two environments', async () => {
    const live = { ...admin, environment: 'live' as const }
    await app.rootCas.register(live, { name: 'Root', certificate: base64(root) })
    const key = app.addKey(live)
    const sandbox = await enroll([leaf, intermediate])
    const { status, json } = await enroll([leaf, intermediate], {}, key)
    expect(status).toBe(200)
    expect(json.device_id).toMatch(/^dev_live_/)
    expect(sandbox.json.device_id).toMatch(/^dev_test_/)
  })

  it('one key once, however many enrollments of it run concurrently', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => enroll([leaf, intermediate])))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(new Set(answers.map(({ json }) => json.device_id)).size).toBe(1)
    expect(await countDevices()).toBe(1)
  })
})

describe('enrollment refuses, and stores nothing', async () => {
  const stranger = await makeChain({ root: { name: 'Stranger' } })
  const weak = await make({ name: 'Weak', issuer: intermediate, algorithm: rsa(2048) })
  const p384 = await make({ name: 'P-384', issuer: intermediate, algorithm: P384 })
  const ca = await make({ name: 'CA', issuer: intermediate, isCa: true })
  const old = await make({ name: 'Old', issuer: intermediate, until: '2026-02-01T00:00:00Z' })
  const early = await make({ name: 'Early', issuer: intermediate, from: '2026-12-01T00:00:00Z' })
  const forged = await make({ name: 'Forged', issuer: stranger.intermediate, issuerName: 'Intermediate' })
  const sub = await make({ name: 'No CA', issuer: intermediate })
  const below = await make({ name: 'Below', issuer: sub })
  const critical = new Extension('1.2.3.4', true, new Uint8Array([5, 0]))
  const strange = await make({ name: 'Strange', issuer: intermediate, extensions: [critical] })
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64')
  const good = base64(leaf)

  it.each([
    ['an unknown root', [stranger.leaf, stranger.intermediate].map(base64), '/certificate_chain', 'unknown_ca'],
    ['a missing intermediate', [good], '/certificate_chain', 'unknown_ca'],
    ['an expired leaf', [old, intermediate].map(base64), '/certificate_chain', 'expired'],
    ['a leaf of the future', [early, intermediate].map(base64), '/certificate_chain', 'not_yet_valid'],
    ['a signature by another issuer', [forged, intermediate].map(base64), '/certificate_chain', 'bad_signature'],
    ['an issuer that is no CA', [below, sub, intermediate].map(base64), '/certificate_chain', 'not_a_ca'],
    ['an unknown critical extension', [strange, intermediate].map(base64), '/certificate_chain', 'key_usage'],
    ['an RSA device key', [weak, intermediate].map(base64), '/certificate_chain/0', 'unsupported_key'],
    ['a P-384 device key', [p384, intermediate].map(base64), '/certificate_chain/0', 'unsupported_key'],
    ['a CA as device', [ca, intermediate].map(base64), '/certificate_chain/0', 'is_a_ca'],
    ['the root itself as device', [base64(root)], '/certificate_chain/0', 'is_a_ca'],
    ['a PNG', [png], '/certificate_chain/0', 'not_a_certificate'],
    ['a PNG as intermediate', [good, png], '/certificate_chain/1', 'not_a_certificate'],
    ['one certificate twice', [good, good], '/certificate_chain/1', 'duplicate'],
    ['a chain of 50', Array.from({ length: 50 }, () => good), '/certificate_chain', 'too_many'],
    ['a chain of 50 of anything', Array.from({ length: 50 }, () => '?'), '/certificate_chain', 'too_many'],
    [
      'a certificate of 20 KiB',
      [Buffer.alloc(20 * 1024, 0x30).toString('base64')],
      '/certificate_chain/0',
      'too_large',
    ],
    ['base64 with a line break', [`${good.slice(0, 64)}\n${good.slice(64)}`], '/certificate_chain/0', 'invalid_base64'],
    ['base64url', ['-_-_'], '/certificate_chain/0', 'invalid_base64'],
    ['base64 without padding', ['AAA'], '/certificate_chain/0', 'invalid_base64'],
    ['base64 with bits in its padding', ['AAB='], '/certificate_chain/0', 'invalid_base64'],
    ['an empty certificate', [''], '/certificate_chain/0', 'invalid_base64'],
    ['PEM', [root.certificate.x509.toString()], '/certificate_chain/0', 'invalid_base64'],
    ['no certificate', [], '/certificate_chain', 'too_few'],
  ])('%s', async (_name, chain, pointer, code) => {
    const { status, json } = await send('', { json: { certificate_chain: chain } })
    expect({ status, code: json.code, errors: json.errors }).toMatchObject({
      status: 400,
      code: 'invalid_request',
      errors: [{ pointer, code }],
    })
    expect(await countDevices()).toBe(0)
  })

  it('every certificate with invalid base64 at once, naming the alphabet', async () => {
    const { json } = await send('', { json: { certificate_chain: ['?', good, '!'] } })
    expect(json.errors?.map(({ pointer }) => pointer)).toEqual(['/certificate_chain/0', '/certificate_chain/2'])
    expect(JSON.stringify(json.errors)).toContain('A-Z a-z 0-9 + /')
  })

  it.each<[string, string, [status: number, code: string], pointer: string | undefined]>([
    ['no body', '', [400, 'invalid_request'], ''],
    ['truncated JSON', '{"certificate_chain": ["', [400, 'invalid_json'], ''],
    ['a duplicate key', '{"name":"a","name":"b"}', [400, 'invalid_json'], '/name'],
    ['no chain', '{}', [400, 'invalid_request'], '/certificate_chain'],
    ['a chain that is a string', '{"certificate_chain":"MII"}', [400, 'invalid_request'], '/certificate_chain'],
    ['a certificate that is a number', '{"certificate_chain":[1]}', [400, 'invalid_request'], '/certificate_chain/0'],
    ['an unknown field', `{"certificate_chain":["${good}"],"tier":"tee"}`, [400, 'invalid_request'], '/tier'],
    ['an empty name', `{"name":"","certificate_chain":["${good}"]}`, [400, 'invalid_request'], '/name'],
    ['an invisible name', `{"name":"\\u200b","certificate_chain":["${good}"]}`, [400, 'invalid_request'], '/name'],
    ['a long name', `{"name":"${'n'.repeat(201)}","certificate_chain":["${good}"]}`, [400, 'invalid_request'], '/name'],
    ['U+0000 in the name', `{"name":"a\\u0000","certificate_chain":["${good}"]}`, [400, 'invalid_request'], '/name'],
    ['nesting', `{"certificate_chain":${'['.repeat(2000)}`, [400, 'invalid_json'], '/certificate_chain'],
    [
      'more than a megabyte',
      `{"certificate_chain":["${'A'.repeat(1024 * 1024)}"]}`,
      [413, 'payload_too_large'],
      undefined,
    ],
  ])('%s', async (_name, body, [status, code], pointer) => {
    const answer = await send('', { method: 'POST', body, headers: { 'Content-Type': 'application/json' } })
    expect({ status: answer.status, code: answer.json.code }).toEqual({ status, code })
    if (pointer !== undefined) expect(answer.json.errors?.[0]?.pointer.startsWith(pointer)).toBe(true)
    expect(await countDevices()).toBe(0)
  })

  it('a chain when no root is registered, and says where to register one', async () => {
    const lonely = await app.makeCaller()
    const { status, json } = await enroll([leaf, intermediate], {}, lonely.key)
    expect(status).toBe(400)
    expect(json.errors).toMatchObject([{ pointer: '/certificate_chain', code: 'unknown_ca' }])
    expect(json.detail).toContain('/v1/admin/root-cas')
  })

  it('a chain whose root was deleted', async () => {
    const { json } = await app.call(admin.key, '/v1/admin/root-cas')
    const [{ root_ca_id: id } = { root_ca_id: '' }] = json.data as { root_ca_id: string }[]
    await app.call(admin.key, `/v1/admin/root-cas/${id}`, { method: 'DELETE' })
    expect((await enroll([leaf, intermediate])).status).toBe(400)
  })

  it('a chain with a root of another account, and of the other environment', async () => {
    const other = await app.makeCaller()
    const live = app.addKey({ ...admin, environment: 'live' })
    for (const key of [other.key, live]) {
      const { json } = await enroll([leaf, intermediate], {}, key)
      expect(json.errors).toMatchObject([{ code: 'unknown_ca' }])
    }
  })

  it('another content type', async () => {
    const headers = { 'Content-Type': 'text/plain' }
    expect((await send('', { method: 'POST', body: '{}', headers })).json.code).toBe('unsupported_media_type')
  })

  it('mutations of a certificate, each with one of our error codes', async () => {
    const dice = createDice(41)
    for (let round = 0; round < 200; round += 1) {
      const mutant = flipBit(leaf.der, dice(leaf.der.length * 8)).toString('base64')
      const { status, json } = await send('', { json: { certificate_chain: [mutant, base64(intermediate)] } })
      // A flip in the leaf's key that still leaves a point on the curve breaks the signature, like any other flip.
      expect({ status, code: json.code }).toEqual({ status: 400, code: 'invalid_request' })
    }
    expect(await countDevices()).toBe(0)
  })
})

it('the subject of a device is returned with its control characters escaped', async () => {
  const hostile = await make({ name: 'a\\00b\\0Ac', issuer: intermediate })
  const { status, json } = await enroll([hostile, intermediate])
  expect(status).toBe(200)
  expect(JSON.stringify(json.certificate)).not.toMatch(/\\u0000|\\n/)
})

function send(path: string, sent: Parameters<AttestApp['call']>[2] = {}, key = admin.key) {
  return app.call(key, `/v1/admin/devices${path}`, sent)
}

function enroll(chain: Issued[], more: { name?: string } = {}, key = admin.key) {
  return send('', { json: { ...more, certificate_chain: chain.map(base64) } }, key)
}

async function countDevices(): Promise<number> {
  const [row] = await app.test.owner<{ count: string }>('SELECT count(*) FROM devices WHERE account_id = $1', [
    admin.accountId,
  ])
  return Number(row?.count)
}

function base64({ der }: Issued): string {
  return der.toString('base64')
}
