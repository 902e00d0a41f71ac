import { z } from 'zod'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { idParams } from '#src/platform/http/params.ts'
import { type EndpointChanges, GRACE_SECONDS } from './changes.ts'
import {
  endpointView,
  rotateBody,
  secretView,
  statisticsView,
  toSettings,
  toStatisticsView,
  toView,
  updateBody,
  windowView,
} from './endpoint-views.ts'
import type { Webhooks } from './endpoints.ts'
import type { Statistics } from './statistics.ts'

const writing = { scope: 'admin', permission: 'webhooks.write', needsAccountKey: true } as const

export function changeRoutes(
  webhooks: Pick<Webhooks, 'get'>,
  changes: EndpointChanges,
  statistics: Statistics,
): Route[] {
  return [
    endpoint(
      {
        ...writing,
        method: 'GET',
        permission: 'webhooks.read',
        path: '/v1/webhook-endpoints/:id/stats',
        operationId: 'getWebhookEndpointStatistics',
        sdk: 'webhooks.stats.retrieve',
        effect: 'read',
        kind: 'call',
        params: idParams('whe'),
        summary: 'Delivery statistics of an endpoint',
        query: z.object({ window: windowView.default('24h') }),
        view: statisticsView,
        status: [200],
      },
      async ({ caller, params, query }) => {
        const found = await statistics.get(caller, params.id, query.window)
        return toStatisticsView(params.id, query.window, found)
      },
    ),
    endpoint(
      {
        ...writing,
        method: 'PATCH',
        audits: 'webhook_endpoint.changed',
        path: '/v1/webhook-endpoints/:id',
        operationId: 'updateWebhookEndpoint',
        sdk: 'webhooks.update',
        effect: 'write',
        kind: 'call',
        params: idParams('whe'),
        summary: 'Change an endpoint, or enable or disable it.',
        body: updateBody,
        view: endpointView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) => {
        const { status, ...rest } = body
        const change = { ...toSettings(rest), ...(status !== undefined && { status }) }
        return toView(await changes.update(caller, params.id, change, idempotencyKey))
      },
      async ({ caller }, id) => toView(await webhooks.get(caller, id)),
    ),
    endpoint(
      {
        ...writing,
        method: 'POST',
        audits: 'webhook_endpoint.secret_rotated',
        path: '/v1/webhook-endpoints/:id/rotate-secret',
        operationId: 'rotateWebhookSecret',
        sdk: 'webhooks.rotateSecret',
        effect: 'write',
        kind: 'call',
        params: idParams('whe'),
        summary: 'Make a new signing secret. It is in this answer only.',
        body: rotateBody,
        view: secretView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) => {
        const graceSeconds = body?.grace_seconds ?? GRACE_SECONDS
        const { endpoint: row, secret } = await changes.rotateSecret(
          caller,
          params.id,
          { graceSeconds },
          idempotencyKey,
        )
        return { ...toView(row), signing_secret: secret }
      },
      async ({ caller }, id) => ({ ...toView(await webhooks.get(caller, id)), secret_shown: false as const }),
    ),
  ]
}
