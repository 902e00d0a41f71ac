import type { Statement, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { idsBefore } from '#src/platform/ids.ts'
import { deleteRows, type PurgeStep } from '#src/platform/retention.ts'
import { FINDINGS, type Findings } from '../duplicates/observations.ts'
import type { Judgement } from '../factors/judge.ts'
import { noteUnreferenced } from '../media/erase-rows.ts'
import type { Submission } from './submission.ts'
import { ALL_OF_SUBMISSION, type StoredSubmission, withChunks } from './submission-rows.ts'
import { submissionTexts } from './submission-text.ts'

export type AttestationStatus = 'queued' | 'evaluated' | 'failed' | 'cancelled'

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
  /** Known once it is inserted. */
  acceptedAt?: Date | undefined
}

/** An accepted submission, before or after its evaluation. */
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
  /** 0: the defaults. */
  policyVersion: number | null
  factors: Judgement['factors'] | null
  advisoryFactors: Judgement['advisoryFactors'] | null
  observations: Judgement['observations'] | null
  /** Duplicates found after the result; null until compared. Lists of batches have none. */
  duplicates?: Findings | null
  resultJws: string | null
  failure: string | null
  /** When its media and positions were erased. */
  erasedAt: Date | null
}

const ATTESTATION = `id, claim_id AS "claimId", batch_id AS "batchId", batch_line AS "batchLine",
  coalesce(external_id, cancelled_external_id) AS "externalId", media_id AS "mediaId", device_id AS "deviceId", job_id AS "jobId", status,
  accepted_at AS "acceptedAt", evaluated_at AS "evaluatedAt", risk_status AS "riskStatus", risk_score AS "riskScore",
  provenance_status AS "provenanceStatus", hardware_tier AS "hardwareTier", rules_version AS "rulesVersion",
  policy_version AS "policyVersion", factors, advisory_factors AS "advisoryFactors", observations, result_jws AS "resultJws", failure, erased_at AS "erasedAt"`

/**
 * Inserts the rows whose external id is new and returns those. Sorted by external id, so that two batches can't
 * deadlock.
 */
export async function insertAttestations(
  tx: Tx,
  scope: Scope,
  rows: readonly NewAttestation[],
): Promise<{ id: string; acceptedAt: Date }[]> {
  const texts = rows.map((row) => submissionTexts(row.submission))
  // In an array each quote is escaped: of a long video's 2.5 MB that takes milliseconds of the event loop.
  const [only] = texts.length === 1 ? texts : []
  const [submissions, chunks] =
    only === undefined ? ['$11::jsonb[]', '$12::text[]'] : ['ARRAY[$11::jsonb]', 'ARRAY[$12::text]']
  return tx.query(
    `INSERT INTO attestations (account_id, environment, id, claim_id, batch_id, batch_line, external_id, content_digest,
       media_id, device_id, submission, video_chunks, job_id)
     SELECT $1, $2, * FROM unnest($3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::bytea[], $9::text[],
       $10::text[], ${submissions}, ${chunks}, $13::uuid[])
     ON CONFLICT (account_id, environment, external_id) DO NOTHING
     RETURNING id, accepted_at AS "acceptedAt"`,
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
      only === undefined ? texts.map(({ submission }) => submission) : only.submission,
      only === undefined ? texts.map(({ videoChunks }) => videoChunks) : only.videoChunks,
      rows.map((row) => row.jobId),
    ],
  )
}

/** The row of an attestation that was just inserted, as a SELECT would return it. */
export function queuedRow({
  acceptedAt = new Date(),
  contentDigest,
  submission,
  ...row
}: NewAttestation): AttestationRow {
  return { ...row, ...UNJUDGED, acceptedAt }
}

const UNJUDGED = {
  status: 'queued',
  evaluatedAt: null,
  riskStatus: null,
  riskScore: null,
  provenanceStatus: null,
  hardwareTier: null,
  rulesVersion: null,
  policyVersion: null,
  factors: null,
  advisoryFactors: null,
  observations: null,
  resultJws: null,
  failure: null,
  erasedAt: null,
} as const

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
    // One index lookup per name. A planner without statistics knows nothing of an array and scans all rows of the
    // account: ten thousand lines, each thousand slower than the one before, took 30 s.
    `SELECT id, claim_id AS "claimId", job_id AS "jobId", external_id AS "externalId", content_digest AS "contentDigest"
     FROM unnest($1::text[]) AS wanted (name)
     CROSS JOIN LATERAL (SELECT * FROM attestations WHERE external_id = wanted.name LIMIT 1) AS attestations`,
    [externalIds],
  )
}

export async function findAttestation(tx: Tx, id: string): Promise<AttestationRow | undefined> {
  const { text, values } = selectAttestation(id)
  const [row] = await tx.query<AttestationRow>(text, values)
  return row
}

/** Selects at most one `AttestationRow`. */
export function selectAttestation(id: string): Statement {
  return { text: `SELECT ${ATTESTATION}, ${FINDINGS} FROM attestations WHERE id = $1`, values: [id] }
}

export interface NewResult {
  id: string
  judgement: Judgement
  evaluatedAt: Date
  resultJws: string
  /** The device that signed; an attestation that was accepted with a device keeps that one. */
  signerId: string | null
  /** The device whose key signed, which the bundle may not name. */
  keyOwnerId: string | null
  /** The evaluated facts, as `encodeFacts` writes them. */
  facts: string
  policyVersion: number
}

interface WrittenResult {
  id: string
  /** It was counted with its batch. */
  isInBatch: boolean
}

/**
 * Writes the results of attestations that have none and returns those, by their ids. The others were evaluated before,
 * or cancelled.
 */
export async function insertResults(tx: Tx, results: readonly NewResult[]): Promise<Map<string, WrittenResult>> {
  // One primary key lookup each, pipelined. A join with an array scans all attestations of the account once there are
  // many.
  const written = await Promise.all(results.map((result) => insertResult(tx, result)))
  return new Map(written.flat().map((one) => [one.id, one]))
}

function insertResult(tx: Tx, { id, judgement, ...result }: NewResult): Promise<WrittenResult[]> {
  return tx.query(
    `UPDATE attestations SET status = 'evaluated', evaluated_at = $2, risk_status = $3, risk_score = $4,
       provenance_status = $5, hardware_tier = $6, rules_version = $7, factors = $8, advisory_factors = $9,
       observations = $10, result_jws = $11, device_id = coalesce(device_id, $12),
       signer_id = nullif($13, coalesce(device_id, $12)), facts = $14, policy_version = $15, failure = NULL
     WHERE id = $1 AND status IN ('queued', 'failed') RETURNING id, batch_id IS NOT NULL AS "isInBatch"`,
    [
      id,
      result.evaluatedAt,
      ...judgementValues(judgement),
      result.resultJws,
      result.signerId,
      result.keyOwnerId,
      result.facts,
      result.policyVersion,
    ],
  )
}

/** For the columns from risk_status to observations, in the order in which both statements that write a result name them. */
export function judgementValues(judgement: Judgement) {
  return [
    judgement.riskStatus,
    judgement.riskScore,
    judgement.provenanceStatus,
    judgement.hardwareTier,
    judgement.rulesVersion,
    JSON.stringify(judgement.factors),
    JSON.stringify(judgement.advisoryFactors),
    JSON.stringify(judgement.observations),
  ]
}

/**
 * `failure` is for the caller. No index serves the job id: that path is for a payload without an attestation, a defect.
 * Returns what changed.
 */
export async function markAttestationFailed(
  tx: Tx,
  one: { id: string } | { jobId: string },
  failure: string,
): Promise<{ id: string; batchId: string | null }[]> {
  const [column, value] = 'id' in one ? ['id', one.id] : ['job_id', one.jobId]
  return tx.query(
    `UPDATE attestations SET status = 'failed', failure = $2 WHERE ${column} = $1 AND status = 'queued'
     RETURNING id, batch_id AS "batchId"`,
    [value, failure],
  )
}

/** Returns what changed. */
export async function markQueued(tx: Tx, id: string): Promise<{ id: string; batchId: string | null }[]> {
  return tx.query(
    `UPDATE attestations SET status = 'queued', failure = NULL WHERE id = $1 AND status = 'failed'
     RETURNING id, batch_id AS "batchId"`,
    [id],
  )
}

interface EvidencePage {
  before: string | undefined
  limit: number
}

const evidenceOf = (submission: string) => `SELECT ${ATTESTATION}, ${FINDINGS}, ${submission} FROM attestations
  WHERE claim_id = $1 AND ($2::text IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`
// Whole texts: see settings.ts.
const SHOWN_EVIDENCE = evidenceOf('submission')
const WHOLE_EVIDENCE = evidenceOf(ALL_OF_SUBMISSION)

/** Selects the attestations of a claim with their submissions, newest first. A long list of video chunks is left out. */
export function selectAttestationsOfClaim(claimId: string, { before, limit }: EvidencePage): Statement {
  return { text: SHOWN_EVIDENCE, values: [claimId, before ?? null, limit] }
}

/** As `selectAttestationsOfClaim`, with all video chunks. */
export async function findWholeAttestations(
  tx: Tx,
  claimId: string,
  { before, limit }: EvidencePage,
): Promise<(AttestationRow & { submission: Submission })[]> {
  const rows = await tx.query<AttestationRow & StoredSubmission>(WHOLE_EVIDENCE, [claimId, before ?? null, limit])
  return rows.map(withChunks)
}

/** Deletes old attestations. Marks their media as unreferenced, so that retention checks them again. */
export const purgeAttestations: PurgeStep = async (tx, { environment }, { before, limit }) => {
  const old = await tx.query<{ id: string; mediaId: string }>(
    `SELECT id, media_id AS "mediaId" FROM attestations WHERE id < $1 AND accepted_at < $2 ORDER BY id LIMIT $3`,
    [idsBefore('att', environment, before), before, limit],
  )
  await noteUnreferenced(tx, [...new Set(old.map(({ mediaId }) => mediaId))])
  return deleteRows(tx, 'attestations', old)
}
