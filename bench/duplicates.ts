// What a search for similar pictures among a million costs, how many comparisons of one photo a process makes, and what
// it costs to compute hashes.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { createCompare } from '#src/attest/duplicates/compare.ts'
import { createConfirmations } from '#src/attest/duplicates/confirm.ts'
import { DETAIL_SIDE } from '#src/attest/duplicates/detail.ts'
import { createHasher } from '#src/attest/duplicates/hasher.ts'
import { createSearch } from '#src/attest/duplicates/search.ts'
import { createDecoder } from '#src/attest/media/decoder.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { newId } from '#src/platform/ids.ts'
import { claimAll, enqueue, settle } from '#src/platform/jobs/backlog.ts'
import { renderPhoto } from '../capture-kit/photo.ts'
import { CAMERAS } from '../capture-kit/stock.ts'
import { judgeLimit, judgeRatio, note, type Options, percentile, print, type Verdict } from './harness.ts'
import { openStage, type Stage } from './stage.ts'

const SEARCHES = 500
const PHOTOS = 20
const MAX_MS = 10
// Attestations that show one photo, and how many of them are compared.
const SHARED = 20_000
const COMPARISONS = 2_000
// The same for all, so that every match is confirmed and Postgres stores little of them.
const GREYS = `decode(repeat('80', ${DETAIL_SIDE ** 2}), 'hex')`
// Later than every id.
const LAST = 'att_z'

export async function runDuplicates({ isQuick, rounds, part }: Options): Promise<Verdict[]> {
  const stage = await openStage()
  try {
    return [
      ...(part === 'hashing' ? [] : [await comparing(stage, isQuick), ...(await searching(stage, isQuick, rounds))]),
      ...(part === 'search' ? [] : [await hashing(stage, isQuick ? 4 : PHOTOS, rounds)]),
    ]
  } finally {
    await stage.close()
  }
}

async function searching(stage: Stage, isQuick: boolean, rounds: number): Promise<Verdict[]> {
  const count = isQuick ? 20_000 : 1_000_000
  const ids = await fill(stage, count)
  const { findAlike, findClaims } = createSearch()
  const hashes = await sampleHashes(stage, isQuick ? 50 : SEARCHES)
  // The picture that is compared with those found.
  const ownMedia = `med_test_${'0'.repeat(26)}`
  const floors: number[][] = []
  const own: number[][] = []
  const found: number[] = []
  for (let round = 0; round <= rounds; round += 1) {
    floors.push(await timesOf(hashes, (_, index) => readOne(stage, ids(index))))
    own.push(
      await timesOf(hashes, async (hash) => {
        // With a memory of its own: every match is confirmed anew.
        const confirmations = createConfirmations(stage)
        const own = { attestationId: LAST, claimId: 'none', mediaId: 'none' }
        const alike = await stage.db.tenant(stage.scope, (tx) => findAlike(tx, { ...own, hash }))
        if (alike.length > 0) await confirmations.compare(stage.scope, ownMedia, alike)
        const same = confirmations.select(ownMedia, alike) ?? []
        const { similarCount } = await stage.db.tenant(stage.scope, (tx) => findClaims(tx, own, same))
        found.push(similarCount)
      }),
    )
  }
  // The first round of each is its warm-up.
  const p = (runs: readonly number[][], rank: number) => runs.slice(1).map((times) => percentile(times, rank))
  const ms = (values: readonly number[]) => values.map((value) => value.toFixed(2)).join(', ')
  return [
    judgeLimit({
      name: `duplicates, search among ${count.toLocaleString('en')}`,
      label: 'p99',
      unit: 'ms',
      values: p(own, 99),
      max: MAX_MS,
      beside:
        `p50 ${ms(p(own, 50))} ms; floor, one prepared read by primary key: p50 ${ms(p(floors, 50))} ms, ` +
        `p99 ${ms(p(floors, 99))} ms; ${(found.reduce((sum, one) => sum + one, 0) / found.length).toFixed(1)} found each`,
    }),
    note('duplicates', await sizes(stage)),
  ]
}

/** Comparisons per second of one process, with the real handler and all attestations in one account. */
async function comparing(stage: Stage, isQuick: boolean): Promise<Verdict> {
  const [shared, compared] = isQuick ? [3_000, 200] : [SHARED, COMPARISONS]
  const { db } = stage
  const { key: _key, ...scope } = await stage.addAccount()
  const media = newId('med', scope.environment)
  const row = `'${scope.accountId}', '${scope.environment}'`
  await stage.owner(
    `SET session_replication_role = replica;
     INSERT INTO fingerprints (account_id, environment, attestation_id, claim_id, media_id, state)
     SELECT ${row}, 'att_test_' || lpad(i::text, 26, '0'), 'clm_test_' || lpad(i::text, 26, '0'), '${media}',
       CASE WHEN i < ${shared - compared} THEN 'compared' ELSE 'due' END FROM generate_series(0, ${shared - 1}) AS i;
     INSERT INTO pictures (account_id, environment, media_id, hash, detail) VALUES (${row}, '${media}', 7, ${GREYS});
     RESET session_replication_role`,
  )
  const payloads = Array.from({ length: compared }, (_, index) => ({
    payload: { attestationId: `att_test_${String(shared - compared + index).padStart(26, '0')}` },
  }))
  const ids = await db.tenant(scope, (tx) => enqueue(tx, 'compare', scope, payloads))
  await stage.owner(`UPDATE jobs SET state = 'dispatched', dispatches = 1 WHERE id = ANY($1::uuid[])`, [ids])
  const work = createCompare({
    db,
    store: { withLocalFile: () => Promise.reject(new Error('the photo is hashed')), exists: async () => true },
    hasher: { hash: () => Promise.reject(new Error('the photo is hashed')) },
  })
  const { signal } = new AbortController()
  const startedAt = performance.now()
  const runBatches = async () => {
    for (let batch = ids.splice(0, 8); batch.length > 0; batch = ids.splice(0, 8)) {
      const leases = await claimAll(
        db,
        'compare',
        batch.map((id) => ({ id, dispatches: 1 })),
      )
      await Promise.all(
        leases.map(async (lease) => {
          if (lease === undefined) throw new Error('a job was not claimed')
          const { attestationId } = lease.payload as { attestationId: string }
          const job = { ...lease, isLastAttempt: false, signal, settle: (tx: Tx) => settle(tx, lease) }
          const { kind } = await work.run({ attestationId }, job)
          if (kind !== 'settled') throw new Error(`a comparison ended as ${kind}`)
        }),
      )
    }
  }
  await Promise.all(Array.from({ length: 8 }, runBatches))
  const perSecond = Math.round((compared * 1_000) / (performance.now() - startedAt))
  return note(
    'duplicates',
    `${perSecond} comparisons/s of one process, ${shared.toLocaleString('en')} attestations with one photo`,
  )
}

/**
 * Rows as an insurer has them after years: one picture each, a tenth of them similar to another. Their claims don't
 * matter here.
 */
async function fill(stage: Stage, count: number): Promise<(index: number) => string> {
  const startedAt = performance.now()
  const { accountId, environment } = stage.scope
  const word = newId('att', environment).slice(0, 9)
  const step = 50_000
  for (let from = 0; from < count; from += step) {
    // The rows that they refer to are left out: foreign keys are not checked with the replica role.
    await stage.owner(
      `SET session_replication_role = replica;
       INSERT INTO fingerprints (account_id, environment, attestation_id, claim_id, media_id, state)
       SELECT '${accountId}', '${environment}', '${word}' || lpad(i::text, 26, '0'),
         'clm_test_' || lpad(i::text, 26, '0'), 'med_test_' || lpad(i::text, 26, '0'), 'compared'
       FROM generate_series(${from}, ${Math.min(count, from + step) - 1}) AS i;
       INSERT INTO pictures (account_id, environment, media_id, hash, detail)
       SELECT '${accountId}', '${environment}', 'med_test_' || lpad(i::text, 26, '0'),
         CASE WHEN i % 10 = 0
           THEN hashtextextended((i / 100)::text, 1) # (1::bigint << (i % 63)) # (1::bigint << (i / 10 % 63))
           ELSE hashtextextended(i::text, 2) END, ${GREYS}
       FROM generate_series(${from}, ${Math.min(count, from + step) - 1}) AS i;
       RESET session_replication_role`,
    )
  }
  await stage.owner('VACUUM ANALYZE fingerprints, pictures')
  print(`duplicates: ${count} rows in ${Math.round((performance.now() - startedAt) / 1_000)} s`)
  return (index) => `${word}${String((index * 7_919) % count).padStart(26, '0')}`
}

/** Hashes of existing rows, half of them with three bits changed, as copies of pictures have. */
async function sampleHashes(stage: Stage, count: number): Promise<string[]> {
  const rows = await stage.owner<{ hash: string }>(
    `SELECT lpad(to_hex(hash # CASE WHEN random() < 0.5 THEN 0 ELSE 4398046511137 END), 16, '0') AS hash
     FROM pictures WHERE account_id = $2 ORDER BY md5(media_id) LIMIT $1`,
    [count, stage.scope.accountId],
  )
  return rows.map(({ hash }) => hash)
}

async function readOne({ db, scope }: Stage, id: string): Promise<void> {
  await db.tenant(scope, (tx: Tx) => tx.query('SELECT state FROM fingerprints WHERE attestation_id = $1', [id]))
}

async function timesOf(hashes: readonly string[], run: (hash: string, index: number) => Promise<void>) {
  const times: number[] = []
  for (const [index, hash] of hashes.entries()) {
    const startedAt = performance.now()
    await run(hash, index)
    times.push(performance.now() - startedAt)
  }
  return times
}

async function sizes(stage: Stage): Promise<string> {
  const rows = await stage.owner<{ name: string; mb: number }>(
    `SELECT relname AS name, round(pg_relation_size(oid) / 1e6)::int AS mb FROM pg_class
     WHERE relname ~ '^(fingerprints|pictures)' AND pg_relation_size(oid) > 0 ORDER BY 1`,
  )
  return rows.map(({ name, mb }) => `${name} ${mb} MB`).join(', ')
}

async function hashing(stage: Stage, count: number, rounds: number): Promise<Verdict> {
  const folder = join(stage.directory, 'photos')
  mkdirSync(folder)
  const camera = CAMERAS[0]
  const exif = { camera, takenAt: new Date(), utcOffsetMinutes: 0, hasOffset: true, exposureSeconds: 0.01, iso: 100 }
  const paths: string[] = []
  for (let seed = 0; seed < count; seed += 1) {
    const path = join(folder, `${seed}.jpg`)
    // A few renderings, so that rendering does not take most of the time; each file has different bytes.
    writeFileSync(path, await renderPhoto({ seed: seed % 4, width: 4_032, height: 3_024, exif }))
    paths.push(path)
  }
  const decoder = createDecoder()
  const hasher = createHasher(decoder)
  const rateOf = async (run: (path: string) => Promise<unknown>) => {
    const startedAt = performance.now()
    for (const path of paths) await run(path)
    return (paths.length * 1_000) / (performance.now() - startedAt)
  }
  const whole = (path: string) => sharp(path).greyscale().raw().toBuffer()
  const floors: number[] = []
  const own: number[] = []
  await hasher.hash(paths[0] ?? '')
  for (let round = 0; round < rounds; round += 1) {
    floors.push(await rateOf(whole))
    own.push(await rateOf(hasher.hash))
  }
  await decoder.close()
  return judgeRatio({
    name: 'duplicates, hashing',
    unit: 'photos of 12 MP/s',
    floor: { label: 'decoding it whole' },
    ours: { label: 'one hasher' },
    floors,
    own,
    bar: 1,
  })
}
