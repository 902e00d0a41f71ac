import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eraseRows, hasContent, markAccountErased } from '#src/account/keys/account-rows.ts'
import { createDatabase } from '#src/platform/db/database.ts'
import { migrate } from '#src/platform/db/migrate.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'

// The owner of the tables need not be a superuser (docs/operate/deploy.md): then row-level security binds the functions that
// erase an account, too.

const name = `t_${randomBytes(6).toString('hex')}`
const owner = `owner_${name}`
let cluster: TestDatabase
let db: ReturnType<typeof createDatabase> | undefined

const inDatabase = (url: string, username?: string) => {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  if (username !== undefined) [changed.username, changed.password] = [username, 'test']
  return changed.href
}

beforeAll(async () => {
  cluster = await createTestDatabase()
  await cluster.owner(`CREATE ROLE ${owner} LOGIN CREATEROLE NOSUPERUSER PASSWORD 'test'`)
  await cluster.owner(`GRANT countersign_app, countersign_system TO ${owner} WITH ADMIN TRUE, INHERIT FALSE, SET FALSE`)
  await cluster.owner(`CREATE DATABASE ${name} OWNER ${owner}`)
})
afterAll(async () => {
  await db?.close()
  await cluster?.owner(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  await cluster?.owner(`REVOKE countersign_app, countersign_system FROM ${owner} CASCADE`)
  await cluster?.owner(`DROP ROLE IF EXISTS ${owner}`)
  await cluster?.close()
})

it('an owner who is no superuser erases the rows of an account that was closed 30 days ago, and of no other', async () => {
  await migrate({ ownerUrl: inDatabase(cluster.ownerUrl, owner), loginUrl: inDatabase(cluster.url) })
  db = createDatabase({ url: inDatabase(cluster.url) })
  const [closed, open] = [await makeAccount({ db }), await makeAccount({ db })]
  for (const scope of [closed, open]) {
    await db.tenant(scope, (tx) =>
      tx.query("INSERT INTO claims (account_id, environment, id, reference) VALUES ($1, $2, $3, 'r')", [
        scope.accountId,
        scope.environment,
        `clm_test_${scope.accountId.slice(4)}`,
      ]),
    )
  }
  const superuser = new pg.Client({ connectionString: inDatabase(cluster.ownerUrl) })
  await superuser.connect()
  try {
    await superuser.query("UPDATE accounts SET closed_at = now() - interval '31 days' WHERE id = $1", [
      closed.accountId,
    ])
    // As the same owner, bound by the same policies, and without a trace in the transaction.
    const hasClaims = (accountId: string) => db?.system('test', (tx) => hasContent(tx, ['media', 'claims'], accountId))
    expect([await hasClaims(open.accountId), await hasClaims(closed.accountId)]).toEqual([true, true])
    expect(await db.system('test', (tx) => hasContent(tx, ['media'], open.accountId))).toBe(false)
    const left = await db.system('test', async (tx) => {
      await hasContent(tx, ['claims'], open.accountId)
      return tx.adhoc<{ account: string }>("SELECT current_setting('app.account_id', true) AS account")
    })
    expect(left).toEqual([{ account: '' }])
    const erase = (accountId: string) => db?.system('test', (tx) => eraseRows(tx, 'claims', accountId, 10))
    expect(await erase(closed.accountId)).toBe(1)
    await expect(erase(open.accountId)).rejects.toThrow(/was not closed/)
    expect(await hasClaims(closed.accountId)).toBe(false)
    await db.system('test', (tx) => markAccountErased(tx, closed.accountId))
    const { rows } = await superuser.query('SELECT account_id FROM claims')
    expect(rows).toEqual([{ account_id: open.accountId }])
    const { rows: accounts } = await superuser.query('SELECT id FROM accounts WHERE erased_at IS NOT NULL')
    expect(accounts).toEqual([{ id: closed.accountId }])
  } finally {
    await superuser.end()
  }
})
