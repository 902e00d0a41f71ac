// Claims as a caller sees them: the real application on a free port with Postgres, a disk, signing keys and job engine.
// No job runs by itself: a test starts a worker, or takes a job over as a delivery does.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { Registry } from 'prom-client'
import { createCaptures } from '#src/attest/captures/captures.ts'
import { streamRoutes } from '#src/attest/captures/stream-routes.ts'
import { createStreams } from '#src/attest/captures/streams.ts'
import { type Claims, createClaims } from '#src/attest/claims/claims.ts'
import { claimRoutes } from '#src/attest/claims/routes.ts'
import { createVerify, type VerifyDeps } from '#src/attest/claims/verify.ts'
import { createDevices } from '#src/attest/devices/devices.ts'
import type { Trust } from '#src/attest/hardware/evidence.ts'
import { createC2paReader } from '#src/attest/media/c2pa.ts'
import { createDecoder } from '#src/attest/media/decoder.ts'
import { createInspector } from '#src/attest/media/inspector.ts'
import { createMedia, type MediaDomain } from '#src/attest/media/media.ts'
import { C2PA_ANCHORS, type CaRegistry, createCaRegistry, ROOT_CAS } from '#src/attest/trust/registry.ts'
import { trustRoutes } from '#src/attest/trust/routes.ts'
import { findCas } from '#src/attest/trust/rows.ts'
import { createSealer } from '#src/platform/crypto/seal.ts'
import { createSigningKeys } from '#src/platform/crypto/signing-keys.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import { createFindEffect, createKeepStatus } from '#src/platform/http/idempotency.ts'
import { createPager } from '#src/platform/http/page.ts'
import type { Scope } from '#src/platform/ids.ts'
import { claimAll, settle } from '#src/platform/jobs/backlog.ts'
import { createEngine } from '#src/platform/jobs/bull.ts'
import { type JobOutcome, type RunningJob, startWorker, type Work, type Worker } from '#src/platform/jobs/consume.ts'
import { createDispatcher } from '#src/platform/jobs/dispatch.ts'
import { runDispatchLoops } from '#src/platform/jobs/loops.ts'
import { createJobMetrics } from '#src/platform/jobs/metrics.ts'
import { createWaiters, type Waiters } from '#src/platform/jobs/waiters.ts'
import { createDiskStore, type DiskStore } from '#src/platform/store/disk.ts'
import { createKeyring, type TestCaller } from '../../support/callers.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { call, startApp, type TestAnswer, type TestApp } from '../../support/http.ts'

export type Caller = TestCaller

export interface EventRow {
  type: string
  data: Record<string, unknown>
}

type Sent = NonNullable<Parameters<typeof call>[2]>
const TABLES = ['claims', 'attestations', 'jobs', 'events', 'media', 'capture_sessions'] as const
type Table = (typeof TABLES)[number]

export interface Service {
  test: TestDatabase
  app: TestApp
  /** The clock of the devices' registry; Postgres and the claims keep their own time. */
  clock: { now: Date }
  claims: Claims
  media: MediaDomain
  store: DiskStore
  waiters: Waiters
  devices: ReturnType<typeof createDevices>
  rootCas: CaRegistry
  captures: ReturnType<typeof createCaptures>
  verify: Work<'attest'>
  signRecord: VerifyDeps['signRecord']
  /** The parts of the handler. */
  verifyDeps: VerifyDeps
  /** The handler with other parts than the service's own. */
  makeVerify(deps: Partial<VerifyDeps>): Work<'attest'>
  makeCaller(row?: Partial<KeyRow>): Promise<Caller>
  addKey(row: Partial<KeyRow>): string
  call(caller: { key: string | undefined }, path: string, sent?: Sent): Promise<TestAnswer>
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
  /** What was emitted in this account, in order. */
  events(scope: Scope): Promise<EventRow[]>
  count(table: Table): Promise<number>
  /** Everything that a refused request must leave unchanged. */
  fingerprint(): Promise<string>
  close(): Promise<void>
}

interface ServiceOptions {
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
}: ServiceOptions = {}): Promise<Service> {
  const test = await createTestDatabase({ poolSize })
  const root = await mkdtemp(join(tmpdir(), 'claims-'))
  const clock = { now: new Date() }
  const log = pino({ level: 'silent' })
  const db = through(test.db)
  const now = () => new Date()
  const pager = createPager({ key: randomBytes(32) })
  const store = createDiskStore({ root })
  const inspector = createInspector()
  const decoder = createDecoder()
  const c2pa = createC2paReader()
  const media = createMedia({ db, store, inspector, decoder })
  const signingKeys = createSigningKeys({
    db,
    sealer: createSealer({ current: { id: 'k1', key: randomBytes(32) } }),
    now,
  })
  await signingKeys.ensure()
  const engine = createEngine({ databaseUrl: test.url })
  const dispatcher = createDispatcher({ db, engine, log })
  const waiters = createWaiters({ db: test.db, reports: engine.settled })
  const registry = { db, pager, now: () => clock.now, ...(trust === undefined ? {} : { trust }) }
  const rootCas = createCaRegistry(registry, ROOT_CAS)
  const dispatching = new Set<Promise<void>>()
  const streams = createStreams({ db, store, now })
  const claims = createClaims({
    db,
    storeInline: media.storeInline,
    streams,
    dispatchSoon(jobId) {
      const task = dispatcher.dispatchOne('attest', jobId).catch(() => {})
      dispatching.add(task)
      return task.finally(() => dispatching.delete(task))
    },
    waiters,
    pager,
    now,
  })
  const verifyDeps: VerifyDeps = {
    db,
    store,
    inspector,
    c2pa,
    c2paAnchorsOf: async (scope) =>
      (await db.tenant(scope, (tx) => findCas(tx, 'c2pa_anchors'))).map(({ certificate }) => certificate),
    signRecord: signingKeys.signRecord,
    now,
    ...(trust === undefined ? {} : { revocations: trust.revocations }),
  }
  const makeVerify = (deps: Partial<VerifyDeps>) => createVerify({ ...verifyDeps, ...deps })
  const verify = makeVerify({})

  const { findKey, addKey, makeCaller } = createKeyring(test, ['attest', 'verify'])
  const routes = [
    ...claimRoutes(claims),
    ...streamRoutes(streams),
    ...trustRoutes(rootCas, createCaRegistry(registry, C2PA_ANCHORS)),
  ]
  const app = await startApp(routes, {
    findKey,
    findEffect: createFindEffect(db),
    keepStatus: createKeepStatus(db),
    jwks: signingKeys.jwks,
  })

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
    test,
    app,
    clock,
    claims,
    media,
    store,
    waiters,
    devices: createDevices(registry),
    rootCas,
    captures: createCaptures({ db, now: () => clock.now }),
    verify,
    signRecord: signingKeys.signRecord,
    verifyDeps,
    makeVerify,
    addKey,
    makeCaller,
    call: ({ key }, path, sent = {}) => call(app, path, key === undefined ? sent : { ...sent, key }),
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
    events: ({ accountId }) =>
      test.owner<EventRow>('SELECT type, data FROM events WHERE account_id = $1 ORDER BY id', [accountId]),
    async count(table) {
      const [row] = await test.owner<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`)
      return row?.count ?? 0
    },
    async fingerprint() {
      // A repeated upload is recorded on the media, also when the request had no other effect.
      const digestOf = (table: Table) =>
        `(SELECT md5(string_agg((to_jsonb(t) - 'uploaded_at')::text, ' ' ORDER BY t.id)) FROM ${table} t)`
      const [row] = await test.owner<{ text: string }>(`SELECT concat_ws('|', ${TABLES.map(digestOf)}) AS text`)
      return row?.text ?? ''
    },
    async close() {
      await app.close()
      waiters.close()
      await Promise.all(dispatching)
      await dispatcher.close()
      await engine.close()
      await inspector.close()
      await decoder.close()
      await c2pa.close()
      await test.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}
