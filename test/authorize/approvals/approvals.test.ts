// Step-up approvals over HTTP: who may decide, what a decision does, and what is told of it.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findEnded } from '#src/authorize/approvals/resolution-rows.ts'
import { hashCanonical } from '#src/authorize/tokens/format.ts'
import { canonicalize } from '#src/platform/crypto/canonical.ts'
import { sha256Base64url } from '#src/platform/crypto/digest.ts'
import { createPolledWaits } from '#src/platform/polled-waits.ts'
import type { TestCaller } from '../../support/callers.ts'
import type { SignedIn } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { type ApprovalService, DESCRIPTION, PAYLOAD, rulesOf, startApprovals } from './service.ts'

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

describe('an approval', () => {
  it('shows the whole action, what it is bound to, and tells that people are asked', async () => {
    const payload = { amount: '12000.00', token: 'secret', note: 'x'.repeat(500) }
    const row = await on.open(caller, { payload, demands: [{ min_approvals: 2, ttl_seconds: 600 }] })
    const shown = await on.read(caller, row.id)
    const [rule] = rulesOf({ min_approvals: 2, ttl_seconds: 600 })
    expect(shown).toMatchObject({
      approval_id: row.id,
      status: 'pending',
      resolution: null,
      jti: row.jti,
      origin: 'authorize',
      rules: [{ rule_id: 'rule-0', rule_hash: rule?.hash, description: 'In words 0' }],
      min_approvals: 2,
      action_description: DESCRIPTION,
      action_payload: payload,
      payload_hash: hashCanonical(payload),
      authorized_by: { type: 'key', id: caller.principal.kind === 'key' ? caller.principal.keyId : '' },
      decisions: [],
      missing: [{ roles: ['admin', 'approver', 'owner'], approvals: 2 }],
    })
    expect(Date.parse(String(shown.expires_at)) - Date.parse(String(shown.created_at))).toBeGreaterThan(599_000)
    const [event] = await on.events(caller)
    const preview = { amount: '12000.00', note: `${'x'.repeat(80)}…`, token: '[redacted]' }
    expect(event).toEqual({
      type: 'approval.requested',
      data: {
        order_id: null,
        approval_id: row.id,
        jti: row.jti,
        rule_id: 'rule-0',
        action_description: DESCRIPTION,
        payload_preview: preview,
        action_hash: shown.action_hash,
        payload_hash: shown.payload_hash,
        preview_hash: sha256Base64url(canonicalize(preview)),
        min_approvals: 2,
        expires_at: shown.expires_at,
        approve_url: shown.approve_url,
      },
    })
    expect(shown.preview_hash).toBe(event?.data.preview_hash)
    const [entry] = await on.entries(caller, 'approval')
    expect(entry).toMatchObject({ subject_id: row.id, reason: 'approval_required', inputs: { jti: row.jti } })
    // What the database holds of it can't be read without the master key.
    const stored = await on.test.owner<{ text: string }>(`SELECT a::text AS text FROM approvals a WHERE id = $1`, [
      row.id,
    ])
    expect(stored[0]?.text).not.toContain(DESCRIPTION)
  })

  it('is one for each origin of a token, however often it is requested', async () => {
    const row = await on.open(caller)
    const again = await on.open(caller, { jti: row.jti })
    const relying = { ...caller, principal: { kind: 'key' as const, keyId: 'key_test_other', scopes: [] } }
    const ofVerify = await on.open(relying, { jti: row.jti, origin: 'verify' })
    expect(again.id).toBe(row.id)
    expect(ofVerify.id).not.toBe(row.id)
    // Of a verification it is not the relying party that asked for the action.
    expect(ofVerify.actorId).toBe(row.actorId)
    expect(await on.events(caller)).toHaveLength(2)
  })

  it('expires no later than the caller says', async () => {
    const latestExpiry = new Date(Date.now() + 30_000)
    const row = await on.open(caller, { latestExpiry, demands: [{ ttl_seconds: 3600 }] })
    expect(row.expiresAt).toEqual(latestExpiry)
  })

  it('is found by the list, newest first, by its state, its token and its session', async () => {
    const user = await on.join(caller)
    const first = await on.open(caller, { agentSessionId: 'a' })
    const second = await on.open(caller, { agentSessionId: 'b' })
    const third = await on.open(caller, { agentSessionId: 'b' })
    expect((await on.deny(user, second.id)).status).toBe(200)
    await on.expire(third.id)
    const idsOf = async (query: string) => {
      const { json } = await on.call(caller, `/v1/approvals${query}`)
      return (json.data as { approval_id: string }[]).map(({ approval_id }) => approval_id)
    }
    expect(await idsOf('')).toEqual([third.id, second.id, first.id])
    expect(await idsOf('?status=pending')).toEqual([first.id])
    expect(await idsOf('?status=denied')).toEqual([second.id])
    expect(await idsOf('?status=expired')).toEqual([third.id])
    expect(await idsOf('?status=expired&status=pending')).toEqual([third.id, first.id])
    expect((await on.call(caller, '/v1/approvals?limit=1&include=total_count')).json.total_count).toBe(3)
    expect(await idsOf(`?jti=${first.jti}`)).toEqual([first.id])
    expect(await idsOf('?agent_session_id=b&status=denied')).toEqual([second.id])
    const { json } = await on.call(caller, '/v1/approvals?limit=2')
    expect(json).toMatchObject({ has_more: true })
    expect(await idsOf(`?limit=2&cursor=${json.next_cursor}`)).toEqual([first.id])
    expect((await on.call(caller, '/v1/approvals?status=maybe')).status).toBe(400)
    expect((json.data as object[])[0]).not.toHaveProperty('action_payload')
  })

  it('awaits those who may decide it and have no vote that counts', async () => {
    const [ada, eva, ben, root] = [
      await on.join(caller),
      await on.join(caller),
      await on.join(caller, 'admin'),
      await on.join(caller, 'owner'),
    ]
    const both = { demands: [{ roles: ['approver', 'admin'], min_approvals: 2 }] }
    const first = await on.open(caller, both)
    const second = await on.open(caller, { ...both, requesterUserId: eva.userId })
    const owners = await on.open(caller, { demands: [{ roles: ['owner'] }] })
    const lapsed = await on.open(caller, both)
    await on.expire(lapsed.id)
    const waitingFor = async (user: SignedIn, query = '') => {
      const { status, json } = await on.as(user, `/v1/approvals?awaiting=me&include=total_count${query}`)
      expect(status).toBe(200)
      const ids = (json.data as { approval_id: string }[]).map(({ approval_id }) => approval_id)
      expect(json.total_count).toBe(ids.length)
      return ids
    }
    expect(await waitingFor(ada)).toEqual([second.id, first.id])
    expect(await waitingFor(eva)).toEqual([first.id])
    expect(await waitingFor(ben)).toEqual([second.id, first.id])
    expect(await waitingFor(root)).toEqual([owners.id])
    expect(await waitingFor(ada, '&status=expired')).toEqual([])
    // What one person sees is no part of another's list.
    const { json } = await on.as(ben, '/v1/approvals?awaiting=me&limit=1')
    const next = `/v1/approvals?awaiting=me&limit=1&cursor=${json.next_cursor}`
    expect([(await on.as(ben, next)).status, (await on.as(ada, next)).status]).toEqual([200, 400])

    expect((await on.approve(ada, first.id)).status).toBe(200)
    expect(await waitingFor(ada)).toEqual([second.id])
    expect(await waitingFor(ben)).toEqual([second.id, first.id])
    // Who was removed and is invited again decides once more.
    await on.test.owner('UPDATE users SET reactivated_at = now() WHERE id = $1', [ada.userId])
    expect(await waitingFor(ada)).toEqual([second.id, first.id])
    expect((await on.deny(ben, first.id)).status).toBe(200)
    expect(await waitingFor(ada)).toEqual([second.id])

    expect((await on.call(caller, '/v1/approvals?awaiting=me')).json).toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: '?awaiting', code: 'not_allowed' }],
    })
  })

  it('awaits again the person for whom a key spoke, where votes of keys do not count', async () => {
    const ada = await on.join(caller, 'approver', 'ada-awaited@example.com')
    const row = await on.open(caller, { demands: [{ min_approvals: 2 }] })
    const other = { key: on.addKey({ ...caller, keyId: 'key_test_speaks', scopes: ['all'] }) }
    const spoken = await post(other, `/v1/approvals/${row.id}/approve`, {
      approver: { email: 'ada-awaited@example.com' },
    })
    expect(spoken.status).toBe(200)
    const ids = async () => (await on.as(ada, '/v1/approvals?awaiting=me')).json.data
    expect(await ids()).toEqual([])
    await on.setPolicy(caller, { approvals: { require_human_session: true } })
    expect(await ids()).toMatchObject([{ approval_id: row.id }])
  })

  it('is visible to no other account', async () => {
    const row = await on.open(caller)
    const other = await on.makeCaller()
    const stranger = await on.join(other)
    expect((await on.call(other, `/v1/approvals/${row.id}`)).json.code).toBe('not_found')
    expect((await on.approve(stranger, row.id)).json.code).toBe('not_found')
    expect((await on.deny(stranger, row.id)).json.code).toBe('not_found')
    const live = row.id.replace('_test_', '_live_')
    expect((await on.call(caller, `/v1/approvals/${live}`)).json.code).toBe('environment_mismatch')
  })
})

describe('a decision', () => {
  it('approves when enough distinct people have, each once', async () => {
    const [a, b] = [await on.join(caller, 'approver'), await on.join(caller, 'admin')]
    const row = await on.open(caller, { demands: [{ min_approvals: 2 }] })
    const first = await on.approve(a, row.id, { comment: 'Fine.' })
    expect(first).toMatchObject({ status: 200, json: { status: 'pending', missing: [{ approvals: 1 }] } })
    expect((await on.approve(a, row.id)).json).toMatchObject({
      code: 'approval_already_decided',
      approval_status: 'pending',
    })
    const second = await on.approve(b, row.id)
    expect(second.json).toMatchObject({
      status: 'approved',
      resolution: 'human',
      missing: [],
      decisions: [
        {
          by: { type: 'user', id: a.userId, label: `${a.userId}@example.com` },
          via: 'session',
          decision: 'approve',
          comment: 'Fine.',
        },
        {
          by: { type: 'user', id: b.userId, label: `${b.userId}@example.com` },
          via: 'session',
          decision: 'approve',
          comment: null,
        },
      ],
    })
    const resolved = (await on.events(caller)).filter(({ type }) => type === 'approval.resolved')
    expect(resolved).toMatchObject([
      {
        data: {
          approval_id: row.id,
          jti: row.jti,
          status: 'approved',
          resolution: 'human',
          decisions: [
            { by: { type: 'user', id: a.userId, label: null }, via: 'session', decision: 'approve' },
            { by: { type: 'user', id: b.userId, label: null }, via: 'session', decision: 'approve' },
          ],
        },
      },
    ])
    expect(await on.entries(caller, 'approval_decision')).toMatchObject([
      { reason: 'approval_vote', valid: null, actor: { actor_id: a.userId }, inputs: { status: 'pending' } },
      { reason: 'approval_approved', valid: true, actor: { actor_id: b.userId }, inputs: { status: 'approved' } },
    ])
    const c = await on.join(caller, 'owner')
    for (const late of [await on.approve(c, row.id), await on.deny(c, row.id)]) {
      expect(late).toMatchObject({
        status: 409,
        json: { code: 'approval_already_decided', approval_status: 'approved' },
      })
    }
  })

  it('denies at once, even after another person has approved, and says why', async () => {
    const [a, b] = [await on.join(caller), await on.join(caller)]
    const row = await on.open(caller, { demands: [{ min_approvals: 2 }] })
    await on.approve(a, row.id)
    expect((await on.as(b, `/v1/approvals/${row.id}/deny`, {})).json.errors).toMatchObject([{ pointer: '/reason' }])
    const denied = await on.deny(b, row.id, 'We did not order this.')
    expect(denied.json).toMatchObject({ status: 'denied', resolution: 'human' })
    expect(await on.read(caller, row.id)).toMatchObject({
      decisions: [{}, { decision: 'deny', comment: 'We did not order this.' }],
    })
    expect(await on.entries(caller, 'approval_decision')).toMatchObject([
      {},
      { reason: 'approval_denied', valid: false },
    ])
  })

  it('ends the token for those who ask its status: denied, expired, cancelled, or approved too long ago', async () => {
    const statusOf = async ({ jti }: { jti: string }) => (await on.call(caller, `/v1/intent/status/${jti}`)).json.status
    const person = await on.join(caller)
    const [denied, expired, waiting, approved] = [
      await on.open(caller),
      await on.open(caller),
      await on.open(caller),
      await on.open(caller, { tokenTtlSeconds: 300 }),
    ]
    await on.deny(person, denied.id)
    await on.expire(expired.id)
    await on.approve(person, approved.id)
    const statuses = () => Promise.all([denied, expired, waiting, approved].map(statusOf))
    expect(await statuses()).toEqual(['expired', 'expired', 'active', 'active'])
    await on.test.owner(`UPDATE approvals SET decided_at = decided_at - interval '300 seconds' WHERE id = $1`, [
      approved.id,
    ])
    expect(await statusOf(approved)).toBe('expired')
  })

  it('is for the roles of the rule only', async () => {
    const row = await on.open(caller, { demands: [{ roles: ['owner'] }] })
    for (const role of ['approver', 'admin', 'analyst', 'developer'] as const) {
      const user = await on.join(caller, role)
      const answer = await on.approve(user, row.id)
      const code = role === 'analyst' ? 'insufficient_role' : 'approver_not_eligible'
      expect([role, answer.status, answer.json.code]).toEqual([role, 403, code])
    }
    expect((await on.approve(await on.join(caller, 'owner'), row.id)).json.status).toBe('approved')
  })

  it('is not for who asked for the action, nor for the owner of its agent, while duties are separated', async () => {
    const [asker, owner, third] = [
      await on.join(caller, 'owner'),
      await on.join(caller, 'admin'),
      await on.join(caller),
    ]
    const [{ email = '' } = {}] = await on.test.owner<{ email: string }>('SELECT email FROM users WHERE id = $1', [
      owner.userId,
    ])
    const agent = await post(caller, '/v1/agents', { name: 'Buyer', owner: email.toUpperCase() })
    const wanted = { requesterUserId: asker.userId, agentId: String(agent.json.agent_id) }
    const row = await on.open(caller, wanted)
    for (const user of [asker, owner]) {
      for (const answer of [await on.approve(user, row.id), await on.deny(user, row.id)]) {
        expect(answer.json).toMatchObject({ code: 'approver_not_eligible', cause: 'separation_of_duties' })
      }
    }
    expect((await on.approve(third, row.id)).json).toMatchObject({ status: 'approved', separation_of_duties: true })
    await on.setPolicy(caller, { approvals: { separation_of_duties: false } })
    const free = await on.open(caller, wanted)
    expect((await on.approve(asker, free.id)).json).toMatchObject({ status: 'approved', separation_of_duties: false })
  })

  it('is the only member’s own where there is one, unless the policy says otherwise', async () => {
    const only = await on.join(caller, 'owner')
    const row = await on.open(caller, { requesterUserId: only.userId })
    expect((await on.approve(only, row.id)).json).toMatchObject({ status: 'approved', separation_of_duties: false })
    await on.setPolicy(caller, { approvals: { separation_of_duties: true } })
    const strict = await on.open(caller, { requesterUserId: only.userId })
    expect((await on.approve(only, strict.id)).json.code).toBe('approver_not_eligible')
  })

  it('finds who asked through the key that authorized, and the keys that made it', async () => {
    const [asker] = [await on.join(caller, 'owner'), await on.join(caller)]
    await on.test.owner(
      `INSERT INTO api_keys (account_id, environment, id, name, hash, prefix, last4, scopes, created_by) VALUES
         ($1, 'sandbox', 'key_test_a', 'a', sha256('a'), 'p', '4', '{all}', $2),
         ($1, 'sandbox', 'key_test', 'b', sha256('b'), 'p', '4', '{all}', 'key_test_a')`,
      [caller.accountId, asker.userId],
    )
    const acting = { ...caller, principal: { kind: 'key' as const, keyId: 'key_test', scopes: ['all' as const] } }
    const row = await on.open(acting)
    expect(row).toMatchObject({ requesterId: asker.userId, excludedIds: [asker.userId] })
  })

  it('repeats with its Idempotency-Key and changes nothing', async () => {
    const user = await on.join(caller)
    const row = await on.open(caller, { demands: [{ min_approvals: 2 }] })
    const sent = { headers: { 'Idempotency-Key': 'once' } }
    expect((await on.approve(user, row.id, {}, sent)).status).toBe(200)
    expect(await on.approve(user, row.id, {}, sent)).toMatchObject({ status: 200, json: { status: 'pending' } })
    expect(await on.entries(caller, 'approval_decision')).toHaveLength(1)
  })

  it('counts no more when its person was removed or has another role, also after another invite', async () => {
    const [a, b, c] = [await on.join(caller), await on.join(caller), await on.join(caller)]
    const row = await on.open(caller, { demands: [{ min_approvals: 3 }] })
    for (const user of [a, b]) await on.approve(user, row.id)
    await on.test.owner(`UPDATE users SET deprovisioned_at = now() WHERE id = $1`, [a.userId])
    await on.test.owner(`UPDATE users SET role = 'analyst' WHERE id = $1`, [b.userId])
    expect(await on.read(caller, row.id)).toMatchObject({ missing: [{ approvals: 3 }] })
    expect((await on.approve(c, row.id)).json).toMatchObject({ status: 'pending', missing: [{ approvals: 2 }] })
    await on.test.owner(`UPDATE users SET deprovisioned_at = NULL, reactivated_at = now() WHERE id = $1`, [a.userId])
    await on.test.owner(`UPDATE users SET role = 'approver' WHERE id = $1`, [b.userId])
    expect(await on.read(caller, row.id)).toMatchObject({ missing: [{ approvals: 1 }] })
    // They may decide again.
    expect((await on.approve(a, row.id)).json).toMatchObject({ status: 'approved' })
  })

  it('comes too late after the expiry, which is no denial by a person', async () => {
    const user = await on.join(caller)
    const row = await on.open(caller)
    await on.expire(row.id)
    expect(await on.read(caller, row.id)).toMatchObject({ status: 'expired', resolution: 'timeout', missing: [] })
    for (const late of [await on.approve(user, row.id), await on.deny(user, row.id)]) {
      expect(late).toMatchObject({
        status: 409,
        json: { code: 'approval_already_decided', approval_status: 'expired' },
      })
    }
    expect(await on.entries(caller, 'approval_decision')).toEqual([])
    // The state does not wait for the clock, which tells it once.
    const { tellEnded } = on.services.authorize.approvals
    await tellEnded()
    await tellEnded()
    const resolved = (await on.events(caller)).filter(({ type }) => type === 'approval.resolved')
    expect(resolved).toMatchObject([
      { data: { approval_id: row.id, status: 'expired', resolution: 'timeout', decisions: [] } },
    ])
    expect(await on.entries(caller, 'approval_decision')).toMatchObject([
      { reason: 'approval_expired', actor: 'service', valid: false, inputs: { resolution: 'timeout' } },
    ])
  })
})

describe('a caller that waits', () => {
  const wait = (id: string, seconds: number) => on.call(caller, `/v1/approvals/${id}?wait=${seconds}`)

  it('is answered when a person decides, here or in another process, and when it expires', async () => {
    const user = await on.join(caller)
    const here = await on.open(caller)
    const waiting = wait(here.id, 30)
    await on.deny(user, here.id)
    expect((await waiting).json).toMatchObject({ status: 'denied' })

    const there = await on.open(caller)
    const elsewhere = wait(there.id, 30)
    await on.test.owner(
      `UPDATE approvals SET outcome = 'approved', decided_at = clock_timestamp(), is_told = true WHERE id = $1`,
      [there.id],
    )
    expect((await elsewhere).json).toMatchObject({ status: 'approved' })

    const over = await on.open(caller, { latestExpiry: new Date(Date.now() + 1_500) })
    expect((await wait(over.id, 30)).json).toMatchObject({ status: 'expired', resolution: 'timeout' })
  })

  it('is answered what is when its time is over', async () => {
    const row = await on.open(caller)
    expect((await wait(row.id, 1)).json).toMatchObject({ status: 'pending' })
    expect((await wait(row.id, 31)).json.errors).toMatchObject([{ pointer: '?wait' }])
  })
})

it('callers of a third account wait for their approvals where those of two have taken all places', async () => {
  const waits = createPolledWaits({ db: on.test.db, reason: 'test', find: findEnded })
  const answered = { a: 0, b: 0, c: 0 }
  const wait = (accountId: 'a' | 'b' | 'c') =>
    waits.ended({ accountId, environment: 'sandbox', id: `apr_test_${accountId}` }, 600_000).then(() => {
      answered[accountId] += 1
    })
  const all = Array.from({ length: 500 }, () => [wait('a'), wait('b')]).flat()
  all.push(wait('c'), wait('c'))
  await until(() => answered.a + answered.b === 2)
  expect(answered.c).toBe(0)
  // One account alone takes nothing from others.
  all.push(...Array.from({ length: 500 }, () => wait('a')))
  await until(() => answered.a > 400)
  expect(answered).toMatchObject({ b: 1, c: 0 })
  waits.close()
  await Promise.all(all)
})

it('a payload of any accepted shape is shown as it was authorized', async () => {
  for (const payload of [PAYLOAD, JSON.parse('{"__proto__": {"x": [1, 1e21, "\u2028"]}}')]) {
    const row = await on.open(caller, { payload })
    const shown = await on.read(caller, row.id)
    expect(hashCanonical(shown.action_payload as never)).toBe(shown.payload_hash)
  }
})
