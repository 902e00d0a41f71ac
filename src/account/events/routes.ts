import { z } from 'zod'
import { eventType } from '#src/account/webhooks/endpoint-views.ts'
import { anyEventView } from '#src/catalogue/events.ts'
import { endpoint, listEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { listOf, listQuery, orderQuery, pageQuery } from '#src/platform/http/page.ts'
import { idParams, several } from '#src/platform/http/params.ts'
import { parsePrefer, waitQuery } from '#src/platform/http/prefer.ts'
import { parseIfMatch } from '#src/platform/http/request-headers.ts'
import { replyVersioned, rowVersion } from '#src/platform/http/versions.ts'
import { shownAs, timestampView } from '#src/platform/http/views.ts'
import type { Consumers } from './consumers.ts'
import type { Events, Pulled } from './events.ts'
import type { ConsumerRow } from './rows.ts'

const common = { scope: 'admin', needsAccountKey: true } as const
const reading = { ...common, method: 'GET', permission: 'events.read' } as const
const watching = { ...common, method: 'GET', permission: 'webhooks.read' } as const
const writing = { ...common, permission: 'webhooks.write' } as const

const NAME = '[a-z0-9][a-z0-9_.-]{0,63}'
const filters = {
  event_type: several(eventType).optional(),
  subject_id: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(
      'What the events are about: a claim, case, attestation, screening, agent session, agent, intent token, device, trace or diff.',
    ),
}
const nameParams = z.object({
  name: z
    .string()
    .regex(new RegExp(`^${NAME}$`), 'must be 1 to 64 of a-z, 0-9, "_", "." and "-", a letter or a digit first')
    .meta({ description: 'What you call it.' }),
})
const position = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER)
const positionQuery = z
  .string()
  .regex(/^(?:0|[1-9][0-9]{0,14})$/, 'must be a position: a whole number')
  .transform(Number)
  // A query is text; a client generator should see the number in it.
  .meta({ type: 'integer', minimum: 0, pattern: undefined })

// The body of a delivery, member for member, and its position. What is stored is answered as it is: a record would drop a member
// with the name `__proto__`, and another version of the service may have written it.
const eventView = shownAs(
  z.object({
    event_id: z.string(),
    type: z.string(),
    created_at: timestampView,
    environment: z.string(),
    account_id: z.string(),
    data: z.custom<object>((value) => typeof value === 'object' && value !== null),
    position: z.number().int().nullable(),
  }),
  anyEventView,
)
const eventListView = listOf(eventView).meta({ id: 'EventList' })
const pullView = z
  .object({
    object: z.literal('event_pull'),
    data: z.array(eventView),
    has_more: z.boolean().describe('Whether there are further events after these.'),
    after: z.number().int().describe('The position after which it read: `expected_position` of its report.'),
    next_after: z.number().int().describe('`after` of the next request.'),
    latest: z.number().int().describe('The position of the newest event, of any type.'),
  })
  .meta({ id: 'EventPull' })
const consumerView = z
  .object({
    name: z.string(),
    position: z.number().int(),
    latest: z.number().int().describe('The position of the newest event.'),
    lag: z.number().int().describe('Events that are there and after its position.'),
    missed: z.number().int().describe('Events after its position that were deleted after 30 days.'),
    oldest_unread_created_at: timestampView.nullable(),
    created_at: timestampView,
    acknowledged_at: timestampView.nullable().describe('When its position was last reported.'),
    version: rowVersion.describe('Counts the reports of its position. It is in the `ETag`.'),
  })
  .meta({ id: 'EventConsumer' })

export function eventRoutes(events: Events, consumers: Consumers): Route[] {
  return [
    endpoint(
      {
        ...reading,
        path: '/v1/events',
        operationId: 'listEvents',
        sdk: 'events.list',
        effect: 'read',
        kind: 'list',
        summary: 'Events, newest first',
        query: z.object({ ...listQuery, ...orderQuery, ...filters }),
        view: eventListView,
        status: [200],
      },
      ({ caller, query }) => events.list(caller, query),
    ),
    endpoint(
      {
        ...reading,
        path: '/v1/events/pull',
        operationId: 'pullEvents',
        sdk: 'events.pull',
        effect: 'read',
        kind: 'wait',
        summary: 'The events after a position, oldest first',
        query: z.object({
          after: positionQuery.optional().describe('The oldest event that is there comes first when absent.'),
          consumer: z.string().max(64).optional().describe('In place of `after`: the position of this consumer.'),
          event_type: filters.event_type,
          limit: listQuery.limit,
          wait: waitQuery.optional().describe('Seconds to wait for an event where there is none; as `Prefer: wait=`.'),
        }),
        view: pullView,
        status: [200],
      },
      async ({ caller, query, header, signal }) => {
        const { applied, waitSeconds: preferred } = parsePrefer(header('prefer'))
        const { after, consumer, event_type: types, limit, wait = applied === undefined ? 0 : preferred } = query
        const pulled = await events.pull(caller, { after, consumer, types, limit, waitSeconds: wait }, signal)
        return reply(200, toPullView(pulled), applied === undefined ? {} : { 'Preference-Applied': applied })
      },
    ),
    endpoint(
      {
        ...reading,
        path: '/v1/events/:id',
        operationId: 'getEvent',
        sdk: 'events.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'One event',
        params: idParams('evt'),
        view: eventView,
        status: [200],
      },
      async ({ caller, params }) => events.get(caller, params.id),
    ),
    ...consumerRoutes(consumers),
  ]
}

function consumerRoutes(consumers: Consumers): Route[] {
  return [
    listEndpoint(
      {
        ...watching,
        path: '/v1/event-consumers',
        operationId: 'listEventConsumers',
        sdk: 'events.consumers.list',
        summary: 'The consumers of events, by name',
        query: pageQuery,
        item: consumerView,
      },
      ({ caller, query }) => consumers.list(caller, query),
      toConsumerView,
    ),
    endpoint(
      {
        ...watching,
        path: '/v1/event-consumers/:name',
        operationId: 'getEventConsumer',
        sdk: 'events.consumers.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'One consumer, and how far behind it is',
        params: nameParams,
        view: consumerView,
        status: [200],
      },
      async ({ caller, params }) => replyVersioned(toConsumerView(await consumers.get(caller, params.name))),
    ),
    endpoint(
      {
        ...writing,
        method: 'PUT',
        path: '/v1/event-consumers/:name',
        operationId: 'putEventConsumer',
        sdk: 'events.consumers.move',
        effect: 'read',
        kind: 'call',
        summary: 'Create a consumer, or store the position up to which it has processed events',
        params: nameParams,
        body: z
          .strictObject({
            position: position
              .optional()
              .describe(
                'One that the consumer was given, such as `next_after`. When absent, a new consumer begins with the oldest event that is there.',
              ),
            expected_position: position
              .optional()
              .describe(
                '`after` of the answer: 409 `consumer_moved` where another process has moved the consumer meanwhile.',
              ),
          })
          .optional(),
        view: consumerView,
        status: [200],
      },
      async ({ caller, params, body, header, idempotencyKey }) => {
        const versions = parseIfMatch(header('If-Match'))
        const given = { position: body?.position, expected: body?.expected_position, versions }
        return replyVersioned(toConsumerView(await consumers.acknowledge(caller, params.name, given, idempotencyKey)))
      },
      async ({ caller }, name) => replyVersioned(toConsumerView(await consumers.get(caller, name))),
    ),
    endpoint(
      {
        ...writing,
        method: 'DELETE',
        audits: 'event_consumer.deleted',
        path: '/v1/event-consumers/:name',
        operationId: 'deleteEventConsumer',
        sdk: 'events.consumers.delete',
        effect: 'destructive',
        kind: 'call',
        summary: 'Delete a consumer. Its events stay.',
        params: nameParams,
        view: z
          .object({ event_consumer_id: z.string().describe('Its name.'), deleted: z.literal(true) })
          .meta({ id: 'DeletedEventConsumer' }),
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) => {
        await consumers.remove(caller, params.name, idempotencyKey)
        return { event_consumer_id: params.name, deleted: true as const }
      },
      async (_, name) => ({ event_consumer_id: name, deleted: true as const }),
    ),
  ]
}

const toPullView = ({ events, hasMore, after, nextAfter, latest }: Pulled): z.input<typeof pullView> => ({
  object: 'event_pull',
  data: events,
  has_more: hasMore,
  after,
  next_after: nextAfter,
  latest,
})

const toConsumerView = (row: ConsumerRow): z.input<typeof consumerView> => ({
  name: row.name,
  position: row.position,
  latest: row.head,
  lag: row.head - Math.max(row.position, row.purged),
  missed: Math.max(0, row.purged - row.position),
  oldest_unread_created_at: row.oldestUnreadAt?.toISOString() ?? null,
  created_at: row.createdAt.toISOString(),
  acknowledged_at: row.acknowledgedAt?.toISOString() ?? null,
  version: row.version,
})
