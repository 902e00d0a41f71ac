import { z } from 'zod'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { createdBetween, type ListQuery, listQuery } from '#src/platform/http/page.ts'
import { idParams, several } from '#src/platform/http/params.ts'
import { replyVersioned } from '#src/platform/http/versions.ts'
import {
  createBody,
  endpointStatus,
  endpointView,
  secretView,
  toSettings,
  toStatisticsView,
  toView,
  windowView,
} from './endpoint-views.ts'
import type { Webhooks } from './endpoints.ts'
import type { EndpointFilter } from './rows.ts'
import type { Statistics } from './statistics.ts'

const common = { scope: 'admin', permission: 'webhooks.write', needsAccountKey: true } as const

export function webhookRoutes(webhooks: Webhooks, statistics: Statistics): Route[] {
  return [
    endpoint(
      {
        ...common,
        audits: 'webhook_endpoint.created',
        method: 'POST',
        path: '/v1/webhook-endpoints',
        operationId: 'createWebhookEndpoint',
        sdk: 'webhooks.create',
        effect: 'write',
        kind: 'call',
        summary: 'Register an endpoint. Its signing secret is in this answer only.',
        body: createBody,
        view: secretView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey }) => {
        const { endpoint: created, secret } = await webhooks.create(
          caller,
          { ...toSettings(body), url: body.url, eventTypes: body.event_types },
          idempotencyKey,
        )
        return { ...toView(created), signing_secret: secret }
      },
      async ({ caller }, id) => ({ ...toView(await webhooks.get(caller, id)), secret_shown: false as const }),
    ),
    listEndpoint(
      {
        ...common,
        permission: 'webhooks.read',
        path: '/v1/webhook-endpoints',
        operationId: 'listWebhookEndpoints',
        sdk: 'webhooks.list',
        summary: 'List the endpoints, newest first.',
        query: {
          ...listQuery,
          status: several(endpointStatus).optional(),
          window: windowView.optional().describe('With it each endpoint has its `statistics`.'),
        },
        item: endpointView,
      },
      async ({ caller, query: { window, ...query } }) => {
        const { data, ...page } = await webhooks.list(caller, toRequest(query))
        if (window === undefined) return { ...page, data: data.map(toView) }
        const ids = data.map(({ id }) => id)
        const found = await statistics.getAll(caller, ids, window)
        const shown = data.map((row, index) => {
          const own = found[index]
          return { ...toView(row), ...(own !== undefined && { statistics: toStatisticsView(row.id, window, own) }) }
        })
        return { ...page, data: shown }
      },
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        permission: 'webhooks.read',
        path: '/v1/webhook-endpoints/:id',
        operationId: 'getWebhookEndpoint',
        sdk: 'webhooks.retrieve',
        effect: 'read',
        kind: 'call',
        params: idParams('whe'),
        summary: 'Read one endpoint.',
        view: endpointView,
        status: [200],
      },
      async ({ caller, params }) => replyVersioned(toView(await webhooks.get(caller, params.id))),
    ),
    endpoint(
      {
        ...common,
        audits: 'webhook_endpoint.deleted',
        method: 'DELETE',
        path: '/v1/webhook-endpoints/:id',
        operationId: 'deleteWebhookEndpoint',
        sdk: 'webhooks.delete',
        effect: 'destructive',
        kind: 'call',
        params: idParams('whe'),
        summary: 'Delete an endpoint. Its waiting deliveries are cancelled.',
        view: z
          .object({ webhook_endpoint_id: z.string(), deleted: z.literal(true) })
          .meta({ id: 'DeletedWebhookEndpoint' }),
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) => {
        await webhooks.remove(caller, params.id, idempotencyKey)
        return { webhook_endpoint_id: params.id, deleted: true as const }
      },
      async (_, id) => ({ webhook_endpoint_id: id, deleted: true as const }),
    ),
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/webhook-endpoints/:id/test',
        operationId: 'testWebhookEndpoint',
        sdk: 'webhooks.test',
        effect: 'write',
        kind: 'call',
        params: idParams('whe'),
        summary: 'Send a signed ping to this endpoint. Its delivery log shows the result.',
        view: z
          .object({ webhook_endpoint_id: z.string(), event_id: z.string(), delivery_id: z.string() })
          .meta({ id: 'SentPing' }),
        status: [202],
      },
      async ({ caller, params, idempotencyKey }) => {
        const { eventId, deliveryId } = await webhooks.test(caller, params.id, idempotencyKey)
        return { webhook_endpoint_id: params.id, event_id: eventId, delivery_id: deliveryId }
      },
      async ({ params }, subject) => {
        const [eventId = '', deliveryId = ''] = subject.split(' ')
        return { webhook_endpoint_id: params.id, event_id: eventId, delivery_id: deliveryId }
      },
    ),
  ]
}

type EndpointQuery = ListQuery & { status?: EndpointFilter['status'] }

function toRequest({ limit, cursor, include, status, ...times }: EndpointQuery) {
  return { limit, cursor, include, status, ...createdBetween(times) }
}
