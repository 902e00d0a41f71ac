import { readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Knex } from 'knex'
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
  /** Called when a migration waits for a table that something else uses: what an operator may want to know. */
  onWait?: (sentence: string) => void
  /** How an operator gets an empty database, for the refusal of one with an unknown history. */
  remedy?: string | undefined
  /** The folder of the migrations, for tests that add one. */
  directory?: string
}

export interface Migrated {
  /** The migrations that were applied now. */
  applied: string[]
  /** Those that the database has beyond this code's: a later version was here. */
  newer: string[]
}

// Any constant works, as long as nothing else in the database locks it.
const MIGRATION_LOCK = 7_251_630_449

// What a table lock waits for, a dump for example, may last for hours, and every later statement on the table would queue
// behind the lock. So it gives up soon, and the service goes on in between.
const LOCK_TIMEOUT_MS = 2_000
const RETRY_MS = 1_000
// knex gives a connection 30 s to open, and 60 s to become free. The longest time of a timer.
const NO_LIMIT_MS = 2_147_483_647
const BLOCKED: readonly unknown[] = ['55P03', '40P01']

/**
 * Migrates the database to the newest version, each migration in its own transaction. Safe to run from several processes
 * at once: the others wait. A database that has all of this code's migrations, and later ones, stays as it is.
 * A table that is in use is waited for without a limit.
 * @throws {Error} for a database with later migrations that lacks one of these, and for one with earlier migrations that
 * this code does not have.
 */
export async function migrate({
  ownerUrl,
  loginUrl,
  migrateEngine,
  onWait = () => {},
  remedy = 'name an empty database',
  directory = MIGRATIONS,
}: MigrateOptions): Promise<Migrated> {
  // Only here: no other process needs its three hundred modules, a seventh of what every process would load.
  const { default: knexFactory } = await import('knex')
  const guard = new pg.Client({ connectionString: ownerUrl, application_name: 'countersign migrate' })
  // A connection that breaks between two statements fails the next one.
  guard.on('error', () => {})
  await guard.connect()
  const knex = knexFactory({
    client: 'pg',
    connection: ownerUrl,
    // What fails is thrown too, and a table in use is no failure.
    log: { warn() {}, error() {} },
    acquireConnectionTimeout: NO_LIMIT_MS,
    pool: {
      min: 0,
      max: 1,
      acquireTimeoutMillis: NO_LIMIT_MS,
      createTimeoutMillis: NO_LIMIT_MS,
      afterCreate: (connection: pg.Client, done: (error: unknown) => void) =>
        void connection.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`).then(() => done(null), done),
    },
  })
  try {
    await guard.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK])
    const before = await findApplied(guard)
    const newer = findNewer(before, namesIn(directory), remedy)
    const applied = newer.length > 0 ? [] : await applyAll(knex, { directory, isNew: before.size === 0, onWait })
    await guard.query(`GRANT SELECT ON migrations TO ${SYSTEM_ROLE}`)
    const login = await grantLogin(guard, loginUrl)
    // A later version has prepared its own engine.
    if (newer.length === 0) await migrateEngine?.(guard, login)
    return { applied, newer }
  } finally {
    await knex.destroy()
    await guard.end()
  }
}

async function applyAll(
  knex: Knex,
  { directory, isNew, onWait }: { directory: string; isNew: boolean; onWait: (sentence: string) => void },
): Promise<string[]> {
  const config = { directory, loadExtensions: ['.ts'], tableName: 'migrations' }
  // knex keeps its own lock row, which a killed migration leaves set. Only our lock counts.
  await knex.migrate.forceFreeMigrationsLock(config)
  // A new database has no other users, and all at once is faster than one by one.
  const step = () => (isNew ? knex.migrate.latest(config) : knex.migrate.up(config)) as Promise<[number, string[]]>
  const applied: string[] = []
  for (let isBlocked = false; ; ) {
    try {
      const [, files] = await step()
      applied.push(...files.map((file) => file.split('/').pop() ?? file))
      if (isNew || files.length === 0) return applied
      isBlocked = false
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (!BLOCKED.includes(code)) throw error
      if (!isBlocked) onWait('A migration waits for a table that something else uses (a dump, or a long report).')
      isBlocked = true
      await delay(RETRY_MS)
    }
  }
}

async function findApplied(client: pg.Client): Promise<Set<string>> {
  const { rows: tables } = await client.query("SELECT FROM pg_class WHERE oid = to_regclass('migrations')")
  if (tables.length === 0) return new Set()
  const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations')
  return new Set(rows.map(({ name }) => name))
}

const namesIn = (directory: string) => readdirSync(directory).filter((file) => file.endsWith('.ts'))

function findNewer(applied: ReadonlySet<string>, own: readonly string[], remedy: string): string[] {
  const unknown = [...applied].filter((name) => !own.includes(name)).toSorted()
  const missing = own.filter((name) => !applied.has(name))
  const last = own.toSorted().at(-1) ?? ''
  const [earlier] = unknown
  if (earlier !== undefined && earlier < last) {
    const others = unknown.length === 1 ? '' : ` and ${unknown.length - 1} more`
    throw new Error(
      `The database has migrations that this code does not have (${earlier}${others}), so other code made it: run that code, or ${remedy}.`,
    )
  }
  if (unknown.length > 0 && missing.length > 0) {
    throw new Error(
      `The database is newer than this code (it has ${unknown.join(', ')}) and lacks ${missing.join(', ')}: bring the code up to date.`,
    )
  }
  return unknown
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
  const missing = namesIn(MIGRATIONS).filter((file) => !applied.has(file))
  if (missing.length > 0) throw new Error(`The database lacks ${missing.join(', ')}: run \`npm run migrate\` first.`)
}

/**
 * Refuses a login that row-level security would not bind.
 * @throws {Error} for a superuser or a role with BYPASSRLS, saying what to set instead.
 */
export async function refuseUnboundLogin(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: 'countersign boot' })
  client.on('error', () => {})
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
