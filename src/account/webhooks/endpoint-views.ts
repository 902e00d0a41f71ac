// An endpoint as the API takes and shows it.

import { z } from 'zod'
import { EVENT_TYPES } from '#src/catalogue/events.ts'
import { GRACE_SECONDS, MAX_GRACE_SECONDS } from './changes.ts'
import type { EndpointRow } from './rows.ts'
import type { GivenSettings } from './settings.ts'
import { MAX_CONCURRENCY, MAX_PER_SECOND } from './settings.ts'

const MAX_METADATA = 50

// The domain checks it, with a better message.
export const eventType = z.string().meta({ id: 'EventType', enum: Object.keys(EVENT_TYPES) })
const subscription = z.string().meta({ id: 'EventSubscription', enum: [...Object.keys(EVENT_TYPES), '*'] })
const endpointStatus = z.enum(['enabled', 'disabled']).meta({ id: 'WebhookEndpointStatus' })

const settings = {
  url: z.string(),
  event_types: z.array(subscription).min(1).max(64),
  description: z.string().trim().max(500).describe('For people.'),
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
    .describe('Your own names and values. It replaces all of it.'),
  max_per_second: z
    .number()
    .int()
    .min(1)
    .max(MAX_PER_SECOND)
    .nullable()
    .describe('Deliveries a second at most; null for no limit of its own.'),
  max_concurrency: z.number().int().min(1).max(MAX_CONCURRENCY).describe('Deliveries at the same time at most.'),
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
  .meta({ id: 'NewWebhookEndpoint' })
export const updateBody = z
  .strictObject({
    url: settings.url.optional(),
    event_types: settings.event_types.optional(),
    ...optional,
    status: endpointStatus.optional().describe('`enabled` arms a disabled endpoint again.'),
  })
  .refine((request) => Object.values(request).some((value) => value !== undefined), 'must change something')
  .meta({ id: 'WebhookEndpointUpdate' })

/** Of every secret that signs what we send. */
export const rotateBody = z
  .strictObject({
    grace_seconds: z
      .number()
      .int()
      .min(0)
      .max(MAX_GRACE_SECONDS)
      .default(GRACE_SECONDS)
      .describe('For how long the secret before signs as well.'),
  })
  .meta({ id: 'SecretRotation' })
  .optional()

const endpointShape = {
  endpoint_id: z.string(),
  url: z.string(),
  event_types: z.array(subscription),
  description: z.string(),
  metadata: z.record(z.string(), z.string()),
  max_per_second: z.number().int().nullable(),
  max_concurrency: z.number().int(),
  status: endpointStatus,
  disabled_reason: z
    .string()
    .nullable()
    .meta({ description: 'gone (it answered 410), failing (for five days) or manual.' }),
  disabled_at: z.string().nullable(),
  circuit: z
    .object({
      state: z.enum(['closed', 'open', 'half_open']),
      opened_at: z.string().nullable(),
      probe_at: z.string().nullable().meta({ description: 'When one delivery is tried next.' }),
    })
    .meta({
      id: 'WebhookCircuit',
      description:
        'open: after failures in a row, deliveries are parked, without spending attempts. half_open: one is tried.',
    }),
  last_success_at: z.string().nullable().meta({ description: 'Exact to a minute.' }),
  created_at: z.string(),
  secret_rotated_at: z.string().nullable(),
  previous_secret_expires_at: z
    .string()
    .nullable()
    .meta({ description: 'Until when the secret before this one signs as well; null when there is none.' }),
}
export const endpointView = z.object(endpointShape).meta({ id: 'WebhookEndpoint' })
/** Of an answer that makes a secret. */
export const secretView = z
  .object({
    ...endpointShape,
    signing_secret: z.string().optional().meta({ description: 'Shown now and never again.' }),
    secret_shown: z.literal(false).optional().meta({ description: 'A replay, without the secret.' }),
  })
  .meta({ id: 'CreatedWebhookEndpoint' })

export const toView = (row: EndpointRow): z.input<typeof endpointView> => ({
  endpoint_id: row.id,
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
})

function circuitOf({ circuitOpenedAt, circuitUntil }: EndpointRow) {
  if (circuitOpenedAt === null) return { state: 'closed' as const, opened_at: null, probe_at: null }
  const isDue = circuitUntil === null || circuitUntil.getTime() <= Date.now()
  return {
    state: isDue ? ('half_open' as const) : ('open' as const),
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
