// Claims as in the other tests, with the risk policy and re-evaluation on the same rows. No job runs by itself.

import { randomBytes } from 'node:crypto'
import pino from 'pino'
import { createOpenCase } from '#src/attest/cases/escalation.ts'
import { CASE_SETTINGS } from '#src/attest/cases/settings.ts'
import { type Cause, requestReevaluation } from '#src/attest/causes/request.ts'
import type { VerifyDeps } from '#src/attest/claims/verify.ts'
import type { Trust } from '#src/attest/hardware/evidence.ts'
import { createRiskPolicy } from '#src/attest/policy/risk-policy.ts'
import { riskPolicyRoutes } from '#src/attest/policy/routes.ts'
import { dryRunRoutes } from '#src/attest/reevaluate/dry-run-routes.ts'
import { createReevaluate, type ReevaluateDeps } from '#src/attest/reevaluate/reevaluate.ts'
import { createReevaluations } from '#src/attest/reevaluate/reevaluations.ts'
import { reevaluationRoutes } from '#src/attest/reevaluate/routes.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import { createFindEffect } from '#src/platform/http/idempotency.ts'
import { createPager } from '#src/platform/http/page.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Work } from '#src/platform/jobs/consume.ts'
import { call, makeKeyRow, startApp, type TestAnswer } from '../../support/http.ts'
import { createJobs, type Jobs } from '../../support/jobs.ts'
import { type Caller, type Service, startService } from '../claims/service.ts'

export interface Reevaluating {
  service: Service
  work: Work<'attest'>
  /** An account, and a key of it that may do everything. */
  makeCaller(row?: Partial<KeyRow>): Promise<Caller>
  addKey(row: Partial<KeyRow>): string
  call(caller: { key?: string }, path: string, sent?: Parameters<typeof call>[2]): Promise<TestAnswer>
  put(caller: { key: string }, policy: object, headers?: Record<string, string>): Promise<TestAnswer>
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
  const service = await startService(trust === undefined ? {} : { trust })
  const { db, owner } = service.test
  const pager = createPager({ key: randomBytes(32) })
  const now = () => new Date()
  const deps: Partial<VerifyDeps> = { openCase: createOpenCase({ now, settings: CASE_SETTINGS }) }
  const work = service.makeVerify(deps)
  const keys = new Map<string, KeyRow>()
  const reevaluations = createReevaluations({ db, pager })
  const routes = [
    ...riskPolicyRoutes(createRiskPolicy({ db, pager, log: pino({ level: 'silent' }) })),
    ...reevaluationRoutes(reevaluations, service.services.platform.signingKeys),
    ...dryRunRoutes(reevaluations),
  ]
  const app = await startApp(routes, { findKey: async (raw) => keys.get(raw), findEffect: createFindEffect(db) })
  const makeReevaluate = (more: Partial<ReevaluateDeps> = {}) =>
    createReevaluate({
      ...service.verifyDeps,
      openCase: deps.openCase,
      signRecord: service.signRecord,
      listSeconds: 0,
      ...more,
    })
  const reevaluate = makeReevaluate()
  const jobs = createJobs(service.test, 'reevaluate')

  function addKey(row: Partial<KeyRow>): string {
    const raw = service.addKey({ scopes: ['all'], ...row })
    keys.set(raw, makeKeyRow({ scopes: ['all'], ...row }))
    return raw
  }
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
    work,
    addKey,
    async makeCaller(row = {}) {
      const made = await service.makeCaller(row)
      return { ...made, key: addKey({ ...row, ...made }) }
    },
    call: ({ key }, path, sent = {}) => call(app, path, key === undefined ? sent : { ...sent, key }),
    put: ({ key }, policy, headers = {}) =>
      call(app, '/v1/account/risk-policy', { method: 'PUT', json: policy, key, headers }),
    request: (scope, cause) => db.tenant(scope, (tx) => requestReevaluation(tx, scope, cause)),
    jobs,
    reevaluate,
    makeReevaluate,
    walk,
    async drain(scope) {
      for (;;) {
        await walk(scope)
        for (const { id, attestation } of await queued('attest', scope)) {
          if (attestation !== null) await service.runJob(attestation, await service.take(id), work)
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
    async close() {
      await app.close()
      await service.close()
    },
  }
}
