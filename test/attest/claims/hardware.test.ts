import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChallenges } from '#src/attest/devices/challenges.ts'
import type { RevocationSnapshot } from '#src/attest/hardware/revocations.ts'
import { readExpectedApps, readVendorRoots } from '#src/attest/hardware/roots.ts'
import { type AttestBody, signedBytes } from '../../../capture-kit/device.ts'
import { type AndroidClaims, createVendor, enrollmentHash } from '../../../capture-kit/vendor.ts'
import { attestFixture, codesOf, evidenceOf, type Phone, shoot } from './phone.ts'
import { type Caller, type Service, startService } from './service.ts'

const vendor = await createVendor({ now: () => new Date() })

describe('hardware evidence of a capture', () => {
  let service: Service
  let list: RevocationSnapshot = 'off'

  beforeAll(async () => {
    service = await startService({
      trust: {
        roots: readVendorRoots(vendor.roots.split(',')),
        apps: readExpectedApps(vendor.apps.split(',')),
        revocations: async () => list,
      },
    })
  })
  afterAll(() => service?.close())

  async function prepare(): Promise<{ caller: Caller; phone: Phone; challenge: string }> {
    list = 'off'
    const { caller, phone } = await attestFixture({ service })
    const issued = await createChallenges({ db: service.test.db, now: () => new Date() }).issue(caller, 1)
    return { caller, phone, challenge: issued.challenges[0]?.challenge ?? '' }
  }

  async function makeAndroid(claims: AndroidClaims = {}) {
    const { caller, phone, challenge } = await prepare()
    const request = { publicKey: phone.device.publicKey, challenge: Buffer.from(challenge, 'base64url'), ...claims }
    const chain = await vendor.attestAndroid(request)
    await service.devices.attest(caller, phone.id ?? '', {
      format: 'android-key',
      challenge,
      chain: chain.map((der) => der.toString('base64')),
    })
    return { caller, phone }
  }

  async function makeApple() {
    const { caller, phone, challenge } = await prepare()
    const hash = enrollmentHash(phone.device.publicKey, Buffer.from(challenge, 'base64url'))
    const key = await vendor.attestApple({ clientDataHash: hash })
    const object = key.object.toString('base64')
    await service.devices.attest(caller, phone.id ?? '', { format: 'apple-appattest', challenge, object })
    const assert = (body: AttestBody, counter?: number): AttestBody => {
      if (body.bundle === undefined) throw new Error('there is nothing to assert')
      const digest = createHash('sha256').update(signedBytes(body.bundle)).digest()
      return { ...body, assertion: key.assert(digest, counter).toString('base64') }
    }
    return { caller, phone, assert }
  }

  test('that is proven adds no points to an honest capture', async () => {
    const { caller, phone } = await makeAndroid({ userAuthType: 3 })
    const json = await service.judge(caller, shoot(phone))
    expect(json).toMatchObject({
      risk_score: 0,
      risk_status: 'passed',
      provenance_status: 'verified',
      hardware_tier: 'tee',
      factors: [],
    })
  })

  test.each([
    [{ userAuthType: 2 }, { gated: false }, []],
    [{ userAuthType: 1 }, { gated: true, method: 'face' }, ['biometric_absent']],
    [{}, { gated: true, method: 'face' }, ['biometric_absent']],
    [{ userAuthType: 3 }, { gated: true, method: 'passcode' }, ['biometric_absent']],
    [{ userAuthType: 2, authTimeoutSeconds: 3_600 }, { gated: true, method: 'face' }, ['biometric_absent']],
  ] as const)('of a key with %o, and an app that says %o, raises %o', async (claims, biometric, codes) => {
    const { caller, phone } = await makeAndroid(claims)
    expect(codesOf(await service.judge(caller, shoot(phone, { biometric })))).toEqual(codes)
  })

  test('is absent below a key that its vendor revoked, and before the first list of revoked keys', async () => {
    const { caller, phone } = await makeAndroid({ userAuthType: 3 })
    const [row] = await service.test.owner<{ serials: string[] }>(
      'SELECT attestation_serials AS serials FROM devices WHERE id = $1',
      [phone.id],
    )
    list = { entries: new Map([[row?.serials[2] ?? '', 'REVOKED']]), fetchedAt: new Date() }
    const revoked = await service.judge(caller, shoot(phone))
    expect({ codes: codesOf(revoked), tier: revoked.hardware_tier }).toEqual({
      codes: ['hardware_backing_absent'],
      tier: 'none',
    })
    expect(evidenceOf(revoked, 'hardware_backing_absent')).toMatchObject({
      why: 'vendor_key_revoked',
      serial: row?.serials[2],
    })
    list = 'never_fetched'
    const unknown = await service.judge(caller, shoot(phone))
    expect(evidenceOf(unknown, 'hardware_backing_absent')).toMatchObject({ why: 'revocation_list_never_fetched' })
  })

  test('is that of the enrollment: what the bundle brings is kept and not evaluated', async () => {
    const { caller, phone, challenge } = await prepare()
    const request = { publicKey: phone.device.publicKey, challenge: Buffer.from(challenge, 'base64url') }
    const chain = (await vendor.attestAndroid({ ...request, userAuthType: 3 })).map((der) => der.toString('base64'))
    const attestation = { format: 'android-key', chain }
    const json = await service.judge(caller, shoot(phone, { bundle: (bundle) => ({ ...bundle, attestation }) }))
    expect({ codes: codesOf(json), tier: json.hardware_tier }).toEqual({
      codes: ['hardware_backing_absent'],
      tier: 'none',
    })
    const [kept] = await service.test.owner<{ attestation: unknown }>(
      `SELECT submission #> '{bundle,attestation}' AS attestation FROM attestations WHERE id = $1`,
      [json.attestation_id],
    )
    expect(kept?.attestation).toEqual(attestation)
  })

  test('of App Attest is what the assertion beside the bundle proves', async () => {
    const { caller, phone, assert } = await makeApple()
    const good = await service.judge(caller, assert(shoot(phone)))
    expect(good).toMatchObject({ risk_score: 0, hardware_tier: 'secure_enclave' })
    const cases: [AttestBody, string][] = [
      [shoot(phone), 'assertion_missing'],
      [{ ...shoot(phone), assertion: Buffer.alloc(40, 1).toString('base64') }, 'assertion_malformed'],
      // The assertion of another bundle.
      [
        { ...shoot(phone), assertion: assert(shoot(phone, { biometric: undefined })).assertion ?? '' },
        'assertion_bad_signature',
      ],
      [assert(shoot(phone), 0), 'assertion_counter_not_above'],
    ]
    for (const [body, why] of cases) {
      const json = await service.judge(caller, body)
      expect({ why, codes: codesOf(json), tier: json.hardware_tier }).toEqual({
        why,
        codes: ['hardware_backing_absent'],
        tier: 'none',
      })
      expect(evidenceOf(json, 'hardware_backing_absent')).toMatchObject({ why })
    }
  })

  test('counts each counter once, in whatever order the captures are evaluated', async () => {
    const { caller, phone, assert } = await makeApple()
    const bodies = [5, 3, 9, 3].map((counter) => assert(shoot(phone), counter))
    const results = []
    for (const body of bodies) results.push(await service.judge(caller, body))
    expect(results.map((json) => json.risk_score)).toEqual([0, 0, 0, 40])
    expect(evidenceOf(results[3] ?? {}, 'hardware_backing_absent')).toMatchObject({
      why: 'assertion_counter_reused',
      counter: 3,
      used_by: results[1]?.attestation_id,
    })
  })

  test('counts a counter for one of many concurrent captures', async () => {
    const { caller, phone, assert } = await makeApple()
    const body = assert(shoot(phone))
    const ids = await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        const { json } = await service.attest(caller, { ...body, external_id: `e-${index}` })
        return String(json.attestation_id)
      }),
    )
    await Promise.all(ids.map((id) => service.run(id)))
    const results = await Promise.all(ids.map((id) => service.call(caller, `/v1/attestations/${id}`)))
    expect(results.map(({ json }) => json.risk_score).sort()).toEqual([0, 40, 40, 40, 40, 40])
  })

  test('is evaluated the same again after a worker died on the way', async () => {
    const { caller, phone, assert } = await makeApple()
    const { json } = await service.attest(caller, assert(shoot(phone)))
    const id = String(json.attestation_id)
    const dying = service.makeVerify({
      signRecord: async () => {
        throw new Error('it died')
      },
    })
    await expect(service.run(id, dying)).rejects.toThrow('it died')
    await service.run(id)
    const { json: judged } = await service.call(caller, `/v1/attestations/${id}`)
    expect(judged).toMatchObject({ risk_score: 0, hardware_tier: 'secure_enclave' })
  })
})
