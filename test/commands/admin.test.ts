import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccounts } from '#src/account/keys/accounts.ts'
import { createKeys, type Keys } from '#src/account/keys/keys.ts'
import { createAllowlist } from '#src/account/login/allowlist.ts'
import { createPrintLink, type PrintLink } from '#src/account/login/operator-link.ts'
import { QUEUE_NAMES } from '#src/catalogue/queues.ts'
import { createLinkTokens } from '#src/platform/crypto/link-token.ts'
import { newId } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { isPaused } from '#src/platform/jobs/operate.ts'
import type { Services } from '#src/services.ts'
import { readCommand } from '../../commands/admin/commands.ts'
import { renderResult } from '../../commands/admin/render.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../support/database.ts'

describe('admin', () => {
  let database: TestDatabase
  let keys: Keys
  let printLink: PrintLink
  const logged: object[] = []
  const said: string[] = []
  let address: string | undefined

  const run = (words: string[], isAgreed = true) => {
    const { db } = database
    const command = readCommand(words)
    if (command === undefined) throw new Error('no command')
    return command.act({
      services: { platform: { db }, account: { keys, accounts: createAccounts({ db }), printLink } } as Services,
      confirm: async () => {
        if (!isAgreed) throw new Error('Nothing was changed.')
      },
      address,
      say: (line) => void said.push(line),
      log: (act, fields) => void logged.push({ act, ...fields }),
    })
  }
  const say = (line: string, isAgreed = true) => run(line.split(' '), isAgreed)

  beforeAll(async () => {
    database = await createTestDatabase()
    keys = createKeys({ db: database.db })
    printLink = createPrintLink({
      db: database.db,
      now: () => new Date(),
      linkTokens: createLinkTokens([Buffer.alloc(32, 1)]),
      allowlist: createAllowlist([]),
      baseUrl: 'https://api.example.test',
    })
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

  it('lists jobs page by page, and says how many there are', async () => {
    const scope = await makeAccount(database)
    await database.db.tenant(scope, (tx) =>
      enqueue(
        tx,
        'attest',
        scope,
        Array.from({ length: 5 }, () => ({ payload: { attestationId: newId('att', scope.environment) } })),
      ),
    )
    const list = 'jobs list --queue attest --state queued --limit 2'
    const seen: string[] = []
    let next = ''
    for (const [shown, isLast] of [
      [2, false],
      [2, false],
      [1, true],
    ] as const) {
      said.length = 0
      const page = (await say(list + next)) as { id: string }[]
      seen.push(...page.map(({ id }) => id))
      next = ` --after ${page.at(-1)?.id}`
      expect(said).toEqual([`${shown} of 5 jobs.${isLast ? '' : ` More:${next}`}`])
    }
    expect(new Set(seen).size).toBe(5)
    expect(await say('jobs list --queue deliver')).toEqual([])
    await expect(say(`jobs list --after ${randomUUID()}`)).rejects.toThrow('no job')
    expect(() => readCommand(['jobs', 'list', '--after', 'x'])).toThrow('no job id')
  })

  it('lists each queue with its state and its jobs', async () => {
    const scope = await makeAccount(database)
    const payload = { screeningId: newId('scr', scope.environment) }
    await database.db.tenant(scope, (tx) => enqueue(tx, 'screen', scope, [{ payload }, { payload }]))
    await say('queue pause screen')
    const listed = (await say('queue list')) as { queue: string }[]
    expect(listed.map(({ queue }) => queue)).toEqual(QUEUE_NAMES)
    const idle = { state: 'running', pausedAt: null, workers: 0, slots: 0, due: 0, inFlight: 0, dead: 0 }
    expect(listed.find(({ queue }) => queue === 'diff')).toMatchObject({ ...idle, later: 0, oldestDueSeconds: null })
    const paused = { state: 'paused', pausedAt: expect.any(Date), due: 2, oldestDueSeconds: expect.any(Number) }
    expect(listed.find(({ queue }) => queue === 'screen')).toMatchObject(paused)
    await say('queue resume screen')
  })

  it('prints rows that are too long for a table as blocks of at most 120 columns, and nothing is cut off', async () => {
    const scope = await makeAccount(database)
    const lastError = `connect ECONNREFUSED ${'2001:db8::1,'.repeat(40)} ${'while a detector was asked '.repeat(10)}`
    const payload = { screeningId: newId('scr', scope.environment) }
    await database.db.tenant(scope, (tx) => enqueue(tx, 'screen', scope, [{ payload }, { payload }]))
    await database.owner('UPDATE jobs SET last_error = $1 WHERE account_id = $2', [lastError, scope.accountId])
    const jobs = (await say('jobs list --queue screen --limit 2')) as { id: string }[]
    const text = renderResult(jobs)
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120)
    for (const { id } of jobs) expect(text).toMatch(new RegExp(`^id: +${id}$`, 'm'))
    expect(text.replaceAll(/\s/g, '').split(lastError.replaceAll(/\s/g, ''))).toHaveLength(3)
    // What fits is a table.
    expect(renderResult([{ queue: 'screen', due: 2 }])).toBe('queue   due\nscreen  2\n')
  })

  it('prints a link that signs in, and logs that without the link', async () => {
    const account = (await run(['account', 'create', '--name', 'With users'])) as { id: string }
    await expect(say('login-link mika@example.com')).rejects.toThrow('--account')
    const printed = await say(`login-link mika@example.com --account ${account.id}`)
    expect(printed).toMatchObject({ link: expect.stringMatching(/\/login\/link#.{43}$/), account: account.id })
    expect(await say('login-link mika@example.com')).toMatchObject({ email: 'mika@example.com' })
    expect(logged.at(-1)).toEqual({ act: 'login-link', account: account.id, user: expect.stringMatching(/^usr_/) })
    const last = async () => (await say('login-link mika@example.com')) as { link: string; note: string }
    expect((await last()).note).toContain('npm start')
    address = 'http://localhost:8093'
    expect((await last()).link).toMatch(/^http:\/\/localhost:8093\/login\/link#/)
    expect((await last()).note).not.toContain('npm start')
    expect(() => readCommand(['login-link'])).toThrow('EMAIL')
    expect(() => readCommand(['login-link', 'a@b', 'c@d'])).toThrow('too much')
  })

  it('reports an unknown account', async () => {
    for (const line of ['key list', 'key create --scopes verify']) {
      await expect(say(`${line} --account acc_nobody --environment live`)).rejects.toThrow('There is no account')
    }
  })
})
