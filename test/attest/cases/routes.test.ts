import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import { A, B, type Caller, type CaseService, NOW, startCases } from './service.ts'

let service: CaseService
let caller: Caller

beforeAll(async () => {
  service = await startCases()
})
afterAll(() => service.close())
beforeEach(async () => {
  service.clock.now = NOW
  caller = await service.makeCaller()
})

const read = async (id: string) => (await service.call(caller, `/v1/cases/${id}`)).json
const historyOf = async (id: string, query = '') => {
  const { json } = await service.call(caller, `/v1/cases/${id}/entries${query}`)
  return json as unknown as { data: Record<string, unknown>[]; has_more: boolean; next_cursor: string | null }
}
const DAY = 24 * 3_600_000
const later = (ms: number) => new Date(NOW.getTime() + ms).toISOString()

describe('a case', () => {
  it('is opened for a claim, with its due dates and its first entry', async () => {
    const claimId = await service.makeClaim(caller)
    const { status, json } = await service.post(caller, '/v1/cases', {
      claim_id: claimId,
      actor: 'A@Example.com',
      note: '  Two photos look alike.  ',
      priority: 'high',
    })
    expect(status).toBe(200)
    expect(json).toEqual({
      case_id: expect.stringMatching(/^cas_test_/),
      claim_id: claimId,
      claim_reference: null,
      risk_status: expect.any(String),
      risk_score: null,
      status: 'open',
      reason_code: null,
      assignee: null,
      assignee_label: null,
      priority: 'high',
      due_at: '2026-11-24T15:00:00.000Z',
      overdue: false,
      sla: {
        review_due_at: '2026-11-24T15:00:00.000Z',
        decision_due_at: '2026-12-20T15:00:00.000Z',
        paused_at: null,
      },
      fraud_suspected_by: null,
      allowed: [
        { to: 'in_review', reason_codes: [], needs_note: false, needs_assignee: true, needs_second_person: false },
        {
          to: 'withdrawn',
          reason_codes: ['policyholder_withdrew'],
          needs_note: false,
          needs_assignee: false,
          needs_second_person: false,
        },
      ],
      version: 1,
      created_at: NOW.toISOString(),
      updated_at: NOW.toISOString(),
      closed_at: null,
      claim_changed_at: null,
    })
    expect(await read(String(json.case_id))).toEqual(json)
    expect((await historyOf(String(json.case_id))).data).toEqual([
      {
        version: 1,
        kind: 'opened',
        at: expect.any(String),
        by: { type: 'key', id: expect.stringMatching(/^key_test_/), label: A },
        from: null,
        to: 'open',
        reason_code: null,
        note: 'Two photos look alike.',
        note_erased_at: null,
        changes: [],
      },
    ])
  })

  it('is assigned by a key to any label, and to a member by user_id', async () => {
    const { id, claimId } = await service.makeCase(caller)
    const { status, json } = await service.patch(caller, id, { actor: 'Owner@localhost', assignee: 'Team B' })
    expect([status, json.assignee, json.assignee_label]).toEqual([200, 'Team B', 'Team B'])
    const listed = await service.call(caller, '/v1/cases?assignee=Team%20B')
    expect(listed.json.data).toMatchObject([{ claim_id: claimId }])
    expect((await historyOf(id)).data[0]).toMatchObject({ by: { type: 'key', label: 'owner@localhost' } })

    const unknown = { actor: A, assignee: 'usr_01m7x7k0kweezv2g6agvqmrk2v' }
    const refused = await service.patch(caller, id, unknown)
    expect([refused.status, refused.json.errors?.[0]]).toMatchObject([400, { pointer: '/assignee', code: 'not_found' }])
    expect((await read(id)).assignee).toBe('Team B')
    const mine = await service.call(caller, '/v1/cases?assignee=me')
    expect([mine.status, mine.json.errors?.[0]?.pointer]).toEqual([400, '?assignee'])
  })

  it('records who, when, from which state to which, and why, in the history and in one event', async () => {
    const { id, claimId } = await service.makeCase(caller)
    const steps = [
      { to: 'in_review', assignee: B },
      { to: 'info_requested', note: 'Which car?' },
      { to: 'in_review' },
      { to: 'escalated', reason_code: 'insufficient_evidence' },
      { to: 'denied', reason_code: 'other', note: 'Not the car that is insured.' },
      { to: 'in_review', reason_code: 'other', note: 'The policy was looked up again.' },
      { to: 'approved', reason_code: 'other', note: 'It is the car after all.' },
    ]
    let from = 'open'
    const expected: unknown[] = []
    for (const [index, step] of steps.entries()) {
      const { status, json } = await service.move(caller, id, step)
      expect({ status, now: json.status, version: json.version }).toEqual({
        status: 200,
        now: step.to,
        version: index + 2,
      })
      expected.push({
        type: 'case.status_changed',
        data: {
          case_id: id,
          claim_id: claimId,
          from,
          to: step.to,
          reason_code: step.reason_code ?? null,
          note_present: step.note !== undefined,
          actor: { type: 'key', id: expect.stringMatching(/^key_test_/), label: null },
        },
      })
      from = step.to
    }
    expect(await service.events(caller)).toEqual(expected)
    const { data } = await historyOf(id)
    expect(data.map(({ from, to, reason_code, note }) => [from, to, reason_code, note]).reverse()).toEqual([
      [null, 'open', null, null],
      ['open', 'in_review', null, null],
      ['in_review', 'info_requested', null, 'Which car?'],
      ['info_requested', 'in_review', null, null],
      ['in_review', 'escalated', 'insufficient_evidence', null],
      ['escalated', 'denied', 'other', 'Not the car that is insured.'],
      ['denied', 'in_review', 'other', 'The policy was looked up again.'],
      ['in_review', 'approved', 'other', 'It is the car after all.'],
    ])
    expect(data.at(-2)).toMatchObject({ changes: [{ field: 'assignee', from: null, to: B }] })
    expect(await read(id)).toMatchObject({
      assignee: B,
      reason_code: 'other',
      closed_at: NOW.toISOString(),
      due_at: null,
    })
  })

  it('has a history that is read page by page', async () => {
    const { id } = await service.makeCase(caller, 'denied')
    const first = await historyOf(id, '?limit=2')
    expect(first.data.map(({ version }) => version)).toEqual([3, 2])
    const second = await historyOf(id, `?limit=2&cursor=${first.next_cursor}`)
    expect([second.data.map(({ version }) => version), second.has_more]).toEqual([[1], false])
    const other = await service.makeCase(caller)
    const { json } = await service.call(caller, `/v1/cases/${other.id}/entries?cursor=${first.next_cursor}`)
    expect(json.errors).toMatchObject([{ pointer: '?cursor', code: 'invalid_cursor' }])
  })

  it('accepts notes, also when it is closed, which change nothing else', async () => {
    for (const state of ['open', 'withdrawn']) {
      const { id } = await service.makeCase(caller, state)
      const before = await read(id)
      const { status, json } = await service.post(caller, `/v1/cases/${id}/notes`, { actor: B, note: 'Called back.' })
      expect(status).toBe(200)
      expect(json).toEqual({ ...before, version: Number(before.version) + 1 })
      const [entry] = (await historyOf(id)).data
      expect(entry).toMatchObject({
        kind: 'noted',
        by: { type: 'key', label: B },
        note: 'Called back.',
        from: null,
        to: null,
      })
    }
  })

  it('gets another assignee, priority and due date in one entry', async () => {
    const { id } = await service.makeCase(caller)
    const due_at = later(9 * DAY)
    const { json } = await service.patch(caller, id, { actor: B, assignee: B, priority: 'urgent', due_at })
    expect(json).toMatchObject({ assignee: B, priority: 'urgent', due_at, version: 2 })
    expect((await historyOf(id)).data[0]).toMatchObject({
      kind: 'changed',
      changes: [
        { field: 'assignee', from: null, to: B },
        { field: 'priority', from: 'normal', to: 'urgent' },
        { field: 'due_at', from: '2026-11-24T15:00:00.000Z', to: due_at },
      ],
    })
    expect((await service.patch(caller, id, { actor: B, assignee: B, priority: 'urgent', due_at })).json.version).toBe(
      2,
    )
    expect((await service.patch(caller, id, { actor: B, assignee: null })).json).toMatchObject({
      assignee: null,
      version: 3,
    })
    expect(await service.events(caller)).toEqual([])
  })
})

describe('the due date of a case', () => {
  it('is that of the review, then of the decision, and is paused while information is awaited', async () => {
    const { id } = await service.makeCase(caller)
    service.clock.now = new Date(later(5 * DAY))
    expect(await read(id)).toMatchObject({ due_at: '2026-11-24T15:00:00.000Z', overdue: true })
    await service.move(caller, id, { to: 'in_review', assignee: A })
    expect(await read(id)).toMatchObject({ due_at: later(30 * DAY), overdue: false })
    await service.move(caller, id, { to: 'info_requested', note: '?' })
    service.clock.now = new Date(later(100 * DAY))
    expect(await read(id)).toMatchObject({
      due_at: later(125 * DAY),
      overdue: false,
      sla: { paused_at: later(5 * DAY) },
    })
    await service.move(caller, id, { to: 'in_review' })
    expect(await read(id)).toMatchObject({ due_at: later(125 * DAY), sla: { paused_at: null } })
    service.clock.now = new Date(later(126 * DAY))
    expect(await read(id)).toMatchObject({ overdue: true })
    await service.move(caller, id, { to: 'denied', reason_code: 'insufficient_evidence' })
    expect(await read(id)).toMatchObject({ due_at: null, overdue: false })
    await service.move(caller, id, { to: 'in_review', reason_code: 'other', note: 'Looked at again.' })
    expect(await read(id)).toMatchObject({ due_at: later(156 * DAY), overdue: false, closed_at: null })
  })
})

describe('the four-eyes rule', () => {
  const fraud = (id: string, actor: string, more = {}) =>
    service.move(caller, id, { to: 'denied', reason_code: 'suspected_fraud', actor, ...more })

  it('needs two people to deny a suspected fraud: one proposes, the other denies', async () => {
    const { id } = await service.makeCase(caller, 'in_review')
    const before = await service.events(caller)
    const first = await fraud(id, A, { note: 'Seen before.' })
    expect(first).toMatchObject({
      status: 202,
      json: { status: 'in_review', fraud_suspected_by: { type: 'key', label: A }, version: 3 },
    })
    expect((await historyOf(id)).data[0]).toMatchObject({
      kind: 'proposed',
      by: { type: 'key', label: A },
      to: 'denied',
      note: 'Seen before.',
    })
    expect(await service.events(caller)).toEqual(before)

    const again = await fraud(id, ' A@EXAMPLE.COM'.trim())
    expect(again).toMatchObject({
      status: 409,
      json: { code: 'invalid_state_transition', errors: [{ pointer: '/actor', code: 'second_adjuster_required' }] },
    })
    const second = await fraud(id, B)
    expect(second).toMatchObject({ status: 200, json: { status: 'denied', fraud_suspected_by: null } })
    expect((await service.events(caller)).at(-1)?.data).toMatchObject({
      to: 'denied',
      actor: { type: 'key', id: expect.stringMatching(/^key_test_/), label: null },
    })
  })

  it('is also satisfied by the person who escalated and the person who denies', async () => {
    const { id } = await service.makeCase(caller, 'in_review')
    await service.move(caller, id, { to: 'escalated', reason_code: 'suspected_fraud' })
    expect((await fraud(id, A)).status).toBe(409)
    expect((await fraud(id, B)).status).toBe(200)
  })

  it('starts over when something else was decided in between', async () => {
    const { id } = await service.makeCase(caller, 'in_review')
    await fraud(id, A)
    await service.move(caller, id, { to: 'info_requested', note: 'Which car?' })
    await service.move(caller, id, { to: 'in_review' })
    expect((await fraud(id, B)).status).toBe(202)
    expect((await fraud(id, A)).json.status).toBe('denied')
  })

  it('can be switched off', async () => {
    const relaxed = await startCases({ CASES_FOUR_EYES: 'off' })
    const one = await relaxed.makeCaller()
    const { id } = await relaxed.makeCase(one, 'in_review')
    const { status, json } = await relaxed.move(one, id, { to: 'denied', reason_code: 'suspected_fraud' })
    expect([status, json.status]).toEqual([200, 'denied'])
    await relaxed.close()
  })
})

describe('who acts on a case', () => {
  const signedIn = async () => {
    const { userId, headers } = await service.signIn(caller.accountId)
    const post = (path: string, json: object, more: object = {}) =>
      service.call({}, path, { json, headers: { ...headers, 'Service-Environment': 'sandbox' }, ...more })
    return { userId, post }
  }

  it('is the user of a session, whether the request names an actor or not', async () => {
    const { userId, post } = await signedIn()
    const opened = await post('/v1/cases', { claim_id: await service.makeClaim(caller) })
    expect(opened.status).toBe(200)
    const id = String(opened.json.case_id)
    expect((await post(`/v1/cases/${id}/transitions`, { to: 'in_review' })).status).toBe(200)
    expect((await post(`/v1/cases/${id}/notes`, { note: 'Called back.' })).status).toBe(200)
    expect((await post(`/v1/cases/${id}/notes`, { note: 'Called again.', actor: B })).status).toBe(200)
    expect((await post(`/v1/cases/${id}`, { priority: 'urgent' }, { method: 'PATCH' })).status).toBe(200)
    const { data } = await historyOf(id)
    expect(data.map(({ kind, by }) => [kind, by])).toEqual(
      ['changed', 'noted', 'noted', 'transitioned', 'opened'].map((kind) => [
        kind,
        { type: 'user', id: userId, label: `${userId}@example.com` },
      ]),
    )
  })

  it('assigns a case to members who may work on cases, by default to itself', async () => {
    const [one, two] = [await signedIn(), await signedIn()]
    const analyst = await service.signIn(caller.accountId, { role: 'analyst' })
    const { id } = await service.makeCase(caller)
    const assign = (assignee: unknown) => one.post(`/v1/cases/${id}`, { assignee }, { method: 'PATCH' })
    for (const refused of ['Team B', 'owner@localhost', analyst.userId]) {
      expect(await assign(refused)).toMatchObject({
        status: 400,
        json: { errors: [{ pointer: '/assignee', code: 'not_found' }] },
      })
    }
    expect((await assign(two.userId)).json).toMatchObject({
      assignee: two.userId,
      assignee_label: `${two.userId}@example.com`,
    })
    const other = await service.makeCase(caller)
    const taken = await one.post(`/v1/cases/${other.id}/transitions`, { to: 'in_review' })
    expect([taken.status, taken.json.assignee]).toEqual([200, one.userId])
    const list = (query: string) =>
      one.post(`/v1/cases${query}`, {}, { method: 'GET', json: undefined, body: undefined })
    expect((await list('?assignee=me')).json.data).toMatchObject([{ case_id: other.id }])
    expect((await list(`?assignee=${two.userId}`)).json.data).toMatchObject([{ case_id: id }])
    expect((await list('/counts?assignee=me')).json.by_status).toMatchObject({ open: 0, in_review: 1 })
  })

  it('is two users for a suspected fraud, the first of whom is named by id', async () => {
    const { id } = await service.makeCase(caller, 'in_review')
    const [one, two] = [await signedIn(), await signedIn()]
    const fraud = { to: 'denied', reason_code: 'suspected_fraud' }
    const first = await one.post(`/v1/cases/${id}/transitions`, fraud)
    expect(first).toMatchObject({ status: 202, json: { fraud_suspected_by: { type: 'user', id: one.userId } } })
    expect((await one.post(`/v1/cases/${id}/transitions`, fraud)).status).toBe(409)
    expect(await two.post(`/v1/cases/${id}/transitions`, fraud)).toMatchObject({
      status: 200,
      json: { status: 'denied' },
    })
  })

  it('is named by each request of an API key', async () => {
    const { id } = await service.makeCase(caller)
    const missing = { status: 400, json: { errors: [{ pointer: '/actor', code: 'required' }] } }
    const { claimId: claim_id } = await service.makeCase(caller, 'withdrawn')
    expect(await service.post(caller, '/v1/cases', { claim_id })).toMatchObject(missing)
    const wish = { to: 'withdrawn', reason_code: 'policyholder_withdrew' }
    expect(await service.post(caller, `/v1/cases/${id}/transitions`, wish)).toMatchObject(missing)
    expect(await service.post(caller, `/v1/cases/${id}/notes`, { note: 'n' })).toMatchObject(missing)
    expect(await service.patch(caller, id, { priority: 'low' })).toMatchObject(missing)
    expect(await read(id)).toMatchObject({ version: 1 })
  })
})

describe('the list of cases', () => {
  it('filters by assignee, state, claim, due date, overdue and age, counts, and is read page by page', async () => {
    // Ids of one millisecond sort at random.
    const tick = () => {
      service.clock.now = new Date(service.clock.now.getTime() + 1_000)
    }
    const open = await service.makeCase(caller)
    tick()
    const review = await service.makeCase(caller, 'in_review')
    tick()
    const paused = await service.makeCase(caller, 'info_requested')
    tick()
    const done = await service.makeCase(caller, 'withdrawn')
    service.clock.now = new Date(later(6 * DAY))
    const late = await service.makeCase(caller)
    const list = async (query: string) => {
      const { json } = await service.call(caller, `/v1/cases${query}`)
      return (json.data as { case_id: string }[]).map(({ case_id }) => case_id)
    }
    expect(await list('')).toEqual([late, done, paused, review, open].map(({ id }) => id))
    expect(await list('?assignee=a@example.com')).toEqual([paused.id, review.id])
    expect(await list('?assignee=b@example.com')).toEqual([])
    expect(await list('?status=open')).toEqual([late.id, open.id])
    expect(await list(`?claim_id=${review.claimId}`)).toEqual([review.id])
    expect(await list('?overdue=true')).toEqual([open.id])
    expect(await list('?overdue=false')).toEqual([late, done, paused, review].map(({ id }) => id))
    // A pause of 6 days moved it from the 30th to the 36th day.
    expect(await list(`?due_lt=${later(31 * DAY)}`)).toEqual([late.id, review.id, open.id])
    expect(await list(`?due_lt=${later(37 * DAY)}`)).toEqual([late.id, paused.id, review.id, open.id])
    expect(await list(`?created_gte=${later(DAY)}`)).toEqual([late.id])
    expect(await list(`?created_lt=${later(DAY)}&status=open`)).toEqual([open.id])
    const { json } = await service.call(caller, '/v1/cases?limit=2&include=total_count&overdue=false')
    expect(json).toMatchObject({ has_more: true, total_count: 4 })
    expect(await list(`?limit=2&overdue=false&cursor=${json.next_cursor}`)).toEqual([paused.id, review.id])
    service.clock.now = new Date(later(31 * DAY))
    expect(await list('?overdue=true')).toEqual([late.id, review.id, open.id])
  })

  it('takes several values of a filter, and is in order of creation or of the due date, both ways', async () => {
    const tick = () => {
      service.clock.now = new Date(service.clock.now.getTime() + 1_000)
    }
    const ids: string[] = []
    for (const state of ['open', 'in_review', 'denied', 'open']) {
      ids.push((await service.makeCase(caller, state)).id)
      tick()
    }
    const [first = '', review = '', denied = '', last = ''] = ids
    await service.patch(caller, last, { actor: A, priority: 'urgent', assignee: 'Team B' })
    await service.patch(caller, first, { actor: A, priority: 'high', due_at: later(60 * DAY) })
    const list = async (query: string) => {
      const { status, json, text } = await service.call(caller, `/v1/cases${query}`)
      expect(status, text).toBe(200)
      return (json.data as { case_id: string }[]).map(({ case_id }) => case_id)
    }
    expect(await list('?status=open&status=denied')).toEqual([last, denied, first])
    expect(await list('?priority=urgent')).toEqual([last])
    expect(await list('?priority=urgent&priority=high&order=asc')).toEqual([first, last])
    expect(await list('?reason_code=insufficient_evidence')).toEqual([denied])
    expect(await list('?assignee=none')).toEqual([first])
    expect(await list(`?due_gte=${later(31 * DAY)}`)).toEqual([first])
    expect(await list('?order_by=due&order=asc')).toEqual([last, review, first])
    expect(await list('?order_by=due')).toEqual([first, review, last])
    for (const order of ['asc', 'desc']) {
      const seen: string[] = []
      for (let cursor = ''; ; ) {
        const { json } = await service.call(caller, `/v1/cases?order_by=due&order=${order}&limit=1${cursor}`)
        seen.push(...(json.data as { case_id: string }[]).map(({ case_id }) => case_id))
        if (json.next_cursor === null) break
        cursor = `&cursor=${json.next_cursor}`
      }
      expect(seen).toEqual(order === 'asc' ? [last, review, first] : [first, review, last])
    }
    const counts = await service.call(caller, '/v1/cases/counts')
    expect(counts.json).toEqual({
      object: 'case_counts',
      by_status: {
        open: 2,
        in_review: 1,
        info_requested: 0,
        escalated: 0,
        approved: 0,
        denied: 1,
        withdrawn: 0,
        closed_undecided: 0,
      },
    })
    const mine = await service.call(caller, '/v1/cases/counts?assignee=Team%20B')
    expect(mine.json.by_status).toMatchObject({ open: 1, in_review: 0, denied: 0 })
  })

  it('shows no case of another account', async () => {
    await service.makeCase(caller)
    const stranger = await service.makeCaller()
    expect((await service.call(stranger, '/v1/cases?include=total_count')).json).toMatchObject({
      data: [],
      total_count: 0,
    })
  })

  it('refuses a malformed claim id', async () => {
    const { json } = await service.call(caller, '/v1/cases?claim_id=clm_x')
    expect(json).toMatchObject({ status: 400, errors: [{ pointer: '?claim_id', code: 'invalid_id' }] })
    const live = newId('clm', 'live')
    expect((await service.call(caller, `/v1/cases?claim_id=${live}`)).json.code).toBe('environment_mismatch')
  })
})
