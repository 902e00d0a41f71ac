import { z } from 'zod'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { listQuery, orderQuery } from '#src/platform/http/page.ts'
import { idParams, several, timestamp, visibleText } from '#src/platform/http/params.ts'
import type { NewShareRequest } from './beside.ts'
import type { ShareChanges } from './changing.ts'
import { type DisclosureDecisions, GRANT_SECONDS } from './deciding.ts'
import { REVEALABLE } from './mask.ts'
import { shareUrl } from './person.ts'
import type { Shares } from './shares.ts'
import {
  createdShareView,
  disclosureModeView,
  MAX_LAYERS,
  maskRuleBody,
  requestStatusView,
  requestView,
  revealedView,
  scopeKindView,
  shareStatusView,
  shareView,
  toRequestView,
  toShareView,
  toViewLogView,
  viewLogView,
} from './views.ts'

const MAX_MASKED = 1_000
const MAX_NAME = 100
// What is masked, and some 10 values beside it.
const MAX_BODY_VALUES = MAX_MASKED + MAX_LAYERS + 100
const LEAST_GRANT_SECONDS = 300
const MOST_GRANT_SECONDS = 30 * 86_400

const name = visibleText(MAX_NAME).describe('For people of the account.')

const createBody = z
  .strictObject({
    name: name.optional(),
    trace_id: z.string().max(64),
    job_id: z.string().max(64).optional().describe('Shares the graph of this attribution job of the trace.'),
    scope_kind: scopeKindView
      .default('trace')
      .describe('model_version: the neurons are masked in every share of the model version.'),
    masked_node_ids: z.array(z.string().min(1).max(64)).max(MAX_MASKED).default([]),
    mask_rule: maskRuleBody.optional().describe('Masks what any of its members selects, beside `masked_node_ids`.'),
    reveal: z
      .array(revealedView)
      .max(REVEALABLE.length)
      .default([])
      .describe('What is shown of where a masked neuron is.'),
    reveals_prompt: z
      .boolean()
      .default(false)
      .describe(
        'Shows single positions of the text too. Somebody with the file of the model finds the prompt from them.',
      ),
    expires_at: timestamp,
    disclosure_mode: disclosureModeView
      .default('manual')
      .describe('auto: everybody who verifies an address sees what is masked, for a day.'),
  })
  .meta({ id: 'CreateTraceShareRequest' })

const updateBody = z
  .strictObject({
    name: name.nullable().optional().describe('null removes it.'),
    expires_at: timestamp.optional().describe('Of an active share only.'),
  })
  .meta({ id: 'UpdateTraceShareRequest' })

const grantBody = z
  .strictObject({
    expires_in: z.number().int().min(LEAST_GRANT_SECONDS).max(MOST_GRANT_SECONDS).default(GRANT_SECONDS),
  })
  .optional()

const reading = { scope: 'intent', permission: 'traces.read' } as const
const writing = { scope: 'intent', permission: 'shares.write' } as const
const deciding = { scope: 'escalate', permission: 'disclosures.decide' } as const

interface ShareRoutesDeps {
  shares: Shares
  changes: ShareChanges
  deciding: DisclosureDecisions
  now: () => Date
  baseUrl: string
}

export function shareRoutes({ deciding: disclosures, ...own }: ShareRoutesDeps): Route[] {
  return [...ownRoutes(own), ...requestRoutes(disclosures)]
}

function ownRoutes({ shares, changes, now, baseUrl }: Omit<ShareRoutesDeps, 'deciding'>): Route[] {
  return [
    endpoint(
      {
        ...writing,
        method: 'POST',
        path: '/v1/trace/shares',
        operationId: 'createTraceShare',
        sdk: 'trace.shares.create',
        effect: 'write',
        kind: 'call',
        summary: 'Share a trace. The token is in this answer only.',
        // Its disclosures are mailed.
        needsAccountKey: true,
        audits: 'share.created',
        body: createBody,
        maxBodyValues: MAX_BODY_VALUES,
        view: createdShareView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey }) => {
        const { share, token } = await shares.create(caller, requestOf(body), idempotencyKey)
        return { ...toShareView(share, now()), token, url: shareUrl(baseUrl, token) }
      },
      async ({ caller }, id) => ({
        ...toShareView(await shares.get(caller, id), now()),
        secret_shown: false as const,
      }),
    ),
    listEndpoint(
      {
        ...reading,
        path: '/v1/trace/shares',
        operationId: 'listTraceShares',
        sdk: 'trace.shares.list',
        summary: 'Shares, newest first',
        query: {
          ...listQuery,
          status: several(shareStatusView).optional(),
          trace_id: z.string().max(64).optional(),
        },
        item: shareView,
      },
      ({ caller, query }) => shares.list(caller, query),
      (share) => toShareView(share, now()),
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: '/v1/trace/shares/:id',
        operationId: 'getTraceShare',
        sdk: 'trace.shares.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'One share, without its token',
        params: idParams('shr'),
        view: shareView,
        status: [200],
      },
      async ({ caller, params }) => toShareView(await shares.get(caller, params.id), now()),
    ),
    endpoint(
      {
        ...writing,
        method: 'PATCH',
        path: '/v1/trace/shares/:id',
        operationId: 'updateTraceShare',
        sdk: 'trace.shares.update',
        effect: 'write',
        kind: 'call',
        summary: 'Rename a share, or change its end',
        needsAccountKey: true,
        audits: 'share.changed',
        params: idParams('shr'),
        body: updateBody,
        view: shareView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) => {
        const { name, expires_at: end } = body
        const change = { name, expiresAt: end === undefined ? undefined : new Date(end) }
        return toShareView(await changes.update(caller, params.id, change, idempotencyKey), now())
      },
      async ({ caller, params }) => toShareView(await shares.get(caller, params.id), now()),
    ),
    endpoint(
      {
        ...writing,
        method: 'POST',
        path: '/v1/trace/shares/:id/revoke',
        operationId: 'revokeTraceShare',
        sdk: 'trace.shares.revoke',
        effect: 'destructive',
        kind: 'call',
        summary: 'End a share and every grant of it, from the next view on',
        isEmergency: true,
        audits: 'share.revoked',
        params: idParams('shr'),
        view: shareView,
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) =>
        toShareView(await shares.revoke(caller, params.id, idempotencyKey), now()),
      async ({ caller, params }) => toShareView(await shares.get(caller, params.id), now()),
    ),
    listEndpoint(
      {
        ...reading,
        path: '/v1/trace/shares/:id/views',
        operationId: 'listShareViews',
        sdk: 'trace.shares.listViews',
        summary: 'When a share was looked at, newest first',
        params: idParams('shr'),
        query: { ...listQuery, request_id: z.string().max(64).optional() },
        item: viewLogView,
      },
      ({ caller, params, query }) => shares.views(caller, params.id, query),
      toViewLogView,
    ),
  ]
}

function requestRoutes(disclosures: DisclosureDecisions): Route[] {
  const method = 'POST' as const
  const common = { ...deciding, method, params: idParams('dsr'), view: requestView, status: [200] }
  const show = async ({
    caller,
    params,
  }: {
    caller: Parameters<DisclosureDecisions['get']>[0]
    params: { id: string }
  }) => toRequestView(await disclosures.get(caller, params.id))
  return [
    listEndpoint(
      {
        ...deciding,
        permission: 'disclosures.read',
        path: '/v1/trace/disclosure-requests',
        operationId: 'listDisclosureRequests',
        sdk: 'trace.disclosures.list',
        summary: 'Requests to see what shares mask',
        query: {
          ...listQuery,
          ...orderQuery,
          status: several(requestStatusView).optional(),
          share_id: z.string().max(64).optional(),
        },
        item: requestView,
      },
      ({ caller, query }) => disclosures.list(caller, query),
      toRequestView,
    ),
    endpoint(
      {
        ...deciding,
        permission: 'disclosures.read',
        method: 'GET',
        path: '/v1/trace/disclosure-requests/:id',
        operationId: 'getDisclosureRequest',
        sdk: 'trace.disclosures.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'One request to see what a share masks',
        params: idParams('dsr'),
        view: requestView,
        status: [200],
      },
      show,
    ),
    endpoint(
      {
        ...common,
        path: '/v1/trace/disclosure-requests/:id/grant',
        operationId: 'grantDisclosure',
        sdk: 'trace.disclosures.grant',
        effect: 'write',
        kind: 'call',
        summary: 'Let the person see what the share masks, for a time',
        audits: 'disclosure.granted',
        body: grantBody,
      },
      async ({ caller, params, body, idempotencyKey }) =>
        toRequestView(await disclosures.grant(caller, params.id, body?.expires_in ?? GRANT_SECONDS, idempotencyKey)),
      show,
    ),
    endpoint(
      {
        ...common,
        path: '/v1/trace/disclosure-requests/:id/deny',
        operationId: 'denyDisclosure',
        sdk: 'trace.disclosures.deny',
        effect: 'write',
        kind: 'call',
        summary: 'Deny a request that is pending',
        audits: 'disclosure.denied',
      },
      async ({ caller, params, idempotencyKey }) =>
        toRequestView(await disclosures.deny(caller, params.id, idempotencyKey)),
      show,
    ),
    endpoint(
      {
        ...common,
        path: '/v1/trace/disclosure-requests/:id/revoke',
        operationId: 'revokeDisclosure',
        sdk: 'trace.disclosures.revoke',
        effect: 'destructive',
        kind: 'call',
        summary: 'End a grant, from the next view on',
        isEmergency: true,
        audits: 'disclosure.revoked',
      },
      async ({ caller, params, idempotencyKey }) =>
        toRequestView(await disclosures.revoke(caller, params.id, idempotencyKey)),
      show,
    ),
  ]
}

function requestOf(body: z.output<typeof createBody>): NewShareRequest {
  return {
    name: body.name,
    traceId: body.trace_id,
    jobId: body.job_id,
    scopeKind: body.scope_kind,
    maskedNodeIds: body.masked_node_ids,
    maskRule: body.mask_rule,
    reveals: [...new Set(body.reveal)],
    revealsPrompt: body.reveals_prompt,
    disclosureMode: body.disclosure_mode,
    expiresAt: new Date(body.expires_at),
  }
}
