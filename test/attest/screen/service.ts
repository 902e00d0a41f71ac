// Screenings as a caller sees them: the real application on a free port, Postgres, a disk, and a server as detector.
// No job runs by itself: a test takes it over as a delivery does.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import sharp from 'sharp'
import { addAdvisoryCodes } from '#src/attest/claims/claim-rows.ts'
import { createC2paReader } from '#src/attest/media/c2pa.ts'
import { createDecoder } from '#src/attest/media/decoder.ts'
import { createEraser } from '#src/attest/media/erase.ts'
import { createInspector } from '#src/attest/media/inspector.ts'
import { createMedia, type MediaDomain } from '#src/attest/media/media.ts'
import type { Media } from '#src/attest/media/rows.ts'
import { createScreeningBatches } from '#src/attest/screen/batches.ts'
import type { Detector } from '#src/attest/screen/detectors/detector.ts'
import { createHttpDetector } from '#src/attest/screen/detectors/http.ts'
import { createScreeningMetrics } from '#src/attest/screen/metrics.ts'
import { createObserve } from '#src/attest/screen/observe.ts'
import { screenRoutes } from '#src/attest/screen/routes.ts'
import { createScreen, type ScreenDeps } from '#src/attest/screen/screen.ts'
import { createScreenings } from '#src/attest/screen/screenings.ts'
import { createScreeningSettings } from '#src/attest/screen/settings.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import { createFindEffect, createKeepStatus } from '#src/platform/http/idempotency.ts'
import { createPager } from '#src/platform/http/page.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { claimAll, settle } from '#src/platform/jobs/backlog.ts'
import type { JobOutcome, RunningJob, Work } from '#src/platform/jobs/consume.ts'
import { NO_SETTLED_CHANNEL } from '#src/platform/jobs/settled-channel.ts'
import { createWaiters } from '#src/platform/jobs/waiters.ts'
import { createOutbound } from '#src/platform/net/outbound.ts'
import { createDiskStore, type DiskStore } from '#src/platform/store/disk.ts'
import { createKeyring, type TestCaller } from '../../support/callers.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { call, startApp, type TestAnswer } from '../../support/http.ts'
import { type FakeDetector, startDetector } from './detector.ts'

export type Caller = TestCaller
type Sent = NonNullable<Parameters<typeof call>[2]>

export interface ScreenService {
  test: TestDatabase
  store: DiskStore
  media: MediaDomain
  eraser: ReturnType<typeof createEraser>
  server: FakeDetector
  detector: Detector
  /** The real reader of declared facts. */
  observe: ScreenDeps['observe']
  clock: { now: Date }
  /** What the handler logged at warning and above. */
  said: { level: 'warn' | 'error'; about: Record<string, unknown>; message: string }[]
  registry: Registry
  makeWork(deps?: Partial<ScreenDeps>): Work<'screen'>
  makeCaller(row?: Partial<KeyRow>): Promise<Caller>
  addKey(row: Partial<KeyRow>): string
  call(caller: { key: string | undefined }, path: string, sent?: Sent): Promise<TestAnswer>
  /** POST /v1/media/screen, not waiting unless `headers` ask for it. */
  screen(caller: { key: string }, body: unknown, headers?: Record<string, string>): Promise<TestAnswer>
  find(caller: { key: string }, id: unknown): Promise<TestAnswer['json']>
  makeImage(scope: Scope, format?: 'png' | 'tiff'): Promise<Media>
  makeClaim(scope: Scope, columns?: Record<string, unknown>): Promise<string>
  take(screeningId: unknown, more?: Partial<RunningJob>): Promise<RunningJob>
  run(screeningId: unknown, work?: Work<'screen'>, more?: Partial<RunningJob>): Promise<JobOutcome>
  events(scope: Scope): Promise<Record<string, unknown>[]>
  calls(scope: Scope): Promise<{ outcome: string | null; vendor_id: string | null }[]>
  close(): Promise<void>
}

export async function startScreening(): Promise<ScreenService> {
  const test = await createTestDatabase({ poolSize: 12 })
  const root = await mkdtemp(join(tmpdir(), 'screen-'))
  const { db } = test
  const clock = { now: new Date() }
  const now = () => clock.now
  const store = createDiskStore({ root })
  const inspector = createInspector()
  const decoder = createDecoder()
  const media = createMedia({ db, store, inspector, decoder })
  const waiters = createWaiters({ db, reports: NO_SETTLED_CHANNEL })
  const server = await startDetector({ json: { genai_score: 0.1, deepfake_score: 0.1 } })
  const outbound = createOutbound({ allow: ['127.0.0.1'] })
  const detector = createHttpDetector({ outbound, url: server.url, version: '1', now, secret: 'hush' })
  const c2pa = createC2paReader({ anchors: [] })
  const registry = new Registry()
  const metrics = createScreeningMetrics(registry)
  const said: ScreenService['said'] = []
  const log = {
    warn: (about: Record<string, unknown>, message: string) => void said.push({ level: 'warn', about, message }),
    error: (about: Record<string, unknown>, message: string) => void said.push({ level: 'error', about, message }),
  } as unknown as ScreenDeps['log']
  const makeWork = (deps: Partial<ScreenDeps> = {}) =>
    createScreen({
      db,
      store,
      detector,
      observe: async () => [],
      addAdvisoryCodes,
      now,
      random: () => 0,
      metrics,
      log,
      ...deps,
    })
  const pager = createPager({ key: randomBytes(32) })
  const screenings = createScreenings({
    db,
    storeInline: media.storeInline,
    dispatchSoon: async () => {},
    waiters,
    pager,
    now,
  })
  const { findKey, addKey, makeCaller } = createKeyring(test, ['screen', 'admin'])
  const routes = screenRoutes(screenings, createScreeningBatches({ db, now }), createScreeningSettings({ db }))
  const app = await startApp(routes, {
    findKey,
    findEffect: createFindEffect(db),
    keepStatus: createKeepStatus(db),
  })

  let shade = 0
  const take: ScreenService['take'] = async (screeningId, more = {}) => {
    const [row] = await test.owner<{ id: string; dispatches: number }>(
      `UPDATE jobs SET state = 'dispatched', dispatches = dispatches + 1
       WHERE id = (SELECT job_id FROM screenings WHERE id = $1) RETURNING id, dispatches`,
      [screeningId],
    )
    if (row === undefined) throw new Error(`${screeningId} has no job`)
    const [claimed] = await claimAll(db, 'screen', [row])
    if (claimed === undefined) throw new Error(`the job of ${screeningId} can't be taken`)
    const { id, scope, fence, attempt } = claimed
    const { signal } = new AbortController()
    return { id, scope, fence, attempt, isLastAttempt: false, signal, settle: (tx) => settle(tx, claimed), ...more }
  }

  return {
    test,
    store,
    media,
    eraser: createEraser({ db, store }),
    server,
    detector,
    observe: createObserve({ store, inspector, c2pa, c2paAnchorsOf: async () => [] }),
    clock,
    said,
    registry,
    makeWork,
    addKey,
    makeCaller,
    call: ({ key }, path, sent = {}) => call(app, path, { ...sent, ...(key === undefined ? {} : { key }) }),
    screen: ({ key }, body, headers = { Prefer: 'wait=0' }) =>
      call(app, '/v1/media/screen', { key, json: body, headers }),
    find: async ({ key }, id) => (await call(app, `/v1/media/screenings/${id}`, { key })).json,
    async makeImage(scope, format = 'png') {
      // Other bytes each time.
      shade += 1
      const background = { r: shade % 256, g: Math.floor(shade / 256), b: 7 }
      const data = await sharp({ create: { width: 16, height: 16, channels: 3, background } })
        [format]()
        .toBuffer()
      return media.storeInline(scope, { contentType: `image/${format}`, data })
    },
    async makeClaim({ accountId, environment }, columns = {}) {
      const row = { account_id: accountId, environment, id: newId('clm', environment), ...columns }
      const names = Object.keys(row)
      await test.owner(
        `INSERT INTO claims (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`,
        Object.values(row),
      )
      return row.id
    },
    take,
    async run(screeningId, work = makeWork(), more = {}) {
      const job = await take(screeningId, more)
      const outcome = await work.run({ screeningId: String(screeningId) }, job)
      // What the worker does.
      if (outcome.kind === 'done') await db.tenant(job.scope, job.settle)
      return outcome
    },
    events: async ({ accountId }) =>
      (
        await test.owner<{ data: Record<string, unknown> }>(
          `SELECT data FROM events WHERE account_id = $1 AND type = 'screening.completed' ORDER BY id`,
          [accountId],
        )
      ).map(({ data }) => data),
    calls: ({ accountId }) =>
      test.owner('SELECT outcome, vendor_id FROM screening_calls WHERE account_id = $1 ORDER BY started_at', [
        accountId,
      ]),
    async close() {
      await app.close()
      waiters.close()
      await outbound.close()
      await server.close()
      await inspector.close()
      await decoder.close()
      await c2pa.close()
      await test.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}
