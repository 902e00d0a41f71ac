import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createAccounts } from '#src/account/keys/accounts.ts'
import { insertEndpoint } from '#src/account/webhooks/rows.ts'
import { newSecret, openSecret, SEALED_SECRETS, sealSecret } from '#src/account/webhooks/secret.ts'
import { DEFAULTS } from '#src/account/webhooks/settings.ts'
import { countSealed, resealAll } from '#src/platform/crypto/reseal.ts'
import { createSealer, type Sealer } from '#src/platform/crypto/seal.ts'
import { SEALED_SIGNING_KEYS } from '#src/platform/crypto/signing-key-rows.ts'
import { createSigningKeys } from '#src/platform/crypto/signing-keys.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'

const k1 = { id: 'k1', key: randomBytes(32) }
// Begins as k1 does: ids are compared whole.
const k10 = { id: 'k10', key: randomBytes(32) }
const old = createSealer({ current: k1, previous: [k10] })
const rotating = createSealer({ current: k10, previous: [k1] })
const fresh = createSealer({ current: k10 })

let database: TestDatabase
/** The secret of every endpoint, as it was written last. */
const secrets = new Map<string, string>()

beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database?.close())
beforeEach(async () => {
  secrets.clear()
  await database.owner('TRUNCATE signing_keys, webhook_endpoints, accounts CASCADE')
})

const partsWith = (db: TestDatabase['db'] = database.db) => ({
  db,
  sealer: rotating,
  columns: [SEALED_SIGNING_KEYS, ...SEALED_SECRETS],
  accounts: () => createAccounts({ db }).walk(),
})
const countsOf = async () =>
  (await countSealed(partsWith())).map(({ table, keyId, key, values }) => [table, keyId, key, values])

async function makeEndpoint(scope: Scope, sealer: Sealer): Promise<string> {
  const id = newId('whe', scope.environment)
  const secret = newSecret()
  const sealedSecret = sealSecret(sealer, id, secret)
  const row = { ...DEFAULTS, id, url: 'https://a.example', eventTypes: ['*'], sealedSecret }
  await database.db.tenant(scope, (tx) => insertEndpoint(tx, scope, row, 10_000))
  secrets.set(id, secret)
  return id
}

async function rotateSecret(scope: Scope, id: string, sealer: Sealer): Promise<void> {
  const secret = newSecret()
  await database.db.tenant(scope, (tx) =>
    tx.query('UPDATE webhook_endpoints SET sealed_secret = $2 WHERE id = $1', [id, sealSecret(sealer, id, secret)]),
  )
  secrets.set(id, secret)
}

async function expectOpenUnderNewKeyAlone(): Promise<void> {
  const rows = await database.owner<{ id: string; sealed_secret: Buffer }>('SELECT * FROM webhook_endpoints')
  expect(new Map(rows.map(({ id, sealed_secret }) => [id, openSecret(fresh, id, sealed_secret)]))).toEqual(secrets)
}

/** Endpoints of three accounts in both environments, and the deployment's keys: all of them under k1. */
async function fill(perScope: number): Promise<Scope[]> {
  await createSigningKeys({ db: database.db, sealer: old, now: () => new Date() }).ensure()
  const accounts = await Promise.all([makeAccount(database), makeAccount(database), makeAccount(database)])
  const scopes = accounts.flatMap((scope) => [scope, { ...scope, environment: 'live' as const }])
  for (const scope of scopes) for (let count = 0; count < perScope; count += 1) await makeEndpoint(scope, old)
  return scopes
}

describe('a rotation of the master key', () => {
  it('moves every value to the new key, in more than one batch, and changes none', async () => {
    const [scope] = await fill(3)
    for (let count = 0; count < 250; count += 1) if (scope) await makeEndpoint(scope, old)
    expect(await countsOf()).toEqual([
      ['signing_keys', 'k1', 'previous', 4],
      ['webhook_endpoints', 'k1', 'previous', 268],
    ])
    expect(await resealAll(partsWith())).toEqual({ resealed: 272, unopened: [] })
    expect(await countsOf()).toEqual([
      ['signing_keys', 'k10', 'current', 4],
      ['webhook_endpoints', 'k10', 'current', 268],
    ])
    await expectOpenUnderNewKeyAlone()
    const keys = createSigningKeys({ db: database.db, sealer: fresh, now: () => new Date() })
    await expect(keys.signRecord('live', 'x', {})).resolves.toBeTypeOf('string')
    expect(await resealAll(partsWith())).toEqual({ resealed: 0, unopened: [] })
  })

  it('finds what processes with the old key write meanwhile, and loses none of it', async () => {
    const scopes = await fill(20)
    let isWriting = true
    const write = async (scope: Scope) => {
      const own: string[] = []
      while (isWriting) {
        own.push(await makeEndpoint(scope, old))
        for (const id of own.slice(-3)) await rotateSecret(scope, id, old)
      }
    }
    const writers = scopes.slice(0, 4).map(write)
    let passes = 0
    const { resealed, unopened } = await resealAll(partsWith(), () => {
      passes += 1
      if (passes === 4) isWriting = false
    })
    await Promise.all(writers)
    expect({ unopened, isFoundLater: passes > 4 }).toEqual({ unopened: [], isFoundLater: true })
    // Written after the last pass had read it.
    await resealAll(partsWith())
    expect((await countsOf()).map(([, keyId]) => keyId)).toEqual(['k10', 'k10'])
    expect(resealed).toBeGreaterThan(124)
    await expectOpenUnderNewKeyAlone()
  })

  it('waits for no row that another transaction has locked, and comes back for it', async () => {
    const [scope] = await fill(2)
    const id = [...secrets.keys()][0] ?? ''
    if (scope === undefined) throw new Error('no account')
    const held = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const holder = database.db.tenant(scope, async (tx) => {
      await tx.query('SELECT FROM webhook_endpoints WHERE id = $1 FOR UPDATE', [id])
      locked.resolve()
      await held.promise
    })
    await locked.promise
    const left: number[] = []
    const done = await resealAll(partsWith(), ({ found, resealed }) => {
      left.push(found - resealed)
      held.resolve()
    })
    await holder
    expect(left[0]).toBe(1)
    expect(left.at(-1)).toBe(0)
    expect(done).toEqual({ resealed: 16, unopened: [] })
    await expectOpenUnderNewKeyAlone()
  })

  it('goes on where it was stopped', async () => {
    await fill(2)
    let writes = 0
    const stopping: TestDatabase['db'] = {
      ...database.db,
      tenant: (scope, work, options) => {
        writes += 1
        return writes > 2 ? Promise.reject(new Error('stopped')) : database.db.tenant(scope, work, options)
      },
    }
    await expect(resealAll(partsWith(stopping))).rejects.toThrow('stopped')
    expect(await countsOf()).toEqual([
      ['signing_keys', 'k10', 'current', 4],
      ['webhook_endpoints', 'k1', 'previous', 8],
      ['webhook_endpoints', 'k10', 'current', 4],
    ])
    expect(await resealAll(partsWith())).toEqual({ resealed: 8, unopened: [] })
    await expectOpenUnderNewKeyAlone()
  })

  it('names the rows whose values do not open, leaves them, and moves the others', async () => {
    const [scope] = await fill(2)
    const [changed = '', stranger = '', moved = ''] = [...secrets.keys()]
    const lost = createSealer({ current: { id: 'k0', key: randomBytes(32) } })
    if (scope !== undefined) await rotateSecret(scope, stranger, lost)
    await database.owner(
      'UPDATE webhook_endpoints SET sealed_secret = set_byte(sealed_secret, 40, 1 + get_byte(sealed_secret, 40) % 255) WHERE id = $1',
      [changed],
    )
    await database.owner(
      'UPDATE webhook_endpoints SET sealed_secret = (SELECT sealed_secret FROM webhook_endpoints WHERE id = $2) WHERE id = $1',
      [moved, [...secrets.keys()][3]],
    )
    const before = await database.owner(
      'SELECT id, sealed_secret FROM webhook_endpoints WHERE id = ANY($1) ORDER BY id',
      [[changed, stranger, moved]],
    )

    const { resealed, unopened } = await resealAll(partsWith())
    expect(resealed).toBe(4 + 12 - 3)
    expect(new Set(unopened.map(({ table, column, id }) => `${table}.${column} ${id}`))).toEqual(
      new Set([changed, stranger, moved].map((id) => `webhook_endpoints.sealed_secret ${id}`)),
    )
    expect(unopened.find(({ id }) => id === stranger)).toMatchObject({
      account: scope?.accountId,
      environment: 'sandbox',
      reason: expect.stringContaining('k0'),
    })
    expect(
      await database.owner('SELECT id, sealed_secret FROM webhook_endpoints WHERE id = ANY($1) ORDER BY id', [
        [changed, stranger, moved],
      ]),
    ).toEqual(before)
    expect(await countsOf()).toContainEqual(['webhook_endpoints', 'k0', 'missing', 1])
  })
})
