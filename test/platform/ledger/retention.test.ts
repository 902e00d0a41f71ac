import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isRemoved } from '#client/verify/removed.ts'
import { createAccounts } from '#src/account/keys/accounts.ts'
import type { DecisionKind } from '#src/catalogue/decisions.ts'
import type { Scope } from '#src/platform/ids.ts'
import { ledgerRetention } from '#src/platform/ledger/retention.ts'
import { limitOf } from '#src/platform/retention.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { DECISION, makeLedger, type TestLedger } from '../../support/ledger.ts'

const DAY_MS = 86_400_000
const NOW = new Date('2026-11-22T10:00:00.000Z')

describe('the retention of decisions', () => {
  let database: TestDatabase
  let log: TestLedger

  beforeAll(async () => {
    database = await createTestDatabase()
    log = makeLedger(database)
  })
  afterAll(() => database?.close())

  async function purge(scope: Scope, keptWhile?: readonly string[]): Promise<number> {
    const accounts = createAccounts({ db: database.db })
    const rule = ledgerRetention({ db: database.db, accounts, ...(keptWhile && { keptWhile }) })
    const before = limitOf(rule, { environment: scope.environment, isPublic: false }, NOW)
    return before === undefined ? 0 : rule.purge(scope, before, new AbortController().signal)
  }
  const decide = (scope: Scope, days: readonly number[], kind: DecisionKind = 'verify') =>
    log.record(
      scope,
      days.map((age) => ({ ...DECISION, kind, at: new Date(NOW.getTime() - age * DAY_MS), facts: { age } })),
    )
  const left = async (table: string, column: string, scope: Scope) => {
    const rows = await database.owner<{ id: string }>(
      `SELECT ${column} AS id FROM ${table} WHERE account_id = $1 AND environment = $2 ORDER BY 1`,
      [scope.accountId, scope.environment],
    )
    return rows.map(({ id }) => id)
  }

  it.each([
    ['developer', 'live', 30],
    ['growth', 'live', 365],
    ['enterprise', 'live', 2_557],
    ['enterprise', 'sandbox', 7],
  ] as const)('follows the plan: %s %s, %i days; the leaves stay', async (plan, environment, days) => {
    const scope = await makeAccount(database, { plan, environment })
    const ids = await decide(scope, [days + 40, days + 1, days - 1, 0])
    await log.appendAll()
    expect(await purge(scope)).toBe(2)
    expect(await left('decisions', 'id', scope)).toEqual(ids.slice(2))
    expect(await left('decision_facts', 'decision_id', scope)).toEqual(ids.slice(2))
    expect(await left('ledger_leaves', 'decision_id', scope)).toEqual(ids.toSorted())
    expect(await purge(scope)).toBe(0)
  })

  it('keeps clinical entries for two years on every plan, and entries without a leaf', async () => {
    const scope = await makeAccount(database, { plan: 'developer', environment: 'live' })
    const clinical = await decide(scope, [732, 729, 40], 'disclosure')
    await log.appendAll()
    const waiting = await decide(scope, [50])
    expect(await purge(scope)).toBe(1)
    expect(await left('decisions', 'id', scope)).toEqual([clinical[1], ...waiting, clinical[2]])
  })

  it('keeps the entries of mandates until their mandates have ended, but for accounts with published keys', async () => {
    const scope = await makeAccount(database, { plan: 'developer', environment: 'sandbox' })
    const [gone, changed] = await decide(scope, [368, 366], 'mandate_change')
    const [checkedIn] = await decide(scope, [40], 'mandate_heartbeat')
    await decide(scope, [40])
    await log.appendAll()
    expect(await purge(scope)).toBe(2)
    expect(await left('decisions', 'id', scope)).toEqual([changed, checkedIn])
    expect(gone).toBeDefined()
    await database.owner('UPDATE accounts SET is_public = true WHERE id = $1', [scope.accountId])
    expect(await purge(scope)).toBe(2)
  })

  it('keeps what a condition of another feature holds', async () => {
    const scope = await makeAccount(database, { plan: 'developer', environment: 'live' })
    const [held = ''] = await decide(scope, [50, 49])
    await log.appendAll()
    expect(
      await purge(scope, [`SELECT FROM ledger_leaves leaf WHERE leaf.decision_id = decisions.id AND position = 0`]),
    ).toBe(1)
    expect(await left('decisions', 'id', scope)).toEqual([held])
  })

  it('tells an entry that it deleted from one that was removed', () => {
    const limits = { newestBefore: 90 * DAY_MS, presentSince: 100 * DAY_MS }
    expect(isRemoved({ madeAt: 99 * DAY_MS, ...limits })).toBe(false)
    expect(isRemoved({ madeAt: 100 * DAY_MS, ...limits })).toBe(false)
    expect(isRemoved({ madeAt: 101 * DAY_MS, ...limits })).toBe(true)
    // Its place in the log says that it is younger than its id.
    expect(isRemoved({ madeAt: 89 * DAY_MS, ...limits })).toBe(true)
    expect(isRemoved({ madeAt: Number.NaN, ...limits })).toBe(true)
  })
})
