import { z } from 'zod'
import { actorView } from '#src/platform/http/actor.ts'
import { jsonObject } from '#src/platform/http/params.ts'
import { rowVersion } from '#src/platform/http/versions.ts'
import { asWritten, timestampView as time } from '#src/platform/http/views.ts'
import { publicKeyJwk, thumbprintOf } from './public-key.ts'
import { agentStatusOf, type ShownAgent } from './registry.ts'
import { AGENT_STATUSES } from './rows.ts'
import { SESSION_STATUSES } from './session-rows.ts'
import type { ShownSession } from './sessions.ts'

export const agentStatusView = z.enum(AGENT_STATUSES).meta({ id: 'AgentStatus' })
export const sessionStatusView = z.enum(SESSION_STATUSES).meta({ id: 'AgentSessionStatus' })

const suspensionView = z
  .object({
    cause: z.enum(['manual', 'lock']).meta({ id: 'SuspensionCause' }),
    lock_id: z.string().nullable().describe('Set with the cause `lock`: clear this lock to lift the suspension.'),
    reason: z.string().nullable(),
    suspended_by: actorView,
    suspended_at: time,
  })
  .meta({ id: 'AgentSuspension' })

export const agentView = z
  .object({
    agent_id: z.string(),
    name: z.string(),
    owner: z.string(),
    status: agentStatusView,
    suspensions: z
      .array(suspensionView)
      .describe('Current causes. The agent is active when the list is empty, unless it is retired.'),
    retired_at: time.nullable().describe('When the agent was retired, which is permanent.'),
    retired_by: actorView.nullable(),
    retired_reason: z.string().nullable(),
    public_key: asWritten(publicKeyJwk).nullable(),
    public_key_thumbprint: z.string().nullable().describe('SHA-256 thumbprint of RFC 7638.'),
    metadata: jsonObject,
    version: rowVersion,
    created_by: actorView,
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Agent' })

export const agentSessionView = z
  .object({
    agent_session_id: z.string(),
    agent_id: z.string(),
    status: sessionStatusView,
    metadata: jsonObject,
    created_by: actorView,
    created_at: time,
    ended_by: actorView.nullable(),
    ended_at: time.nullable(),
  })
  .meta({ id: 'AgentSession' })

export function toAgentView(agent: ShownAgent): z.input<typeof agentView> {
  const { actors, suspensions } = agent
  const retirement = suspensions.find(({ cause }) => cause === 'retired')
  return {
    agent_id: agent.id,
    name: agent.name,
    owner: agent.owner,
    status: agentStatusOf(agent),
    suspensions: suspensions.flatMap(({ cause, lockId, reason, by, at }) =>
      cause === 'retired'
        ? []
        : [{ cause, lock_id: lockId, reason, suspended_by: actors(by ?? 'service'), suspended_at: at.toISOString() }],
    ),
    retired_at: retirement?.at.toISOString() ?? null,
    retired_by: actors(retirement?.by ?? null),
    retired_reason: retirement?.reason ?? null,
    public_key: agent.publicKey,
    public_key_thumbprint: agent.publicKey === null ? null : thumbprintOf(agent.publicKey),
    metadata: agent.metadata,
    version: agent.version,
    created_by: actors(agent.createdBy),
    created_at: agent.createdAt.toISOString(),
    updated_at: agent.updatedAt.toISOString(),
  }
}

export function toAgentSessionView(session: ShownSession): z.input<typeof agentSessionView> {
  return {
    agent_session_id: session.id,
    agent_id: session.agentId,
    status: session.status,
    metadata: session.metadata,
    created_by: session.actors(session.createdBy),
    created_at: session.createdAt.toISOString(),
    ended_by: session.actors(session.endedBy),
    ended_at: session.endedAt?.toISOString() ?? null,
  }
}
