import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { APP_ROLE, createDatabase, type Database, SYSTEM_ROLE } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'

describe('one reading statement through the system door', () => {
  let test: TestDatabase
  /** Of one connection, so that what one transaction leaves on it is what the next one finds. */
  let db: Database
  let scope: Scope
  beforeAll(async () => {
    test = await createTestDatabase()
    db = createDatabase({ url: test.url, poolSize: 1 })
    scope = await makeAccount(test)
  })
  afterAll(async () => {
    await db.close()
    await test.close()
  })

  const read = <Row>(text: string, values: unknown[] = []) => db.readSystem<Row>('test', () => ({ text, values }))
  const roleOfTenant = () => db.tenant(scope, (tx) => tx.query('SELECT current_user AS role'))

  it('answers its rows, as the system role and in a transaction that only reads', async () => {
    const text = `SELECT current_user AS role, current_setting('transaction_read_only') AS reads, id FROM accounts WHERE id = $1`
    expect(await read(text, [scope.accountId])).toEqual([{ role: SYSTEM_ROLE, reads: 'on', id: scope.accountId }])
  })

  it('leaves nothing behind on its connection', async () => {
    await read('SELECT 1')
    expect(await roleOfTenant()).toEqual([{ role: APP_ROLE }])
    await expect(read(`SELECT set_config('app.account_id', $1, true)`, [scope.accountId])).resolves.toHaveLength(1)
    expect(await db.system('test', (tx) => tx.query(`SELECT current_setting('app.account_id', true) AS id`))).toEqual([
      { id: '' },
    ])
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

  it('asks for its statement when a connection is free', async () => {
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
