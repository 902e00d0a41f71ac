import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSealer } from '#src/platform/crypto/seal.ts'
import { createSigningKeys, type SigningKeySummary, type SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Services } from '#src/services.ts'
import { readCommand } from '../../commands/admin/commands.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

const HOUR_MS = 3_600_000

describe('admin -- signing-key', () => {
  let database: TestDatabase
  let keys: SigningKeys
  let time = Date.parse('2026-03-01T12:00:00Z')
  const asked: string[] = []
  const logged: object[] = []

  const run = (line: string, isAgreed = true) => {
    const command = readCommand(line.split(' '))
    if (command === undefined) throw new Error('no command')
    return command.act({
      services: { platform: { signingKeys: keys } } as Services,
      confirm: async (question) => {
        asked.push(question)
        if (!isAgreed) throw new Error('Nothing was changed.')
      },
      say: () => {},
      log: (act, fields) => void logged.push({ act, ...fields }),
    })
  }

  type Listed = SigningKeySummary
  const say = async (line: string) => (await run(line)) as Listed[]

  beforeAll(async () => {
    database = await createTestDatabase()
    keys = createSigningKeys({
      db: database.db,
      sealer: createSealer({ current: { id: 'k1', key: randomBytes(32) } }),
      now: () => new Date(time),
    })
    await keys.ensure()
  })
  afterAll(() => database.close())

  it('lists every key with its role, and nothing of the private keys', async () => {
    const list = await run('signing-key list')
    expect(list).toHaveLength(4)
    expect(list).toContainEqual({
      kid: expect.stringMatching(/^[\w-]{43}$/),
      environment: 'live',
      family: 'record',
      state: 'active',
      isPublished: true,
      activeFrom: new Date(time),
      retiredAt: null,
      revokedAt: null,
      doubtedSince: null,
    })
  })

  it('changes nothing without confirmation', async () => {
    await expect(run('signing-key rotate --environment live --family records', false)).rejects.toThrow('Nothing was')
    expect(asked.at(-1)).toMatch(/new live key for results/)
    expect(await run('signing-key list')).toHaveLength(4)
    expect(logged).toEqual([])
  })

  it('announces a new key, which takes over a day later; a second one waits for it', async () => {
    const [old, fresh] = (await run('signing-key rotate --environment live --family records')) as { kid: string }[]
    expect([old, fresh]).toMatchObject([
      { state: 'active', retiredAt: new Date(time + 24 * HOUR_MS) },
      { state: 'announced', activeFrom: new Date(time + 24 * HOUR_MS), isPublished: true },
    ])
    expect(logged).toEqual([{ act: 'signing-key rotate', environment: 'live', family: 'record', kid: fresh?.kid }])
    await expect(run('signing-key rotate --environment live --family records')).rejects.toThrow(fresh?.kid)

    time += 24 * HOUR_MS
    const after = (await run('signing-key list')) as { kid: string; state: string; isPublished: boolean }[]
    expect(after.find(({ kid }) => kid === old?.kid)).toMatchObject({ state: 'retired', isPublished: true })
    expect(after.find(({ kid }) => kid === fresh?.kid)).toMatchObject({ state: 'active' })
  })

  it('replaces a key at once in an emergency, by the announced key if there is one', async () => {
    const inEnvironment = (all: Listed[]) => all.filter(({ state }) => state !== 'retired')
    const [first] = inEnvironment(await say('signing-key rotate --environment live --family tokens --now'))
    expect(first).toMatchObject({ state: 'active', activeFrom: new Date(time) })
    const [, waiting] = inEnvironment(await say('signing-key rotate --environment live --family tokens'))
    expect(waiting).toMatchObject({ state: 'announced' })
    time += HOUR_MS
    expect(inEnvironment(await say('signing-key rotate --environment live --family tokens --now'))).toEqual([
      { ...waiting, state: 'active', activeFrom: new Date(time) },
    ])
    expect(asked.at(-1)).toContain(waiting?.kid)
  })

  it('revokes a key after confirmation, and shows which key signs now', async () => {
    const place = (all: Listed[]) =>
      all.filter(({ environment, family }) => `${environment} ${family}` === 'live record')
    const signing = place(await say('signing-key list')).find(({ state }) => state === 'active')
    const since = new Date(time - HOUR_MS).toISOString()
    const line = `signing-key revoke ${signing?.kid} --doubted-since ${since}`
    await expect(run(line, false)).rejects.toThrow('Nothing was')
    expect(asked.at(-1)).toContain(since)
    expect(place(await say('signing-key list'))).toContainEqual(signing)

    const shown = await say(line)
    expect(shown).toMatchObject([
      { kid: signing?.kid, state: 'revoked', isPublished: true, doubtedSince: new Date(since) },
      { state: 'active', isPublished: true },
    ])
    expect(logged.at(-1)).toEqual({
      act: 'signing-key revoke',
      kid: signing?.kid,
      doubtedSince: since,
      signing: shown[1]?.kid,
    })
    await expect(run(line)).rejects.toMatchObject({ code: 'conflict' })
    await expect(run(`signing-key revoke nobody --doubted-since ${since}`)).rejects.toThrow('no signing key nobody')
    const future = new Date(time + HOUR_MS).toISOString()
    await expect(run(`signing-key revoke ${shown[1]?.kid} --doubted-since ${future}`)).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })

  it.each(['-', '--'])('takes a kid that begins with %s for what it is', async (beginning) => {
    const kid = `${beginning}${'k'.repeat(43 - beginning.length)}`
    await expect(run(`signing-key revoke ${kid} --doubted-since 2026-01-01T00:00:00Z --yes`)).rejects.toThrow(
      `There is no signing key ${kid}:`,
    )
  })

  it.each([
    'signing-key rotate',
    'signing-key rotate --environment live',
    'signing-key rotate --environment moon --family records',
    'signing-key rotate --environment live --family passport',
    'signing-key rotate --environment live --family constructor',
    'signing-key rotate now --environment live --family records',
    'signing-key list --family records',
    'signing-key revoke',
    'signing-key revoke some-kid',
    'signing-key revoke some-kid --doubted-since yesterday',
  ])('refuses unknown words before it changes anything: %s', (line) => {
    expect(() => readCommand(line.split(' '))).toThrow()
  })
})
