// A claim that fails gets its case together with the result that failed it; tested with the real worker on real rows.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CASE_SETTINGS } from '#src/attest/cases/config.ts'
import { createOpenCase } from '#src/attest/cases/escalation.ts'
import type { Scope } from '#src/platform/ids.ts'
import { attestFixture, type Phone, shoot } from '../claims/phone.ts'
import { type Service, startService } from '../claims/service.ts'
import { A, type Caller, type CaseService, startCases } from './service.ts'

describe('a claim that becomes failed', () => {
  let service: Service
  let caller: Awaited<ReturnType<Service['makeCaller']>>
  let phone: Phone
  const openCase = createOpenCase({ now: () => new Date(), settings: CASE_SETTINGS })

  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.close())
  beforeEach(async () => {
    ;({ caller, phone } = await attestFixture({ service }))
  })

  const failing = (more = {}) => shoot(phone, { gps: undefined, biometric: undefined, ...more })
  const casesOf = ({ accountId }: Scope) =>
    service.test.owner<{ id: string; claim_id: string; state: string; version: number }>(
      'SELECT id, claim_id, state, version FROM cases WHERE account_id = $1 ORDER BY id',
      [accountId],
    )

  it('has a case when its worker has settled, named in the event and on the claim', async () => {
    const worker = await service.startWorker({ work: service.makeVerify({ openCase }) })
    const { json } = await service.attest(caller, failing(), 'wait=20')
    expect(json).toMatchObject({ status: 'succeeded', risk_status: 'failed' })
    const [made, ...more] = await casesOf(caller)
    expect(more).toEqual([])
    expect(made).toMatchObject({ claim_id: json.claim_id, state: 'open', version: 1 })
    const escalations = (await service.events(caller)).filter(({ type }) => type === 'claim.escalated')
    expect(escalations.map(({ data }) => data)).toMatchObject([{ claim_id: json.claim_id, case_id: made?.id }])
    const claim = (await service.call(caller, `/v1/claims/${json.claim_id}`)).json
    expect(claim.case_id).toBe(made?.id)
    expect((await service.call(caller, '/v1/claims')).json.data).toMatchObject([{ case_id: made?.id }])
    await worker.close(5_000)
  })

  it('has one case, however many attestations fail it concurrently', async () => {
    const claim = { reference: 'many at once' }
    const ids: string[] = []
    for (let index = 0; index < 6; index++) {
      ids.push(String((await service.attest(caller, failing({ claim, externalId: `e-${index}` }))).json.attestation_id))
    }
    const verify = service.makeVerify({ openCase })
    await Promise.all(ids.map((id) => service.run(id, verify)))
    expect(await casesOf(caller)).toMatchObject([{ state: 'open', version: 1 }])
    const types = (await service.events(caller)).map(({ type }) => type)
    expect(types.filter((type) => type === 'claim.escalated')).toHaveLength(1)
  })

  it('has no case when the result was not settled, and none when cases are switched off', async () => {
    const { json } = await service.attest(caller, failing())
    const id = String(json.attestation_id)
    const early = await service.take(await service.jobOf(id))
    await service.take(await service.jobOf(id))
    await service.runJob(id, early, service.makeVerify({ openCase })).catch(() => {})
    expect(await casesOf(caller)).toEqual([])
    await service.run(id)
    expect(await casesOf(caller)).toEqual([])
    expect((await service.events(caller)).at(-1)).toMatchObject({ type: 'claim.escalated' })
    expect((await service.events(caller)).at(-1)?.data).not.toHaveProperty('case_id')
  })

  it('is noted in the case that it has with each change of its standing, in their order', async () => {
    const claim = { reference: 'noted' }
    const verify = service.makeVerify({ openCase })
    const first = await service.attest(caller, shoot(phone, { claim, externalId: 'noted-1' }))
    await service.run(String(first.json.attestation_id), verify)
    const key = service.addKey({ ...caller, scopes: ['escalate'] })
    const opening = { claim_id: first.json.claim_id, actor: 'a@example.com' }
    const made = await service.call({ key }, '/v1/cases', { json: opening })
    expect(made.status).toBe(200)
    const later = []
    for (const [index, more] of [{ biometric: undefined }, { gps: undefined }].entries()) {
      const { json } = await service.attest(caller, shoot(phone, { ...more, claim, externalId: `noted-${index + 2}` }))
      later.push(String(json.attestation_id))
    }
    for (const id of later) await service.run(id, verify)
    const entries = await service.test.owner<{ seq: number; kind: string; changes: { field: string }[] | null }>(
      'SELECT seq, kind, changes FROM case_entries WHERE case_id = $1 ORDER BY seq',
      [made.json.case_id],
    )
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1))
    expect(entries.map(({ kind }) => kind)).toEqual(['opened', 'escalated', 'changed'])
    expect(entries[2]?.changes?.map(({ field }) => field)).toContain('risk_score')
    expect(await casesOf(caller)).toMatchObject([{ version: 3 }])
  })

  it('has no case when it passes', async () => {
    await service.run(
      String((await service.attest(caller, shoot(phone))).json.attestation_id),
      service.makeVerify({ openCase }),
    )
    expect(await casesOf(caller)).toEqual([])
  })
})

describe('a case of a claim', () => {
  let service: CaseService
  let caller: Caller

  beforeAll(async () => {
    service = await startCases()
    caller = await service.makeCaller()
  })
  afterAll(() => service.close())

  const escalate = (claimId: string) =>
    service.test.db.tenant(caller, async (tx) => {
      await tx.query('SELECT 1 FROM claims WHERE id = $1 FOR UPDATE', [claimId])
      return service.openCase(tx, caller, claimId)
    })
  const readCase = async (id: string) => (await service.call(caller, `/v1/cases/${id}`)).json
  const entriesOf = async (id: string) =>
    (await service.call(caller, `/v1/cases/${id}/entries`)).json.data as { kind: string; by: object; version: number }[]

  it('that escalates again gets an entry and no second case, in every state', async () => {
    for (const state of ['open', 'in_review', 'info_requested', 'escalated', 'approved', 'withdrawn']) {
      const { id, claimId } = await service.makeCase(caller, state)
      const { version } = await readCase(id)
      expect(await escalate(claimId)).toBe(id)
      expect(await readCase(id)).toMatchObject({ status: state, version: Number(version) + 1 })
      const [last] = await entriesOf(id)
      expect(last).toMatchObject({ kind: 'escalated', by: { type: 'service' }, version: Number(version) + 1 })
      const { json } = await service.call(caller, `/v1/cases?claim_id=${claimId}&include=total_count`)
      expect(json.total_count).toBe(1)
    }
  })

  it('is marked when its claim changes after it was closed, until it is reopened', async () => {
    const [closed, open] = [await service.makeCase(caller, 'approved'), await service.makeCase(caller, 'in_review')]
    const changed = async () => {
      const { json } = await service.call(caller, '/v1/cases?claim_changed=true')
      return (json.data as { case_id: string }[]).map(({ case_id: id }) => id)
    }
    expect((await readCase(closed.id)).claim_changed_at).toBeNull()
    const before = await changed()
    await escalate(closed.claimId)
    await escalate(open.claimId)
    expect(await readCase(closed.id)).toMatchObject({ status: 'approved', claim_changed_at: expect.any(String) })
    expect((await readCase(open.id)).claim_changed_at).toBeNull()
    expect((await changed()).filter((id) => !before.includes(id))).toEqual([closed.id])
    // A note does not remove the mark.
    await service.post(caller, `/v1/cases/${closed.id}/notes`, { actor: A, note: 'Seen.' })
    expect((await readCase(closed.id)).claim_changed_at).not.toBeNull()
    const reopening = { to: 'in_review', reason_code: 'other', note: 'The claim failed later.' }
    expect((await service.move(caller, closed.id, reopening)).json).toMatchObject({ claim_changed_at: null })
    expect(await changed()).toEqual(before)
  })

  it('is created once, whichever caller opens it first', async () => {
    for (let round = 0; round < 5; round++) {
      const claimId = await service.makeClaim(caller)
      const body = { claim_id: claimId, actor: A }
      const answers = await Promise.all([
        escalate(claimId),
        ...Array.from({ length: 4 }, () => service.post(caller, '/v1/cases', body)),
        escalate(claimId),
      ])
      const statuses = answers.flatMap((answer) => (typeof answer === 'string' ? [] : [answer.status]))
      expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(1)
      expect(statuses.every((status) => status === 200 || status === 409)).toBe(true)
      const { json } = await service.call(caller, `/v1/cases?claim_id=${claimId}`)
      const [only, ...more] = json.data as { case_id: string }[]
      expect(more).toEqual([])
      expect(new Set(answers.filter((answer) => typeof answer === 'string'))).toEqual(new Set([only?.case_id]))
    }
  })

  it('can not have a second open one, enforced by the database', async () => {
    const { claimId } = await service.makeCase(caller)
    const copy = service.test.owner(
      `INSERT INTO cases (account_id, environment, id, claim_id, review_due_at, decision_due_at, due_at)
       SELECT account_id, environment, id || 'x', claim_id, review_due_at, decision_due_at, due_at FROM cases
       WHERE claim_id = $1`,
      [claimId],
    )
    await expect(copy).rejects.toMatchObject({ constraint: 'cases_open_claim_key' })
  })

  it('makes one of many concurrent transitions; the others get the transitions that are allowed now', async () => {
    for (const [state, wishes] of [
      ['open', [{ to: 'in_review', assignee: A }]],
      [
        'in_review',
        [
          { to: 'denied', reason_code: 'insufficient_evidence' },
          { to: 'approved', reason_code: 'other', note: 'ten characters' },
        ],
      ],
      ['denied', [{ to: 'in_review', reason_code: 'other', note: 'ten characters' }]],
    ] as const) {
      const { id } = await service.makeCase(caller, state)
      const before = (await service.events(caller)).length
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) => service.move(caller, id, wishes[index % wishes.length] ?? {})),
      )
      const losers = answers.filter(({ status }) => status !== 200)
      expect(losers).toHaveLength(7)
      const { allowed, status: now } = await readCase(id)
      for (const { json } of losers)
        expect(json).toMatchObject({
          code: 'invalid_state_transition',
          allowed: (allowed as { to: string }[]).map(({ to }) => to),
          current_status: now,
        })
      expect(await service.events(caller)).toHaveLength(before + 1)
    }
  })

  it('makes one of many transitions that state the same version, also along a path of states', async () => {
    const { id } = await service.makeCase(caller, 'in_review')
    const wishes = [
      { to: 'escalated', reason_code: 'insufficient_evidence', version: 2 },
      { to: 'denied', reason_code: 'insufficient_evidence', version: 2 },
    ]
    const answers = await Promise.all(wishes.map((wish) => service.move(caller, id, wish)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(answers.find(({ status }) => status === 409)?.json).toMatchObject({
      code: 'invalid_state_transition',
      version: 3,
    })
  })

  it('changes once per Idempotency-Key, and a repeat shows the present state', async () => {
    const claimId = await service.makeClaim(caller)
    const key = { 'Idempotency-Key': 'open-1' }
    const opening = { claim_id: claimId, actor: A }
    const first = await service.post(caller, '/v1/cases', opening, key)
    const id = String(first.json.case_id)
    const note = () =>
      service.post(caller, `/v1/cases/${id}/notes`, { actor: A, note: 'n' }, { 'Idempotency-Key': 'n' })
    const wish = { to: 'withdrawn', reason_code: 'policyholder_withdrew', actor: A }
    const move = () => service.post(caller, `/v1/cases/${id}/transitions`, wish, { 'Idempotency-Key': 'm' })
    const patch = () => service.patch(caller, id, { actor: A, priority: 'high' }, { 'Idempotency-Key': 'p' })
    for (const send of [note, patch, move]) {
      expect((await send()).status).toBe(200)
      const again = await send()
      expect([again.status, again.headers['idempotent-replayed']]).toEqual([200, 'true'])
    }
    const replayed = await service.post(caller, '/v1/cases', opening, key)
    expect(replayed).toMatchObject({ status: 200, json: { case_id: id, status: 'withdrawn', version: 4 } })
    expect((await entriesOf(id)).map(({ kind }) => kind)).toEqual(['transitioned', 'changed', 'noted', 'opened'])
  })

  it('emits its transition event to the subscribers in the same transaction', async () => {
    await service.test.owner(
      `INSERT INTO webhook_endpoints (account_id, environment, id, url, event_types, sealed_secret)
       VALUES ($1, $2, 'whe_test_0', 'https://example.com/', '{case.status_changed}', '')`,
      [caller.accountId, caller.environment],
    )
    const { id, claimId } = await service.makeCase(caller)
    await service.move(caller, id, { to: 'in_review', assignee: A })
    const sent = await service.test.owner(
      `SELECT e.type, e.data, j.queue FROM deliveries d JOIN events e ON e.id = d.event_id JOIN jobs j ON j.id = d.job_id
       WHERE d.endpoint_id = 'whe_test_0'`,
    )
    const data = {
      case_id: id,
      claim_id: claimId,
      from: 'open',
      to: 'in_review',
      reason_code: null,
      note_present: false,
      actor: { type: 'key', id: expect.stringMatching(/^key_test_/), label: null },
    }
    expect(sent).toEqual([{ type: 'case.status_changed', data, queue: 'deliver' }])
  })

  it('has a history that can not be changed or deleted, except that a note can be removed', async () => {
    const { id, claimId } = await service.makeCase(caller, 'denied')
    await service.post(caller, `/v1/cases/${id}/notes`, { actor: A, note: 'He lives at the corner.' })
    const change = (sql: string) => service.test.db.tenant(caller, (tx) => tx.adhoc(sql))
    for (const sql of [
      "UPDATE case_entries SET actor = 'x'",
      "UPDATE case_entries SET note = 'x', note_erased_at = now()",
      'UPDATE case_entries SET note = NULL WHERE note IS NOT NULL',
      'DELETE FROM case_entries',
    ]) {
      await expect(change(sql), sql).rejects.toMatchObject({ code: '42501' })
    }
    await service.services.attest.erasure.erasure.erase(caller, claimId, { requestId: 'req' })
    const [last, ...rest] = await entriesOf(id)
    expect(last).toMatchObject({ kind: 'noted', by: { label: A }, note: null, note_erased_at: expect.any(String) })
    expect(rest.map(({ kind }) => kind)).toEqual(['transitioned', 'transitioned', 'opened'])
  })
})
