// Appends entries that have committed to the Merkle log of their account and environment, in the process `sequence`. An
// entry leaves `ledger_pending` in the transaction that inserts its leaf: none is lost and none is doubled.

import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { failpoint } from '#src/platform/jobs/failpoint.ts'
import { distinctScopes, type Sequence } from '#src/platform/sequence.ts'
import { appendLeaves, EMPTY_TREE, frontierBytes, leafHash, type TreeNode, type TreeState, treeOf } from './merkle.ts'

export const LEDGER_SEQUENCE: Sequence = {
  name: 'ledger',
  findScopes: (after, limit) => distinctScopes('ledger_pending', 'true', after, limit),
  append: appendEntries,
  findOldest: () => ({
    text: 'SELECT extract(epoch FROM clock_timestamp() - min(added_at))::float8 AS seconds FROM ledger_pending',
    values: [],
  }),
}

async function appendEntries(tx: Tx, scopes: readonly Scope[], maxRows: number): Promise<number[]> {
  const share = Math.max(1, Math.floor(maxRows / scopes.length))
  const [heads, pending] = await Promise.all([readHeads(tx, scopes), readPending(tx, scopes, share)])
  failpoint('sequence:read')
  const grown = scopes.flatMap((scope, index) => {
    const entries = pending.get(index) ?? []
    if (entries.length === 0) return []
    const tree = heads.get(index) ?? EMPTY_TREE
    const leaves = entries.map(({ entrySha256 }) => leafHash(entrySha256))
    return [{ scope, entries, leaves, before: tree.size, ...appendLeaves(tree, leaves) }]
  })
  if (grown.length === 0) return []
  await Promise.all([insertLeaves(tx, grown), insertNodes(tx, grown), writeHeads(tx, grown), deletePending(tx, grown)])
  failpoint('sequence:appending')
  return grown.flatMap(({ entries }) => entries.map(({ seconds }) => seconds))
}

interface PendingEntry {
  decisionId: string
  entrySha256: Buffer
  seconds: number
}

interface GrownLog {
  scope: Scope
  entries: readonly PendingEntry[]
  leaves: readonly Buffer[]
  /** Its size so far. */
  before: number
  tree: TreeState
  nodes: readonly TreeNode[]
}

const SCOPES = 'unnest($1::text[], $2::text[]) WITH ORDINALITY AS scope (account_id, environment, index)'

async function readHeads(tx: Tx, scopes: readonly Scope[]): Promise<Map<number, TreeState>> {
  const rows = await tx.query<{ index: number; size: number; frontier: Buffer }>(
    `SELECT scope.index::int - 1 AS index, head.size, head.frontier_sha256 AS frontier
     FROM ${SCOPES} JOIN ledger_heads head USING (account_id, environment)`,
    columnsOf(scopes),
  )
  return new Map(rows.map(({ index, size, frontier }) => [index, treeOf(size, frontier)]))
}

async function readPending(tx: Tx, scopes: readonly Scope[], share: number): Promise<Map<number, PendingEntry[]>> {
  const rows = await tx.query<PendingEntry & { index: number }>(
    `SELECT scope.index::int - 1 AS index, entry.decision_id AS "decisionId", entry.entry_sha256 AS "entrySha256",
       extract(epoch FROM clock_timestamp() - entry.added_at)::float8 AS seconds
     FROM ${SCOPES} CROSS JOIN LATERAL (
       SELECT decision_id, entry_sha256, added_at FROM ledger_pending pending
       WHERE pending.account_id = scope.account_id AND pending.environment = scope.environment
       ORDER BY decision_id LIMIT $3) entry
     ORDER BY scope.index, entry.decision_id`,
    [...columnsOf(scopes), share],
  )
  return Map.groupBy(rows, ({ index }) => index)
}

async function insertLeaves(tx: Tx, grown: readonly GrownLog[]): Promise<void> {
  const rows = grown.flatMap(({ scope, entries, leaves, before }) =>
    entries.map(({ decisionId }, index) => ({ scope, decisionId, leaf: leaves[index], position: before + index })),
  )
  await tx.query(
    `INSERT INTO ledger_leaves (account_id, environment, position, leaf_sha256, decision_id)
     SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[], $5::text[])`,
    [
      ...columnsOf(rows.map(({ scope }) => scope)),
      rows.map(({ position }) => position),
      rows.map(({ leaf }) => leaf),
      rows.map(({ decisionId }) => decisionId),
    ],
  )
}

async function insertNodes(tx: Tx, grown: readonly GrownLog[]): Promise<void> {
  const rows = grown.flatMap(({ scope, nodes }) => nodes.map((node) => ({ scope, ...node })))
  if (rows.length === 0) return
  await tx.query(
    `INSERT INTO ledger_nodes (account_id, environment, level, position, node_sha256)
     SELECT * FROM unnest($1::text[], $2::text[], $3::smallint[], $4::bigint[], $5::bytea[])`,
    [
      ...columnsOf(rows.map(({ scope }) => scope)),
      rows.map(({ level }) => level),
      rows.map(({ position }) => position),
      rows.map(({ hash }) => hash),
    ],
  )
}

// Only a head that is still the one that was read: the lock sees to it, and this to the lock.
async function writeHeads(tx: Tx, grown: readonly GrownLog[]): Promise<void> {
  const written = await tx.query(
    `WITH new AS MATERIALIZED (
       SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bytea[])
         AS new (account_id, environment, before, size, frontier)
     ), changed AS (
       UPDATE ledger_heads head SET size = new.size, frontier_sha256 = new.frontier, grown_at = clock_timestamp()
       FROM new WHERE head.account_id = new.account_id AND head.environment = new.environment AND head.size = new.before
       RETURNING 1
     ), added AS (
       INSERT INTO ledger_heads (account_id, environment, size, frontier_sha256, grown_at)
       SELECT account_id, environment, size, frontier, clock_timestamp() FROM new WHERE before = 0
       RETURNING 1
     )
     SELECT FROM changed UNION ALL SELECT FROM added`,
    [
      ...columnsOf(grown.map(({ scope }) => scope)),
      grown.map(({ before }) => before),
      grown.map(({ tree }) => tree.size),
      grown.map(({ tree }) => frontierBytes(tree)),
    ],
  )
  if (written.length !== grown.length) throw new Error('a log has grown although its lock was held')
}

async function deletePending(tx: Tx, grown: readonly GrownLog[]): Promise<void> {
  const rows = grown.flatMap(({ scope, entries }) => entries.map(({ decisionId }) => ({ scope, decisionId })))
  const [gone] = await tx.query<{ count: number }>(
    `WITH gone AS (
       DELETE FROM ledger_pending pending USING unnest($1::text[], $2::text[], $3::text[]) AS done (account_id, environment, id)
       WHERE pending.account_id = done.account_id AND pending.environment = done.environment AND pending.decision_id = done.id
       RETURNING 1
     )
     SELECT count(*)::int AS count FROM gone`,
    [...columnsOf(rows.map(({ scope }) => scope)), rows.map(({ decisionId }) => decisionId)],
  )
  if (gone?.count !== rows.length) throw new Error('an entry was taken although the lock of its log was held')
}

function columnsOf(scopes: readonly Scope[]): [string[], string[]] {
  return [scopes.map(({ accountId }) => accountId), scopes.map(({ environment }) => environment)]
}
