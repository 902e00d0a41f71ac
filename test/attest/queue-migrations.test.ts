// Rows of the version that compared and re-evaluated in loops of `clock` get their jobs from the migrations, which run
// as an owner that row-level security binds.

import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import knexFactory, { type Knex } from 'knex'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'

const LAST_BEFORE = '0025_claim_changed.ts'
const directory = fileURLToPath(new URL('../../migrations', import.meta.url))
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
  await fill(old)
  await old.raw(`DO $$ DECLARE t text; BEGIN
    FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
      EXECUTE format('ALTER TABLE %I OWNER TO ${owner}', t);
    END LOOP; END $$; ALTER SCHEMA public OWNER TO ${owner}`)
  url.username = owner
  url.password = 'test'
  knex = knexFactory({ client: 'pg', connection: url.href, pool: { min: 0, max: 1 } })
  await knex.migrate.up(config)
  await knex.migrate.up(config)
})
afterAll(async () => {
  await knex?.destroy()
  await old?.destroy()
  await cluster.query(`DROP DATABASE ${name} WITH (FORCE)`)
  await cluster.query(`DROP ROLE ${owner}`)
  await cluster.end()
})

/** Two accounts. What the rows refer to does not matter here. */
async function fill(on: Knex): Promise<void> {
  await on.raw(`
    INSERT INTO accounts (id, name, plan, products) SELECT unnest(ARRAY['acc_a', 'acc_b']), 'Test', 'enterprise', '{attest}';
    SET session_replication_role = replica;
    INSERT INTO fingerprints (account_id, environment, attestation_id, claim_id, media_id, state, hash, not_comparable,
      attempts, starts, leased_until)
    VALUES
      ('acc_a', 'live', 'att_due', 'c', 'm', 'due', NULL, NULL, 0, 0, NULL),
      ('acc_a', 'live', 'att_leased', 'c', 'm', 'due', NULL, NULL, 3, 1, now() + interval '1 hour'),
      ('acc_a', 'live', 'att_hashed', 'c', 'm', 'hashed', 7, NULL, 0, 0, NULL),
      ('acc_b', 'sandbox', 'att_recheck', 'c', 'm', 'recheck', NULL, 'flat', 0, 0, NULL),
      ('acc_b', 'sandbox', 'att_compared', 'c', 'm', 'compared', 7, NULL, 0, 0, NULL);
    INSERT INTO reevaluations (account_id, environment, id, cause, key, subject, seen_at, walked_at, finished_at)
    VALUES
      ('acc_a', 'live', 'ree_new', 'requested', 'a', '{}', NULL, NULL, NULL),
      ('acc_b', 'sandbox', 'ree_walked', 'requested', 'b', '{}', now(), now(), NULL),
      ('acc_b', 'sandbox', 'ree_finished', 'requested', 'c', '{}', now(), now(), now());
    RESET session_replication_role`)
}

async function jobsOf(queue: string): Promise<unknown[]> {
  const { rows } = await old.raw(
    `SELECT account_id || ' ' || environment || ' ' || lane || ' ' || priority || ' ' || state AS job, payload FROM jobs
     WHERE queue = ? ORDER BY payload::text`,
    [queue],
  )
  return rows
}

it('each waiting fingerprint has one job, and is marked as having it', async () => {
  const ofA = 'acc_a live acc_a 1 queued'
  expect(await jobsOf('compare')).toEqual([
    { job: ofA, payload: { attestationId: 'att_due' } },
    { job: ofA, payload: { attestationId: 'att_hashed' } },
    { job: ofA, payload: { attestationId: 'att_leased' } },
    { job: 'acc_b sandbox acc_b 1 queued', payload: { attestationId: 'att_recheck' } },
  ])
  const { rows } = await old.raw(
    `SELECT attestation_id FROM fingerprints WHERE leased_until IS DISTINCT FROM 'infinity'`,
  )
  expect(rows).toEqual([{ attestation_id: 'att_compared' }])
})

it('each open re-evaluation has one job, and names it', async () => {
  expect(await jobsOf('reevaluate')).toEqual([
    { job: 'acc_a live acc_a 0 queued', payload: { reevaluationId: 'ree_new' } },
    { job: 'acc_b sandbox acc_b 0 queued', payload: { reevaluationId: 'ree_walked' } },
  ])
  const { rows } = await old.raw(
    `SELECT r.id, j.payload ->> 'reevaluationId' AS job FROM reevaluations r LEFT JOIN jobs j ON j.id = r.job_id ORDER BY r.id`,
  )
  expect(rows).toEqual([
    { id: 'ree_finished', job: null },
    { id: 'ree_new', job: 'ree_new' },
    { id: 'ree_walked', job: 'ree_walked' },
  ])
})

it('the tables are bound by row-level security again', async () => {
  const { rows } = await old.raw(
    `SELECT relname FROM pg_class WHERE relname IN ('jobs', 'fingerprints', 'reevaluations') AND relforcerowsecurity`,
  )
  expect(rows).toHaveLength(3)
})
