import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { APP_ROLE, createDatabase, type Database, type Statement, SYSTEM_ROLE } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'

describe.each([
  ['with', true],
  ['without', false],
])('%s internals of the driver', (_position, usesDriverInternals) => {
  let test: TestDatabase
  /** One connection for each role, so that the next transaction finds what the previous one left on it. */
  let db: Database
  let scope: Scope
  beforeAll(async () => {
    test = await createTestDatabase()
    db = createDatabase({ url: test.url, poolSize: 1, systemPoolSize: 1, usesDriverInternals })
    scope = await makeAccount(test)
  })
  afterAll(async () => {
    await db.close()
    await test.close()
  })

  const read = <Row>(text: string, values: unknown[] = []) => db.readSystem<Row>('test', () => ({ text, values }))
  const roleOfTenant = () => db.tenant(scope, (tx) => tx.query('SELECT current_user AS role'))

  describe('a single read as the system role', () => {
    it('returns its rows, as the system role and in a read-only transaction', async () => {
      const text = `SELECT current_user AS role, current_setting('transaction_read_only') AS reads, id FROM accounts WHERE id = $1`
      expect(await read(text, [scope.accountId])).toEqual([{ role: SYSTEM_ROLE, reads: 'on', id: scope.accountId }])
    })

    it('leaves nothing on its connection', async () => {
      await read('SELECT 1')
      expect(await roleOfTenant()).toEqual([{ role: APP_ROLE }])
      await expect(read(`SELECT set_config('app.account_id', $1, true)`, [scope.accountId])).resolves.toHaveLength(1)
      expect(await db.system('test', (tx) => tx.query(`SELECT current_setting('app.account_id', true) AS id`))).toEqual(
        [{ id: '' }],
      )
    })

    it.each([
      ['a row of a tenant', 'SELECT id FROM claims', '42501'],
      ['what it may write elsewhere', `UPDATE jobs SET state = 'dead'`, '25006'],
      ['what is no statement', 'SELECT FROM WHERE', '42601'],
      ['a second statement', 'SELECT 1; SELECT 2', '42601'],
    ])('refuses %s, and the connection serves the next caller', async (_what, text, code) => {
      await expect(read(text)).rejects.toMatchObject({ code })
      expect(await read('SELECT 1 AS one')).toEqual([{ one: 1 }])
      expect(await roleOfTenant()).toEqual([{ role: APP_ROLE }])
    })

    it('builds its statement when a connection is free', async () => {
      const asked: string[] = []
      const busy = db.system('test', async (tx) => {
        const reading = db.readSystem('test', () => {
          asked.push('statement')
          return { text: 'SELECT 1', values: [] }
        })
        await tx.query('SELECT 1')
        asked.push('busy')
        return { reading }
      })
      await (await busy).reading
      expect(asked).toEqual(['busy', 'statement'])
    })
  })

  describe('a single write as the system role', () => {
    const write = <Row>(text: string, values: unknown[] = []) => db.writeSystem<Row>('test', () => ({ text, values }))

    it('is committed, and waits for no disk', async () => {
      const text = `INSERT INTO queues (queue) VALUES ($1) RETURNING queue, current_user AS role,
        current_setting('synchronous_commit') AS waits`
      for (const queue of ['first', 'second'])
        expect(await write(text, [queue])).toEqual([{ queue, role: SYSTEM_ROLE, waits: 'off' }])
      expect(await test.owner('SELECT queue FROM queues ORDER BY queue')).toEqual([
        { queue: 'first' },
        { queue: 'second' },
      ])
    })

    it('that fails leaves nothing, and the connection serves the next caller', async () => {
      const text = `INSERT INTO queues (queue) SELECT 'part ' || n FROM generate_series(1, $1::int) AS n WHERE 1 / (3 - n) < 9`
      await write(text, [2])
      for (let time = 0; time < 2; time += 1) await expect(write(text, [3])).rejects.toMatchObject({ code: '23505' })
      await test.owner('DELETE FROM queues')
      for (let time = 0; time < 2; time += 1) await expect(write(text, [3])).rejects.toMatchObject({ code: '22012' })
      expect(await test.owner('SELECT queue FROM queues')).toEqual([])
      expect(await roleOfTenant()).toEqual([{ role: APP_ROLE }])
    })

    it('may not touch what belongs to a tenant', async () => {
      await expect(write('DELETE FROM claims')).rejects.toMatchObject({ code: '42501' })
      expect(await roleOfTenant()).toEqual([{ role: APP_ROLE }])
    })
  })

  // The first time on a connection a statement goes the driver's own way, which returns its columns.
  describe('a repeated statement on a connection', () => {
    const VALUES = `SELECT $1::int AS int, $2::bigint AS big, $3::numeric AS amount, $4::float8 AS double, $5::boolean AS flag,
    $6::text AS text, $7::bytea AS bytes, $8::timestamptz AS at, $9::jsonb AS json, $10::text[] AS list, NULL::text AS nothing`
    const at = new Date('2026-11-20T15:11:00.123Z')
    const values = [
      1,
      2 ** 40,
      '1.10',
      0.5,
      true,
      'é',
      Buffer.from([0, 255]),
      at,
      JSON.stringify({ a: [1] }),
      ['a', '"'],
    ]
    const row = {
      int: 1,
      big: 2 ** 40,
      amount: '1.10',
      double: 0.5,
      flag: true,
      text: 'é',
      bytes: Buffer.from([0, 255]),
      at,
      json: { a: [1] },
      list: ['a', '"'],
      nothing: null,
    }

    it('returns the same as the first time, in a transaction and outside', async () => {
      for (let time = 0; time < 3; time += 1) {
        expect(await read(VALUES, values)).toEqual([row])
        expect(await db.tenant(scope, (tx) => tx.query(VALUES, values))).toEqual([row])
        expect(await db.readTenant(scope, [{ text: VALUES, values }])).toEqual([[row]])
      }
    })

    it('returns any number of rows, also none', async () => {
      const text = 'SELECT n FROM generate_series(1, $1::int) AS n'
      for (const size of [0, 3, 0, 5_000]) {
        expect(await read<{ n: number }>(text, [size])).toHaveLength(size)
        expect(await db.tenant(scope, (tx) => tx.query(text, [size]))).toHaveLength(size)
      }
      for (let time = 0; time < 2; time += 1) {
        const done = db.system('test', (tx) => tx.query(`UPDATE jobs SET state = 'dead' WHERE lane = $1`, ['nobody']))
        expect(await done).toEqual([])
      }
    })

    it('that fails is reported as the first time, and the connection serves the next caller', async () => {
      const text = 'SELECT 1 / $1::int AS share'
      for (const divisor of [1, 0, 0, 1]) {
        const reading = read(text, [divisor])
        if (divisor === 0) await expect(reading).rejects.toMatchObject({ code: '22012' })
        else expect(await reading).toEqual([{ share: 1 }])
        const working = db.tenant(scope, (tx) => tx.query(text, [divisor]))
        if (divisor === 0) await expect(working).rejects.toMatchObject({ code: '22012' })
        else expect(await working).toEqual([{ share: 1 }])
        expect(await roleOfTenant()).toEqual([{ role: APP_ROLE }])
      }
    })

    it('with a value that can’t be sent is refused, and the connection serves the next caller', async () => {
      const text = 'SELECT $1::text AS one'
      const cycle: { self?: object } = {}
      cycle.self = cycle
      for (const value of [cycle, 'x', cycle, 'x']) {
        if (value === 'x') expect(await read(text, [value])).toEqual([{ one: 'x' }])
        else await expect(read(text, [value])).rejects.toThrow(/circular/)
      }
      expect(await roleOfTenant()).toEqual([{ role: APP_ROLE }])
    })

    it('is still read-only, and leaves nothing on the connection', async () => {
      const write = `UPDATE jobs SET state = 'dead' WHERE id = $1`
      const id = '00000000-0000-0000-0000-000000000000'
      await db.system('test', (tx) => tx.query(write, [id]))
      for (let time = 0; time < 2; time += 1) {
        await expect(read(write, [id])).rejects.toMatchObject({ code: '25006' })
        const settings = `SELECT current_setting('app.account_id', true) AS account,
        current_setting('application_name') AS name, current_setting('transaction_read_only') AS reads`
        const left = db.system('other', (tx) => tx.query(settings))
        expect(await left).toEqual([{ account: '', name: 'countersign other', reads: 'off' }])
      }
    })
  })

  describe('reads of a tenant', () => {
    const who: Statement = {
      text: `SELECT current_user AS role, current_setting('app.account_id') AS account, now()::text AS began,
      current_setting('transaction_read_only') AS reads`,
      values: [],
    }
    const failing: Statement = { text: 'SELECT 1 / $1::int AS share', values: [0] }
    type Who = { role: string; account: string; began: string; reads: string }
    const ask = async (of: Scope) => (await db.readTenant<[Who]>(of, [who]))[0][0]
    /** Holds the one connection until every caller has asked. */
    const atOnce = async <R>(work: () => Promise<R>[]): Promise<Promise<R>[]> => {
      const asked: Promise<R>[] = []
      await db.system('test', async (tx) => {
        asked.push(...work())
        for (const one of asked) one.catch(() => {})
        await tx.query('SELECT 1')
      })
      return asked
    }

    it('see their own account, in its role', async () => {
      for (let time = 0; time < 2; time += 1) {
        expect(await ask(scope)).toMatchObject({ role: APP_ROLE, account: scope.accountId, reads: 'on' })
      }
    })

    it('of one account share a transaction while they wait, and never with another account', async () => {
      const other = await makeAccount(test)
      const asked = await atOnce(() => [scope, other, scope, other, scope].map(ask))
      const answers = await Promise.all(asked)
      expect(answers.map((one) => one?.account)).toEqual(
        [scope, other, scope, other, scope].map(({ accountId }) => accountId),
      )
      const began = answers.map((one) => one?.began)
      expect([began[2], began[3], began[4]]).toEqual([began[0], began[1], began[0]])
      expect(began[1]).not.toBe(began[0])
    })

    it('fail alone', async () => {
      await db.readTenant(scope, [{ ...failing, values: [1] }])
      const fail = async () => (await db.readTenant<[Who, object]>(scope, [who, failing]))[0][0]
      const asked = await atOnce(() => [ask(scope), fail(), ask(scope)])
      const settled = await Promise.allSettled(asked)
      expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
      expect(settled[1]).toMatchObject({ reason: { code: '22012' } })
    })

    it('of an unknown environment or an unknown account are never sent', async () => {
      await expect(ask({ ...scope, environment: 'other' as 'live' })).rejects.toThrow('unknown environment')
      await expect(ask({ ...scope, accountId: `acc_'; --` })).rejects.toThrow('character')
    })
  })
})
