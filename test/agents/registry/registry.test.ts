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
        created_by: expect.stringMatching(/^key_test_/),
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

  it('is listed by status and owner, newest first, in pages', async () => {
    const ids = [await on.makeAgent(caller), await on.makeAgent(caller), await on.makeAgent(caller, { owner: 'x' })]
    await on.post(caller, `/v1/agents/${ids[1]}/suspend`, { reason: 'r' })
    expect(await listed('status=suspended')).toEqual([ids[1]])
    expect(await listed('status=active')).toEqual([ids[2], ids[0]])
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
    expect(done.json).toMatchObject({ status: 'suspended', suspensions: [{ suspended_by: admin.userId }] })
  })
})

describe('a session of an agent', () => {
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
    expect((await on.post(caller, `/v1/agents/${agent}/sessions`, {})).json.code).toBe('conflict')
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
