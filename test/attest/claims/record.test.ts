// result_jws outlives all other data: it can be checked with nothing but the published keys.

import { createHash } from 'node:crypto'
import { compactVerify, createLocalJWKSet, type JSONWebKeySet } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FACTORS, type FactorCode } from '#src/attest/factors/table.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { signedBytes } from '../../../capture-kit/device.ts'
import { call } from '../../support/http.ts'
import { attestFixture, PHOTO, type Phone, shoot } from './phone.ts'
import type { Caller, Service } from './service.ts'

let service: Service
let caller: Caller
let phone: Phone

beforeAll(async () => {
  ;({ service, caller, phone } = await attestFixture())
})
afterAll(() => service.close())

interface Signed {
  header: { alg?: string; typ?: string; kid?: string }
  payload: Record<string, Json> & { factors: { code: FactorCode; points: number; evidence: unknown }[] }
}

async function verified(jws: unknown): Promise<Signed> {
  const { json } = await call(service.app, '/.well-known/jwks.json')
  const { protectedHeader, payload } = await compactVerify(
    String(jws),
    createLocalJWKSet(json as never as JSONWebKeySet),
  )
  return { header: protectedHeader, payload: JSON.parse(Buffer.from(payload).toString()) }
}

describe('a signed result', () => {
  it('verifies against the published keys, and states what was evaluated and found', async () => {
    const body = shoot(phone, { gps: undefined, biometric: undefined, claim: { reference: 'R-1' } })
    const json = await service.judge(caller, body)
    const { header, payload } = await verified(json.result_jws)
    expect(header).toEqual({ alg: 'ES256', typ: 'attest-result+jwt', kid: expect.any(String) })
    const { factors, advisory_factors, observations, evaluated_at, attestation_id, claim_id } = json
    expect(payload).toEqual({
      account_id: caller.accountId,
      environment: 'sandbox',
      attestation_id,
      claim_id,
      media_sha256: createHash('sha256').update(PHOTO).digest('hex'),
      bundle_sha256: body.bundle && createHash('sha256').update(signedBytes(body.bundle)).digest('base64url'),
      accepted_at: json.accepted_at,
      evaluated_at,
      rules_version: json.rules_version,
      policy_version: 0,
      provenance_status: json.provenance_status,
      risk_status: json.risk_status,
      risk_score: json.risk_score,
      hardware_tier: json.hardware_tier,
      factors,
      advisory_factors,
      observations,
      iat: Math.floor(Date.parse(String(evaluated_at)) / 1_000),
    })
  })

  it('has a score that equals the sum of the specification’s points', async () => {
    const wrong = { device: phone.device, id: undefined }
    const bodies = [
      shoot(phone),
      shoot(phone, { gps: undefined }),
      shoot(phone, { capturedAt: new Date(Date.now() - 73 * 3_600_000), biometric: undefined }),
      shoot(wrong, { sessionNonce: 'none', bundle: (bundle) => ({ ...bundle, sensor_hash: '0'.repeat(64) }) }),
      { ...shoot(phone), signature: { alg: 'ES256', value: 'AA' } },
      { media_type: 'image', media: shoot(phone).media },
    ]
    for (const body of bodies) {
      const json = await service.judge(caller, body)
      const { payload } = await verified(json.result_jws)
      const sum = payload.factors.reduce((total, { code }) => total + FACTORS[code], 0)
      expect([payload.risk_score, json.risk_score]).toEqual([sum, sum])
      expect(new Set(payload.factors.map(({ code }) => code)).size).toBe(payload.factors.length)
      expect(JSON.stringify(payload)).not.toContain('52.51')
    }
  })

  it('of a submission without bundle says so', async () => {
    const json = await service.judge(caller, { media_type: 'image', media: shoot(phone).media })
    const { payload } = await verified(json.result_jws)
    expect(payload).toMatchObject({ bundle_sha256: null, provenance_status: 'unattested', risk_score: 60 })
  })

  it('fails when a byte of it is changed, and under another environment’s keys', async () => {
    const json = await service.judge(caller, shoot(phone))
    const [head = '', payload = '', signature = ''] = String(json.result_jws).split('.')
    const forged = Buffer.from(
      Buffer.from(payload, 'base64url').toString().replace('"risk_score":40', '"risk_score":0'),
    )
    expect(forged.toString('base64url')).not.toBe(payload)
    await expect(verified(`${head}.${forged.toString('base64url')}.${signature}`)).rejects.toThrow()
    const live = await service.signRecord('live', 'attest-result+jwt', {})
    expect((await verified(live)).header.kid).not.toBe((await verified(json.result_jws)).header.kid)
  })

  it('of the same bytes evaluated twice differs in its ids, times and signature only', async () => {
    const body = { ...shoot(phone, { gps: undefined }), claim: { reference: 'R-2', loss_location: { lat: 0, lng: 0 } } }
    const [first, second] = [await service.judge(caller, body), await service.judge(caller, body)]
    const own = ['attestation_id', 'accepted_at', 'evaluated_at', 'iat']
    const shared = async (json: Record<string, unknown>) =>
      Object.entries((await verified(json.result_jws)).payload).filter(([name]) => !own.includes(name))
    expect(await shared(first)).toEqual(await shared(second))
    expect(first.attestation_id).not.toBe(second.attestation_id)
    expect(first.result_jws).not.toBe(second.result_jws)
  })
})
