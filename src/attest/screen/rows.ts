import type { Json } from '#src/platform/crypto/canonical.ts'
import type { Statement, Tx } from '#src/platform/db/database.ts'
import { conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { PurgeStep } from '#src/platform/retention.ts'
import type { Observation } from '../factors/judge.ts'
import type { AdvisoryFactor } from '../factors/table.ts'
import type { ModelScore } from './detectors/detector.ts'
import { SCREENING_CODES, type ScreeningCode, type Thresholds } from './thresholds.ts'

export const STATUSES = ['queued', 'scored', 'unavailable', 'unsupported'] as const
export type ScreeningStatus = (typeof STATUSES)[number]

/** Why there is no score. */
export const REASONS = [
  'no_detector',
  'detector_failed',
  'detector_refused',
  'detector_busy',
  'media_erased',
  'erased',
  'video',
  'content_type',
  'too_large',
  'unreadable',
] as const
export type ScreeningReason = (typeof REASONS)[number]

export type ScreeningFactor = AdvisoryFactor<ScreeningCode>

export interface ScreeningRow {
  id: string
  claimId: string | null
  batchId: string | null
  batchLine: number | null
  mediaId: string
  mediaSha256: Buffer
  jobId: string
  status: ScreeningStatus
  reason: ScreeningReason | null
  detector: string | null
  detectorVersion: string | null
  thresholds: Thresholds | null
  genaiScore: number | null
  deepfakeScore: number | null
  models: ModelScore[]
  factors: ScreeningFactor[]
  observations: Observation[]
  isCached: boolean
  createdAt: Date
  completedAt: Date | null
  erasedAt: Date | null
}

const SCREENING = `id, claim_id AS "claimId", batch_id AS "batchId", batch_line AS "batchLine", media_id AS "mediaId",
  media_sha256 AS "mediaSha256", job_id AS "jobId", status, reason, detector, detector_version AS "detectorVersion",
  thresholds, genai_score AS "genaiScore", deepfake_score AS "deepfakeScore", models, factors, observations,
  is_cached AS "isCached", created_at AS "createdAt", completed_at AS "completedAt", erased_at AS "erasedAt"`

export interface NewScreening {
  id: string
  claimId: string | null
  batchId: string | null
  batchLine: number | null
  mediaId: string
  mediaSha256: Buffer
  jobId: string
}

export async function insertScreenings(tx: Tx, scope: Scope, rows: readonly NewScreening[]): Promise<void> {
  await tx.query(
    `INSERT INTO screenings (account_id, environment, id, claim_id, batch_id, batch_line, media_id, media_sha256, job_id)
     SELECT $1, $2, * FROM unnest($3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::bytea[], $9::uuid[])`,
    [
      scope.accountId,
      scope.environment,
      rows.map((row) => row.id),
      rows.map((row) => row.claimId),
      rows.map((row) => row.batchId),
      rows.map((row) => row.batchLine),
      rows.map((row) => row.mediaId),
      rows.map((row) => row.mediaSha256),
      rows.map((row) => row.jobId),
    ],
  )
}

/** Selects at most one `ScreeningRow`. */
export function selectScreening(id: string): Statement {
  return { text: `SELECT ${SCREENING} FROM screenings WHERE id = $1`, values: [id] }
}

/** In no order. */
export async function findScreeningsByIds(tx: Tx, ids: readonly string[]): Promise<ScreeningRow[]> {
  return tx.query<ScreeningRow>(`SELECT ${SCREENING} FROM screenings WHERE id = ANY($1)`, [ids])
}

export interface Conclusion {
  status: Exclude<ScreeningStatus, 'queued'>
  reason: ScreeningReason | null
  detector: string | null
  detectorVersion: string | null
  thresholds: Thresholds
  genaiScore: number | null
  deepfakeScore: number | null
  models: readonly ModelScore[]
  factors: readonly ScreeningFactor[]
  observations: readonly Observation[]
  isCached: boolean
}

/** Ends queued screenings. Answers the ids of those that had not ended before. */
export async function concludeScreenings(
  tx: Tx,
  ended: readonly (Conclusion & { id: string })[],
): Promise<Set<string>> {
  const rows = await tx.query<{ id: string }>(
    `UPDATE screenings SET status = ended.status, reason = ended.reason, detector = ended.detector,
       detector_version = ended.version, thresholds = ended.thresholds, genai_score = ended.genai,
       deepfake_score = ended.deepfake, models = ended.models, factors = ended.factors, factor_codes = ended.codes,
       observations = ended.observations, is_cached = ended.is_cached, completed_at = now()
     FROM jsonb_to_recordset((SELECT $1::jsonb)) AS ended (id text, status text, reason text, detector text, version text,
       thresholds jsonb, genai float8, deepfake float8, models jsonb, factors jsonb, codes text[], observations jsonb,
       is_cached boolean)
     WHERE screenings.id = ended.id AND screenings.id = ANY((SELECT $2::text[])::text[]) AND screenings.status = 'queued'
     RETURNING screenings.id`,
    [
      JSON.stringify(
        ended.map(({ detectorVersion: version, genaiScore: genai, deepfakeScore: deepfake, isCached, ...one }) => ({
          ...one,
          version,
          genai,
          deepfake,
          codes: one.factors.map(({ code }) => code),
          is_cached: isCached,
        })),
      ),
      // A join alone reads all rows of the account where the plan is from a time when it had few.
      ended.map(({ id }) => id),
    ],
  )
  return new Set(rows.map(({ id }) => id))
}

/** What the file itself declares, stored now in case no detector ever answers. */
export async function noteObservations(tx: Tx, id: string, observations: readonly Observation[]): Promise<void> {
  await tx.query(`UPDATE screenings SET observations = $2 WHERE id = $1 AND status = 'queued'`, [
    id,
    JSON.stringify(observations),
  ])
}

/**
 * Marks a screening as given up. No index serves the job id: that path is for a payload without a screening, a defect.
 */
export async function giveUp(tx: Tx, one: { id: string } | { jobId: string }): Promise<void> {
  const [column, value] = 'id' in one ? ['id', one.id] : ['job_id', one.jobId]
  await tx.query(
    `UPDATE screenings SET status = 'unavailable', reason = 'detector_failed', completed_at = now()
     WHERE ${column} = $1 AND status = 'queued'`,
    [value],
  )
}

export async function reopenScreening(tx: Tx, id: string): Promise<void> {
  await tx.query(
    `UPDATE screenings SET status = 'queued', reason = NULL, completed_at = NULL
     WHERE id = $1 AND status = 'unavailable' AND reason = 'detector_failed'`,
    [id],
  )
}

export interface ScreeningFilter extends TimeRange {
  claimId?: string | undefined
  mediaId?: string | undefined
  batchId?: string | undefined
  /** Any of these. */
  statuses?: readonly ScreeningStatus[] | undefined
  factor?: ScreeningCode | undefined
}

/** Newest first. */
export async function findScreenings(
  tx: Tx,
  scope: Scope,
  filter: ScreeningFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<ScreeningRow[]> {
  const { where, values } = conditions(scope, filter)
  if (before !== undefined) where.push(`id < $${values.push(before)}`)
  return tx.adhoc<ScreeningRow>(
    `SELECT ${SCREENING} FROM screenings WHERE ${where.join(' AND ')} ORDER BY id DESC LIMIT $${values.push(limit)}`,
    values,
  )
}

export async function countScreenings(tx: Tx, scope: Scope, filter: ScreeningFilter): Promise<number> {
  const { where, values } = conditions(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`screenings WHERE ${where.join(' AND ')}`), values)
  return row?.count ?? 0
}

function conditions({ environment }: Scope, filter: ScreeningFilter): { where: string[]; values: unknown[] } {
  const values: unknown[] = []
  const where = ['true']
  const add = (condition: (parameter: string) => string, value: unknown) => {
    if (value !== undefined) where.push(condition(`$${values.push(value)}`))
  }
  add((p) => `claim_id = ${p}`, filter.claimId)
  add((p) => `media_id = ${p}`, filter.mediaId)
  add((p) => `batch_id = ${p}`, filter.batchId)
  add((p) => `status = ANY(${p}::text[])`, filter.statuses)
  add((p) => `factor_codes @> ARRAY[${p}::text]`, filter.factor)
  where.push(...conditionsOfRange(values, { type: 'scr', environment }, filter))
  return { where, values }
}

/**
 * For the bytes of each digest, in order, the factors of the latest screening with a score in this account and
 * environment; undefined without one. The same rows give the same factors.
 */
export async function screeningFactors(
  tx: Tx,
  digests: readonly Buffer[],
): Promise<{ code: ScreeningCode; evidence: ScreeningFactor['evidence'] & Record<string, Json> }[][]> {
  const rows = await tx.query<{ place: number; factors: ScreeningFactor[] }>(
    // The array stands in a subquery: see settleAll of the backlog.
    `SELECT place, factors FROM unnest((SELECT $1::bytea[])) WITH ORDINALITY AS wanted (digest, place)
     CROSS JOIN LATERAL (SELECT factors FROM screenings WHERE media_sha256 = wanted.digest AND status = 'scored'
       ORDER BY completed_at DESC, id DESC LIMIT 1) AS latest`,
    [digests],
  )
  const found = new Map(rows.map(({ place, factors }) => [place - 1, factors]))
  return digests.map((_, index) => (found.get(index) ?? []).map(({ code, evidence }) => ({ code, evidence })))
}

/**
 * The codes that a claim gets from its screenings, whatever its attestations say: for each content those of the latest
 * screening with a score. In the order in which results list them.
 */
export async function screeningCodesOfClaim(tx: Tx, claimId: string): Promise<ScreeningCode[]> {
  const rows = await tx.query<{ codes: ScreeningCode[] }>(
    `SELECT DISTINCT ON (media_sha256) factor_codes AS codes FROM screenings
     WHERE claim_id = $1 AND status = 'scored' ORDER BY media_sha256, completed_at DESC, id DESC`,
    [claimId],
  )
  const found = new Set(rows.flatMap(({ codes }) => codes))
  return SCREENING_CODES.filter((code) => found.has(code))
}

export const purgeSettings: PurgeStep = async (tx, _scope, { before }) =>
  (await tx.query('DELETE FROM screening_settings WHERE updated_at < $1 RETURNING 1', [before])).length
