import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AT, type Issued, makeChain } from '../../platform/crypto/pki.ts'
import { type AttestApp, startAttestApp } from '../../support/attest.ts'
import type { TestCaller } from '../../support/callers.ts'
import type { TestAnswer } from '../../support/http.ts'

const { root, intermediate, leaf } = await makeChain()
let app: AttestApp
let admin: TestCaller

beforeAll(async () => {
  app = await startAttestApp(AT)
})
afterAll(() => app.close())

const base64 = ({ der }: Pick<Issued, 'der'>) => Buffer.from(der).toString('base64')
const chain = [leaf, intermediate].map(base64)
const isReplay = ({ headers }: TestAnswer) => headers['idempotent-replayed'] === 'true'

type Sent = NonNullable<Parameters<AttestApp['call']>[2]>
const send = (path: string, key: string, sent: Sent = {}) =>
  app.call(admin.key, path, { method: 'POST', ...sent, headers: { ...sent.headers, 'Idempotency-Key': key } })

/** Sends the request twice: the second answer is a replay and equal. */
async function sendTwice(path: string, sent: Sent = {}): Promise<TestAnswer['json']> {
  const key = randomUUID()
  const [first, second] = [await send(path, key, sent), await send(path, key, sent)]
  expect([first.status, isReplay(first), second.status, isReplay(second)]).toEqual([200, false, 200, true])
  expect(second.json).toEqual(first.json)
  return first.json
}

describe('with an Idempotency-Key', () => {
  beforeAll(async () => {
    admin = await app.makeCaller()
  })

  it('a root is registered once, a device is enrolled once and revoked once', async () => {
    const registered = await sendTwice('/v1/admin/root-cas', { json: { name: 'Root', certificate: base64(root) } })
    const enrolled = await sendTwice('/v1/admin/devices', { json: { certificate_chain: chain } })
    const revoke = `/v1/admin/devices/${enrolled.device_id}/revoke`
    const revoked = await sendTwice(revoke, { json: { reason: 'lost' } })
    expect(revoked.status).toBe('revoked')
    const removed = await sendTwice(`/v1/admin/root-cas/${registered.root_ca_id}`, { method: 'DELETE' })
    expect(removed).toEqual({ root_ca_id: registered.root_ca_id, deleted: true })
  })

  it('an enrollment that would be refused now is still replayed', async () => {
    const own = await app.makeCaller()
    const call = (path: string, json: unknown, key: string) =>
      app.call(own.key, path, { json, headers: { 'Idempotency-Key': key } })
    const { json: anchor } = await call('/v1/admin/root-cas', { name: 'Root', certificate: base64(root) }, 'root')
    const first = await call('/v1/admin/devices', { certificate_chain: chain }, 'device')
    await app.rootCas.remove(own, String(anchor.root_ca_id))
    expect((await call('/v1/admin/devices', { certificate_chain: chain }, 'another')).status).toBe(400)
    const again = await call('/v1/admin/devices', { certificate_chain: chain }, 'device')
    expect([again.status, isReplay(again), again.json]).toEqual([200, true, first.json])
    // The replay shows the present state.
    await app.devices.revoke(own, String(first.json.device_id), { reason: 'lost' })
    const later = await call('/v1/admin/devices', { certificate_chain: chain }, 'device')
    expect([isReplay(later), later.json.status]).toEqual([true, 'revoked'])
    const root2 = await call('/v1/admin/root-cas', { name: 'Root', certificate: base64(root) }, 'root')
    expect([root2.status, root2.json.code]).toEqual([404, 'not_found'])
  })

  it('one key is refused for a second device', async () => {
    const { json } = await app.call(admin.key, '/v1/admin/devices')
    const [{ device_id: id } = { device_id: '' }] = json.data as { device_id: string }[]
    const key = randomUUID()
    const body = { json: { reason: 'lost' } }
    expect((await send(`/v1/admin/devices/${id}/revoke`, key, body)).status).toBe(200)
    const other = await send(`/v1/admin/devices/${id.slice(0, -1)}${id.endsWith('0') ? 1 : 0}/revoke`, key, body)
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused'])
  })

  it('a repeated import finds the devices that it created', async () => {
    admin = await app.makeCaller()
    await app.rootCas.register(admin, { name: 'Root', certificate: base64(root) })
    const lines = [JSON.stringify({ certificate_chain: chain }), '{"certificate_chain":["x"]}', ''].join('\n')
    const body = { body: lines, headers: { 'Content-Type': 'application/x-ndjson' } }
    const imported = await sendTwice('/v1/admin/devices/batches', body)
    expect(imported).toMatchObject({ accepted: 1, rejected: [{ line: 2 }] })
    const key = randomUUID()
    await send('/v1/admin/devices/batches', key, body)
    const other = await send('/v1/admin/devices/batches', key, { ...body, body: `${lines}\n` })
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused'])
  })

  it('capture sessions are issued once, and a repeat returns their nonces in order', async () => {
    const before = await app.test.owner('SELECT id FROM capture_sessions')
    const { sessions } = await sendTwice('/v1/claims/attest/sessions', { json: { count: 200 } })
    expect(sessions).toHaveLength(200)
    expect(await app.test.owner('SELECT id FROM capture_sessions')).toHaveLength(before.length + 200)
  })
})
