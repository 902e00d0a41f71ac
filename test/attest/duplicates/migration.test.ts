// Hashes of the version before move to their media, and are made anew where their pictures have no greys; by an owner that
// row-level security binds.

import type { Knex } from 'knex'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { type Migrating, migrateTo } from '../../support/migrating.ts'

describe('the hash moves to the media', () => {
  let migrating: Migrating
  beforeAll(async () => {
    migrating = await migrateTo(inject('postgresUrl'), '0028_attempts_in_flight.ts', (old) =>
      old.raw(`
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
    RESET session_replication_role`),
    )
    await migrating.next()
  })
  afterAll(() => migrating?.close())

  it('each hashed media has one picture, and a failed comparison makes none', async () => {
    const { rows } = await migrating.old.raw(
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
    const { rows } = await migrating.old.raw(
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
    await expect(
      migrating.old.raw(`UPDATE fingerprints SET hash = 1 WHERE attestation_id = 'att_6'`),
    ).rejects.toMatchObject({
      code: '42703',
    })
    const { rows } = await migrating.old.raw(
      `SELECT relname FROM pg_class WHERE relname IN ('fingerprints', 'pictures') AND relrowsecurity AND relforcerowsecurity`,
    )
    expect(rows).toHaveLength(2)
  })
})

describe('pictures get their greys', () => {
  const fill = (old: Knex) =>
    old.raw(`
      INSERT INTO accounts (id, name, plan, products) VALUES ('acc_a', 'Test', 'enterprise', '{attest}');
      INSERT INTO media (account_id, environment, id, sha256, size, content_type)
        SELECT 'acc_a', 'live', 'm_' || n, sha256(n::text::bytea), 1, 'image/jpeg' FROM generate_series(1, 3) AS n;
      SET session_replication_role = replica;
      INSERT INTO pictures (account_id, environment, media_id, hash, not_comparable)
        VALUES ('acc_a', 'live', 'm_1', 7, NULL), ('acc_a', 'live', 'm_2', NULL, 'flat');
      INSERT INTO fingerprints (account_id, environment, attestation_id, claim_id, media_id, state, not_comparable, exact_count,
        leased_until)
      VALUES
        ('acc_a', 'live', 'att_1', 'c_1', 'm_1', 'compared', NULL, 0, 'infinity'),
        ('acc_a', 'live', 'att_2', 'c_2', 'm_1', 'compared', 'failed', 1, 'infinity'),
        ('acc_a', 'live', 'att_3', 'c_3', 'm_1', 'recheck', NULL, 2, 'infinity'),
        ('acc_a', 'live', 'att_4', 'c_4', 'm_2', 'compared', 'flat', 0, 'infinity'),
        ('acc_a', 'live', 'att_5', 'c_5', 'm_3', 'compared', 'failed', 0, 'infinity');
      INSERT INTO jobs (id, queue, lane, priority, account_id, environment, payload)
        VALUES (gen_random_uuid(), 'compare', 'acc_a', 1, 'acc_a', 'live', '{"attestationId": "att_3"}');
      RESET session_replication_role`)
  let migrating: Migrating
  beforeAll(async () => {
    migrating = await migrateTo(inject('postgresUrl'), '0089_given_positions.ts', fill)
    await migrating.next()
  })
  afterAll(() => migrating?.close())

  it('those that were hashed are read once more, and what shows them is compared anew by one job each', async () => {
    const { rows: pictures } = await migrating.old.raw('SELECT media_id AS media FROM pictures')
    expect(pictures).toEqual([{ media: 'm_2' }])
    const { rows } = await migrating.old.raw(
      `SELECT attestation_id AS id, state, not_comparable AS why, exact_count AS count, (SELECT count(*)::int FROM jobs
         WHERE queue = 'compare' AND state = 'queued' AND priority = 1 AND payload ->> 'attestationId' = attestation_id) AS jobs
       FROM fingerprints ORDER BY attestation_id`,
    )
    expect(rows.map((row: Record<string, unknown>) => Object.values(row).join(' '))).toEqual([
      'att_1 due  0 1',
      'att_2 due  1 1',
      'att_3 due  2 1',
      'att_4 compared flat 0 0',
      'att_5 compared failed 0 0',
    ])
  })

  it('a process of the version before fails, and the tables are bound by row-level security', async () => {
    const { old } = migrating
    await expect(
      old.raw(`INSERT INTO pictures (account_id, environment, media_id, hash) VALUES ('acc_a', 'live', 'm_3', 1)`),
    ).rejects.toMatchObject({ constraint: 'pictures_detail_check' })
    const { rows } = await old.raw(
      `SELECT relname FROM pg_class WHERE relname IN ('fingerprints', 'pictures', 'jobs') AND relforcerowsecurity`,
    )
    expect(rows).toHaveLength(3)
  })
})
