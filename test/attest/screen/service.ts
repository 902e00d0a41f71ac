// Screenings as a caller sees them, with a server as detector. No job runs by itself: a test takes it over as a delivery
// does.

import { Registry } from 'prom-client'
import sharp from 'sharp'
import { addAdvisoryCodes } from '#src/attest/claims/claim-rows.ts'
import type { Eraser } from '#src/attest/media/erase.ts'
import type { MediaDomain } from '#src/attest/media/media.ts'
import type { Media } from '#src/attest/media/rows.ts'
import type { Detector } from '#src/attest/screen/detectors/detector.ts'
import { createHttpDetector } from '#src/attest/screen/detectors/http.ts'
import { createObserve } from '#src/attest/screen/evaluation.ts'
import { createScreeningMetrics } from '#src/attest/screen/metrics.ts'
import { createScreen, type ScreenDeps } from '#src/attest/screen/screen.ts'
import type { Scope } from '#src/platform/ids.ts'
import { claimAll, settle } from '#src/platform/jobs/backlog.ts'
import type { JobOutcome, RunningJob, Work } from '#src/platform/jobs/consume.ts'
import type { TestCaller } from '../../support/callers.ts'
import type { TestAnswer } from '../../support/http.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { type FakeDetector, startDetector } from './detector.ts'

export type Caller = TestCaller

export interface ScreenService extends Omit<TestService, 'events'> {
  media: MediaDomain
  eraser: Eraser
  server: FakeDetector
  detector: Detector
  /** The real reader of declared facts. */
  observe: ScreenDeps['observe']
  /** What the handler logged at warning and above. */
  said: { level: 'warn' | 'error'; about: Record<string, unknown>; message: string }[]
  registry: Registry
  makeWork(deps?: Partial<ScreenDeps>): Work<'screen'>
  /** POST /v1/media/screen, not waiting unless `headers` ask for it. */
  screen(caller: { key: string }, body: unknown, headers?: Record<string, string>): Promise<TestAnswer>
  find(caller: { key: string }, id: unknown): Promise<TestAnswer['json']>
  makeImage(scope: Scope, format?: 'png' | 'tiff'): Promise<Media>
  take(screeningId: unknown, more?: Partial<RunningJob>): Promise<RunningJob>
  run(screeningId: unknown, work?: Work<'screen'>, more?: Partial<RunningJob>): Promise<JobOutcome>
  events(scope: Scope): Promise<Record<string, unknown>[]>
  calls(scope: Scope): Promise<{ outcome: string | null; vendor_id: string | null }[]>
}

export async function startScreening(): Promise<ScreenService> {
  const server = await startDetector({ json: { genai_score: 0.1, deepfake_score: 0.1 } })
  const service = await startTestService({
    scopes: ['screen', 'admin'],
    now: new Date(),
    env: { OUTBOUND_ALLOW: '127.0.0.1' },
  })
  const { test, call, services } = service
  const { platform, attest } = services
  const { media, eraser, inspector, c2pa } = attest.media
  const detector = createHttpDetector({ ...platform, url: server.url, version: '1', secret: 'hush' })
  const registry = new Registry()
  const metrics = createScreeningMetrics(registry)
  const said: ScreenService['said'] = []
  const log = {
    warn: (about: Record<string, unknown>, message: string) => void said.push({ level: 'warn', about, message }),
    error: (about: Record<string, unknown>, message: string) => void said.push({ level: 'error', about, message }),
  } as unknown as ScreenDeps['log']
  const makeWork = (deps: Partial<ScreenDeps> = {}) =>
    createScreen({
      ...platform,
      detector,
      observe: async () => [],
      addAdvisoryCodes,
      random: () => 0,
      metrics,
      log,
      ...deps,
    })
  let shade = 0
  const take: ScreenService['take'] = async (screeningId, more = {}) => {
    const [row] = await test.owner<{ id: string; dispatches: number }>(
      `UPDATE jobs SET state = 'dispatched', dispatches = dispatches + 1
       WHERE id = (SELECT job_id FROM screenings WHERE id = $1) RETURNING id, dispatches`,
      [screeningId],
    )
    if (row === undefined) throw new Error(`${screeningId} has no job`)
    const [claimed] = await claimAll(platform.db, 'screen', [row])
    if (claimed === undefined) throw new Error(`the job of ${screeningId} can't be taken`)
    const { id, scope, fence, attempt } = claimed
    const { signal } = new AbortController()
    return { id, scope, fence, attempt, isLastAttempt: false, signal, settle: (tx) => settle(tx, claimed), ...more }
  }

  return {
    ...service,
    media,
    eraser,
    server,
    detector,
    observe: createObserve({ ...platform, inspector, c2pa, c2paAnchorsOf: attest.trust.c2paAnchorsOf }),
    said,
    registry,
    makeWork,
    screen: (caller, body, headers = { Prefer: 'wait=0' }) => call(caller, '/v1/media/screen', { json: body, headers }),
    find: async (caller, id) => (await call(caller, `/v1/media/screenings/${id}`)).json,
    async makeImage(scope, format = 'png') {
      // Other bytes each time.
      shade += 1
      const background = { r: shade % 256, g: Math.floor(shade / 256), b: 7 }
      const data = await sharp({ create: { width: 16, height: 16, channels: 3, background } })
        [format]()
        .toBuffer()
      return media.storeInline(scope, { contentType: `image/${format}`, data })
    },
    take,
    async run(screeningId, work = makeWork(), more = {}) {
      const job = await take(screeningId, more)
      const outcome = await work.run({ screeningId: String(screeningId) }, job)
      // What the worker does.
      if (outcome.kind === 'done') await platform.db.tenant(job.scope, job.settle)
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
      await service.close()
      await server.close()
    },
  }
}
