import { z } from 'zod'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { listOf, listQuery } from '#src/platform/http/page.ts'
import { idParams } from '#src/platform/http/params.ts'
import { createBody, endpointView, secretView, toSettings, toView } from './endpoint-views.ts'
import type { Counted, Webhooks } from './endpoints.ts'

const common = { scope: 'admin', permission: 'webhooks.write', needsAccountKey: true } as const

export function webhookRoutes(webhooks: Webhooks): Route[] {
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
    endpoint(
      {
        ...common,
        method: 'GET',
        permission: 'webhooks.read',
        path: '/v1/webhook-endpoints',
        operationId: 'listWebhookEndpoints',
        sdk: 'webhooks.list',
        effect: 'read',
        kind: 'list',
        summary: 'List the endpoints, newest first.',
        query: z.object(listQuery),
        view: listOf(endpointView),
        status: [200],
      },
      async ({ caller, query }) => viewPage(await webhooks.list(caller, toRequest(query)), toView),
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
      async ({ caller, params }) => toView(await webhooks.get(caller, params.id)),
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
        view: z.object({ endpoint_id: z.string(), deleted: z.literal(true) }).meta({ id: 'DeletedWebhookEndpoint' }),
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) => {
        await webhooks.remove(caller, params.id, idempotencyKey)
        return { endpoint_id: params.id, deleted: true as const }
      },
      async (_, id) => ({ endpoint_id: id, deleted: true as const }),
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
          .object({ endpoint_id: z.string(), event_id: z.string(), delivery_id: z.string() })
          .meta({ id: 'SentPing' }),
        status: [202],
      },
      async ({ caller, params, idempotencyKey }) => {
        const { eventId, deliveryId } = await webhooks.test(caller, params.id, idempotencyKey)
        return { endpoint_id: params.id, event_id: eventId, delivery_id: deliveryId }
      },
      async ({ params }, subject) => {
        const [eventId = '', deliveryId = ''] = subject.split(' ')
        return { endpoint_id: params.id, event_id: eventId, delivery_id: deliveryId }
      },
    ),
  ]
}

type ListQuery = z.output<z.ZodObject<typeof listQuery>>

function toRequest({ limit, cursor, include, created_gte, created_lt }: ListQuery) {
  return { limit, cursor, include, createdGte: timeOf(created_gte), createdLt: timeOf(created_lt) }
}

// Postgres accepts fewer years and offsets than ISO 8601; accept only times that Postgres accepts.
function timeOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}

function viewPage<Row, View>(page: Counted<Row>, view: (row: Row) => View) {
  return { ...page, data: page.data.map(view) }
}
