import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSealer } from '#src/platform/crypto/seal.ts'
import { createSigningKeys, type SigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Services } from '#src/services.ts'
import { readCommand } from '../../commands/admin/commands.ts'
import { createTestDatabase, type TestDatabase } from '../support/database.ts'

const HOUR_MS = 3_600_000

describe('admin -- signing-keys', () => {
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
      log: (act, fields) => void logged.push({ act, ...fields }),
    })
  }

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
    const list = await run('signing-keys list')
    expect(list).toHaveLength(4)
    expect(list).toContainEqual({
      kid: expect.stringMatching(/^[\w-]{43}$/),
      environment: 'live',
      family: 'record',
      state: 'active',
      isPublished: true,
      activeFrom: new Date(time),
      retiredAt: null,
    })
  })

  it('changes nothing without confirmation', async () => {
    await expect(run('signing-keys rotate --environment live --family record', false)).rejects.toThrow('Nothing was')
    expect(asked.at(-1)).toMatch(/new live key for results/)
    expect(await run('signing-keys list')).toHaveLength(4)
    expect(logged).toEqual([])
  })

  it('announces a new key, which takes over a day later; a second one waits for it', async () => {
    const [old, fresh] = (await run('signing-keys rotate --environment live --family record')) as { kid: string }[]
    expect([old, fresh]).toMatchObject([
      { state: 'active', retiredAt: new Date(time + 24 * HOUR_MS) },
      { state: 'announced', activeFrom: new Date(time + 24 * HOUR_MS), isPublished: true },
    ])
    expect(logged).toEqual([{ act: 'signing-keys rotate', environment: 'live', family: 'record', kid: fresh?.kid }])
    await expect(run('signing-keys rotate --environment live --family record')).rejects.toThrow(fresh?.kid)

    time += 24 * HOUR_MS
    const after = (await run('signing-keys list')) as { kid: string; state: string; isPublished: boolean }[]
    expect(after.find(({ kid }) => kid === old?.kid)).toMatchObject({ state: 'retired', isPublished: true })
    expect(after.find(({ kid }) => kid === fresh?.kid)).toMatchObject({ state: 'active' })
  })

  it.each([
    'signing-keys rotate',
    'signing-keys rotate --environment live',
    'signing-keys rotate --environment moon --family record',
    'signing-keys rotate --environment live --family passport',
    'signing-keys rotate now --environment live --family record',
    'signing-keys list --family record',
  ])('refuses unknown words before it changes anything: %s', (line) => {
    expect(() => readCommand(line.split(' '))).toThrow()
  })
})
