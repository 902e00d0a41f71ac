import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import pino from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createListFetcher, createListReader } from '#src/attest/hardware/lists.ts'
import { parseRevocationList } from '#src/attest/hardware/revocations.ts'
import { createOutbound } from '#src/platform/net/outbound.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

const log = pino({ level: 'silent' })
const LISTED = { entries: { '2a': { status: 'REVOKED', reason: 'KEY_COMPROMISE' }, '00FF': { status: 'SUSPENDED' } } }

describe('the list of revoked keys', () => {
  let database: TestDatabase
  let answer = { status: 200, body: JSON.stringify(LISTED) }
  let asked = 0
  const server = createServer((_, response) => {
    asked += 1
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body)
  })
  const outbound = createOutbound({ allow: ['127.0.0.1'] })
  let url: string

  beforeAll(async () => {
    database = await createTestDatabase()
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/status`
  })
  beforeEach(async () => {
    await database.owner('DELETE FROM revocation_lists')
    answer = { status: 200, body: JSON.stringify(LISTED) }
    asked = 0
  })
  afterAll(async () => {
    await outbound.close()
    server.close()
    await database?.close()
  })

  const fetcher = (at = url) => createListFetcher({ db: database.db, outbound, url: at, log })
  const reader = (at: string | undefined = url) => createListReader({ db: database.db, url: at })
  const age = (seconds: number) =>
    database.owner(
      `UPDATE revocation_lists SET attempted_at = attempted_at - make_interval(secs => $1),
         fetched_at = fetched_at - make_interval(secs => $1)`,
      [seconds],
    )

  test('is never fetched at first, and is known as soon as it was fetched', async () => {
    const read = reader()
    expect(await read()).toBe('never_fetched')
    expect(await fetcher()()).toBe(true)
    const snapshot = await read()
    if (typeof snapshot === 'string') throw new Error(snapshot)
    expect(Object.fromEntries(snapshot.entries)).toEqual({ '2a': 'REVOKED', ff: 'SUSPENDED' })
    expect(Date.now() - snapshot.fetchedAt.getTime()).toBeLessThan(60_000)
  })

  test('is not fetched when none is configured', async () => {
    expect(await createListReader({ db: database.db, url: undefined })()).toBe('off')
  })

  test('is fetched by one of many processes, once an hour', async () => {
    const fetchers = Array.from({ length: 5 }, () => fetcher())
    const rounds = await Promise.all(fetchers.map((round) => round()))
    expect({ rounds: rounds.filter(Boolean).length, asked }).toEqual({ rounds: 1, asked: 1 })
    await age(3_500)
    expect(await fetcher()()).toBe(false)
    await age(200)
    expect(await fetcher()()).toBe(true)
    expect(asked).toBe(2)
  })

  test.each([
    ['an error', 500, ''],
    ['a page', 200, '<html>'],
    ['no entries', 200, '{}'],
    ['a list that names nothing any more', 200, '{"entries":{}}'],
    ['an array', 200, '{"entries":[]}'],
    ['an entry without a status', 200, '{"entries":{"2a":{}}}'],
    ['an entry that is no serial', 200, '{"entries":{"zz":{"status":"REVOKED"}}}'],
  ])('stays as it was when the response is %s, and is fetched again after a minute', async (_, status, body) => {
    await fetcher()()
    await age(4_000)
    answer = { status, body }
    expect(await fetcher()()).toBe(true)
    const snapshot = await reader()()
    if (typeof snapshot === 'string') throw new Error(snapshot)
    expect(snapshot.entries.size).toBe(2)
    const [row] = await database.owner<{ failure: string | null }>('SELECT failure FROM revocation_lists')
    expect(row?.failure).toBeTruthy()
    expect(await fetcher()()).toBe(false)
    await age(61)
    answer = { status: 200, body: '{"entries":{"2a":{"status":"REVOKED"}}}' }
    expect(await fetcher()()).toBe(true)
    const after = await reader()()
    expect(typeof after === 'object' && after.entries.size).toBe(1)
  })

  test('is fetched anew when its address changes', async () => {
    await fetcher()()
    expect(await reader(`${url}/other`)()).toBe('never_fetched')
    answer = { status: 500, body: '' }
    expect(await fetcher(`${url}/other`)()).toBe(true)
    expect(await reader(`${url}/other`)()).toBe('never_fetched')
  })

  test('is fetched through the address guard: a private address is not called', async () => {
    const guarded = createOutbound({})
    const ask = createListFetcher({ db: database.db, outbound: guarded, url, log })
    expect(await ask()).toBe(true)
    expect(asked).toBe(0)
    expect(await reader()()).toBe('never_fetched')
    await guarded.close()
  })
})

test('a list is parsed completely or not at all', () => {
  for (const json of [null, 1, [], {}, { entries: null }, { entries: { '': { status: 'REVOKED' } } }]) {
    expect(parseRevocationList(json).ok).toBe(false)
  }
  expect(parseRevocationList({ entries: {} })).toEqual({ ok: true, entries: new Map() })
})
