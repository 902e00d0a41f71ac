import { z } from 'zod'
import { checkSessionName } from '#src/agents/registry/session-rows.ts'
import { Failure, invalidField } from '#src/failure.ts'
import { actorView } from '#src/platform/http/actor.ts'
import { type Caller, endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { createdBetween, listQuery } from '#src/platform/http/page.ts'
import { idParam, idParams, several, timestamp, visibleText } from '#src/platform/http/params.ts'
import { timestampView } from '#src/platform/http/views.ts'
import { checkName } from '#src/platform/ids.ts'
import { INTENT_STATUSES } from '../tokens/rows.ts'
import type { NewRevocation, Revocations, ShownRevocation } from './revocations.ts'
import type { ShownStop, Stops } from './stop.ts'

const scope = z.enum(['token', 'session', 'device']).meta({ id: 'RevokedScope' })
export const revokedScopeView = scope
export const intentStatusView = z.enum(INTENT_STATUSES).meta({
  id: 'IntentTokenStatus',
  description: 'revoked: also after its exp; expired: also where its approval has ended, or was given too long ago.',
})
// Sessions and devices have names that callers chose, and a revocation must reach any of them: they are compared as they are,
// not trimmed, and need not be visible.
const name = z.string().min(1).max(200)
const reason = visibleText(500).describe('For people: it is in the event, and in the ledger only sealed.')

const revokeBody = z
  .strictObject({
    scope,
    jti: name.optional().describe('Of a token.'),
    agent_session_id: name.optional(),
    device_id: name.optional(),
    reason,
    expires_at: timestamp
      .optional()
      .describe('Until when a session or device gets no new tokens. Never again when absent.'),
  })
  .meta({ id: 'RevokeIntentsRequest' })

const stopBody = z.strictObject({ reason: visibleText(500) })

const revocationView = z
  .object({
    revocation_id: z.string(),
    scope,
    jti: z.string().nullable(),
    agent_session_id: z.string().nullable(),
    device_id: z.string().nullable(),
    reason: z.string(),
    revoked_by: actorView,
    tokens_revoked: z.number().int().describe('Unexpired tokens that ended with it.'),
    created_at: timestampView,
    expires_at: timestampView.nullable(),
  })
  .meta({ id: 'Revocation' })

const statusView = z
  .object({
    jti: z.string(),
    status: intentStatusView,
    revoked: z.boolean(),
    revoked_scope: scope.nullable(),
    revoked_at: timestampView.nullable(),
    expires_at: timestampView,
  })
  .meta({ id: 'IntentStatus' })

const stopView = z
  .object({
    stopped: z.boolean(),
    stop_id: z.string().nullable().describe('The last stop, in force or lifted; null if there was none.'),
    reason: z.string().nullable(),
    stopped_by: actorView.nullable(),
    stopped_at: timestampView.nullable(),
    resumed_by: actorView.nullable(),
    resumed_at: timestampView.nullable(),
  })
  .meta({ id: 'IntentStop' })

export function revocationRoutes(revocations: Revocations, stops: Stops): Route[] {
  return [...listRoutes(revocations), ...stopRoutes(stops)]
}

function listRoutes(revocations: Revocations): Route[] {
  const reads = { scope: 'intent', permission: 'intents.read', method: 'GET' } as const
  return [
    endpoint(
      {
        method: 'POST',
        path: '/v1/intent/revocations',
        operationId: 'revokeIntents',
        sdk: 'intent.revocations.create',
        effect: 'destructive',
        kind: 'call',
        summary: 'Revoke a token, or all tokens of an agent session or a device, from the next verify on',
        scope: 'intent',
        permission: 'intents.write',
        isEmergency: true,
        body: revokeBody,
        view: revocationView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey }) =>
        toView(await revocations.revoke(caller, toRevocation(body, caller), idempotencyKey)),
      async ({ caller }, id) => toView(await revocations.get(caller, id)),
    ),
    listEndpoint(
      {
        ...reads,
        path: '/v1/intent/revocations',
        operationId: 'listRevocations',
        sdk: 'intent.revocations.list',
        summary: 'Revocations, newest first',
        query: {
          ...listQuery,
          scope: several(scope).optional(),
          subject_id: name.optional().describe('A jti, agent session or device.'),
        },
        item: revocationView,
      },
      ({ caller, query }) => {
        const { limit, cursor, include, scope: scopes, subject_id: subjectId } = query
        return revocations.list(caller, { limit, cursor, include, scopes, subjectId, ...createdBetween(query) })
      },
      toView,
    ),
    endpoint(
      {
        ...reads,
        path: '/v1/intent/revocations/:id',
        operationId: 'getRevocation',
        sdk: 'intent.revocations.retrieve',
        effect: 'read',
        kind: 'call',
        params: idParams('rev'),
        summary: 'One revocation',
        view: revocationView,
        status: [200],
      },
      async ({ caller, params }) => toView(await revocations.get(caller, params.id)),
    ),
    endpoint(
      {
        method: 'GET',
        path: '/v1/intent/status/:jti',
        operationId: 'getIntentStatus',
        sdk: 'intent.status.retrieve',
        effect: 'read',
        kind: 'call',
        params: z.object({ jti: idParam('jti') }),
        summary: 'Whether a token is active, revoked or expired',
        scope: 'verify',
        permission: 'intents.read',
        view: statusView,
        status: [200],
      },
      async ({ caller, params }) => {
        const { jti, status, revokedScope, revokedAt, expiresAt } = await revocations.status(caller, params.jti)
        return {
          jti,
          status,
          revoked: revokedAt !== null,
          revoked_scope: revokedScope,
          revoked_at: revokedAt?.toISOString() ?? null,
          expires_at: expiresAt.toISOString(),
        }
      },
    ),
  ]
}

function stopRoutes(stops: Stops): Route[] {
  const common = {
    scope: 'escalate',
    permission: 'intents.stop',
    needsAccountKey: true,
    isEmergency: true,
    view: stopView,
    status: [200] as number[],
  } as const
  return [
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/intent/stop',
        operationId: 'stopIntents',
        sdk: 'intent.stop',
        effect: 'destructive',
        kind: 'call',
        summary: 'Stop all agents of the account in this environment',
        body: stopBody,
      },
      async ({ caller, body, idempotencyKey }) => toStopView(await stops.stop(caller, body.reason, idempotencyKey)),
      async ({ caller }) => toStopView(await stops.get(caller)),
    ),
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/intent/resume',
        operationId: 'resumeIntents',
        sdk: 'intent.resume',
        effect: 'write',
        kind: 'call',
        summary: 'Resume the agents of the account after a stop',
      },
      async ({ caller, idempotencyKey }) => toStopView(await stops.resume(caller, idempotencyKey)),
      async ({ caller }) => toStopView(await stops.get(caller)),
    ),
    endpoint(
      {
        ...common,
        permission: 'intents.read',
        method: 'GET',
        path: '/v1/intent/stop',
        operationId: 'getIntentStop',
        sdk: 'intent.retrieveStop',
        effect: 'read',
        kind: 'call',
        summary: 'Whether the agents of the account are stopped in this environment',
      },
      async ({ caller }) => toStopView(await stops.get(caller)),
    ),
  ]
}

const MEMBERS = { token: 'jti', session: 'agent_session_id', device: 'device_id' } as const

// The scope says which of the three names is there, alone.
function toRevocation(body: z.output<typeof revokeBody>, caller: Caller): NewRevocation {
  const { scope: kind, reason: text, expires_at: end } = body
  // Also one that does not belong to the scope: whose environment it is comes first.
  for (const member of Object.values(MEMBERS)) checkName(body[member] ?? '', caller.environment)
  checkSessionName(body.agent_session_id ?? '', caller.environment)
  for (const [other, member] of Object.entries(MEMBERS)) {
    const isWanted = other === kind
    if (isWanted && body[member] === undefined)
      throw invalidField(`/${member}`, 'required', `is required with the scope ${kind}`)
    if (!isWanted && body[member] !== undefined) {
      throw invalidField(`/${member}`, 'unknown_field', `does not belong to the scope ${kind}`)
    }
  }
  if (kind === 'token' && end !== undefined) {
    throw invalidField('/expires_at', 'unknown_field', 'does not belong to a token, which stays revoked')
  }
  // Their sessions and devices are those of every visitor, and the examples of the documentation use them.
  if (kind !== 'token' && !caller.isAccountBearing) {
    throw new Failure(
      'account_key_required',
      'The publishable keys revoke tokens only: use a key of an account of your own.',
    )
  }
  return { scope: kind, subjectId: body[MEMBERS[kind]] ?? '', reason: text, expiresAt: timeOf(end) ?? null }
}

function timeOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}

function toView(row: ShownRevocation): z.input<typeof revocationView> {
  const subject = (kind: ShownRevocation['scope']) => (row.scope === kind ? row.subjectId : null)
  return {
    revocation_id: row.id,
    scope: row.scope,
    jti: subject('token'),
    agent_session_id: subject('session'),
    device_id: subject('device'),
    reason: row.reason,
    revoked_by: row.revokedBy,
    tokens_revoked: row.tokens,
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt?.toISOString() ?? null,
  }
}

function toStopView(row: ShownStop | undefined): z.input<typeof stopView> {
  return {
    stopped: row !== undefined && row.resumedAt === null,
    stop_id: row?.id ?? null,
    reason: row?.reason ?? null,
    stopped_by: row?.stopper ?? null,
    stopped_at: row?.stoppedAt.toISOString() ?? null,
    resumed_by: row?.resumer ?? null,
    resumed_at: row?.resumedAt?.toISOString() ?? null,
  }
}
