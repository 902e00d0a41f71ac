import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lockExclusive, lockShared, subjectLock } from '#src/platform/db/advisory.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { oneRow, readsOfOneRow } from '#src/platform/db/reads.ts'
import type { Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'

const AT = '2026-11-22T10:00:00.123456Z'

describe('reads of one row each', () => {
  let test: TestDatabase
  let scope: Scope
  beforeAll(async () => {
    test = await createTestDatabase()
    scope = await makeAccount(test)
  })
  afterAll(() => test.close())

  const titled = (place: `$${number}`) =>
    oneRow<{ at: Date; title: string; amount: string; tags: string[]; none: Date | null }>(
      `SELECT ${place}::timestamptz AS at, 'a "b" \\ c' AS title, '1234567890123456789.1234'::numeric::text AS amount,
         ARRAY['x', 'y'] AS tags, NULL::timestamptz AS none`,
    )

  it('are one statement, with null for a row that is not there', async () => {
    const read = readsOfOneRow({
      found: titled('$1'),
      missing: oneRow<{ one: number }>('SELECT 1 AS one WHERE $2::boolean'),
    })
    const sent: string[] = []
    const counted = (tx: Tx): Pick<Tx, 'query'> => ({
      query: (text, values) => {
        sent.push(text)
        return tx.query(text, values)
      },
    })
    const { found, missing } = await test.db.tenant(scope, (tx) => read(counted(tx), [AT, false]))
    expect(sent).toHaveLength(1)
    expect(missing).toBeNull()
    expect(found).toMatchObject({
      title: 'a "b" \\ c',
      amount: '1234567890123456789.1234',
      tags: ['x', 'y'],
      none: null,
    })
    expect(new Date(found?.at ?? '').toISOString()).toBe('2026-11-22T10:00:00.123Z')
  })

  it('see what had committed when the lock before them was given', async () => {
    const read = readsOfOneRow({
      row: oneRow<{ reason: string }>('SELECT reason FROM stops'),
      clock: oneRow<{ at: Date }>('SELECT clock_timestamp() AS at'),
    })
    const lock = subjectLock(scope, 'stop', '')
    let reading: ReturnType<typeof read> | undefined
    let committedAt = ''
    await test.db.tenant(scope, async (tx) => {
      await lockExclusive(tx, [lock])
      reading = test.db.tenant(scope, async (other) => {
        const [, rows] = await Promise.all([lockShared(other, [lock]), read(other, [])])
        return rows
      })
      await untilWaiting()
      await tx.query(
        `INSERT INTO stops (account_id, environment, id, reason, stopped_by) VALUES ($1, $2, $3, 'drill', 'key')`,
        [scope.accountId, scope.environment, 'stp_test_00000000000000000000000001'],
      )
      const [row] = await tx.query<{ at: Date }>('SELECT clock_timestamp() AS at')
      committedAt = row?.at.toISOString() ?? ''
    })
    const rows = await reading
    expect(rows?.row).toEqual({ reason: 'drill' })
    expect(new Date(rows?.clock?.at ?? '') >= new Date(committedAt)).toBe(true)
  })

  const untilWaiting = () =>
    until(
      async () => {
        const waiting = await test.owner(
          `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
             AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        )
        return waiting.length > 0
      },
      { what: 'a wait for the lock' },
    )
})
