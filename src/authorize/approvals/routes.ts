import { z } from 'zod'
import { checkSessionName } from '#src/agents/registry/session-rows.ts'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { createdBetween, listQuery } from '#src/platform/http/page.ts'
import { idParams, several, visibleText } from '#src/platform/http/params.ts'
import { waitQuery } from '#src/platform/http/prefer.ts'
import { passkeyAssertion } from '../passkeys/bodies.ts'
import { challengeView } from '../passkeys/views.ts'
import type { Approvals } from './approvals.ts'
import { approvalStatusView, approvalSummaryView, approvalView, toApprovalView, toSummaryView } from './views.ts'

const MAX_COMMENT = 1_000
const comment = visibleText(MAX_COMMENT)
const approver = z
  .strictObject({ email: z.string().min(3).max(254).describe('Of a member who may decide.') })
  .meta({ id: 'NamedApprover' })
  .optional()
  .describe('For whom an API key decides. Required with a key, and not for sessions.')

const approveBody = z
  .strictObject({
    comment: comment.optional(),
    passkey_assertion: passkeyAssertion
      .optional()
      .describe('Over a challenge of POST /v1/approvals/{id}/challenge. Required where `require_passkey` is true.'),
    approver,
  })
  .optional()
const denyBody = z.strictObject({ reason: comment.describe('For people.'), approver })

const reading = { scope: 'intent', permission: 'approvals.read', method: 'GET' } as const
const deciding = { scope: 'escalate', permission: 'approvals.decide', needsAccountKey: true } as const

export function approvalRoutes(approvals: Approvals, baseUrl: string): Route[] {
  return [
    listEndpoint(
      {
        ...reading,
        path: '/v1/approvals',
        operationId: 'listApprovals',
        sdk: 'approvals.list',
        summary: 'Approvals, newest first',
        query: {
          ...listQuery,
          status: several(approvalStatusView).optional(),
          awaiting: z
            .literal('me')
            .optional()
            .describe('Pending ones that the signed-in person may decide and has not decided.'),
          jti: z.string().max(64).optional(),
          agent_session_id: z.string().max(200).optional(),
        },
        item: approvalSummaryView,
      },
      ({ caller, query }) => {
        const { limit, cursor, include, status: statuses, awaiting, jti, agent_session_id: agentSessionId } = query
        if (agentSessionId !== undefined) checkSessionName(agentSessionId, caller.environment)
        const filter = { statuses, awaiting, jti, agentSessionId, ...createdBetween(query) }
        return approvals.list(caller, { limit, cursor, include, ...filter })
      },
      (one) => toSummaryView(one, baseUrl),
    ),
    endpoint(
      {
        ...reading,
        path: '/v1/approvals/:id',
        operationId: 'getApproval',
        sdk: 'approvals.retrieve',
        effect: 'read',
        kind: 'wait',
        summary: 'One approval with its whole action; with `wait`, when it has ended',
        params: idParams('apr'),
        query: z.object({ wait: waitQuery.default(0).describe('Seconds to wait while it is pending.') }),
        view: approvalView,
        status: [200],
      },
      async ({ caller, params, query, signal }) =>
        toApprovalView(await approvals.awaitEnd(caller, params.id, query.wait, signal), baseUrl),
    ),
    endpoint(
      {
        ...deciding,
        method: 'POST',
        path: '/v1/approvals/:id/challenge',
        operationId: 'createApprovalChallenge',
        sdk: 'approvals.challenges.create',
        effect: 'write',
        kind: 'call',
        summary: 'A challenge for the passkey of a person who approves',
        params: idParams('apr'),
        view: challengeView,
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) => approvals.challenge(caller, params.id, idempotencyKey),
      async ({ caller }, id) => approvals.challengeAgain(caller, id),
    ),
    endpoint(
      {
        ...deciding,
        method: 'POST',
        path: '/v1/approvals/:id/approve',
        operationId: 'approveAction',
        sdk: 'approvals.approve',
        effect: 'write',
        kind: 'call',
        summary: 'Approve the action of an agent, once for each person',
        params: idParams('apr'),
        body: approveBody,
        view: approvalView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) => {
        const given = {
          decision: 'approve' as const,
          comment: body?.comment ?? null,
          assertion: body?.passkey_assertion,
          approverEmail: body?.approver?.email,
        }
        return toApprovalView(await approvals.decide(caller, params.id, given, idempotencyKey), baseUrl)
      },
      async ({ caller }, id) => toApprovalView(await approvals.get(caller, id), baseUrl),
    ),
    endpoint(
      {
        ...deciding,
        method: 'POST',
        path: '/v1/approvals/:id/deny',
        operationId: 'denyAction',
        sdk: 'approvals.deny',
        effect: 'write',
        kind: 'call',
        summary: 'Deny the action of an agent, which ends its approval',
        params: idParams('apr'),
        body: denyBody,
        view: approvalView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) => {
        const given = { decision: 'deny' as const, comment: body.reason, approverEmail: body.approver?.email }
        return toApprovalView(await approvals.decide(caller, params.id, given, idempotencyKey), baseUrl)
      },
      async ({ caller }, id) => toApprovalView(await approvals.get(caller, id), baseUrl),
    ),
  ]
}
