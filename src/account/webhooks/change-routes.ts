import { z } from 'zod'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { idParams } from '#src/platform/http/params.ts'
import { type EndpointChanges, GRACE_SECONDS } from './changes.ts'
import { endpointView, rotateBody, secretView, toSettings, toView, updateBody } from './endpoint-views.ts'
import type { Webhooks } from './endpoints.ts'
import { type EndpointStatistics, STATISTICS_WINDOWS, type Statistics, type StatisticsWindow } from './statistics.ts'

const writing = { scope: 'admin', permission: 'webhooks.write', needsAccountKey: true } as const

const WINDOWS = Object.keys(STATISTICS_WINDOWS) as StatisticsWindow[]

const milliseconds = z.number().int().nullable()
const times = z.object({ p50: milliseconds, p99: milliseconds }).meta({ id: 'DurationQuantiles' })
const statisticsView = z
  .object({
    endpoint_id: z.string(),
    window: z.enum(WINDOWS),
    from: z.string().describe('The begin of a whole hour.'),
    to: z.string(),
    attempts: z.number().int(),
    delivered: z.number().int(),
    failed: z.number().int().describe('Attempts without a 2xx.'),
    success_rate: z.number().nullable().describe('delivered / attempts; null without attempts.'),
    arrival_ms: times,
    response_ms: times,
    pending: z.object({
      count: z.number().int(),
      is_exact: z.boolean().describe('false: there are more than `count`, and there may be older ones.'),
      oldest_created_at: z.string().nullable(),
    }),
  })
  .meta({ id: 'WebhookEndpointStatistics' })

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
        query: z.object({ window: z.enum(WINDOWS).default('24h') }),
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

const toStatisticsView = (
  id: string,
  window: StatisticsWindow,
  { from, to, delivered, failed, arrivalMs, responseMs, pending }: EndpointStatistics,
): z.input<typeof statisticsView> => ({
  endpoint_id: id,
  window,
  from: from.toISOString(),
  to: to.toISOString(),
  attempts: delivered + failed,
  delivered,
  failed,
  success_rate: delivered + failed === 0 ? null : delivered / (delivered + failed),
  arrival_ms: arrivalMs,
  response_ms: responseMs,
  pending: {
    count: pending.count,
    is_exact: pending.isCounted,
    oldest_created_at: pending.oldestAt?.toISOString() ?? null,
  },
})
