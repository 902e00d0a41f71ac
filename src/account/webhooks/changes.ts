// Changes of an endpoint: its settings, whether it is enabled, and its secret.

import { recordAudit } from '#src/account/audit/record.ts'
import type { Sealer } from '#src/platform/crypto/seal.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { checkVersion } from '#src/platform/http/documents.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { checkId, getOwned } from '#src/platform/ids.ts'
import type { Outbound } from '#src/platform/net/outbound.ts'
import { cancelWaiting, limitDeliveries } from './backlog.ts'
import { rearm } from './circuit-rows.ts'
import { type EndpointRow, type EndpointStatus, lockEndpoint, replaceSecret, updateEndpoint } from './rows.ts'
import { newSecret, sealSecret } from './secret.ts'
import { auditedOf, checkEventTypes, checkUrl, type GivenSettings } from './settings.ts'

export const GRACE_SECONDS = 86_400
export const MAX_GRACE_SECONDS = 604_800

export type GivenChange = GivenSettings & {
  status?: EndpointStatus
  /** The versions that the caller expects to change, from `If-Match`; undefined for any. */
  expected?: readonly number[] | undefined
}

export type EndpointChanges = ReturnType<typeof createEndpointChanges>

interface ChangesDeps {
  db: Pick<Database, 'tenant'>
  sealer: Sealer
  outbound: Pick<Outbound, 'check'>
}

export function createEndpointChanges({ db, sealer, outbound }: ChangesDeps) {
  return {
    /**
     * What `given` leaves out stays. Disabling cancels the deliveries that wait; enabling begins with the events to come.
     * @throws {Failure} `environment_mismatch`, `not_found`, `invalid_request` at `/url` or `/event_types`; `precondition_failed`.
     */
    async update(
      scope: Acting,
      id: string,
      { expected, ...given }: GivenChange,
      key?: IdempotencyKey,
    ): Promise<EndpointRow> {
      checkId(id, 'whe', scope.environment)
      if (given.url !== undefined) checkUrl(outbound, scope, given.url)
      if (given.eventTypes !== undefined) checkEventTypes(given.eventTypes)
      const update = async (tx: Tx) => {
        const before = await getOwned(lockEndpoint(tx, id), id)
        checkVersion(expected, before)
        const status = given.status ?? before.status
        const isDisabling = status === 'disabled' && before.status === 'enabled'
        const isEnabling = status === 'enabled' && before.status === 'disabled'
        const isFresh = isEnabling || (given.url !== undefined && given.url !== before.url)
        const after = await updateEndpoint(tx, id, {
          ...before,
          ...given,
          status,
          disabledReason: isDisabling ? 'manual' : status === 'enabled' ? null : before.disabledReason,
        })
        await limitDeliveries(tx, scope, after)
        if (isFresh) await rearm(tx, id)
        if (isDisabling) await cancelWaiting(tx, id)
        await recordAudit(tx, scope, {
          action: 'webhook_endpoint.changed',
          subjectId: id,
          before: auditedOf(before),
          after: auditedOf(after),
        })
        return after
      }
      return db.tenant(scope, (tx) => once(tx, key, update, () => id))
    },

    /**
     * Makes a new secret, which is returned this once. The one before it signs as well for `graceSeconds`; an older one
     * no longer does.
     * @throws {Failure} `environment_mismatch`, `not_found`.
     */
    async rotateSecret(
      scope: Acting,
      id: string,
      { graceSeconds }: { graceSeconds: number },
      key?: IdempotencyKey,
    ): Promise<{ endpoint: EndpointRow; secret: string }> {
      checkId(id, 'whe', scope.environment)
      const secret = newSecret()
      const sealedSecret = sealSecret(sealer, id, secret)
      const rotate = async (tx: Tx) => {
        const endpoint = await getOwned(replaceSecret(tx, id, { sealedSecret, graceSeconds }), id)
        await recordAudit(tx, scope, {
          action: 'webhook_endpoint.secret_rotated',
          subjectId: id,
          after: { grace_seconds: graceSeconds },
        })
        return { endpoint, secret }
      }
      return db.tenant(scope, (tx) => once(tx, key, rotate, () => id))
    },
  }
}
