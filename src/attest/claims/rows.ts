import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { AdvisoryCode, FactorCode } from '../factors/table.ts'
import type { ClaimStanding, Judgement } from '../factors/judge.ts'
import type { Submission } from './submission.ts'

export type AttestationStatus = 'queued' | 'evaluated' | 'failed' | 'cancelled'

export interface NewClaim {
  id: string
  reference: string | null
  line: string | null
  lossLat: number | null
  lossLng: number | null
  lossAt: string | null
}

export interface NewAttestation {
  id: string
  claimId: string
  batchId: string | null
  batchLine: number | null
  externalId: string | null
  contentDigest: Buffer
  mediaId: string
  deviceId: string | null
  submission: Submission
  jobId: string
}

/** What is known of a submission that was accepted, before or after its evaluation. */
export interface AttestationRow {
  id: string
  claimId: string
  batchId: string | null
  batchLine: number | null
  externalId: string | null
  mediaId: string
  deviceId: string | null
  jobId: string
  status: AttestationStatus
  acceptedAt: Date
  evaluatedAt: Date | null
  riskStatus: Judgement['riskStatus'] | null
  riskScore: number | null
  provenanceStatus: Judgement['provenanceStatus'] | null
  hardwareTier: Judgement['hardwareTier'] | null
  rulesVersion: string | null
  factors: Judgement['factors'] | null
  advisoryFactors: Judgement['advisoryFactors'] | null
  observations: Judgement['observations'] | null
  resultJws: string | null
  failure: string | null
}

export interface ClaimRow {
  id: string
  reference: string | null
  line: string | null
  lossLat: number | null
  lossLng: number | null
  lossAt: Date | null
  riskStatus: 'pending' | Judgement['riskStatus']
  riskScore: number | null
  provenanceStatus: Judgement['provenanceStatus'] | null
  factorCodes: FactorCode[]
  advisoryCodes: AdvisoryCode[]
  createdAt: Date
  updatedAt: Date
}

const CLAIM = `id, reference, line, loss_lat AS "lossLat", loss_lng AS "lossLng", loss_at AS "lossAt",
  risk_status AS "riskStatus", risk_score AS "riskScore", provenance_status AS "provenanceStatus",
  factor_codes AS "factorCodes", advisory_codes AS "advisoryCodes", created_at AS "createdAt", updated_at AS "updatedAt"`

const ATTESTATION = `id, claim_id AS "claimId", batch_id AS "batchId", batch_line AS "batchLine",
  external_id AS "externalId", media_id AS "mediaId", device_id AS "deviceId", job_id AS "jobId", status,
  accepted_at AS "acceptedAt", evaluated_at AS "evaluatedAt", risk_status AS "riskStatus", risk_score AS "riskScore",
  provenance_status AS "provenanceStatus", hardware_tier AS "hardwareTier", rules_version AS "rulesVersion", factors,
  advisory_factors AS "advisoryFactors", observations, result_jws AS "resultJws", failure`

/**
 * Makes the claims that are new and finds those whose reference exists; what a claim already states stays, what it did
 * not state is added. References must differ and come sorted, so that two batches can't deadlock.
 */
export async function upsertClaims(tx: Tx, scope: Scope, claims: readonly NewClaim[]): Promise<{ id: string; reference: string | null }[]> {
  return tx.query(
    `INSERT INTO claims (account_id, environment, id, reference, line, loss_lat, loss_lng, loss_at)
     SELECT $1, $2, * FROM unnest($3::text[], $4::text[], $5::text[], $6::float8[], $7::float8[], $8::timestamptz[])
     ON CONFLICT (account_id, environment, reference) DO UPDATE SET
       line = coalesce(claims.line, excluded.line), loss_lat = coalesce(claims.loss_lat, excluded.loss_lat),
       loss_lng = coalesce(claims.loss_lng, excluded.loss_lng), loss_at = coalesce(claims.loss_at, excluded.loss_at)
     RETURNING id, reference`,
    [
      scope.accountId,
      scope.environment,
      claims.map((claim) => claim.id),
      claims.map((claim) => claim.reference),
      claims.map((claim) => claim.line),
      claims.map((claim) => claim.lossLat),
      claims.map((claim) => claim.lossLng),
      claims.map((claim) => claim.lossAt),
    ],
  )
}

/** Inserts what is not there yet by external id; answers the ids that were inserted. Sorted by external id, as above. */
export async function insertAttestations(tx: Tx, scope: Scope, rows: readonly NewAttestation[]): Promise<Set<string>> {
  const inserted = await tx.query<{ id: string }>(
    `INSERT INTO attestations (account_id, environment, id, claim_id, batch_id, batch_line, external_id, content_digest,
       media_id, device_id, submission, job_id)
     SELECT $1, $2, * FROM unnest($3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::bytea[], $9::text[],
       $10::text[], $11::jsonb[], $12::uuid[])
     ON CONFLICT (account_id, environment, external_id) DO NOTHING
     RETURNING id`,
    [
      scope.accountId,
      scope.environment,
      rows.map((row) => row.id),
      rows.map((row) => row.claimId),
      rows.map((row) => row.batchId),
      rows.map((row) => row.batchLine),
      rows.map((row) => row.externalId),
      rows.map((row) => row.contentDigest),
      rows.map((row) => row.mediaId),
      rows.map((row) => row.deviceId),
      rows.map((row) => JSON.stringify(row.submission)),
      rows.map((row) => row.jobId),
    ],
  )
  return new Set(inserted.map((row) => row.id))
}

export interface KnownSubmission {
  id: string
  claimId: string
  jobId: string
  externalId: string
  contentDigest: Buffer
}

export async function findByExternalIds(tx: Tx, externalIds: readonly string[]): Promise<KnownSubmission[]> {
  if (externalIds.length === 0) return []
  return tx.query<KnownSubmission>(
    `SELECT id, claim_id AS "claimId", job_id AS "jobId", external_id AS "externalId", content_digest AS "contentDigest"
     FROM attestations WHERE external_id = ANY($1::text[])`,
    [externalIds],
  )
}

export async function findAttestation(tx: Tx, id: string): Promise<AttestationRow | undefined> {
  const [row] = await tx.query<AttestationRow>(`SELECT ${ATTESTATION} FROM attestations WHERE id = $1`, [id])
  return row
}

/** Everything that a judgement reads of the submission itself, in one round trip. */
export interface SubmittedRow {
  id: string
  claimId: string
  status: AttestationStatus
  acceptedAt: Date
  deviceId: string | null
  submission: Submission
  mediaId: string
  mediaSha256: Buffer
  mediaContentType: string
  claimLossLat: number | null
  claimLossLng: number | null
}

export async function findSubmitted(tx: Tx, id: string): Promise<SubmittedRow | undefined> {
  const [row] = await tx.query<SubmittedRow>(
    `SELECT a.id, a.claim_id AS "claimId", a.status, a.accepted_at AS "acceptedAt", a.device_id AS "deviceId", a.submission,
       m.id AS "mediaId", m.sha256 AS "mediaSha256", m.content_type AS "mediaContentType",
       c.loss_lat AS "claimLossLat", c.loss_lng AS "claimLossLng"
     FROM attestations a
     JOIN media m ON m.account_id = a.account_id AND m.environment = a.environment AND m.id = a.media_id
     JOIN claims c ON c.account_id = a.account_id AND c.environment = a.environment AND c.id = a.claim_id
     WHERE a.id = $1`,
    [id],
  )
  return row
}

/** Writes the judgement of an attestation that has none. false when it has one already, or was cancelled. */
export async function insertJudgement(
  tx: Tx,
  id: string,
  judgement: Judgement,
  result: { evaluatedAt: Date; resultJws: string },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE attestations SET status = 'evaluated', evaluated_at = $2, risk_status = $3, risk_score = $4,
       provenance_status = $5, hardware_tier = $6, rules_version = $7, factors = $8, advisory_factors = $9,
       observations = $10, result_jws = $11, failure = NULL
     WHERE id = $1 AND status IN ('queued', 'failed') RETURNING id`,
    [
      id,
      result.evaluatedAt,
      judgement.riskStatus,
      judgement.riskScore,
      judgement.provenanceStatus,
      judgement.hardwareTier,
      judgement.rulesVersion,
      JSON.stringify(judgement.factors),
      JSON.stringify(judgement.advisoryFactors),
      JSON.stringify(judgement.observations),
      result.resultJws,
    ],
  )
  return rows.length === 1
}

export async function markFailed(tx: Tx, id: string, failure: string): Promise<void> {
  await tx.query(`UPDATE attestations SET status = 'failed', failure = $2 WHERE id = $1 AND status = 'queued'`, [
    id,
    failure.slice(0, 500),
  ])
}

export async function markQueued(tx: Tx, id: string): Promise<void> {
  await tx.query(`UPDATE attestations SET status = 'queued', failure = NULL WHERE id = $1 AND status = 'failed'`, [id])
}

/** Reads the claim and keeps others from changing it until the transaction ends. */
export async function lockClaim(tx: Tx, id: string): Promise<ClaimRow> {
  const [row] = await tx.query<ClaimRow>(`SELECT ${CLAIM} FROM claims WHERE id = $1 FOR UPDATE`, [id])
  if (row === undefined) throw new Error(`claim ${id} is gone while its attestation is judged`)
  return row
}

export async function updateStanding(tx: Tx, claimId: string, standing: ClaimStanding): Promise<void> {
  await tx.query(
    `UPDATE claims SET risk_status = $2, risk_score = $3, provenance_status = $4, factor_codes = $5, advisory_codes = $6,
       updated_at = now()
     WHERE id = $1`,
    [claimId, standing.riskStatus, standing.riskScore, standing.provenanceStatus, standing.factorCodes, standing.advisoryCodes],
  )
}

export async function findClaim(tx: Tx, id: string): Promise<ClaimRow | undefined> {
  const [row] = await tx.query<ClaimRow>(`SELECT ${CLAIM} FROM claims WHERE id = $1`, [id])
  return row
}

export interface ClaimFilter {
  before: string | undefined
  limit: number
  reference?: string | undefined
  externalId?: string | undefined
  batchId?: string | undefined
  riskStatus?: string | undefined
  provenanceStatus?: string | undefined
  factor?: string | undefined
  deviceId?: string | undefined
  createdFrom?: Date | undefined
  createdBefore?: Date | undefined
}

/** Newest first. */
export async function findClaims(tx: Tx, filter: ClaimFilter): Promise<ClaimRow[]> {
  const { where, values } = claimConditions(filter)
  if (filter.before !== undefined) where.push(`id < $${values.push(filter.before)}`)
  return tx.adhoc<ClaimRow>(
    `SELECT ${CLAIM} FROM claims WHERE ${where.join(' AND ')} ORDER BY id DESC LIMIT $${values.push(filter.limit)}`,
    values,
  )
}

export async function countClaims(tx: Tx, filter: ClaimFilter): Promise<number> {
  const { where, values } = claimConditions(filter)
  const [row] = await tx.adhoc<{ count: number }>(`SELECT count(*) AS count FROM claims WHERE ${where.join(' AND ')}`, values)
  return row?.count ?? 0
}

function claimConditions(filter: ClaimFilter): { where: string[]; values: unknown[] } {
  const values: unknown[] = []
  const where = ['true']
  const add = (condition: (parameter: string) => string, value: unknown) => {
    if (value !== undefined) where.push(condition(`$${values.push(value)}`))
  }
  // The row's own scope, spelt out: policies do not reach the join inside EXISTS as an index condition otherwise.
  const ofAttestation = (condition: string) =>
    `EXISTS (SELECT FROM attestations a WHERE a.account_id = claims.account_id AND a.environment = claims.environment
       AND a.claim_id = claims.id AND ${condition})`
  add((p) => `reference = ${p}`, filter.reference)
  add((p) => ofAttestation(`a.external_id = ${p}`), filter.externalId)
  add((p) => ofAttestation(`a.batch_id = ${p}`), filter.batchId)
  add((p) => ofAttestation(`a.device_id = ${p}`), filter.deviceId)
  add((p) => `risk_status = ${p}`, filter.riskStatus)
  add((p) => `provenance_status = ${p}`, filter.provenanceStatus)
  add((p) => `(factor_codes @> ARRAY[${p}::text] OR advisory_codes @> ARRAY[${p}::text])`, filter.factor)
  add((p) => `created_at >= ${p}`, filter.createdFrom)
  add((p) => `created_at < ${p}`, filter.createdBefore)
  return { where, values }
}

/** The attestations of a claim, newest first. */
export async function findAttestationsOfClaim(
  tx: Tx,
  claimId: string,
  page: { before: string | undefined; limit: number },
): Promise<(AttestationRow & { submission: Submission })[]> {
  return tx.query(
    `SELECT ${ATTESTATION}, submission FROM attestations
     WHERE claim_id = $1 AND ($2::text IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
    [claimId, page.before ?? null, page.limit],
  )
}
