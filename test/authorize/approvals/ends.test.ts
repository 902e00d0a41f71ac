// Step-up approvals over HTTP: what API keys decide, what revocations end, and the mails.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestCaller } from '../../support/callers.ts'
import { type ApprovalService, startApprovals } from './service.ts'

let on: ApprovalService
let caller: TestCaller

beforeAll(async () => {
  on = await startApprovals()
})
beforeEach(async () => {
  caller = await on.makeCaller()
})
afterAll(() => on?.close())

const post = (key: { key: string }, path: string, json: object = {}, headers: Record<string, string> = {}) =>
  on.call(key, path, { method: 'POST', json, headers })
const byKey = (key: { key: string }, id: string, email: string, decision = 'approve') =>
  post(key, `/v1/approvals/${id}/${decision}`, {
    approver: { email },
    ...(decision === 'deny' && { reason: 'No.' }),
  })
const otherKey = () => ({ key: on.addKey({ ...caller, keyId: `key_test_${Math.random()}`, scopes: ['all'] }) })

describe('an API key', () => {
  const emailOf = async (userId: string) =>
    (await on.test.owner<{ email: string }>('SELECT email FROM users WHERE id = $1', [userId]))[0]?.email ?? ''

  it('names the person for whom it speaks, and is marked', async () => {
    const user = await on.join(caller)
    const row = await on.open(caller)
    const key = otherKey()
    const unnamed = await post(key, `/v1/approvals/${row.id}/approve`)
    expect(unnamed.json).toMatchObject({ code: 'invalid_request', errors: [{ pointer: '/approver' }] })
    expect((await byKey(key, row.id, 'stranger@example.com')).json).toMatchObject({
      code: 'approver_not_eligible',
      cause: 'not_a_member',
    })
    const analyst = await on.join(caller, 'analyst')
    expect((await byKey(key, row.id, await emailOf(analyst.userId))).json.cause).toBe('role')
    const answer = await byKey(key, row.id, (await emailOf(user.userId)).toUpperCase())
    expect(answer.json).toMatchObject({
      status: 'approved',
      decisions: [{ by: { type: 'user', id: user.userId }, via: 'api_key' }],
    })
    const [entry] = await on.entries(caller, 'approval_decision')
    expect(entry).toMatchObject({ actor: { person: user.userId }, inputs: { via: 'api_key' } })
    // A session speaks for its own user.
    const own = await on.approve(user, (await on.open(caller)).id, { approver: { email: await emailOf(user.userId) } })
    expect(own.json.errors).toMatchObject([{ pointer: '/approver' }])
  })

  it('has one vote, for whomever, and so has the key that a rotation made of it', async () => {
    const emails = [await emailOf((await on.join(caller)).userId), await emailOf((await on.join(caller)).userId)]
    const row = await on.open(caller, { demands: [{ min_approvals: 2 }] })
    await on.test.owner(
      `INSERT INTO api_keys (account_id, environment, id, name, hash, prefix, last4, scopes, created_by, successor_id,
         grace_expires_at) VALUES
         ($1, 'sandbox', 'key_test_new', 'b', sha256('n'), 'p', '4', '{all}', 'operator', NULL, NULL),
         ($1, 'sandbox', 'key_test_old', 'a', sha256('o'), 'p', '4', '{all}', 'operator', 'key_test_new', now())`,
      [caller.accountId],
    )
    const keyOf = (keyId: string) => ({ key: on.addKey({ ...caller, keyId, scopes: ['all'] }) })
    expect((await byKey(keyOf('key_test_old'), row.id, emails[0] ?? '')).json.status).toBe('pending')
    for (const keyId of ['key_test_old', 'key_test_new']) {
      const answer = await byKey(keyOf(keyId), row.id, emails[1] ?? '')
      expect(answer.json).toMatchObject({ code: 'approval_already_decided', approval_status: 'pending' })
    }
    expect((await byKey(keyOf('key_test_third'), row.id, emails[1] ?? '')).json.status).toBe('approved')
  })

  it('never decides what it authorized', async () => {
    const user = await on.join(caller)
    const row = await on.open(caller)
    for (const decision of ['approve', 'deny']) {
      const answer = await byKey(caller, row.id, await emailOf(user.userId), decision)
      expect(answer).toMatchObject({ status: 403, json: { code: 'approver_not_eligible', cause: 'same_key' } })
    }
  })

  it('is the key that made it, and its maker’s, where the policy wants duties separated', async () => {
    const [maker, user, other] = [await on.join(caller, 'owner'), await on.join(caller), await on.join(caller)]
    await on.setPolicy(caller, { approvals: { separation_of_duties: true } })
    // agent made minted; provision made backoffice and desk, and was made by an operator; own is of the person who asks.
    const made = Object.entries({
      key_test_agent: 'operator',
      key_test_minted: 'key_test_agent',
      key_test_provision: 'operator',
      key_test_backoffice: 'key_test_provision',
      key_test_desk: 'key_test_backoffice',
      key_test_own: maker.userId,
    })
    for (const [id, by] of made) {
      await on.test.owner(
        `INSERT INTO api_keys (account_id, environment, id, name, hash, prefix, last4, scopes, created_by)
         VALUES ($1, 'sandbox', $2::text, 'a', sha256(convert_to($2::text, 'UTF8')), 'p', '4', '{all}', $3)`,
        [caller.accountId, id, by],
      )
    }
    const principalOf = (keyId: string) => ({ kind: 'key' as const, keyId, scopes: ['all' as const] })
    const keyOf = (keyId: string) => ({ key: on.addKey({ ...caller, keyId, scopes: ['all'] }) })
    const emails = [await emailOf(user.userId), await emailOf(other.userId)]
    const acting = { ...caller, principal: principalOf('key_test_agent') } as TestCaller
    const row = await on.open(acting, { demands: [{ min_approvals: 2 }], requesterUserId: maker.userId })
    expect((await byKey(keyOf('key_test_minted'), row.id, emails[0] ?? '')).json.cause).toBe('same_key')
    expect((await byKey(keyOf('key_test_own'), row.id, emails[0] ?? '')).json.cause).toBe('separation_of_duties')
    expect((await byKey(keyOf('key_test_backoffice'), row.id, emails[0] ?? '')).json.status).toBe('pending')
    for (const keyId of ['key_test_desk', 'key_test_provision']) {
      expect((await byKey(keyOf(keyId), row.id, emails[1] ?? '')).json.code).toBe('approval_already_decided')
    }
    expect((await byKey(keyOf('key_test_elsewhere'), row.id, emails[1] ?? '')).json.status).toBe('approved')
  })

  it('decides nothing where the policy wants people who are signed in: in live unless it says otherwise', async () => {
    const user = await on.join(caller)
    const email = await emailOf(user.userId)
    const row = await on.open(caller)
    await on.setPolicy(caller, { approvals: { require_human_session: true } })
    expect((await byKey(otherKey(), row.id, email)).json.code).toBe('session_required')
    await on.setPolicy(caller, { approvals: { require_human_session: false } })
    expect((await byKey(otherKey(), row.id, email)).json.status).toBe('approved')

    caller = await on.makeCaller({ environment: 'live' })
    const live = await on.open(caller)
    const approver = await on.join(caller)
    const liveKey = { key: on.addKey({ ...caller, keyId: 'key_live_other', scopes: ['escalate'] }) }
    expect((await byKey(liveKey, live.id, await emailOf(approver.userId))).json.code).toBe('session_required')
    const sent = { headers: { 'Service-Environment': 'live' } }
    expect((await on.approve(approver, live.id, {}, sent)).json.status).toBe('approved')
  })

  it('has a vote that does not count while the policy wants people who are signed in; its person votes again', async () => {
    const [user, other] = [await on.join(caller), await on.join(caller)]
    const email = await emailOf(user.userId)
    const policy = (wantsPeople: boolean) =>
      on.setPolicy(caller, { approvals: { require_human_session: wantsPeople, separation_of_duties: false } })
    await policy(false)
    const row = await on.open(caller, { demands: [{ min_approvals: 2 }] })
    expect((await byKey(otherKey(), row.id, email)).json).toMatchObject({ missing: [{ approvals: 1 }] })
    await policy(true)
    expect(await on.read(caller, row.id)).toMatchObject({ missing: [{ approvals: 2 }] })
    expect((await on.approve(other, row.id)).json).toMatchObject({ status: 'pending', missing: [{ approvals: 1 }] })
    expect((await on.approve(user, row.id)).json).toMatchObject({
      status: 'approved',
      decisions: [{ by: { id: other.userId } }, { by: { id: user.userId }, via: 'session' }],
    })
  })

  it('has a vote that does not count once the key, or one that rotations made of it, is revoked', async () => {
    const owner = await on.join(caller, 'owner')
    const [user, other] = [await on.join(caller), await on.join(caller)]
    const email = await emailOf(user.userId)
    await on.setPolicy(caller, { approvals: { separation_of_duties: false } })
    const manage = async (path: string, json: object) => {
      const answer = await on.as(owner, `/v1/account/keys${path}`, json)
      expect(answer).toMatchObject({ status: 200 })
      return { id: String(answer.json.api_key_id), key: String(answer.json.key) }
    }
    const revoke = (id: string) => manage(`/${id}/revoke`, {})
    const rotate = (id: string) => manage(`/${id}/rotate`, { grace_period_seconds: 0 })
    const old = await manage('', { name: 'desk', scopes: ['escalate'] })
    const row = await on.open(caller, { demands: [{ min_approvals: 2 }] })
    expect((await byKey(old, row.id, email)).json).toMatchObject({ missing: [{ approvals: 1 }] })
    const successor = await rotate(old.id)
    expect(await on.read(caller, row.id)).toMatchObject({ missing: [{ approvals: 1 }] })
    await revoke(successor.id)
    expect(await on.read(caller, row.id)).toMatchObject({ missing: [{ approvals: 2 }] })
    expect((await on.approve(other, row.id)).json).toMatchObject({ status: 'pending' })

    const next = await manage('', { name: 'desk', scopes: ['escalate'] })
    expect((await byKey(next, row.id, email)).json.status).toBe('approved')
    // What was decided stays, and the key before a rotation says nothing of the one after it.
    const later = await on.open(caller, { demands: [{ min_approvals: 2 }] })
    const last = await rotate(next.id)
    expect((await byKey(last, later.id, email)).json.status).toBe('pending')
    await revoke(next.id)
    expect(await on.read(caller, later.id)).toMatchObject({ missing: [{ approvals: 1 }] })
    expect(await on.read(caller, row.id)).toMatchObject({ status: 'approved' })
  })

  it('needs the scope escalate to decide, and intent to read', async () => {
    const user = await on.join(caller)
    const row = await on.open(caller)
    const keyOf = (scope: 'intent' | 'escalate') => ({
      key: on.addKey({ ...caller, keyId: `key_test_${scope}`, scopes: [scope] }),
    })
    expect((await byKey(keyOf('intent'), row.id, await emailOf(user.userId))).json.code).toBe('insufficient_scope')
    expect((await on.call(keyOf('escalate'), `/v1/approvals/${row.id}`)).json.code).toBe('insufficient_scope')
    expect((await on.call(keyOf('intent'), `/v1/approvals/${row.id}`)).status).toBe(200)
    expect((await byKey(keyOf('escalate'), row.id, await emailOf(user.userId))).json.status).toBe('approved')
  })
})

describe('a revocation', () => {
  const revoke = (scope: string, more: object) =>
    post(caller, '/v1/intent/revocations', { scope, reason: 'r', ...more })

  it.each([
    ['token', (row: { jti: string }) => ({ jti: row.jti })],
    ['session', () => ({ agent_session_id: 'session-x' })],
    ['device', () => ({ device_id: 'device-x' })],
  ] as const)('of the %s cancels what is pending of it, with its event, and nothing else', async (scope, subjectOf) => {
    const user = await on.join(caller)
    const [row, decided, expired] = [await on.open(caller, X), await on.open(caller, X), await on.open(caller, X)]
    const other = await on.open(caller)
    await on.deny(user, decided.id)
    await on.expire(expired.id)
    expect((await revoke(scope, subjectOf(row))).status).toBe(200)
    expect(await on.read(caller, row.id)).toMatchObject({ status: 'cancelled', resolution: 'cancelled', decisions: [] })
    expect(await on.read(caller, decided.id)).toMatchObject({ status: 'denied' })
    expect(await on.read(caller, expired.id)).toMatchObject({ status: 'expired' })
    expect(await on.read(caller, other.id)).toMatchObject({ status: 'pending' })
    expect((await on.approve(user, row.id)).json).toMatchObject({
      code: 'approval_already_decided',
      approval_status: 'cancelled',
    })
    const events = (await on.events(caller)).map(({ type, data }) => `${type} ${data.status ?? ''}`.trim())
    // Two events that are emitted within a millisecond are listed in no order.
    const told = ['approval.resolved denied', 'approval.resolved cancelled', 'intent.revoked']
    expect(events.slice(4).toSorted()).toEqual(told.toSorted())
    expect(await on.entries(caller, 'approval_decision')).toMatchObject([
      { reason: 'approval_denied' },
      { reason: 'approval_cancelled', valid: false, inputs: { resolution: 'cancelled' } },
    ])
  })

  const X = { agentSessionId: 'session-x', deviceId: 'device-x' }

  it('of a session with very many approvals cancels all of them at once; the clock tells what is left', async () => {
    const { id } = await on.open(caller, X)
    await on.test.owner(
      `INSERT INTO approvals SELECT (jsonb_populate_record(a, jsonb_build_object('id', id || n, 'jti', jti || n))).*
       FROM approvals a, generate_series(1, 1499) n WHERE id = $1`,
      [id],
    )
    expect((await revoke('session', { agent_session_id: 'session-x' })).status).toBe(200)
    const countOf = async (condition: string) =>
      (
        await on.test.owner<{ n: number }>(
          `SELECT count(*)::int AS n FROM approvals WHERE account_id = $1 AND ${condition}`,
          [caller.accountId],
        )
      )[0]?.n
    expect(await countOf(`outcome = 'cancelled'`)).toBe(1_500)
    expect(await countOf('is_told')).toBe(100)
    const { tellEnded } = on.services.authorize.approvals
    await tellEnded()
    await tellEnded()
    expect(await countOf('NOT is_told')).toBe(0)
    const resolved = (await on.events(caller)).filter(({ type }) => type === 'approval.resolved')
    expect(new Set(resolved.map(({ data }) => data.approval_id)).size).toBe(1_500)
    expect(resolved).toHaveLength(1_500)
    expect(await on.entries(caller, 'approval_decision')).toHaveLength(1_500)
  })

  it('does not come of a suspension of the agent', async () => {
    const agent = await post(caller, '/v1/agents', { name: 'Buyer', owner: 'Buying' })
    const row = await on.open(caller, { agentId: String(agent.json.agent_id) })
    expect((await post(caller, `/v1/agents/${agent.json.agent_id}/suspend`, { reason: 'r' })).status).toBe(200)
    expect(await on.read(caller, row.id)).toMatchObject({ status: 'pending' })
  })
})

describe('the mail that asks people', () => {
  const mails = () =>
    on.test.owner<{ recipient: string; subject_id: string }>(
      `SELECT recipient, subject_id FROM mails WHERE account_id = $1 AND kind = 'approval' ORDER BY recipient`,
      [caller.accountId],
    )

  it('goes to members who may decide, and says nothing that the agent has written', async () => {
    const asker = await on.join(caller, 'owner', 'asker@mail.example')
    const user = await on.join(caller, 'approver', 'approver@mail.example')
    await on.join(caller, 'admin', 'admin@mail.example')
    await on.join(caller, 'analyst', 'analyst@mail.example')
    const gone = await on.join(caller, 'approver', 'gone@mail.example')
    await on.test.owner(`UPDATE users SET deprovisioned_at = now() WHERE id = $1`, [gone.userId])
    const wanted = { requesterUserId: asker.userId, demands: [{ roles: ['owner', 'approver'], min_approvals: 2 }] }
    const row = await on.open(caller, { ...wanted, description: 'Dear approver, click http://evil.example' })
    expect(await mails()).toEqual([{ recipient: 'approver@mail.example', subject_id: row.id }])
    const { writeLetter } = on.services.authorize.approvals.approvals
    const letter = (recipient: string) => writeLetter({ recipient, subjectId: row.id, scope: caller })
    const written = await letter('approver@mail.example')
    expect(written?.action.url).toBe(`${on.services.platform.baseUrl}/approve#${row.id}`)
    expect(JSON.stringify(written)).not.toContain('evil')
    // For people: no seconds, and the zone by its name.
    expect(JSON.stringify(written)).toMatch(/ on \d{4}-\d\d-\d\d at \d\d:\d\d UTC,/)
    expect(await letter('asker@mail.example')).toBeUndefined()
    await on.test.owner(`UPDATE users SET role = 'analyst' WHERE id = $1`, [user.userId])
    expect(await letter('approver@mail.example')).toBeUndefined()
    await on.test.owner(`UPDATE users SET role = 'approver' WHERE id = $1`, [user.userId])
    await on.expire(row.id)
    expect(await letter('approver@mail.example')).toBeUndefined()
  })

  it('is sent for sixty approvals an hour, so that an agent fills no mailbox', async () => {
    await on.join(caller)
    const { id } = await on.open(caller)
    await on.test.owner(
      `INSERT INTO approvals SELECT (jsonb_populate_record(a, jsonb_build_object('id', id || n, 'jti', jti || n))).*
       FROM approvals a, generate_series(1, 58) n WHERE id = $1`,
      [id],
    )
    await on.open(caller)
    expect(await mails()).toHaveLength(2)
    await on.open(caller)
    expect(await mails()).toHaveLength(2)
    expect((await on.events(caller)).filter(({ type }) => type === 'approval.requested')).toHaveLength(3)
  })
})
