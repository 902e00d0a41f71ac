// A host that vanishes leaves connections on which nothing arrives, not even a reset, while new ones reach its successor.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createDatabase, type Tx } from '#src/platform/db/database.ts'
import { retryWhileAway } from '#src/platform/db/retry.ts'
import type { Scope } from '#src/platform/ids.ts'
import { isUnavailable } from '#src/platform/unavailable.ts'
import { type Relay, startRelay } from '../../../faults/proxy.ts'
import { createTestDatabase, LOGIN, makeAccount, type TestDatabase } from '../../support/database.ts'

// A twentieth of the times in production: a connection of the system pool is replaced after 1 s, a tenant's after 3.25 s.
const PERIOD_MS = 250
const SELECT_1 = { text: 'SELECT 1 AS one', values: [] }

describe.each([true, false])('connections to a host that vanished (driver internals: %s)', (usesDriverInternals) => {
  let test: TestDatabase
  let scope: Scope
  let relay: Relay
  let db: ReturnType<typeof createDatabase>

  beforeAll(async () => {
    test = await createTestDatabase()
    scope = await makeAccount(test)
  })
  afterAll(() => test?.close())
  beforeEach(async () => {
    relay = await startRelay([Number(new URL(test.url).port)])
    const url = new URL(test.url)
    url.hostname = '127.0.0.1'
    url.port = String(relay.port)
    url.search = ''
    db = createDatabase({
      url: url.href,
      limitsSystemStatements: true,
      silencePeriodMs: PERIOD_MS,
      usesDriverInternals,
      poolSize: 3,
    })
  })
  afterEach(async () => {
    // First: a connection that hangs would keep the pool from closing.
    relay?.close()
    await db?.close()
  })

  const ask = () => db.system('ask', (tx) => tx.query<{ one: number }>('SELECT 1 AS one'))
  const readReady = () => db.readSystem('ready', () => SELECT_1)
  const askTenant = () => db.tenant(scope, (tx) => tx.query('SELECT 1 AS one'))
  const errorOf = (asked: Promise<unknown>) =>
    asked.then(
      () => undefined,
      (error: unknown) => error,
    )

  it('are replaced, and the callers that waited get an error of a store that is away', async () => {
    await Promise.all([ask(), ask(), readReady()])
    relay.abandon()
    const errors = await Promise.all([errorOf(ask()), errorOf(ask())])
    expect(errors).toEqual([expect.any(Error), expect.any(Error)])
    expect(errors.map(isUnavailable)).toEqual([true, true])
    expect(errors[0]).toMatchObject({ code: 'ETIMEDOUT' })
    expect(await readReady()).toEqual([{ one: 1 }])
    expect(await ask()).toEqual([{ one: 1 }])
  })

  it('delay a statement that waits for one of them, which is then answered', async () => {
    await Promise.all([ask(), ask()])
    relay.abandon()
    const hung = [errorOf(ask()), errorOf(ask())]
    expect(await readReady()).toEqual([{ one: 1 }])
    expect((await Promise.all(hung)).map(isUnavailable)).toEqual([true, true])
  })

  it('are replaced during a transaction, which is repeated where a result must not be lost', async () => {
    const left = new AbortController()
    let runs = 0
    const rows = await retryWhileAway(
      () =>
        db.system('result', async (tx) => {
          runs += 1
          await tx.query('SELECT 2 AS two')
          if (runs === 1) relay.abandon()
          return tx.query('SELECT 1 AS one')
        }),
      left.signal,
    )
    expect([runs, rows]).toEqual([2, [{ one: 1 }]])
  })

  it('of tenants are closed with the first one of the system that is found', async () => {
    await Promise.all([askTenant(), askTenant(), ask()])
    relay.abandon()
    const since = performance.now()
    const hung = errorOf(askTenant())
    expect(isUnavailable(await errorOf(readReady()))).toBe(true)
    expect(isUnavailable(await hung)).toBe(true)
    // By themselves they are closed after 13 periods.
    expect((performance.now() - since) / PERIOD_MS).toBeLessThan(12)
    expect(await askTenant()).toEqual([{ one: 1 }])
  })

  it('of tenants are closed without one of the system, later', async () => {
    await askTenant()
    relay.abandon()
    expect(isUnavailable(await errorOf(askTenant()))).toBe(true)
    expect(await askTenant()).toEqual([{ one: 1 }])
  })

  it('are told from a statement that Postgres takes long for, and from connections without work', async () => {
    await Promise.all([ask(), ask(), askTenant()])
    const pids = () =>
      test.owner<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND usename = $1 AND client_port IS NOT NULL
         AND backend_type = 'client backend' ORDER BY pid`,
        [LOGIN],
      )
    const before = await pids()
    const sleep = async (tx: Tx, periods: number) => tx.query('SELECT pg_sleep($1)', [(periods * PERIOD_MS) / 1_000])
    await db.tenant(scope, (tx) => sleep(tx, 8))
    // After 8 periods without work a connection serves its next statement for all of its periods.
    await db.system('long', (tx) => sleep(tx, 2.5))
    await askTenant()
    expect(await pids()).toEqual(before)
  })
})
