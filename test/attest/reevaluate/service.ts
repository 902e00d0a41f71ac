// Claims as in the other tests, whose escalation opens cases, and re-evaluation on the same rows. No job runs by itself.

import { type Cause, requestReevaluation } from '#src/attest/causes/request.ts'
import type { Trust } from '#src/attest/hardware/evidence.ts'
import { createReevaluate, type ReevaluateDeps } from '#src/attest/reevaluate/reevaluate.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Work } from '#src/platform/jobs/consume.ts'
import type { TestAnswer } from '../../support/http.ts'
import { createJobs, type Jobs } from '../../support/jobs.ts'
import type { Sent } from '../../support/service.ts'
import { type Caller, type Service, startService } from '../claims/service.ts'

export interface Reevaluating {
  service: Service
  /** An account, and a key of it that may do everything. */
  makeCaller(row?: Partial<KeyRow>): Promise<Caller>
  call(caller: { key?: string }, path: string, sent?: Sent): Promise<TestAnswer>
  put(caller: { key: string }, document: object, headers?: Record<string, string>): Promise<TestAnswer>
  request(scope: Scope, cause: Cause): Promise<string | undefined>
  jobs: Jobs<'reevaluate'>
  reevaluate: Work<'reevaluate'>
  makeReevaluate(deps?: Partial<ReevaluateDeps>): Work<'reevaluate'>
  /** Runs the account's jobs that carry a cause, once each, due or not. */
  walk(scope: Scope): Promise<void>
  /** Runs the account's jobs until its re-evaluations have ended. */
  drain(scope: Scope): Promise<void>
  /** Whether a re-evaluation of the account has not ended. */
  isOpen(scope: Scope): Promise<boolean>
  close(): Promise<void>
}

export const POLICY = {
  require_attestation: false,
  require_biometric: false,
  require_gps: false,
  require_session_nonce: false,
  thresholds: { review: 25, failed: 50 },
  geofence_m: 1_000,
}

export async function startReevaluating(trust?: Trust): Promise<Reevaluating> {
  const service = await startService({ opensCases: true, ...(trust && { trust }) })
  const { db, owner } = service.test
  const { openCase } = service.services.attest.cases
  const own = { ...service.verifyDeps, openCase, listSeconds: 0 }
  const makeReevaluate: Reevaluating['makeReevaluate'] = (deps = {}) => createReevaluate({ ...own, ...deps })
  const reevaluate = makeReevaluate()
  const jobs = createJobs(service.test, 'reevaluate')

  const queued = (queue: string, { accountId }: Scope) =>
    owner<{ id: string; attestation: string | null }>(
      `SELECT id, payload ->> 'attestationId' AS attestation FROM jobs
       WHERE queue = $1 AND state = 'queued' AND account_id = $2 ORDER BY created_at`,
      [queue, accountId],
    )
  async function walk(scope: Scope): Promise<void> {
    for (const { id, attestation } of await queued('reevaluate', scope)) {
      if (attestation === null) await jobs.run(await jobs.take(id), reevaluate)
    }
  }

  return {
    service,
    makeCaller: (row = {}) => service.makeCaller({ scopes: ['all'], ...row }),
    call: service.call,
    put: ({ key }, document, headers = {}) =>
      service.call({ key }, '/v1/account/risk-policy', {
        method: 'PUT',
        json: { document },
        headers: { 'If-Match': '*', ...headers },
      }),
    request: (scope, cause) => db.tenant(scope, (tx) => requestReevaluation(tx, scope, cause)),
    jobs,
    reevaluate,
    makeReevaluate,
    walk,
    async drain(scope) {
      for (;;) {
        await walk(scope)
        for (const { id, attestation } of await queued('attest', scope)) {
          if (attestation !== null) await service.runJob(attestation, await service.take(id))
        }
        const left = await queued('reevaluate', scope)
        for (const { id } of left) await jobs.run(await jobs.take(id), reevaluate)
        if (left.length === 0) return
      }
    },
    async isOpen({ accountId }) {
      const open = 'SELECT FROM reevaluations WHERE account_id = $1 AND finished_at IS NULL'
      return (await owner(open, [accountId])).length > 0
    },
    close: () => service.close(),
  }
}
