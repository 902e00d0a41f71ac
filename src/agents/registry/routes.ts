import { z } from 'zod'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { createdBetween, listQuery } from '#src/platform/http/page.ts'
import { idParam, idParams, jsonObject, refusePrototypeName, several, visibleText } from '#src/platform/http/params.ts'
import { parseIfMatch } from '#src/platform/http/request-headers.ts'
import { replyVersioned } from '#src/platform/http/versions.ts'
import { publicKeyJwk } from './public-key.ts'
import type { Registry, ShownAgent } from './registry.ts'
import type { AgentSessions } from './sessions.ts'
import {
  agentSessionView,
  agentStatusView,
  agentView,
  sessionStatusView,
  toAgentSessionView,
  toAgentView,
} from './views.ts'

// An agent's metadata are read by each decision about it.
const MAX_METADATA_CHARACTERS = 4_096
const MAX_NAME_CHARACTERS = 100
const metadata = jsonObject
  .superRefine(refusePrototypeName)
  .superRefine((value, issues) => {
    for (const member of Object.keys(value)) {
      if (member.length >= 1 && member.length <= MAX_NAME_CHARACTERS) continue
      const message = `must have a name of 1 to ${MAX_NAME_CHARACTERS} characters`
      const code = member === '' ? 'too_short' : 'too_long'
      issues.addIssue({ code: 'custom', path: [member], message, params: { code } })
    }
  })
  .refine((value) => JSON.stringify(value).length <= MAX_METADATA_CHARACTERS, {
    message: `must not have more than ${MAX_METADATA_CHARACTERS} characters as JSON`,
    params: { code: 'too_long' },
  })
  .meta({ propertyNames: { type: 'string', minLength: 1, maxLength: MAX_NAME_CHARACTERS } })
const name = visibleText(200)
const owner = visibleText(254).describe('Who answers for the agent: an e-mail address, a team, an id.')
const publicKey = publicKeyJwk.nullable().describe('P-256 or Ed25519, as JWK.')

const createRequest = z.strictObject({
  name,
  owner,
  public_key: publicKey.optional(),
  metadata: metadata.optional(),
})
const updateRequest = z
  .strictObject({
    name: name.optional(),
    owner: owner.optional(),
    public_key: publicKey.optional(),
    metadata: metadata.optional().describe('Replaces all of it.'),
  })
  .refine((request) => Object.values(request).some((value) => value !== undefined), 'must change something')
const openRequest = z.strictObject({ metadata: metadata.optional() }).optional()
/** For requests that stop something and say why. */
export const reasonRequest = z.strictObject({ reason: visibleText(500) })

const reading = { scope: 'intent', permission: 'agents.read' } as const
const writing = { scope: 'intent', permission: 'agents.write' } as const
// An agent that holds a key with `intent` must not change who answers for it, nor lift its own suspension.
const governing = { scope: 'escalate', permission: 'agents.write' } as const

const sessionParams = z.object({ id: idParam('agt'), session: idParam('ses') })

const answer = (agent: ShownAgent) => replyVersioned(toAgentView(agent))
const sessionQuery = { ...listQuery, status: sessionStatusView.optional() }

export function agentRoutes(registry: Registry, sessions: AgentSessions): Route[] {
  return [...registryRoutes(registry), ...sessionRoutes(sessions)]
}

function registryRoutes(registry: Registry): Route[] {
  return [
    endpoint(
      {
        ...writing,
        method: 'POST',
        path: '/v1/agents',
        operationId: 'createAgent',
        sdk: 'agents.create',
        effect: 'write',
        kind: 'call',
        summary: 'Register an agent',
        body: createRequest,
        view: agentView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey }) => {
        const { public_key: key = null, metadata: data = {}, ...named } = body
        return answer(await registry.create(caller, { ...named, publicKey: key, metadata: data }, idempotencyKey))
      },
      async ({ caller }, id) => answer(await registry.get(caller, id)),
    ),
    listEndpoint(
      {
        ...reading,
        path: '/v1/agents',
        operationId: 'listAgents',
        sdk: 'agents.list',
        summary: 'Agents, newest first',
        query: {
          ...listQuery,
          status: several(agentStatusView).optional(),
          owner: z.string().max(254).optional(),
        },
        item: agentView,
      },
      ({ caller, query }) => {
        const filter = { status: query.status, owner: query.owner, ...createdBetween(query) }
        return registry.list(caller, filter, query)
      },
      toAgentView,
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: '/v1/agents/:id',
        operationId: 'getAgent',
        sdk: 'agents.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'One agent, with the causes of its suspension',
        params: idParams('agt'),
        view: agentView,
        status: [200],
      },
      async ({ caller, params }) => answer(await registry.get(caller, params.id)),
    ),
    endpoint(
      {
        ...governing,
        method: 'PATCH',
        path: '/v1/agents/:id',
        operationId: 'updateAgent',
        sdk: 'agents.update',
        effect: 'write',
        kind: 'call',
        summary: 'Change what is registered of an agent',
        params: idParams('agt'),
        body: updateRequest,
        view: agentView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey, header }) => {
        const { public_key: key, ...rest } = body
        const change = { request: { ...rest, publicKey: key }, expected: parseIfMatch(header('If-Match')) }
        return answer(await registry.update(caller, params.id, change, idempotencyKey))
      },
      async ({ caller }, id) => answer(await registry.get(caller, id)),
    ),
    endpoint(
      {
        ...governing,
        permission: 'agents.suspend',
        method: 'POST',
        path: '/v1/agents/:id/suspend',
        operationId: 'suspendAgent',
        sdk: 'agents.suspend',
        effect: 'destructive',
        kind: 'call',
        summary: 'Suspend an agent, from the next decision on',
        isEmergency: true,
        params: idParams('agt'),
        body: reasonRequest,
        view: agentView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) =>
        answer(await registry.suspend(caller, params.id, body.reason, idempotencyKey)),
      async ({ caller }, id) => answer(await registry.get(caller, id)),
    ),
    endpoint(
      {
        ...governing,
        method: 'POST',
        path: '/v1/agents/:id/retire',
        operationId: 'retireAgent',
        sdk: 'agents.retire',
        effect: 'destructive',
        kind: 'call',
        summary: 'End an agent permanently, with its sessions, from the next decision on',
        audits: 'agent.retired',
        params: idParams('agt'),
        body: reasonRequest,
        view: agentView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) =>
        answer(await registry.retire(caller, params.id, body.reason, idempotencyKey)),
      async ({ caller }, id) => answer(await registry.get(caller, id)),
    ),
    endpoint(
      {
        ...governing,
        method: 'POST',
        path: '/v1/agents/:id/unsuspend',
        operationId: 'unsuspendAgent',
        sdk: 'agents.unsuspend',
        effect: 'write',
        kind: 'call',
        summary: 'Resume an agent that was suspended manually',
        params: idParams('agt'),
        view: agentView,
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) => answer(await registry.unsuspend(caller, params.id, idempotencyKey)),
      async ({ caller }, id) => answer(await registry.get(caller, id)),
    ),
  ]
}

function sessionRoutes(sessions: AgentSessions): Route[] {
  return [
    endpoint(
      {
        ...writing,
        method: 'POST',
        path: '/v1/agents/:id/sessions',
        operationId: 'openAgentSession',
        sdk: 'agents.sessions.create',
        effect: 'write',
        kind: 'call',
        summary: 'Open a session of an agent',
        params: idParams('agt'),
        body: openRequest,
        view: agentSessionView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) =>
        toAgentSessionView(await sessions.open(caller, params.id, body?.metadata ?? {}, idempotencyKey)),
      async ({ caller, params }, session) => toAgentSessionView(await sessions.get(caller, params.id, session)),
    ),
    listEndpoint(
      {
        ...reading,
        path: '/v1/agents/:id/sessions',
        operationId: 'listAgentSessions',
        sdk: 'agents.sessions.list',
        summary: 'The sessions of an agent, newest first',
        params: idParams('agt'),
        query: sessionQuery,
        item: agentSessionView,
      },
      ({ caller, params, query }) => {
        const filter = { agentId: params.id, status: query.status, ...createdBetween(query) }
        return sessions.list(caller, filter, query, { mustExist: true })
      },
      toAgentSessionView,
    ),
    listEndpoint(
      {
        ...reading,
        path: '/v1/agents/sessions',
        operationId: 'listAllAgentSessions',
        sdk: 'agents.sessions.listAll',
        summary: 'The sessions of all agents, newest first',
        query: { ...sessionQuery, agent_id: z.string().max(64).optional() },
        item: agentSessionView,
      },
      ({ caller, query }) => {
        const filter = { agentId: query.agent_id, status: query.status, ...createdBetween(query) }
        return sessions.list(caller, filter, query)
      },
      toAgentSessionView,
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: '/v1/agents/:id/sessions/:session',
        operationId: 'getAgentSession',
        sdk: 'agents.sessions.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'One session of an agent',
        params: sessionParams,
        view: agentSessionView,
        status: [200],
      },
      async ({ caller, params }) => toAgentSessionView(await sessions.get(caller, params.id, params.session)),
    ),
    endpoint(
      {
        ...writing,
        method: 'POST',
        path: '/v1/agents/:id/sessions/:session/end',
        operationId: 'endAgentSession',
        sdk: 'agents.sessions.end',
        effect: 'destructive',
        kind: 'call',
        summary: 'End a session of an agent permanently',
        params: sessionParams,
        view: agentSessionView,
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) =>
        toAgentSessionView(await sessions.end(caller, params.id, params.session, idempotencyKey)),
      async ({ caller, params }, session) => toAgentSessionView(await sessions.get(caller, params.id, session)),
    ),
  ]
}
