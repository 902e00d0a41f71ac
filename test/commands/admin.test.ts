import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccounts } from '#src/account/keys/accounts.ts'
import { createKeys, type Keys } from '#src/account/keys/keys.ts'
import { isPaused } from '#src/platform/jobs/operate.ts'
import type { Services } from '#src/services.ts'
import { readCommand } from '../../commands/admin/commands.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

describe('admin', () => {
  let database: TestDatabase
  let keys: Keys
  const logged: object[] = []
  const said: string[] = []

  const run = (words: string[], isAgreed = true) => {
    const { db } = database
    const command = readCommand(words)
    if (command === undefined) throw new Error('no command')
    return command.act({
      services: { platform: { db }, account: { keys, accounts: createAccounts({ db }) } } as Services,
      confirm: async () => {
        if (!isAgreed) throw new Error('Nothing was changed.')
      },
      say: (line) => void said.push(line),
      log: (act, fields) => void logged.push({ act, ...fields }),
    })
  }
  const say = (line: string, isAgreed = true) => run(line.split(' '), isAgreed)

  beforeAll(async () => {
    database = await createTestDatabase()
    keys = createKeys({ db: database.db })
  })
  afterAll(() => database.close())

  it('creates an account and its key, and finds and revokes a leaked key', async () => {
    const account = (await run(['account', 'create', '--name', 'Acme Insurance', '--plan', 'growth'])) as { id: string }
    expect(await say('account list')).toContainEqual(
      expect.objectContaining({ id: account.id, name: 'Acme Insurance' }),
    )
    const made = `--account ${account.id} --environment live`
    const leaked = (await say(`key create ${made} --scopes verify,attest --name intake`)) as { id: string; key: string }
    const other = (await say(`key create ${made} --scopes verify --name report`)) as { id: string; key: string }

    const listed = await say(`key list ${made}`)
    expect(listed).toMatchObject([
      { id: other.id, name: 'report', key: `svc_live...${other.key.slice(-4)}`, scopes: 'verify', revokedAt: null },
      { id: leaked.id, name: 'intake', key: `svc_live...${leaked.key.slice(-4)}`, scopes: 'verify,attest' },
    ])
    for (const { key } of [leaked, other]) expect(JSON.stringify(listed)).not.toContain(key)
    expect(await say(`key list --account ${account.id} --environment sandbox`)).toEqual([])

    await expect(say(`key revoke ${leaked.id}`, false)).rejects.toThrow('Nothing was changed.')
    expect((await keys.find(leaked.key))?.revokedAt).toBeUndefined()
    await say(`key revoke ${leaked.id}`)
    expect((await keys.find(leaked.key))?.revokedAt).toEqual(expect.any(Date))
    expect((await keys.find(other.key))?.revokedAt).toBeUndefined()
    await expect(say(`key revoke ${leaked.id}`)).rejects.toThrow('was revoked')
    expect(logged).toMatchObject([
      { act: 'account create', account: account.id },
      { act: 'key create', id: leaked.id },
      { act: 'key create', id: other.id },
      { act: 'key revoke', id: leaked.id },
    ])
  })

  it('pauses a queue only after confirmation', async () => {
    await expect(say('queue pause deliver', false)).rejects.toThrow('Nothing was changed.')
    expect(await isPaused(database.db, 'deliver')).toBe(false)
    await say('queue pause deliver')
    expect(await isPaused(database.db, 'deliver')).toBe(true)
    await say('queue resume deliver')
    expect(await isPaused(database.db, 'deliver')).toBe(false)
  })

  it('reports an unknown account', async () => {
    for (const line of ['key list', 'key create --scopes verify']) {
      await expect(say(`${line} --account acc_nobody --environment live`)).rejects.toThrow('There is no account')
    }
  })
})
