// Recoveries of an endpoint: what it did not take is sent again, in the background.

import { recordAudit } from '#src/account/audit/record.ts'
import { readActors } from '#src/account/users/actors.ts'
import { Failure, invalidField } from '#src/failure.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { ActorView } from '#src/platform/http/actor.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { type CountedPage, listPage, type PageQuery, type Pager } from '#src/platform/http/page.ts'
import { type Acting, actorOf } from '#src/platform/http/principal.ts'
import { checkId, idsBefore, newId, newJobId, type Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import type { AwaitedRow, PolledWaits } from '#src/platform/polled-waits.ts'
import { SLACK_MS } from './recover.ts'
import { findRecovery, insertRecovery, listRecoveries, type RecoveryRow, type Which } from './recovery-rows.ts'
import { findEndpoint } from './rows.ts'
import { notFound } from './settings.ts'

export interface ShownRecovery extends RecoveryRow {
  creator: ActorView
}

export type Recoveries = ReturnType<typeof createRecoveries>

interface RecoveriesDeps {
  db: Pick<Database, 'tenant'>
  pager: Pager
  waits: Pick<PolledWaits<AwaitedRow>, 'ended'>
  now?: () => Date
}

export function createRecoveries({ db, pager, waits, now = () => new Date() }: RecoveriesDeps) {
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
    ): Promise<ShownRecovery> {
      checkId(endpointId, 'whe', scope.environment)
      if (since > now()) throw invalidField('/from', 'out_of_range', 'must not be in the future')
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
        const after = { which, from: since.toISOString() }
        await recordAudit(tx, scope, { action: 'webhook_endpoint.recovered', subjectId: endpointId, after })
        return withCreator(tx, recovery)
      }
      return db.tenant(scope, (tx) => once(tx, key, begin, () => id))
    },

    /**
     * @param waitSeconds How long it waits for the end. @param signal Aborted when the caller has gone.
     * @throws {Failure} `environment_mismatch`, `not_found`.
     */
    async get(
      scope: Scope,
      endpointId: string,
      id: string,
      { waitSeconds, signal }: { waitSeconds: number; signal: AbortSignal },
    ): Promise<ShownRecovery> {
      checkId(endpointId, 'whe', scope.environment)
      checkId(id, 'rcv', scope.environment)
      const first = await read(scope, endpointId, id)
      if (waitSeconds === 0 || first.status !== 'running') return first
      const { accountId, environment } = scope
      await waits.ended({ accountId, environment, id }, waitSeconds * 1_000, signal)
      return read(scope, endpointId, id)
    },

    /** Newest first. @throws {Failure} `environment_mismatch`, `not_found`. */
    async list(scope: Scope, endpointId: string, query: PageQuery): Promise<CountedPage<ShownRecovery>> {
      checkId(endpointId, 'whe', scope.environment)
      const list = { route: `GET /v1/webhook-endpoints/${endpointId}/recoveries`, scope, query }
      return listPage({ db, pager }, list, {
        rows: async (tx, page) => {
          await requireEndpoint(tx, endpointId)
          return listRecoveries(tx, endpointId, page)
        },
        show: shownAll,
      })
    },
  }

  async function read(scope: Scope, endpointId: string, id: string): Promise<ShownRecovery> {
    return db.tenant(scope, async (tx) => {
      const row = await findRecovery(tx, endpointId, id)
      if (row === undefined) throw new Failure('not_found', `No recovery ${id} of this endpoint.`)
      return withCreator(tx, row)
    })
  }
}

async function shownAll(tx: Tx, rows: readonly RecoveryRow[]): Promise<ShownRecovery[]> {
  const actor = await readActors(
    tx,
    rows.map(({ createdBy }) => createdBy),
  )
  return rows.map((row) => ({ ...row, creator: actor(row.createdBy) }))
}

async function withCreator(tx: Tx, row: RecoveryRow): Promise<ShownRecovery> {
  const actor = await readActors(tx, [row.createdBy])
  return { ...row, creator: actor(row.createdBy) }
}
