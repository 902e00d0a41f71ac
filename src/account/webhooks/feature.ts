import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import { changeRoutes } from './change-routes.ts'
import { createEndpointChanges } from './changes.ts'
import type { WebhookSettings } from './config.ts'
import { createDeliver } from './deliver.ts'
import { createWebhooks } from './endpoints.ts'
import { countAttempts, reportDisabled } from './metrics.ts'
import { EVENTS, NOTES } from './notes.ts'
import { EVENT_SEQUENCE } from './positions.ts'
import { webhookRoutes } from './routes.ts'
import { purgeDeliveries } from './rows.ts'
import { SEALED_SECRETS } from './secret.ts'

export type WebhooksFeature = ReturnType<typeof webhooksFeature>

// Until plans differ: a quarterly reconciliation looks back three months.
const DELIVERY_DAYS = 90
const EVENT_DAYS = 30

/** Webhook endpoints, their events and deliveries. */
export function webhooksFeature(p: Platform, settings: WebhookSettings) {
  const webhooks = createWebhooks(p)
  return defineFeature(
    {
      name: 'webhooks',
      data: [
        { table: 'webhook_endpoints', key: ['id'], secrets: ['sealed_secret', 'sealed_previous_secret'] },
        { table: 'events', key: ['id'] },
        { table: 'event_heads', key: [], unexported: 'internal: events show their positions' },
        { table: 'deliveries', key: ['id'] },
        { table: 'delivery_attempts', key: ['delivery_id', 'attempt'] },
      ],
      routes: [...webhookRoutes(webhooks), ...changeRoutes(webhooks, createEndpointChanges(p))],
      notes: NOTES,
      events: EVENTS,
      work: {
        deliver: () =>
          createDeliver({
            ...p,
            outbound: countAttempts(p.outbound, p.registry),
            timeDivisor: settings.WEBHOOK_TIME_DIVISOR,
            onDisabled: reportDisabled(p.registry, p.log),
          }),
      },
      sealed: [...SEALED_SECRETS],
      sequences: [EVENT_SEQUENCE],
      retention: [
        rowRule(p.db, 'deliveries', DELIVERY_DAYS, purgeDeliveries),
        rowRule(
          p.db,
          'events',
          EVENT_DAYS,
          oldRows({
            table: 'events',
            idType: 'evt',
            age: 'created_at',
            unless: [`SELECT FROM deliveries WHERE deliveries.event_id = events.id AND deliveries.status = 'pending'`],
          }),
        ),
      ],
    },
    { webhooks },
  )
}
