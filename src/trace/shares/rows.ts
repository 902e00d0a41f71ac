import type { Tx } from '#src/platform/db/database.ts'
import { conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Revealed } from './mask.ts'
import type { MaskRule } from './rule.ts'

export const SCOPE_KINDS = ['trace', 'model_version'] as const
export type ScopeKind = (typeof SCOPE_KINDS)[number]
export const DISCLOSURE_MODES = ['manual', 'auto'] as const
export type DisclosureMode = (typeof DISCLOSURE_MODES)[number]
export const SHARE_STATUSES = ['active', 'expired', 'revoked'] as const
export type ShareStatus = (typeof SHARE_STATUSES)[number]

export interface ShareRow {
  id: string
  /** What people call it. */
  name: string | null
  /** Ascends in the order in which shares were made. */
  position: number
  traceId: string
  jobId: string | null
  modelVersionId: string | null
  scopeKind: ScopeKind
  /** Ids of nodes; with the scope `model_version`, neurons. */
  masks: string[]
  /** Of its graph when it was made: its own and those of the shares before it. */
  maskedNodeIds: string[]
  maskRule: MaskRule | null
  maskSalt: Buffer
  reveals: Revealed[]
  /** Shows the positions of its graph, from which somebody with the model's file finds the prompt. */
  revealsPrompt: boolean
  disclosureMode: DisclosureMode
  shownBefore: number
  createdBy: string
  createdAt: Date
  expiresAt: Date
  revokedAt: Date | null
  revokedBy: string | null
}

export type NewShare = Omit<ShareRow, 'position' | 'revokedAt' | 'revokedBy'> & { tokenHash: Buffer }

const SHARE = `id, name, position, trace_id AS "traceId", job_id AS "jobId", model_version_id AS "modelVersionId",
  scope_kind AS "scopeKind", masks, masked_node_ids AS "maskedNodeIds", mask_rule AS "maskRule", mask_salt AS "maskSalt",
  reveals, reveals_prompt AS "revealsPrompt", disclosure_mode AS "disclosureMode", shown_before AS "shownBefore", created_by AS "createdBy",
  created_at AS "createdAt", expires_at AS "expiresAt", revoked_at AS "revokedAt", revoked_by AS "revokedBy"`

export function statusOf({ revokedAt, expiresAt }: Pick<ShareRow, 'revokedAt' | 'expiresAt'>, at: Date): ShareStatus {
  if (revokedAt !== null) return 'revoked'
  return expiresAt <= at ? 'expired' : 'active'
}

/** What both events say of the share. */
export function subjectOf({ scopeKind, traceId, modelVersionId }: ShareRow) {
  return { scope_kind: scopeKind, trace_id: traceId, model_version_id: modelVersionId }
}

export async function insertShare(tx: Tx, { accountId, environment }: Scope, share: NewShare): Promise<void> {
  await tx.query(
    `INSERT INTO trace_shares (account_id, environment, id, trace_id, job_id, model_version_id, scope_kind, masks,
       masked_node_ids, mask_rule, mask_salt, reveals, reveals_prompt, disclosure_mode, shown_before, token_hash, created_by, created_at, expires_at, name)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`,
    [
      accountId,
      environment,
      share.id,
      share.traceId,
      share.jobId,
      share.modelVersionId,
      share.scopeKind,
      share.masks,
      share.maskedNodeIds,
      share.maskRule === null ? null : JSON.stringify(share.maskRule),
      share.maskSalt,
      share.reveals,
      share.revealsPrompt,
      share.disclosureMode,
      share.shownBefore,
      share.tokenHash,
      share.createdBy,
      share.createdAt,
      share.expiresAt,
      share.name,
    ],
  )
}

export async function findShare(tx: Tx, id: string): Promise<ShareRow | undefined> {
  const [row] = await tx.query<ShareRow>(`SELECT ${SHARE} FROM trace_shares WHERE id = $1`, [id])
  return row
}

/** Locks it until the transaction ends, for a change. */
export async function findShareToChange(tx: Tx, id: string): Promise<ShareRow | undefined> {
  const [row] = await tx.query<ShareRow>(`SELECT ${SHARE} FROM trace_shares WHERE id = $1 FOR NO KEY UPDATE`, [id])
  return row
}

/** Its end does not change until the transaction ends. */
export async function holdShare(tx: Tx, id: string): Promise<ShareRow | undefined> {
  const [row] = await tx.query<ShareRow>(`SELECT ${SHARE} FROM trace_shares WHERE id = $1 FOR SHARE`, [id])
  return row
}

export async function updateShare(
  tx: Tx,
  id: string,
  { name, expiresAt }: Pick<ShareRow, 'name' | 'expiresAt'>,
): Promise<void> {
  await tx.query('UPDATE trace_shares SET name = $2, expires_at = $3 WHERE id = $1', [id, name, expiresAt])
}

export function findSharesById(tx: Tx, ids: readonly string[]): Promise<ShareRow[]> {
  return tx.query<ShareRow>(`SELECT ${SHARE} FROM trace_shares WHERE id = ANY($1::text[])`, [ids])
}

/** In the order in which they were made: those of the trace, and those that mask neurons of its model version. Ended ones too. */
export function findSharesOf(
  tx: Tx,
  { traceId, modelVersionId }: Pick<ShareRow, 'traceId' | 'modelVersionId'>,
): Promise<ShareRow[]> {
  return tx.query<ShareRow>(
    `SELECT ${SHARE} FROM trace_shares WHERE trace_id = $1
     UNION (SELECT ${SHARE} FROM trace_shares WHERE scope_kind = 'model_version' AND model_version_id = $2)
     ORDER BY position`,
    [traceId, modelVersionId],
  )
}

/** False when it was revoked before. */
export async function revokeShare(tx: Tx, id: string, by: string, at: Date): Promise<boolean> {
  const revoked = await tx.query(
    'UPDATE trace_shares SET revoked_at = $2, revoked_by = $3 WHERE id = $1 AND revoked_at IS NULL RETURNING 1',
    [id, at, by],
  )
  return revoked.length > 0
}

/** System role: whose a token is. */
export interface TokenOwner extends Scope {
  shareId: string
  /** With the token of a granted person. */
  requestId: string | null
}

export async function findTokenOwner(tx: Tx, tokenHash: Buffer): Promise<TokenOwner | undefined> {
  const [row] = await tx.query<TokenOwner>(
    `SELECT account_id AS "accountId", environment, id AS "shareId", NULL AS "requestId" FROM trace_shares WHERE token_hash = $1
     UNION ALL
     SELECT account_id, environment, share_id, id FROM disclosure_requests WHERE grant_hash = $1`,
    [tokenHash],
  )
  return row
}

export interface ShareFilter extends TimeRange {
  statuses?: readonly ShareStatus[] | undefined
  traceId?: string | undefined
  at: Date
}

/** Newest first. */
export function findShares(
  tx: Tx,
  scope: Scope,
  filter: ShareFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<ShareRow[]> {
  const { where, values } = conditionsOf(scope, filter)
  if (before !== undefined) where.push(`id < $${values.push(before)}`)
  return tx.adhoc<ShareRow>(
    `SELECT ${SHARE} FROM trace_shares WHERE ${where.join(' AND ')} ORDER BY id DESC LIMIT $${values.push(limit)}`,
    values,
  )
}

export async function countShares(tx: Tx, scope: Scope, filter: ShareFilter): Promise<number> {
  const { where, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`trace_shares WHERE ${where.join(' AND ')}`), values)
  return row?.count ?? 0
}

function conditionsOf({ environment }: Scope, { statuses, traceId, from, to, at }: ShareFilter) {
  const values: unknown[] = []
  const where = ['true']
  const add = (condition: (parameter: string) => string, value: unknown) => {
    if (value !== undefined) where.push(condition(`$${values.push(value)}`))
  }
  add((p) => `trace_id = ${p}`, traceId)
  where.push(...conditionsOfRange(values, { type: 'shr', environment }, { from, to }))
  if (statuses !== undefined) {
    const by = statuses.map((status) => {
      if (status === 'revoked') return 'revoked_at IS NOT NULL'
      return `revoked_at IS NULL AND expires_at ${status === 'active' ? '>' : '<='} $${values.push(at)}`
    })
    where.push(`(${by.join(' OR ')})`)
  }
  return { where, values }
}
