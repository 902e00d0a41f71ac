import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import { type EvidenceService, startEvidence } from './service.ts'

interface Shown {
  at: string
  kind: string
  subject_id: string
  by: object | null
  details: Record<string, unknown>
}

let evidence: EvidenceService
let claimId: string
beforeAll(async () => {
  evidence = await startEvidence()
  claimId = await evidence.judged('T-1')
  await evidence.judged('T-1', { bundle: (bundle) => ({ ...bundle, sensor_hash: '0'.repeat(64) }) })
})
afterAll(() => evidence?.close())

const read = async (query = '', caller: { key: string } = evidence.caller, id = claimId) =>
  evidence.service.call(caller, `/v1/claims/${id}/timeline${query}`)

describe('the timeline of a claim', () => {
  it('has captures, results, events and the steps of cases, newest first', async () => {
    const { status, json, text } = await read('?limit=100')
    expect(status, text).toBe(200)
    const moments = json.data as Shown[]
    expect(moments.map(({ at }) => at)).toEqual(
      moments
        .map(({ at }) => at)
        .toSorted()
        .reverse(),
    )
    const kinds = moments.map(({ kind }) => kind)
    expect([...new Set(kinds)].sort()).toEqual([
      'attestation.accepted',
      'attestation.evaluated',
      'case.opened',
      'claim.created',
      'claim.escalated',
      'claim.provenance_updated',
    ])
    expect(kinds.filter((kind) => kind === 'attestation.accepted')).toHaveLength(2)
    expect(moments.find(({ kind }) => kind === 'case.opened')).toMatchObject({
      subject_id: expect.stringMatching(/^cas_test_/),
      by: { type: 'service' },
      details: { to: 'open' },
    })
    expect(moments.find(({ kind }) => kind === 'attestation.evaluated')).toMatchObject({
      subject_id: expect.stringMatching(/^att_test_/),
      by: null,
      details: { risk_status: 'failed', replaced_at: null },
    })
    expect(moments.find(({ kind }) => kind === 'claim.escalated')?.details).not.toHaveProperty('claim_id')
  })

  it('comes in pages that omit nothing', async () => {
    const { json: whole } = await read('?limit=100')
    for (const limit of [1, 3]) {
      const seen: unknown[] = []
      for (let cursor = ''; ; ) {
        const { json } = await read(`?limit=${limit}${cursor}`)
        seen.push(...(json.data as Shown[]))
        if (json.has_more !== true) break
        cursor = `&cursor=${json.next_cursor}`
      }
      expect(seen).toEqual(whole.data)
    }
  })

  it('shows earlier results with the time at which they were replaced', async () => {
    const [first] = ((await read('?limit=100')).json.data as Shown[]).filter(
      ({ kind }) => kind === 'attestation.accepted',
    )
    await evidence.service.test.owner(
      `INSERT INTO attestation_results (account_id, environment, attestation_id, seq, evaluated_at, replaced_for,
         risk_status, risk_score, provenance_status, hardware_tier, rules_version, policy_version, result_jws)
       SELECT account_id, environment, id, 1, evaluated_at - interval '1 second', '{}', 'passed', 0, 'verified', 'none', 'r', 0, 'a.b.c'
       FROM attestations WHERE id = $1`,
      [first?.subject_id],
    )
    const results = ((await read('?limit=100')).json.data as Shown[]).filter(
      ({ kind, subject_id }) => kind === 'attestation.evaluated' && subject_id === first?.subject_id,
    )
    expect(results.map(({ details }) => details)).toMatchObject([
      { risk_status: 'failed', replaced_at: null },
      { risk_status: 'passed', replaced_at: expect.stringMatching(/^\d{4}-.*Z$/) },
    ])
  })

  it('is not shown to another account, nor with a cursor of another claim', async () => {
    const stranger = await evidence.service.makeCaller({ scopes: ['verify'] })
    expect((await read('', stranger)).status).toBe(404)
    expect((await read('', evidence.caller, newId('clm', 'sandbox'))).status).toBe(404)
    const { next_cursor: cursor } = (await read('?limit=1')).json
    const other = await evidence.judged('T-2')
    expect((await read(`?cursor=${cursor}`, evidence.caller, other)).json.errors).toMatchObject([
      { pointer: '?cursor', code: 'invalid_cursor' },
    ])
  })
})
