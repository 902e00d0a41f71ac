// Pages of exported rows: they end by bytes as well as by rows, and together they are every row once, in order.

import { afterAll, beforeAll, expect, it } from 'vitest'
import { readRows } from '#src/account/exports/tables.ts'
import type { Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'

const TABLE = { table: 'audit_entries', key: ['id'], isOfAccount: true } as const

let test: TestDatabase

beforeAll(async () => {
  test = await createTestDatabase()
})
afterAll(() => test?.close())

async function accountWith({ rows, bytes }: { rows: number; bytes: number }): Promise<Scope> {
  const scope = await makeAccount(test)
  await test.db.tenant(scope, (tx) =>
    tx.query(
      `INSERT INTO audit_entries (account_id, id, action, actor_kind, actor_id, after)
       SELECT $1, 'aud_' || lpad(n::text, 6, '0'), 'key.created', 'service', 'test', to_jsonb(repeat('a', $3::int))
       FROM generate_series(1, $2::int) n`,
      [scope.accountId, rows, bytes],
    ),
  )
  return scope
}

async function pagesOf(scope: Scope): Promise<string[][]> {
  const pages: string[][] = []
  for await (const rows of readRows(test.db, scope, TABLE, new AbortController().signal)) {
    pages.push(rows.map(({ line }) => JSON.parse(line).id))
  }
  return pages
}

it.each([
  { rows: 0, bytes: 10, sizes: [] },
  { rows: 19, bytes: 10, sizes: [19] },
  { rows: 20, bytes: 10, sizes: [20] },
  { rows: 450, bytes: 10, sizes: [200, 200, 50] },
  { rows: 45, bytes: 1_000_000, sizes: [20, 20, 5] },
])('$rows rows of $bytes bytes are read in pages of $sizes rows', async ({ rows, bytes, sizes }) => {
  const pages = await pagesOf(await accountWith({ rows, bytes }))
  expect(pages.map(({ length }) => length)).toEqual(sizes)
  expect(pages.flat()).toEqual(Array.from({ length: rows }, (_, n) => `aud_${String(n + 1).padStart(6, '0')}`))
})
