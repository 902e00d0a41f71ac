import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { createDatabase } from '#src/platform/db/database.ts'
import { type Environment, newAccountId, type Scope } from '#src/platform/ids.ts'

export const TEMPLATE = 'countersign_template'
export const LOGIN = 'countersign_test'

export interface TestDatabase {
  db: ReturnType<typeof createDatabase>
  /** The service's own login, for processes that a test starts. */
  url: string
  /** The superuser, for what a test must read or break independently of the service. */
  ownerUrl: string
  /** Runs one statement as the superuser. */
  owner<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  close(): Promise<void>
}

/** A migrated database of its own. Dropped by `close`, kept when the test run has KEEP=1. */
export async function createTestDatabase(
  options: { poolSize?: number; usesDriverInternals?: boolean } = {},
): Promise<TestDatabase> {
  const clusterUrl = inject('postgresUrl')
  const name = `t_${randomBytes(6).toString('hex')}`
  // Copied by files: nothing of it has to survive a crash, and the other strategy writes each page to the WAL.
  await onCluster(clusterUrl, `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} STRATEGY FILE_COPY`)

  const ownerUrl = withDatabase(clusterUrl, name)
  const url = loginUrl(ownerUrl, LOGIN)
  const db = createDatabase({ url, ...options })
  const ownerPool = new pg.Pool({ connectionString: ownerUrl, max: 2 })
  ownerPool.on('error', () => {})
  return {
    db,
    url,
    ownerUrl,
    async owner<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) {
      const { rows } = await ownerPool.query<Row>(text, values)
      return rows
    },
    async close() {
      await db.close()
      await ownerPool.end()
      if (!process.env.KEEP) await onCluster(clusterUrl, `DROP DATABASE ${name} WITH (FORCE)`)
    },
  }
}

/** An account of its own, and the scope to work in. */
export async function makeAccount(
  { db }: Pick<TestDatabase, 'db'>,
  { environment = 'sandbox', plan = 'enterprise', products = ['attest', 'authorize', 'trace'] }: AccountOptions = {},
): Promise<Scope> {
  const accountId = newAccountId('acc')
  await db.system('test', (tx) =>
    tx.query('INSERT INTO accounts (id, name, plan, products) VALUES ($1, $2, $3, $4)', [
      accountId,
      'Test',
      plan,
      products,
    ]),
  )
  return { accountId, environment }
}

interface AccountOptions {
  environment?: Environment
  plan?: string
  products?: string[]
}

export function loginUrl(ownerUrl: string, login: string): string {
  const url = new URL(ownerUrl)
  url.username = login
  url.password = 'test'
  return url.href
}

function withDatabase(clusterUrl: string, name: string): string {
  const url = new URL(clusterUrl)
  url.pathname = `/${name}`
  return url.href
}

// Cloning needs exclusive access to the template: two test files that start together would make one of them fail.
async function onCluster(clusterUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: withDatabase(clusterUrl, 'postgres') })
  await client.connect()
  try {
    await client.query('SELECT pg_advisory_lock(1)')
    await client.query(statement)
  } finally {
    await client.end()
  }
}
