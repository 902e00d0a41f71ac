import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createEndpointChanges } from '#src/account/webhooks/changes.ts'
import { createDeliver } from '#src/account/webhooks/deliver.ts'
import { createDeliveries } from '#src/account/webhooks/deliveries.ts'
import { createDisabledLetter } from '#src/account/webhooks/disabled-mail.ts'
import { type Emitted, emitMany, type NewEvent } from '#src/account/webhooks/emit.ts'
import { createRecoveries } from '#src/account/webhooks/recoveries.ts'
import type { Scope } from '#src/platform/ids.ts'
import { claimAll, putBack, STALE_JOB, settle } from '#src/platform/jobs/backlog.ts'
import type { JobOutcome, RunningJob } from '#src/platform/jobs/consume.ts'
import { actingIn } from '../../support/callers.ts'
import { makeAccount } from '../../support/database.ts'
import { startTestService } from '../../support/service.ts'

export interface Received {
  headers: IncomingHttpHeaders
  body: Buffer
  json: { event_id: string; type: string; account_id: string; data: Record<string, unknown> }
}

export type Responder = (response: ServerResponse, received: Received) => unknown

export type Fixture = Awaited<ReturnType<typeof createFixture>>

/** The service on a database of its own, one account, and as many real receivers as a test asks for. */
export async function createFixture() {
  const service = await startTestService({ scopes: ['admin'], env: { OUTBOUND_ALLOW: '127.0.0.1' } })
  const { test } = service
  const { sealer, outbound, pager } = service.services.platform
  const { webhooks } = service.services.account
  const deliver = createDeliver({ db: test.db, sealer, outbound, random: () => 0.5 })
  const scope = await makeAccount(test)
  const closers: (() => unknown)[] = []

  /** A receiver that records. Answers 200 unless told otherwise. */
  async function receiver(respond: Responder = (response) => response.end()) {
    const received: Received[] = []
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const body = Buffer.concat(chunks)
      const one = { headers: request.headers, body, json: JSON.parse(body.toString()) }
      received.push(one)
      respond(response, one)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(() => {
      server.closeAllConnections()
      server.close()
    })
    return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
  }

  /** Runs a delivery's job once, as a worker would: claim, run, and put back what is not done. */
  async function runOnce(
    deliveryId: string,
    { work = deliver, signal, isDue = true }: RunOptions = {},
  ): Promise<JobOutcome | 'stale'> {
    const jobId = await jobOf(deliveryId)
    // Does the work of the dispatcher, and moves the due time.
    const [ticket] = await test.owner<{ dispatches: number }>(
      `UPDATE jobs SET state = 'dispatched', dispatches = dispatches + 1 WHERE id = $1 RETURNING dispatches`,
      [jobId],
    )
    if (isDue)
      await test.owner('UPDATE deliveries SET next_attempt_at = now() WHERE id = $1 AND status = $2', [
        deliveryId,
        'pending',
      ])
    const [claimed] = await claimAll(test.db, 'deliver', [{ id: jobId, dispatches: ticket?.dispatches ?? 0 }])
    if (claimed === undefined) return 'stale'
    const job: RunningJob = {
      ...claimed,
      isLastAttempt: false,
      signal: signal ?? new AbortController().signal,
      settle: (tx) => settle(tx, claimed),
    }
    try {
      const outcome = await work.run({ deliveryId }, job)
      if (outcome.kind === 'retry') {
        await putBack(test.db, claimed, { delayMs: outcome.delayMs ?? 0, error: outcome.error, isCounted: true })
      }
      return outcome
    } catch (error) {
      if (error === STALE_JOB) return 'stale'
      throw error
    }
  }

  async function jobOf(deliveryId: string): Promise<string> {
    const [row] = await test.owner<{ job_id: string }>('SELECT job_id FROM deliveries WHERE id = $1', [deliveryId])
    if (row === undefined) throw new Error(`no delivery ${deliveryId}`)
    return row.job_id
  }

  return {
    ...test,
    app: service.app,
    addKey: service.addKey,
    scope,
    sealer,
    outbound,
    webhooks,
    deliveries: createDeliveries({ db: test.db, pager }),
    recoveries: createRecoveries({ db: test.db, pager, waits: { ended: async () => true } }),
    service,
    writeDisabled: createDisabledLetter(service.services.platform),
    changes: createEndpointChanges({ db: test.db, sealer, outbound }),
    deliver,
    receiver,
    runOnce,
    jobOf,
    makeAccount: (options?: Parameters<typeof makeAccount>[1]) => makeAccount(test, options),
    emitIn: emitMany,
    retention(what: string) {
      const rule = service.services.features.flatMap(({ retention = [] }) => retention).find((one) => one.what === what)
      if (rule?.per !== 'tenant') throw new Error(`no retention of ${what}`)
      return rule
    },
    emit: (events: NewEvent[], into: Scope = scope): Promise<Emitted[]> =>
      test.db.tenant(into, (tx) => emitMany(tx, into, events)),
    async makeEndpoint(url: string, eventTypes: string[] = ['*'], into: Scope = scope) {
      const { endpoint, secret } = await webhooks.create(actingIn(into), { url, eventTypes })
      return { id: endpoint.id, secret }
    },
    async deliveryOf(id: string) {
      const [row] = await test.owner<{ status: string; attempts: number; next_attempt_at: Date | null }>(
        'SELECT status, attempts, next_attempt_at FROM deliveries WHERE id = $1',
        [id],
      )
      return row
    },
    /** Transactions of this database that wait for a lock. */
    async countLockWaits() {
      const [row] = await test.owner<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
      return row?.count
    },
    /** undefined: it has succeeded. */
    async jobState(deliveryId: string) {
      const [row] = await test.owner<{ state: string }>('SELECT state FROM jobs WHERE id = $1', [
        await jobOf(deliveryId),
      ])
      return row?.state
    },
    async close() {
      for (const closer of closers) await closer()
      await service.close()
    },
  }
}

interface RunOptions {
  work?: ReturnType<typeof createDeliver>
  signal?: AbortSignal
  /** false leaves the row's own time unchanged. */
  isDue?: boolean
}

export const escalated = (claimId: string): NewEvent => ({
  type: 'claim.escalated',
  data: { claim_id: claimId, risk_score: 80, factor_codes: ['device_revoked'] },
})
