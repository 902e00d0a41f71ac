// SQL that reads decisions with the places of their leaves. src/platform/ledger/ writes them.

import { type CutPage, readCut } from '#src/platform/db/cut-pages.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { countOf } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { EntrySubjects } from '#src/platform/ledger/entry.ts'
import { conditionsOf, type DecisionFilter, type DecisionRow, SUBJECT_COLUMNS } from '#src/platform/ledger/rows.ts'
import { findCheckpoints } from '#src/platform/ledger/tree-rows.ts'

export interface PlacedDecision extends DecisionRow {
  /** Position of the leaf; null until there is one. */
  position: number | null
}

const COLUMNS = `id, entry, entry_sha256 AS "entrySha256",
  (SELECT position FROM ledger_leaves WHERE decision_id = decisions.id) AS position`

export async function findDecision(tx: Tx, id: string): Promise<PlacedDecision | undefined> {
  const [row] = await tx.query<PlacedDecision>(`SELECT ${COLUMNS} FROM decisions WHERE id = $1`, [id])
  return row
}

/** Newest first. */
export async function findDecisions(
  tx: Tx,
  scope: Scope,
  filter: DecisionFilter,
  { below, limit, maxBytes }: { below: string | undefined; limit: number; maxBytes: number },
): Promise<CutPage<PlacedDecision>> {
  const { conditions, values } = conditionsOf(scope, filter)
  if (below !== undefined) conditions.push(`id < $${values.push(below)}`)
  const select = `SELECT ${COLUMNS}, octet_length(entry) AS bytes FROM decisions WHERE ${conditions.join(' AND ')}
    ORDER BY id DESC LIMIT $${values.push(limit)}`
  return readCut(tx.adhoc, { select, order: 'id DESC', values, maxBytes })
}

export async function countDecisions(tx: Tx, scope: Scope, filter: DecisionFilter): Promise<number> {
  const { conditions, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`decisions WHERE ${conditions.join(' AND ')}`), values)
  return row?.count ?? 0
}

const SUBJECTS = `jsonb_build_object(${Object.entries(SUBJECT_COLUMNS)
  .map(([name, column]) => `'${name}', decision.${column}`)
  .join(', ')})`

export interface LeafRow {
  position: number
  leaf: Buffer
  decisionId: string
  /** Null when the entry is gone. */
  entry: string | null
  entrySha256: Buffer | null
  /** What lists and retention find the entry by. */
  copies: { kind: string | null; at: Date | null; reason: string | null; subjects: EntrySubjects }
}

interface LeafPage {
  from: number
  to: number
  /** Most bytes of entries. */
  maxBytes: number
}

/** Leaves with their entries, by position. */
export async function findLeaves(
  tx: Tx,
  { accountId, environment }: Scope,
  { from, to, maxBytes }: LeafPage,
): Promise<CutPage<LeafRow>> {
  const { rows, isCut } = await readCut<Omit<LeafRow, 'copies'> & LeafRow['copies']>(tx.query, {
    select: `SELECT leaf.position, leaf.leaf_sha256 AS leaf, leaf.decision_id AS "decisionId", decision.entry,
        decision.entry_sha256 AS "entrySha256", decision.kind, decision.at, decision.reason, ${SUBJECTS} AS subjects,
        coalesce(octet_length(decision.entry), 0) AS bytes
      FROM ledger_leaves leaf LEFT JOIN decisions decision
        ON decision.account_id = $1 AND decision.environment = $2 AND decision.id = leaf.decision_id
      WHERE leaf.account_id = $1 AND leaf.environment = $2 AND leaf.position >= $3 AND leaf.position < $4
      ORDER BY leaf.position`,
    order: 'position',
    values: [accountId, environment, from, to],
    maxBytes,
  })
  return {
    isCut,
    rows: rows.map(({ kind, at, reason, subjects, ...row }) => ({ ...row, copies: { kind, at, reason, subjects } })),
  }
}

/**
 * The leaves from `from` to before `to`, or to where their bytes end the page, and the checkpoints of logs that end among them,
 * by their size. `end` is where the page ends.
 */
export async function findLogged(tx: Tx, scope: Scope, page: LeafPage) {
  const { from, to } = page
  const range = { from: from + 1, below: to + 1, order: 'oldest', limit: to - from } as const
  const [{ rows, isCut }, checkpoints] = await Promise.all([
    findLeaves(tx, scope, page),
    findCheckpoints(tx, scope, range),
  ])
  const end = isCut ? (rows.at(-1)?.position ?? from) + 1 : to
  return { rows, checkpoints: checkpoints.filter(({ size }) => size <= end), end }
}

/** The oldest entry that goes by the plan's retention alone. @param keptLonger Kinds that do not. */
export async function findOldest(tx: Tx, { accountId, environment }: Scope, keptLonger: readonly string[]) {
  const [row] = await tx.query<{ id: string }>(
    `SELECT id FROM decisions WHERE account_id = $1 AND environment = $2 AND kind <> ALL($3::text[]) ORDER BY id LIMIT 1`,
    [accountId, environment, keptLonger],
  )
  return row?.id
}

export interface NodeRow {
  level: number
  position: number
  hash: Buffer
}

/** The stored nodes whose last leaf is at `from` or later, and before `to`. */
export async function findNodes(
  tx: Tx,
  { accountId, environment }: Scope,
  { from, to }: { from: number; to: number },
): Promise<NodeRow[]> {
  return tx.query<NodeRow>(
    `SELECT node.level::int, node.position, node.node_sha256 AS hash
     FROM generate_series(1, 6) AS height (level) CROSS JOIN LATERAL (
       SELECT level, position, node_sha256 FROM ledger_nodes
       WHERE account_id = $1 AND environment = $2 AND level = height.level
         AND position >= $3::bigint / (256 ^ height.level)::bigint AND position < $4::bigint / (256 ^ height.level)::bigint) node`,
    [accountId, environment, from, to],
  )
}

/** Entries made in a stretch of ids that have no leaf and do not wait for one. @param above, upTo Ids. */
export async function findUnlogged(
  tx: Tx,
  { accountId, environment }: Scope,
  { above, upTo, limit }: { above: string; upTo: string | undefined; limit: number },
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `SELECT id FROM decisions WHERE account_id = $1 AND environment = $2 AND id > $3 AND ($4::text IS NULL OR id <= $4)
       AND NOT EXISTS (SELECT FROM ledger_leaves WHERE decision_id = decisions.id AND account_id = $1
         AND environment = $2 OFFSET 0)
       AND NOT EXISTS (SELECT FROM ledger_pending WHERE decision_id = decisions.id AND account_id = $1
         AND environment = $2 OFFSET 0)
     ORDER BY id LIMIT $5`,
    [accountId, environment, above, upTo ?? null, limit],
  )
  return rows.map(({ id }) => id)
}
