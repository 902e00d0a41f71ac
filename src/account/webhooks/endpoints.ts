// The webhook endpoints of an account. The signing secret is shown once, at creation; a deleted endpoint keeps its log.

import { recordAudit } from '#src/account/audit/record.ts'
import { Failure } from '#src/failure.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, type CountedQuery, listPage, type Pager } from '#src/platform/http/page.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { checkId, getOwned, newId, type Scope } from '#src/platform/ids.ts'
import type { Outbound } from '#src/platform/net/outbound.ts'
import { admitDirect, cancelForDeleted, limitDeliveries } from './backlog.ts'
import { emitMany } from './emit.ts'
import {
  countEndpoints,
  deleteEndpoint,
  type EndpointFilter,
  type EndpointRow,
  type EndpointSettings,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
} from './rows.ts'
import { newSecret, sealSecret } from './secret.ts'
import { auditedOf, checkEventTypes, checkUrl, DEFAULTS, type GivenSettings } from './settings.ts'

/** Each event is written once per endpoint that subscribes to it. */
export const MAX_ENDPOINTS = 100

export interface WebhooksDeps {
  db: Pick<Database, 'tenant'>
  sealer: Sealer
  outbound: Pick<Outbound, 'check'>
  pager: Pager
  now?: () => Date
}

export type Webhooks = ReturnType<typeof createWebhooks>

export function createWebhooks({ db, sealer, outbound, pager, now = () => new Date() }: WebhooksDeps) {
  return {
    /**
     * @returns the endpoint and its secret, which can't be read again.
     * @throws {Failure} `invalid_request` at `/url` or `/event_types`; `limit_reached` beyond `MAX_ENDPOINTS`.
     */
    async create(
      scope: Acting,
      request: GivenSettings & Pick<EndpointSettings, 'url' | 'eventTypes'>,
      key?: IdempotencyKey,
    ): Promise<{ endpoint: EndpointRow; secret: string }> {
      checkUrl(outbound, scope, request.url)
      checkEventTypes(request.eventTypes)
      const id = newId('whe', scope.environment, now().getTime())
      const secret = newSecret()
      const sealedSecret = sealSecret(sealer, id, secret)
      const row = { ...DEFAULTS, ...request, id, sealedSecret }
      const insert = async (tx: Tx) => {
        const endpoint = await insertEndpoint(tx, scope, row, MAX_ENDPOINTS)
        if (endpoint === undefined) {
          throw new Failure('limit_reached', {
            detail: `There can be ${MAX_ENDPOINTS} webhook endpoints. Delete one first.`,
            members: { maximum: MAX_ENDPOINTS },
          })
        }
        await limitDeliveries(tx, scope, endpoint)
        await recordAudit(tx, scope, { action: 'webhook_endpoint.created', subjectId: id, after: auditedOf(endpoint) })
        return endpoint
      }
      const endpoint = await db.tenant(scope, (tx) => once(tx, key, insert, () => id))
      return { endpoint, secret }
    },

    /** Newest first. */
    async list(scope: Scope, request: CountedQuery & EndpointFilter): Promise<CountedPage<EndpointRow>> {
      const list = { route: 'GET /v1/webhook-endpoints', scope, query: request }
      return listPage({ db, pager }, list, {
        rows: (tx, page) => listEndpoints(tx, request, page),
        count: (tx) => countEndpoints(tx, request),
      })
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, id: string): Promise<EndpointRow> {
      checkId(id, 'whe', scope.environment)
      return db.tenant(scope, (tx) => getOwned(findEndpoint(tx, id), id))
    },

    /**
     * Deletes an endpoint and cancels its pending deliveries.
     * @throws {Failure} `environment_mismatch`, `not_found`.
     */
    async remove(scope: Acting, id: string, key?: IdempotencyKey): Promise<void> {
      checkId(id, 'whe', scope.environment)
      const remove = async (tx: Tx) => {
        const deleted = await getOwned(deleteEndpoint(tx, id), id)
        await cancelForDeleted(tx, id)
        await recordAudit(tx, scope, { action: 'webhook_endpoint.deleted', subjectId: id, before: auditedOf(deleted) })
      }
      await db.tenant(scope, (tx) => once(tx, key, remove, () => id))
    },

    /**
     * Sends a signed ping to this endpoint alone, whatever it subscribes to.
     * @throws {Failure} `environment_mismatch`, `not_found`; `rate_limited`; `conflict` when the endpoint is disabled.
     */
    async test(scope: Scope, id: string, key?: IdempotencyKey): Promise<{ eventId: string; deliveryId: string }> {
      checkId(id, 'whe', scope.environment)
      const send = async (tx: Tx) => {
        const endpoint = await getOwned(findEndpoint(tx, id), id)
        await admitDirect(tx, scope)
        const [emitted] = await emitMany(tx, scope, [{ type: 'ping', data: { webhook_endpoint_id: id } }])
        const [deliveryId] = emitted?.deliveryIds ?? []
        if (emitted?.eventId === undefined || deliveryId === undefined) {
          throw new Failure('conflict', `${id} is disabled (${endpoint.disabledReason}): nothing is sent to it.`)
        }
        return { eventId: emitted.eventId, deliveryId }
      }
      const subjectOf = (sent: { eventId: string; deliveryId: string }) => `${sent.eventId} ${sent.deliveryId}`
      return db.tenant(scope, (tx) => once(tx, key, send, subjectOf))
    },
  }
}
