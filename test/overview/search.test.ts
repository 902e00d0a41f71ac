// The search as callers see it: the beginning of an id or a name is found, and only by those who may read what it shows.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SEARCH_RESULT_TYPES } from '#src/overview/search/search.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import type { TestCaller } from '../support/callers.ts'
import { fillEveryTable } from '../support/rows.ts'
import { startTestService, type TestService } from '../support/service.ts'

interface Hit {
  type: string
  id: string
  title: string
}

let service: TestService
let caller: TestCaller
beforeAll(async () => {
  service = await startTestService()
})
beforeEach(async () => {
  caller = await service.makeCaller()
})
afterAll(() => service?.close())

async function ask(q: string, by: { key?: string; headers?: Record<string, string> } = caller) {
  const query = new URLSearchParams({ q })
  return service.call(by, `/v1/search?${query}`, by.headers && { headers: by.headers })
}

async function find(q: string, by?: { key?: string; headers?: Record<string, string> }): Promise<Hit[]> {
  const { status, json } = await ask(q, by)
  expect({ status, json }).toMatchObject({ status: 200 })
  return json.data as Hit[]
}

const addAgent = ({ accountId, environment }: Scope, name: string) =>
  service.test.owner(
    `INSERT INTO agents (account_id, environment, id, name, owner, created_by) VALUES ($1, $2, $3, $4, 'o', 'k')`,
    [accountId, environment, newId('agt', environment), name],
  )

describe('the search', () => {
  it('finds every type of object by its id', async () => {
    await fillEveryTable(service.test, caller)
    const { headers } = await service.signIn(caller.accountId, { email: 'ada@example.com' })
    const tables = await service.test.owner<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.columns
       WHERE table_schema = 'public' AND column_name = 'id' AND data_type = 'text' AND table_name IN
         (SELECT table_name FROM information_schema.columns WHERE column_name = 'account_id')`,
    )
    const found = new Set<string>()
    for (const { name } of tables) {
      const rows = await service.test.owner<{ id: string }>(`SELECT id FROM ${name} WHERE account_id = $1`, [
        caller.accountId,
      ])
      for (const { id } of rows) {
        for (const hit of await find(id, { headers })) {
          expect(hit).toMatchObject({ id, title: expect.stringMatching(/./) })
          found.add(hit.type)
        }
      }
    }
    expect([...found].toSorted()).toEqual([...SEARCH_RESULT_TYPES].toSorted())
  })

  it('finds a claim by the beginning of its reference and of its id, newest ids first', async () => {
    const first = await service.makeClaim(caller, { reference: 'CLM-2026-1' })
    const second = await service.makeClaim(caller, { reference: 'CLM-2026-2' })
    await service.makeClaim(caller, { reference: 'clm-2026-3' })
    await service.makeClaim(caller, { reference: 'CLM_2026' })
    expect(await find('CLM-2026')).toEqual([
      { type: 'claim', id: first, title: 'CLM-2026-1' },
      { type: 'claim', id: second, title: 'CLM-2026-2' },
    ])
    expect((await find(second.slice(0, -1))).map(({ id }) => id)).toContain(second)
    expect(await find('LM-2026')).toEqual([])
    expect(await find('%%')).toEqual([])
    expect(await find('CLM-2026-1'.repeat(20))).toEqual([])
  })

  it('finds members by address and agents by name in any case, and no former members', async () => {
    const { userId } = await service.signIn(caller.accountId, { email: 'grace@example.com' })
    await addAgent(caller, 'Grace’s assistant')
    expect(await find('GRACE')).toEqual([
      { type: 'agent', id: expect.stringMatching(/^agt_/), title: 'Grace’s assistant' },
      { type: 'user', id: userId, title: 'grace@example.com' },
    ])
    await service.test.owner('UPDATE users SET deprovisioned_at = now() WHERE id = $1', [userId])
    expect((await find('grace')).map(({ type }) => type)).toEqual(['agent'])
  })

  it('answers five of a type, and says that there are more', async () => {
    for (let n = 0; n < 5; n += 1) await addAgent(caller, `robot ${n}`)
    expect((await ask('robot')).json).toMatchObject({ data: { length: 5 }, truncated: false })
    await addAgent(caller, 'robot 6')
    const { json } = await ask('robot')
    expect(json.truncated).toBe(true)
    expect((json.data as Hit[]).map(({ title }) => title)).toEqual([
      'robot 0',
      'robot 1',
      'robot 2',
      'robot 3',
      'robot 4',
    ])
  })

  it('finds nothing of another account, and nothing of the other environment', async () => {
    const other = await service.makeCaller()
    const reference = 'SHARED-1'
    const others = await service.makeClaim(other, { reference })
    const live = await service.makeClaim({ ...caller, environment: 'live' }, { reference })
    await addAgent(other, 'SHARED')
    await service.signIn(other.accountId, { email: 'shared@example.com' })
    expect(await find('shared')).toEqual([])
    expect(await find('SHARED')).toEqual([])
    expect(await find(others)).toEqual([])
    expect((await ask(live)).json).toMatchObject({ status: 403, code: 'environment_mismatch' })
    expect((await find('SHARED', other)).map(({ type }) => type)).toEqual(['claim', 'agent', 'user'])
  })

  it('finds only what the caller may read', async () => {
    await service.test.owner(`UPDATE accounts SET plan = 'enterprise' WHERE id = $1`, [caller.accountId])
    const live = { accountId: caller.accountId, environment: 'live' as const }
    const reference = 'secret claim'
    const claim = await service.makeClaim(live, { reference })
    await addAgent(live, 'secret agent')
    await service.signIn(caller.accountId, { email: 'secret@example.com' })
    const as = async (role: 'owner' | 'analyst' | 'developer') => {
      const { headers } = await service.signIn(caller.accountId, { role })
      const hits = await find('secret', { headers: { ...headers, 'Service-Environment': 'live' } })
      return hits.map(({ type }) => type)
    }
    expect(await as('owner')).toEqual(['claim', 'agent', 'user'])
    expect(await as('analyst')).toEqual(['claim', 'agent', 'user'])
    expect(await as('developer')).toEqual(['user'])
    const key = (scopes: readonly ('verify' | 'intent' | 'admin')[], narrowedTo?: readonly 'attest'[]) =>
      service.addKey({ ...live, scopes, narrowedTo })
    const types = async (by: string, q = 'secret') => (await find(q, { key: by })).map(({ type }) => type)
    expect(await types(key(['verify']))).toEqual(['claim'])
    expect(await types(key(['intent']))).toEqual(['agent'])
    expect(await types(key(['intent'], ['attest']))).toEqual([])
    expect(await types(key(['intent']), claim)).toEqual([])
  })

  it('refuses a text that is too short, too long or absent', async () => {
    expect((await service.call(caller, '/v1/search')).json.errors).toMatchObject([{ pointer: '?q', code: 'required' }])
    expect((await ask('a')).json.errors).toMatchObject([{ pointer: '?q', code: 'too_short' }])
    expect((await ask('a'.repeat(255))).json.errors).toMatchObject([{ pointer: '?q', code: 'too_long' }])
    expect((await ask('a\0b')).status).toBe(400)
    expect(await find('\u{10FFFF}\u{10FFFF}')).toEqual([])
    expect(await find(`'"\\;--`)).toEqual([])
  })
})
