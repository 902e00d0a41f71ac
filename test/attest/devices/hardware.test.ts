import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RevocationSnapshot } from '#src/attest/hardware/revocations.ts'
import { readExpectedApps, readVendorRoots } from '#src/attest/hardware/roots.ts'
import { createAuthority } from '../../../capture-kit/authority.ts'
import { createDevice, type Device } from '../../../capture-kit/device.ts'
import { type AndroidClaims, createVendor, enrollmentHash } from '../../../capture-kit/vendor.ts'
import { type AttestApp, startAttestApp } from '../../support/attest.ts'

const NOW = new Date('2026-11-20T12:00:00.000Z')
const now = () => NOW
const vendor = await createVendor({ now })
const authority = await createAuthority({ name: 'Phones', now })

type Caller = Awaited<ReturnType<AttestApp['makeCaller']>>
type Json = Record<string, unknown>

describe('hardware evidence at enrollment', () => {
  let app: AttestApp
  let list: RevocationSnapshot = 'off'

  beforeAll(async () => {
    app = await startAttestApp(NOW, {
      trust: {
        roots: readVendorRoots(vendor.roots.split(',')),
        apps: readExpectedApps(vendor.apps.split(',')),
        revocations: async () => list,
      },
    })
  })
  afterAll(() => app?.close())

  async function makeCaller(row: Parameters<AttestApp['makeCaller']>[0] = {}): Promise<Caller> {
    list = 'off'
    app.clock.now = NOW
    const caller = await app.makeCaller(row)
    await app.rootCas.register(caller, { name: 'Phones', certificate: authority.rootDer.toString('base64') })
    return caller
  }

  const makeDevice = () => createDevice({ authority, name: 'Phone', now })

  async function challenge(caller: Caller): Promise<string> {
    const { json } = await app.call(caller.key, '/v1/admin/devices/challenges', { json: { count: 1 } })
    return (json.challenges as { challenge: string }[])[0]?.challenge ?? ''
  }

  async function android(device: Device, text: string, claims: AndroidClaims = {}) {
    const request = { publicKey: device.publicKey, challenge: Buffer.from(text, 'base64url'), ...claims }
    const chain = await vendor.attestAndroid(request)
    return { format: 'android-key', challenge: text, chain: chain.map((der) => der.toString('base64')) }
  }

  async function apple(device: Device, text: string, environment: 'production' | 'development' = 'production') {
    const hash = enrollmentHash(device.publicKey, Buffer.from(text, 'base64url'))
    const { object, keyId } = await vendor.attestApple({ clientDataHash: hash, environment })
    return {
      format: 'apple-appattest',
      challenge: text,
      object: object.toString('base64'),
      app_attest_key_id: keyId.toString('base64'),
    }
  }

  const bodyOf = (device: Device, attestation?: unknown) => ({
    certificate_chain: device.chain.map((der) => der.toString('base64')),
    ...(attestation === undefined ? {} : { attestation }),
  })

  async function enroll(caller: Caller, device: Device, attestation?: unknown): Promise<Json> {
    const { status, json } = await app.call(caller.key, '/v1/admin/devices', { json: bodyOf(device, attestation) })
    expect(status).toBe(200)
    return json
  }

  const reasonsOf = (json: Json) =>
    ((json.hardware as { reasons: { code: string }[] } | null)?.reasons ?? []).map(({ code }) => code)

  test.each([
    [{ level: 1 }, 'tee'],
    [{ level: 2 }, 'strongbox'],
    [{ level: 0 }, 'software'],
  ])('computes the tier of %o', async (claims, tier) => {
    const caller = await makeCaller()
    const device = await makeDevice()
    const json = await enroll(caller, device, await android(device, await challenge(caller), claims))
    expect(json).toMatchObject({
      hardware_tier: tier,
      hardware: {
        format: 'android-key',
        proven_tier: tier,
        android: { boot_state: 'verified', device_locked: true, os_patch_age_days: 80 },
        apple: null,
        revocation: { status: 'off' },
      },
    })
    const { json: read } = await app.call(caller.key, `/v1/admin/devices/${json.device_id}`)
    expect(read).toEqual(json)
  })

  test('computes the tier of an App Attest key; one for development counts in the sandbox only', async () => {
    for (const [environment, build, tier] of [
      ['sandbox', 'production', 'secure_enclave'],
      ['sandbox', 'development', 'secure_enclave'],
      ['live', 'production', 'secure_enclave'],
      ['live', 'development', 'none'],
    ] as const) {
      const caller = await makeCaller({ environment })
      const device = await makeDevice()
      const json = await enroll(caller, device, await apple(device, await challenge(caller), build))
      expect(json).toMatchObject({ hardware_tier: tier, hardware: { apple: { app_attest_environment: build } } })
    }
  })

  test('does not accept a tier that the caller states', async () => {
    const caller = await makeCaller()
    const device = await makeDevice()
    for (const body of [
      { ...bodyOf(device), hardware_tier: 'tee' },
      bodyOf(device, { ...(await android(device, await challenge(caller))), tier: 'tee' }),
      bodyOf(device, { format: 'none', challenge: await challenge(caller) }),
    ]) {
      const { status, json } = await app.call(caller.key, '/v1/admin/devices', { json: body })
      expect({ status, code: json.code }).toEqual({ status: 400, code: 'invalid_request' })
    }
    expect(await enroll(caller, device)).toMatchObject({ hardware_tier: 'none', hardware: null })
  })

  test('that proves nothing enrolls the device with tier none and the reason', async () => {
    const caller = await makeCaller()
    const [device, other] = [await makeDevice(), await makeDevice()]
    const json = await enroll(caller, device, await android(other, await challenge(caller)))
    expect(json).toMatchObject({
      hardware_tier: 'none',
      status: 'enrolled',
      hardware: { proven_tier: 'none', android: null },
    })
    expect(reasonsOf(json)).toEqual(['key_mismatch'])
    const rooted = await enroll(caller, other, await android(other, await challenge(caller), { isDeviceLocked: false }))
    expect(rooted).toMatchObject({ hardware_tier: 'none', hardware: { android: { device_locked: false } } })
    expect(reasonsOf(rooted)).toEqual(['device_unlocked'])
  })

  test('needs a challenge that we issued, which is valid once and for a day', async () => {
    const [caller, stranger] = [await makeCaller(), await makeCaller()]
    const devices = await Promise.all([makeDevice(), makeDevice(), makeDevice(), makeDevice()] as const)
    const text = await challenge(caller)
    expect((await enroll(caller, devices[0], await android(devices[0], text))).hardware_tier).toBe('tee')
    expect(reasonsOf(await enroll(caller, devices[1], await android(devices[1], text)))).toEqual(['challenge_used'])
    const foreign = await challenge(stranger)
    expect(reasonsOf(await enroll(caller, devices[2], await android(devices[2], foreign)))).toEqual([
      'challenge_unknown',
    ])
    const old = await challenge(caller)
    app.clock.now = new Date(NOW.getTime() + 86_400_001)
    expect(reasonsOf(await enroll(caller, devices[3], await android(devices[3], old)))).toEqual(['challenge_expired'])
  })

  test('of two concurrent devices that use one challenge counts once', async () => {
    const caller = await makeCaller()
    const devices = await Promise.all([makeDevice(), makeDevice(), makeDevice()] as const)
    const text = await challenge(caller)
    const proofs = await Promise.all(devices.map((device) => android(device, text)))
    const answers = await Promise.all(devices.map((device, index) => enroll(caller, device, proofs[index])))
    expect(answers.map(({ hardware_tier }) => hardware_tier).sort()).toEqual(['none', 'none', 'tee'])
  })

  test('is accepted in bulk too, line by line', async () => {
    const caller = await makeCaller()
    const devices = await Promise.all([makeDevice(), makeDevice(), makeDevice(), makeDevice()] as const)
    const text = await challenge(caller)
    const lines = [
      bodyOf(devices[0], await android(devices[0], text)),
      bodyOf(devices[1], await apple(devices[1], await challenge(caller))),
      bodyOf(devices[2], await android(devices[2], text)),
      bodyOf(devices[3]),
      bodyOf(devices[3], { format: 'android-key', challenge: 'no', chain: [] }),
    ]
    const { json } = await app.call(caller.key, '/v1/admin/devices/batches', {
      body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      headers: { 'content-type': 'application/x-ndjson' },
    })
    expect(json).toMatchObject({ accepted: 4, rejected: [{ line: 5 }] })
    const { json: all } = await app.call(caller.key, '/v1/admin/devices')
    const tiers = (all.data as Json[]).map(({ hardware_tier }) => hardware_tier).sort()
    expect(tiers).toEqual(['none', 'none', 'secure_enclave', 'tee'])
  })

  test('is stored for a device that had none, and left unchanged for a device that has some', async () => {
    const caller = await makeCaller()
    const device = await makeDevice()
    await enroll(caller, device)
    const proof = await android(device, await challenge(caller))
    expect((await enroll(caller, device, proof)).hardware_tier).toBe('tee')
    const worse = await android(device, await challenge(caller), { isDeviceLocked: false })
    expect((await enroll(caller, device, worse)).hardware_tier).toBe('tee')
  })

  describe('when refreshed', () => {
    async function refresh(caller: Caller, id: unknown, evidence: unknown) {
      return app.call(caller.key, `/v1/admin/devices/${id}/attestation`, { json: evidence })
    }

    test('replaces the stored tier, higher or lower', async () => {
      const caller = await makeCaller()
      const device = await makeDevice()
      const { device_id: id } = await enroll(caller, device)
      for (const [claims, tier] of [
        [{ level: 1 }, 'tee'],
        [{ level: 2 }, 'strongbox'],
        [{ bootState: 2 }, 'none'],
      ] as const) {
        const { status, json } = await refresh(caller, id, await android(device, await challenge(caller), claims))
        expect({ status, tier: json.hardware_tier }).toEqual({ status: 200, tier })
      }
    })

    test('that proves nothing is refused, and changes nothing', async () => {
      const caller = await makeCaller()
      const [device, other] = [await makeDevice(), await makeDevice()]
      const text = await challenge(caller)
      const { device_id: id } = await enroll(caller, device, await android(device, text))
      const fresh = await challenge(caller)
      for (const [evidence, pointer, code] of [
        [await android(device, text), '/challenge', 'challenge_used'],
        [await android(other, fresh), '/chain', 'key_mismatch'],
        [{ ...(await apple(other, fresh)) }, '/object', 'nonce_mismatch'],
      ] as const) {
        const { status, json } = await refresh(caller, id, evidence)
        expect({ status, errors: json.errors }).toMatchObject({ status: 400, errors: [{ pointer, code }] })
      }
      // The refused request did not consume the challenge.
      expect((await refresh(caller, id, await android(device, fresh))).json.hardware_tier).toBe('tee')
    })

    test("of a revoked device, or of another account's device, is refused", async () => {
      const [caller, stranger] = [await makeCaller(), await makeCaller()]
      const device = await makeDevice()
      const { device_id: id } = await enroll(caller, device)
      const proof = await android(device, await challenge(caller))
      expect((await refresh(stranger, id, proof)).status).toBe(404)
      await app.call(caller.key, `/v1/admin/devices/${id}/revoke`, { json: { reason: 'lost' } })
      expect((await refresh(caller, id, proof)).status).toBe(409)
    })
  })

  test('is shown and filtered by the present list of revoked keys', async () => {
    const caller = await makeCaller()
    const [one, two, bare] = await Promise.all([makeDevice(), makeDevice(), makeDevice()] as const)
    const { device_id: id } = await enroll(caller, one, await android(one, await challenge(caller)))
    const { device_id: appleId } = await enroll(caller, two, await apple(two, await challenge(caller)))
    const { device_id: bareId } = await enroll(caller, bare)
    const [{ serials } = { serials: [] }] = await app.test.owner<{ serials: string[] }>(
      'SELECT attestation_serials AS serials FROM devices WHERE id = $1',
      [id],
    )
    const view = async () => (await app.call(caller.key, `/v1/admin/devices/${id}`)).json
    const idsOf = async (tier: string) => {
      const { json } = await app.call(caller.key, `/v1/admin/devices?hardware_tier=${tier}&include=total_count`)
      const ids = (json.data as Json[]).map(({ device_id }) => device_id)
      expect(json.total_count).toBe(ids.length)
      return ids.sort()
    }
    const fetchedAt = new Date(NOW.getTime() - 60_000)
    const cases: [RevocationSnapshot, string, string][] = [
      ['off', 'off', 'tee'],
      ['never_fetched', 'never_fetched', 'none'],
      [{ entries: new Map([['ff00', 'REVOKED']]), fetchedAt }, 'good', 'tee'],
      [{ entries: new Map([[serials[1] ?? '', 'SUSPENDED']]), fetchedAt }, 'revoked', 'none'],
      [{ entries: new Map(), fetchedAt: new Date(0) }, 'stale', 'tee'],
    ]
    for (const [snapshot, state, tier] of cases) {
      list = snapshot
      expect(await view()).toMatchObject({
        hardware_tier: tier,
        hardware: { proven_tier: 'tee', revocation: { status: state } },
      })
      expect(await idsOf('tee')).toEqual(tier === 'tee' ? [id] : [])
      expect(await idsOf('none')).toEqual(tier === 'tee' ? [bareId] : [bareId, id].sort())
      expect(await idsOf('secure_enclave')).toEqual([appleId])
    }
  })

  test('gets challenges, up to a thousand at once, and the same ones for the same Idempotency-Key', async () => {
    const caller = await makeCaller()
    const ask = (count: unknown) =>
      app.call(caller.key, '/v1/admin/devices/challenges', {
        json: { count },
        headers: { 'idempotency-key': `k-${String(count)}` },
      })
    const first = await ask(1000)
    expect(first.json.challenges).toHaveLength(1000)
    expect((await ask(1000)).json).toEqual(first.json)
    for (const count of [0, 1001, 1.5, '1']) expect((await ask(count)).status).toBe(400)
  })
})
