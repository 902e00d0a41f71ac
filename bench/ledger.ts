// The decision ledger: how fast entries become leaves, and how long a proof takes in a log of a million leaves.

import { createHash, randomBytes } from 'node:crypto'
import { Registry } from 'prom-client'
import { createSealer } from '#src/platform/crypto/seal.ts'
import { createDatabase, type Database, type Tx } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { LEDGER_SEQUENCE } from '#src/platform/ledger/append.ts'
import { frontierRanges, inclusionRanges } from '#src/platform/ledger/proofs.ts'
import { createLedger, type NewDecision } from '#src/platform/ledger/record.ts'
import { findHead, hashRanges } from '#src/platform/ledger/tree-rows.ts'
import { createLog } from '#src/platform/log.ts'
import { createSequenceMetrics, createSequencer } from '#src/platform/sequence.ts'
import { compare, judgeLimit, median, note, type Options, percentile, type Verdict } from './harness.ts'
import { openStage } from './stage.ts'

const LEAVES = 1_000_000
const BATCH = 20_000
const PROOFS = 2_000
// Until the code is compiled, and what loading left in this process's memory is collected.
const WARM_UP_PROOFS = 200
const MAX_PROOF_MS = 5
const BAR = 0.5
const MAX_LAG_MS = 2_000

export async function runLedger(options: Options): Promise<Verdict[]> {
  const stage = await openStage()
  const db = createDatabase({ url: stage.environment.DATABASE_URL ?? '', systemPoolSize: 4 })
  try {
    const leaves = options.isQuick ? 5_000 : LEAVES
    const batch = options.isQuick ? 2_000 : BATCH
    const accounts = Array.from({ length: 16 }, (_, n): Scope => ({ accountId: `acc_bench${n}`, environment: 'live' }))
    const append = sequencerOf(db)
    const rate = await compare({
      name: 'ledger',
      unit: 'leaves/s',
      floor: {
        label: 'SHA-256 of the same tree + the same rows by one INSERT per batch',
        run: async () => {
          await pend(db, accounts, batch)
          return rateOf(batch, () => appendBarely(db, accounts, batch))
        },
      },
      ours: {
        label: 'sequence, 16 accounts',
        run: async () => {
          await pend(db, accounts, batch)
          return rateOf(batch, append)
        },
      },
      bar: BAR,
      rounds: options.rounds,
    })
    const { scope } = stage
    for (let made = 0; made < leaves; made += Math.min(leaves, 100_000)) {
      await pend(db, [scope], Math.min(leaves, 100_000))
      await append()
    }
    await stage.owner('VACUUM ANALYZE ledger_leaves, ledger_nodes, ledger_heads, ledger_pending')
    // Else a part of the proofs would be timed while Postgres writes a gigabyte of pages to the disk.
    await stage.owner('CHECKPOINT')
    const size = (await db.tenant(scope, (tx) => findHead(tx, scope)))?.size ?? 0
    return [
      rate,
      await timeProofs(db, scope, { size, proofs: options.isQuick ? 50 : PROOFS, rounds: options.rounds }),
      await timeLag(db, scope, { seconds: options.isQuick ? 2 : 15 }),
    ]
  } finally {
    await db.close()
    await stage.close()
  }
}

async function timeProofs(
  db: Database,
  scope: Scope,
  { size, proofs, rounds }: { size: number; proofs: number; rounds: number },
): Promise<Verdict> {
  const series: number[][] = []
  for (let round = 0; round < rounds; round += 1) series.push(await timeSeries())
  return judgeLimit({
    name: `ledger of ${size.toLocaleString('en')} leaves`,
    label: 'p99 of a proof and its root',
    unit: 'ms',
    values: series.map((times) => percentile(times, 99)),
    max: MAX_PROOF_MS,
    beside: `p50 ${median(series.map((times) => percentile(times, 50))).toFixed(1)} ms`,
  })

  async function timeSeries(): Promise<number[]> {
    const times: number[] = []
    for (let n = -WARM_UP_PROOFS; n < proofs; n += 1) {
      const index = Math.floor(Math.random() * size)
      const startedAt = performance.now()
      await db.tenant(
        scope,
        (tx) => hashRanges(tx, scope, [...inclusionRanges(index, size), ...frontierRanges(size)]),
        { isSnapshot: true },
      )
      if (n >= 0) times.push(performance.now() - startedAt)
    }
    return times
  }
}

// Measures the lag as in production: decisions arrive one by one, and the process polls.
async function timeLag(db: Database, scope: Scope, { seconds }: { seconds: number }): Promise<Verdict> {
  const ledger = createLedger({ sealer: createSealer({ current: { id: 'b', key: randomBytes(32) } }), db })
  const decision: NewDecision = {
    kind: 'verify',
    at: new Date(),
    actor: 'service',
    subject: null,
    reason: null,
    valid: true,
    inputs: { action_hash: randomBytes(32).toString('base64url') },
    facts: { payload: randomBytes(600).toString('base64url') },
  }
  const registry = new Registry()
  const metrics = createSequenceMetrics(registry)
  const { round } = createSequencer(LEDGER_SEQUENCE, { db, log: silent, metrics })
  let isRecording = true
  let recorded = 0
  const recording = Promise.all(
    [1, 2].map(async () => {
      for (const endsAt = performance.now() + seconds * 1_000; performance.now() < endsAt; recorded += 1) {
        await db.tenant(scope, (tx) => ledger.record(tx, scope, { ...decision, at: new Date() }))
      }
    }),
  ).finally(() => {
    isRecording = false
  })
  while (isRecording || (await round()).count > 0) {
    await round()
    await new Promise((done) => setTimeout(done, 100))
  }
  await recording
  const bucket = new RegExp(`_lag_seconds_bucket\\{le="${MAX_LAG_MS / 1_000}",sequence="ledger"\\} (\\d+)`)
  const [, within = '0'] = bucket.exec(await registry.metrics()) ?? []
  const share = Number(within) / Math.max(1, recorded)
  return note(
    'ledger',
    `${Math.round(recorded / seconds).toLocaleString('en')} decisions/s recorded with facts of 0.8 kB; ${(100 * share).toFixed(2)} % had their leaf within ${MAX_LAG_MS / 1_000} s`,
  )
}

const silent = createLog({ process: 'bench', level: 'silent' })

/** Appends all that waits. */
function sequencerOf(db: Database): () => Promise<void> {
  const { round } = createSequencer(LEDGER_SEQUENCE, {
    db,
    log: silent,
    metrics: createSequenceMetrics(new Registry()),
  })
  return async () => {
    while ((await round()).count > 0);
  }
}

async function rateOf(count: number, run: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await run()
  return (count / (performance.now() - startedAt)) * 1_000
}

/** Entries that wait, without their texts: what is appended is their hashes. */
async function pend(db: Database, accounts: readonly Scope[], count: number): Promise<void> {
  for (const scope of accounts) {
    const ids = Array.from({ length: Math.ceil(count / accounts.length) }, () => newId('dec', scope.environment))
    await db.tenant(scope, (tx) =>
      tx.query(
        `INSERT INTO ledger_pending (account_id, environment, decision_id, entry_sha256)
         SELECT $1, $2, id, sha256(id::bytea) FROM unnest($3::text[]) AS new (id)`,
        [scope.accountId, scope.environment, ids],
      ),
    )
  }
}

// What can't be avoided: taking the rows, two hashes for each leaf, and the rows of the leaves. No heads, no stored nodes, no locks.
async function appendBarely(db: Database, accounts: readonly Scope[], count: number): Promise<void> {
  const share = Math.ceil(count / accounts.length)
  for (let taken = 0; taken < share; taken += 256) {
    await db.system('floor', (tx) => appendBatch(tx, 4_096))
  }
}

async function appendBatch(tx: Tx, limit: number): Promise<void> {
  const rows = await tx.query<{ account: string; id: string; hash: Buffer }>(
    `DELETE FROM ledger_pending WHERE (account_id, environment, decision_id) IN (
       SELECT account_id, environment, decision_id FROM ledger_pending LIMIT $1)
     RETURNING account_id AS account, decision_id AS id, entry_sha256 AS hash`,
    [limit],
  )
  if (rows.length === 0) return
  const leaves = rows.map(({ hash }) => sha(Buffer.of(0), hash))
  for (let row = leaves; row.length > 1; ) {
    row = Array.from({ length: Math.floor(row.length / 2) }, (_, n) =>
      sha(Buffer.of(1), row[2 * n] ?? Buffer.alloc(32), row[2 * n + 1] ?? Buffer.alloc(32)),
    )
  }
  const from = next
  next += rows.length
  await tx.query(
    `INSERT INTO ledger_leaves (account_id, environment, position, leaf_sha256, decision_id)
     SELECT 'acc_floor', 'live', $1::bigint + n, leaf, id FROM unnest($2::bytea[], $3::text[]) WITH ORDINALITY AS new (leaf, id, n)`,
    [from, leaves, rows.map(({ id }) => id)],
  )
}

let next = 0

function sha(...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
