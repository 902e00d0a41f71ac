// Claims as a caller sees them, with a job engine. No job runs by itself: a test starts a worker, or takes a job over as a
// delivery does.

import { Registry } from 'prom-client'
import type { Captures } from '#src/attest/captures/captures.ts'
import type { Claims } from '#src/attest/claims/claims.ts'
import { claimsFeature } from '#src/attest/claims/feature.ts'
import type { VerifyDeps } from '#src/attest/claims/verify.ts'
import type { Devices } from '#src/attest/devices/devices.ts'
import { devicesFeature } from '#src/attest/devices/feature.ts'
import type { Trust } from '#src/attest/hardware/evidence.ts'
import type { MediaDomain } from '#src/attest/media/media.ts'
import type { CaRegistry } from '#src/attest/trust/registry.ts'
import type { Database } from '#src/platform/db/database.ts'
import { claimAll, settle } from '#src/platform/jobs/backlog.ts'
import { type JobOutcome, type RunningJob, startWorker, type Work, type Worker } from '#src/platform/jobs/consume.ts'
import { runDispatchLoops } from '#src/platform/jobs/loops.ts'
import { createJobMetrics } from '#src/platform/jobs/metrics.ts'
import type { Waiters } from '#src/platform/jobs/waiters.ts'
import type { TestCaller } from '../../support/callers.ts'
import { call, type TestAnswer } from '../../support/http.ts'
import { startTestService, type TestService, type TestServiceOptions } from '../../support/service.ts'

export type Caller = TestCaller

const TABLES = ['claims', 'attestations', 'jobs', 'events', 'media', 'capture_sessions'] as const
type Table = (typeof TABLES)[number]

export interface Service extends TestService {
  claims: Claims
  media: MediaDomain
  waiters: Waiters
  devices: Devices
  rootCas: CaRegistry
  captures: Captures
  verify: Work<'attest'>
  signRecord: VerifyDeps['signRecord']
  /** The parts of the handler. */
  verifyDeps: VerifyDeps
  /** The handler with other parts than the service's own. */
  makeVerify(deps: Partial<VerifyDeps>): Work<'attest'>
  /** POST /v1/claims/attest, not waiting unless `prefer` asks for it. */
  attest(caller: { key: string }, body: unknown, prefer?: string): Promise<TestAnswer>
  /** Takes a job over, as the delivery to a worker does. */
  take(jobId: string): Promise<RunningJob>
  /** Takes the attestation's job and runs it. */
  run(attestationId: string, work?: Work<'attest'>): Promise<JobOutcome>
  /** Does what a worker does with a job that it holds. */
  runJob(attestationId: string, job: RunningJob, work?: Work<'attest'>): Promise<JobOutcome>
  /** Submits, evaluates and returns the attestation. */
  judge(caller: Caller, body: unknown): Promise<TestAnswer['json']>
  jobOf(attestationId: string): Promise<string>
  startWorker(options?: { work?: Work<'attest'>; concurrency?: number }): Promise<Worker>
  /** Everything that a refused request must leave unchanged. */
  fingerprint(): Promise<string>
}

export interface ServiceOptions extends Pick<TestServiceOptions, 'overrides' | 'replace'> {
  /** Escalation opens cases. Without it, a test may pass its own `openCase` to `makeVerify`. */
  opensCases?: boolean
  /** What the claims and the handler use instead of the database itself. */
  through?: (db: Database) => Database
  /** The hardware vendors that count as trusted. */
  trust?: Trust
  poolSize?: number
}

export async function startService({
  through = (db) => db,
  trust,
  poolSize = 12,
  opensCases = false,
  overrides = () => ({}),
  replace = () => [],
}: ServiceOptions = {}): Promise<Service> {
  const made: { devices?: Devices } = {}
  const service = await startTestService({
    scopes: ['attest', 'verify'],
    poolSize,
    env: { CASES_ON_ESCALATION: opensCases ? 'on' : 'off' },
    overrides: (parts) => ({ db: { ...through(parts.db), pools: parts.db.pools }, ...overrides(parts) }),
    replace(services) {
      if (trust === undefined) return replace(services)
      const { feature, devices } = devicesFeature(services.platform, { trust })
      made.devices = devices
      return [feature, ...replace(services)]
    },
  })
  const { test, app } = service
  const { platform, attest: product } = service.services
  const { db, engine, dispatcher, waiters, signingKeys, log } = platform
  const { media, captures, cases, hardware, claims, devices } = product
  const { inspector, c2pa } = media
  const { c2paAnchorsOf } = product.trust
  const revocations = trust?.revocations ?? hardware.revocations
  const { store, now } = platform
  const { signRecord: sign } = signingKeys
  const verifyDeps: VerifyDeps = { db, store, inspector, c2pa, c2paAnchorsOf, signRecord: sign, now, revocations }
  const makeVerify: Service['makeVerify'] = ({ db: chosen = db, signRecord = signingKeys.signRecord, ...deps }) => {
    const pooled = { ...chosen, pools: platform.db.pools }
    const parts = { ...platform, ...deps, db: pooled, signingKeys: { ...signingKeys, signRecord } }
    const below = { ...media, ...captures, ...cases, ...product.trust, revocations, ...deps }
    const work = claimsFeature(parts, below).feature.work?.attest?.()
    if (work === undefined) throw new Error('the feature of the claims does not do the work of attest')
    return work
  }
  const verify = makeVerify({})

  const attest: Service['attest'] = ({ key }, body, prefer = 'wait=0') => {
    const sent = typeof body === 'string' ? { body, headers: { 'Content-Type': 'application/json' } } : { json: body }
    return call(app, '/v1/claims/attest', {
      ...sent,
      key,
      headers: { ...sent.headers, ...(prefer && { Prefer: prefer }) },
    })
  }

  async function jobOf(attestationId: string): Promise<string> {
    const [row] = await test.owner<{ job_id: string }>('SELECT job_id FROM attestations WHERE id = $1', [attestationId])
    if (row === undefined) throw new Error(`no attestation ${attestationId}`)
    return row.job_id
  }

  async function take(jobId: string): Promise<RunningJob> {
    const [row] = await test.owner<{ dispatches: number }>(
      `UPDATE jobs SET state = 'dispatched', dispatches = dispatches + 1 WHERE id = $1 RETURNING dispatches`,
      [jobId],
    )
    const [claimed] = await claimAll(db, 'attest', [{ id: jobId, dispatches: row?.dispatches ?? 0 }])
    if (claimed === undefined) throw new Error(`the job ${jobId} can't be taken`)
    const { id, scope, fence, attempt } = claimed
    const { signal } = new AbortController()
    return { id, scope, fence, attempt, isLastAttempt: false, signal, settle: (tx) => settle(tx, claimed) }
  }

  async function runJob(attestationId: string, job: RunningJob, work = verify): Promise<JobOutcome> {
    const outcome = await work.run({ attestationId }, job)
    // What the worker does.
    if (outcome.kind === 'done') await db.tenant(job.scope, job.settle)
    return outcome
  }

  async function run(attestationId: string, work = verify): Promise<JobOutcome> {
    return runJob(attestationId, await take(await jobOf(attestationId)), work)
  }

  return {
    ...service,
    claims: claims.claims,
    media: media.media,
    waiters,
    devices: made.devices ?? devices.devices,
    rootCas: product.trust.rootCas,
    captures: captures.captures,
    verify,
    signRecord: signingKeys.signRecord,
    verifyDeps,
    makeVerify,
    attest,
    take,
    run,
    runJob,
    async judge(caller, body) {
      const { json, text } = await attest(caller, body)
      const id = json.attestation_id
      if (typeof id !== 'string') throw new Error(`not accepted: ${text}`)
      await run(id)
      return (await call(app, `/v1/attestations/${id}`, { key: caller.key })).json
    },
    jobOf,
    async startWorker({ work = verify, concurrency = 4 } = {}) {
      const worker = await startWorker({
        queue: 'attest',
        work,
        db,
        engine,
        log,
        metrics: createJobMetrics(new Registry()),
        concurrency,
      })
      const loop = runDispatchLoops(dispatcher, log)
      return {
        ...worker,
        async close(deadlineMs) {
          await loop.close()
          await worker.close(deadlineMs)
        },
      }
    },
    async fingerprint() {
      // A repeated upload is recorded on the media, also when the request had no other effect.
      const digestOf = (table: Table) =>
        `(SELECT md5(string_agg((to_jsonb(t) - 'uploaded_at')::text, ' ' ORDER BY t.id)) FROM ${table} t)`
      const [row] = await test.owner<{ text: string }>(`SELECT concat_ws('|', ${TABLES.map(digestOf)}) AS text`)
      return row?.text ?? ''
    },
  }
}
