// The risk policy that an account sets, and its effect on claims: before it applies (a dry run) and after.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { attestFixture, BARE_PHOTO, codesOf, GPS, type Phone, PLACE, shoot } from '../claims/phone.ts'
import type { Caller } from '../claims/service.ts'
import { POLICY, type Reevaluating, startReevaluating } from '../reevaluate/service.ts'

const PATH = '/v1/account/risk-policy'

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

const get = async (path = '') => (await on.call(caller, `${PATH}${path}`)).json
const dryRun = async (body: object) =>
  (await on.call(caller, `${PATH}/dry-run`, { method: 'POST', json: { limit: 100, ...body } })).json
const claims = async () =>
  (await on.service.call(caller, '/v1/claims?limit=100')).json.data as Record<string, unknown>[]

describe('the risk policy', () => {
  it('has the default values until it is set', async () => {
    const { json, headers } = await on.call(caller, PATH)
    expect(json).toMatchObject({ version: 0, changed_at: null, changed_by: null, document: POLICY })
    expect(headers.etag).toBe('"0"')
    expect(await get('/versions')).toMatchObject({ data: [], has_more: false })
  })

  it('keeps every version, and who made it', async () => {
    const first = await on.put(caller, { ...POLICY, require_gps: true })
    expect(first.headers.etag).toBe('"1"')
    expect(first.json).toMatchObject({
      version: 1,
      document: { require_gps: true },
      changed_by: { type: 'key', id: expect.stringMatching(/^key_test_/) },
    })
    // Setting the same values again is not a change.
    expect((await on.put(caller, { ...POLICY, require_gps: true })).json).toEqual(first.json)
    const { require_session_nonce: _, ...without } = POLICY
    expect((await on.put(caller, { ...without, geofence_m: 250.5 })).json).toMatchObject({
      version: 2,
      document: { require_session_nonce: false, geofence_m: 250.5 },
    })
    const page = await get('/versions?limit=1')
    expect(page).toMatchObject({ data: [{ version: 2 }], has_more: true })
    expect(await get(`/versions?limit=1&cursor=${page.next_cursor}`)).toMatchObject({
      data: [first.json],
      has_more: false,
    })
    expect(await get('/versions/1')).toEqual(first.json)
    expect(await get('/versions/0')).toMatchObject({ version: 0, document: POLICY })
    for (const unknown of ['3', 'one']) expect((await on.call(caller, `${PATH}/versions/${unknown}`)).status).toBe(404)
    const other = await on.makeCaller()
    expect((await on.call(other, PATH)).json).toMatchObject({ version: 0 })
  })

  it('accepts one of two concurrent changes of the same version', async () => {
    const answers = await Promise.all(
      [100, 200, 300].map((geofence_m) => on.put(caller, { ...POLICY, geofence_m }, { 'If-Match': '"0"' })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412, 412])
    expect(answers.find(({ status }) => status === 412)).toMatchObject({
      json: { code: 'precondition_failed' },
      headers: { etag: '"1"' },
    })
    expect((await on.put(caller, { ...POLICY, geofence_m: 9 }, { 'If-Match': '"7", "1"' })).json.version).toBe(2)
    expect((await on.put(caller, { ...POLICY, geofence_m: 8 }, { 'If-Match': '*' })).json.version).toBe(3)
    expect((await on.put(caller, POLICY, { 'If-Match': 'W/"3"' })).json).toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: 'If-Match' }],
    })
  })

  it('is changed once by a repeated request', async () => {
    const put = (geofence_m: number) => on.put(caller, { ...POLICY, geofence_m }, { 'Idempotency-Key': 'one' })
    const first = await put(5)
    await on.put(caller, { ...POLICY, geofence_m: 6 })
    expect((await put(5)).json).toEqual(first.json)
    expect((await put(7)).json.code).toBe('idempotency_key_reused')
    expect(await get()).toMatchObject({ version: 2, document: { geofence_m: 6 } })
  })

  it.each([
    [{ ...POLICY, thresholds: { review: 51, failed: 50 } }, '/thresholds/review'],
    [{ ...POLICY, thresholds: { review: 0, failed: 1_001 } }, '/thresholds/failed'],
    [{ ...POLICY, thresholds: { review: 0.5, failed: 1 } }, '/thresholds/review'],
    [{ ...POLICY, geofence_m: -1 }, '/geofence_m'],
    [{ ...POLICY, geofence_m: 20_037_509 }, '/geofence_m'],
    [{ ...POLICY, require_gps: 'yes' }, '/require_gps'],
    [{ ...POLICY, require_video: true }, '/require_video'],
    [{ thresholds: POLICY.thresholds, geofence_m: 1 }, '/require_attestation'],
  ])('refuses %j', async (policy, pointer) => {
    for (const answer of [
      await on.put(caller, policy),
      await on.call(caller, `${PATH}/dry-run`, { method: 'POST', json: { document: policy } }),
    ]) {
      expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_request' } })
      expect(answer.json.errors?.map((error) => error.pointer.replace('/document', ''))).toContain(pointer)
    }
    expect(await get()).toMatchObject({ version: 0 })
  })

  it('needs a key with the scope admin', async () => {
    const { accountId, environment } = caller
    const weak = on.service.addKey({ accountId, environment, scopes: ['attest', 'verify', 'escalate'] })
    for (const [method, path, json] of [
      ['GET', PATH],
      ['PUT', PATH, { document: POLICY }],
      ['GET', `${PATH}/versions`],
      ['GET', `${PATH}/versions/0`],
      ['POST', `${PATH}/dry-run`, { document: POLICY }],
      ['GET', '/v1/account/reevaluations'],
      ['GET', '/v1/account/reevaluations/ree_test_01m7x7ere1ey09f3faaz5qa7a5'],
    ] as const) {
      const sent = { method, ...(json === undefined ? {} : { json }) }
      expect((await on.call({}, path, sent)).status, path).toBe(401)
      expect((await on.call({ key: weak }, path, sent)).json.code, path).toBe('insufficient_scope')
    }
    const unknown = 'att_test_01m7x7ere1ey09f3faaz5qa7a5'
    expect((await on.call(caller, `/v1/attestations/${unknown}/results`)).status).toBe(404)
    expect((await on.call(caller, `/v1/attestations/${unknown.replace('test', 'live')}/results`)).status).toBe(403)
    expect((await on.call(caller, '/v1/account/reevaluations/ree_test_1')).status).toBe(404)
    expect((await on.call(caller, '/v1/account/reevaluations?cause=weather')).status).toBe(400)
    expect((await dryRun({ document: POLICY, cursor: 'x' })).errors?.[0]?.pointer).toBe('?cursor')
    expect((await dryRun({ document: POLICY, limit: 501 })).status).toBe(400)
    const huge = { ...POLICY, note: 'x'.repeat(2 ** 20) }
    expect((await on.put(caller, huge)).status).toBe(413)
  })
})

/** Claims of every kind that a policy distinguishes. */
async function fill(): Promise<void> {
  const near = { lat: PLACE.lat + 0.005, lng: PLACE.lng }
  const located = (reference: string, body: object) => ({ ...body, claim: { reference, loss_location: near } })
  const bodies = [
    shoot(phone),
    shoot(phone, { gps: undefined }),
    shoot(phone, { biometric: undefined }),
    shoot(phone, { gps: { ...GPS, mock: true } }),
    located('near', shoot(phone)),
    located('near', shoot(phone, { biometric: undefined })),
    located('vague', shoot(phone, { gps: { ...GPS, accuracy_m: 400 } })),
    shoot(phone, { photo: BARE_PHOTO }),
    { ...shoot(phone), bundle: undefined, signature: undefined, certificate_chain: undefined },
  ]
  for (const body of bodies) {
    const { json } = await on.service.attest(caller, body)
    await on.service.run(String(json.attestation_id))
  }
}

describe('a dry run', () => {
  it.each([
    ['asks for everything', { require_attestation: true, require_biometric: true, require_gps: true }],
    ['fences closer', { geofence_m: 200 }],
    ['fences as far as the vague one reaches', { geofence_m: 160 }],
    ['fences nothing', { geofence_m: 20_037_508 }],
    ['weighs otherwise', { thresholds: { review: 41, failed: 71 } }],
    ['fails everybody', { thresholds: { review: 0, failed: 0 } }],
    ['asks for nonces', { require_session_nonce: true, thresholds: { review: 25, failed: 110 } }],
  ])('reports exactly the changes of a policy that %s, and changes nothing', async (_, changes) => {
    const policy = { ...POLICY, ...changes }
    await fill()
    const before = await claims()
    const untouched = await on.service.fingerprint()
    const foretold = await dryRun({ document: policy })
    expect(await on.service.fingerprint()).toBe(untouched)
    expect(foretold).toMatchObject({ looked: 8, unknown: 0, has_more: false, next_cursor: null })

    await on.put(caller, policy)
    await on.drain(caller)
    const codes = (claim: Record<string, unknown> | undefined, member: string) => claim?.[member] as string[]
    const told = (claim: Record<string, unknown> | undefined) => {
      const { risk_status, risk_score, provenance_status } = claim ?? {}
      return { risk_status, risk_score, provenance_status }
    }
    const changed = (await claims()).flatMap((after) => {
      const was = before.find(({ claim_id }) => claim_id === after.claim_id)
      const difference = (member: string) => ({
        added: codes(after, member).filter((code) => !codes(was, member).includes(code)),
        removed: codes(was, member).filter((code) => !codes(after, member).includes(code)),
      })
      const [factors, advisories] = [difference('factor_codes'), difference('advisory_codes')]
      const change = {
        claim_id: after.claim_id,
        reference: after.reference,
        before: told(was),
        after: told(after),
        added_factors: factors.added,
        removed_factors: factors.removed,
        added_advisories: advisories.added,
        removed_advisories: advisories.removed,
      }
      const isSame = JSON.stringify([told(was), was?.factor_codes, was?.advisory_codes])
      return isSame === JSON.stringify([told(after), after.factor_codes, after.advisory_codes]) ? [] : [change]
    })
    expect(foretold.data).toEqual(changed)
    expect(foretold.would_change).toBe(changed.length)
    // No further change is left.
    expect(await dryRun({ document: policy })).toMatchObject({ looked: 8, would_change: 0, data: [] })
  })

  it('continues where it stopped, within its range', async () => {
    await fill()
    const policy = { ...POLICY, thresholds: { review: 0, failed: 0 } }
    const whole = await dryRun({ document: policy })
    const pages: unknown[] = []
    let looked = 0
    for (let cursor: unknown; ; ) {
      const page = await dryRun({ document: policy, limit: 3, cursor })
      pages.push(...(page.data as unknown[]))
      looked += Number(page.looked)
      cursor = page.next_cursor ?? undefined
      if (cursor === undefined) break
      // The cursor is refused for another question.
      expect((await dryRun({ document: POLICY, cursor })).status).toBe(400)
    }
    expect(pages).toEqual(whole.data)
    expect(looked).toBe(whole.looked)
    const [newest] = await claims()
    expect(await dryRun({ document: policy, created_gte: newest?.created_at })).toMatchObject({ looked: 1 })
    expect(await dryRun({ document: policy, created_lt: '2020-01-01T00:00:00Z' })).toMatchObject({
      looked: 0,
      data: [],
    })
  })

  it('reports claims that only their photo could decide as unknown', async () => {
    await fill()
    await on.service.test.owner("UPDATE attestations SET rules_version = '0' WHERE account_id = $1", [caller.accountId])
    expect(await dryRun({ document: { ...POLICY, require_gps: true } })).toMatchObject({
      looked: 8,
      unknown: 8,
      data: [],
    })
  })

  it('omits erased claims, as the change itself does', async () => {
    await fill()
    const erase = `UPDATE attestations SET erased_at = now(), facts = NULL WHERE account_id = $1`
    await on.service.test.owner(erase, [caller.accountId])
    const before = await claims()
    const policy = { ...POLICY, thresholds: { review: 0, failed: 0 } }
    expect(await dryRun({ document: policy })).toMatchObject({ looked: 8, unknown: 0, would_change: 0 })
    await on.put(caller, policy)
    await on.drain(caller)
    expect(await claims()).toEqual(before)
  })
})

describe('a result', () => {
  it('names the policy version that it was evaluated by, and new captures follow the newest', async () => {
    await on.put(caller, { ...POLICY, require_attestation: true, require_gps: true })
    const bare = await on.service.judge(caller, {
      ...shoot(phone),
      bundle: undefined,
      signature: undefined,
      certificate_chain: undefined,
    })
    expect(bare).toMatchObject({ policy_version: 1, risk_score: 60 })
    expect(codesOf(bare)).toEqual(['no_manifest'])
    const asked = ['carrier_policy_attestation_missing', 'carrier_policy_gps_missing']
    expect(codesOf(bare, 'advisory_factors')).toEqual(expect.arrayContaining(asked))
    expect(codesOf(bare, 'advisory_factors')).not.toContain('carrier_policy_biometric_missing')
  })
})
