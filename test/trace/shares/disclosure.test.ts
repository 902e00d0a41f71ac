import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import { findDueLanes } from '#src/platform/jobs/lanes.ts'
import type { TestCaller } from '../../support/callers.ts'
import { HOUR_MS, PURPOSE, type Sharing, startSharing } from './service.ts'

let on: Sharing
let caller: TestCaller
let people = 0
beforeAll(async () => {
  on = await startSharing()
})
afterAll(() => on.close())
beforeEach(async () => {
  on.clock.now = undefined
  caller = await on.makeCaller()
})

const newPerson = () => `researcher${++people}@example.org`
const INVALID_CODE = {
  status: 400,
  json: { code: 'invalid_request', errors: [{ pointer: '/code', code: 'invalid_code' }] },
}

async function makeShare(body: Record<string, unknown> = {}) {
  const traceId = await on.makeTrace(caller)
  const { jobId, neurons, manifest } = on.makeJob(traceId)
  const masked = neurons.slice(0, 2)
  const share = await on.share(caller, { trace_id: traceId, job_id: jobId, masked_node_ids: masked, ...body })
  return { share, masked, manifest }
}
const shownIn = (json: Record<string, unknown>) =>
  (json.graph as { nodes: { node_id: string }[] }).nodes.map((node) => node.node_id)
const statusOf = async (id: string) => (await on.get(caller, `/v1/trace/disclosure-requests/${id}`)).status
const auditOf = (id: string) =>
  on.test.owner<{ action: string; actor_kind: string }>(
    'SELECT action, actor_kind FROM audit_entries WHERE subject_id = $1 ORDER BY id',
    [id],
  )

describe('a disclosure', () => {
  it('is requested by a verified address, granted, looked at, and on record, without the address in any event', async () => {
    const { share, masked, manifest } = await makeShare()
    const email = newPerson()
    const asked = await on.request(share, email.toUpperCase(), { purpose: `\u202e${PURPOSE}\u0007\r\nThanks` })
    expect(asked).toMatchObject({ status: 200, json: { status: 'unverified' } })
    const id = String(asked.json.request_id)
    expect(await on.disclosed(caller)).toEqual([])
    expect((await on.get(caller, '/v1/trace/disclosure-requests')).data).toEqual([])
    const mail = await on.newestTo(email)
    expect(mail).not.toContain('incident')
    expect(await on.verify(share, id, await on.codeTo(email))).toMatchObject({
      status: 200,
      json: { status: 'pending' },
    })

    const subject = { request_id: id, scope_kind: 'trace', trace_id: share.trace_id, model_version_id: null }
    expect(await on.disclosed(caller)).toEqual([
      { type: 'trace.disclosure_requested', data: { ...subject, status: 'pending' } },
    ])
    const pending = (await on.get(caller, '/v1/trace/disclosure-requests?status=pending&include=total_count')) as {
      data: unknown[]
    }
    expect(pending).toMatchObject({
      total_count: 1,
      data: [{ request_id: id, email, purpose: `${PURPOSE}\nThanks`, masked_node_ids: share.masked_node_ids }],
    })
    const granted = await on.good(on.decide(caller, id, 'grant', { expires_in: 3_600 }))
    expect(granted).toMatchObject({ status: 'granted', decided_by: expect.stringMatching(/^key_test_/) })
    const token = await on.grantTo(email)
    const { json } = await on.view(token)
    expect(json).toMatchObject({
      masked_nodes: 0,
      disclosure: { request_id: id, expires_at: granted.expires_at, node_ids: masked.toSorted() },
    })
    const truth = manifest.nodes.find(({ node_id }) => node_id === masked[0])
    expect((json.graph as { nodes: unknown[] }).nodes).toContainEqual(
      expect.objectContaining({ node_id: masked[0], clerp: truth?.clerp, activation: truth?.activation }),
    )
    // Everybody else sees what they saw before.
    expect(shownIn((await on.view(share.token)).json)).not.toContain(masked[0])
    const views = await on.get(caller, `/v1/trace/shares/${share.share_id}/views`)
    expect(views.data).toMatchObject([
      { request_id: null, masked_nodes: 2, disclosed_nodes: 0 },
      { request_id: id, masked_nodes: 0, disclosed_nodes: 2 },
    ])
    const events = await on.disclosed(caller)
    expect(events[1]).toEqual({
      type: 'trace.disclosure_granted',
      data: {
        ...subject,
        expires_at: granted.expires_at,
        decided_by: { type: 'key', id: granted.decided_by, label: null },
      },
    })
    const ledger = await on.entries(caller, 'disclosure')
    expect(ledger).toMatchObject([{ subject: id, reason: 'disclosure_granted', inputs: { share_id: share.share_id } }])
    expect(await auditOf(id)).toEqual([{ action: 'disclosure.granted', actor_kind: 'key' }])
    const written = [events, ledger, await on.test.owner('SELECT to_jsonb(r)::text AS row FROM disclosure_requests r')]
    expect(JSON.stringify(written)).not.toMatch(new RegExp(`${email}|incident`))

    expect(await on.good(on.decide(caller, id, 'revoke'))).toMatchObject({ status: 'revoked' })
    expect((await on.view(token)).status).toBe(404)
    expect((await on.view(share.token)).status).toBe(200)
  })

  it('mails its code also while the account of an earlier request is suspended', async () => {
    const suspended = caller
    const earlier = await makeShare()
    caller = await on.makeCaller()
    const { share } = await makeShare()
    await on.good(on.request(earlier.share, newPerson()))
    await on.good(on.request(share, newPerson()))
    const suspend = (at: string) =>
      on.test.owner(`UPDATE accounts SET suspended_at = ${at}, suspension_reason = $2 WHERE id = $1`, [
        suspended.accountId,
        at === 'NULL' ? null : 'x',
      ])
    await suspend('now()')
    const lanes = await on.test.db.system('due lanes', (tx) => findDueLanes(tx, 'mail'))
    expect(lanes.map(({ account }) => account)).toEqual([caller.accountId])
    await suspend('NULL')
  })

  it('is granted once, with one event, one mail and one entry, however many decide at the same time', async () => {
    const { share } = await makeShare()
    const email = newPerson()
    const id = await on.ask(share, email)
    const before = on.mail.received.length
    const answers = await Promise.all([
      ...Array.from({ length: 6 }, () => on.decide(caller, id, 'grant')),
      on.decide(caller, id, 'deny'),
    ])
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ json }) => json.code === 'invalid_state_transition')).toHaveLength(6)
    const status = await statusOf(id)
    await on.newestTo(email)
    const times = status === 'granted' ? 1 : 0
    expect((await on.disclosed(caller)).filter(({ type }) => type === 'trace.disclosure_granted')).toHaveLength(times)
    expect(on.mail.received.length - before).toBe(times)
    expect(await auditOf(id)).toHaveLength(1)
    expect(await on.entries(caller, 'disclosure')).toHaveLength(1)
  })

  it('of the mode auto is granted by the verification, once', async () => {
    const { share, masked } = await makeShare({ disclosure_mode: 'auto' })
    const email = newPerson()
    const { request_id } = await on.good(on.request(share, email))
    const code = await on.codeTo(email)
    const answers = await Promise.all(Array.from({ length: 4 }, () => on.verify(share, request_id, code)))
    expect(answers.filter(({ status }) => status === 200).map(({ json }) => json.status)).toEqual(['granted'])
    expect(await on.disclosed(caller)).toMatchObject([
      { type: 'trace.disclosure_requested', data: { status: 'pending' } },
      { type: 'trace.disclosure_granted', data: { decided_by: { type: 'service', id: null } } },
    ])
    expect(shownIn((await on.view(await on.grantTo(email))).json)).toEqual(expect.arrayContaining(masked))
    expect(await auditOf(String(request_id))).toEqual([{ action: 'disclosure.granted', actor_kind: 'service' }])
  })

  it('ends with its time, with its share, and is then written down by the clock', async () => {
    const { share } = await makeShare({ expires_at: on.in(3) })
    const [short, long, idle] = [newPerson(), newPerson(), newPerson()]
    const ids = [await on.ask(share, short), await on.ask(share, long), await on.ask(share, idle)]
    const [first = '', second = '', third = ''] = ids
    await on.good(on.decide(caller, first, 'grant', { expires_in: 3_600 }))
    // No longer than its share.
    expect((await on.good(on.decide(caller, second, 'grant'))).expires_at).toBe(share.expires_at)
    const [one, two] = [await on.grantTo(short), await on.grantTo(long)]
    const start = Date.now()
    on.clock.now = new Date(start + 2 * HOUR_MS)
    expect([(await on.view(one)).status, (await on.view(two)).status]).toEqual([404, 200])
    // Before the clock has seen it.
    expect(await statusOf(first)).toBe('expired')
    expect(await on.made.deciding.expire()).toBe(1)
    expect(await on.made.deciding.expire()).toBe(0)
    on.clock.now = new Date(start + 4 * HOUR_MS)
    expect((await on.view(two)).status).toBe(404)
    expect((await on.decide(caller, third, 'grant')).json.code).toBe('invalid_state_transition')
    expect(await on.made.deciding.expire()).toBe(2)
    const rows = await on.test.owner<{ status: string; has_token: boolean }>(
      'SELECT status, grant_hash IS NOT NULL AS has_token FROM disclosure_requests WHERE id = ANY($1)',
      [ids],
    )
    expect(rows).toEqual(ids.map(() => ({ status: 'expired', has_token: false })))
    const reasons = (await on.entries(caller, 'disclosure')).map(({ reason }) => reason)
    expect(reasons.filter((reason) => reason === 'disclosure_expired')).toHaveLength(2)
  })

  it('of a share that is revoked ends with it, whatever its state: each grant with an entry, and no decision made up', async () => {
    const { share } = await makeShare()
    const [asking, granted] = [newPerson(), newPerson()]
    const early = await on.ask(share, newPerson())
    await on.good(on.decide(caller, early, 'grant', { expires_in: 300 }))
    const { request_id } = await on.good(on.request(share, asking))
    const code = await on.codeTo(asking)
    const pending = await on.ask(share, newPerson())
    const id = await on.ask(share, granted)
    const { decided_by, decided_at, expires_at } = await on.good(on.decide(caller, id, 'grant'))
    const token = await on.grantTo(granted)
    const keyId = newId('key', 'sandbox')
    const revoker = { key: on.addKey({ ...caller, keyId, scopes: ['intent'] }) }
    on.clock.now = new Date(Date.now() + 400_000)
    for (let time = 0; time < 2; time += 1) {
      await on.good(on.call(revoker, `/v1/trace/shares/${share.share_id}/revoke`, { method: 'POST' }))
    }
    expect((await on.view(token)).status).toBe(404)
    expect((await on.verify(share, request_id, code)).status).toBe(404)
    expect((await on.request(share, newPerson())).status).toBe(404)
    const shown = (one: string) => on.get(caller, `/v1/trace/disclosure-requests/${one}`)
    expect(await shown(id)).toMatchObject({ status: 'revoked', decided_by, decided_at, expires_at })
    expect(await shown(pending)).toMatchObject({
      status: 'expired',
      decided_by: null,
      decided_at: null,
      expires_at: on.clock.now.toISOString(),
    })
    expect(await statusOf(String(request_id))).toBe('expired')
    expect(await statusOf(early)).toBe('expired')
    const entries = (await on.entries(caller, 'disclosure')).filter(({ reason }) => reason !== 'disclosure_granted')
    expect(entries).toMatchObject([
      { subject: early, reason: 'disclosure_expired' },
      { subject: id, reason: 'disclosure_revoked', actor: { id: keyId }, inputs: { share_id: share.share_id } },
    ])
    expect(await on.made.deciding.expire()).toBe(0)
  })

  it('shows what its share masked when it was made, and not what a later share masks', async () => {
    const { share, masked } = await makeShare()
    const [later = ''] = on.makeJob(String(share.trace_id)).neurons.slice(4)
    await on.share(caller, { trace_id: share.trace_id, job_id: share.job_id, masked_node_ids: [later] })
    const email = newPerson()
    await on.good(on.decide(caller, await on.ask(share, email), 'grant'))
    const { json } = await on.view(await on.grantTo(email))
    expect(json).toMatchObject({ masked_nodes: 1, disclosure: { node_ids: masked.toSorted() } })
    expect(shownIn(json)).not.toContain(later)
  })
})

describe('a code', () => {
  it('has five tries, also at the same moment, and then does not work', async () => {
    const { share } = await makeShare()
    const email = newPerson()
    const { request_id } = await on.good(on.request(share, email))
    const code = await on.codeTo(email)
    const wrong = code === '00000000' ? '00000001' : '00000000'
    const answers = await Promise.all(Array.from({ length: 12 }, () => on.verify(share, request_id, wrong)))
    for (const answer of answers) expect(answer).toMatchObject(INVALID_CODE)
    expect(await on.verify(share, request_id, code)).toMatchObject(INVALID_CODE)
    expect(await on.disclosed(caller)).toEqual([])
    const [row] = await on.test.owner('SELECT tries_left FROM disclosure_requests WHERE id = $1', [request_id])
    expect(row).toEqual({ tries_left: 0 })
  })

  it('works once, for 15 minutes, with the token of its share alone', async () => {
    const { share } = await makeShare()
    const other = await makeShare()
    const email = newPerson()
    const { request_id } = await on.good(on.request(share, email))
    const code = await on.codeTo(email)
    expect((await on.verify(share, request_id, code, { token: other.share.token })).status).toBe(404)
    expect(await on.verify(other.share, request_id, code)).toMatchObject(INVALID_CODE)
    expect((await on.request(share, email, { token: other.share.token })).status).toBe(404)
    expect((await on.verify(share, request_id, code)).status).toBe(200)
    expect(await on.verify(share, request_id, code)).toMatchObject(INVALID_CODE)
    // The token of a grant looks, and asks for nothing.
    await on.good(on.decide(caller, String(request_id), 'grant'))
    expect((await on.request(share, newPerson(), { token: await on.grantTo(email) })).status).toBe(404)

    const late = newPerson()
    const asked = await on.good(on.request(share, late))
    const lateCode = await on.codeTo(late)
    on.clock.now = new Date(Date.now() + 16 * 60_000)
    expect(await on.verify(share, asked.request_id, lateCode)).toMatchObject(INVALID_CODE)
  })

  it('is mailed three times an hour for an address and a share, and one client asks and tries so often', async () => {
    const { share } = await makeShare()
    const email = newPerson()
    for (let time = 0; time < 3; time += 1) expect((await on.request(share, email)).status).toBe(200)
    const refused = await on.request(share, email)
    expect([refused.status, refused.json.code, Number(refused.headers['retry-after'])]).toEqual([
      429,
      'rate_limited',
      expect.any(Number),
    ])
    expect((await on.request(share, newPerson())).status).toBe(200)
    const headers = { 'X-Forwarded-For': '203.0.113.200' }
    const asked = []
    for (let time = 0; time < 11; time += 1) asked.push((await on.request(share, newPerson(), { headers })).status)
    expect(asked).toEqual([...Array.from({ length: 10 }, () => 200), 429])
    const tried = []
    for (let time = 0; time < 31; time += 1) {
      tried.push((await on.verify(share, 'dsr_test_01m7x7k9d2e6ts0a9n3v8wq5hc', '12345678', { headers })).status)
    }
    expect(tried.lastIndexOf(400)).toBe(29)
    expect(tried.at(-1)).toBe(429)
    // Somebody else behind the same address has the right code.
    const other = newPerson()
    const { request_id } = await on.good(on.request(share, other))
    expect((await on.verify(share, request_id, await on.codeTo(other), { headers })).status).toBe(200)
  })

  it('is for an address and a purpose that people can read, and for a share that masks something', async () => {
    const { share } = await makeShare()
    for (const [email, purpose, ...pointers] of [
      ['no address', PURPOSE, '/email'],
      ['a@example.org', 'short', '/purpose'],
      ['a@example.org', '\u200b'.repeat(50), '/purpose'],
      ['a@example.org', 'x'.repeat(1_001), '/purpose'],
      ['bad', 'short', '/email', '/purpose'],
      ['', '', '/email', '/purpose'],
    ] as const) {
      const { status, json } = await on.request(share, email, { purpose })
      expect([status, json.errors?.map(({ pointer }) => pointer)]).toEqual([400, pointers])
    }
    const plain = await on.share(caller, { trace_id: await on.makeTrace(caller) })
    expect((await on.request(plain, newPerson())).json.code).toBe('conflict')
  })
})

it('who asked is erased 30 days after the end, and what nobody verified after a day', async () => {
  const { share } = await makeShare()
  const email = newPerson()
  const id = await on.ask(share, email)
  await on.good(on.decide(caller, id, 'deny'))
  await on.good(on.request(share, newPerson()))
  const purge = async (what: string, days: number) => {
    const rule = on.made.feature.retention?.find((one) => one.what === what)
    if (rule?.per !== 'tenant') throw new Error(`no rule ${what}`)
    expect(rule.days).toBe(days)
    return rule.purge(caller, new Date(Date.now() + 1_000), AbortSignal.timeout(60_000))
  }
  expect(await purge('unverified_disclosures', 1)).toBe(1)
  expect(await purge('disclosure_persons', 30)).toBe(1)
  expect(await purge('disclosure_persons', 30)).toBe(0)
  expect(await on.get(caller, `/v1/trace/disclosure-requests/${id}`)).toMatchObject({
    status: 'denied',
    email: null,
    purpose: null,
  })
})
