// Facts about the signer of a capture, from real certificates and rows.

import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAuthority } from '../../../capture-kit/authority.ts'
import { type AttestBody, type Bundle, openDevice } from '../../../capture-kit/device.ts'
import { make, makeChain, P384 } from '../../platform/crypto/pki.ts'
import { codesOf, enroll, evidenceOf, makePhone, PHOTO, type Phone, shoot } from './phone.ts'
import { type Caller, type Service, startService } from './service.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const ago = (ms: number) => new Date(Date.now() - ms)

let service: Service
let caller: Caller

beforeAll(async () => {
  service = await startService()
})
beforeEach(async () => {
  caller = await service.makeCaller()
  service.clock.now = undefined
})
afterAll(() => service.close())

/** The codes beyond hardware_backing_absent, which every device raises today. */
async function judged(body: object) {
  const json = await service.judge(caller, body)
  const [codes, provenance] = [codesOf(json), json.provenance_status]
  expect(json.risk_score).toBe((json.factors as { points: number }[]).reduce((sum, { points }) => sum + points, 0))
  return { json, provenance, codes: codes.filter((code) => code !== 'hardware_backing_absent') }
}
const without = (body: AttestBody, ...members: (keyof AttestBody)[]) =>
  Object.fromEntries(Object.entries(body).filter(([name]) => !members.some((member) => member === name)))
const unnamed = (bundle: Bundle) => {
  const { device_id, ...rest } = bundle
  return rest
}

describe('the device', () => {
  let phone: Phone
  let other: Phone
  beforeEach(async () => {
    phone = await makePhone(service, caller)
    other = await makePhone(service, caller, { name: 'Other' })
  })

  it('is identified by its name and its key', async () => {
    const { json, codes, provenance } = await judged(shoot(phone))
    expect([codes, provenance, json.device_id]).toEqual([[], 'verified', phone.id])
  })

  it('is identified by its key alone, and is found by it afterwards', async () => {
    const { json, codes, provenance } = await judged(shoot(phone, { bundle: unnamed }))
    expect([codes, provenance, json.device_id]).toEqual([[], 'verified', phone.id])
    const list = await service.call(caller, `/v1/claims?device_id=${phone.id}`)
    expect(list.json.data).toMatchObject([{ claim_id: json.claim_id }])
  })

  it('is identified by its name alone: its enrolled key and chain are used', async () => {
    const { codes, provenance } = await judged(without(shoot(phone), 'certificate_chain'))
    expect([codes, provenance]).toEqual([[], 'verified'])
  })

  it('is identified by its certificate alone, in a chain that was enrolled whole', async () => {
    const body = shoot(phone)
    const { json, codes } = await judged({ ...body, certificate_chain: body.certificate_chain?.slice(0, 1) })
    expect(codes).toEqual(['cert_unknown_ca'])
    expect(evidenceOf(json, 'cert_unknown_ca').found).toBe('unknown_ca')
  })

  it('is not identified by the key of another device', async () => {
    const { json, codes, provenance } = await judged(shoot({ ...phone, id: other.id }))
    expect([codes, provenance]).toEqual([['device_not_enrolled'], 'attested_unverified'])
    expect(evidenceOf(json, 'device_not_enrolled')).toMatchObject({ why: 'key_differs', device_id: other.id })
  })

  it('is not identified when its key signed nothing: a certificate alone proves nothing', async () => {
    const body = shoot(phone)
    const signature = other.device.sign(body.bundle as Bundle)
    const { json, codes, provenance } = await judged({ ...body, signature })
    expect([codes, provenance]).toEqual([['signature_invalid'], 'broken'])
    expect(evidenceOf(json, 'signature_invalid')).toMatchObject({ found: 'mismatch', key_source: 'certificate' })
    const byName = await judged({ ...without(body, 'certificate_chain'), signature })
    expect(evidenceOf(byName.json, 'signature_invalid')).toMatchObject({ found: 'mismatch', key_source: 'device' })
  })

  it('is unknown under an unregistered name, a name of another account, or a malformed name', async () => {
    const stranger = await service.makeCaller()
    const theirs = await makePhone(service, stranger)
    for (const id of [theirs.id, 'dev_test_00000000000000000000000000', 'my phone']) {
      const { json, codes } = await judged(shoot({ device: phone.device, id }))
      expect(codes).toEqual(['device_not_enrolled'])
      expect(evidenceOf(json, 'device_not_enrolled')).toMatchObject({ why: 'unknown_id', device_id: id })
      const alone = await judged(without(shoot({ device: phone.device, id }), 'certificate_chain'))
      expect(alone.codes).toEqual(['signature_invalid', 'cert_unknown_ca', 'device_not_enrolled'])
      expect(evidenceOf(alone.json, 'signature_invalid')).toMatchObject({ found: 'no_key', key_source: null })
      expect(evidenceOf(alone.json, 'cert_unknown_ca').found).toBe('no_chain')
    }
  })

  it('is unknown without a name when its key was never enrolled', async () => {
    const stranger = await makePhone(service, caller, { isEnrolled: false })
    const { json, codes, provenance } = await judged(shoot(stranger))
    expect([codes, provenance]).toEqual([['device_not_enrolled'], 'attested_unverified'])
    expect(evidenceOf(json, 'device_not_enrolled').why).toBe('unknown_key')
  })

  it('is reported as absent when neither name nor certificate was sent', async () => {
    const { json, codes } = await judged(without(shoot(phone, { bundle: unnamed }), 'certificate_chain'))
    expect(codes).toEqual(['signature_invalid', 'cert_unknown_ca', 'device_not_enrolled'])
    expect(evidenceOf(json, 'device_not_enrolled')).toMatchObject({ why: 'no_device', device_id: null })
  })
})

describe('a revoked device', () => {
  let phone: Phone
  beforeEach(async () => {
    phone = await makePhone(service, caller)
  })
  const revoke = (effective_at?: string) => {
    service.clock.now = undefined
    return service.devices.revoke(caller, phone.id ?? '', { reason: 'lost', ...(effective_at && { effective_at }) })
  }

  it('is detected under any name that the bundle states', async () => {
    const other = await makePhone(service, caller)
    await revoke()
    const names = [phone.id, other.id, 'dev_test_00000000000000000000000000', 'anybody']
    const bodies = [...names.map((id) => shoot({ device: phone.device, id })), shoot(phone, { bundle: unnamed })]
    for (const body of [...bodies, without(shoot(phone), 'certificate_chain')]) {
      const { json, codes, provenance } = await judged(body)
      expect([codes, provenance]).toEqual([['device_revoked'], 'broken'])
      expect(evidenceOf(json, 'device_revoked')).toMatchObject({ device_id: phone.id, found: 'revoked' })
    }
  })

  it('does not affect a device that is only named beside it', async () => {
    const other = await makePhone(service, caller)
    await revoke()
    const { json, codes } = await judged(shoot({ device: other.device, id: phone.id }))
    expect(codes).toEqual(['device_not_enrolled'])
    expect(evidenceOf(json, 'device_not_enrolled').why).toBe('key_differs')
  })

  it('does not affect captures accepted before the revocation, however late they are evaluated', async () => {
    const names = [phone.id, 'somebody']
    const answers = await Promise.all(names.map((id) => service.attest(caller, shoot({ device: phone.device, id }))))
    await revoke()
    const results = []
    for (const { json } of answers) {
      await service.run(String(json.attestation_id))
      results.push((await service.call(caller, `/v1/attestations/${json.attestation_id}`)).json)
    }
    expect(results.map((json) => codesOf(json))).toEqual([
      ['hardware_backing_absent'],
      ['hardware_backing_absent', 'device_not_enrolled'],
    ])
    expect((await judged(shoot(phone))).codes).toEqual(['device_revoked'])
  })

  it('affects captures accepted since its effective time, when that lies in the past', async () => {
    const { json } = await service.attest(caller, shoot(phone))
    await revoke(ago(HOUR_MS).toISOString())
    await service.run(String(json.attestation_id))
    const { json: result } = await service.call(caller, `/v1/attestations/${json.attestation_id}`)
    expect(codesOf(result)).toContain('device_revoked')
  })
})

describe('the certificate chain', () => {
  /** A phone whose certificate is valid between these times, enrolled a day after the first. */
  async function makePhoneOf(notBefore: Date, notAfter: Date): Promise<Phone> {
    service.clock.now = new Date(notBefore.getTime() + DAY_MS)
    const authority = await createAuthority({ name: 'Old', now: () => notBefore, notBefore: ago(1_000 * DAY_MS) })
    await service.rootCas.register(caller, { name: 'Old', certificate: authority.rootDer.toString('base64') })
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const chain = await authority.issue({ publicKey, subject: 'Old Phone', notBefore, notAfter })
    const id = await enroll(service, caller, chain)
    service.clock.now = undefined
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const device = openDevice({ name: 'Old Phone', privateKey: pem, chain: chain.map((der) => der.toString('base64')) })
    return { id, device }
  }

  it('is evaluated at the time of the capture, not of the evaluation', async () => {
    const phone = await makePhoneOf(ago(30 * DAY_MS), ago(DAY_MS))
    const before = await judged(shoot(phone, { capturedAt: ago(2 * DAY_MS) }))
    expect([before.codes, before.provenance]).toEqual([[], 'verified'])
    const after = await judged(shoot(phone, { capturedAt: ago(HOUR_MS) }))
    expect([after.codes, after.provenance]).toEqual([['cert_unknown_ca', 'device_not_enrolled'], 'attested_unverified'])
    expect(evidenceOf(after.json, 'cert_unknown_ca').found).toBe('expired')
    expect(evidenceOf(after.json, 'device_not_enrolled')).toMatchObject({ found: 'expired', why: 'certificate_lapsed' })
  })

  it('is not valid before its time', async () => {
    const phone = await makePhoneOf(ago(2 * DAY_MS), new Date(Date.now() + DAY_MS))
    expect((await judged(shoot(phone, { capturedAt: ago(DAY_MS) }))).codes).toEqual([])
    const early = await judged(shoot(phone, { capturedAt: ago(2 * DAY_MS + HOUR_MS) }))
    expect(early.codes).toEqual(['cert_unknown_ca'])
    expect(evidenceOf(early.json, 'cert_unknown_ca').found).toBe('not_yet_valid')
  })

  it('has no anchor when its root was deleted after the enrolment; the device stays known', async () => {
    const phone = await makePhone(service, caller)
    const [root] = (await service.rootCas.list(caller, { limit: 10 })).data
    await service.rootCas.remove(caller, root?.id ?? '')
    for (const body of [shoot(phone), without(shoot(phone), 'certificate_chain')]) {
      const { json, codes, provenance } = await judged(body)
      expect([codes, provenance]).toEqual([['cert_unknown_ca'], 'attested_unverified'])
      expect(evidenceOf(json, 'cert_unknown_ca').found).toBe('unknown_ca')
    }
  })

  it('has no anchor when its root is not registered, or registered in another account only', async () => {
    const stranger = await makePhone(service, caller, { isEnrolled: false, isKnownRoot: false })
    expect((await judged(shoot(stranger))).codes).toEqual(['cert_unknown_ca', 'device_not_enrolled'])
    const other = await service.makeCaller()
    const theirs = await makePhone(service, other)
    const { codes } = await judged(shoot({ device: theirs.device, id: undefined }))
    expect(codes).toEqual(['cert_unknown_ca', 'device_not_enrolled'])
  })

  it('is quoted with its names cleaned of invisible characters', async () => {
    const phone = await makePhone(service, caller, { isEnrolled: false, isKnownRoot: false })
    const { root, intermediate } = await makeChain()
    const leaf = await make({ name: `Trusted\u202e${'x'.repeat(500)}`, issuer: intermediate })
    const certificate_chain = [leaf, intermediate, root].map(({ der }) => der.toString('base64'))
    const { json, codes } = await judged({ ...shoot(phone), certificate_chain })
    expect(codes).toEqual(['signature_invalid', 'cert_unknown_ca', 'device_not_enrolled'])
    const { subject } = evidenceOf(json, 'cert_unknown_ca')
    expect(String(subject)).toMatch(/^CN=Trusted\ufffdx+$/)
    expect(String(subject).length).toBeLessThanOrEqual(256)
  })
})

describe('the signature', () => {
  it('covers the canonical bundle, in any transport encoding', async () => {
    const phone = await makePhone(service, caller)
    const body = shoot(phone, { bundle: (bundle) => ({ ...bundle, gps: { lat: 1e-7, lng: -0, accuracy_m: 1e2 } }) })
    const reversed = Object.fromEntries(Object.entries(body.bundle ?? {}).reverse())
    expect((await judged({ ...body, bundle: reversed })).codes).toEqual([])
    const respelled = JSON.stringify(body)
      .replace('"lat":1e-7', '"lat":0.00000010')
      .replace('"version"', '"versio\\u006e"')
    expect((await judged(respelled as never)).codes).toEqual([])
  })

  it('is accepted in DER too, and refused over any other bytes', async () => {
    const phone = await makePhone(service, caller)
    const body = shoot(phone)
    const raw = Buffer.from(body.signature?.value ?? '', 'base64url')
    const der = derOf(raw)
    expect((await judged({ ...body, signature: { alg: 'ES256', value: der.toString('base64url') } })).codes).toEqual([])
    const zero = Buffer.alloc(64).toString('base64url')
    for (const value of ['AA', zero, raw.subarray(1).toString('base64url'), 'A'.repeat(1_024)]) {
      const { json, codes, provenance } = await judged({ ...body, signature: { alg: 'ES256', value } })
      expect([codes, provenance]).toEqual([['signature_invalid'], 'broken'])
      expect(evidenceOf(json, 'signature_invalid').found).toBe('mismatch')
    }
  })

  it.each([
    ['captured_at', (bundle: Bundle) => ({ ...bundle, captured_at: ago(90_000).toISOString() })],
    ['gps', (bundle: Bundle) => ({ ...bundle, gps: { lat: 52.5164, lng: 13.3777, accuracy_m: 5, mock: false } })],
    ['biometric', (bundle: Bundle) => ({ ...bundle, biometric: { gated: true, method: 'fingerprint' } })],
    ['a member more', (bundle: Bundle) => ({ ...bundle, attestation: { format: 'none' } })],
  ])('fails when %s was changed after signing', async (_name, change) => {
    const phone = await makePhone(service, caller)
    const body = shoot(phone)
    expect((await judged({ ...body, bundle: change(body.bundle as Bundle) })).codes).toEqual(['signature_invalid'])
  })

  it('of a key type that captures are not signed with is reported', async () => {
    const phone = await makePhone(service, caller)
    const leaf = await make({ name: 'Device', algorithm: P384 })
    const { json } = await judged({ ...shoot(phone), certificate_chain: [leaf.der.toString('base64')] })
    expect(evidenceOf(json, 'signature_invalid')).toMatchObject({ found: 'unsupported_key', key_source: 'certificate' })
  })

  it('covers the bytes that arrived: with upper or lower case hex, and no other bytes', async () => {
    const phone = await makePhone(service, caller)
    const upper = shoot(phone, { bundle: (bundle) => ({ ...bundle, sensor_hash: bundle.sensor_hash.toUpperCase() }) })
    expect((await judged(upper)).codes).toEqual([])
    const wrong = shoot(phone, { bundle: (bundle) => ({ ...bundle, sensor_hash: '0'.repeat(64) }) })
    const { codes, provenance } = await judged(wrong)
    expect([codes, provenance]).toEqual([['sensor_hash_mismatch'], 'broken'])
  })
})

it('a capture without a bundle raises one factor, and none about unknown facts', async () => {
  const phone = await makePhone(service, caller)
  const { json, provenance } = await judged(without(shoot(phone), 'bundle', 'signature', 'certificate_chain'))
  expect(codesOf(json)).toEqual(['no_manifest'])
  expect([provenance, json.risk_score, json.hardware_tier]).toEqual(['unattested', 60, 'none'])
})

it('an EXIF block that can’t be read raises an advisory factor without points', async () => {
  const phone = await makePhone(service, caller)
  const photo = Buffer.from(PHOTO)
  // The TIFF header's byte order, behind the segment's name.
  photo.write('XX', photo.indexOf('Exif\0\0') + 6)
  const { json, codes } = await judged(shoot(phone, { photo }))
  expect([codes, json.risk_score]).toEqual([[], 40])
  expect(json.advisory_factors).toMatchObject([
    { code: 'exif_missing', evidence: { found: 'unreadable' } },
    { code: 'c2pa_absent' },
  ])
})

// RFC 3279 2.2.3: SEQUENCE of two INTEGERs, which are positive and minimal.
function derOf(raw: Buffer): Buffer {
  const integer = (bytes: Buffer): Buffer => {
    const start = bytes.findIndex((byte) => byte !== 0)
    const trimmed = bytes.subarray(start)
    const positive = (trimmed[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.alloc(1), trimmed]) : trimmed
    return Buffer.concat([Buffer.from([2, positive.length]), positive])
  }
  const content = Buffer.concat([integer(raw.subarray(0, 32)), integer(raw.subarray(32))])
  return Buffer.concat([Buffer.from([0x30, content.length]), content])
}
