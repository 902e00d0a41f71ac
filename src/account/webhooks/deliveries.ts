// The log of deliveries: listed, read with everything that was sent and answered, sent again, exported.

import { recordAudit } from '#src/account/audit/record.ts'
import { isEventType } from '#src/catalogue/events.ts'
import { Failure } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, type CountedQuery, listPage, type Pager } from '#src/platform/http/page.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { checkId, getOwned, noSuch, type Scope } from '#src/platform/ids.ts'
import { cancelJobs } from '#src/platform/jobs/backlog.ts'
import { admitDirect } from './backlog.ts'
import {
  type AttemptRow,
  countDeliveries,
  type DeliveryFilter,
  type DeliveryRow,
  findAttempts,
  findDelivery,
  findEvent,
  listDeliveries,
  lockDelivery,
  type PageRange,
} from './delivery-rows.ts'
import { envelopeOf } from './envelope.ts'
import { MAX_RESENT_ATTEMPTS, sendAgain } from './redelivery.ts'
import { hasEndpoint, lockEndpoint } from './rows.ts'
import { unknownType } from './settings.ts'

export interface LoggedDelivery extends DeliveryRow {
  log: AttemptRow[]
}

export interface FullDelivery extends LoggedDelivery {
  /** The bytes that were sent, as text; null when the event has gone. */
  body: string | null
}

export type Deliveries = ReturnType<typeof createDeliveries>

interface DeliveriesDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
  now?: () => Date
}

// Rows of a page with the bodies of all attempts (MAX_RESENT_ATTEMPTS, and one round more): some 20 MB at most.
const EXPORT_ROWS = 20

export function createDeliveries({ db, pager, now = () => new Date() }: DeliveriesDeps) {
  return {
    /**
     * With every attempt, newest first.
     * @throws {Failure} `environment_mismatch`, `not_found` for an unknown endpoint, `invalid_request` for an unknown type.
     */
    async list(scope: Scope, query: CountedQuery & DeliveryFilter): Promise<CountedPage<LoggedDelivery>> {
      checkFilter(scope, query)
      const list = { route: 'GET /v1/webhook-deliveries', scope, query }
      return listPage({ db, pager }, list, {
        rows: async (tx, page) => {
          await requireEndpoint(tx, query.endpointId)
          return listDeliveries(tx, scope.environment, query, page)
        },
        count: (tx) => countDeliveries(tx, scope.environment, query),
        show: (tx, rows) => withLogs(tx, rows, { withBodies: false }),
      })
    },

    /**
     * Reads a delivery with the headers and bodies of its attempts. @param endpointId undefined: of any endpoint.
     * @throws {Failure} `environment_mismatch`, `not_found`.
     */
    async get(scope: Scope, endpointId: string | undefined, id: string): Promise<FullDelivery> {
      if (endpointId !== undefined) checkId(endpointId, 'whe', scope.environment)
      checkId(id, 'whd', scope.environment)
      return db.tenant(scope, async (tx) => {
        const row = await findDelivery(tx, endpointId, id)
        if (row === undefined) throw noDelivery(id, endpointId)
        const [logged] = await withLogs(tx, [row], { withBodies: true })
        const event = await findEvent(tx, row.eventId)
        const body = event === undefined ? null : JSON.stringify(envelopeOf(scope, event))
        return { ...row, log: logged?.log ?? [], body }
      })
    },

    /**
     * Sends a delivery again now, whatever became of it. One that waits for its next attempt does not wait longer.
     * @throws {Failure} `environment_mismatch`, `not_found`; `rate_limited`; `conflict` while an attempt runs, when its endpoint is
     * disabled, when its event has gone, or after `MAX_RESENT_ATTEMPTS`.
     */
    async redeliver(scope: Acting, endpointId: string, id: string, key?: IdempotencyKey): Promise<void> {
      checkId(endpointId, 'whe', scope.environment)
      checkId(id, 'whd', scope.environment)
      const resend = async (tx: Tx) => {
        // First, as where an endpoint is disabled: locked in the other order, the two deadlock.
        const endpoint = await getOwned(lockEndpoint(tx, endpointId), endpointId)
        const delivery = await lockDelivery(tx, endpointId, id)
        if (delivery === undefined) throw noDelivery(id, endpointId)
        if (endpoint.status === 'disabled') {
          throw new Failure('conflict', `${endpointId} is disabled (${endpoint.disabledReason}): enable it first.`)
        }
        if ((await findEvent(tx, delivery.eventId)) === undefined) {
          throw new Failure(
            'conflict',
            `The event ${delivery.eventId} is no longer kept: the delivery can't be sent again.`,
          )
        }
        if (delivery.attempts >= MAX_RESENT_ATTEMPTS) {
          throw new Failure('conflict', `${id} was attempted ${delivery.attempts} times: read its event instead.`)
        }
        if (delivery.status === 'pending' && (await cancelJobs(tx, [delivery.jobId])).length === 0) {
          throw new Failure('conflict', `An attempt of ${id} is under way: read its result first.`)
        }
        await admitDirect(tx, scope)
        await sendAgain(tx, scope, [delivery], { isDirect: true })
        await recordAudit(tx, scope, { action: 'webhook_delivery.redelivered', subjectId: id })
      }
      await db.tenant(scope, (tx) => once(tx, key, resend, () => id))
    },

    /**
     * All that were made until now, oldest first, with the headers and bodies of their attempts. The export itself is
     * recorded before it begins.
     * @throws {Failure} as `list`.
     */
    async export(by: Acting, filter: DeliveryFilter): Promise<AsyncGenerator<LoggedDelivery[]>> {
      checkFilter(by, filter)
      const until = now()
      const to = filter.to !== undefined && filter.to < until ? filter.to : until
      const after = {
        webhook_endpoint_id: filter.endpointId ?? null,
        status: filter.status === undefined ? null : [...filter.status],
      }
      await db.tenant(by, async (tx) => {
        await requireEndpoint(tx, filter.endpointId)
        await recordAudit(tx, by, { action: 'webhook_deliveries.exported', after })
      })
      return pagesOf(by, { ...filter, to })
    },
  }

  // Each page is a transaction of its own: a slow reader holds no connection and no snapshot.
  async function* pagesOf(scope: Scope, filter: DeliveryFilter): AsyncGenerator<LoggedDelivery[]> {
    for (let after = ''; ; ) {
      const range: PageRange = { after, limit: EXPORT_ROWS }
      const page = await db.tenant(scope, async (tx) =>
        withLogs(tx, await listDeliveries(tx, scope.environment, filter, range), { withBodies: true }),
      )
      if (page.length > 0) yield page
      const last = page.at(-1)
      if (last === undefined || page.length < EXPORT_ROWS) return
      after = last.id
    }
  }
}

async function withLogs(
  tx: Tx,
  rows: readonly DeliveryRow[],
  options: { withBodies: boolean },
): Promise<LoggedDelivery[]> {
  const attempts = await findAttempts(
    tx,
    rows.map(({ id }) => id),
    options,
  )
  const logs = Map.groupBy(attempts, ({ deliveryId }) => deliveryId)
  return rows.map((row) => ({ ...row, log: logs.get(row.id) ?? [] }))
}

function checkFilter({ environment }: Scope, { endpointId, eventTypes = [] }: DeliveryFilter): void {
  if (endpointId !== undefined) checkId(endpointId, 'whe', environment)
  for (const type of eventTypes) if (!isEventType(type)) throw unknownType('?event_type', type)
}

// A deleted endpoint keeps its log.
async function requireEndpoint(tx: Tx, id: string | undefined): Promise<void> {
  if (id !== undefined && !(await hasEndpoint(tx, id))) throw noSuch(id)
}

function noDelivery(id: string, endpointId: string | undefined): Failure {
  return new Failure('not_found', `No delivery ${id}${endpointId === undefined ? '' : ' to this endpoint'}.`)
}
