// A device after its enrollment: its history, the counts per kind, and newer evidence for many devices.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readExpectedApps, readVendorRoots } from '#src/attest/hardware/roots.ts'
import { newId } from '#src/platform/ids.ts'
import { createAuthority } from '../../../capture-kit/authority.ts'
import { createDevice, type Device } from '../../../capture-kit/device.ts'
import { createVendor } from '../../../capture-kit/vendor.ts'
import { type AttestApp, startAttestApp } from '../../support/attest.ts'

const NOW = new Date('2026-11-20T12:00:00.000Z')
const DAY_MS = 86_400_000
const now = () => NOW
const vendor = await createVendor({ now })
const authority = await createAuthority({ name: 'Phones', now })

type Caller = Awaited<ReturnType<AttestApp['makeCaller']>>

let app: AttestApp

beforeAll(async () => {
  const apps = readExpectedApps(vendor.apps.split(','))
  const roots = readVendorRoots(vendor.roots.split(','))
  app = await startAttestApp(NOW, { trust: { roots, apps, revocations: async () => 'off' } })
})
afterAll(() => app?.close())

async function makeCaller(): Promise<Caller> {
  app.clock.now = NOW
  const caller = await app.makeCaller()
  await app.rootCas.register(caller, { name: 'Phones', certificate: authority.rootDer.toString('base64') })
  return caller
}

const makeDevice = () => createDevice({ authority, name: 'Phone', now })

async function enroll(caller: Caller, device: Device, more: object = {}): Promise<string> {
  const { json, text } = await app.call(caller.key, '/v1/admin/devices', {
    json: { certificate_chain: device.chain.map((der) => der.toString('base64')), ...more },
  })
  if (typeof json.device_id !== 'string') throw new Error(text)
  return json.device_id
}

async function evidenceOf(caller: Caller, device: Device) {
  const { json } = await app.call(caller.key, '/v1/admin/devices/challenges', { json: { count: 1 } })
  const challenge = (json.challenges as { challenge: string }[])[0]?.challenge ?? ''
  const request = { publicKey: device.publicKey, challenge: Buffer.from(challenge, 'base64url') }
  const chain = await vendor.attestAndroid(request)
  return { format: 'android-key', challenge, chain: chain.map((der) => der.toString('base64')) }
}

const refresh = (key: string, lines: unknown[], headers: Record<string, string> = {}) =>
  app.call(key, '/v1/admin/devices/attestations', {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson', ...headers },
    body: lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
  })

const historyOf = async (caller: Caller, id: string) =>
  (await app.call(caller.key, `/v1/admin/devices/${id}/history`)).json.data as Record<string, unknown>[]

describe('the history of a device', () => {
  it('lists each change, the key that made it, and the reason', async () => {
    const caller = await makeCaller()
    const device = await makeDevice()
    const id = await enroll(caller, device)
    await enroll(caller, device)
    app.clock.now = new Date(NOW.getTime() + 1_000)
    await app.call(caller.key, `/v1/admin/devices/${id}/attestation`, { json: await evidenceOf(caller, device) })
    app.clock.now = new Date(NOW.getTime() + 2_000)
    const revocation = { reason: 'Lost', actor: 'a@example.com', effective_at: NOW.toISOString() }
    for (let again = 0; again < 2; again += 1) {
      expect((await app.call(caller.key, `/v1/admin/devices/${id}/revoke`, { json: revocation })).status).toBe(200)
    }
    const history = await historyOf(caller, id)
    expect(history).toEqual([
      {
        kind: 'revoked',
        at: app.clock.now.toISOString(),
        by: { type: 'key', id: expect.stringMatching(/^key_test_/), label: 'a@example.com' },
        reason: 'Lost',
        detail: { effective_at: NOW.toISOString() },
      },
      expect.objectContaining({
        kind: 'attested',
        by: { type: 'key', id: expect.stringMatching(/^key_test_/), label: null },
        detail: { proven_tier: 'tee', format: 'android-key', reasons: [] },
      }),
      expect.objectContaining({
        kind: 'enrolled',
        at: NOW.toISOString(),
        by: { type: 'key', id: expect.stringMatching(/^key_test_/), label: null },
        detail: { subject: 'CN=Phone', expires_at: expect.stringMatching(/^2029-.*Z$/) },
      }),
    ])
  })

  it('distinguishes a renewal from an enrollment, and is read page by page', async () => {
    const caller = await makeCaller()
    const device = await makeDevice()
    const id = await enroll(caller, device)
    // The same key, with a new certificate after the first one expired.
    await app.test.owner('UPDATE devices SET not_after = $2 WHERE id = $1', [id, new Date(NOW.getTime() - DAY_MS)])
    expect((await app.call(caller.key, `/v1/admin/devices/${id}`)).json.status).toBe('expired')
    app.clock.now = new Date(NOW.getTime() + DAY_MS)
    expect(await enroll(caller, device)).toBe(id)
    expect((await historyOf(caller, id)).map(({ kind }) => kind)).toEqual(['renewed', 'enrolled'])
    const first = await app.call(caller.key, `/v1/admin/devices/${id}/history?limit=1`)
    expect(first.json).toMatchObject({ has_more: true, data: [{ kind: 'renewed' }] })
    const second = await app.call(
      caller.key,
      `/v1/admin/devices/${id}/history?limit=1&cursor=${first.json.next_cursor}`,
    )
    expect(second.json).toMatchObject({ has_more: false, data: [{ kind: 'enrolled' }] })
  })

  it('lists the tier that its evidence proved after its enrollment, at the same moment', async () => {
    const caller = await makeCaller()
    const device = await makeDevice()
    const id = await enroll(caller, device, { attestation: await evidenceOf(caller, device) })
    const history = await historyOf(caller, id)
    expect(history.map(({ kind, at }) => [kind, at])).toEqual([
      ['attested', NOW.toISOString()],
      ['enrolled', NOW.toISOString()],
    ])
  })

  it('is not found by another account', async () => {
    const caller = await makeCaller()
    const id = await enroll(caller, await makeDevice())
    const other = await makeCaller()
    const path = `/v1/admin/devices/${id}/history`
    const attest = app.addKey({ ...caller, scopes: ['attest'] })
    const live = app.addKey({ accountId: caller.accountId, environment: 'live' })
    for (const [key, status, code] of [
      [other.key, 404, 'not_found'],
      [attest, 403, 'insufficient_scope'],
      [live, 403, 'environment_mismatch'],
      ['nobody', 401, 'invalid_api_key'],
    ] as const) {
      expect(await app.call(key, path)).toMatchObject({ status, json: { code } })
    }
    expect((await app.call(caller.key, `${path}?cursor=x`)).json.code).toBe('invalid_request')
    expect((await app.call(attest, '/v1/admin/devices/counts')).json.code).toBe('insufficient_scope')
    expect((await refresh(attest, [])).json.code).toBe('insufficient_scope')
  })

  it('can not be changed, not even by the service', async () => {
    const caller = await makeCaller()
    const id = await enroll(caller, await makeDevice())
    for (const text of ["UPDATE device_entries SET reason = 'x'", 'DELETE FROM device_entries']) {
      await expect(app.test.db.tenant(caller, (tx) => tx.query(text, []))).rejects.toThrow(/permission denied/)
    }
    expect(await historyOf(caller, id)).toHaveLength(1)
  })
})

describe('the counts of devices', () => {
  it('count statuses and tiers, expired devices among them', async () => {
    const caller = await makeCaller()
    const devices = await Promise.all(Array.from({ length: 4 }, makeDevice))
    const ids: string[] = []
    for (const device of devices) ids.push(await enroll(caller, device))
    const [proven, expired, soon, revoked] = ids
    const [first] = devices
    if (first === undefined) throw new Error('no device')
    await app.call(caller.key, `/v1/admin/devices/${proven}/attestation`, { json: await evidenceOf(caller, first) })
    const lapse = (id: string | undefined, days: number) =>
      app.test.owner('UPDATE devices SET not_after = $2 WHERE id = $1', [id, new Date(NOW.getTime() + days * DAY_MS)])
    await lapse(expired, -1)
    await lapse(soon, 29)
    await app.call(caller.key, `/v1/admin/devices/${revoked}/revoke`, { json: { reason: 'Lost' } })
    const { json } = await app.call(caller.key, '/v1/admin/devices/counts')
    expect(json).toEqual({
      object: 'device_counts',
      total: 4,
      by_status: { enrolled: 2, expired: 1, revoked: 1 },
      expiring_soon: 1,
      by_hardware_tier: { none: 3, software: 0, tee: 1, strongbox: 0, secure_enclave: 0 },
    })
    const listed = await app.call(caller.key, '/v1/admin/devices?status=expired&hardware_tier=none&include=total_count')
    expect(listed.json).toMatchObject({ total_count: 1, data: [{ device_id: expired, status: 'expired' }] })
  })
})

describe('newer evidence for many devices', () => {
  it('replaces the tier of valid lines and reports invalid ones, by line', async () => {
    const caller = await makeCaller()
    const [a, b, c] = await Promise.all([makeDevice(), makeDevice(), makeDevice()])
    const ids = [await enroll(caller, a), await enroll(caller, b), await enroll(caller, c)]
    await app.call(caller.key, `/v1/admin/devices/${ids[2]}/revoke`, { json: { reason: 'Lost' } })
    const good = { device_id: ids[0], attestation: await evidenceOf(caller, a) }
    const { status, json } = await refresh(caller.key, [
      good,
      // Evidence for another device's key.
      { device_id: ids[1], attestation: await evidenceOf(caller, a) },
      { device_id: ids[2], attestation: await evidenceOf(caller, c) },
      { device_id: newId('dev', 'sandbox'), attestation: await evidenceOf(caller, b) },
      { device_id: newId('dev', 'live'), attestation: await evidenceOf(caller, b) },
      good,
      '{"device_id":1}',
      'no json',
    ])
    expect(status).toBe(200)
    expect(json).toMatchObject({ accepted: 1, devices: [{ line: 1, device_id: ids[0], proven_tier: 'tee' }] })
    const rejected = json.rejected as { line: number; errors: { code: string; pointer: string }[] }[]
    expect(rejected.map(({ line, errors }) => [line, errors[0]?.code])).toEqual([
      [2, expect.any(String)],
      [3, 'device_revoked'],
      [4, 'not_found'],
      [5, 'environment_mismatch'],
      [6, 'duplicate'],
      [7, expect.any(String)],
      [8, expect.any(String)],
    ])
    expect(rejected[0]?.errors[0]?.pointer).toMatch(/^\/attestation\//)
    const tiers = await Promise.all(ids.map((id) => app.call(caller.key, `/v1/admin/devices/${id}`)))
    expect(tiers.map(({ json: device }) => device.hardware_tier)).toEqual(['tee', 'none', 'none'])
    expect((await historyOf(caller, String(ids[0])))[0]).toMatchObject({ kind: 'attested' })
  })

  it('is replayed with its Idempotency-Key, and without one finds its challenges consumed', async () => {
    const caller = await makeCaller()
    const device = await makeDevice()
    const id = await enroll(caller, device)
    const lines = [{ device_id: id, attestation: await evidenceOf(caller, device) }]
    const first = await refresh(caller.key, lines, { 'Idempotency-Key': 'r1' })
    const second = await refresh(caller.key, lines, { 'Idempotency-Key': 'r1' })
    expect(second.json).toEqual(first.json)
    expect(second.headers['idempotent-replayed']).toBe('true')
    expect((await historyOf(caller, id)).map(({ kind }) => kind)).toEqual(['attested', 'enrolled'])
    const third = await refresh(caller.key, lines)
    expect(third.json).toMatchObject({ accepted: 0, rejected: [{ line: 1, errors: [{ code: 'challenge_used' }] }] })
  })

  it('changes nothing when the connection breaks or the content type is wrong', async () => {
    const caller = await makeCaller()
    expect((await refresh(caller.key, [], { 'Content-Type': 'application/json' })).json.code).toBe(
      'unsupported_media_type',
    )
    const lines = Array.from({ length: 10_001 }, () => '{}')
    expect((await refresh(caller.key, lines)).status).toBeGreaterThanOrEqual(400)
  })
})
