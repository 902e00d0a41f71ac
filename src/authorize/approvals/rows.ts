// Approvals, one row each. What a person decided is in the row for ever; that an approval has expired is in no column, but
// follows from `expires_at` and the clock of Postgres wherever it is read.

import type { Tx } from '#src/platform/db/database.ts'
import type { ApproverRole } from '../policy/document.ts'
import type { ApprovalOrigin, ApprovedRule } from './facts.ts'

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

const APPROVAL = `id, jti, origin, rules, min_approvals AS "minApprovals", roles, requires_passkey AS "requiresPasskey",
  has_separation AS "hasSeparation", action_hash AS "actionHash", payload_hash AS "payloadHash",
  preview_hash AS "previewHash", agent_id AS "agentId", agent_session_id AS "agentSessionId", device_id AS "deviceId",
  mandate_id AS "mandateId", schedule_id AS "scheduleId", requester_id AS "requesterId",
  excluded_ids AS "excludedIds", actor_kind AS "actorKind", actor_id AS "actorId",
  token_ttl_seconds AS "tokenTtlSeconds", created_at AS "createdAt", expires_at AS "expiresAt", outcome,
  decided_at AS "decidedAt"`

/**
 * Those of a token, in the order of their origins: at most two.
 * @param lock Until the end of the transaction no decision about them commits. Taken after the lock on the token.
 */
export async function readApprovals(tx: Tx, jti: string, lock: boolean): Promise<ApprovalRow[]> {
  return tx.query<ApprovalRow>(lock ? LOCK_OF_TOKEN : OF_TOKEN, [jti])
}

const OF_TOKEN = `SELECT ${APPROVAL} FROM approvals WHERE jti = $1 ORDER BY origin`
const LOCK_OF_TOKEN = `${OF_TOKEN} FOR SHARE`
