import { z } from 'zod'
import { checkSessionName } from '#src/agents/registry/session-rows.ts'
import { actorView } from '#src/platform/http/actor.ts'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { createdBetween, listQuery, orderQuery } from '#src/platform/http/page.ts'
import { idParams, several, visibleText } from '#src/platform/http/params.ts'
import { timestampView } from '#src/platform/http/views.ts'
import { checkId } from '#src/platform/ids.ts'
import type { Locks, ShownLock } from './locks.ts'
import { LOCK_STATUSES, type SessionLockRow } from './rows.ts'

const lockStatusView = z.enum(LOCK_STATUSES).meta({ id: 'SessionLockStatus' })

const lockView = z
  .object({
    lock_id: z.string(),
    status: lockStatusView,
    agent_session_id: z.string().nullable().describe('null: the agent is locked, whatever the session.'),
    agent_id: z.string().nullable().describe('The registered agent that the lock suspends.'),
    trace_id: z.string().nullable().describe('The readings that tripped.'),
    tripped_families: z.array(z.string()),
    source: z
      .enum(['verify', 'inference', 'check'])
      .meta({ id: 'TripSource' })
      .describe('Which request found the trip.'),
    jti: z.string().nullable().describe('With `verify`: of the token.'),
    matched_rule_id: z.string().nullable().describe('With `verify`: the rule of the policy.'),
    locked_at: timestampView,
    cleared_at: timestampView.nullable(),
    cleared_by: actorView.nullable(),
    note: z.string().nullable(),
    agent_unsuspended: z.boolean().nullable().describe('Whether clearing it resumed the agent.'),
  })
  .meta({ id: 'SessionLock' })

const clearedView = z
  .object({ lock_id: z.string(), status: z.literal('cleared'), agent_unsuspended: z.boolean() })
  .meta({ id: 'ClearedLock' })

const clearRequest = z.strictObject({ note: visibleText(1_000).optional() }).optional()

const reading = { scope: 'escalate', permission: 'locks.read' } as const

export function lockRoutes(locks: Locks): Route[] {
  return [
    listEndpoint(
      {
        ...reading,
        path: '/v1/trace/session-locks',
        operationId: 'listSessionLocks',
        sdk: 'trace.locks.list',
        summary: 'Session locks',
        query: {
          ...listQuery,
          ...orderQuery,
          status: several(lockStatusView).optional(),
          agent_id: z.string().max(64).optional(),
          agent_session_id: z.string().max(200).optional(),
        },
        item: lockView,
      },
      ({ caller, query }) => {
        const { status: statuses, agent_id: agentId, agent_session_id: agentSessionId } = query
        if (agentId !== undefined) checkId(agentId, 'agt', caller.environment)
        if (agentSessionId !== undefined) checkSessionName(agentSessionId, caller.environment)
        return locks.list(caller, { statuses, agentId, agentSessionId, ...createdBetween(query) }, query)
      },
      toLockView,
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: '/v1/trace/session-locks/:id',
        operationId: 'getSessionLock',
        sdk: 'trace.locks.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'One session lock',
        params: idParams('lck'),
        view: lockView,
        status: [200],
      },
      async ({ caller, params }) => toLockView(await locks.get(caller, params.id)),
    ),
    endpoint(
      {
        ...reading,
        permission: 'locks.write',
        method: 'POST',
        path: '/v1/trace/session-locks/:id/clear',
        operationId: 'clearSessionLock',
        sdk: 'trace.locks.clear',
        effect: 'write',
        kind: 'call',
        summary: 'Clear a session lock after a review',
        params: idParams('lck'),
        body: clearRequest,
        view: clearedView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) =>
        toClearedView(await locks.clear(caller, params.id, body?.note ?? null, idempotencyKey)),
      async ({ caller }, id) => toClearedView(await locks.get(caller, id)),
    ),
  ]
}

function toLockView(lock: ShownLock): z.input<typeof lockView> {
  return {
    lock_id: lock.id,
    status: lock.status,
    agent_session_id: lock.agentSessionId,
    agent_id: lock.agentId,
    trace_id: lock.traceId,
    tripped_families: lock.trippedFamilies,
    source: lock.source,
    jti: lock.jti,
    matched_rule_id: lock.matchedRuleId,
    locked_at: lock.createdAt.toISOString(),
    cleared_at: lock.clearedAt?.toISOString() ?? null,
    cleared_by: lock.clearedBy,
    note: lock.note,
    agent_unsuspended: lock.agentUnsuspended,
  }
}

function toClearedView({
  id,
  agentUnsuspended,
}: Pick<SessionLockRow, 'id' | 'agentUnsuspended'>): z.input<typeof clearedView> {
  return { lock_id: id, status: 'cleared', agent_unsuspended: agentUnsuspended === true }
}
