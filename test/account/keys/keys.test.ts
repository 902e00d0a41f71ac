import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createAccounts } from '#src/account/keys/accounts.ts'
import { makeRawKey } from '#src/account/keys/format.ts'
import { createKeys } from '#src/account/keys/keys.ts'
import type { NewKey } from '#src/account/keys/new-key.ts'
import { Failure } from '#src/failure.ts'
import { sha256Hex } from '#src/platform/crypto/digest.ts'
import type { Database } from '#src/platform/db/database.ts'
import { endpoint } from '#src/platform/http/endpoint.ts'
import { newAccountId, newId, type Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { call, startApp } from '../../support/http.ts'

let test: TestDatabase
let clock = new Date('2026-11-20T12:00:00.000Z')
const now = () => clock
const errors: unknown[] = []
let keys: ReturnType<typeof createKeys>
let sandbox: Scope
let live: Scope
beforeAll(async () => {
  test = await createTestDatabase()
  keys = createKeys({ db: test.db, now, onError: (error) => void errors.push(error) })
  sandbox = await makeAccount(test, { plan: 'growth', products: ['attest'] })
  live = { ...sandbox, environment: 'live' }
})
afterAll(async () => {
  await keys.settle()
  await test.close()
})

async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) =>
      error instanceof Failure
        ? [error.code, ...(error.errors ?? []).map((one) => one.pointer)].join(' ')
        : String(error),
  )
}

async function lastUse(id: string): Promise<Date | null | undefined> {
  await keys.settle()
  const [row] = await test.owner<{ last_used_at: Date | null }>('SELECT last_used_at FROM api_keys WHERE id = $1', [id])
  return row?.last_used_at
}

describe('making a key', () => {
  it('returns the raw key once and stores only its hash', async () => {
    const { id, key } = await keys.create(sandbox, { name: 'first', scopes: ['verify', 'attest', 'verify'] })
    const [row] = await test.owner<Record<string, unknown>>(
      `SELECT encode(hash, 'hex') AS hash, to_jsonb(k) AS all FROM api_keys k WHERE id = $1`,
      [id],
    )
    expect(row?.hash).toBe(sha256Hex(key))
    expect(JSON.stringify(row)).not.toContain(key.slice(9, 37))
    expect(await keys.get(sandbox, id)).toEqual({
      id,
      name: 'first',
      prefix: 'svc_test',
      last4: key.slice(-4),
      scopes: ['verify', 'attest'],
      environment: 'sandbox',
      isAccountBearing: true,
      status: 'active',
      createdAt: clock,
      createdBy: 'operator',
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
      ipAllow: null,
      products: null,
      isReadOnly: false,
      replacedBy: null,
      replaces: null,
      graceExpiresAt: null,
    })
  })

  it.each<[string, 'sandbox' | 'live', Partial<NewKey>, string]>([
    ['all in live', 'live', { scopes: ['all'] }, '/scopes/0'],
    ['no scope', 'sandbox', { scopes: [] }, '/scopes'],
    ['an unknown scope', 'sandbox', { scopes: ['verify', 'root' as 'verify'] }, '/scopes/1'],
    ['an empty name', 'sandbox', { name: ' ' }, '/name'],
    ['a name with U+0000', 'sandbox', { name: 'a\0' }, '/name'],
    ['an expiry that is over', 'sandbox', { expiresAt: new Date('2026-11-20T12:00:00.000Z') }, '/expires_at'],
    ['an expiry that is no date', 'sandbox', { expiresAt: new Date(Number.NaN) }, '/expires_at'],
    ['a raw key of live in sandbox', 'sandbox', { raw: makeRawKey('live') }, '/raw'],
    ['a raw key that is none', 'sandbox', { raw: 'svc_test_short' }, '/raw'],
  ])('refuses %s', async (_name, environment, wanted, pointer) => {
    const code = await codeOf(keys.create({ ...sandbox, environment }, { name: 'x', scopes: ['verify'], ...wanted }))
    expect(code).toBe(`invalid_request ${pointer}`)
  })

  it('accepts a configured key without its checksum, any number of times', async () => {
    const raw = 'svc_test_publishable0sandbox0key000all0'
    const padded = raw.slice(0, 41).padEnd(41, '0')
    const wanted: NewKey = { name: 'publishable', scopes: ['all'], isAccountBearing: false, raw: padded }
    const first = await keys.create(sandbox, wanted)
    expect(await keys.create(sandbox, wanted)).toEqual(first)
    expect(await keys.find(padded)).toMatchObject({ keyId: first.id, isAccountBearing: false, scopes: ['all'] })
    const other = await makeAccount(test)
    expect(await codeOf(keys.create(other, wanted))).toBe('conflict')
  })
})

describe('looking up a key', () => {
  it('returns its owner, and the plan and the products of the account', async () => {
    const made = await keys.create(live, {
      name: 'live',
      scopes: ['verify'],
      expiresAt: new Date('2027-01-01T00:00:00Z'),
    })
    expect(await keys.find(made.key)).toEqual({
      keyId: made.id,
      accountId: live.accountId,
      environment: 'live',
      scopes: ['verify'],
      isAccountBearing: true,
      plan: 'growth',
      products: ['attest'],
      expiresAt: new Date('2027-01-01T00:00:00Z'),
      revokedAt: undefined,
      ipAllow: undefined,
      isReadOnly: false,
    })
    expect(await keys.findScope(made.id)).toEqual(live)
    expect(await keys.findScope(newId('key', 'live'))).toBeUndefined()
  })

  it('finds nothing for a malformed key, without asking the database', async () => {
    const asked: string[] = []
    const refuse = (reason: string) => Promise.reject(new Error(asked.push(reason).toString()))
    const db: Pick<Database, 'tenant' | 'system' | 'readSystem'> = {
      tenant: () => refuse('tenant'),
      system: refuse,
      readSystem: refuse,
    }
    const blind = createKeys({ db })
    for (const raw of ['', 'x', 'svc_live_', "' OR 1=1 --", 'svc_test_\0', 'a'.repeat(100_000)])
      expect(await blind.find(raw)).toBeUndefined()
    expect(asked).toEqual([])
  })

  it('does not find a key whose prefix names another environment', async () => {
    const raw = makeRawKey('live')
    const { id } = await keys.create(sandbox, { name: 'moved', scopes: ['verify'] })
    await test.owner(`UPDATE api_keys SET hash = sha256($2::bytea) WHERE id = $1`, [id, Buffer.from(raw)])
    expect(await keys.find(raw)).toBeUndefined()
  })

  it('finds each of many keys that are requested at once, in a few transactions', async () => {
    let transactions = 0
    const counting = createKeys({
      db: {
        ...test.db,
        readSystem: (reason, statement) => {
          transactions += 1
          return test.db.readSystem(reason, statement)
        },
      },
      now,
    })
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, i) => keys.create(sandbox, { name: `k${i}`, scopes: ['verify'] })),
    )
    const asked = [...made, ...made, { id: undefined, key: makeRawKey('sandbox') }]
    const found = await Promise.all(asked.map(({ key }) => counting.find(key)))
    expect(found.map((row) => row?.keyId)).toEqual(asked.map(({ id }) => id))
    expect(transactions).toBeLessThan(5)
    await counting.settle()
  })

  it('fails for the requests under way, and works again for the next', async () => {
    let isBroken = true
    const { key, id } = await keys.create(sandbox, { name: 'x', scopes: ['verify'] })
    const shaky = createKeys({
      db: {
        ...test.db,
        readSystem: (reason, statement) => {
          if (isBroken) throw new Error('no connection')
          return test.db.readSystem(reason, statement)
        },
      },
      now,
    })
    await expect(Promise.all([shaky.find(key), shaky.find(key)])).rejects.toThrow('no connection')
    isBroken = false
    expect((await shaky.find(key))?.keyId).toBe(id)
    await shaky.settle()
  })
})

describe('revoking a key', () => {
  it('is seen by the next look-up, and happens once', async () => {
    const { id, key } = await keys.create(sandbox, { name: 'x', scopes: ['verify'] })
    expect((await keys.find(key))?.revokedAt).toBeUndefined()
    const at = clock
    expect((await keys.revoke(sandbox, id)).revokedAt).toEqual(at)
    expect((await keys.find(key))?.revokedAt).toEqual(at)
    clock = new Date(clock.getTime() + 5_000)
    expect((await keys.revoke(sandbox, id)).revokedAt).toEqual(at)
  })

  it('reaches no other account and no other environment', async () => {
    const { id } = await keys.create(sandbox, { name: 'x', scopes: ['verify'] })
    const other = await makeAccount(test)
    expect(await codeOf(keys.revoke(other, id))).toBe('not_found')
    expect(await codeOf(keys.revoke(live, id))).toBe('environment_mismatch')
    expect(await codeOf(keys.revoke(sandbox, 'nonsense'))).toBe('not_found')
    expect(await codeOf(keys.revoke(sandbox, newId('key', 'sandbox')))).toBe('not_found')
    expect((await keys.get(sandbox, id)).revokedAt).toBeNull()
    expect(await keys.list(other, { limit: 100 })).toEqual([])
  })
})

describe('last use', () => {
  it('is written at most once a minute, and not for dead keys', async () => {
    const { id, key } = await keys.create(sandbox, {
      name: 'x',
      scopes: ['verify'],
      expiresAt: new Date(clock.getTime() + 600_000),
    })
    const first = clock
    await Promise.all([keys.find(key), keys.find(key), keys.find(key)])
    expect(await lastUse(id)).toEqual(first)
    clock = new Date(first.getTime() + 59_999)
    await keys.find(key)
    expect(await lastUse(id)).toEqual(first)
    clock = new Date(first.getTime() + 60_000)
    await keys.find(key)
    expect(await lastUse(id)).toEqual(clock)
    const last = clock
    clock = new Date(first.getTime() + 600_000)
    await keys.find(key)
    expect(await lastUse(id)).toEqual(last)
    expect(errors).toEqual([])
  })

  it('does not fail the request when writing it fails', async () => {
    const { key, id } = await keys.create(sandbox, { name: 'x', scopes: ['verify'] })
    const told: unknown[] = []
    const shaky = createKeys({
      db: {
        ...test.db,
        system: (reason, work, options) =>
          reason === 'key use' ? Promise.reject(new Error('down')) : test.db.system(reason, work, options),
      },
      now,
      onError: (error) => void told.push(error),
    })
    expect((await shaky.find(key))?.keyId).toBe(id)
    await shaky.settle()
    expect(told).toHaveLength(1)
  })
})

describe('listing keys', () => {
  it('lists the newest first and continues below an id', async () => {
    const scope = await makeAccount(test)
    const made: string[] = []
    for (let i = 0; i < 5; i += 1) made.unshift((await keys.create(scope, { name: `k${i}`, scopes: ['verify'] })).id)
    made.sort().reverse()
    const first = await keys.list(scope, { limit: 3 })
    expect(first.map((one) => one.id)).toEqual(made.slice(0, 3))
    expect((await keys.list(scope, { limit: 3, before: made[2] ?? '' })).map((one) => one.id)).toEqual(made.slice(3))
    expect(JSON.stringify(first)).not.toContain('hash')
  })
})

describe('an account', () => {
  it('is created, found, and returned unchanged when created again', async () => {
    const accounts = createAccounts({ db: test.db })
    const made = await accounts.create({ name: 'Insurer', plan: 'enterprise', products: ['attest'] })
    expect(made).toMatchObject({
      name: 'Insurer',
      plan: 'enterprise',
      products: ['attest'],
      createdAt: expect.any(Date),
    })
    expect(await accounts.find(made.id)).toEqual(made)
    expect(await accounts.create({ id: made.id, name: 'Other', plan: 'developer' })).toEqual(made)
    expect(await accounts.find(newAccountId('acc'))).toBeUndefined()
    expect(await codeOf(accounts.get(newAccountId('acc')))).toBe('not_found')
    expect(await codeOf(accounts.create({ name: '', plan: 'growth' }))).toBe('invalid_request /name')
    expect(await codeOf(accounts.create({ name: 'x', plan: 'free' as 'growth' }))).toBe('invalid_request /plan')
    expect(await codeOf(accounts.create({ name: 'x', plan: 'growth', id: "acc_'" }))).toBe('invalid_request /id')
  })
})

describe('a key in a request to the application', () => {
  it('is accepted, and refused on the next request after it was revoked', async () => {
    const app = await startApp(
      [
        endpoint(
          {
            method: 'GET',
            path: '/v1/me',
            sdk: { none: 'a route of a test' },
            effect: 'write',
            kind: 'call',
            summary: 'Me',
            operationId: 'test',
            scope: 'verify',
            view: z.object({ account: z.string(), plan: z.string() }),
            status: [200],
          },
          async ({ caller }) => ({ account: caller.accountId, plan: caller.plan }),
        ),
      ],
      { findKey: keys.find, now },
    )
    const { id, key } = await keys.create(sandbox, { name: 'x', scopes: ['verify'] })
    expect((await call(app, '/v1/me', { key })).json).toEqual({ account: sandbox.accountId, plan: 'growth' })
    await keys.revoke(sandbox, id)
    expect((await call(app, '/v1/me', { key })).json.code).toBe('api_key_revoked')
    expect((await call(app, '/v1/me', { key: makeRawKey('sandbox') })).json.code).toBe('invalid_api_key')
    await app.close()
  })
})
