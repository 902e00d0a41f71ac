import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readActors } from '#src/account/users/actors.ts'
import type { StoredActorId } from '#src/platform/http/actor.ts'
import { actorIdOf, unlabelledActor } from '#src/platform/http/actor.ts'
import { newAccountId, newId, type Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await createTestDatabase()
})
afterAll(() => test.close())

const read = (scope: Scope, ids: StoredActorId[]) => test.db.tenant(scope, (tx) => readActors(tx, ids))

async function makeUser({ accountId }: Scope, email: string, removedAt: Date | null = null): Promise<string> {
  const id = newAccountId('usr')
  await test.owner(
    `INSERT INTO users (account_id, id, email, role, deprovisioned_at) VALUES ($1, $2, $3, 'admin', $4)`,
    [accountId, id, email, removedAt],
  )
  return id
}

async function makeKey({ accountId }: Scope, environment: 'sandbox' | 'live', name: string): Promise<string> {
  const id = newId('key', environment)
  await test.owner(
    `INSERT INTO api_keys (account_id, environment, id, name, hash, prefix, last4, scopes, created_by)
     VALUES ($1, $2, $3, $4, $5, 'p', '4', '{}', 'operator')`,
    [accountId, environment, id, name, randomBytes(32)],
  )
  return id
}

async function makeAgent({ accountId, environment }: Scope, name: string): Promise<string> {
  const id = newId('agt', environment)
  await test.owner(
    `INSERT INTO agents (account_id, environment, id, name, owner, created_by) VALUES ($1, $2, $3, $4, 'o', 'service')`,
    [accountId, environment, id, name],
  )
  return id
}

describe('the reader of actors', () => {
  it('labels users with their address, removed ones too, keys and agents with their name', async () => {
    const scope = await makeAccount(test)
    const user = await makeUser(scope, 'ada@example.com')
    const removed = await makeUser(scope, 'bob@example.com', new Date())
    const key = await makeKey(scope, 'sandbox', 'intake')
    const agent = await makeAgent(scope, 'payer')
    const actor = await read(scope, [user, removed, key, agent, user])
    expect(actor(user)).toEqual({ type: 'user', id: user, label: 'ada@example.com' })
    expect(actor(removed)).toEqual({ type: 'user', id: removed, label: 'bob@example.com' })
    expect(actor(key)).toEqual({ type: 'key', id: key, label: 'intake' })
    expect(actor(agent)).toEqual({ type: 'agent', id: agent, label: 'payer' })
  })

  it('labels a key with the person whom its caller named, and a user never', async () => {
    const scope = await makeAccount(test)
    const user = await makeUser(scope, 'eve@example.com')
    const key = await makeKey(scope, 'sandbox', 'intake')
    const actor = await read(scope, [user, key])
    expect(actor(key, 'Ms. Jones')).toEqual({ type: 'key', id: key, label: 'Ms. Jones' })
    expect(actor(user, 'Ms. Jones')).toEqual({ type: 'user', id: user, label: 'eve@example.com' })
  })

  it('shows the id alone of rows that are gone, of another account or of the other environment', async () => {
    const scope = await makeAccount(test)
    const other = await makeAccount(test)
    const gone = newAccountId('usr')
    const foreign = await makeUser(other, 'foreign@example.com')
    const live = await makeKey(scope, 'live', 'the live key')
    const actor = await read(scope, [gone, foreign, live])
    expect([gone, foreign, live].map((id) => actor(id))).toEqual([
      { type: 'user', id: gone, label: null },
      { type: 'user', id: foreign, label: null },
      { type: 'key', id: live, label: null },
    ])
  })

  it('has neither id nor label for the service, an operator and a directory, and asks nothing for them', async () => {
    const queries: string[] = []
    const counting = { query: async (text: string) => void queries.push(text) } as never
    const actor = await readActors(counting, ['service', 'operator', 'directory', 'auto', null])
    expect(['service', 'operator', 'directory', 'auto'].map((id) => actor(id))).toEqual(
      ['service', 'operator', 'directory', 'service'].map((type) => ({ type, id: null, label: null })),
    )
    expect(actor(null)).toBeNull()
    expect(queries).toEqual([])
  })

  it('reads a page with one query, however many actors it has', async () => {
    const scope = await makeAccount(test)
    const users = await Promise.all(['u1', 'u2', 'u3'].map((name) => makeUser(scope, `${name}@many.example`)))
    const key = await makeKey(scope, 'sandbox', 'intake')
    const count = await test.db.tenant(scope, async (tx) => {
      let queries = 0
      const counting = new Proxy(tx, {
        get: (target, name: keyof typeof tx) => {
          if (name === 'query') queries += 1
          return target[name]
        },
      })
      await readActors(counting, [...users, key])
      return queries
    })
    expect(count).toBe(1)
  })
})

describe('a stored actor', () => {
  it('is the key where there is one, the person of a session, or the service', () => {
    expect(actorIdOf({ keyId: 'key_1', person: 'Ms. Jones' })).toBe('key_1')
    expect(actorIdOf({ keyId: null, person: 'usr_1' })).toBe('usr_1')
    expect(actorIdOf({ keyId: null, person: null })).toBe('service')
  })

  it('has no label in events', () => {
    expect(unlabelledActor('usr_1')).toEqual({ type: 'user', id: 'usr_1', label: null })
    expect(unlabelledActor('auto')).toEqual({ type: 'service', id: null, label: null })
  })
})
