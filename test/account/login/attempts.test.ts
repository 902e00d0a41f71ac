import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type AttemptLimit,
  countAttempt,
  countsOfClient,
  networkOf,
  purgeAttempts,
  siteOf,
} from '#src/account/login/attempts.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

const LIMIT: AttemptLimit = { name: 'test', most: 3, withinMs: 60_000 }
const WIDE: AttemptLimit = { name: 'wide', most: 5, withinMs: 60_000 }
const START = Date.parse('2026-11-20T15:00:00.000Z')

let test: TestDatabase
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 8 })
})
afterAll(() => test.close())

const attempt = (subject: string, seconds: number, limits = [LIMIT]) =>
  test.db.system('test', (tx) =>
    countAttempt(
      tx,
      limits.map((limit) => ({ limit, subject: [subject] })),
      new Date(START + seconds * 1_000),
    ),
  )

describe('a limit on attempts', () => {
  it('allows so many within any window, and says when the next is allowed', async () => {
    expect(await attempt('a', 0)).toBeUndefined()
    expect(await attempt('a', 20)).toBeUndefined()
    expect(await attempt('a', 40)).toBeUndefined()
    expect(await attempt('a', 50)).toEqual({ retryAfterSeconds: 10 })
    // What was refused does not count: the window slides on.
    expect(await attempt('a', 60)).toBeUndefined()
    expect(await attempt('a', 61)).toEqual({ retryAfterSeconds: 19 })
    expect(await attempt('b', 61)).toBeUndefined()
  })

  it('holds for attempts at the same moment', async () => {
    const outcomes = await Promise.all(Array.from({ length: 40 }, () => attempt('c', 0)))
    expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(LIMIT.most)
  })

  it('stops at the first that is reached, and counts apart from limits of other names', async () => {
    for (const at of [0, 1, 2]) expect(await attempt('d', at, [LIMIT, WIDE])).toBeUndefined()
    expect(await attempt('d', 3, [LIMIT, WIDE])).toBeDefined()
    for (const at of [4, 5]) expect(await attempt('d', at, [WIDE])).toBeUndefined()
    expect(await attempt('d', 6, [WIDE])).toBeDefined()
  })

  it('keeps no subject, and is deleted when it limits nothing any more', async () => {
    const rows = await test.owner<{ row: string }>('SELECT to_jsonb(attempts)::text AS row FROM attempts')
    expect(rows.length).toBeGreaterThan(3)
    expect(await purgeAttempts(test.db, new Date(START + 1_000_000))).toBe(rows.length)
    expect(await attempt('a', 62)).toBeUndefined()
  })

  it('counts an IPv6 client by its network', () => {
    expect(networkOf('2001:db8:1:2:3::1')).toBe(networkOf('2001:db8:1:2:ffff::2'))
    expect(networkOf('2001:db8:1:2::1')).not.toBe(networkOf('2001:db8:1:3::1'))
    expect(networkOf('203.0.113.7')).toBe('203.0.113.7')
    expect(siteOf('2001:db8:1:2::1')).toBe(siteOf('2001:db8:1:ffff::1'))
    expect(siteOf('2001:db8:1::1')).not.toBe(siteOf('2001:db8:2::1'))
    const limits = { network: LIMIT, site: WIDE }
    expect(countsOfClient('203.0.113.7', limits)).toEqual([{ limit: LIMIT, subject: ['203.0.113.7'] }])
    expect(countsOfClient('2001:db8::1', limits).map(({ limit }) => limit)).toEqual([LIMIT, WIDE])
  })
})
