import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_CAS } from '#src/attest/trust/registry.ts'
import { sha256Hex } from '#src/platform/crypto/digest.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { AT, ED25519, type Issued, make, makeChain, P384, rsa } from '../../platform/crypto/pki.ts'
import { type AttestApp, startAttestApp } from '../../support/attest.ts'

const { root, intermediate, leaf } = await makeChain()
let app: AttestApp
let admin: Scope & { key: string }

beforeAll(async () => {
  app = await startAttestApp(AT)
})
afterAll(() => app.close())
beforeEach(async () => {
  app.clock.now = AT
  admin = await app.makeCaller()
})

describe('a root CA', () => {
  it.each([
    ['PEM', pem(root)],
    ['PEM with what openssl prints around it', `subject=CN = Root\n${pem(root).replaceAll('\n', '\r\n')}\n`],
    ['base64 of DER', base64(root)],
  ])('is registered from %s, and returned', async (_name, certificate) => {
    const { status, json } = await register(certificate)
    expect(status).toBe(200)
    expect(json).toEqual({
      root_ca_id: expect.stringMatching(/^rca_test_/),
      name: 'Root',
      certificate: {
        subject: 'CN=Root',
        serial: root.certificate.serialNumberHex,
        not_before: '2026-01-01T00:00:00.000Z',
        not_after: '2027-01-01T00:00:00.000Z',
        fingerprint: sha256Hex(root.der),
        pem: pem(root),
      },
      created_at: AT.toISOString(),
    })
    expect((await send(`/${json.root_ca_id}`)).json).toEqual(json)
    expect((await send('')).json.data).toEqual([json])
  })

  it.each([
    ['P-384', { algorithm: P384 }],
    ['RSA 2048', { algorithm: rsa(2048) }],
    ['Ed25519', { algorithm: ED25519 }],
    ['a start that lies ahead', { from: '2026-12-01T00:00:00Z' }],
    ['a signature of its own with SHA-1', { algorithm: rsa(2048), signatureHash: 'SHA-1' }],
  ])('may have %s', async (_name, options) => {
    expect((await register(base64(await make({ name: 'Other', isCa: true, ...options })))).status).toBe(200)
  })

  it('need not be self-signed', async () => {
    expect((await register(base64(intermediate))).status).toBe(200)
    const { status } = await enroll([leaf])
    expect(status).toBe(200)
  })

  it('registered again is the same one, under its first name', async () => {
    const first = await register(base64(root), 'First')
    const second = await register(pem(root), 'Second')
    expect(second).toMatchObject({ status: 200, json: first.json })
  })

  it('is created once by concurrent registrations', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => register(base64(root))))
    expect(new Set(answers.map(({ json }) => json.root_ca_id)).size).toBe(1)
  })

  it('that is deleted is gone; its devices stay, new ones are refused', async () => {
    const { json } = await register(base64(root))
    const device = await enroll([leaf, intermediate])
    const id = String(json.root_ca_id)
    const gone = await send(`/${id}`, { method: 'DELETE' })
    expect(gone).toMatchObject({ status: 200, json: { root_ca_id: id, deleted: true } })
    expect((await send(`/${id}`)).status).toBe(404)
    expect((await send(`/${id}`, { method: 'DELETE' })).status).toBe(404)
    expect((await app.call(admin.key, `/v1/admin/devices/${device.json.device_id}`)).json.status).toBe('enrolled')
    const other = await make({ name: 'Device 2', issuer: intermediate })
    expect((await enroll([other, intermediate])).json.errors).toMatchObject([{ code: 'unknown_ca' }])
    const again = await register(base64(root))
    expect(again.status).toBe(200)
    expect(again.json.root_ca_id).not.toBe(id)
  })

  it('is refused beyond the hundredth, also when many are registered concurrently', async () => {
    const keys = root.keys
    const roots = await Promise.all(
      Array.from({ length: MAX_CAS + 4 }, (_, index) => make({ name: `Root ${index}`, isCa: true, keys })),
    )
    const answers = await Promise.all(roots.map((one) => register(base64(one))))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(MAX_CAS)
    const refused = answers.filter(({ status }) => status !== 200)
    expect(refused.map(({ json }) => json.code)).toEqual([
      'limit_reached',
      'limit_reached',
      'limit_reached',
      'limit_reached',
    ])
    const { json } = await send('?include=total_count&limit=100')
    expect(json).toMatchObject({ has_more: false, total_count: MAX_CAS })
    expect(json.data).toHaveLength(MAX_CAS)
  })
})

describe('registering a root refuses, and stores nothing', async () => {
  const weak = await make({ name: 'Weak', isCa: true, algorithm: rsa(1024) })
  const old = await make({ name: 'Old', isCa: true, until: '2026-02-01T00:00:00Z' })
  const mute = await make({ name: 'Mute', isCa: true, usages: 128 })

  it.each([
    ['a device certificate', base64(leaf), 'not_a_ca'],
    ['a CA that may not sign certificates', base64(mute), 'key_usage'],
    ['an RSA key of 1024 bits', base64(weak), 'weak_key'],
    ['an expired one', base64(old), 'expired'],
    ['a PNG', Buffer.from('89504e470d0a1a0a0000000d', 'hex').toString('base64'), 'not_a_certificate'],
    ['a PNG in PEM', pemOf(Buffer.from('89504e470d0a1a0a0000000d', 'hex')), 'not_a_certificate'],
    ['more than 16 KiB', Buffer.alloc(17 * 1024, 0x30).toString('base64'), 'too_large'],
    ['bad base64', '????', 'invalid_base64'],
    ['base64 with line breaks', base64(root).replace(/.{64}/g, '$&\n'), 'invalid_base64'],
    ['half a PEM block', pem(root).slice(0, 200), 'invalid_base64'],
    ['two certificates', pem(root) + pem(intermediate), 'too_many'],
    ['a private key', `${pem(root)}-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n`, 'private_key'],
    ['a public key', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n', 'invalid_base64'],
    ['nothing', '', 'too_short'],
    ['text without end', 'A'.repeat(64 * 1024 + 1), 'too_long'],
  ])('%s', async (_name, certificate, code) => {
    const { status, json } = await register(certificate)
    expect({ status, errors: json.errors }).toMatchObject({ status: 400, errors: [{ pointer: '/certificate', code }] })
    expect((await send('')).json.data).toEqual([])
  })

  it.each([
    ['without a name', { certificate: base64(root) }, '/name'],
    ['with a name of which nothing can be seen', { name: '\u200b\u2060', certificate: base64(root) }, '/name'],
    ['with a long name', { name: 'n'.repeat(201), certificate: base64(root) }, '/name'],
    ['with U+0000 in its name', { name: 'a\u0000', certificate: base64(root) }, '/name'],
    ['without a certificate', { name: 'Root' }, '/certificate'],
    ['with an unknown field', { name: 'Root', certificate: base64(root), is_trusted: true }, '/is_trusted'],
  ])('%s', async (_name, json, pointer) => {
    const answer = await send('', { json })
    expect({ status: answer.status, errors: answer.json.errors }).toMatchObject({ status: 400, errors: [{ pointer }] })
  })

  it('a private key without repeating it', async () => {
    const secret = 'MHcCAQEEIOsecretsecretsecret'
    const { text } = await register(`-----BEGIN EC PRIVATE KEY-----\n${secret}\n-----END EC PRIVATE KEY-----\n`)
    expect(text).not.toContain(secret)
    expect(JSON.stringify(app.app.logged)).not.toContain(secret)
  })
})

describe('the list of root CAs', () => {
  it('pages and filters', async () => {
    const ids: unknown[] = []
    for (let index = 0; index < 3; index += 1) {
      app.clock.now = new Date(AT.getTime() + index * 60_000)
      ids.unshift((await register(base64(await make({ name: `Root ${index}`, isCa: true })))).json.root_ca_id)
    }
    const first = await send('?limit=2')
    const second = await send(`?limit=2&cursor=${first.json.next_cursor}`)
    expect([first, second].flatMap(idsOf)).toEqual(ids)
    expect(second.json).toMatchObject({ has_more: false, next_cursor: null })
    const from = new Date(AT.getTime() + 60_000).toISOString()
    expect(idsOf(await send(`?created_gte=${from}`))).toEqual(ids.slice(0, 2))
    expect(idsOf(await send(`?created_lt=${from}`))).toEqual(ids.slice(2))
    expect((await send('?name=Root')).status).toBe(400)
  })
})

describe('a root CA of another account', () => {
  it('is not found, and can not be deleted', async () => {
    const { json } = await register(base64(root))
    const other = await app.makeCaller()
    const path = `/v1/admin/root-cas/${json.root_ca_id}`
    expect((await app.call(other.key, path)).json.code).toBe('not_found')
    expect((await app.call(other.key, path, { method: 'DELETE' })).json.code).toBe('not_found')
    expect((await app.call(other.key, '/v1/admin/root-cas')).json.data).toEqual([])
    expect((await app.call(admin.key, path)).status).toBe(200)
  })

  it.each([
    ['of the other environment', newId('rca', 'live'), 403, 'environment_mismatch'],
    ['that does not exist', newId('rca', 'sandbox'), 404, 'not_found'],
    ['that is no root CA', newId('dev', 'sandbox'), 404, 'not_found'],
  ])('%s', async (_name, id, status, code) => {
    for (const method of ['GET', 'DELETE']) {
      const answer = await send(`/${id}`, { method })
      expect({ status: answer.status, code: answer.json.code }).toEqual({ status, code })
    }
  })
})

function send(path: string, sent: Parameters<AttestApp['call']>[2] = {}) {
  return app.call(admin.key, `/v1/admin/root-cas${path}`, sent)
}

function register(certificate: string, name = 'Root') {
  return send('', { json: { name, certificate } })
}

function enroll(chain: Issued[]) {
  return app.call(admin.key, '/v1/admin/devices', { json: { certificate_chain: chain.map(base64) } })
}

function idsOf({ json }: { json: Record<string, unknown> }): string[] {
  return (json.data as { root_ca_id: string }[]).map(({ root_ca_id: id }) => id)
}

function base64({ der }: Issued): string {
  return der.toString('base64')
}

function pem({ der }: Issued): string {
  return pemOf(der)
}

function pemOf(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
