// Refused requests leave every row unchanged.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allowedFrom } from '#src/attest/cases/machine.ts'
import type { KeyScope } from '#src/catalogue/access.ts'
import { newId } from '#src/platform/ids.ts'
import { call, type TestAnswer } from '../../support/http.ts'
import { A, B, type Caller, type CaseService, startCases } from './service.ts'

let service: CaseService
let caller: Caller

beforeAll(async () => {
  service = await startCases()
  caller = await service.makeCaller()
})
afterAll(() => service.close())

async function refused(send: () => Promise<TestAnswer>): Promise<TestAnswer['json'] & { status: number }> {
  const before = await service.fingerprint()
  const { status, json } = await send()
  expect(status, JSON.stringify(json)).toBeGreaterThanOrEqual(400)
  expect(status, JSON.stringify(json)).toBeLessThan(500)
  expect(await service.fingerprint()).toBe(before)
  return { ...json, status }
}

const SCOPES: KeyScope[] = ['verify', 'attest', 'escalate', 'admin', 'intent', 'screen']
const CASE = newId('cas', 'sandbox')
const ROUTES = [
  ['POST', '/v1/cases'],
  ['GET', '/v1/cases'],
  ['GET', `/v1/cases/${CASE}`],
  ['POST', `/v1/cases/${CASE}/transitions`],
  ['POST', `/v1/cases/${CASE}/notes`],
  ['PATCH', `/v1/cases/${CASE}`],
] as const

describe.each(ROUTES)('%s %s', (method, path) => {
  it('needs a key with the scope escalate; no other scope is enough', async () => {
    expect((await call(service.app, path, { method })).json.code).toBe('authentication_required')
    const others = { key: service.addKey({ ...caller, scopes: SCOPES.filter((one) => one !== 'escalate') }) }
    expect((await service.call(others, path, { method })).json).toMatchObject({
      code: 'insufficient_scope',
      required_scope: 'escalate',
    })
  })

  it('accepts ids of the caller’s environment and account only', async () => {
    if (!path.includes(CASE)) return
    const bodies: Record<string, unknown> = {
      transitions: { to: 'withdrawn', reason_code: 'policyholder_withdrew', actor: A },
      notes: { note: 'n', actor: A },
    }
    const json = method === 'GET' ? undefined : (bodies[path.split('/').at(-1) ?? ''] ?? { priority: 'low', actor: A })
    const send = (id: string) => refused(() => service.call(caller, path.replace(CASE, id), { method, json }))
    expect(await send(newId('cas', 'live'))).toMatchObject({ status: 403, code: 'environment_mismatch' })
    expect(await send(CASE)).toMatchObject({ status: 404, code: 'not_found' })
    expect(await send('cas_x')).toMatchObject({ status: 404, code: 'not_found' })
    expect(await send(newId('clm', 'sandbox'))).toMatchObject({ status: 404, code: 'not_found' })
    const { id } = await service.makeCase(await service.makeCaller())
    expect(await send(id)).toMatchObject({ status: 404, code: 'not_found' })
  })
})

const INVISIBLE = [
  '\u200b',
  '\u200b\u200c\u200d\ufeff',
  '\u2060 \u00ad',
  '\u3164',
  '\u2800',
  '\u202e\u202c',
  '\u{e0020}',
  '\ufe0f',
]

describe('opening a case is refused', () => {
  const open = (body: unknown) => refused(() => service.post(caller, '/v1/cases', body))

  it('for a claim that does not exist, is of another account, or of the other environment', async () => {
    const foreign = await service.makeClaim(await service.makeCaller())
    for (const claim_id of [newId('clm', 'sandbox'), foreign, 'x', CASE]) {
      expect(await open({ claim_id, actor: A })).toMatchObject({ status: 404, code: 'not_found' })
    }
    const live = newId('clm', 'live')
    expect(await open({ claim_id: live, actor: A })).toMatchObject({ status: 403, code: 'environment_mismatch' })
  })

  it('while the claim has an open one, which the refusal names', async () => {
    for (const state of ['open', 'info_requested', 'escalated']) {
      const { id, claimId } = await service.makeCase(caller, state)
      expect(await open({ claim_id: claimId, actor: A })).toMatchObject({
        status: 409,
        code: 'case_already_open',
        case_id: id,
        errors: [{ pointer: '/claim_id', code: 'case_open' }],
      })
    }
    const { claimId } = await service.makeCase(caller, 'withdrawn')
    expect((await service.post(caller, '/v1/cases', { claim_id: claimId, actor: A })).status).toBe(200)
  })

  it.each([
    [{ actor: undefined }, '/actor'],
    [{ actor: 'somebody' }, '/actor'],
    [{ actor: `${'a'.repeat(250)}@example.com` }, '/actor'],
    [{ assignee: null }, '/assignee'],
    [{ priority: 'now' }, '/priority'],
    [{ note: '  ' }, '/note'],
    [{ note: 'n'.repeat(5_001) }, '/note'],
    [{ note: 'a\0b' }, '/note'],
    [{ claim_id: 7 }, '/claim_id'],
    [{ status: 'approved' }, '/status'],
  ])('with %j', async (change, pointer) => {
    const answer = await open({ claim_id: newId('clm', 'sandbox'), actor: A, ...change })
    expect(answer).toMatchObject({ status: 400, errors: [{ pointer }] })
  })
})

describe('a transition is refused', () => {
  const move = (id: string, wish: Record<string, unknown>) => refused(() => service.move(caller, id, wish))

  it('when the state does not allow it; the refusal lists what is allowed', async () => {
    for (const [state, to] of [
      ['open', 'open'],
      ['open', 'info_requested'],
      ['info_requested', 'open'],
      ['escalated', 'in_review'],
      ['denied', 'open'],
    ] as const) {
      const { id } = await service.makeCase(caller, state)
      expect(await move(id, { to, note: 'a good reason' })).toMatchObject({
        status: 409,
        code: 'invalid_state_transition',
        current_status: state,
        allowed: allowedFrom(state),
        errors: [{ pointer: '/to', code: 'transition_not_allowed' }],
      })
    }
  })

  it('without a reason, with a reason of another transition, and with one where none is expected', async () => {
    const { id } = await service.makeCase(caller, 'in_review')
    for (const wish of [
      { to: 'denied' },
      { to: 'denied', reason_code: 'risk_accepted' },
      { to: 'info_requested', reason_code: 'insufficient_evidence', note: '?' },
      { to: 'closed_undecided', reason_code: 'other', note: 'ten characters' },
    ]) {
      expect(await move(id, wish)).toMatchObject({
        status: 409,
        code: 'invalid_state_transition',
        errors: [{ pointer: '/reason_code', code: 'reason_not_allowed' }],
      })
    }
  })

  it('when the case has no assignee, and when the reason does not match the claim', async () => {
    const open = await service.makeCase(caller)
    expect(await move(open.id, { to: 'in_review' })).toMatchObject({
      code: 'invalid_state_transition',
      errors: [{ pointer: '/assignee', code: 'assignee_required' }],
    })
    const { id } = await service.makeCase(caller, 'in_review', { risk_status: 'passed', provenance_status: 'broken' })
    expect(await move(id, { to: 'approved', reason_code: 'provenance_verified' })).toMatchObject({
      code: 'invalid_state_transition',
      errors: [{ code: 'provenance_not_verified' }],
    })
    expect(await move(id, { to: 'approved', reason_code: 'risk_accepted' })).toMatchObject({
      code: 'invalid_state_transition',
      errors: [{ code: 'risk_not_flagged' }],
    })
    await service.test.owner(
      `UPDATE claims SET risk_status = 'review', provenance_status = 'verified' WHERE id = (SELECT claim_id FROM cases WHERE id = $1)`,
      [id],
    )
    expect((await service.move(caller, id, { to: 'approved', reason_code: 'provenance_verified' })).status).toBe(200)
  })

  it('before any query, when the note is missing or too short', async () => {
    for (const wish of [
      { to: 'info_requested' },
      { to: 'denied', reason_code: 'other' },
      { to: 'denied', reason_code: 'other', note: ' 9 chars. ' },
    ]) {
      expect(await move(CASE, wish)).toMatchObject({ status: 400, errors: [{ pointer: '/note' }] })
    }
  })

  it.each([
    [{ to: 'gone' }, '/to'],
    [{ reason_code: 'because' }, '/reason_code'],
    [{ actor: undefined }, '/actor'],
    [{ assignee: 'x'.repeat(201) }, '/assignee'],
    [{ version: 0 }, '/version'],
    [{ version: '1' }, '/version'],
    [{ role: 'owner' }, '/role'],
  ])('with %j', async (change, pointer) => {
    expect(await move(CASE, { to: 'withdrawn', ...change })).toMatchObject({ status: 400, errors: [{ pointer }] })
  })

  it('when its version is outdated', async () => {
    const { id } = await service.makeCase(caller, 'in_review')
    const wish = { to: 'denied', reason_code: 'insufficient_evidence', version: 1 }
    expect(await move(id, wish)).toMatchObject({
      status: 409,
      code: 'invalid_state_transition',
      version: 2,
      allowed: allowedFrom('in_review'),
      errors: [{ pointer: '/version', code: 'stale' }],
    })
    expect((await service.move(caller, id, { ...wish, version: 2 })).status).toBe(200)
  })

  it('that reopens a case whose claim has another open one', async () => {
    const { id, claimId } = await service.makeCase(caller, 'denied')
    const { json } = await service.post(caller, '/v1/cases', { claim_id: claimId, actor: B })
    expect(await move(id, { to: 'in_review', reason_code: 'other', note: 'ten characters' })).toMatchObject({
      status: 409,
      code: 'case_already_open',
      case_id: json.case_id,
    })
  })
})

describe('a change is refused', () => {
  const patch = (id: string, body: Record<string, unknown>) =>
    refused(() => service.patch(caller, id, { actor: A, ...body }))

  it('that changes nothing, or has an invalid value', async () => {
    for (const [body, pointer] of [
      [{}, ''],
      [{ version: 1 }, ''],
      [{ assignee: 'x'.repeat(201) }, '/assignee'],
      [{ due_at: 'tomorrow' }, '/due_at'],
      // The year 10000 in UTC.
      [{ due_at: '9999-12-31T23:59:59-12:00' }, '/due_at'],
      [{ priority: 1 }, '/priority'],
      [{ status: 'denied' }, '/status'],
    ] as const) {
      const { status, errors } = await patch(CASE, body)
      expect({ status, pointers: errors?.map((error) => error.pointer) }).toMatchObject({ status: 400 })
      expect(errors?.map((error) => error.pointer)).toContain(pointer)
    }
  })

  it('of a closed case, to a date in the past, and with an outdated version', async () => {
    const closed = await service.makeCase(caller, 'withdrawn')
    expect(await patch(closed.id, { priority: 'low' })).toMatchObject({
      code: 'invalid_state_transition',
      allowed: ['in_review'],
    })
    const { id } = await service.makeCase(caller, 'in_review')
    expect(await patch(id, { due_at: service.clock.now.toISOString() })).toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: '/due_at', code: 'in_the_past' }],
    })
    expect(await patch(id, { priority: 'low', version: 1 })).toMatchObject({
      code: 'invalid_state_transition',
      version: 2,
    })
    expect(await patch(id, { assignee: null })).toMatchObject({
      code: 'invalid_state_transition',
      errors: [{ pointer: '/assignee', code: 'assignee_required' }],
    })
  })
})

describe('an erased claim', () => {
  it('gets no new case and no changes, but its open case can still be closed', async () => {
    const { id, claimId } = await service.makeCase(caller, 'in_review')
    const other = await service.makeClaim(caller)
    await service.test.owner('UPDATE claims SET erasing_since = now() WHERE id = ANY($1)', [[claimId, other]])
    const erased = { status: 409, code: 'claim_erased', errors: [{ code: 'claim_erased' }] }
    const note = 'He lives at the corner.'
    expect(await refused(() => service.post(caller, '/v1/cases', { claim_id: other, actor: A }))).toMatchObject(erased)
    expect(await refused(() => service.post(caller, `/v1/cases/${id}/notes`, { note, actor: A }))).toMatchObject(erased)
    expect(await refused(() => service.move(caller, id, { to: 'denied', reason_code: 'other', note }))).toMatchObject(
      erased,
    )
    const ended = await service.move(caller, id, { to: 'closed_undecided', reason_code: 'insufficient_evidence' })
    expect(ended.json.status).toBe('closed_undecided')
  })
})

describe('a note without visible characters', () => {
  it('is refused wherever a note is accepted', async () => {
    const { id } = await service.makeCase(caller, 'in_review')
    const claimId = await service.makeClaim(caller)
    for (const invisible of INVISIBLE) {
      const sent: [string, Record<string, unknown>][] = [
        ['/v1/cases', { claim_id: claimId, note: invisible }],
        [`/v1/cases/${id}/notes`, { note: invisible }],
        [`/v1/cases/${id}/transitions`, { to: 'info_requested', note: invisible }],
        [`/v1/cases/${id}/transitions`, { to: 'approved', reason_code: 'other', note: `short${invisible.repeat(20)}` }],
      ]
      for (const [path, body] of sent) {
        const { status, code, errors } = await refused(() => service.post(caller, path, { actor: A, ...body }))
        expect([status, code, errors?.[0]?.pointer], JSON.stringify(body)).toEqual([400, 'invalid_request', '/note'])
      }
    }
  })

  it('is accepted where a mark only changes the appearance of visible characters', async () => {
    const { id } = await service.makeCase(caller)
    const note = '\u2764\ufe0f \u0645\u200c\u062e'
    expect((await service.post(caller, `/v1/cases/${id}/notes`, { actor: A, note })).status).toBe(200)
    const { json } = await service.call(caller, `/v1/cases/${id}/entries`)
    expect((json.data as { note: string }[])[0]?.note).toBe(note)
  })
})

describe('the reason signature_invalid', () => {
  it('is accepted only for a claim with that factor', async () => {
    const wish = { to: 'denied', reason_code: 'signature_invalid' }
    const { id } = await service.makeCase(caller, 'in_review', { factor_codes: ['sensor_hash_mismatch'] })
    const { status, code, errors } = await refused(() => service.move(caller, id, wish))
    expect([status, code, errors?.[0]?.code]).toEqual([409, 'invalid_state_transition', 'signature_not_invalid'])
    const found = await service.makeCase(caller, 'in_review', { factor_codes: ['signature_invalid'] })
    expect((await service.move(caller, found.id, wish)).status).toBe(200)
  })
})
