import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'

describe.each([true, false])('a transaction with a failed statement (driver internals: %s)', (usesDriverInternals) => {
  let test: TestDatabase

  beforeAll(async () => {
    test = await createTestDatabase({ usesDriverInternals })
  })
  afterAll(() => test?.close())

  it('rejects every statement after it, and itself, with the error that says why', async () => {
    const scope = await makeAccount(test)
    const codes: unknown[] = []
    const failed = test.db.tenant(scope, async (tx) => {
      const sent = await Promise.allSettled([
        tx.query('SELECT 1 / $1::int', [0]),
        tx.query('SELECT 1'),
        tx.adhoc('SELECT 2'),
      ])
      codes.push(...sent.map((one) => (one.status === 'rejected' ? one.reason.code : 'none')))
      await tx.query('SELECT 3')
    })
    await expect(failed).rejects.toMatchObject({ code: '22012' })
    expect(codes).toEqual(['22012', '22012', '22012'])
    expect(await test.db.tenant(scope, (tx) => tx.query('SELECT 1 AS one'))).toEqual([{ one: 1 }])
  })
})
