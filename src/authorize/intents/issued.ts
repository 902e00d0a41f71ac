// The tokens that were issued, without the tokens themselves: who holds one may act, so it is in the answer of authorize alone.

import { z } from 'zod'
import { readActors } from '#src/account/users/actors.ts'
import { intentStatusView, revokedScopeView } from '#src/authorize/revocations/routes.ts'
import type { Database } from '#src/platform/db/database.ts'
import { type ActorView, actorView } from '#src/platform/http/actor.ts'
import { listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import {
  type CountedPage,
  type CountedQuery,
  createdBetween,
  listPage,
  listQuery,
  type Pager,
} from '#src/platform/http/page.ts'
import { several } from '#src/platform/http/params.ts'
import { timestampView } from '#src/platform/http/views.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import { intentOutcome } from './bodies.ts'
import { countIntents, type IntentFilter, type ListedIntent, listIntents } from './issued-rows.ts'

export type IssuedIntent = ListedIntent & { authorizedBy: ActorView }

const issuedView = z
  .object({
    jti: z.string(),
    status: intentStatusView,
    authorized_by: actorView,
    action_hash: z.string(),
    payload_hash: z.string(),
    agent_id: z.string().nullable(),
    agent_session_id: z.string(),
    device_id: z.string(),
    mandate_id: z.string().nullable(),
    schedule_id: z.string().nullable(),
    order_id: z.string().nullable(),
    trace_id: z.string().nullable(),
    audience: z.string().nullable(),
    biometric: z.boolean().describe('A person confirmed exactly this action with a passkey.'),
    policy_version: z.number().int(),
    created_at: timestampView,
    expires_at: timestampView,
    executed_at: timestampView.nullable(),
    outcome: intentOutcome.nullable().describe('Outcome that the executing caller reported.'),
    outcome_at: timestampView.nullable(),
    revocation_id: z.string().nullable(),
    revoked_scope: revokedScopeView.nullable(),
    revoked_at: timestampView.nullable(),
  })
  .meta({ id: 'Intent' })

interface IssuedDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
}

export function createIssued({ db, pager }: IssuedDeps) {
  /** Newest first. @throws {Failure} `environment_mismatch`; `invalid_request` at `?cursor`. */
  return async (scope: Scope, query: IntentFilter & CountedQuery): Promise<CountedPage<IssuedIntent>> => {
    if (query.agentId !== undefined) checkId(query.agentId, 'agt', scope.environment)
    const list = { route: 'GET /v1/intents', scope, query }
    return listPage({ db, pager }, list, {
      rows: (tx, page) => listIntents(tx, scope, query, page),
      count: (tx) => countIntents(tx, scope, query),
      keyOf: ({ jti }) => jti,
      show: async (tx, rows) => {
        const actors = await readActors(
          tx,
          rows.map(({ actorId }) => actorId),
        )
        return rows.map((row) => ({ ...row, authorizedBy: actors(row.actorId) }))
      },
    })
  }
}

export function issuedRoute(issued: ReturnType<typeof createIssued>): Route {
  return listEndpoint(
    {
      path: '/v1/intents',
      operationId: 'listIntents',
      sdk: 'intent.list',
      summary: 'List issued tokens, newest first',
      scope: 'intent',
      permission: 'intents.read',
      query: {
        ...listQuery,
        status: several(intentStatusView).optional(),
        agent_id: z.string().min(1).max(64).optional(),
      },
      item: issuedView,
    },
    ({ caller, query }) => {
      const { limit, cursor, include, status: statuses, agent_id: agentId } = query
      return issued(caller, { limit, cursor, include, statuses, agentId, ...createdBetween(query) })
    },
    toView,
  )
}

function toView(row: IssuedIntent): z.input<typeof issuedView> {
  return {
    jti: row.jti,
    status: row.status,
    authorized_by: row.authorizedBy,
    action_hash: row.actionHash,
    payload_hash: row.payloadHash,
    agent_id: row.agentId,
    agent_session_id: row.agentSessionId,
    device_id: row.deviceId,
    mandate_id: row.mandateId,
    schedule_id: row.scheduleId,
    order_id: row.orderId,
    trace_id: row.traceId,
    audience: row.audience,
    biometric: row.isBiometric,
    policy_version: row.policyVersion,
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt.toISOString(),
    executed_at: row.executedAt?.toISOString() ?? null,
    outcome: row.outcome,
    outcome_at: row.outcomeAt?.toISOString() ?? null,
    revocation_id: row.revocationId,
    revoked_scope: row.revokedScope,
    revoked_at: row.revokedAt?.toISOString() ?? null,
  }
}
