// Recoveries of an endpoint: what it did not take is sent again, in the background.

import { recordAudit } from '#src/account/audit/record.ts'
import { Failure, invalidField } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import type { Page, Pager } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, idsBefore, newId, newJobId, type Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { SLACK_MS } from './recover.ts'
import { findRecovery, insertRecovery, listRecoveries, type RecoveryRow, type Which } from './recovery-rows.ts'
import { findEndpoint } from './rows.ts'
import { notFound } from './settings.ts'

export type Recoveries = ReturnType<typeof createRecoveries>

interface RecoveriesDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
  now?: () => Date
}

export function createRecoveries({ db, pager, now = () => new Date() }: RecoveriesDeps) {
  async function requireEndpoint(tx: Tx, id: string) {
    const endpoint = await findEndpoint(tx, id)
    if (endpoint === undefined) throw notFound(id)
    return endpoint
  }

  return {
    /**
     * Begins to send again what was made since a time and until now.
     * @throws {Failure} `environment_mismatch`, `not_found`; `invalid_request` for a time that is to come; `conflict` when
     * the endpoint is disabled, or such a recovery runs already.
     */
    async begin(
      scope: Acting,
      endpointId: string,
      { since, which }: { since: Date; which: Which },
      key?: IdempotencyKey,
    ): Promise<RecoveryRow> {
      checkId(endpointId, 'whe', scope.environment)
      if (since > now()) throw invalidField('/since', 'out_of_range', 'must not be in the future')
      const id = newId('rcv', scope.environment, now().getTime())
      const begin = async (tx: Tx) => {
        const endpoint = await requireEndpoint(tx, endpointId)
        if (endpoint.status === 'disabled') {
          throw new Failure('conflict', `${endpointId} is disabled (${endpoint.disabledReason}): enable it first.`)
        }
        const jobId = newJobId()
        const cursor = idsBefore(
          which === 'failed' ? 'whd' : 'evt',
          scope.environment,
          new Date(since.getTime() - SLACK_MS),
        )
        const createdBy = actorOf(scope.principal).id
        const recovery = await insertRecovery(tx, scope, { id, endpointId, which, since, cursor, jobId, createdBy })
        if (recovery === undefined) {
          throw new Failure('conflict', `A recovery of what is ${which} runs already for ${endpointId}.`)
        }
        await enqueue(tx, 'deliver', scope, [
          { id: jobId, payload: { recoveryId: id }, lane: `${endpointId} recovery` },
        ])
        const after = { which, since: since.toISOString() }
        await recordAudit(tx, scope, { action: 'webhook_endpoint.recovered', subjectId: endpointId, after })
        return recovery
      }
      return db.tenant(scope, (tx) => once(tx, key, begin, () => id))
    },

    /** @throws {Failure} `environment_mismatch`, `not_found`. */
    async get(scope: Scope, endpointId: string, id: string): Promise<RecoveryRow> {
      checkId(endpointId, 'whe', scope.environment)
      checkId(id, 'rcv', scope.environment)
      const row = await db.tenant(scope, (tx) => findRecovery(tx, endpointId, id))
      if (row === undefined) throw new Failure('not_found', `No recovery ${id} of this endpoint.`)
      return row
    },

    /** Newest first. @throws {Failure} `environment_mismatch`, `not_found`. */
    async list(
      scope: Scope,
      endpointId: string,
      { limit, cursor }: { limit: number; cursor?: string | undefined },
    ): Promise<Page<RecoveryRow>> {
      checkId(endpointId, 'whe', scope.environment)
      const binding = { route: `GET /v1/webhook-endpoints/${endpointId}/recoveries`, scope }
      const before = pager.decode(cursor, binding)
      return db.tenant(scope, async (tx) => {
        await requireEndpoint(tx, endpointId)
        const rows = await listRecoveries(tx, endpointId, { before, limit: limit + 1 })
        return pager.page(rows, limit, ({ id }) => id, binding)
      })
    },
  }
}
