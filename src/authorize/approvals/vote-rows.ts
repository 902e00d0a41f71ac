// What people decided about approvals, and who may decide. A vote counts while its person is a member: one who was removed is
// counted no more, in either environment, also after another invite. One that a key cast counts while the key is not revoked.

import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'

export type VoteDecision = 'approve' | 'deny'
export type VoteVia = 'session' | 'passkey' | 'api_key'

export interface VoteRow {
  approvalId: string
  userId: string
  decision: VoteDecision
  via: VoteVia
  /** The user, or the key that spoke for them. */
  actorId: string
  passkeyId: string | null
  comment: string | null
  decidedAt: Date
}

/** A vote that counts, with the role that its person has now. */
export interface LiveVote {
  userId: string
  role: string
  decision: VoteDecision
  keyRootId: string | null
}

export interface Approver {
  id: string
  email: string
  role: string
}

const VOTE = `approval_id AS "approvalId", user_id AS "userId", decision, via, actor_id AS "actorId",
  passkey_id AS "passkeyId", comment, decided_at AS "decidedAt"`

// On plans without teams only owners act.
const MAY_ACT = `u.deprovisioned_at IS NULL AND (u.role = 'owner' OR (SELECT plan FROM accounts WHERE id = u.account_id) = 'enterprise')`
// A revocation of the key, or of one that rotations made of it, ends its vote: after a leak an account may revoke the successor
// alone. An expiry or the end of a grace period is no revocation.
/** Whether the vote `v` of the user `u` counts. */
export const COUNTS = `(u.reactivated_at IS NULL OR v.decided_at > u.reactivated_at) AND (v.key_root_id IS NULL OR NOT EXISTS (
    WITH RECURSIVE line (id, successor_id, revoked_at) AS (
      SELECT k.id, k.successor_id, k.revoked_at FROM api_keys k WHERE k.id = v.actor_id
      UNION SELECT k.id, k.successor_id, k.revoked_at FROM line JOIN api_keys k ON k.id = line.successor_id
    ) SELECT FROM line WHERE revoked_at IS NOT NULL))`

/** All of some approvals, in the order in which they were given. */
export async function findVotes(tx: Tx, approvalIds: readonly string[]): Promise<VoteRow[]> {
  return tx.query<VoteRow>(
    `SELECT ${VOTE} FROM approval_votes WHERE approval_id = ANY($1::text[]) ORDER BY decided_at, user_id`,
    [approvalIds],
  )
}

/**
 * Reads the votes; the caller holds the lock of the approval. Memberships and roles don't change until the end of the
 * transaction.
 */
export async function readLiveVotes(tx: Tx, approvalId: string): Promise<LiveVote[]> {
  return tx.query<LiveVote>(
    `SELECT v.user_id AS "userId", u.role, v.decision, v.key_root_id AS "keyRootId"
     FROM approval_votes v JOIN users u ON u.account_id = v.account_id AND u.id = v.user_id
     WHERE v.approval_id = $1 AND ${MAY_ACT} AND ${COUNTS} ORDER BY v.user_id FOR SHARE OF u`,
    [approvalId],
  )
}

/** A member who may act, by id or address. Until the end of the transaction neither membership nor role changes. */
export async function lockApprover(
  tx: Tx,
  { accountId }: Scope,
  by: { userId: string } | { email: string },
): Promise<Approver | undefined> {
  const [column, value] = 'userId' in by ? (['id', by.userId] as const) : (['email', by.email] as const)
  const [row] = await tx.query<Approver>(
    `SELECT u.id, u.email, u.role FROM users u WHERE u.account_id = $1 AND u.${column} = $2 AND ${MAY_ACT} FOR SHARE`,
    [accountId, value],
  )
  return row
}

/** Members who may act and have one of the roles, oldest first. */
export async function findApprovers(
  tx: Tx,
  { accountId }: Scope,
  { roles, except, limit }: { roles: readonly string[]; except: readonly string[]; limit: number },
): Promise<Approver[]> {
  return tx.query<Approver>(
    `SELECT u.id, u.email, u.role FROM users u WHERE u.account_id = $1 AND u.role = ANY($2::text[])
       AND NOT u.id = ANY($3::text[]) AND ${MAY_ACT} ORDER BY u.id LIMIT $4`,
    [accountId, roles, except, limit],
  )
}

/** How many people are members, and which of them answers for an agent. */
export async function readTeam(
  tx: Tx,
  { accountId }: Scope,
  agentId: string | null,
): Promise<{ members: number; ownerOfAgent: string | null }> {
  const [row] = await tx.query<{ members: number; ownerOfAgent: string | null }>(
    `SELECT (SELECT count(*) FROM users u WHERE u.account_id = $1 AND u.deprovisioned_at IS NULL) AS members,
       (SELECT u.id FROM users u JOIN agents a ON a.id = $2 AND (u.id = a.owner OR u.email = lower(a.owner))
        WHERE u.account_id = $1 LIMIT 1) AS "ownerOfAgent"`,
    [accountId, agentId],
  )
  return row ?? { members: 0, ownerOfAgent: null }
}

/** The user who made a key, or made the key that made it; null where none is known. */
export async function findCreator(tx: Tx, keyId: string): Promise<string | null> {
  const [row] = await tx.query<{ id: string }>(
    `WITH RECURSIVE made (created_by, depth) AS (
       SELECT created_by, 1 FROM api_keys WHERE id = $1
       UNION ALL SELECT k.created_by, depth + 1 FROM made JOIN api_keys k ON k.id = made.created_by WHERE depth < 20
     ) SELECT created_by AS id FROM made WHERE created_by LIKE 'usr\\_%' LIMIT 1`,
    [keyId],
  )
  return row?.id ?? null
}

/** The first key of the rotations that led to each: a rotated key is the same key. */
export async function findKeyRoots(tx: Tx, keyIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.query<{ id: string; root: string }>(
    `WITH RECURSIVE lines (id, root, depth) AS (
       SELECT id COLLATE "C", id COLLATE "C", 1 FROM unnest($1::text[]) AS given (id)
       UNION ALL SELECT lines.id, k.id, depth + 1 FROM lines JOIN api_keys k ON k.successor_id = lines.root WHERE depth < 1000
     ) SELECT DISTINCT ON (id) id, root FROM lines ORDER BY id, depth DESC`,
    [keyIds],
  )
  return new Map(rows.map(({ id, root }) => [id, root]))
}

/**
 * Returns the keys, and those that have voted on an approval, each with all keys that led to it, by rotation or because
 * one created the other. The holder of a key knows the secrets of the keys that it led to.
 */
export async function findKeyOrigins(
  tx: Tx,
  keyIds: readonly string[],
  approvalId: string,
): Promise<{ id: string; origins: string[]; isVoter: boolean }[]> {
  return tx.query(
    `WITH RECURSIVE given (id, is_voter) AS (
       SELECT id COLLATE "C", false FROM unnest($1::text[]) AS own (id)
       UNION ALL SELECT actor_id, true FROM approval_votes WHERE approval_id = $2 AND key_root_id IS NOT NULL
     ), lines (id, is_voter, origin) AS (
       SELECT id, is_voter, id FROM given
       UNION SELECT lines.id, is_voter, before.id FROM lines CROSS JOIN LATERAL (
         SELECT k.id FROM api_keys k WHERE k.successor_id = lines.origin
         UNION ALL SELECT k.created_by COLLATE "C" FROM api_keys k WHERE k.id = lines.origin AND k.created_by LIKE 'key\\_%'
       ) before
     ) SELECT id, is_voter AS "isVoter", array_agg(origin) AS origins FROM lines GROUP BY id, is_voter`,
    [keyIds, approvalId],
  )
}

/**
 * Under the lock of the approval, for a person without a vote that counts: one from before their removal makes room. False
 * when the key has cast a vote, for whomever.
 */
export async function insertVote(
  tx: Tx,
  { accountId, environment }: Scope,
  vote: VoteRow & { keyRootId: string | null },
): Promise<boolean> {
  await tx.query('DELETE FROM approval_votes WHERE approval_id = $1 AND user_id = $2', [vote.approvalId, vote.userId])
  const inserted = await tx.query(
    `INSERT INTO approval_votes (account_id, environment, approval_id, user_id, decision, via, actor_id, key_root_id,
       passkey_id, comment, decided_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING RETURNING 1`,
    [
      accountId,
      environment,
      vote.approvalId,
      vote.userId,
      vote.decision,
      vote.via,
      vote.actorId,
      vote.keyRootId,
      vote.passkeyId,
      vote.comment,
      vote.decidedAt,
    ],
  )
  return inserted.length > 0
}
