import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createAccounts } from '#src/account/keys/accounts.ts'
import { createKeys, type Keys } from '#src/account/keys/keys.ts'
import { setPlan, suspendAccount, unsuspendAccount } from '#src/account/keys/operate.ts'
import { endpoint } from '#src/platform/http/endpoint.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Services } from '#src/services.ts'
import { readCommand } from '../../commands/admin/commands.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../support/database.ts'
import { call, startApp, type TestApp } from '../support/http.ts'

let database: TestDatabase
let app: TestApp
let keys: Keys
let scope: Scope
const asked: string[] = []
const said: string[] = []
const logged: object[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  keys = createKeys({ db: database.db })
  const route = endpoint(
    {
      method: 'GET',
      path: '/v1/things',
      operationId: 'listThings',
      sdk: { none: 'a route of a test' },
      effect: 'write',
      kind: 'call',
      summary: 'Things',
      scope: 'verify',
      view: z.object({ ok: z.boolean() }),
      status: [200],
    },
    async () => ({ ok: true }),
  )
  app = await startApp([route], { findKey: keys.find })
  scope = await makeAccount(database, { environment: 'live', plan: 'growth', products: ['attest', 'trace'] })
})
afterAll(async () => {
  await app.close()
  await keys.settle()
  await database.close()
})

const run = async (words: string[], { isAgreed = true, refuse = false } = {}) => {
  const { db } = database
  const command = readCommand(words)
  if (command === undefined) throw new Error('no command')
  return command.act({
    services: { platform: { db }, account: { keys, accounts: createAccounts({ db }) } } as Services,
    confirm: async (question) => {
      asked.push(question)
      if (!isAgreed) throw new Error('Nothing was changed.')
    },
    say: (line) => void said.push(line),
    log: (act, fields) => {
      if (refuse) throw new Error('the disk is full')
      logged.push({ act, ...fields })
    },
  })
}
const say = (line: string, options?: { isAgreed?: boolean; refuse?: boolean }) => run(line.split(' '), options)
const answerTo = async (key: string) => {
  const { status, json, text } = await call(app, '/v1/things', { key })
  return { status, code: json.code, text }
}

describe('the suspension of an account', () => {
  it('refuses every key of it from the next request on, and no other, until it ends', async () => {
    const [first, second] = await Promise.all(
      ['first', 'second'].map((name) => keys.create(scope, { name, scopes: ['verify'] })),
    )
    const other = await keys.create(await makeAccount(database), { name: 'other', scopes: ['verify'] })
    await keys.revoke(scope, second?.id ?? '')
    const live = first?.key ?? ''
    expect(await answerTo(live)).toMatchObject({ status: 200 })

    const words = ['account', 'suspend', scope.accountId, '--reason', 'has not paid since May']
    await expect(run(words, { isAgreed: false })).rejects.toThrow('Nothing was changed.')
    expect(asked.at(-1)).toContain(scope.accountId)
    expect(await answerTo(live)).toMatchObject({ status: 200 })

    expect(await run(words)).toMatchObject({ id: scope.accountId, suspendedAt: expect.any(Date) })
    const refusal = await answerTo(live)
    expect(refusal).toMatchObject({ status: 403, code: 'account_suspended' })
    expect(refusal.text).not.toContain('paid')
    expect(await answerTo(second?.key ?? '')).toMatchObject({ status: 401, code: 'api_key_revoked' })
    expect(await answerTo(other.key)).toMatchObject({ status: 200 })
    await expect(run(words)).rejects.toMatchObject({ code: 'conflict' })
    expect(await say('account list --suspended')).toMatchObject([{ id: scope.accountId }])

    await say(`account unsuspend ${scope.accountId}`)
    expect(await answerTo(live)).toMatchObject({ status: 200 })
    await expect(say(`account unsuspend ${scope.accountId}`)).rejects.toMatchObject({ code: 'conflict' })
    expect(await say('account list --suspended')).toEqual([])
    expect(logged).toMatchObject([
      { act: 'account suspend', account: scope.accountId, reason: 'has not paid since May' },
      { act: 'account unsuspend', account: scope.accountId },
    ])
  })

  it('does not happen without its line in the log', async () => {
    const { accountId } = await makeAccount(database)
    const words = ['account', 'suspend', accountId, '--reason', 'abuse']
    await expect(run(words, { refuse: true })).rejects.toThrow('the disk is full')
    expect(await say(`account show ${accountId}`)).toMatchObject({ suspendedAt: null })
  })

  it('outlasts a change of the plan that was begun before it', async () => {
    const { accountId } = await makeAccount(database)
    const changes = Array.from({ length: 20 }, (_, index) =>
      database.db.system<unknown>('test', (tx) =>
        index === 10 ? suspendAccount(tx, accountId, 'abuse') : setPlan(tx, accountId, 'growth'),
      ),
    )
    await Promise.all(changes)
    expect(await say(`account show ${accountId}`)).toMatchObject({ plan: 'growth', suspensionReason: 'abuse' })
    await database.db.system('test', (tx) => unsuspendAccount(tx, accountId))
  })
})

describe('the other commands for accounts', () => {
  it('show what an operator must know of an account, and nothing of its keys', async () => {
    const { key } = await keys.create({ ...scope, environment: 'sandbox' }, { name: 'shown', scopes: ['all'] })
    await call(app, '/v1/things', { key })
    await keys.settle()
    const shown = await say(`account show ${scope.accountId}`)
    expect(shown).toMatchObject({
      id: scope.accountId,
      plan: 'growth',
      products: 'attest,trace',
      keys: [
        { environment: 'live', valid: 1 },
        { environment: 'sandbox', valid: 1, lastUsedAt: expect.any(Date) },
      ],
      jobs: {},
    })
    expect(JSON.stringify(shown)).not.toContain(key)
  })

  it('list accounts and keys in pages that leave out nothing', async () => {
    for (let count = 0; count < 4; count += 1) await makeAccount(database)
    for (let count = 0; count < 4; count += 1) await keys.create(scope, { name: `key ${count}`, scopes: ['verify'] })
    for (const list of ['account list', `key list --account ${scope.accountId} --environment live`]) {
      const all = (await say(list)) as { id: string }[]
      const seen: string[] = []
      for (let before = ''; ; ) {
        said.length = 0
        const page = (await say(`${list} --limit 2${before}`)) as { id: string }[]
        seen.push(...page.map(({ id }) => id))
        if (said.length === 0) break
        expect(page).toHaveLength(2)
        before = ` --before ${page.at(-1)?.id}`
        expect(said).toEqual([expect.stringContaining(before.trim())])
      }
      expect(seen).toEqual(all.map(({ id }) => id))
      expect(new Set(seen).size).toBeGreaterThan(4)
    }
    await expect(say('account list --before acc_nobody')).rejects.toThrow('There is no account')
  })

  it('set plan and products, and ask before they take something away', async () => {
    const { accountId } = scope
    asked.length = 0
    expect(await say(`plan set enterprise --account ${accountId}`)).toMatchObject({ plan: 'enterprise' })
    // The same plan again changes nothing, and is no entry.
    const lines = logged.length
    expect(await say(`plan set enterprise --account ${accountId}`)).toMatchObject({ plan: 'enterprise' })
    expect(logged).toHaveLength(lines)
    const entries = "SELECT before, after FROM audit_entries WHERE account_id = $1 AND action = 'plan.changed'"
    expect(await database.owner(entries, [accountId])).toEqual([
      { before: { plan: 'growth' }, after: { plan: 'enterprise' } },
    ])
    expect(await say(`products set trace,attest,authorize --account ${accountId}`)).toMatchObject({
      products: 'attest,authorize,trace',
    })
    expect(asked).toEqual([])
    await expect(say(`plan set growth --account ${accountId}`, { isAgreed: false })).rejects.toThrow('Nothing was')
    await expect(say(`products set attest --account ${accountId}`, { isAgreed: false })).rejects.toThrow('Nothing was')
    expect(await say(`account show ${accountId}`)).toMatchObject({ plan: 'enterprise' })
    expect(await say(`products set attest --account ${accountId}`)).toMatchObject({ products: 'attest' })
    expect(asked.at(-1)).toMatch(/authorize and trace/)
    expect(logged.at(-1)).toMatchObject({ act: 'products set', from: ['attest', 'authorize', 'trace'], to: ['attest'] })
  })

  it.each([
    ['account suspend', 'ACCOUNT_ID'],
    ['account suspend acc_a', '--reason'],
    ['account show', 'ACCOUNT_ID'],
    ['account show acc_a acc_b', 'acc_b'],
    ['account list --reason x', '--reason'],
    ['account list --limit 0', '--limit'],
    ['plan set', '--account'],
    ['plan set gold --account acc_a', 'gold'],
    ['products set attest,gold --account acc_a', 'gold'],
    ['products set --account acc_a', 'PRODUCTS'],
    ['key list --before key_a', '--account'],
  ])('refuse %s before anything starts, and name %s', (line, named) => {
    expect(() => readCommand(line.split(' '))).toThrow(named)
  })

  it('say that there is no such account', async () => {
    for (const line of [
      'account show acc_nobody',
      'account unsuspend acc_nobody',
      'account suspend acc_nobody --reason x',
      'plan set growth --account acc_nobody',
      'products set attest --account acc_nobody',
    ]) {
      await expect(say(line)).rejects.toThrow('There is no account acc_nobody')
    }
  })
})
