// Screenings of one account that are loaded or end at the same time share a transaction. Most of a bulk needs no call to
// the detector, and then these two transactions are all that it costs.

import { countOperations } from '#src/account/usage/meter.ts'
import { emitMany, type NewEvent } from '#src/account/webhooks/emit.ts'
import { createBatcher } from '#src/platform/batching.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { STALE_JOB, settleAll } from '#src/platform/jobs/backlog.ts'
import type { RunningJob } from '#src/platform/jobs/consume.ts'
import { findMediaByIds, type Media } from '../media/rows.ts'
import { type CallResult, findScoresOf, finishCall, type KnownScores } from './call-rows.ts'
import type { Detector } from './detectors/detector.ts'
import { type Conclusion, concludeScreenings, findScreeningsByIds, type ScreeningRow } from './rows.ts'
import { findThresholds } from './settings.ts'
import type { ScreeningCode, Thresholds } from './thresholds.ts'

/** What a screening begins with. */
export interface LoadedScreening {
  row: ScreeningRow
  /** undefined: they are erased. */
  media: Media | undefined
  /** What the detector said of the same bytes before. */
  known: KnownScores | undefined
  thresholds: Thresholds
}

export interface EndedScreening {
  job: Pick<RunningJob, 'id' | 'fence' | 'scope'>
  row: ScreeningRow
  conclusion: Conclusion
  /** The call that it made, if any. */
  call: (CallResult & { seq: number }) | undefined
}

export interface SettleDeps {
  db: Pick<Database, 'tenant'>
  /** Adds the screening's codes to those of its claim. */
  addAdvisoryCodes(tx: Tx, claimId: string, codes: readonly ScreeningCode[]): Promise<void>
  /** Runs in the transaction that stores the scores. */
  onScored?: ((tx: Tx, scope: Scope, screenings: readonly ScreeningRow[]) => Promise<void>) | undefined
}

// Same pauses as for captures: see the settling of claims.
const LOAD_PAUSE_MS = 10
const SETTLE_PAUSE_MS = 15

const keyOf = ({ accountId, environment }: Scope) => `${accountId} ${environment}`

/** Loads one screening; undefined when it is gone. */
export function createLoad(
  db: Pick<Database, 'tenant'>,
  detector: Pick<Detector, 'name' | 'version'> | undefined,
): (scope: Scope, id: string) => Promise<LoadedScreening | undefined> {
  const addToBatch = createBatcher<{ scope: Scope; id: string }, LoadedScreening | undefined>({
    keyOf: ({ scope }) => keyOf(scope),
    isSplitOnFailure: true,
    pauseMs: LOAD_PAUSE_MS,
    run: (batch) =>
      db.tenant(batch[0].scope, (tx) =>
        load(
          tx,
          batch.map(({ id }) => id),
        ),
      ),
  })
  return (scope, id) => addToBatch({ scope, id })

  async function load(tx: Tx, ids: readonly string[]): Promise<(LoadedScreening | undefined)[]> {
    const [found, thresholds] = await Promise.all([findScreeningsByIds(tx, ids), findThresholds(tx)])
    const open = found.filter(({ status }) => status === 'queued')
    const [media, scores] = await Promise.all([
      findMediaByIds(tx, [...new Set(open.map(({ mediaId }) => mediaId))]),
      detector === undefined ? [] : findScoresOf(tx, digestsOf(open), detector),
    ])
    const mediaOf = new Map(media.map((one) => [one.id, one]))
    const knownOf = new Map(scores.map(({ sha256, ...known }) => [sha256, known]))
    const loaded = new Map(
      found.map((row) => [
        row.id,
        { row, media: mediaOf.get(row.mediaId), known: knownOf.get(row.mediaSha256.toString('hex')), thresholds },
      ]),
    )
    return ids.map((id) => loaded.get(id))
  }
}

function digestsOf(rows: readonly ScreeningRow[]): Buffer[] {
  return [...new Map(rows.map(({ mediaSha256 }) => [mediaSha256.toString('hex'), mediaSha256])).values()]
}

/**
 * Stores how a screening ended, and ends its job. @throws {STALE_JOB} when the job has moved on: then nothing of it was
 * written.
 */
export function createSettle({ db, ...deps }: SettleDeps): (ended: EndedScreening) => Promise<void> {
  return createBatcher<EndedScreening, void>({
    keyOf: ({ job }) => keyOf(job.scope),
    // An item that lost its job or met a deadlock costs the others only this attempt.
    isSplitOnFailure: true,
    pauseMs: SETTLE_PAUSE_MS,
    async run(batch) {
      const { scope } = batch[0].job
      await db.tenant(scope, (tx) => settleBatch(tx, scope, batch, deps))
      return batch.map(() => undefined)
    },
  })
}

async function settleBatch(
  tx: Tx,
  scope: Scope,
  batch: readonly EndedScreening[],
  { addAdvisoryCodes, onScored }: Omit<SettleDeps, 'db'>,
): Promise<void> {
  const calls = batch.flatMap(({ row, call }) => (call === undefined ? [] : [{ screeningId: row.id, ...call }]))
  // Sent together; one job that has moved on rolls all of it back.
  const [own, written] = await Promise.all([
    settleAll(
      tx,
      'screen',
      batch.map(({ job }) => job),
    ),
    concludeScreenings(
      tx,
      batch.map(({ row, conclusion }) => ({ id: row.id, ...conclusion })),
    ),
    ...calls.map((call) => finishCall(tx, call, call)),
  ])
  if (own.includes(false)) throw STALE_JOB

  const scored = batch.filter(({ row, conclusion }) => written.has(row.id) && conclusion.status === 'scored')
  if (scored.length === 0) return
  const rows = scored.map(({ row }) => row)
  await Promise.all([
    countOperations(
      tx,
      scope,
      'screen',
      rows.map(({ id }) => id),
    ),
    emitMany(tx, scope, scored.map(completedEvent)),
  ])
  // Claims are locked in the order of their ids, as everywhere.
  for (const { row, conclusion } of scored.toSorted((a, b) =>
    (a.row.claimId ?? '') < (b.row.claimId ?? '') ? -1 : 1,
  )) {
    if (row.claimId !== null) await addAdvisoryCodes(tx, row.claimId, codesOf(conclusion))
  }
  await onScored?.(tx, scope, rows)
}

const codesOf = ({ factors }: Conclusion) => factors.map(({ code }) => code)

function completedEvent({ row, conclusion }: EndedScreening): NewEvent {
  const { genaiScore, deepfakeScore, detector, detectorVersion } = conclusion
  return {
    type: 'screening.completed',
    dedupKey: `screening.completed:${row.id}`,
    data: {
      screening_id: row.id,
      claim_id: row.claimId,
      genai_score: genaiScore,
      deepfake_score: deepfakeScore,
      factors: codesOf(conclusion),
      detector: { name: detector ?? '', version: detectorVersion ?? '' },
    },
  }
}
