import { z } from 'zod'
import { jsonObject } from '#src/platform/http/params.ts'
import { publicKeyView, thumbprintOf } from './public-key.ts'
import { AGENT_STATUSES, type AgentRow } from './rows.ts'
import { type AgentSessionRow, SESSION_STATUSES } from './session-rows.ts'

const time = z.iso.datetime()

export const agentStatusView = z.enum(AGENT_STATUSES).meta({ id: 'AgentStatus' })
export const sessionStatusView = z.enum(SESSION_STATUSES).meta({ id: 'AgentSessionStatus' })

const suspensionView = z
  .object({
    cause: z.enum(['manual', 'lock']).meta({ id: 'SuspensionCause' }),
    lock_id: z.string().nullable().describe('With the cause `lock`: clear this lock to lift it.'),
    reason: z.string().nullable(),
    suspended_by: z.string().nullable().describe('The API key or user; null: the service.'),
    suspended_at: time,
  })
  .meta({ id: 'AgentSuspension' })

export const agentView = z
  .object({
    agent_id: z.string(),
    name: z.string(),
    owner: z.string(),
    status: agentStatusView,
    suspensions: z.array(suspensionView).describe('The causes that hold. The agent is active when there are none.'),
    public_key: publicKeyView.nullable(),
    public_key_thumbprint: z.string().nullable().describe('RFC 7638, SHA-256.'),
    metadata: jsonObject,
    created_by: z.string().describe('The API key or user.'),
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
    created_by: z.string().describe('The API key or user.'),
    created_at: time,
    ended_by: z.string().nullable(),
    ended_at: time.nullable(),
  })
  .meta({ id: 'AgentSession' })

export function toAgentView(agent: AgentRow): z.input<typeof agentView> {
  return {
    agent_id: agent.id,
    name: agent.name,
    owner: agent.owner,
    status: agent.suspensions.length === 0 ? 'active' : 'suspended',
    suspensions: agent.suspensions.map(({ cause, lockId, reason, by, at }) => ({
      cause,
      lock_id: lockId,
      reason,
      suspended_by: by,
      suspended_at: at.toISOString(),
    })),
    public_key: agent.publicKey,
    public_key_thumbprint: agent.publicKey === null ? null : thumbprintOf(agent.publicKey),
    metadata: agent.metadata,
    created_by: agent.createdBy,
    created_at: agent.createdAt.toISOString(),
    updated_at: agent.updatedAt.toISOString(),
  }
}

export function toAgentSessionView(session: AgentSessionRow): z.input<typeof agentSessionView> {
  return {
    agent_session_id: session.id,
    agent_id: session.agentId,
    status: session.status,
    metadata: session.metadata,
    created_by: session.createdBy,
    created_at: session.createdAt.toISOString(),
    ended_by: session.endedBy,
    ended_at: session.endedAt?.toISOString() ?? null,
  }
}
