// Approvals, one row each. A column holds that people ended one, or a revocation. That it has expired is in no column: it
// follows from `expires_at` and the clock of Postgres wherever it is read.

import type { Tx } from '#src/platform/db/database.ts'
import { conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import { idsBefore, type Scope } from '#src/platform/ids.ts'
import type { ApproverRole } from '../policy/document.ts'
import type { ApprovalOrigin, ApprovalStatus, ApprovedRule } from './facts.ts'
import { COUNTS } from './vote-rows.ts'

export interface ApprovalRow {
  id: string
  jti: string
  origin: ApprovalOrigin
  rules: ApprovedRule[]
  minApprovals: number
  roles: ApproverRole[]
  requiresPasskey: boolean
  /** Fixed when it was asked for. */
  hasSeparation: boolean
  actionHash: string
  payloadHash: string
  previewHash: string
  agentId: string | null
  agentSessionId: string
  deviceId: string
  mandateId: string | null
  scheduleId: string | null
  orderId: string | null
  /** Who asked for the action: the user, as far as one is known. */
  requesterId: string | null
  /** Members who can't decide it, while duties are separated. */
  excludedIds: string[]
  /** The key or user that authorized the action. */
  actorKind: 'key' | 'session'
  actorId: string
  tokenTtlSeconds: number
  createdAt: Date
  expiresAt: Date
  outcome: 'approved' | 'denied' | 'cancelled' | null
  decidedAt: Date | null
}

/** With its state at the time of the statement that read it. */
export interface ShownApproval extends ApprovalRow {
  status: ApprovalStatus
  /** See `openDescription`. */
  sealedDescription: Buffer
}

/** Row of a list. It has only the first rules: a policy may have a thousand, whose descriptions are a megabyte. */
export interface ListedRow extends Omit<ShownApproval, 'rules'> {
  /** The first ones. */
  rules: Pick<ApprovedRule, 'rule_id' | 'rule_hash'>[]
  ruleCount: number
}

/** Rules that a list shows of an approval. */
export const MAX_LISTED_RULES = 20

/** The state of an approval, of its row in a statement. */
const STATUS = `CASE WHEN outcome IS NOT NULL THEN outcome WHEN expires_at <= clock_timestamp() THEN 'expired' ELSE 'pending' END`

const MEMBERS = `id, jti, origin, min_approvals AS "minApprovals", roles, requires_passkey AS "requiresPasskey",
  has_separation AS "hasSeparation", action_hash AS "actionHash", payload_hash AS "payloadHash",
  preview_hash AS "previewHash", agent_id AS "agentId", agent_session_id AS "agentSessionId", device_id AS "deviceId",
  mandate_id AS "mandateId", schedule_id AS "scheduleId", order_id AS "orderId", requester_id AS "requesterId",
  excluded_ids AS "excludedIds", actor_kind AS "actorKind", actor_id AS "actorId",
  token_ttl_seconds AS "tokenTtlSeconds", created_at AS "createdAt", expires_at AS "expiresAt", outcome,
  decided_at AS "decidedAt"`

const APPROVAL = `${MEMBERS}, rules`
const SHOWN = `${APPROVAL}, ${STATUS} AS status, sealed_description AS "sealedDescription"`
const LISTED = `${MEMBERS}, ${STATUS} AS status, sealed_description AS "sealedDescription",
  jsonb_array_length(rules) AS "ruleCount",
  (SELECT coalesce(jsonb_agg(rule - 'description' ORDER BY place), '[]')
    FROM jsonb_array_elements(jsonb_path_query_array(rules, '$[0 to ${MAX_LISTED_RULES - 1}]'))
      WITH ORDINALITY AS first (rule, place)) AS rules`

/**
 * Returns the approvals of a token in the order of their origins: at most two.
 * @param lock Until the end of the transaction no decision about them commits. Taken after the lock on the token.
 */
export async function readApprovals(tx: Tx, jti: string, lock: boolean): Promise<ApprovalRow[]> {
  return tx.query<ApprovalRow>(lock ? LOCK_OF_TOKEN : OF_TOKEN, [jti])
}

/** Locks those of several tokens as `readApprovals` does. */
export async function lockApprovals(tx: Tx, jtis: readonly string[]): Promise<void> {
  await tx.query('SELECT 1 FROM approvals WHERE jti = ANY($1::text[]) ORDER BY jti, origin FOR SHARE', [jtis])
}

const OF_TOKEN = `SELECT ${APPROVAL} FROM approvals WHERE jti = $1 ORDER BY origin`
const LOCK_OF_TOKEN = `${OF_TOKEN} FOR SHARE`

export interface NewApprovalRow extends Omit<ApprovalRow, 'createdAt' | 'expiresAt' | 'outcome' | 'decidedAt'> {
  ttlSeconds: number
  latestExpiry: Date | null
  sealedDescription: Buffer
  sealedPayload: Buffer
}

/** undefined when the token has one of that origin. */
export async function insertApproval(
  tx: Tx,
  { accountId, environment }: Scope,
  row: NewApprovalRow,
): Promise<ApprovalRow | undefined> {
  const [inserted] = await tx.query<ApprovalRow>(
    `INSERT INTO approvals (account_id, environment, id, jti, origin, rules, min_approvals, roles, requires_passkey,
       has_separation, action_hash, payload_hash, preview_hash, agent_id, agent_session_id, device_id, mandate_id,
       schedule_id, requester_id, excluded_ids, actor_kind, actor_id, token_ttl_seconds, sealed_description,
       sealed_payload, expires_at, order_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
       $25, least(clock_timestamp() + make_interval(secs => $26), $27::timestamptz), $28)
     ON CONFLICT (jti, origin, account_id, environment) DO NOTHING RETURNING ${APPROVAL}`,
    [
      accountId,
      environment,
      row.id,
      row.jti,
      row.origin,
      JSON.stringify(row.rules),
      row.minApprovals,
      row.roles,
      row.requiresPasskey,
      row.hasSeparation,
      row.actionHash,
      row.payloadHash,
      row.previewHash,
      row.agentId,
      row.agentSessionId,
      row.deviceId,
      row.mandateId,
      row.scheduleId,
      row.requesterId,
      row.excludedIds,
      row.actorKind,
      row.actorId,
      row.tokenTtlSeconds,
      row.sealedDescription,
      row.sealedPayload,
      row.ttlSeconds,
      row.latestExpiry,
      row.orderId,
    ],
  )
  return inserted
}

export async function findApproval(tx: Tx, id: string): Promise<ShownApproval | undefined> {
  const [row] = await tx.query<ShownApproval>(`SELECT ${SHOWN} FROM approvals WHERE id = $1`, [id])
  return row
}

/** After every decision that holds it has ended: what has expired then stays expired. */
export async function findApprovalAfterDecisions(tx: Tx, id: string): Promise<ShownApproval | undefined> {
  const [row] = await tx.query<ShownApproval>(`SELECT ${SHOWN} FROM approvals WHERE id = $1 FOR SHARE`, [id])
  return row
}

/** Decisions about one approval run one after the other. */
export async function lockApproval(tx: Tx, id: string): Promise<ApprovalRow | undefined> {
  const [row] = await tx.query<ApprovalRow>(`SELECT ${APPROVAL} FROM approvals WHERE id = $1 FOR NO KEY UPDATE`, [id])
  return row
}

/** Under its lock. undefined when it has expired, or has an outcome. */
export async function settleApproval(
  tx: Tx,
  id: string,
  outcome: 'approved' | 'denied',
  at: Date,
): Promise<ApprovalRow | undefined> {
  const [row] = await tx.query<ApprovalRow>(
    `UPDATE approvals SET outcome = $2, decided_at = $3, is_told = true
     WHERE id = $1 AND outcome IS NULL AND expires_at > clock_timestamp() RETURNING ${APPROVAL}`,
    [id, outcome, at],
  )
  return row
}

export async function findSealedPayload(tx: Tx, id: string): Promise<Buffer | undefined> {
  const [row] = await tx.query<{ sealed: Buffer }>('SELECT sealed_payload AS sealed FROM approvals WHERE id = $1', [id])
  return row?.sealed
}

export interface ApprovalFilter extends TimeRange {
  /** Any of them. */
  statuses?: readonly ApprovalStatus[] | undefined
  jti?: string | undefined
  agentSessionId?: string | undefined
  /** Pending ones that the person may decide and has not decided. `isHumanOnly`: a vote of a key does not count. */
  awaiting?: { userId: string; role: string; isHumanOnly: boolean } | undefined
}

// Pending ones are found by the index of what is not told, however many were decided. `outcome IS NULL` would let Postgres
// read the index of what expires, which has the pending ones of all accounts.
const WITH_STATUS: Record<ApprovalStatus, string> = {
  pending: `NOT is_told AND coalesce(outcome, 'pending') = 'pending' AND expires_at > clock_timestamp()`,
  approved: `outcome = 'approved'`,
  denied: `outcome = 'denied'`,
  cancelled: `outcome = 'cancelled'`,
  expired: 'outcome IS NULL AND expires_at <= clock_timestamp()',
}

/** Newest first. */
export async function listApprovals(
  tx: Tx,
  scope: Scope,
  filter: ApprovalFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<ListedRow[]> {
  const { conditions, values } = conditionsOf(scope, filter)
  if (before !== undefined) conditions.push(`id < $${values.push(before)}`)
  return tx.adhoc<ListedRow>(
    `SELECT ${LISTED} FROM approvals WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT $${values.push(limit)}`,
    values,
  )
}

/** @param most It counts no further; as far as any list when absent. */
export async function countApprovals(tx: Tx, scope: Scope, filter: ApprovalFilter, most?: number): Promise<number> {
  const { conditions, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(
    countOf(`approvals WHERE ${conditions.join(' AND ')} ORDER BY id DESC`, most),
    values,
  )
  return row?.count ?? 0
}

function conditionsOf({ environment }: Scope, { statuses, jti, agentSessionId, from, to, awaiting }: ApprovalFilter) {
  const values: unknown[] = []
  const conditions = [
    'true',
    ...(statuses === undefined ? [] : [`(${statuses.map((status) => WITH_STATUS[status]).join(' OR ')})`]),
    ...(jti === undefined ? [] : [`jti = $${values.push(jti)}`]),
    ...(agentSessionId === undefined ? [] : [`agent_session_id = $${values.push(agentSessionId)}`]),
    ...(awaiting === undefined ? [] : conditionsOfAwaiting(values, awaiting)),
    ...conditionsOfRange(values, { type: 'apr', environment }, { from, to }),
  ]
  return { conditions, values }
}

function conditionsOfAwaiting(
  values: unknown[],
  { userId, role, isHumanOnly }: NonNullable<ApprovalFilter['awaiting']>,
): string[] {
  const user = `$${values.push(userId)}`
  return [
    WITH_STATUS.pending,
    `$${values.push(role)} = ANY(roles)`,
    `NOT ${user} = ANY(excluded_ids)`,
    `NOT EXISTS (SELECT FROM approval_votes v JOIN users u ON u.account_id = v.account_id AND u.id = v.user_id
      WHERE v.approval_id = approvals.id AND v.user_id = ${user} AND ${COUNTS}
        ${isHumanOnly ? 'AND v.key_root_id IS NULL' : ''})`,
  ]
}

/** How many were asked for since an hour ago; at most `most`. */
export async function countRecent(tx: Tx, { environment }: Scope, now: Date, most: number): Promise<number> {
  const hourAgo = new Date(now.getTime() - HOUR_MS)
  // The id is a bound an hour above the time that it is made of.
  const after = idsBefore('apr', environment, new Date(hourAgo.getTime() - HOUR_MS))
  const rows = await tx.query('SELECT 1 FROM approvals WHERE id > $1 AND created_at > $2 LIMIT $3', [
    after,
    hourAgo,
    most,
  ])
  return rows.length
}

const HOUR_MS = 3_600_000
