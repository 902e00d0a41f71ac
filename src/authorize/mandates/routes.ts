import { z } from 'zod'
import { reasonRequest } from '#src/agents/registry/routes.ts'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { createdBetween, listQuery } from '#src/platform/http/page.ts'
import { idParams, several, timestamp } from '#src/platform/http/params.ts'
import { parseIfMatch } from '#src/platform/http/request-headers.ts'
import { replyVersioned } from '#src/platform/http/versions.ts'
import { mandateRequest, narrowingRequest, toMandateRequest, toNarrowing } from './bodies.ts'
import { MAX_SPEND_DAYS, type Mandates, type ShownMandate } from './mandates.ts'
import { dailySpendView, mandateStatusView, mandateView, toDailySpendView, toMandateView } from './views.ts'

const reading = { scope: 'intent', permission: 'mandates.read' } as const
// An agent may give up what it is allowed, and end it.
const narrowing = { scope: 'intent', permission: 'mandates.write' } as const
// And must not write its own budget.
const granting = { scope: 'escalate', permission: 'mandates.write' } as const

const answer = (mandate: ShownMandate) => replyVersioned(toMandateView(mandate))

export function mandateRoutes(mandates: Mandates): Route[] {
  return [...readRoutes(mandates), ...changeRoutes(mandates)]
}

function readRoutes(mandates: Mandates): Route[] {
  return [
    listEndpoint(
      {
        ...reading,
        path: '/v1/mandates',
        operationId: 'listMandates',
        sdk: 'mandates.list',
        summary: 'Mandates, newest first',
        query: {
          ...listQuery,
          status: several(mandateStatusView).optional(),
          agent_id: z.string().max(64).optional().describe('The only agent that may act under it.'),
          parent_id: z.string().max(64).optional().describe('Its children, without theirs.'),
        },
        item: mandateView,
      },
      ({ caller, query }) => {
        const { status, agent_id: agentId, parent_id: parentId, limit, cursor, include } = query
        return mandates.list(caller, { status, agentId, parentId, ...createdBetween(query), limit, cursor, include })
      },
      toMandateView,
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: '/v1/mandates/:id',
        operationId: 'getMandate',
        sdk: 'mandates.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'One mandate, with what is left of its budget',
        params: idParams('mnd'),
        view: mandateView,
        status: [200],
      },
      async ({ caller, params }) => answer(await mandates.get(caller, params.id)),
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: '/v1/mandates/:id/spend',
        operationId: 'getMandateSpend',
        sdk: 'mandates.spend.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'What was spent under a mandate, by day',
        params: idParams('mnd'),
        query: z.object({
          from: timestamp
            .optional()
            .describe(`At or after; 30 days before \`to\` when absent, at most ${MAX_SPEND_DAYS}.`),
          to: timestamp.optional().describe('Before; now when absent.'),
        }),
        view: dailySpendView,
        status: [200],
      },
      async ({ caller, params, query: { from, to } }) => {
        const period = {
          ...(from !== undefined && { from: new Date(from) }),
          ...(to !== undefined && { to: new Date(to) }),
        }
        return toDailySpendView(await mandates.spendByDay(caller, params.id, period))
      },
    ),
  ]
}

function changeRoutes(mandates: Mandates): Route[] {
  return [
    endpoint(
      {
        ...granting,
        method: 'POST',
        path: '/v1/mandates',
        operationId: 'createMandate',
        sdk: 'mandates.create',
        effect: 'write',
        kind: 'call',
        summary: 'Grant a mandate',
        body: mandateRequest,
        view: mandateView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey }) =>
        answer(await mandates.create(caller, toMandateRequest(body), idempotencyKey)),
      async ({ caller }, id) => answer(await mandates.get(caller, id)),
    ),
    endpoint(
      {
        ...narrowing,
        method: 'PATCH',
        path: '/v1/mandates/:id',
        operationId: 'narrowMandate',
        sdk: 'mandates.update',
        effect: 'write',
        kind: 'call',
        summary: 'Make a mandate allow less',
        params: idParams('mnd'),
        body: narrowingRequest,
        view: mandateView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey, header }) => {
        const change = { narrowing: toNarrowing(body), expected: parseIfMatch(header('If-Match')) }
        return answer(await mandates.narrow(caller, params.id, change, idempotencyKey))
      },
      async ({ caller }, id) => answer(await mandates.get(caller, id)),
    ),
    endpoint(
      {
        ...narrowing,
        method: 'POST',
        path: '/v1/mandates/:id/revoke',
        operationId: 'revokeMandate',
        sdk: 'mandates.revoke',
        effect: 'destructive',
        kind: 'call',
        summary: 'End a mandate and its children, from the next decision on',
        isEmergency: true,
        params: idParams('mnd'),
        body: reasonRequest,
        view: mandateView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) =>
        answer(await mandates.revoke(caller, params.id, body.reason, idempotencyKey)),
      async ({ caller }, id) => answer(await mandates.get(caller, id)),
    ),
    endpoint(
      {
        ...narrowing,
        method: 'POST',
        path: '/v1/mandates/:id/heartbeat',
        operationId: 'checkInMandate',
        sdk: 'mandates.heartbeat',
        effect: 'write',
        kind: 'call',
        summary: 'Check in for a mandate, so that it is not suspended',
        params: idParams('mnd'),
        view: mandateView,
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) => answer(await mandates.heartbeat(caller, params.id, idempotencyKey)),
      async ({ caller }, id) => answer(await mandates.get(caller, id)),
    ),
  ]
}
