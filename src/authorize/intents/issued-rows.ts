// The list of issued tokens. How far a token has come is in no column: it follows from its revocation, its exp, its approvals
// and the clock.

import type { IntentRow, IntentStatusName } from '#src/authorize/tokens/rows.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'

/** What lists show: neither the token nor what authorize knew of the action. */
export interface ListedIntent
  extends Pick<
    IntentRow,
    | 'jti'
    | 'actionHash'
    | 'payloadHash'
    | 'agentId'
    | 'agentSessionId'
    | 'deviceId'
    | 'mandateId'
    | 'scheduleId'
    | 'orderId'
    | 'traceId'
    | 'audience'
    | 'policyVersion'
    | 'actorId'
    | 'createdAt'
    | 'expiresAt'
    | 'executedAt'
    | 'outcome'
    | 'outcomeAt'
    | 'revocationId'
    | 'revokedScope'
    | 'revokedAt'
  > {
  status: IntentStatusName
  isBiometric: boolean
}

export interface IntentFilter extends TimeRange {
  /** Any of them. */
  statuses?: readonly IntentStatusName[] | undefined
  agentId?: string | undefined
}

// An approval that was denied, has expired or was cancelled, or was given too long ago: its token can't be used any more.
const IS_OVER = `EXISTS (SELECT FROM approvals a WHERE a.jti = intents.jti AND CASE
    WHEN a.outcome = 'approved' THEN a.decided_at + make_interval(secs => a.token_ttl_seconds) <= statement_timestamp()
    ELSE a.outcome IS NOT NULL OR a.expires_at <= statement_timestamp() END)`

// Stable, so that an index on the time can be used: clock_timestamp() is volatile.
const WITH_STATUS: Record<IntentStatusName, string> = {
  active: `revoked_at IS NULL AND expires_at > statement_timestamp() AND NOT ${IS_OVER}`,
  revoked: 'revoked_at IS NOT NULL',
  expired: `revoked_at IS NULL AND (expires_at <= statement_timestamp() OR ${IS_OVER})`,
}

const LISTED = `jti, action_hash AS "actionHash", payload_hash AS "payloadHash", agent_id AS "agentId",
  agent_session_id AS "agentSessionId", device_id AS "deviceId", mandate_id AS "mandateId", schedule_id AS "scheduleId", order_id AS "orderId",
  trace_id AS "traceId", audience, policy_version AS "policyVersion", actor_id AS "actorId", created_at AS "createdAt",
  expires_at AS "expiresAt", executed_at AS "executedAt", outcome, outcome_at AS "outcomeAt",
  revocation_id AS "revocationId", revoked_scope AS "revokedScope", revoked_at AS "revokedAt",
  biometric IS NOT NULL AS "isBiometric",
  CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN ${WITH_STATUS.active} THEN 'active' ELSE 'expired' END AS status`

/** Newest first. @param before A jti. */
export async function listIntents(
  tx: Tx,
  scope: Scope,
  filter: IntentFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<ListedIntent[]> {
  const { conditions, values } = conditionsOf(scope, filter)
  if (before !== undefined) conditions.push(`jti < $${values.push(before)}`)
  return tx.adhoc<ListedIntent>(
    `SELECT ${LISTED} FROM intents WHERE ${conditions.join(' AND ')} ORDER BY jti DESC LIMIT $${values.push(limit)}`,
    values,
  )
}

export async function countIntents(tx: Tx, scope: Scope, filter: IntentFilter): Promise<number> {
  const { conditions, values } = conditionsOf(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`intents WHERE ${conditions.join(' AND ')}`), values)
  return row?.count ?? 0
}

function conditionsOf({ environment }: Scope, { statuses, agentId, from, to }: IntentFilter) {
  const values: unknown[] = []
  const conditions = [
    'true',
    ...(statuses === undefined ? [] : [`(${statuses.map((status) => `(${WITH_STATUS[status]})`).join(' OR ')})`]),
    ...(agentId === undefined ? [] : [`agent_id = $${values.push(agentId)}`]),
    ...conditionsOfRange(values, { type: 'jti', environment, id: 'jti' }, { from, to }),
  ]
  return { conditions, values }
}
