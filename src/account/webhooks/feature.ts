import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { keptByPlan, type Plans } from '#src/platform/kept-by-plan.ts'
import { createPolledWaits } from '#src/platform/polled-waits.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import { changeRoutes } from './change-routes.ts'
import { createEndpointChanges } from './changes.ts'
import type { WebhookSettings } from './config.ts'
import { createDeliver } from './deliver.ts'
import { createDeliveries } from './deliveries.ts'
import { DELIVERY_NOTES } from './delivery-notes.ts'
import { deliveryRoutes } from './delivery-routes.ts'
import { purgeDeliveries } from './delivery-rows.ts'
import { createWebhooks } from './endpoints.ts'
import { countAttempts, reportDisabled, reportParked } from './metrics.ts'
import { EVENTS, NOTES } from './notes.ts'
import { EVENT_SEQUENCE, purgeEvents } from './positions.ts'
import { createRecoveries } from './recoveries.ts'
import { findEndedRecoveries } from './recovery-rows.ts'
import { webhookRoutes } from './routes.ts'
import { purgeDeletedEndpoints } from './rows.ts'
import { SEALED_SECRETS } from './secret.ts'
import { createStatistics, purgeStatistics, STATISTICS_DAYS } from './statistics.ts'

export type WebhooksFeature = ReturnType<typeof webhooksFeature>

const EVENT_DAYS = 30
const DELETED_DAYS = 30

/** Webhook endpoints, their events and deliveries. */
export function webhooksFeature(p: Platform, settings: WebhookSettings, accounts: Plans) {
  const webhooks = createWebhooks(p)
  const statistics = createStatistics(p)
  const waits = createPolledWaits({ db: p.db, reason: 'awaited recoveries', find: findEndedRecoveries })
  p.onClose(waits.close, 'waits for recoveries')
  return defineFeature(
    {
      name: 'webhooks',
      data: [
        { table: 'webhook_endpoints', key: ['id'], secrets: ['sealed_secret', 'sealed_previous_secret'] },
        { table: 'events', key: ['id'] },
        { table: 'event_heads', key: [], unexported: 'internal: events show their positions' },
        { table: 'deliveries', key: ['id'] },
        { table: 'delivery_attempts', key: ['delivery_id', 'attempt'] },
        { table: 'webhook_recoveries', key: ['id'] },
        { table: 'job_lanes', key: ['queue', 'lane'], unexported: 'internal: how fast queued jobs are dispatched' },
        { table: 'endpoint_statistics', key: ['endpoint_id', 'hour', 'shard', 'kind', 'bucket'] },
      ],
      routes: [
        ...webhookRoutes(webhooks, statistics),
        ...changeRoutes(webhooks, createEndpointChanges(p), statistics),
        ...deliveryRoutes(createDeliveries(p), createRecoveries({ ...p, waits })),
      ],
      notes: { ...NOTES, ...DELIVERY_NOTES },
      events: EVENTS,
      work: {
        deliver: () =>
          createDeliver({
            ...p,
            outbound: countAttempts(p.outbound, p.registry),
            timeDivisor: settings.WEBHOOK_TIME_DIVISOR,
            onDisabled: reportDisabled(p.registry, p.log),
            onParked: reportParked(p.registry, p.log),
          }),
      },
      sealed: [...SEALED_SECRETS],
      sequences: [EVENT_SEQUENCE],
      retention: [
        keptByPlan(p, accounts, 'deliveries', purgeDeliveries),
        keptByPlan(
          p,
          accounts,
          'webhook_recoveries',
          oldRows({ table: 'webhook_recoveries', idType: 'rcv', age: 'finished_at' }),
        ),
        rowRule(p.db, 'deleted_webhook_endpoints', DELETED_DAYS, purgeDeletedEndpoints),
        rowRule(p.db, 'events', EVENT_DAYS, purgeEvents),
        rowRule(p.db, 'endpoint_statistics', STATISTICS_DAYS, purgeStatistics),
      ],
    },
    { webhooks },
  )
}
