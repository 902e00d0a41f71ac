// The handler of the screen queue: asks the detector about the bytes of one screening and stores the answer. A call
// costs money, so it is recorded before it is made, and bytes that this account has a score for are not sent again.

import { countOperations } from '#src/account/usage/meter.ts'
import { emit } from '#src/account/webhooks/emit.ts'
import { note } from '#src/platform/context.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { retryWhileAway } from '#src/platform/db/retry.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { JobOutcome, RunningJob, Work } from '#src/platform/jobs/consume.ts'
import type { Log } from '#src/platform/log.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import type { Observation } from '../factors/judge.ts'
import { deferWhileBusy } from '../media/media-facts.ts'
import { findMedia, type Media } from '../media/rows.ts'
import { MEDIA_TYPES } from '../media/sniff.ts'
import { afterFailure, afterNothing, afterSuccess, ask, type Circuit, CLOSED, closedForMs, pause } from './breaker.ts'
import {
  type Asked,
  beginCall,
  findKnownScores,
  finishCall,
  isBeingAsked,
  type KnownScores,
  lockBytes,
} from './call-rows.ts'
import type { Detection, Detector } from './detectors/detector.ts'
import type { ScreeningMetrics } from './metrics.ts'
import {
  concludeScreening,
  findScreening,
  giveUp,
  noteObservations,
  reopenScreening,
  type ScreeningReason,
  type ScreeningRow,
} from './rows.ts'
import { findSettings } from './settings.ts'
import { judgeScores, type ScreeningCode, type Thresholds } from './thresholds.ts'

export interface ScreenDeps {
  db: Pick<Database, 'tenant'>
  store: Pick<BlobStore, 'openRead'>
  /** undefined: this deployment has none. */
  detector: Detector | undefined
  /** What the file declares about how it was made; the same bytes always declare the same. */
  observe(job: RunningJob, row: ScreeningRow): Promise<Observation[]>
  /** Adds the screening's codes to those of its claim, in the transaction that stores the score. */
  addAdvisoryCodes(tx: Tx, claimId: string, codes: readonly ScreeningCode[]): Promise<void>
  /** Runs in the transaction that stores the score. */
  onScored?: ((tx: Tx, scope: Scope, screening: ScreeningRow) => Promise<void>) | undefined
  now: () => Date
  random?: () => number
  metrics: ScreeningMetrics
  log: Pick<Log, 'error' | 'warn'>
}

/** The largest file sent to a detector. Vendors reduce larger pictures, and eight at once must fit into a worker. */
const MAX_MEDIA_BYTES = 20_000_000
/** How long a screening waits for a detector that accepts no calls; then it becomes unavailable. */
export const MAX_WAIT_MS = 24 * 3_600_000
// Another screening is asking about the same bytes; its answer takes a second or two.
const SAME_BYTES_MS = 1_000
const JITTER = 0.25
const NO_CALLS = 'no calls are made to the detector now'

/** The handler of the screen queue. */
export function createScreen({
  db,
  store,
  detector,
  observe,
  addAdvisoryCodes,
  onScored,
  now,
  random = Math.random,
  metrics,
  log,
}: ScreenDeps): Work<'screen'> {
  let circuit: Circuit = CLOSED
  const setCircuit = (next: Circuit) => {
    circuit = next
    if (detector !== undefined) metrics.circuit.set({ detector: detector.name }, next.openUntil === undefined ? 0 : 1)
  }

  async function screen(screeningId: string, job: RunningJob): Promise<JobOutcome> {
    const found = await db.tenant(job.scope, (tx) => read(tx, screeningId))
    if (found === undefined) return { kind: 'dead', error: 'the screening is gone' }
    const { row, media, known, thresholds } = found
    if (row.claimId !== null) note({ claim: row.claimId })
    if (row.status !== 'queued') return { kind: 'done' }

    let observations: Promise<Observation[]> | undefined
    const readObservations = () => {
      observations ??= media === undefined ? Promise.resolve([]) : observe(job, row)
      return observations
    }
    const about: About = { job, row, thresholds, readObservations }
    if (media === undefined) return conclude(about, { status: 'unavailable', reason: 'media_erased' })
    if (detector === undefined) return conclude(about, { status: 'unavailable', reason: 'no_detector' })
    const reason = refusalOf(media, detector)
    if (reason !== undefined) return conclude(about, { status: 'unsupported', reason })
    if (known !== undefined) return conclude(about, { status: 'scored', scores: known, isCached: true })

    const closedMs = closedForMs(circuit, now().getTime())
    if (closedMs > 0) return wait(about, closedMs, NO_CALLS, 'detector_busy')
    // Before the call, so that a failure here costs no call.
    await readObservations()
    const bytes = await readBytes(job.scope, media)
    if (bytes === undefined) return conclude(about, { status: 'unavailable', reason: 'media_erased' })
    const begun = await begin(job.scope, askedOf(row, detector))
    if (begun.kind === 'known') return conclude(about, { status: 'scored', scores: begun.scores, isCached: true })
    if (begun.kind === 'wait') return wait(about, begun.delayMs, begun.why, 'detector_busy')

    const startedAt = performance.now()
    const { sha256, contentType } = media
    const detection = await detector
      .detect({ sha256, contentType, bytes, signal: job.signal })
      .catch((error: unknown) => {
        setCircuit(afterNothing(circuit))
        throw error
      })
    const durationMs = performance.now() - startedAt
    weigh(detector, detection, durationMs)
    return answer(about, detection, { seq: begun.seq, durationMs })
  }

  async function read(tx: Tx, id: string) {
    const row = await findScreening(tx, id)
    if (row === undefined) return undefined
    const [media, { thresholds }, known] = await Promise.all([
      findMedia(tx, row.mediaId),
      findSettings(tx),
      detector === undefined ? undefined : findKnownScores(tx, askedOf(row, detector)),
    ])
    return { row, media, thresholds, known }
  }

  async function begin(scope: Scope, asked: Asked): Promise<Begun> {
    let isAdmitted = false
    try {
      return await db.tenant(scope, async (tx): Promise<Begun> => {
        await lockBytes(tx, scope, asked)
        const scores = await findKnownScores(tx, asked)
        if (scores !== undefined) return { kind: 'known', scores }
        if (await isBeingAsked(tx, asked)) {
          return { kind: 'wait', delayMs: SAME_BYTES_MS, why: 'the same bytes are being scored' }
        }
        const admission = ask(circuit, now().getTime())
        if (admission.waitMs > 0) {
          return { kind: 'wait', delayMs: admission.waitMs, why: NO_CALLS }
        }
        circuit = admission.circuit
        isAdmitted = true
        return { kind: 'call', seq: await beginCall(tx, scope, asked) }
      })
    } catch (error) {
      // Otherwise the probe would never end.
      if (isAdmitted) circuit = afterNothing(circuit)
      throw error
    }
  }

  function weigh({ name }: Detector, detection: Detection, durationMs: number): void {
    metrics.calls.inc({ detector: name, outcome: detection.kind })
    metrics.times.observe({ detector: name }, durationMs / 1_000)
    setCircuit(afterCall(circuit, detection, now().getTime()))
    if (detection.kind === 'failed') {
      log.warn({ detector: name, detail: detection.detail }, 'detector call failed')
    } else if (detection.kind === 'refused') {
      const { detail } = detection
      log.error({ detector: name, detail }, 'detector refuses calls: check its credentials, plan and quota')
    }
  }

  async function answer(about: About, detection: Detection, call: Call): Promise<JobOutcome> {
    if (detection.kind === 'scored') {
      const { genai, deepfake, models } = detection
      const ended = { ...call, vendorId: detection.vendorId }
      return conclude(about, { status: 'scored', scores: { genai, deepfake, models }, isCached: false }, ended)
    }
    if (detection.kind === 'unsupported') {
      return conclude(about, { status: 'unsupported', reason: 'unreadable' }, call)
    }
    const { row, job } = about
    const observations = await about.readObservations()
    await db.tenant(job.scope, async (tx) => {
      await finishCall(tx, { screeningId: row.id, seq: call.seq }, { ...call, outcome: detection.kind })
      if (job.isLastAttempt) await noteObservations(tx, row.id, observations)
    })
    const error = `${detection.kind}: ${detection.detail}`
    if (detection.kind === 'limited') return wait(about, detection.retryAfterMs, error, 'detector_busy')
    if (detection.kind === 'refused') return wait(about, pauseMs(), error, 'detector_refused')
    // The worker that has the job now asks again.
    if (detection.kind === 'aborted') return { kind: 'retry', error, delayMs: 0 }
    return { kind: 'retry', error }
  }

  /** A wait is no failure and counts as no attempt, but the total wait is limited. */
  async function wait(about: About, delayMs: number, why: string, reason: ScreeningReason): Promise<JobOutcome> {
    const waitedMs = now().getTime() - about.row.createdAt.getTime()
    if (waitedMs > MAX_WAIT_MS) return conclude(about, { status: 'unavailable', reason })
    // Random delays: jobs that wait for the same moment must not all return at it.
    return { kind: 'defer', reason: why, delayMs: Math.round(delayMs * (1 + JITTER * random())) }
  }

  function pauseMs(): number {
    return Math.max(1_000, (circuit.openUntil ?? 0) - now().getTime())
  }

  async function readBytes(scope: Scope, { sha256 }: Media): Promise<Buffer | undefined> {
    const blob = await store.openRead(scope, sha256)
    if (blob === undefined) return undefined
    const chunks: Buffer[] = []
    for await (const chunk of blob.stream as AsyncIterable<Buffer>) chunks.push(chunk)
    return Buffer.concat(chunks)
  }

  async function conclude(about: About, end: End, call?: Call & { vendorId?: string | null }): Promise<JobOutcome> {
    const { job, row, thresholds } = about
    const observations = await about.readObservations()
    const isScored = end.status === 'scored'
    const scores = isScored ? end.scores : { genai: null, deepfake: null, models: [] }
    const name = detector?.name ?? null
    const version = detector?.version ?? null
    const by = { detector: name ?? '', version: version ?? '', screeningId: row.id }
    const factors = judgeScores(scores, thresholds, by)
    const write = async (tx: Tx) => {
      await job.settle(tx)
      if (call !== undefined) {
        const outcome = isScored ? 'scored' : 'unsupported'
        await finishCall(tx, { screeningId: row.id, seq: call.seq }, { ...call, outcome })
      }
      const isOurs = await concludeScreening(tx, row.id, {
        status: end.status,
        reason: isScored ? null : end.reason,
        detector: name,
        detectorVersion: version,
        thresholds,
        genaiScore: scores.genai,
        deepfakeScore: scores.deepfake,
        models: scores.models,
        factors,
        observations,
        isCached: isScored && end.isCached,
      })
      if (!isOurs || !isScored) return
      const codes = factors.map(({ code }) => code)
      await Promise.all([
        countOperations(tx, job.scope, 'screen', [row.id]),
        emit(tx, job.scope, {
          type: 'screening.completed',
          dedupKey: `screening.completed:${row.id}`,
          data: {
            screening_id: row.id,
            claim_id: row.claimId,
            genai_score: scores.genai,
            deepfake_score: scores.deepfake,
            factors: codes,
            detector: { name: by.detector, version: by.version },
          },
        }),
      ])
      if (row.claimId !== null) await addAdvisoryCodes(tx, row.claimId, codes)
      await onScored?.(tx, job.scope, row)
    }
    // The call is paid: losing its answer to a restart of Postgres would mean paying again.
    await retryWhileAway(() => db.tenant(job.scope, write), job.signal)
    return { kind: 'settled' }
  }

  return {
    run: ({ screeningId }, job) => deferWhileBusy(() => screen(screeningId, job), random),
    onDead: (tx, _scope, { screeningId }) => giveUp(tx, { id: screeningId }),
    onUnreadableDead: (tx, _scope, jobId) => giveUp(tx, { jobId }),
    onRedrive: (tx, _scope, { screeningId }) => reopenScreening(tx, screeningId),
  }
}

interface About {
  job: RunningJob
  row: ScreeningRow
  thresholds: Thresholds
  /** Reads the file once, on the first call. */
  readObservations(): Promise<Observation[]>
}

interface Call {
  seq: number
  durationMs: number
}

type Begun =
  | { kind: 'call'; seq: number }
  | { kind: 'known'; scores: KnownScores }
  | { kind: 'wait'; delayMs: number; why: string }

type End =
  | { status: 'scored'; scores: KnownScores; isCached: boolean }
  | { status: 'unavailable' | 'unsupported'; reason: ScreeningReason }

function askedOf({ id, mediaSha256 }: ScreeningRow, { name, version }: Detector): Asked {
  return { screeningId: id, mediaSha256, detector: name, version }
}

function afterCall(circuit: Circuit, detection: Detection, nowMs: number): Circuit {
  switch (detection.kind) {
    case 'scored':
    case 'unsupported':
      return afterSuccess(circuit, nowMs)
    case 'limited':
      return pause(circuit, nowMs, detection.retryAfterMs)
    case 'aborted':
      return afterNothing(circuit)
    case 'failed':
      return afterFailure(circuit, nowMs)
    case 'refused':
      return afterFailure(circuit, nowMs, true)
  }
}

/** Why these media are never sent to this detector. */
function refusalOf({ contentType, size }: Media, { contentTypes }: Detector): ScreeningReason | undefined {
  if (MEDIA_TYPES[contentType].kind === 'video') return 'video'
  if (!contentTypes.has(contentType)) return 'content_type'
  return size > MAX_MEDIA_BYTES ? 'too_large' : undefined
}
