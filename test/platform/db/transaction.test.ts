import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type Database, type Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'

const STOP = `INSERT INTO stops (account_id, environment, id, reason, stopped_by) VALUES ($1, 'sandbox', $2, $3, 'key')`

describe.each([true, false])('a transaction (driver internals: %s)', (usesDriverInternals) => {
  let test: TestDatabase
  /** One connection, so that a transaction finds what the one before left on it. */
  let db: Database
  let scope: Scope
  let made = 0
  beforeAll(async () => {
    test = await createTestDatabase()
    db = createDatabase({ url: test.url, poolSize: 1, usesDriverInternals })
    scope = await makeAccount(test)
  })
  afterAll(async () => {
    await db.close()
    await test.close()
  })

  const stop = (tx: Tx, reason: unknown) => {
    made += 1
    return tx.query(STOP, [scope.accountId, `stp_test_${String(made).padStart(26, '0')}`, reason])
  }
  const kept = () => test.owner('SELECT reason FROM stops')
  const clear = () => test.owner('DELETE FROM stops')

  it('keeps the order of prepared and other statements', async () => {
    const read = (tx: Tx, way: 'query' | 'adhoc') =>
      tx[way]<{ count: number }>('SELECT count(*)::int AS count FROM stops')
    const [, before, , after] = await db.tenant(scope, (tx) =>
      Promise.all([
        tx.query('SELECT 1'),
        read(tx, 'adhoc'),
        stop(tx, 'drill'),
        read(tx, 'adhoc'),
        tx.query('UPDATE stops SET resumed_at = clock_timestamp(), resumed_by = $1', ['key']),
      ]),
    )
    expect([before, after]).toEqual([[{ count: 0 }], [{ count: 1 }]])
    await clear()
  })

  // The first time a connection prepares the statements, the second time it sends them in one group with the COMMIT.
  it.each(['first', 'second'])('keeps what is written with its commit, the %s time', async (reason) => {
    let answered = 'nothing'
    const result = await db.tenant(scope, async (tx) => {
      await tx.query('SELECT 1')
      tx.withCommit(async () => {
        await stop(tx, reason)
        answered = reason
      })
      return 'made'
    })
    expect(result).toBe('made')
    expect(answered).toBe(reason)
    expect(await kept()).toEqual([{ reason }])
    await clear()
  })

  it.each([
    ['refuses', null, '23502'],
    ['that can not be sent', cycle(), undefined],
  ])('keeps nothing when its commit comes with a value that Postgres %s', async (_what, value, code) => {
    const failed = db.tenant(scope, async (tx) => {
      await tx.query('SELECT 1')
      tx.withCommit(() => Promise.all([stop(tx, 'kept?'), stop(tx, value)]))
    })
    await expect(failed).rejects.toThrow()
    if (code !== undefined) await expect(failed).rejects.toMatchObject({ code })
    expect(await kept()).toEqual([])
    expect(await db.tenant(scope, (tx) => tx.query('SELECT 1 AS one'))).toEqual([{ one: 1 }])
  })

  it('keeps nothing when a write of its commit fails before it is sent', async () => {
    await db.tenant(scope, (tx) => stop(tx, 'prepared'))
    await clear()
    const failed = db.tenant(scope, async (tx) => {
      await tx.query('SELECT 1')
      tx.withCommit(() => Promise.all([stop(tx, 'kept?'), Promise.reject(new Error('the write failed'))]))
    })
    await expect(failed).rejects.toThrow('the write failed')
    expect(await kept()).toEqual([])
    expect(await db.tenant(scope, (tx) => tx.query('SELECT 1 AS one'))).toEqual([{ one: 1 }])
  })

  // Postgres answers such a COMMIT with a rollback, and with no error.
  it.each(['prepared', 'other'])('fails when the failure of a statement is ignored: %s ones', async (which) => {
    const failed = db.tenant(scope, async (tx) => {
      await stop(tx, 'kept?')
      await (which === 'prepared' ? stop(tx, null) : tx.adhoc('SELECT 1 / 0')).catch(() => {})
      return 'made'
    })
    await expect(failed).rejects.toMatchObject({ code: which === 'prepared' ? '23502' : '22012' })
    expect(await kept()).toEqual([])
    expect(await db.tenant(scope, (tx) => tx.query('SELECT 1 AS one'))).toEqual([{ one: 1 }])
  })

  it('refuses statements after its end, and keeps none that waited when it failed', async () => {
    const left: Tx[] = []
    await db.tenant(scope, async (tx) => void left.push(tx))
    const failed = db.tenant(scope, async (tx) => {
      left.push(tx)
      stop(tx, 'left behind').catch(() => {})
      throw new Error('the work failed')
    })
    await expect(failed).rejects.toThrow('the work failed')
    for (const tx of left) {
      await expect(tx.query('SELECT 1')).rejects.toThrow('has ended')
      await expect(tx.adhoc('SELECT 1')).rejects.toThrow('has ended')
    }
    expect(await kept()).toEqual([])
  })

  it('waits for the writes of its commit, or refuses those that begin too late', async () => {
    const failed = db.tenant(scope, async (tx) => {
      await tx.query('SELECT 1')
      tx.withCommit(async () => {
        await new Promise((done) => setImmediate(done))
        await stop(tx, 'late')
      })
    })
    // Without internals the commit waits for them.
    if (usesDriverInternals) await expect(failed).rejects.toThrow('has ended')
    else await failed
    await clear()
  })
})

function cycle(): object {
  const value: { self?: object } = {}
  value.self = value
  return value
}
