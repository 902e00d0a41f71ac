// An endpoint as the API takes and shows it.

import { z } from 'zod'
import { EVENT_TYPES } from '#src/catalogue/events.ts'
import { rowVersion } from '#src/platform/http/versions.ts'
import { extended, timestampView } from '#src/platform/http/views.ts'
import { GRACE_SECONDS, MAX_GRACE_SECONDS } from './changes.ts'
import { DISABLED_REASONS, type EndpointRow } from './rows.ts'
import type { GivenSettings } from './settings.ts'
import { MAX_CONCURRENCY, MAX_PER_SECOND } from './settings.ts'
import { type EndpointStatistics, STATISTICS_WINDOWS, type StatisticsWindow } from './statistics.ts'

const MAX_METADATA = 50

// The domain checks it, with a better message.
export const eventType = z.string().meta({ id: 'EventType', enum: Object.keys(EVENT_TYPES) })
const subscription = z.string().meta({ id: 'EventSubscription', enum: [...Object.keys(EVENT_TYPES), '*'] })
export const endpointStatus = z.enum(['enabled', 'disabled']).meta({ id: 'WebhookEndpointStatus' })

const settings = {
  url: z.string(),
  event_types: z.array(subscription).min(1).max(64),
  description: z.string().trim().max(500).describe('Description for people.'),
  metadata: z
    .record(
      // Not `__proto__`, which would be dropped.
      z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}$/, 'must be 1 to 40 letters, digits, "_", "." and "-"'),
      z.string().max(500),
    )
    .refine((given) => Object.keys(given).length <= MAX_METADATA, {
      message: `must not have more than ${MAX_METADATA} members`,
      params: { code: 'too_long' },
    })
    .describe('Your own names and values. The object replaces the stored one.'),
  max_per_second: z
    .number()
    .int()
    .min(1)
    .max(MAX_PER_SECOND)
    .nullable()
    .describe('Most deliveries per second; null: no limit of the endpoint.'),
  max_concurrency: z.number().int().min(1).max(MAX_CONCURRENCY).describe('Most concurrent deliveries.'),
}
const { description, metadata, max_per_second, max_concurrency } = settings
const optional = {
  description: description.optional(),
  metadata: metadata.optional(),
  max_per_second: max_per_second.optional(),
  max_concurrency: max_concurrency.optional(),
}

export const createBody = z
  .strictObject({ url: settings.url, event_types: settings.event_types, ...optional })
  .meta({ id: 'CreateWebhookEndpointRequest' })
export const updateBody = z
  .strictObject({
    url: settings.url.optional(),
    event_types: settings.event_types.optional(),
    ...optional,
    status: endpointStatus.optional().describe('`enabled` enables a disabled endpoint again.'),
  })
  .refine((request) => Object.values(request).some((value) => value !== undefined), 'must change something')
  .meta({ id: 'UpdateWebhookEndpointRequest' })

/** For every secret that signs what we send. */
export const rotateBody = z
  .strictObject({
    grace_seconds: z
      .number()
      .int()
      .min(0)
      .max(MAX_GRACE_SECONDS)
      .default(GRACE_SECONDS)
      .describe('Seconds during which the previous secret signs as well.'),
  })
  .meta({ id: 'UpdateSecretRequest' })
  .optional()

const circuitView = z
  .object({
    status: z.enum(['closed', 'open', 'half_open']).meta({ id: 'WebhookCircuitStatus' }),
    opened_at: timestampView.nullable(),
    probe_at: timestampView.nullable().describe('When the next delivery is tried.'),
  })
  .meta({
    id: 'WebhookCircuit',
    description:
      'open: after consecutive failures, deliveries are parked and use no attempts. half_open: one delivery is tried.',
  })

export const WINDOWS = Object.keys(STATISTICS_WINDOWS) as StatisticsWindow[]
export const windowView = z.enum(WINDOWS).meta({ id: 'StatisticsWindow' })

const milliseconds = z.number().int().nullable()
const quantiles = z.object({ p50: milliseconds, p99: milliseconds }).meta({ id: 'DurationQuantiles' })
const pendingView = z
  .object({
    count: z.number().int(),
    is_exact: z.boolean().describe('false: there are more deliveries than `count`, and there may be older ones.'),
    oldest_created_at: timestampView.nullable(),
  })
  .meta({ id: 'PendingDeliveries' })

export const statisticsView = z
  .object({
    webhook_endpoint_id: z.string(),
    window: windowView,
    from: timestampView.describe('Start of a whole hour.'),
    to: timestampView,
    attempts: z.number().int(),
    delivered: z.number().int(),
    failed: z.number().int().describe('Number of attempts without a 2xx.'),
    success_rate: z.number().nullable().describe('`delivered` divided by attempts; null without attempts.'),
    arrival_ms: quantiles,
    response_ms: quantiles,
    pending: pendingView,
  })
  .meta({ id: 'WebhookEndpointStatistics' })

export const endpointView = z
  .object({
    webhook_endpoint_id: z.string(),
    url: z.string(),
    event_types: z.array(subscription),
    description: z.string(),
    metadata: z.record(z.string(), z.string()).meta({ verbatim: true }),
    max_per_second: z.number().int().nullable(),
    max_concurrency: z.number().int(),
    status: endpointStatus,
    disabled_reason: z
      .enum(DISABLED_REASONS)
      .meta({ id: 'WebhookDisabledReason' })
      .nullable()
      .describe(
        'gone: the endpoint answered 410. failing: it failed for five days. manual: a person or a key disabled it.',
      ),
    disabled_at: timestampView.nullable(),
    circuit: circuitView,
    last_success_at: timestampView.nullable().describe('Time exact to a minute.'),
    created_at: timestampView,
    secret_rotated_at: timestampView.nullable(),
    previous_secret_expires_at: timestampView
      .nullable()
      .describe('When the previous secret stops signing; null when there is none.'),
    version: rowVersion,
    statistics: statisticsView.optional().describe('Delivery statistics, in the list with `window`.'),
  })
  .meta({ id: 'WebhookEndpoint' })

/** For an answer that makes a secret. */
export const secretView = extended(
  endpointView,
  {
    signing_secret: z.string().optional().describe('Shown now and never again.'),
    secret_shown: z.literal(false).optional().describe('A replay, without the secret.'),
  },
  { id: 'CreatedWebhookEndpoint' },
)

export const toView = (row: EndpointRow): z.input<typeof endpointView> => ({
  webhook_endpoint_id: row.id,
  url: row.url,
  event_types: row.eventTypes,
  description: row.description,
  metadata: row.metadata,
  max_per_second: row.maxPerSecond,
  max_concurrency: row.maxConcurrency,
  status: row.status,
  disabled_reason: row.disabledReason,
  disabled_at: row.disabledAt?.toISOString() ?? null,
  circuit: circuitOf(row),
  last_success_at: row.lastSuccessAt?.toISOString() ?? null,
  created_at: row.createdAt.toISOString(),
  secret_rotated_at: row.secretRotatedAt?.toISOString() ?? null,
  previous_secret_expires_at: row.previousSecretExpiresAt?.toISOString() ?? null,
  version: row.version,
})

export const toStatisticsView = (
  id: string,
  window: StatisticsWindow,
  { from, to, delivered, failed, arrivalMs, responseMs, pending }: EndpointStatistics,
): z.input<typeof statisticsView> => ({
  webhook_endpoint_id: id,
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

function circuitOf({ circuitOpenedAt, circuitUntil }: EndpointRow) {
  if (circuitOpenedAt === null) return { status: 'closed' as const, opened_at: null, probe_at: null }
  const isDue = circuitUntil === null || circuitUntil.getTime() <= Date.now()
  return {
    status: isDue ? ('half_open' as const) : ('open' as const),
    opened_at: circuitOpenedAt.toISOString(),
    probe_at: circuitUntil?.toISOString() ?? null,
  }
}

/** Members that the request leaves out are absent. */
export function toSettings(body: Omit<z.output<typeof updateBody>, 'status'>): GivenSettings {
  return {
    ...(body.url !== undefined && { url: body.url }),
    ...(body.event_types !== undefined && { eventTypes: body.event_types }),
    ...(body.description !== undefined && { description: body.description }),
    ...(body.metadata !== undefined && { metadata: body.metadata }),
    ...(body.max_per_second !== undefined && { maxPerSecond: body.max_per_second }),
    ...(body.max_concurrency !== undefined && { maxConcurrency: body.max_concurrency }),
  }
}
