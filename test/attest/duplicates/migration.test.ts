// Hashes of the version before move to their media, by an owner that row-level security binds.

import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import knexFactory, { type Knex } from 'knex'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'

const LAST_BEFORE = '0028_attempts_in_flight.ts'
const directory = fileURLToPath(new URL('../../../migrations', import.meta.url))
const config = { directory, loadExtensions: ['.ts'], tableName: 'migrations' }
const name = `t_${randomBytes(6).toString('hex')}`
const owner = `owner_${randomBytes(6).toString('hex')}`
let cluster: pg.Client
let old: Knex
let knex: Knex

beforeAll(async () => {
  const url = new URL(inject('postgresUrl'))
  cluster = new pg.Client({ connectionString: url.href })
  await cluster.connect()
  await cluster.query(`CREATE ROLE ${owner} LOGIN PASSWORD 'test'`)
  await cluster.query(`CREATE DATABASE ${name}`)
  url.pathname = `/${name}`
  old = knexFactory({ client: 'pg', connection: url.href, pool: { min: 0, max: 1 } })
  for (let last = ''; last !== LAST_BEFORE; ) {
    const [, [applied]]: [number, string[]] = await old.migrate.up(config)
    last = applied?.split('/').pop() ?? expect.fail('the migration is not there')
  }
  await old.raw(`
    INSERT INTO accounts (id, name, plan, products) SELECT unnest(ARRAY['acc_a', 'acc_b']), 'Test', 'enterprise', '{attest}';
    INSERT INTO media (account_id, environment, id, sha256, size, content_type)
      SELECT account, 'live', 'm_' || n, sha256((account || n)::bytea), 1, 'image/jpeg'
      FROM unnest(ARRAY['acc_a', 'acc_b']) AS account, generate_series(1, 4) AS n;
    SET session_replication_role = replica;
    INSERT INTO fingerprints (account_id, environment, attestation_id, claim_id, media_id, state, hash, not_comparable)
    VALUES
      ('acc_a', 'live', 'att_1', 'c', 'm_1', 'compared', 7, NULL),
      ('acc_a', 'live', 'att_2', 'c', 'm_1', 'hashed', 7, NULL),
      ('acc_a', 'live', 'att_3', 'c', 'm_1', 'compared', NULL, 'failed'),
      ('acc_a', 'live', 'att_4', 'c', 'm_2', 'hashed', NULL, 'flat'),
      ('acc_a', 'live', 'att_5', 'c', 'm_3', 'compared', NULL, 'failed'),
      ('acc_a', 'live', 'att_6', 'c', 'm_4', 'due', NULL, NULL),
      ('acc_b', 'live', 'att_7', 'c', 'm_1', 'recheck', -9, NULL),
      ('acc_b', 'live', 'att_8', 'c', 'm_2', 'compared', 5, 'failed');
    RESET session_replication_role`)
  await old.raw(`DO $$ DECLARE t text; BEGIN
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
      EXECUTE format('ALTER TABLE %I OWNER TO ${owner}', t);
    END LOOP; END $$; ALTER SCHEMA public OWNER TO ${owner}`)
  url.username = owner
  url.password = 'test'
  knex = knexFactory({ client: 'pg', connection: url.href, pool: { min: 0, max: 1 } })
  await knex.migrate.up(config)
})
afterAll(async () => {
  await knex?.destroy()
  await old?.destroy()
  await cluster.query(`DROP DATABASE ${name} WITH (FORCE)`)
  await cluster.query(`DROP ROLE ${owner}`)
  await cluster.end()
})

it('each hashed media has one picture, and a failed comparison makes none', async () => {
  const { rows } = await old.raw(
    'SELECT account_id AS account, media_id AS media, hash::int, not_comparable AS why FROM pictures ORDER BY 1, 2',
  )
  expect(rows).toEqual([
    { account: 'acc_a', media: 'm_1', hash: 7, why: null },
    { account: 'acc_a', media: 'm_2', hash: null, why: 'flat' },
    { account: 'acc_b', media: 'm_1', hash: -9, why: null },
    { account: 'acc_b', media: 'm_2', hash: 5, why: null },
  ])
})

it('what waited for its comparison still waits, and results stay', async () => {
  const { rows } = await old.raw(
    'SELECT attestation_id AS id, state, not_comparable AS why FROM fingerprints ORDER BY attestation_id',
  )
  expect(rows.map(({ id, state, why }: Record<string, unknown>) => `${id} ${state} ${why}`)).toEqual([
    'att_1 compared null',
    'att_2 due null',
    'att_3 compared failed',
    'att_4 due null',
    'att_5 compared failed',
    'att_6 due null',
    'att_7 recheck null',
    'att_8 compared failed',
  ])
})

it('a process of the version before fails, and the tables are bound by row-level security', async () => {
  await expect(old.raw(`UPDATE fingerprints SET hash = 1 WHERE attestation_id = 'att_6'`)).rejects.toMatchObject({
    code: '42703',
  })
  const { rows } = await old.raw(
    `SELECT relname FROM pg_class WHERE relname IN ('fingerprints', 'pictures') AND relrowsecurity AND relforcerowsecurity`,
  )
  expect(rows).toHaveLength(2)
})
