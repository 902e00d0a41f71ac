// What the pull API reads of events, and the positions of its consumers. One statement reads events together with what
// retention has deleted: between two, a deletion would leave an undetected gap.

import type { StoredEvent } from '#src/account/webhooks/envelope.ts'
import type { Statement, Tx } from '#src/platform/db/database.ts'
import { conditionOfAny, conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Environment, Scope } from '#src/platform/ids.ts'
import type { AwaitedRow } from '#src/platform/polled-waits.ts'

export interface PositionedEvent extends StoredEvent {
  /** null until the process `sequence` has given it one. */
  position: number | null
}

export interface Heads {
  /** The newest position; 0 before the first event. */
  head: number
  /** The newest position that retention has deleted. */
  purged: number
}

export interface EventQuery {
  /** undefined: from the oldest that is there. */
  after: number | undefined
  /** undefined: all. */
  types: readonly string[] | undefined
  limit: number
}

const EVENT = `id AS "eventId", type, created_at AS "createdAt", data, position`
// Where a reader begins that says nothing. Positions at or below it are deleted, but for events that are still being delivered.
const AFTER = 'position > coalesce($1::bigint, head.purged_position)'
const ALL = `SELECT ${EVENT} FROM events WHERE ${AFTER} ORDER BY position LIMIT $2`
// One range of the index for each type, however rare it is.
const OF_TYPES = `SELECT one.* FROM unnest($3::text[]) AS wanted (type) CROSS JOIN LATERAL (
    SELECT ${EVENT} FROM events WHERE events.type = wanted.type AND ${AFTER} ORDER BY position LIMIT $2) one
  ORDER BY position LIMIT $2`

/** One event or none, with the heads of the account. */
export type PulledEventRow = Heads & PositionedEvent

const selectFrom = (events: string) =>
  `SELECT head.position AS head, head.purged_position AS purged, event.*
   FROM event_heads head LEFT JOIN LATERAL (${events}) event ON true ORDER BY event.position`

/** Selects `PulledEventRow`s in the order of their positions. */
export function selectEvents({ after, types, limit }: EventQuery): Statement {
  return types === undefined
    ? { text: selectFrom(ALL), values: [after ?? null, limit] }
    : { text: selectFrom(OF_TYPES), values: [after ?? null, limit, types] }
}

export function eventsOf(rows: readonly PulledEventRow[]): Heads & { events: (StoredEvent & { position: number })[] } {
  const { head, purged } = rows[0] ?? { head: 0, purged: 0 }
  const events = rows.flatMap(({ head: _head, purged: _purged, position, ...event }) =>
    position === null ? [] : [{ ...event, position }],
  )
  return { head, purged, events }
}

export interface EventFilter extends TimeRange {
  environment: Environment
  /** undefined: all. */
  types: readonly string[] | undefined
  /** A claim, or what the column `subject_id` has of it. */
  subjectId: string | undefined
}

export interface EventRange {
  order: 'asc' | 'desc'
  /** The id after which the page begins. */
  after: string | undefined
  limit: number
}

/** Events that have a position, by their ids: in the order of their time. */
export async function listEvents(
  tx: Tx,
  filter: EventFilter,
  { order, after, limit }: EventRange,
): Promise<PositionedEvent[]> {
  const { conditions, values } = conditionsOf(filter)
  if (after !== undefined) conditions.push(`id ${order === 'asc' ? '>' : '<'} $${values.push(after)}`)
  return tx.adhoc<PositionedEvent>(
    `SELECT ${EVENT} FROM events WHERE ${conditions.join(' AND ')}
     ORDER BY id ${order === 'asc' ? 'ASC' : 'DESC'} LIMIT $${values.push(limit)}`,
    values,
  )
}

export async function countEvents(tx: Tx, filter: EventFilter): Promise<number> {
  const { conditions, values } = conditionsOf(filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`events WHERE ${conditions.join(' AND ')}`), values)
  return row?.count ?? 0
}

function conditionsOf({ environment, types, subjectId, from, to }: EventFilter) {
  // An event gets its position within seconds. The condition lets the indexes of positions serve the filters.
  const conditions = ['position IS NOT NULL']
  const values: unknown[] = []
  if (types !== undefined) conditions.push(conditionOfAny(values, 'type', types))
  if (subjectId !== undefined) {
    const column = subjectId.startsWith('clm_') ? 'claim_id' : 'subject_id'
    conditions.push(`${column} = $${values.push(subjectId)}`)
  }
  const range = { from, to }
  conditions.push(...conditionsOfRange(values, { type: 'evt', environment }, range))
  return { conditions, values }
}

export async function findEvent(tx: Tx, id: string): Promise<PositionedEvent | undefined> {
  const [row] = await tx.query<PositionedEvent>(`SELECT ${EVENT} FROM events WHERE id = $1`, [id])
  return row
}

/** Of callers that wait for an event after a position. */
export interface AwaitedEvents extends AwaitedRow {
  position: number
}

export function findMoved(asked: readonly AwaitedEvents[]): Statement {
  return {
    text: `SELECT asked.id FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
        AS asked (account_id, environment, id, position)
      JOIN event_heads head USING (account_id, environment) WHERE head.position > asked.position`,
    values: [
      asked.map(({ accountId }) => accountId),
      asked.map(({ environment }) => environment),
      asked.map(({ id }) => id),
      asked.map(({ position }) => position),
    ],
  }
}

export interface ConsumerRow extends Heads {
  name: string
  position: number
  /** The last position that it was given to read. */
  given: number
  /** Counts the reports of its position. */
  version: number
  createdAt: Date
  acknowledgedAt: Date | null
  /** Of the first event after its position. */
  oldestUnreadAt: Date | null
}

const CONSUMER = `SELECT consumer.name, consumer.position, consumer.given_position AS given, consumer.version, consumer.created_at AS "createdAt",
    consumer.acknowledged_at AS "acknowledgedAt", coalesce(head.position, 0) AS head,
    coalesce(head.purged_position, 0) AS purged, unread.created_at AS "oldestUnreadAt"
  FROM event_consumers consumer LEFT JOIN event_heads head USING (account_id, environment)
  LEFT JOIN LATERAL (SELECT created_at FROM events WHERE events.position > consumer.position
    ORDER BY events.position LIMIT 1) unread ON true`

export async function findConsumer(tx: Tx, name: string): Promise<ConsumerRow | undefined> {
  const [row] = await tx.query<ConsumerRow>(`${CONSUMER} WHERE consumer.name = $1`, [name])
  return row
}

/** Selects the place of a consumer, if there is one of that name. */
export function selectPlace(name: string): Statement {
  return { text: 'SELECT position, given_position AS given FROM event_consumers WHERE name = $1', values: [name] }
}

/** Notes what consumers are given. It is the same for one that was given more meanwhile. */
export async function noteGiven(tx: Tx, given: ReadonlyMap<string, number>): Promise<void> {
  await tx.query(
    `UPDATE event_consumers consumer SET given_position = given.position
     FROM unnest($1::text[], $2::bigint[]) AS given (name, position)
     WHERE consumer.name = given.name AND consumer.given_position < given.position`,
    [[...given.keys()], [...given.values()]],
  )
}

/** By name, after the given one. */
export async function listConsumers(tx: Tx, after: string, limit: number): Promise<ConsumerRow[]> {
  return tx.query<ConsumerRow>(`${CONSUMER} WHERE consumer.name > $1 ORDER BY consumer.name LIMIT $2`, [after, limit])
}

export async function findHeads(tx: Tx): Promise<Heads> {
  const [heads] = await tx.query<Heads>('SELECT position AS head, purged_position AS purged FROM event_heads')
  return heads ?? { head: 0, purged: 0 }
}

/**
 * false when there is one of that name, or `maxCount` of others. Concurrent calls may exceed the limit by one or two: it
 * bounds a flood.
 */
export async function insertConsumer(
  tx: Tx,
  scope: Scope,
  { name, position }: { name: string; position: number },
  maxCount: number,
): Promise<boolean> {
  const inserted = await tx.query(
    `INSERT INTO event_consumers (account_id, environment, name, position, given_position)
     SELECT $1, $2, $3, $4, $4 WHERE (SELECT count(*) FROM event_consumers) < $5
     ON CONFLICT (account_id, environment, name) DO NOTHING RETURNING 1`,
    [scope.accountId, scope.environment, name, position, maxCount],
  )
  return inserted.length > 0
}

/** false when it stands elsewhere than at `expected`, or further than `position`, or has another version than `versions`. */
export async function advanceConsumer(
  tx: Tx,
  name: string,
  {
    position,
    expected,
    versions,
  }: { position: number; expected: number | undefined; versions: readonly number[] | undefined },
): Promise<boolean> {
  const moved = await tx.query(
    `UPDATE event_consumers SET position = $2, acknowledged_at = now(), version = version + 1
     WHERE name = $1 AND position <= $2 AND position = coalesce($3::bigint, position)
       AND version = ANY (coalesce($4::int[], ARRAY[version])) RETURNING 1`,
    [name, position, expected ?? null, versions ?? null],
  )
  return moved.length > 0
}

export async function deleteConsumer(tx: Tx, name: string): Promise<{ position: number } | undefined> {
  const [row] = await tx.query<{ position: number }>('DELETE FROM event_consumers WHERE name = $1 RETURNING position', [
    name,
  ])
  return row
}
