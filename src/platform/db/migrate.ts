import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { APP_ROLE, type Database, SYSTEM_ROLE } from './database.ts'

const MIGRATIONS = fileURLToPath(new URL('../../../migrations', import.meta.url))

interface MigrateOptions {
  /** A role that may create roles and tables. */
  ownerUrl: string
  /** The service's own login (DATABASE_URL). Created when it does not exist; may only assume the two roles. */
  loginUrl: string
  /** Prepares the job engine's own schema under the same lock; `login` is the role to grant it to. */
  migrateEngine?: (client: pg.Client, login: string) => Promise<void>
}

// Any constant works, as long as nothing else in the database locks it.
const MIGRATION_LOCK = 7_251_630_449

/** Migrates the database to the newest version. Safe to run from several processes at once: the others wait. */
export async function migrate({ ownerUrl, loginUrl, migrateEngine }: MigrateOptions): Promise<{ applied: string[] }> {
  // Only here: no other process needs its three hundred modules, a seventh of what every process would load.
  const { default: knexFactory } = await import('knex')
  const guard = new pg.Client({ connectionString: ownerUrl, application_name: 'countersign migrate' })
  await guard.connect()
  const knex = knexFactory({ client: 'pg', connection: ownerUrl, pool: { min: 0, max: 1 } })
  try {
    await guard.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK])
    const config = {
      directory: MIGRATIONS,
      loadExtensions: ['.ts'],
      tableName: 'migrations',
    }
    // knex keeps its own lock row, which a killed migration leaves set. Only our lock counts.
    await knex.migrate.forceFreeMigrationsLock(config)
    const [, applied]: [number, string[]] = await knex.migrate.latest(config).catch(refuseNewer)
    await guard.query(`GRANT SELECT ON migrations TO ${SYSTEM_ROLE}`)
    const login = await grantLogin(guard, loginUrl)
    await migrateEngine?.(guard, login)
    return { applied: applied.map((file) => file.split('/').pop() ?? file) }
  } finally {
    await knex.destroy()
    await guard.end()
  }
}

function refuseNewer(error: unknown): never {
  const missing = error instanceof Error && /files are missing: (.*)$/.exec(error.message)?.[1]
  if (!missing) throw error
  throw new Error(`The database is newer than this code (it has ${missing}): bring the code up to date.`, {
    cause: error,
  })
}

async function grantLogin(client: pg.Client, loginUrl: string): Promise<string> {
  const { username, password } = new URL(loginUrl)
  const login = decodeURIComponent(username)
  const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [login])
  if (rowCount === 0) {
    const secret = client.escapeLiteral(decodeURIComponent(password))
    await client.query(
      `CREATE ROLE ${client.escapeIdentifier(login)} LOGIN NOSUPERUSER NOBYPASSRLS NOINHERIT PASSWORD ${secret}`,
    )
  }
  await client.query(`GRANT ${APP_ROLE}, ${SYSTEM_ROLE} TO ${client.escapeIdentifier(login)}`)
  return login
}

/**
 * Refuses a database that is older than this code.
 * @throws {Error} saying which migrations are missing and what to run.
 */
export async function requireMigrated(db: Pick<Database, 'system'>): Promise<void> {
  const rows = await db
    .system('boot', (tx) => tx.query<{ name: string }>('SELECT name FROM migrations'))
    .catch((error: unknown) => {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      // undefined_table, insufficient_privilege, invalid role (or what follows from it in the same transaction): the
      // database was never migrated.
      if (typeof code !== 'string' || !['42P01', '42501', '22023', '25P02'].includes(code)) throw error
      return []
    })
  const applied = new Set(rows.map((row) => row.name))
  const missing = readdirSync(MIGRATIONS).filter((file) => file.endsWith('.ts') && !applied.has(file))
  if (missing.length > 0) throw new Error(`The database lacks ${missing.join(', ')}: run \`npm run migrate\` first.`)
}

/**
 * Refuses a login that row-level security would not bind.
 * @throws {Error} for a superuser or a role with BYPASSRLS, saying what to set instead.
 */
export async function refuseUnboundLogin(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'countersign boot' })
  await client.connect()
  try {
    const { rows } = await client.query(
      'SELECT rolname, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user',
    )
    const role = rows[0]
    if (role?.rolsuper || role?.rolbypassrls) {
      throw new Error(
        `DATABASE_URL logs in as ${role.rolname}, which row-level security does not bind. Give that URL to ` +
          '`npm run migrate` as DATABASE_OWNER_URL, and name a role without SUPERUSER and BYPASSRLS in DATABASE_URL: ' +
          'migrate makes it.',
      )
    }
  } finally {
    await client.end()
  }
}
