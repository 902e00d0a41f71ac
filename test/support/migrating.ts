// A database at an earlier migration, whose owner is bound by row-level security as in production.

import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import knexFactory, { type Knex } from 'knex'
import pg from 'pg'
import { expect } from 'vitest'

export interface Migrating {
  /** A superuser. */
  old: Knex
  /** The owner of all tables. */
  owner: Knex
  /** Runs the next migration as the owner. */
  next(): Promise<void>
  close(): Promise<void>
}

const directory = fileURLToPath(new URL('../../migrations', import.meta.url))
const config = { directory, loadExtensions: ['.ts'], tableName: 'migrations' }

/**
 * @param postgresUrl What vitest injects: a test file that names it gets a worker of its own.
 * @param fill Inserts rows as a superuser, before the tables get their owner.
 */
export async function migrateTo(
  postgresUrl: string,
  last: string,
  fill: (old: Knex) => Promise<unknown>,
): Promise<Migrating> {
  const name = `t_${randomBytes(6).toString('hex')}`
  const role = `owner_${randomBytes(6).toString('hex')}`
  const url = new URL(postgresUrl)
  const cluster = new pg.Client({ connectionString: url.href })
  await cluster.connect()
  await cluster.query(`CREATE ROLE ${role} LOGIN PASSWORD 'test'`)
  await cluster.query(`CREATE DATABASE ${name}`)
  url.pathname = `/${name}`
  const old = knexFactory({ client: 'pg', connection: url.href, pool: { min: 0, max: 1 } })
  for (let applied = ''; applied !== last; ) {
    const [, [file]]: [number, string[]] = await old.migrate.up(config)
    applied = file?.split('/').pop() ?? expect.fail('the migration is not there')
  }
  await fill(old)
  await old.raw(`DO $$ DECLARE t text; BEGIN
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
      EXECUTE format('ALTER TABLE %I OWNER TO ${role}', t);
    END LOOP; END $$; ALTER SCHEMA public OWNER TO ${role}`)
  url.username = role
  url.password = 'test'
  const owner = knexFactory({ client: 'pg', connection: url.href, pool: { min: 0, max: 1 } })
  return {
    old,
    owner,
    async next() {
      await owner.migrate.up(config)
    },
    async close() {
      await owner.destroy()
      await old.destroy()
      await cluster.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await cluster.query(`DROP ROLE ${role}`)
      await cluster.end()
    },
  }
}
