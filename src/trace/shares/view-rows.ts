// The log of views: who has a token may look as often as they like, and the account sees when they did.

import ipaddr from 'ipaddr.js'
import type { Tx } from '#src/platform/db/database.ts'
import { conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'

export interface ShareViewRow {
  id: string
  shareId: string
  /** Of the granted person; null: with the token of the share. */
  requestId: string | null
  network: string
  hasGraph: boolean
  maskedNodes: number
  disclosedNodes: number
  viewedAt: Date
}

const VIEW = `id, share_id AS "shareId", request_id AS "requestId", network, has_graph AS "hasGraph",
  masked_nodes AS "maskedNodes", disclosed_nodes AS "disclosedNodes", viewed_at AS "viewedAt"`

/** An address without what tells one household from another: `203.0.113.0/24`, `2001:db8:1::/48`. */
export function truncateAddress(ip: string): string {
  if (!ipaddr.isValid(ip)) return 'unknown'
  const parsed = ipaddr.process(ip)
  const bits = parsed.kind() === 'ipv4' ? 24 : 48
  const bytes = parsed.toByteArray().map((byte, index) => (index < bits / 8 ? byte : 0))
  return `${ipaddr.fromByteArray(bytes).toString()}/${bits}`
}

export async function insertView(tx: Tx, { accountId, environment }: Scope, view: ShareViewRow): Promise<void> {
  await tx.query(
    `INSERT INTO share_views (account_id, environment, id, share_id, request_id, network, has_graph, masked_nodes,
       disclosed_nodes, viewed_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      accountId,
      environment,
      view.id,
      view.shareId,
      view.requestId,
      view.network,
      view.hasGraph,
      view.maskedNodes,
      view.disclosedNodes,
      view.viewedAt,
    ],
  )
}

export interface ViewFilter extends TimeRange {
  shareId: string
  requestId?: string | undefined
}

/** Newest first. */
export function findViews(
  tx: Tx,
  scope: Scope,
  filter: ViewFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<ShareViewRow[]> {
  const { where, values } = conditionsOf(scope, filter)
  if (before !== undefined) where.push(`id < $${values.push(before)}`)
  return tx.adhoc<ShareViewRow>(
    `SELECT ${VIEW} FROM share_views WHERE ${where.join(' AND ')} ORDER BY id DESC LIMIT $${values.push(limit)}`,
    values,
  )
}

export async function countViews(tx: Tx, scope: Scope, filter: ViewFilter): Promise<number> {
  const { where, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`share_views WHERE ${where.join(' AND ')}`), values)
  return row?.count ?? 0
}

/** Whether anybody has seen a graph of one of these shares. */
export async function hasGraphViews(tx: Tx, shareIds: readonly string[]): Promise<boolean> {
  const found = await tx.query('SELECT 1 FROM share_views WHERE share_id = ANY($1::text[]) AND has_graph LIMIT 1', [
    shareIds,
  ])
  return found.length > 0
}

function conditionsOf({ environment }: Scope, { shareId, requestId, from, to }: ViewFilter) {
  const values: unknown[] = [shareId]
  const where = ['share_id = $1']
  const add = (condition: (parameter: string) => string, value: unknown) => {
    if (value !== undefined) where.push(condition(`$${values.push(value)}`))
  }
  add((p) => `request_id = ${p}`, requestId)
  where.push(...conditionsOfRange(values, { type: 'shv', environment, time: 'viewed_at' }, { from, to }))
  return { where, values }
}
