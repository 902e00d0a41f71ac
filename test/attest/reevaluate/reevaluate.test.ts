// Re-evaluation over real claims: results are replaced and kept, claims change, and every change is emitted once.

import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createChallenges } from '#src/attest/devices/challenges.ts'
import { takeList } from '#src/attest/hardware/list-rows.ts'
import type { RevocationSnapshot } from '#src/attest/hardware/revocations.ts'
import { readExpectedApps, readVendorRoots } from '#src/attest/hardware/roots.ts'
import { createListApplier } from '#src/attest/reevaluate/list.ts'
import { createVendor } from '../../../capture-kit/vendor.ts'
import { startConsuming } from '../../support/jobs.ts'
import { until } from '../../support/until.ts'
import { attestFixture, BARE_PHOTO, codesOf, evidenceOf, makePhone, type Phone, shoot } from '../claims/phone.ts'
import type { Caller } from '../claims/service.ts'
import { POLICY, type Reevaluating, startReevaluating } from './service.ts'

const vendor = await createVendor({ now: () => new Date() })
const GPS_OF_LOSS = { lat: 52.5, lng: 13.4 }
let list: RevocationSnapshot = 'off'
let on: Reevaluating
let caller: Caller
let phone: Phone

beforeAll(async () => {
  on = await startReevaluating({
    roots: readVendorRoots(vendor.roots.split(',')),
    apps: readExpectedApps(vendor.apps.split(',')),
    revocations: async () => list,
  })
})
afterAll(() => on?.close())
beforeEach(async () => {
  list = 'off'
  ;({ caller, phone } = await attestFixture({ service: on.service, row: { scopes: ['all'] } }))
})

async function judge(body: object): Promise<Record<string, unknown>> {
  const { json, text } = await on.service.attest(caller, body)
  if (typeof json.attestation_id !== 'string') throw new Error(text)
  await on.service.run(json.attestation_id)
  return seen(json.attestation_id)
}
const seen = async (id: unknown) => (await on.service.call(caller, `/v1/attestations/${id}`)).json
const claimOf = async ({ claim_id }: Record<string, unknown>) =>
  (await on.service.call(caller, `/v1/claims/${claim_id}`)).json
const events = async () => (await on.service.events(caller)).map(({ type }) => type)
const pastOf = async ({ attestation_id }: Record<string, unknown>) =>
  (await on.call(caller, `/v1/attestations/${attestation_id}/results`)).json.data as Record<string, unknown>[]
const revoke = (effectiveAt?: Date) =>
  on.service.devices.revoke(caller, phone.id ?? '', {
    reason: 'lost',
    ...(effectiveAt === undefined ? {} : { effective_at: effectiveAt.toISOString() }),
  })
const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000)
/** Everything that a caller could see changed. */
const fingerprint = () => on.service.fingerprint()
const progress = async (id: unknown) => (await on.call(caller, `/v1/account/reevaluations/${id}`)).json
const latest = async () =>
  ((await on.call(caller, '/v1/account/reevaluations')).json.data as Record<string, unknown>[])[0] ?? {}

describe('a revoked device', () => {
  it('fails captures accepted since it was compromised: result, claim, events and case, each once', async () => {
    const before = await judge(shoot(phone))
    expect(before).toMatchObject({ risk_score: 40, risk_status: 'review' })
    const known = await events()
    await revoke(ago(10))
    await on.drain(caller)

    const after = await seen(before.attestation_id)
    expect(after).toMatchObject({ risk_score: 120, risk_status: 'failed', provenance_status: 'broken' })
    expect(codesOf(after)).toEqual(['device_revoked', 'hardware_backing_absent'])
    expect(after.accepted_at).toBe(before.accepted_at)
    expect(await claimOf(before)).toMatchObject({ risk_score: 120, risk_status: 'failed', case_id: expect.any(String) })
    expect((await events()).slice(known.length)).toEqual(['claim.provenance_updated', 'claim.escalated'])
    const [updated, escalated] = (await on.service.events(caller)).slice(-2)
    expect(updated?.data).toEqual({
      claim_id: before.claim_id,
      previous: { risk_status: 'review', risk_score: 40, provenance_status: 'verified' },
      current: { risk_status: 'failed', risk_score: 120, provenance_status: 'broken' },
      added_factors: ['device_revoked'],
      removed_factors: [],
    })
    expect(escalated?.data.case_id).toBe((await claimOf(before)).case_id)

    // The first result is still there, with its signature.
    const reevaluation = await latest()
    expect(reevaluation).toMatchObject({
      cause: 'device_revoked',
      device_id: phone.id,
      status: 'succeeded',
      changed: 1,
    })
    expect(await pastOf(before)).toMatchObject([
      { number: 1, risk_score: 40, result_jws: before.result_jws, replaced_for: [reevaluation.reevaluation_id] },
    ])
    expect(decodeJwt(String(after.result_jws))).toMatchObject({ risk_score: 120, accepted_at: before.accepted_at })
  })

  it('leaves captures accepted before it was compromised unchanged', async () => {
    const before = await judge(shoot(phone))
    await revoke(new Date())
    await on.drain(caller)
    expect(await seen(before.attestation_id)).toEqual(before)
    expect(await latest()).toMatchObject({ status: 'succeeded', touched: 0, looked: 0 })
  })

  it('is found by its key, under any name in the bundle', async () => {
    const other = await makePhone(on.service, caller, { name: 'Other' })
    const before = await judge(shoot({ device: phone.device, id: other.id }))
    expect(codesOf(before)).toContain('device_not_enrolled')
    await revoke(ago(10))
    await on.drain(caller)
    const after = codesOf(await seen(before.attestation_id))
    expect(after).toContain('device_revoked')
    expect(after).not.toContain('device_not_enrolled')
  })

  it('adds an entry to a closed case, and leaves it closed', async () => {
    const before = await judge({ ...shoot(phone, { gps: undefined }), claim: { reference: 'closed' } })
    const { case_id: caseId } = await claimOf(before)
    await on.service.test.owner(
      `UPDATE cases SET state = 'approved', reason_code = 'consistent', closed_at = now(), due_at = NULL WHERE id = $1`,
      [caseId],
    )
    await revoke(ago(10))
    await on.drain(caller)
    expect(await claimOf(before)).toMatchObject({ risk_score: 150, case_id: null })
    const [found] = await on.service.test.owner<{ at: Date | null }>(
      'SELECT claim_changed_at AS at FROM cases WHERE id = $1',
      [caseId],
    )
    expect(found?.at).toBeInstanceOf(Date)
    const entries = await on.service.test.owner<{ kind: string; changes: object[] }>(
      'SELECT kind, changes FROM case_entries WHERE case_id = $1 ORDER BY seq DESC',
      [caseId],
    )
    expect(entries[0]).toMatchObject({
      kind: 'changed',
      changes: [
        { field: 'risk_score', from: '70', to: '150' },
        { field: 'provenance_status', from: 'verified', to: 'broken' },
      ],
    })
    expect((await on.service.events(caller)).filter(({ type }) => type === 'claim.escalated')).toHaveLength(1)
  })

  it('waits for evaluations that ran during the revocation, which may not have seen it', async () => {
    const { json } = await on.service.attest(caller, shoot(phone))
    const id = String(json.attestation_id)
    const held = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    const slow = on.service.makeVerify({
      async signRecord(...args) {
        reached.resolve()
        await held.promise
        return on.service.signRecord(...args)
      },
    })
    const running = on.service.run(id, slow)
    await reached.promise
    await revoke(ago(10))
    await on.walk(caller)
    await on.walk(caller)
    expect(await latest()).toMatchObject({ status: 'running', looked: 0 })
    held.resolve()
    await running
    expect(codesOf(await seen(id))).not.toContain('device_revoked')
    await on.drain(caller)
    expect(codesOf(await seen(id))).toContain('device_revoked')
    expect((await events()).filter((type) => type === 'attestation.created')).toHaveLength(1)
  })
})

describe('a list of revoked keys', () => {
  const accounts = {
    async *walk() {
      yield { id: caller.accountId }
    },
  }
  const apply = () => createListApplier({ db: on.service.test.db, accounts })()

  async function publish(entries: Record<string, string>): Promise<number> {
    list = { entries: new Map(Object.entries(entries)), fetchedAt: new Date() }
    await on.service.test.owner(
      `INSERT INTO revocation_lists (name, url, entries, digest, changed_at, fetched_at, attempted_at)
       VALUES ('android', 'u', $1::jsonb, sha256($1::jsonb::text::bytea), now(), now(), now()) ON CONFLICT (name) DO UPDATE
       SET entries = excluded.entries, digest = excluded.digest, changed_at = now(), fetched_at = now()`,
      [JSON.stringify(entries)],
    )
    return apply()
  }

  it('lowers the tier of captures evaluated before it, and a corrected list restores it', async () => {
    const { challenges } = await createChallenges({ db: on.service.test.db, now: () => new Date() }).issue(caller, 1)
    const challenge = challenges[0]?.challenge ?? ''
    const request = { publicKey: phone.device.publicKey, challenge: Buffer.from(challenge, 'base64url') }
    const chain = await vendor.attestAndroid({ ...request, userAuthType: 2 })
    const evidence = { format: 'android-key', challenge, chain: chain.map((der) => der.toString('base64')) } as const
    await on.service.devices.attest(caller, phone.id ?? '', evidence)
    const [device] = await on.service.test.owner<{ serials: string[] }>(
      'SELECT attestation_serials AS serials FROM devices WHERE id = $1',
      [phone.id],
    )
    const serial = device?.serials[0] ?? ''
    expect(await publish({ ab: 'REVOKED' })).toBe(1)
    const before = await judge(shoot(phone))
    expect(before).toMatchObject({ risk_score: 0, hardware_tier: 'tee' })
    await on.drain(caller)
    expect(await seen(before.attestation_id)).toEqual(before)

    expect(await publish({ ab: 'REVOKED', [serial]: 'REVOKED' })).toBe(1)
    expect(await apply()).toBe(0)
    await on.drain(caller)
    const listed = await seen(before.attestation_id)
    expect(listed).toMatchObject({ risk_score: 40, hardware_tier: 'none' })
    expect(evidenceOf(listed, 'hardware_backing_absent')).toMatchObject({ why: 'vendor_key_revoked', serial })

    expect(await publish({ ab: 'REVOKED' })).toBe(1)
    await on.drain(caller)
    expect(await seen(before.attestation_id)).toMatchObject({ risk_score: 0, hardware_tier: 'tee', factors: [] })
    // A list from another source: until it is fetched, nothing counts.
    const elsewhere = { name: 'android', url: 'v' }
    await on.service.test.db.system('test', (tx) => takeList(tx, elsewhere, { everySeconds: 0, retrySeconds: 0 }))
    list = 'never_fetched'
    expect(await apply()).toBe(0)
    const meanwhile = await judge(shoot(phone))
    expect(meanwhile).toMatchObject({ risk_score: 40 })
    expect(await publish({ ab: 'REVOKED' })).toBe(1)
    await on.drain(caller)
    expect(await seen(meanwhile.attestation_id)).toMatchObject({ risk_score: 0 })
    expect(await pastOf(before)).toMatchObject([
      { number: 2, risk_score: 40 },
      { number: 1, risk_score: 0 },
    ])
  })
})

describe('a re-evaluation', () => {
  it('without new knowledge changes nothing and emits nothing', async () => {
    const session = await on.service.captures.issue(caller, { count: 1 })
    const bodies = [
      shoot(phone, { gps: undefined, biometric: undefined }),
      shoot(phone, { bundle: (bundle) => ({ ...bundle, session_nonce: session.sessions[0]?.session_nonce }) }),
      shoot(phone, { bundle: (bundle) => ({ ...bundle, session_nonce: 'never-issued' }) }),
      shoot(phone, { photo: BARE_PHOTO }),
      { ...shoot(phone), bundle: undefined, signature: undefined, certificate_chain: undefined },
    ]
    const attestationIds: string[] = []
    for (const body of bodies) attestationIds.push(String((await judge(body)).attestation_id))
    const before = await fingerprint()
    const standing = await Promise.all(attestationIds.map(seen))
    const id = await on.request(caller, { cause: 'requested', attestationIds, key: 'twice' })
    expect(await on.request(caller, { cause: 'requested', attestationIds, key: 'twice' })).toBeUndefined()
    await on.drain(caller)
    expect(await progress(id)).toMatchObject({ status: 'succeeded', touched: 5, unchanged: 5, changed: 0, pending: 0 })
    await on.service.test.owner(`DELETE FROM jobs WHERE queue = 'reevaluate' AND account_id = $1`, [caller.accountId])
    expect(await fingerprint()).toBe(before)
    expect(await Promise.all(attestationIds.map(seen))).toEqual(standing)
  })

  it('reads the photo again when the result is of other rules, and is skipped when the photo is erased', async () => {
    const before = await judge(shoot(phone, { gps: undefined }))
    const id = String(before.attestation_id)
    await on.service.test.owner("UPDATE attestations SET rules_version = '0' WHERE id = $1", [id])
    const first = await on.request(caller, { cause: 'requested', attestationIds: [id], key: 'a' })
    await on.drain(caller)
    expect(await progress(first)).toMatchObject({ unchanged: 1 })
    await on.service.test.owner(`UPDATE media SET state = 'erased', erased_at = now() WHERE id = $1`, [before.media_id])
    const second = await on.request(caller, { cause: 'requested', attestationIds: [id], key: 'b' })
    await on.drain(caller)
    expect(await progress(second)).toMatchObject({ skipped: 1, unchanged: 0 })
    expect(await seen(id)).toEqual({ ...before, rules_version: '0' })
  })

  it('considers all captures of the claim: what one loses, another may still have', async () => {
    const one = await judge({ ...shoot(phone, { gps: undefined }), claim: { reference: 'two' } })
    await judge({ ...shoot(phone, { biometric: undefined }), claim: { reference: 'two' } })
    expect(await claimOf(one)).toMatchObject({ risk_score: 70, risk_status: 'failed' })
    await on.put(caller, { ...POLICY, thresholds: { review: 60, failed: 90 } })
    await on.drain(caller)
    expect(await claimOf(one)).toMatchObject({ risk_score: 70, risk_status: 'review' })
    expect((await claimOf(one)).factor_codes).toEqual(['hardware_backing_absent', 'gps_absent', 'biometric_absent'])
    const last = (await on.service.events(caller)).at(-1)
    expect(last).toMatchObject({
      type: 'claim.provenance_updated',
      data: { previous: { risk_status: 'failed' }, current: { risk_status: 'review' }, added_factors: [] },
    })
    // Each crossing is emitted: down is no escalation, and up again is one more.
    await on.put(caller, POLICY)
    await on.drain(caller)
    expect((await events()).filter((type) => type === 'claim.escalated')).toHaveLength(2)
  })

  it('is reported as failed, and can be retried', async () => {
    const before = await judge(shoot(phone))
    const id = String(before.attestation_id)
    const reevaluation = await on.request(caller, { cause: 'requested', attestationIds: [id], key: 'dead' })
    await on.walk(caller)
    const [job = ''] = await on.jobs.of(id)
    const taken = await on.jobs.take(job)
    await on.jobs.kill(taken, on.reevaluate)
    await on.drain(caller)
    expect(await progress(reevaluation)).toMatchObject({ status: 'succeeded', failed: 1, pending: 0 })
    expect(await seen(id)).toEqual(before)
    await on.jobs.redrive(taken, on.reevaluate)
    expect(await progress(reevaluation)).toMatchObject({ status: 'running', failed: 0, pending: 1 })
    await on.drain(caller)
    expect(await progress(reevaluation)).toMatchObject({ status: 'succeeded', failed: 0, unchanged: 1 })
  })
})

describe('concurrent changes', () => {
  /** Takes the jobs of attestations, without running them. */
  async function takeAll() {
    const jobs = await on.service.test.owner<{ id: string }>(
      `SELECT id FROM jobs WHERE account_id = $1 AND queue = 'reevaluate' AND payload ? 'attestationId'
         AND state = 'queued' ORDER BY created_at`,
      [caller.accountId],
    )
    return Promise.all(jobs.map(({ id }) => on.jobs.take(id)))
  }

  it('emit once for two causes of one attestation that are evaluated concurrently', async () => {
    const before = await judge(shoot(phone))
    const id = String(before.attestation_id)
    await revoke(ago(10))
    await on.put(caller, { ...POLICY, require_session_nonce: true })
    await on.walk(caller)
    const jobs = await takeAll()
    expect(jobs).toHaveLength(2)
    const known = (await events()).length
    const outcomes = await Promise.all(jobs.map((job) => on.jobs.run(job, on.reevaluate)))
    expect(outcomes.every((kind) => kind === 'settled' || kind === 'done')).toBe(true)
    await on.drain(caller)
    expect((await events()).slice(known)).toEqual(['claim.provenance_updated', 'claim.escalated'])
    expect(await seen(id)).toMatchObject({ risk_score: 190, policy_version: 1 })
    expect(await pastOf(before)).toHaveLength(1)
    const { data } = (await on.call(caller, '/v1/account/reevaluations')).json
    for (const one of data as object[]) expect(one).toMatchObject({ status: 'succeeded', touched: 1, pending: 0 })
  })

  it('are overruled by an erasure: the result stays, and no erased data comes back', async () => {
    const before = await judge({ ...shoot(phone), claim: { reference: 'gone', loss_location: GPS_OF_LOSS } })
    const id = String(before.attestation_id)
    await revoke(ago(10))
    await on.walk(caller)
    const [job] = await takeAll()
    if (job === undefined) throw new Error('no job re-evaluates the attestation')
    const { owner } = on.service.test
    const { erasure } = on.service.services.attest.erasure
    const slow = on.makeReevaluate({
      async signRecord(...args) {
        await erasure.erase(caller, String(before.claim_id), { requestId: 'req_x' })
        return on.service.signRecord(...args)
      },
    })
    const known = (await events()).length
    expect(await on.jobs.run(job, slow)).toBe('settled')
    expect(await seen(id)).toMatchObject({ result_jws: before.result_jws, erased_at: expect.any(String) })
    expect((await events()).slice(known)).toEqual([])
    expect(await owner('SELECT facts FROM attestations WHERE id = $1', [id])).toEqual([{ facts: null }])
    await on.drain(caller)
    expect(await latest()).toMatchObject({ status: 'succeeded', skipped: 1 })
  })

  it('end with the standing that follows from the facts, and each event once', async () => {
    const worker = await on.service.startWorker({ concurrency: 8 })
    const consuming = await startConsuming(on.service.test, 'reevaluate', on.reevaluate, 8)
    const bodies = Array.from({ length: 12 }, (_, index) => ({
      ...shoot(phone, index % 2 === 0 ? { gps: undefined } : {}),
      claim: { reference: `race-${index % 4}` },
    }))
    const first = await Promise.all(bodies.slice(0, 6).map((body) => on.service.attest(caller, body, 'wait=20')))
    const [, , ...rest] = await Promise.all([
      revoke(ago(10)),
      on.put(caller, { ...POLICY, require_gps: true, thresholds: { review: 10, failed: 100 } }),
      ...bodies.slice(6).map((body) => on.service.attest(caller, body, 'wait=20')),
    ])
    const answers = [...first, ...rest.filter((one) => typeof one === 'object')]
    await until(async () => !(await on.isOpen(caller)))
    await worker.close(5_000)
    await consuming.close()
    for (const { json } of answers) {
      const after = await seen(json.attestation_id)
      // One that was judged between the two changes has the same result by both policies, unless it has no place.
      if (codesOf(after).includes('gps_absent')) expect(after.policy_version, String(after.advisory_factors)).toBe(1)
      expect(codesOf(after)).toContain('device_revoked')
      expect(codesOf(after).includes('gps_absent')).toBe(
        codesOf(after, 'advisory_factors').includes('carrier_policy_gps_missing'),
      )
    }
    const told = await on.service.events(caller)
    const created = told.filter(({ type }) => type === 'attestation.created')
    expect(new Set(created.map(({ data }) => data.attestation_id)).size).toBe(12)
    expect(created).toHaveLength(12)
    for (const claimId of new Set(created.map(({ data }) => data.claim_id))) {
      const ofClaim = told.filter(({ data, type }) => data.claim_id === claimId && type === 'claim.provenance_updated')
      // A chain without a gap: each event begins where the one before ended.
      for (const [index, { data }] of ofClaim.slice(1).entries()) {
        expect(data.previous).toEqual(ofClaim[index]?.data.current)
      }
      expect(ofClaim.at(-1)?.data.current).toMatchObject({ risk_status: 'failed' })
      const crossings = ofClaim.filter(
        ({ data }) =>
          (data.current as { risk_status: string }).risk_status === 'failed' &&
          (data.previous as { risk_status: string }).risk_status !== 'failed',
      )
      const escalated = told.filter(({ data, type }) => data.claim_id === claimId && type === 'claim.escalated')
      expect(escalated).toHaveLength(crossings.length)
    }
  })
})
