// Consumers of the pull API: a name and the position up to which it has processed. A position only moves forward, so that two
// processes of one consumer can't undo each other's progress, and no further than what the consumer was given, so that they
// can't skip what neither has read.

import { recordAudit } from '#src/account/audit/record.ts'
import { Failure, invalidField } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { checkVersion } from '#src/platform/http/documents.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, listPage, type PageQuery, type Pager } from '#src/platform/http/page.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import type { Scope } from '#src/platform/ids.ts'
import { checkPosition } from './events.ts'
import {
  advanceConsumer,
  type ConsumerRow,
  deleteConsumer,
  findConsumer,
  findHeads,
  insertConsumer,
  listConsumers,
} from './rows.ts'

const MAX_CONSUMERS = 100

export interface Acknowledgement {
  /** undefined: a new consumer begins with the oldest event that is there, and another stays where it is. */
  position?: number | undefined
  /** Where the caller believes it to stand. */
  expected?: number | undefined
  /** The versions that the caller expects to move, from `If-Match`; undefined for any. */
  versions?: readonly number[] | undefined
}

export type Consumers = ReturnType<typeof createConsumers>

export function createConsumers({ db, pager }: { db: Pick<Database, 'tenant'>; pager: Pager }) {
  return {
    /**
     * Makes a consumer, or moves it forward.
     * @throws {Failure} `consumer_moved` where it stands elsewhere than expected, or further; `events_expired` and
     * `invalid_request` at `/position` as for reading, and beyond what the consumer was given; `limit_reached`; `precondition_failed`;
     * `not_found` for one that is expected to stand somewhere or to have a version, and does not exist.
     */
    async acknowledge(scope: Acting, name: string, given: Acknowledgement, key?: IdempotencyKey): Promise<ConsumerRow> {
      return db.tenant(scope, (tx) =>
        once(
          tx,
          key,
          () => moveTo(tx, scope, name, given),
          () => name,
        ),
      )
    },

    /** @throws {Failure} `not_found`. */
    async get(scope: Scope, name: string): Promise<ConsumerRow> {
      return db.tenant(scope, (tx) => getConsumer(tx, name))
    },

    /** By name. */
    async list(scope: Scope, query: PageQuery): Promise<CountedPage<ConsumerRow>> {
      const list = { route: 'GET /v1/event-consumers', scope, query }
      return listPage({ db, pager }, list, {
        rows: (tx, { before = '', limit }) => listConsumers(tx, before, limit),
        keyOf: ({ name }) => name,
      })
    },

    /** @throws {Failure} `not_found`. */
    async remove(scope: Acting, name: string, key?: IdempotencyKey): Promise<void> {
      const remove = async (tx: Tx) => {
        const before = await deleteConsumer(tx, name)
        if (before === undefined) throw noConsumer(name)
        await recordAudit(tx, scope, { action: 'event_consumer.deleted', subjectId: name, before })
      }
      await db.tenant(scope, (tx) => once(tx, key, remove, () => name))
    },
  }
}

async function moveTo(
  tx: Tx,
  scope: Acting,
  name: string,
  { position, expected, versions }: Acknowledgement,
): Promise<ConsumerRow> {
  const heads = await findHeads(tx)
  checkPosition('/position', position, heads)
  const mayBeNew = expected === undefined && versions === undefined
  if (mayBeNew && (await insertConsumer(tx, scope, { name, position: position ?? heads.purged }, MAX_CONSUMERS)))
    return getConsumer(tx, name)
  const known = await findConsumer(tx, name)
  if (known === undefined && mayBeNew) {
    throw new Failure('limit_reached', {
      detail: `There can be ${MAX_CONSUMERS} event consumers. Delete one first.`,
      members: { maximum: MAX_CONSUMERS },
    })
  }
  if (known === undefined)
    throw new Failure(
      'not_found',
      `The consumer ${name} does not exist: leave out expected_position and If-Match to make it.`,
    )
  checkVersion(versions, known)
  checkGiven(known, position)
  const isMoved = await advanceConsumer(tx, name, { position: position ?? known.position, expected, versions })
  const row = await getConsumer(tx, name)
  if (isMoved) return row
  checkVersion(versions, row)
  throw new Failure('consumer_moved', {
    detail: `The consumer ${name} stands at ${row.position}: ${expected === undefined ? 'it moves forward only' : 'another process has moved it'}.`,
    members: { position: row.position },
  })
}

// What was deleted before it was read counts as given: nobody can read it any more.
function checkGiven({ name, given, purged, position }: ConsumerRow, wanted: number | undefined): void {
  const last = Math.max(given, purged, position)
  if (wanted === undefined || wanted <= last) return
  throw invalidField(
    '/position',
    'out_of_range',
    `is beyond ${last}, the last position that this consumer was given: report a next_after that GET /v1/events/pull?consumer=${name} answered`,
  )
}

async function getConsumer(tx: Tx, name: string): Promise<ConsumerRow> {
  const row = await findConsumer(tx, name)
  if (row === undefined) throw noConsumer(name)
  return row
}

function noConsumer(name: string): Failure {
  return new Failure('not_found', `No event consumer ${name.slice(0, 64)}.`)
}
