// What binds a capture to its claim: the nonce that was issued for the claim, and the place first stated for it.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Capture } from '../../../capture-kit/device.ts'
import { POLICY, type Reevaluating, startReevaluating } from '../reevaluate/service.ts'
import { attestFixture, codesOf, evidenceOf, GPS, makePhone, type Phone, PLACE, shoot } from './phone.ts'
import type { Caller } from './service.ts'

let on: Reevaluating
let caller: Caller
let phone: Phone

beforeAll(async () => {
  on = await startReevaluating()
})
afterAll(() => on?.close())
beforeEach(async () => {
  ;({ caller, phone } = await attestFixture({ service: on.service, row: { scopes: ['all'] } }))
})

const judge = (changes: Partial<Capture>) => on.service.judge(caller, shoot(phone, changes))
const seen = async (id: unknown) => (await on.service.call(caller, `/v1/attestations/${id}`)).json

describe('a nonce', () => {
  const issue = async (request: object) =>
    (await on.service.captures.issue(caller, { count: 1, ...request })).sessions[0]?.session_nonce

  it('that was issued for a claim is valid for that claim', async () => {
    const sessionNonce = await issue({ claim_reference: 'CLM-1', device_id: phone.id })
    const json = await judge({ sessionNonce, claim: { reference: 'CLM-1' } })
    expect(codesOf(json)).not.toContain('session_nonce_mismatch')
  })

  it.each([
    ['another claim', { claim: { reference: 'CLM-2' } }, 'CLM-2'],
    ['a claim without a number', { claim: { line: 'auto' } }, null],
    ['no claim', {}, null],
  ])('that was issued for a claim raises a factor with %s', async (_, changes, reference) => {
    const json = await judge({ sessionNonce: await issue({ claim_reference: 'CLM-1' }), ...changes })
    expect(evidenceOf(json, 'session_nonce_mismatch')).toMatchObject({
      found: ['other_claim'],
      claim_issued_for: 'CLM-1',
      claim_reference: reference,
    })
    expect(json).toMatchObject({ provenance_status: 'broken', risk_status: 'failed' })
  })

  it('that was issued for another claim and device raises a factor for both, and is consumed', async () => {
    const other = await makePhone(on.service, caller, { name: 'Other' })
    const sessionNonce = await issue({ claim_reference: 'CLM-1', device_id: other.id })
    const json = await judge({ sessionNonce, claim: { reference: 'CLM-2' } })
    expect(evidenceOf(json, 'session_nonce_mismatch')).toMatchObject({
      found: ['other_device', 'other_claim'],
      issued_for: other.id,
      device_id: phone.id,
    })
    const again = await on.service.judge(caller, shoot(other, { sessionNonce, claim: { reference: 'CLM-1' } }))
    expect(evidenceOf(again, 'session_nonce_mismatch').found).toEqual(['reused'])
  })

  it('that was issued for any claim is valid for each', async () => {
    const json = await judge({ sessionNonce: await issue({}), claim: { reference: 'CLM-3' } })
    expect(codesOf(json)).not.toContain('session_nonce_mismatch')
  })
})

describe('the stated place of the loss', () => {
  const far = { lat: 48.137, lng: 11.575 }
  const found = (json: Record<string, unknown>) =>
    (json.advisory_factors as { code: string; evidence: Record<string, unknown> }[]).find(
      ({ code }) => code === 'geofence_mismatch',
    )?.evidence.found

  it('is the first that was stated for the claim; a later submission does not override it', async () => {
    const first = await judge({ claim: { reference: 'G-1', loss_location: far } })
    const later = await judge({ claim: { reference: 'G-1', loss_location: PLACE } })
    const silent = await judge({ claim: { reference: 'G-1' } })
    for (const json of [first, later, silent]) expect(found(json)).toMatchObject({ loss_stated_by: 'claim' })
    expect(JSON.stringify(later)).not.toContain('48.137')
  })

  it('of the submission counts together with that of the claim', async () => {
    expect(found(await judge({ claim: { reference: 'G-2', loss_location: PLACE } }))).toBeUndefined()
    const later = await judge({ claim: { reference: 'G-2', loss_location: far } })
    expect(found(later)).toMatchObject({ loss_stated_by: 'submission' })
  })

  it('is compared whatever accuracy the position states, up to the value that counts as no fix', async () => {
    const claim = { reference: 'G-3', loss_location: far }
    const vague = await judge({ claim, gps: { ...GPS, accuracy_m: 20_000 } })
    expect(found(vague)).toMatchObject({ distance_metres: expect.any(Number) })
    expect(codesOf(vague)).not.toContain('gps_absent')
    const anywhere = await judge({ claim, gps: { ...GPS, accuracy_m: 1e7 } })
    expect(found(anywhere)).toBeUndefined()
    expect(evidenceOf(anywhere, 'gps_absent')).toMatchObject({ found: 'too inaccurate', accuracy_metres: 1e7 })
  })

  it('is re-evaluated from the stored facts, under another fence', async () => {
    await judge({ claim: { reference: 'G-4', loss_location: far } })
    const before = await judge({ claim: { reference: 'G-4', loss_location: PLACE } })
    await on.put(caller, { ...POLICY, geofence_m: 2_000 })
    await on.drain(caller)
    const after = await seen(before.attestation_id)
    expect(after).toMatchObject({ policy_version: 1 })
    expect(found(after)).toEqual(found(before))
    await on.put(caller, { ...POLICY, geofence_m: 2_000_000 })
    await on.drain(caller)
    expect(found(await seen(before.attestation_id))).toBeUndefined()
  })
})
