// The pull API: events in the order of their positions, for receivers that take no webhooks. Who has read up to a position has
// missed nothing before it (src/account/webhooks/positions.ts).

import { type Envelope, envelopeOf } from '#src/account/webhooks/envelope.ts'
import { unknownType } from '#src/account/webhooks/settings.ts'
import type { Product } from '#src/catalogue/access.ts'
import { EVENT_TYPES, type EventType, isEventType } from '#src/catalogue/events.ts'
import { rolesWith } from '#src/catalogue/permissions.ts'
import { Failure, invalidField } from '#src/failure.ts'
import { createTransactionBatcher } from '#src/platform/batching.ts'
import type { Database } from '#src/platform/db/database.ts'
import { type CountedPage, createdBetween, type ListQuery, listPage, type Pager } from '#src/platform/http/page.ts'
import type { Principal } from '#src/platform/http/principal.ts'
import { checkId, checkName, type Scope } from '#src/platform/ids.ts'
import type { PolledWaits } from '#src/platform/polled-waits.ts'
import {
  type AwaitedEvents,
  type ConsumerRow,
  countEvents,
  eventsOf,
  findEvent,
  type Heads,
  listEvents,
  noteGiven,
  type PulledEventRow,
  selectEvents,
  selectPlace,
} from './rows.ts'

export interface PullRequest {
  after?: number | undefined
  /** Whose position is `after`. */
  consumer?: string | undefined
  /** undefined: all. */
  types?: readonly string[] | undefined
  limit: number
  waitSeconds: number
}

export interface Pulled {
  events: (Envelope & { position: number })[]
  hasMore: boolean
  /** The position after which it read. */
  after: number
  /** Where to go on: no event of these types at or before it is left. */
  nextAfter: number
  /** The newest position. */
  latest: number
}

/** As the routes parse it. */
export interface EventListQuery extends ListQuery {
  order: 'asc' | 'desc'
  event_type?: readonly string[] | undefined
  subject_id?: string | undefined
}

/** Who reads. */
interface Reader extends Scope {
  products: readonly Product[]
  principal: Principal
}

export type Events = ReturnType<typeof createEvents>

interface EventsDeps {
  db: Pick<Database, 'tenant' | 'readTenant'>
  pager: Pager
  waits: Pick<PolledWaits<AwaitedEvents>, 'ended'>
}

export function createEvents({ db, pager, waits }: EventsDeps) {
  // A thousand processes may read as one consumer. What they are given at the same moment is noted together.
  const give = createTransactionBatcher<{ scope: Scope; name: string; position: number }, void>({
    keyOf: ({ scope }) => `${scope.accountId} ${scope.environment}`,
    maxRunning: 1,
    run: (take, { scope }) =>
      db.tenant(scope, async (tx) => {
        const items = take()
        const given = new Map<string, number>()
        for (const { name, position } of items) given.set(name, Math.max(position, given.get(name) ?? 0))
        await noteGiven(tx, given)
        return items.map(() => undefined)
      }),
  })

  async function read(caller: Reader, request: PullRequest, after: number | undefined): Promise<Pulled> {
    const types = wantedTypes(caller, request.types)
    const limit = request.limit + 1
    const [rows] = await db.readTenant<[PulledEventRow]>(caller, [selectEvents({ after, types, limit })])
    const { head, purged, events } = eventsOf(rows)
    if (request.consumer === undefined) checkPosition('?after', after, { head, purged })
    else checkConsumer(request.consumer, after, { head, purged })
    const page = events.slice(0, request.limit)
    const hasMore = events.length > request.limit
    const last = page.at(-1)?.position
    const from = after ?? purged
    return {
      events: page.map((event) => ({ ...envelopeOf(caller, event), position: event.position })),
      hasMore,
      after: from,
      nextAfter: hasMore && last !== undefined ? last : Math.max(head, from),
      latest: head,
    }
  }

  async function wait(
    caller: Reader,
    request: PullRequest,
    start: number | undefined,
    signal: AbortSignal,
  ): Promise<Pulled> {
    const deadline = performance.now() + request.waitSeconds * 1_000
    const first = await read(caller, request, start)
    for (let pulled = first; ; ) {
      const leftMs = deadline - performance.now()
      if (pulled.events.length > 0 || leftMs <= 0 || signal.aborted) return { ...pulled, after: first.after }
      const { accountId, environment } = caller
      const position = pulled.latest
      const awaited = { accountId, environment, position, id: `${accountId} ${environment} ${position}` }
      if (!(await waits.ended(awaited, leftMs, signal))) return { ...pulled, after: first.after }
      pulled = await read(caller, request, pulled.nextAfter)
    }
  }

  return {
    /**
     * Events in the order of their time, newest first unless told otherwise.
     * @throws {Failure} `invalid_request` at `?cursor`, `?event_type`; `environment_mismatch` for the id of another environment.
     */
    async list(caller: Reader, query: EventListQuery): Promise<CountedPage<Envelope & { position: number | null }>> {
      const { order, event_type: given, subject_id: subjectId } = query
      if (subjectId !== undefined) checkName(subjectId, caller.environment)
      const types = wantedTypes(caller, given)
      const { environment } = caller
      const filter = { environment, types, subjectId, ...createdBetween(query) }
      const list = { route: 'GET /v1/events', scope: caller, query: { ...query, types } }
      return listPage({ db, pager }, list, {
        rows: (tx, { before: after, limit }) => listEvents(tx, filter, { order, after, limit }),
        count: (tx) => countEvents(tx, filter),
        keyOf: ({ eventId }) => eventId,
        show: async (_tx, rows) => rows.map((event) => ({ ...envelopeOf(caller, event), position: event.position })),
      })
    },

    /**
     * The events after a position, at once where there are any. Else it waits for one, `waitSeconds` at most. What a consumer
     * is given is noted before it is answered: only that can be acknowledged.
     * @throws {Failure} `events_expired` where events after the position were deleted; `invalid_request` at `?after`,
     * `?consumer`, `?event_type`; `not_found` for a consumer that does not exist.
     */
    async pull(caller: Reader, request: PullRequest, signal: AbortSignal): Promise<Pulled> {
      const { consumer: name, after } = request
      if (name === undefined) return wait(caller, request, after, signal)
      if (after !== undefined)
        throw invalidField('?after', 'conflicting', 'is the position of the consumer: send one of both')
      const place = await getPlace(caller, name)
      const pulled = await wait(caller, request, place.position, signal)
      if (pulled.nextAfter > place.given) await give({ scope: caller, name, position: pulled.nextAfter })
      return pulled
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(caller: Reader, id: string): Promise<Envelope & { position: number | null }> {
      checkId(id, 'evt', caller.environment)
      const event = await db.tenant(caller, (tx) => findEvent(tx, id))
      const isOurs = event !== undefined && (wantedTypes(caller, undefined)?.includes(event.type) ?? true)
      if (!isOurs) throw new Failure('not_found', `No event ${id}: events are kept for 30 days.`)
      return { ...envelopeOf(caller, event), position: event.position }
    },
  }

  async function getPlace(scope: Scope, name: string): Promise<Place> {
    const [[place]] = await db.readTenant<[Place]>(scope, [selectPlace(name)])
    if (place === undefined) throw new Failure('not_found', `No event consumer ${name}: PUT it first.`)
    return place
  }
}

type Place = Pick<ConsumerRow, 'position' | 'given'>

/**
 * @throws {Failure} `events_expired` where events after the position are gone; `invalid_request` where it does not exist yet, as
 * after a restore of the service to an earlier state: its next events would take positions that the reader has seen.
 */
export function checkPosition(pointer: string, position: number | undefined, { head, purged }: Heads): void {
  if (position === undefined) return
  if (position > head) {
    throw invalidField(pointer, 'out_of_range', `is beyond the newest event, whose position is ${head}`)
  }
  if (position < purged) {
    throw new Failure('events_expired', {
      detail: `Events after position ${position} were deleted after 30 days. What is left begins after ${purged}.`,
      members: { resume_after: purged },
    })
  }
}

// The caller has sent no position, and an acknowledgement only moves one forward.
function checkConsumer(name: string, position: number | undefined, { head, purged }: Heads): void {
  if (position !== undefined && position > head) {
    throw invalidField(
      '?consumer',
      'out_of_range',
      `stands at ${position}, beyond the newest event, whose position is ${head}: DELETE /v1/event-consumers/${name}, then PUT it again`,
    )
  }
  checkPosition('?consumer', position, { head, purged })
}

/**
 * undefined: all types. Of products that the account does not use, as with webhooks, nothing is shown, and to a user only what
 * their role may read elsewhere. Who reads the log of webhooks reads the events in it.
 */
function wantedTypes(
  { products, principal, environment }: Reader,
  given: readonly string[] | undefined,
): string[] | undefined {
  for (const type of given ?? []) if (!isEventType(type)) throw unknownType('?event_type', type)
  const isReadable = (type: EventType) =>
    principal.kind === 'key' ||
    [EVENT_TYPES[type].permission, 'webhooks.read' as const].some((permission) =>
      rolesWith(permission, environment).includes(principal.role),
    )
  const entitled = (Object.keys(EVENT_TYPES) as EventType[]).filter((type) => {
    const of: readonly Product[] = EVENT_TYPES[type].products
    return (of.length === 0 || of.some((product) => products.includes(product))) && isReadable(type)
  })
  if (given !== undefined) return entitled.filter((type) => given.includes(type))
  return entitled.length === Object.keys(EVENT_TYPES).length ? undefined : entitled
}
