// The standing of a claim follows from its attestations. Each change emits one event, also under concurrency.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import { until } from '../../support/until.ts'
import { attestFixture, type Phone, shoot } from './phone.ts'
import { type Caller, type Service, startService } from './service.ts'

let service: Service
let caller: Caller
let phone: Phone
const reference = 'C-1'

beforeAll(async () => {
  service = await startService()
})
afterAll(() => service.close())
beforeEach(async () => {
  ;({ caller, phone } = await attestFixture({ service }))
})

const shots = {
  /** 40, review, verified. */
  honest: () => shoot(phone, { claim: { reference } }),
  /** 40 and 10: failed, still verified. */
  ungated: () => shoot(phone, { claim: { reference }, biometric: undefined }),
  /** 40 and 20: failed, attested_unverified. */
  unknownDevice: () => shoot({ device: phone.device, id: 'somebody' }, { claim: { reference } }),
  /** 60: failed, unattested. */
  bare: () => ({ media_type: 'image', media: shoot(phone).media, claim: { reference } }),
  /** 40 and 50: failed, broken. */
  exchanged: () =>
    shoot(phone, { claim: { reference }, bundle: (bundle) => ({ ...bundle, sensor_hash: '0'.repeat(64) }) }),
}
type Shot = keyof typeof shots

const claim = async () => {
  const { json } = await service.call(caller, `/v1/claims?reference=${reference}`)
  return (json.data as Record<string, unknown>[])[0] ?? {}
}
const standing = async () => {
  const { risk_score, risk_status, provenance_status } = await claim()
  return [risk_score, risk_status, provenance_status]
}
const told = async () => (await service.events(caller)).map(({ type }) => type)
const changes = async () =>
  (await service.events(caller)).flatMap(({ type, data }) => (type === 'claim.provenance_updated' ? [data] : []))

describe('attestations settled one after the other', () => {
  it('keep the codes of an earlier screening, and show the codes of bytes that were screened', async () => {
    const shot = shots.honest()
    const { json } = await service.attest(caller, shot)
    const evidence = { compared: 'c', expected: 'e', found: 1 }
    await service.test.owner('UPDATE claims SET advisory_codes = $2 WHERE id = $1', [
      json.claim_id,
      ['deepfake_likely'],
    ])
    await service.test.owner(
      `INSERT INTO screenings (account_id, environment, id, media_id, media_sha256, job_id, status, detector,
         detector_version, thresholds, genai_score, factors, completed_at)
       SELECT account_id, environment, $2, id, sha256, gen_random_uuid(), 'scored', 'http', '1', '{}', 1, $3, now()
       FROM media WHERE id = $1`,
      [json.media_id, newId('scr', 'sandbox'), JSON.stringify([{ code: 'ai_generated_likely', evidence }])],
    )
    await service.run(String(json.attestation_id))
    const found = await service.call(caller, `/v1/attestations/${json.attestation_id}`)
    expect(found.json.advisory_factors).toContainEqual({ code: 'ai_generated_likely', evidence })
    expect(found.json.risk_score).toBe(40)
    expect((await claim()).advisory_codes).toEqual(expect.arrayContaining(['ai_generated_likely', 'deepfake_likely']))
  })

  it('combine to the highest score, the worst provenance, and all codes', async () => {
    const steps: [Shot, unknown[]][] = [
      ['honest', [40, 'review', 'verified']],
      ['unknownDevice', [60, 'failed', 'attested_unverified']],
      ['honest', [60, 'failed', 'attested_unverified']],
      ['bare', [60, 'failed', 'unattested']],
      ['exchanged', [90, 'failed', 'broken']],
      ['ungated', [90, 'failed', 'broken']],
    ]
    for (const [shot, expected] of steps) {
      await service.judge(caller, shots[shot]())
      expect(await standing()).toEqual(expected)
    }
    expect((await claim()).factor_codes).toEqual([
      'no_manifest',
      'sensor_hash_mismatch',
      'hardware_backing_absent',
      'device_not_enrolled',
      'biometric_absent',
    ])
    expect(await told()).toEqual([
      'attestation.created',
      'claim.provenance_updated',
      'attestation.created',
      'claim.provenance_updated',
      'claim.escalated',
      'attestation.created',
      'attestation.created',
      'claim.provenance_updated',
      'attestation.created',
      'claim.provenance_updated',
      'attestation.created',
    ])
  })

  it('emit for each change the state before and after, and the factors that it added', async () => {
    await service.judge(caller, shots.honest())
    await service.judge(caller, shots.unknownDevice())
    const claim_id = (await claim()).claim_id
    expect(await changes()).toEqual([
      {
        claim_id,
        previous: { risk_status: 'pending', risk_score: null, provenance_status: null },
        current: { risk_status: 'review', risk_score: 40, provenance_status: 'verified' },
        added_factors: ['hardware_backing_absent'],
        removed_factors: [],
      },
      {
        claim_id,
        previous: { risk_status: 'review', risk_score: 40, provenance_status: 'verified' },
        current: { risk_status: 'failed', risk_score: 60, provenance_status: 'attested_unverified' },
        added_factors: ['device_not_enrolled'],
        removed_factors: [],
      },
    ])
    const escalations = (await service.events(caller)).filter(({ type }) => type === 'claim.escalated')
    const factor_codes = ['hardware_backing_absent', 'device_not_enrolled']
    expect(escalations.map(({ data }) => data)).toEqual([{ claim_id, risk_score: 60, factor_codes }])
  })

  it('emit no event for a code that changes neither score nor provenance', async () => {
    await service.judge(caller, shots.exchanged())
    const before = await told()
    await service.judge(caller, shots.ungated())
    expect((await claim()).factor_codes).toContain('biometric_absent')
    expect(await told()).toEqual([...before, 'attestation.created'])
  })

  it('raise a factor far from the claim’s loss, also when another capture stated the loss', async () => {
    const far = { reference, loss_location: { lat: 0, lng: 0 } }
    await service.attest(caller, shoot(phone, { claim: far }))
    const json = await service.judge(caller, shots.honest())
    expect(json.advisory_factors).toMatchObject([{ code: 'geofence_mismatch' }, { code: 'c2pa_absent' }])
    expect(json.risk_score).toBe(40)
    expect((await claim()).advisory_codes).toEqual(['geofence_mismatch', 'c2pa_absent'])
  })
})

describe('attestations settled concurrently', () => {
  it('lose no change and emit no event twice', async () => {
    const names = Object.keys(shots) as Shot[]
    const bodies = Array.from({ length: 40 }, (_, index) => shots[names[index % names.length] ?? 'honest']())
    await service.test.owner(`INSERT INTO queues (queue, paused_at) VALUES ('attest', now())`)
    await Promise.all(bodies.map((body) => service.attest(caller, body)))
    const workers = await Promise.all([1, 2, 3].map(() => service.startWorker({ concurrency: 8 })))
    await service.test.owner('DELETE FROM queues')
    await until(async () => {
      const [row] = await service.test.owner<{ open: number }>(
        `SELECT count(*)::int AS open FROM attestations WHERE status = 'queued' AND account_id = $1`,
        [caller.accountId],
      )
      return row?.open === 0
    })
    await Promise.all(workers.map((worker) => worker.close(5_000)))

    expect(await standing()).toEqual([90, 'failed', 'broken'])
    const types = await told()
    expect(types.filter((type) => type === 'attestation.created')).toHaveLength(40)
    expect(types.filter((type) => type === 'claim.escalated')).toHaveLength(1)
    // Each event begins where another ended: from nothing to the end, through all of them.
    const all = await changes()
    const ends = [
      { risk_status: 'pending', risk_score: null, provenance_status: null },
      ...all.map(({ current }) => current),
    ]
    const starts = [
      ...all.map(({ previous }) => previous),
      { risk_status: 'failed', risk_score: 90, provenance_status: 'broken' },
    ]
    const texts = (standings: unknown[]) =>
      standings.map((one) => JSON.stringify(Object.entries(one as object).sort())).sort()
    expect(texts(starts)).toEqual(texts(ends))
    expect(new Set(texts(starts)).size).toBe(starts.length)
    const added = all.flatMap(({ added_factors }) => added_factors as string[])
    expect(new Set(added).size).toBe(added.length)
  })
})
