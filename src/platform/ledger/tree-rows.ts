// SQL of the Merkle log: its stored nodes, heads and checkpoints.

import type { Tx } from '#src/platform/db/database.ts'
import type { Environment, Scope } from '#src/platform/ids.ts'
import { HASH_BYTES, type TreeState, treeOf } from './merkle.ts'
import { type FindNodes, hashOfRange, type LeafRange, spansOf } from './proofs.ts'

export interface Checkpoint {
  size: number
  root: Buffer
  at: Date
  jws: string
}

/** The hash of each range, from the stored nodes. @throws {RangeError} when one of them is missing. */
export async function hashRanges(tx: Tx, scope: Scope, ranges: readonly LeafRange[]): Promise<Buffer[]> {
  const findNodes = await readNodes(tx, scope, ranges)
  return ranges.map((range) => hashOfRange(range, findNodes))
}

async function readNodes(tx: Tx, { accountId, environment }: Scope, ranges: readonly LeafRange[]): Promise<FindNodes> {
  const spans = spansOf(ranges)
  const rows = await tx.query<{ index: number; hashes: Buffer | null }>(
    `SELECT span.index, CASE span.level
       WHEN 0 THEN (SELECT string_agg(leaf_sha256, ''::bytea ORDER BY position) FROM ledger_leaves
         WHERE account_id = $1 AND environment = $2 AND position >= span.from AND position < span.from + span.count)
       ELSE (SELECT string_agg(node_sha256, ''::bytea ORDER BY position) FROM ledger_nodes
         WHERE account_id = $1 AND environment = $2 AND level = span.level
           AND position >= span.from AND position < span.from + span.count) END AS hashes
     -- Not arrays: by their lengths the planner would plan each question anew.
     FROM jsonb_to_recordset($3::jsonb) AS span (level smallint, "from" bigint, count bigint, index int)`,
    [accountId, environment, JSON.stringify(spans.map((span, index) => ({ ...span, index })))],
  )
  const found = new Map(rows.map(({ index, hashes }) => [index, hashes]))
  return ({ level, from, count }) => {
    const index = spans.findIndex((span) => span.level === level && isWithin(from, span.from, span.count))
    const [span, hashes] = [spans[index], found.get(index)]
    // With a gap, hashes would count for the wrong places.
    if (span === undefined || hashes?.length !== span.count * HASH_BYTES) {
      throw new RangeError(`the ledger lacks one of ${count} nodes of level ${level} from ${from} on`)
    }
    const start = (from - span.from) * HASH_BYTES
    return hashes.subarray(start, start + count * HASH_BYTES)
  }
}

const isWithin = (position: number, from: number, count: number) => position >= from && position < from + count

/** Undefined while the log is empty. */
export async function findHead(tx: Tx, { accountId, environment }: Scope): Promise<TreeState | undefined> {
  const [row] = await tx.query<{ size: number; frontier: Buffer }>(
    `SELECT size, frontier_sha256 AS frontier FROM ledger_heads WHERE account_id = $1 AND environment = $2`,
    [accountId, environment],
  )
  return row === undefined ? undefined : treeOf(row.size, row.frontier)
}

export interface CheckpointRange {
  /** Exclusive. */
  below?: number | undefined
  /** Inclusive. */
  from?: number | undefined
  order: 'newest' | 'oldest'
  limit: number
}

export async function findCheckpoints(
  tx: Tx,
  { accountId, environment }: Scope,
  { below = Number.MAX_SAFE_INTEGER, from = 0, order, limit }: CheckpointRange,
): Promise<Checkpoint[]> {
  return tx.adhoc<Checkpoint>(
    `SELECT size, root_sha256 AS root, at, jws FROM ledger_checkpoints
     WHERE account_id = $1 AND environment = $2 AND size < $3 AND size >= $4
     ORDER BY size ${order === 'newest' ? 'DESC' : 'ASC'} LIMIT $5`,
    [accountId, environment, below, from, limit],
  )
}

export interface UnsignedHead {
  accountId: string
  environment: Environment
  size: number
  frontier: Buffer
}

/** Logs that have grown since their newest checkpoint, which is older than `minSeconds`; but for some. */
export async function findUnsigned(
  tx: Tx,
  minSeconds: number,
  limit: number,
  except: readonly Scope[],
): Promise<UnsignedHead[]> {
  return tx.query<UnsignedHead>(
    `SELECT account_id AS "accountId", environment, size, frontier_sha256 AS frontier FROM ledger_heads
     WHERE size > checkpoint_size AND checkpoint_at <= now() - make_interval(secs => $1)
       AND (account_id, environment) NOT IN (SELECT * FROM unnest($3::text[], $4::text[]))
     ORDER BY checkpoint_at LIMIT $2`,
    [minSeconds, limit, except.map(({ accountId }) => accountId), except.map(({ environment }) => environment)],
  )
}

export async function insertCheckpoints(tx: Tx, rows: readonly (Scope & Checkpoint)[]): Promise<number> {
  const [count] = await tx.query<{ count: number }>(
    `WITH new AS MATERIALIZED (
       SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[], $5::timestamptz[], $6::text[])
         AS new (account_id, environment, size, root, at, jws)
     ), noted AS (
       UPDATE ledger_heads head SET checkpoint_size = new.size, checkpoint_at = new.at FROM new
       WHERE head.account_id = new.account_id AND head.environment = new.environment AND head.checkpoint_size < new.size
     ), added AS (
       INSERT INTO ledger_checkpoints (account_id, environment, size, root_sha256, at, jws) SELECT * FROM new
       ON CONFLICT (account_id, environment, size) DO NOTHING RETURNING 1
     )
     SELECT count(*)::int AS count FROM added`,
    [
      rows.map(({ accountId }) => accountId),
      rows.map(({ environment }) => environment),
      rows.map(({ size }) => size),
      rows.map(({ root }) => root),
      rows.map(({ at }) => at),
      rows.map(({ jws }) => jws),
    ],
  )
  return count?.count ?? 0
}
