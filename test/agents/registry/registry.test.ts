// Agents over the real routes: what is registered, sessions, and suspension with its entries in the decision ledger.

import { generateKeyPairSync } from 'node:crypto'
import { calculateJwkThumbprint } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readAgents } from '#src/agents/registry/rows.ts'
import { checkSessionName, readAgentSession } from '#src/agents/registry/session-rows.ts'
import { newId } from '#src/platform/ids.ts'
import type { TestCaller } from '../../support/callers.ts'
import { type Checking, startChecking } from '../../trace/service.ts'

let on: Checking
let caller: TestCaller

beforeAll(async () => {
  on = await startChecking()
})
afterAll(() => on?.close())
beforeEach(async () => {
  caller = await on.makeCaller()
})

const patch = (id: string, json: unknown) => on.service.call(caller, `/v1/agents/${id}`, { method: 'PATCH', json })
const read = (id: string) =>
  on.service.test.db.tenant(caller, async (tx) => (await readAgents(tx, [id, newId('agt', 'sandbox')])).get(id))
const listed = async (query: string) =>
  ((await on.get(caller, `/v1/agents?${query}`)).data as { agent_id: string }[]).map(({ agent_id: id }) => id)

describe('an agent', () => {
  it('is registered with its key, whose thumbprint is that of RFC 7638, and read by decisions', async () => {
    for (const [type, options] of [
      ['ec', { namedCurve: 'P-256' }],
      ['ed25519', {}],
    ] as const) {
      const { publicKey } = generateKeyPairSync(type as 'ec', options as { namedCurve: string })
      const jwk = publicKey.export({ format: 'jwk' })
      const body = { name: ' Desk ', owner: 'a@example.com', public_key: jwk, metadata: { tier: 2, deep: { a: [1] } } }
      const { json } = await on.post(caller, '/v1/agents', body)
      expect(json).toMatchObject({
        name: 'Desk',
        status: 'active',
        suspensions: [],
        public_key: jwk,
        public_key_thumbprint: await calculateJwkThumbprint(jwk as { kty: string }),
        metadata: body.metadata,
        version: 1,
        created_by: { type: 'key', id: expect.stringMatching(/^key_test_/) },
      })
      const id = String(json.agent_id)
      expect(await on.get(caller, `/v1/agents/${id}`)).toEqual(json)
      const { metadata, owner } = body
      expect(await read(id)).toEqual({ id, name: 'Desk', owner, status: 'active', causes: [], metadata })
    }
  })

  it('has no metadata with a member __proto__ at any depth, and neither has a session', async () => {
    const { json } = await on.post(caller, '/v1/agents', { name: 'A', owner: 'o' })
    const id = String(json.agent_id)
    for (const [text, pointer] of [
      ['{"__proto__": {"tier": 1}}', '/metadata/__proto__'],
      ['{"a": [{"__proto__": 1}]}', '/metadata/a/0/__proto__'],
    ] as const) {
      const metadata = JSON.parse(text)
      for (const refused of [
        await on.post(caller, '/v1/agents', { name: 'A', owner: 'o', metadata }),
        await on.post(caller, `/v1/agents/${id}/sessions`, { metadata }),
        await patch(id, { metadata }),
      ]) {
        expect([refused.status, refused.json.errors]).toMatchObject([400, [{ pointer, code: 'invalid_value' }]])
      }
    }
  })

  it('keeps every other member of its metadata and of those of its sessions', async () => {
    const metadata = JSON.parse('{"constructor": "x", "toString": {"tier": 1}}')
    const { json } = await on.post(caller, '/v1/agents', { name: 'A', owner: 'o', metadata })
    const id = String(json.agent_id)
    const opened = (await on.post(caller, `/v1/agents/${id}/sessions`, { metadata })).json
    for (const shown of [
      json,
      (await patch(id, { metadata })).json,
      await on.get(caller, `/v1/agents/${id}`),
      opened,
    ]) {
      expect(shown.metadata).toEqual(metadata)
    }
    expect((await read(id))?.metadata).toEqual(metadata)
  })

  it('is refused with a private key, a point off the curve, another curve, and too much metadata', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const jwk = publicKey.export({ format: 'jwk' })
    const pointers = async (more: object) => {
      const { status, json } = await on.post(caller, '/v1/agents', { name: 'A', owner: 'o', ...more })
      expect(status).toBe(400)
      return json.errors?.map(({ pointer }) => pointer)
    }
    expect(await pointers({ public_key: privateKey.export({ format: 'jwk' }) })).toEqual(['/public_key/d'])
    expect(await pointers({ public_key: { ...jwk, x: jwk.y } })).toEqual(['/public_key'])
    expect(await pointers({ public_key: { ...jwk, crv: 'secp256k1' } })).toEqual(['/public_key/crv'])
    // The same 32 bytes: two bits of the last character mean nothing.
    const spelled = (x = '') => x.slice(0, -1) + String.fromCharCode(x.charCodeAt(x.length - 1) + 1)
    expect(await pointers({ public_key: { ...jwk, x: spelled(jwk.x) } })).toEqual(['/public_key/x'])
    expect(await pointers({ public_key: { ...jwk, kty: 'RSA' } })).toEqual(['/public_key/kty'])
    // A point of small order, one that is not canonical, and none.
    for (const bytes of [Buffer.alloc(32), Buffer.alloc(32, 0xff), Buffer.alloc(32).fill(2, 0, 1)]) {
      const x = bytes.toString('base64url')
      expect(await pointers({ public_key: { kty: 'OKP', crv: 'Ed25519', x } })).toEqual(['/public_key'])
    }
    for (const x of ['', '====', '-', 'AAAA', 'A'.repeat(44)]) {
      expect(await pointers({ public_key: { kty: 'OKP', crv: 'Ed25519', x } }), x).toEqual(['/public_key/x'])
      expect(await pointers({ public_key: { ...jwk, x } }), x).toEqual(['/public_key/x'])
    }
    expect(await pointers({ metadata: { text: 'x'.repeat(5_000) } })).toEqual(['/metadata'])
    expect(await pointers({ metadata: { '': 1, [`a${'b'.repeat(100)}`]: 2 } })).toEqual([
      '/metadata/',
      `/metadata/a${'b'.repeat(100)}`,
    ])
    expect(await pointers({ metadata: [] })).toEqual(['/metadata'])
    expect(await on.service.call(caller, '/v1/agents').then(({ json }) => json.data)).toEqual([])
  })

  it('is changed in what the request names, and keeps the rest', async () => {
    const { publicKey } = generateKeyPairSync('ed25519')
    const key = publicKey.export({ format: 'jwk' })
    const id = await on.makeAgent(caller, { public_key: key, metadata: { a: 1 } })
    expect((await patch(id, { owner: 'b@example.com' })).json).toMatchObject({
      owner: 'b@example.com',
      name: 'A',
      public_key: key,
      metadata: { a: 1 },
    })
    const changed = (await patch(id, { public_key: null, metadata: { b: 2 }, name: 'B' })).json
    expect(changed).toMatchObject({ public_key: null, public_key_thumbprint: null, metadata: { b: 2 }, name: 'B' })
    expect((await patch(id, {})).json.code).toBe('invalid_request')
    expect((await patch(newId('agt', 'sandbox'), { name: 'C' })).json.code).toBe('not_found')
  })

  it('is changed only in the version that the caller has read, where it names one', async () => {
    const id = await on.makeAgent(caller)
    const change = (name: string, match?: string, more = {}) =>
      on.service.call(caller, `/v1/agents/${id}`, {
        method: 'PATCH',
        json: { name },
        headers: { ...(match !== undefined && { 'If-Match': match }), ...more },
      })
    const { headers } = await on.service.call(caller, `/v1/agents/${id}`)
    const tag = String(headers.etag)
    expect(tag).toMatch(/^"1-/)
    // A suspension changes the answer, and nothing that PATCH changes.
    await on.post(caller, `/v1/agents/${id}/suspend`, { reason: 'r' })
    const condition = { 'If-None-Match': tag }
    expect((await on.service.call(caller, `/v1/agents/${id}`, { headers: condition })).status).toBe(200)
    const changed = await change('B', tag, { 'Idempotency-Key': 'a-change' })
    expect(changed).toMatchObject({ status: 200, json: { name: 'B', version: 2 } })
    expect(changed.headers.etag).toMatch(/^"2-/)
    expect((await change('B', tag, { 'Idempotency-Key': 'a-change' })).json).toEqual(changed.json)
    expect(await change('C', tag)).toMatchObject({ status: 412, json: { code: 'precondition_failed', version: 2 } })
    expect((await change('C', '"2"')).json).toMatchObject({ name: 'C', version: 3 })
    expect((await change('D')).json).toMatchObject({ name: 'D', version: 4 })
    expect((await change('E', 'W/"4"')).json.code).toBe('invalid_request')
    // Of changes at once that name one version, one is made.
    const statuses = await Promise.all(Array.from({ length: 5 }, async (_, n) => (await change(`F${n}`, '"4"')).status))
    expect(statuses.toSorted()).toEqual([200, 412, 412, 412, 412])
  })

  it('is listed by status and owner, newest first, in pages', async () => {
    const ids = [await on.makeAgent(caller), await on.makeAgent(caller), await on.makeAgent(caller, { owner: 'x' })]
    await on.post(caller, `/v1/agents/${ids[1]}/suspend`, { reason: 'r' })
    expect(await listed('status=suspended')).toEqual([ids[1]])
    expect(await listed('status=active')).toEqual([ids[2], ids[0]])
    await on.post(caller, `/v1/agents/${ids[0]}/retire`, { reason: 'r' })
    expect(await listed('status=retired')).toEqual([ids[0]])
    expect(await listed('status=suspended')).toEqual([ids[1]])
    expect(await listed('status=active')).toEqual([ids[2]])
    expect(await listed('status=retired&status=active')).toEqual([ids[2], ids[0]])
    expect(await listed('owner=x')).toEqual([ids[2]])
    const first = await on.get(caller, '/v1/agents?limit=2&include=total_count')
    expect(first).toMatchObject({ has_more: true, total_count: 3 })
    expect(await listed(`limit=2&cursor=${first.next_cursor}`)).toEqual([ids[0]])
  })

  it('is registered once for an Idempotency-Key', async () => {
    const send = () => on.post(caller, '/v1/agents', { name: 'A', owner: 'o' }, { 'Idempotency-Key': 'one' })
    const [first, second] = [await send(), await send()]
    expect(second.json).toEqual(first.json)
    expect(await listed('')).toHaveLength(1)
  })
})

describe('the suspension of an agent', () => {
  it('holds until it is lifted, and each change is one entry of the ledger', async () => {
    const id = await on.makeAgent(caller)
    const first = (await on.post(caller, `/v1/agents/${id}/suspend`, { reason: 'first' })).json
    expect(first).toMatchObject({
      status: 'suspended',
      suspensions: [{ cause: 'manual', reason: 'first', lock_id: null }],
    })
    // The first reason stays, and a repeat is no second suspension.
    expect((await on.post(caller, `/v1/agents/${id}/suspend`, { reason: 'second' })).json).toEqual(first)
    expect(await read(id)).toMatchObject({ status: 'suspended', causes: ['manual'] })
    expect((await on.post(caller, `/v1/agents/${id}/unsuspend`)).json).toMatchObject({
      status: 'active',
      suspensions: [],
    })
    const again = await on.post(caller, `/v1/agents/${id}/unsuspend`)
    expect([again.status, again.json.code, again.json.allowed]).toEqual([
      409,
      'invalid_state_transition',
      ['suspended'],
    ])
    const entries = await on.ledger(caller)
    expect(entries.map(({ kind, subject_id, reason }) => [kind, subject_id, reason])).toEqual([
      ['agent_suspend', id, null],
      ['agent_unsuspend', id, null],
    ])
    expect(entries[0]?.actor).toMatchObject({ api_key_id: caller.principal.kind === 'key' && caller.principal.keyId })
  })

  it('is one, however many requests there are at once, and so is its end', async () => {
    const id = await on.makeAgent(caller)
    const suspend = () => on.post(caller, `/v1/agents/${id}/suspend`, { reason: 'r' })
    await Promise.all(Array.from({ length: 10 }, suspend))
    expect(await on.ledger(caller)).toHaveLength(1)
    const ends = await Promise.all(Array.from({ length: 10 }, () => on.post(caller, `/v1/agents/${id}/unsuspend`)))
    expect(ends.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 9 }, () => 409)])
    expect((await on.ledger(caller)).map(({ kind }) => kind)).toEqual(['agent_suspend', 'agent_unsuspend'])
  })

  it('is possible for roles that may write agents, and lifting it needs more than the scope of an agent', async () => {
    const id = await on.makeAgent(caller)
    const key = on.service.addKey({ accountId: caller.accountId, scopes: ['intent'] })
    for (const act of ['suspend', 'unsuspend']) {
      const { json } = await on.service.call({ key }, `/v1/agents/${id}/${act}`, {
        method: 'POST',
        ...(act === 'suspend' && { json: { reason: 'r' } }),
      })
      expect([act, json.code, json.required_scope]).toEqual([act, 'insufficient_scope', 'escalate'])
    }
    const analyst = await on.service.signIn(caller.accountId, { role: 'analyst' })
    const sent = { method: 'POST', headers: analyst.headers, json: { reason: 'r' } }
    expect((await on.service.call({}, `/v1/agents/${id}/suspend`, sent)).json.code).toBe('insufficient_role')
    const admin = await on.service.signIn(caller.accountId, { role: 'admin' })
    const done = await on.service.call({}, `/v1/agents/${id}/suspend`, { ...sent, headers: admin.headers })
    expect(done.json).toMatchObject({
      status: 'suspended',
      suspensions: [{ suspended_by: { type: 'user', id: admin.userId } }],
    })
  })
})

describe('the end of an agent', () => {
  const retire = (id: string, headers = {}) => on.post(caller, `/v1/agents/${id}/retire`, { reason: 'over' }, headers)

  it('is permanent: nothing changes the agent or resumes it, and its sessions have ended with it', async () => {
    const [id, other] = [await on.makeAgent(caller), await on.makeAgent(caller)]
    const sessions = [await on.openSession(caller, id), await on.openSession(caller, id)]
    const kept = await on.openSession(caller, other)
    await on.post(caller, `/v1/agents/${id}/suspend`, { reason: 'manual' })
    const retired = (await retire(id)).json
    expect(retired).toMatchObject({
      status: 'retired',
      suspensions: [{ cause: 'manual' }],
      retired_at: expect.any(String),
      retired_by: { type: 'key', id: expect.any(String) },
      retired_reason: 'over',
      version: 2,
    })
    expect(await on.get(caller, `/v1/agents/${id}`)).toEqual(retired)
    expect((await retire(id)).json).toEqual(retired)
    expect((await on.post(caller, `/v1/agents/${id}/suspend`, { reason: 'again' })).json).toEqual(retired)
    for (const refused of [await on.post(caller, `/v1/agents/${id}/unsuspend`), await patch(id, { name: 'B' })]) {
      expect(refused).toMatchObject({
        status: 409,
        json: { code: 'invalid_state_transition', current_status: 'retired' },
      })
    }
    expect((await on.post(caller, `/v1/agents/${id}/sessions`, {})).json.code).toBe('agent_suspended')
    expect(await read(id)).toMatchObject({ status: 'suspended', causes: ['manual', 'retired'] })
    const { data } = (await on.get(caller, '/v1/agents/sessions')) as {
      data: { agent_session_id: string; status: string; ended_by: unknown }[]
    }
    expect(data.map(({ agent_session_id: session, status }) => [session, status])).toEqual([
      [kept, 'open'],
      ...sessions.toReversed().map((session) => [session, 'ended']),
    ])
    expect(data[1]?.ended_by).toEqual(retired.retired_by)
  })

  it('is one entry of the ledger and of the audit log, however many requests there are at once', async () => {
    const id = await on.makeAgent(caller)
    const answers = await Promise.all(Array.from({ length: 10 }, () => retire(id)))
    expect(new Set(answers.map(({ json }) => JSON.stringify(json))).size).toBe(1)
    expect((await on.ledger(caller)).map(({ kind, subject_id: subject }) => [kind, subject])).toEqual([
      ['agent_suspend', id],
    ])
    const admin = on.service.addKey({ accountId: caller.accountId, scopes: ['admin'] })
    const { json } = await on.service.call({ key: admin }, '/v1/account/audit?action=agent.retired')
    expect(json.data).toMatchObject([
      { subject_id: id, before: { status: 'active' }, after: { status: 'retired', reason: 'over' } },
    ])
  })

  it('takes a role that writes agents: who may suspend one may not end it', async () => {
    const id = await on.makeAgent(caller)
    const as = async (role: 'approver' | 'admin', act: string) => {
      const { headers } = await on.service.signIn(caller.accountId, { role })
      return on.service.call({}, `/v1/agents/${id}/${act}`, { method: 'POST', headers, json: { reason: 'r' } })
    }
    expect((await as('approver', 'retire')).json.code).toBe('insufficient_role')
    expect((await as('approver', 'suspend')).json).toMatchObject({ status: 'suspended' })
    expect((await as('admin', 'retire')).json).toMatchObject({ status: 'retired', retired_by: { type: 'user' } })
    const key = on.service.addKey({ accountId: caller.accountId, scopes: ['intent'] })
    const sent = { method: 'POST', json: { reason: 'r' } }
    expect((await on.service.call({ key }, `/v1/agents/${id}/retire`, sent)).json.code).toBe('insufficient_scope')
  })
})

describe('a session of an agent', () => {
  it('is listed with those of all agents, by agent, status and time, in pages', async () => {
    const [agent, other] = [await on.makeAgent(caller), await on.makeAgent(caller)]
    const opened = [
      await on.openSession(caller, agent),
      await on.openSession(caller, other),
      await on.openSession(caller, agent),
    ]
    await on.post(caller, `/v1/agents/${other}/sessions/${opened[1]}/end`)
    const list = async (query: string) => {
      const page = await on.get(caller, `/v1/agents/sessions?${query}`)
      const { data, ...rest } = page as {
        data: { agent_session_id: string; created_at: string }[]
        total_count?: number
        next_cursor?: string
      }
      return { ...rest, ids: data.map(({ agent_session_id: id }) => opened.indexOf(id)), data }
    }
    const all = await list('include=total_count')
    expect([all.ids, all.total_count]).toEqual([[2, 1, 0], 3])
    expect((await list(`agent_id=${agent}`)).ids).toEqual([2, 0])
    expect((await list('status=open')).ids).toEqual([2, 0])
    expect((await list('status=ended')).ids).toEqual([1])
    expect((await list(`status=open&agent_id=${other}`)).ids).toEqual([])
    expect((await list(`agent_id=${newId('agt', 'sandbox')}`)).ids).toEqual([])
    const newest = all.data[0]?.created_at ?? ''
    expect((await list(`created_gte=${newest}`)).ids).toContain(2)
    expect((await list(`created_lt=${all.data[2]?.created_at}`)).ids).toEqual([])
    const first = await list('limit=2')
    expect([first.ids, (await list(`limit=2&cursor=${first.next_cursor}`)).ids]).toEqual([[2, 1], [0]])
    expect((await on.get(caller, `/v1/agents/sessions?agent_id=${newId('agt', 'live')}`)).code).toBe(
      'environment_mismatch',
    )
  })

  it('is opened, listed by its status, read by decisions, and ended once', async () => {
    const [agent, other] = [await on.makeAgent(caller), await on.makeAgent(caller)]
    const [first, second] = [await on.openSession(caller, agent), await on.openSession(caller, agent)]
    const path = `/v1/agents/${agent}/sessions`
    const ids = async (query: string) =>
      ((await on.get(caller, `${path}?${query}`)).data as { agent_session_id: string }[]).map(
        ({ agent_session_id: id }) => id,
      )
    const ended = (await on.post(caller, `${path}/${first}/end`)).json
    expect(ended).toMatchObject({ status: 'ended', ended_at: expect.any(String), agent_id: agent })
    expect((await on.post(caller, `${path}/${first}/end`)).json).toEqual(ended)
    expect(await on.get(caller, `${path}/${first}`)).toEqual(ended)
    expect([await ids(''), await ids('status=open'), await ids('status=ended')]).toEqual([
      [second, first],
      [second],
      [first],
    ])
    expect((await on.get(caller, `/v1/agents/${other}/sessions/${first}`)).code).toBe('not_found')
    const rows = await on.service.test.db.tenant(caller, (tx) =>
      Promise.all([first, second, 'run-7'].map((id) => readAgentSession(tx, id))),
    )
    expect(rows.map((row) => row && [row.agentId, row.status])).toEqual([[agent, 'ended'], [agent, 'open'], undefined])
    // Its metadata are all that a body could say.
    expect((await on.post(caller, path)).json).toMatchObject({ agent_id: agent, status: 'open', metadata: {} })
  })

  it('is not opened by a suspended agent', async () => {
    const agent = await on.makeAgent(caller)
    await on.post(caller, `/v1/agents/${agent}/suspend`, { reason: 'r' })
    expect((await on.post(caller, `/v1/agents/${agent}/sessions`, {})).json.code).toBe('agent_suspended')
  })

  it('has an id of the environment, where its name is not of the caller’s own words', () => {
    expect(checkSessionName('run-7', 'sandbox')).toBe('run-7')
    const id = newId('ses', 'sandbox')
    expect(checkSessionName(id, 'sandbox')).toBe(id)
    const codeOf = (name: string) => {
      try {
        return checkSessionName(name, 'sandbox')
      } catch (error) {
        return (error as { code: string }).code
      }
    }
    expect(codeOf(newId('ses', 'live'))).toBe('environment_mismatch')
    expect(codeOf('ses_test_short')).toBe('not_found')
  })
})
