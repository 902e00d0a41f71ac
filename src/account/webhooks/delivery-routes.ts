import { Readable } from 'node:stream'
import { z } from 'zod'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { createdBetween, listQuery, pageQuery } from '#src/platform/http/page.ts'
import { idParam, idParams, several, timestamp } from '#src/platform/http/params.ts'
import { waitQuery } from '#src/platform/http/prefer.ts'
import type { Deliveries, LoggedDelivery } from './deliveries.ts'
import {
  deliveryStatus,
  deliveryView,
  fullDeliveryView,
  recoveryKind,
  recoveryView,
  toDeliveryView,
  toFullView,
  toLine,
  toRecoveryView,
} from './delivery-views.ts'
import { eventType } from './endpoint-views.ts'
import type { Recoveries } from './recoveries.ts'

const LINES_TYPE = 'application/x-ndjson'
const OF_ENDPOINT = '/v1/webhook-endpoints/:id'

const common = { scope: 'admin', needsAccountKey: true } as const
const reading = { ...common, method: 'GET', permission: 'webhooks.read' } as const
const writing = { ...common, method: 'POST', permission: 'webhooks.write' } as const

const filters = { status: several(deliveryStatus).optional(), event_type: several(eventType).optional() }
const created = { created_gte: listQuery.created_gte, created_lt: listQuery.created_lt }
const anyEndpoint = {
  webhook_endpoint_id: z.string().max(64).optional().describe('Deliveries to this endpoint only.'),
}
const ofDelivery = z.object({ id: idParam('whe'), delivery_id: idParam('whd') })
const ofRecovery = z.object({ id: idParam('whe'), recovery_id: idParam('rcv') })

const recoverBody = z
  .strictObject({
    from: timestamp.describe('What was made at or after this time.'),
    which: recoveryKind
      .default('failed')
      .describe(
        '`failed`: deliveries whose attempts are spent. `missing`: events of the last 30 days that the endpoint never took, also those from before it was registered.',
      ),
  })
  .meta({ id: 'RecoverWebhookEndpointRequest' })

export function deliveryRoutes(deliveries: Deliveries, recoveries: Recoveries): Route[] {
  return [
    listEndpoint(
      {
        ...reading,
        path: `${OF_ENDPOINT}/deliveries`,
        operationId: 'listDeliveries',
        sdk: 'webhooks.deliveries.listForEndpoint',
        params: idParams('whe'),
        summary: 'List the deliveries to an endpoint with every attempt, newest first.',
        query: { ...listQuery, ...filters },
        item: deliveryView,
      },
      ({ caller, params, query }) => deliveries.list(caller, { ...toRequest(query), endpointId: params.id }),
      toDeliveryView,
    ),
    listEndpoint(
      {
        ...reading,
        path: '/v1/webhook-deliveries',
        operationId: 'listAllDeliveries',
        sdk: 'webhooks.deliveries.list',
        summary: 'List the deliveries to all endpoints with every attempt, newest first.',
        query: { ...listQuery, ...filters, ...anyEndpoint },
        item: deliveryView,
      },
      ({ caller, query }) => deliveries.list(caller, { ...toRequest(query), endpointId: query.webhook_endpoint_id }),
      toDeliveryView,
    ),
    endpoint(
      {
        ...reading,
        path: '/v1/webhook-deliveries/export',
        operationId: 'exportDeliveries',
        sdk: 'webhooks.deliveries.export',
        effect: 'read',
        kind: 'lines',
        summary: 'Export deliveries with the headers and answers of their attempts as NDJSON, oldest first.',
        audits: 'webhook_deliveries.exported',
        query: z.object({ ...filters, ...anyEndpoint, ...created }),
        view: z.never(),
        status: [200],
        streams: { contentType: LINES_TYPE },
      },
      async ({ caller, query }) => {
        const pages = await deliveries.export(caller, { ...toFilter(query), endpointId: query.webhook_endpoint_id })
        const stream = Readable.from(linesOf(pages), { objectMode: false })
        return { status: 200, stream, headers: { 'Content-Disposition': 'attachment; filename="deliveries.ndjson"' } }
      },
    ),
    endpoint(
      {
        ...reading,
        path: '/v1/webhook-deliveries/:delivery_id',
        operationId: 'getDelivery',
        sdk: 'webhooks.deliveries.retrieve',
        effect: 'read',
        kind: 'call',
        params: z.object({ delivery_id: idParam('whd') }),
        summary: 'Read one delivery: what was sent and what was answered, in each attempt.',
        view: fullDeliveryView,
        status: [200],
      },
      async ({ caller, params }) => toFullView(await deliveries.get(caller, undefined, params.delivery_id)),
    ),
    endpoint(
      {
        ...reading,
        path: `${OF_ENDPOINT}/deliveries/:delivery_id`,
        operationId: 'getDeliveryToEndpoint',
        sdk: 'webhooks.deliveries.retrieveForEndpoint',
        effect: 'read',
        kind: 'call',
        params: ofDelivery,
        summary: 'Read one delivery: what was sent and what was answered, in each attempt.',
        view: fullDeliveryView,
        status: [200],
      },
      async ({ caller, params }) => toFullView(await deliveries.get(caller, params.id, params.delivery_id)),
    ),
    endpoint(
      {
        ...writing,
        path: `${OF_ENDPOINT}/deliveries/:delivery_id/redeliver`,
        operationId: 'redeliverDelivery',
        sdk: 'webhooks.deliveries.redeliver',
        effect: 'write',
        kind: 'call',
        params: ofDelivery,
        summary: 'Send one delivery again now, whatever became of it.',
        audits: 'webhook_delivery.redelivered',
        view: fullDeliveryView,
        status: [202],
      },
      async ({ caller, params, idempotencyKey }) => {
        await deliveries.redeliver(caller, params.id, params.delivery_id, idempotencyKey)
        return toFullView(await deliveries.get(caller, params.id, params.delivery_id))
      },
      async ({ caller, params }) => toFullView(await deliveries.get(caller, params.id, params.delivery_id)),
    ),
    endpoint(
      {
        ...writing,
        path: `${OF_ENDPOINT}/recover`,
        operationId: 'recoverWebhookEndpoint',
        sdk: 'webhooks.recoveries.create',
        effect: 'write',
        kind: 'call',
        params: idParams('whe'),
        summary: 'Send again, in the background, what the endpoint did not take since a time.',
        audits: 'webhook_endpoint.recovered',
        body: recoverBody,
        view: recoveryView,
        status: [202],
      },
      async ({ caller, params, body, idempotencyKey }) => {
        const request = { since: new Date(body.from), which: body.which }
        return toRecoveryView(await recoveries.begin(caller, params.id, request, idempotencyKey))
      },
      async ({ caller, params, signal }, id) =>
        toRecoveryView(await recoveries.get(caller, params.id, id, { waitSeconds: 0, signal })),
    ),
    listEndpoint(
      {
        ...reading,
        path: `${OF_ENDPOINT}/recoveries`,
        operationId: 'listRecoveries',
        sdk: 'webhooks.recoveries.list',
        params: idParams('whe'),
        summary: 'List the recoveries of an endpoint with their progress, newest first.',
        query: pageQuery,
        item: recoveryView,
      },
      ({ caller, params, query }) => recoveries.list(caller, params.id, query),
      toRecoveryView,
    ),
    endpoint(
      {
        ...reading,
        path: `${OF_ENDPOINT}/recoveries/:recovery_id`,
        operationId: 'getRecovery',
        sdk: 'webhooks.recoveries.retrieve',
        effect: 'read',
        kind: 'wait',
        params: ofRecovery,
        summary: 'Read one recovery with its progress.',
        query: z.object({ wait: waitQuery.default(0).describe('Seconds to wait for its end.') }),
        waits: true,
        view: recoveryView,
        status: [200],
      },
      async ({ caller, params, query, signal }) => {
        const how = { waitSeconds: query.wait, signal }
        return toRecoveryView(await recoveries.get(caller, params.id, params.recovery_id, how))
      },
    ),
  ]
}

type Created = z.output<z.ZodObject<typeof created>>
type Filters = z.output<z.ZodObject<typeof filters>>

function toFilter({ status, event_type, ...times }: Created & Filters) {
  return { status, eventTypes: event_type, ...createdBetween(times) }
}

function toRequest(query: z.output<z.ZodObject<typeof listQuery>> & Filters) {
  return { limit: query.limit, cursor: query.cursor, include: query.include, ...toFilter(query) }
}

// Postgres accepts fewer years and offsets than ISO 8601; accept only times that Postgres accepts.

async function* linesOf(pages: AsyncIterable<LoggedDelivery[]>): AsyncGenerator<string> {
  for await (const page of pages) yield page.map((row) => `${JSON.stringify(toLine(row))}\n`).join('')
}
