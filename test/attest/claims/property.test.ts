// For any combination of defects in a capture the answer adds up, and all its parts agree.

import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ADVISORIES, FACTORS, type FactorCode } from '#src/attest/factors/table.ts'
import { BARE_PHOTO, GPS, makePhone, PHOTO, type Phone, shoot } from './phone.ts'
import { type Caller, type Service, startService } from './service.ts'

let service: Service
let caller: Caller
let phones: Record<'enrolled' | 'revoked' | 'unknown' | 'stranger', Phone>

beforeAll(async () => {
  service = await startService()
  caller = await service.makeCaller()
  const revoked = await makePhone(service, caller)
  phones = {
    enrolled: await makePhone(service, caller),
    revoked,
    unknown: await makePhone(service, caller, { isEnrolled: false }),
    stranger: await makePhone(service, caller, { isEnrolled: false, isKnownRoot: false }),
  }
  await service.devices.revoke(caller, revoked.id ?? '', { reason: 'lost' })
})
afterAll(() => service.close())

const captures = fc.record({
  phone: fc.constantFrom('enrolled', 'revoked', 'unknown', 'stranger'),
  name: fc.constantFrom('own', 'none', 'other', 'nobody'),
  gps: fc.constantFrom(GPS, { ...GPS, mock: true }, { lat: 0, lng: 0, accuracy_m: 1e7, mock: false }, undefined),
  biometric: fc.constantFrom({ gated: true }, { gated: false }, { gated: true, method: 'passcode' }, undefined),
  ageHours: fc.constantFrom(0, 71.9, 72.1, 24 * 400),
  nonce: fc.constantFrom(undefined, 'fresh', 'unknown'),
  photo: fc.constantFrom(PHOTO, BARE_PHOTO),
  damage: fc.constantFrom('none', 'hash', 'signature', 'chain cut', 'no chain', 'no bundle'),
  loss: fc.constantFrom(undefined, { lat: 52.5, lng: 13.4 }, { lat: -52.5, lng: -166.6 }),
})
type Capture = typeof captures extends fc.Arbitrary<infer Value> ? Value : never

async function bodyOf(capture: Capture): Promise<object> {
  const { photo, damage, loss, gps, biometric } = capture
  const { device, id } = phones[capture.phone]
  const name = { own: id, none: undefined, other: phones.enrolled.id, nobody: 'nobody' }[capture.name]
  const issued =
    capture.nonce === 'fresh' ? (await service.captures.issue(caller, { count: 1 })).sessions[0] : undefined
  const body = shoot(
    { device, id: name },
    {
      photo,
      gps,
      biometric: biometric as never,
      capturedAt: new Date(Date.now() - capture.ageHours * 3_600_000),
      sessionNonce: issued?.session_nonce ?? capture.nonce,
      ...(loss && { claim: { loss_location: loss } }),
      ...(damage === 'hash' && { bundle: (bundle) => ({ ...bundle, sensor_hash: '0'.repeat(64) }) }),
    },
  )
  const { bundle, signature, certificate_chain, ...rest } = body
  if (damage === 'no bundle') return rest
  if (damage === 'no chain') return { ...rest, bundle, signature }
  if (damage === 'chain cut') return { ...body, certificate_chain: certificate_chain?.slice(0, 1) }
  return damage === 'signature' ? { ...body, signature: { alg: 'ES256', value: 'AAAA' } } : body
}

const BREAKING = ['device_revoked', 'session_nonce_mismatch', 'signature_invalid', 'sensor_hash_mismatch']

it('risk_score is the sum of the points, advisories have none, and the claim equals its one attestation', async () => {
  await fc.assert(
    fc.asyncProperty(captures, async (capture) => {
      const json = await service.judge(caller, await bodyOf(capture))
      const factors = json.factors as { code: FactorCode; points: number }[]
      const codes = factors.map(({ code }) => code)
      expect(json.risk_score).toBe(factors.reduce((sum, { points }) => sum + points, 0))
      for (const { code, points } of factors) expect(points).toBe(FACTORS[code])
      expect(new Set(codes).size).toBe(codes.length)
      const advisories = json.advisory_factors as { code: (typeof ADVISORIES)[number] }[]
      for (const one of advisories) {
        expect(one).not.toHaveProperty('points')
        expect(ADVISORIES).toContain(one.code)
      }
      const score = Number(json.risk_score)
      expect(json.risk_status).toBe(score >= 50 ? 'failed' : score >= 25 ? 'review' : 'passed')
      const isKnown = !codes.includes('cert_unknown_ca') && !codes.includes('device_not_enrolled')
      const isBroken = codes.some((code) => BREAKING.includes(code))
      const intact = codes.includes('no_manifest') ? 'unattested' : isKnown ? 'verified' : 'attested_unverified'
      expect(json.provenance_status).toBe(isBroken ? 'broken' : intact)
      // A revoked key is revoked under every name; without its certificate only its own name identifies it.
      const isTold = capture.damage !== 'no chain' || capture.name === 'own'
      expect(codes.includes('device_revoked')).toBe(
        capture.phone === 'revoked' && capture.damage !== 'no bundle' && isTold,
      )
      const { json: claim } = await service.call(caller, `/v1/claims/${json.claim_id}`)
      const { risk_score, risk_status, provenance_status } = json
      expect(claim).toMatchObject({ risk_score, risk_status, provenance_status, factor_codes: codes })
    }),
    { numRuns: 60, seed: 20_261_120 },
  )
})
