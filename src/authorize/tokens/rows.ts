// The issued tokens. Only the first execution and the first outcome of a token count: both are guarded updates, and never a
// read followed by a write.

import type { Tx } from '#src/platform/db/database.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { idsBefore } from '#src/platform/ids.ts'
import type { PurgeStep } from '#src/platform/retention.ts'
import type { BiometricClaim } from './format.ts'

export type IntentOutcome = 'succeeded' | 'failed' | 'not_run'
export type RevokedScope = 'token' | 'session' | 'device'
/** How far a token has come. */
export const INTENT_STATUSES = ['active', 'revoked', 'expired'] as const
export type IntentStatusName = (typeof INTENT_STATUSES)[number]

/** What authorize stores of a token. Sealed values: see `sealFacts` and `sealToken`. */
export interface NewIntent {
  jti: string
  tokenSha256: Buffer
  actionHash: string
  payloadHash: string
  contextHash: string | null
  traceId: string | null
  readingHash: string | null
  agentId: string | null
  agentSessionId: string
  deviceId: string
  mandateId: string | null
  scheduleId: string | null
  orderId: string | null
  /** Content of the order when the token was issued. */
  orderHash: string | null
  audience: string | null
  biometric: BiometricClaim | null
  /** Owner of the passkey. */
  passkeyUserId: string | null
  policyVersion: number
  statusList: number
  statusIndex: number
  expiresAt: Date
  sealedFacts: Buffer
  /** Only where a replay may return it. */
  sealedToken: Buffer | null
}

export interface IntentRow extends NewIntent {
  actorKind: 'key' | 'session'
  /** The key or the user who asked for it. */
  actorId: string
  createdAt: Date
  executedAt: Date | null
  executedBy: string | null
  executionKey: string | null
  outcome: IntentOutcome | null
  outcomeAt: Date | null
  revocationId: string | null
  revokedScope: RevokedScope | null
  revokedAt: Date | null
}

const INTENT = `jti, token_sha256 AS "tokenSha256", action_hash AS "actionHash", payload_hash AS "payloadHash",
  context_hash AS "contextHash", trace_id AS "traceId", reading_hash AS "readingHash", agent_id AS "agentId",
  agent_session_id AS "agentSessionId", device_id AS "deviceId", mandate_id AS "mandateId", schedule_id AS "scheduleId",
  order_id AS "orderId", order_hash AS "orderHash",
  audience, biometric, passkey_user_id AS "passkeyUserId", policy_version AS "policyVersion",
  status_list AS "statusList", status_index AS "statusIndex",
  actor_kind AS "actorKind", actor_id AS "actorId", created_at AS "createdAt", expires_at AS "expiresAt",
  sealed_facts AS "sealedFacts", sealed_token AS "sealedToken", executed_at AS "executedAt",
  executed_by AS "executedBy", execution_key AS "executionKey", outcome, outcome_at AS "outcomeAt",
  revocation_id AS "revocationId", revoked_scope AS "revokedScope", revoked_at AS "revokedAt"`

export async function insertIntent(
  tx: Tx,
  { accountId, environment, principal }: Acting,
  row: NewIntent,
): Promise<void> {
  const actorId = actorOf(principal).id
  await tx.query(
    `INSERT INTO intents (account_id, environment, jti, token_sha256, action_hash, payload_hash, context_hash, trace_id,
       reading_hash, agent_id, agent_session_id, device_id, mandate_id, schedule_id, audience, biometric, policy_version,
       status_list, status_index, expires_at, sealed_facts, sealed_token, actor_kind, actor_id,
       passkey_user_id, order_id, order_hash)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
       $25, $26, $27)`,
    [
      accountId,
      environment,
      row.jti,
      row.tokenSha256,
      row.actionHash,
      row.payloadHash,
      row.contextHash,
      row.traceId,
      row.readingHash,
      row.agentId,
      row.agentSessionId,
      row.deviceId,
      row.mandateId,
      row.scheduleId,
      row.audience,
      row.biometric === null ? null : JSON.stringify(row.biometric),
      row.policyVersion,
      row.statusList,
      row.statusIndex,
      row.expiresAt,
      row.sealedFacts,
      row.sealedToken,
      principal.kind,
      actorId,
      row.passkeyUserId,
      row.orderId,
      row.orderHash,
    ],
  )
}

export async function findIntent(tx: Tx, jti: string): Promise<IntentRow | undefined> {
  const [row] = await tx.query<IntentRow>(`SELECT ${INTENT} FROM intents WHERE jti = $1`, [jti])
  return row
}

/** What a verification compares: the rest of a token is in its claims. Half of what a row takes is left out. */
export type VerifiedIntent = Pick<
  IntentRow,
  'jti' | 'tokenSha256' | 'audience' | 'sealedFacts' | 'executedAt' | 'executedBy' | 'executionKey'
>

const VERIFIED = `SELECT jti, token_sha256 AS "tokenSha256", audience, sealed_facts AS "sealedFacts",
  executed_at AS "executedAt", executed_by AS "executedBy", execution_key AS "executionKey" FROM intents WHERE jti = $1`
const LOCK_VERIFIED = `${VERIFIED} FOR NO KEY UPDATE`

export async function findVerified(tx: Tx, jti: string): Promise<VerifiedIntent | undefined> {
  const [row] = await tx.query<VerifiedIntent>(VERIFIED, [jti])
  return row
}

/** The same, as `lockIntent` reads it. */
export async function lockVerified(tx: Tx, jti: string): Promise<VerifiedIntent | undefined> {
  const [row] = await tx.query<VerifiedIntent>(LOCK_VERIFIED, [jti])
  return row
}

/** Locks several as `lockVerified` does, in an order that is the same for every transaction. */
export async function lockIntents(tx: Tx, jtis: readonly string[]): Promise<void> {
  await tx.query('SELECT 1 FROM intents WHERE jti = ANY($1::text[]) ORDER BY jti FOR NO KEY UPDATE', [jtis])
}

/**
 * Locks the intent until the end of the transaction, and reads it after every other transaction that changes it has
 * ended.
 */
export async function lockIntent(tx: Tx, jti: string): Promise<IntentRow | undefined> {
  const [row] = await tx.query<IntentRow>(`SELECT ${INTENT} FROM intents WHERE jti = $1 FOR NO KEY UPDATE`, [jti])
  return row
}

export type Executed = Pick<IntentRow, 'jti' | 'actionHash' | 'payloadHash'>

/** The token that an Idempotency-Key of verify has executed. */
export async function findExecuted(tx: Tx, key: string | null): Promise<Executed | undefined> {
  if (key === null) return undefined
  const [row] = await tx.query<Executed>(
    `SELECT jti, action_hash AS "actionHash", payload_hash AS "payloadHash" FROM intents WHERE execution_key = $1`,
    [key],
  )
  return row
}

/** False when it was executed before. `key`: the Idempotency-Key of the verify. */
export async function markExecuted(
  tx: Tx,
  jti: string,
  { by, key }: { by: string; key: string | null },
): Promise<boolean> {
  const changed = await tx.query(
    `UPDATE intents SET executed_at = clock_timestamp(), executed_by = $2, execution_key = $3
     WHERE jti = $1 AND executed_at IS NULL RETURNING 1`,
    [jti, by, key],
  )
  return changed.length > 0
}

/** False unless `by` executed it and it has no outcome. */
export async function recordOutcome(
  tx: Tx,
  jti: string,
  { by, outcome }: { by: string; outcome: IntentOutcome },
): Promise<boolean> {
  const changed = await tx.query(
    `UPDATE intents SET outcome = $3, outcome_at = clock_timestamp()
     WHERE jti = $1 AND executed_by = $2 AND outcome IS NULL RETURNING 1`,
    [jti, by, outcome],
  )
  return changed.length > 0
}

/** Clears sealed tokens that have expired, which no replay returns. */
export const clearSealedTokens: PurgeStep = async (tx, _scope, { before, limit }) => {
  const cleared = await tx.query(
    `UPDATE intents SET sealed_token = NULL WHERE jti = ANY(ARRAY(
       SELECT jti FROM intents WHERE sealed_token IS NOT NULL AND expires_at < $1 LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED))
     RETURNING 1`,
    [before, limit],
  )
  return cleared.length
}

export const purgeIntents: PurgeStep = async (tx, { environment }, { before, limit }) => {
  // The query selects by id, which sorts by age: the primary key finds the old rows.
  const gone = await tx.query(
    `DELETE FROM intents WHERE jti = ANY(ARRAY(
       SELECT jti FROM intents WHERE jti < $1 AND expires_at < $2 ORDER BY jti LIMIT $3)) RETURNING 1`,
    [idsBefore('jti', environment, before), before, limit],
  )
  return gone.length
}
