// Reads the parts of a packet from Postgres. Each query is bounded.

import type { Tx } from '#src/platform/db/database.ts'
import { CASE, type CaseRow, ENTRY, type EntryRow } from '../cases/rows.ts'
import { SUBMISSION_BYTES } from '../claims/submission-rows.ts'
import type { MediaType } from '../media/sniff.ts'

/** The size of each of the claim's attestations, newest first; it decides how many fit into one packet. */
export async function findSizes(
  tx: Tx,
  claimId: string,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<{ id: string; bytes: number }[]> {
  return tx.query(
    `SELECT id, (${SUBMISSION_BYTES} + coalesce(octet_length(factors::text), 0)
       + coalesce(octet_length(advisory_factors::text), 0) + coalesce(octet_length(observations::text), 0)
       + coalesce(octet_length(result_jws), 0)) AS bytes
     FROM attestations WHERE claim_id = $1 AND ($2::text IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
    [claimId, before ?? null, limit],
  )
}

export async function countAttestations(tx: Tx, claimId: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>('SELECT count(*) AS count FROM attestations WHERE claim_id = $1', [
    claimId,
  ])
  return row?.count ?? 0
}

export interface MediaRow {
  id: string
  sha256: Buffer
  size: number
  contentType: MediaType
  width: number | null
  height: number | null
  isErased: boolean
}

/** Includes erased media. */
export async function findMediaRows(tx: Tx, ids: readonly string[]): Promise<MediaRow[]> {
  return tx.query<MediaRow>(
    `SELECT id, sha256, size, content_type AS "contentType", width, height, state <> 'stored' AS "isErased"
     FROM media WHERE id = ANY($1)`,
    [ids],
  )
}

/** Oldest first. */
export async function findCasesOfClaim(tx: Tx, claimId: string, limit: number): Promise<CaseRow[]> {
  return tx.query<CaseRow>(`SELECT ${CASE} FROM cases WHERE claim_id = $1 ORDER BY id LIMIT $2`, [claimId, limit])
}

/** The newest entries of each case, with the case that they belong to. */
export async function findEntriesOfCases(
  tx: Tx,
  caseIds: readonly string[],
  limit: number,
): Promise<(EntryRow & { caseId: string })[]> {
  return tx.query(
    `SELECT entries.* FROM unnest($1::text[]) AS wanted (id)
     CROSS JOIN LATERAL (
       SELECT case_id AS "caseId", ${ENTRY} FROM case_entries WHERE case_id = wanted.id ORDER BY seq DESC LIMIT $2
     ) AS entries`,
    [caseIds, limit],
  )
}

export interface EventRow {
  id: string
  type: string
  data: Record<string, unknown>
  createdAt: Date
}

/** Newest first. */
export async function findEventsOfClaim(tx: Tx, claimId: string, limit: number): Promise<EventRow[]> {
  return tx.query<EventRow>(
    `SELECT id, type, data, created_at AS "createdAt" FROM events WHERE claim_id = $1 ORDER BY id DESC LIMIT $2`,
    [claimId, limit],
  )
}

/** The signing device, where it is not the one that the statement names. */
export async function findSigners(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    'SELECT DISTINCT signer_id AS id FROM attestations WHERE id = ANY($1) AND signer_id IS NOT NULL',
    [ids],
  )
  return rows.map(({ id }) => id)
}

export interface EarlierRow {
  attestationId: string
  evaluatedAt: Date
  replacedAt: Date
  riskStatus: string
  riskScore: number
  provenanceStatus: string
  resultJws: string
}

/** Replaced results: the newest of each attestation, oldest first. */
export async function findEarlierResults(tx: Tx, ids: readonly string[], limit: number): Promise<EarlierRow[]> {
  return tx.query<EarlierRow>(
    `SELECT earlier.* FROM unnest($1::text[]) AS wanted (id)
     CROSS JOIN LATERAL (
       SELECT attestation_id AS "attestationId", evaluated_at AS "evaluatedAt", replaced_at AS "replacedAt",
         risk_status AS "riskStatus", risk_score AS "riskScore", provenance_status AS "provenanceStatus",
         result_jws AS "resultJws"
       FROM attestation_results WHERE attestation_id = wanted.id ORDER BY seq DESC LIMIT $2
     ) AS earlier
     ORDER BY earlier."evaluatedAt", earlier."attestationId"`,
    [ids, limit],
  )
}
