// Claims as in the other tests, with the risk policy and re-evaluation on the same rows. No walk starts by itself.

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
import { createReevaluations } from '#src/attest/reevaluate/reevaluations.ts'
import { reevaluationRoutes } from '#src/attest/reevaluate/routes.ts'
import { createWalk } from '#src/attest/reevaluate/walk.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import { createFindEffect } from '#src/platform/http/idempotency.ts'
import { createPager } from '#src/platform/http/page.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { Work } from '#src/platform/jobs/consume.ts'
import { call, makeKeyRow, startApp, type TestAnswer } from '../../support/http.ts'
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
  /** One round of clock. */
  walk(): Promise<number>
  /** Walks, and runs the resulting jobs, until no work is left. */
  drain(scope: Scope): Promise<void>
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
    ...reevaluationRoutes(reevaluations),
    ...dryRunRoutes(reevaluations),
  ]
  const app = await startApp(routes, { findKey: async (raw) => keys.get(raw), findEffect: createFindEffect(db) })
  const walk = createWalk({ db, listSeconds: 0 })

  function addKey(row: Partial<KeyRow>): string {
    const raw = service.addKey({ scopes: ['all'], ...row })
    keys.set(raw, makeKeyRow({ scopes: ['all'], ...row }))
    return raw
  }
  const queued = ({ accountId }: Scope) =>
    owner<{ id: string; attestation: string }>(
      `SELECT id, payload ->> 'attestationId' AS attestation FROM jobs
       WHERE queue = 'attest' AND state = 'queued' AND account_id = $1`,
      [accountId],
    )

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
    walk: () => walk(),
    async drain(scope) {
      for (;;) {
        await walk()
        const jobs = await queued(scope)
        for (const { id, attestation } of jobs) await service.runJob(attestation, await service.take(id), work)
        const [open] = await owner('SELECT 1 FROM reevaluations WHERE finished_at IS NULL AND account_id = $1', [
          scope.accountId,
        ])
        if (jobs.length === 0 && open === undefined) return
      }
    },
    async close() {
      await app.close()
      await service.close()
    },
  }
}
