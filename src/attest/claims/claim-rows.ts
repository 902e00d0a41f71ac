import type { Statement, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { ClaimStanding, Judgement } from '../factors/judge.ts'
import { type AdvisoryCode, FACTOR_CODES, type FactorCode } from '../factors/table.ts'
import { SCREENING_CODES, type ScreeningCode } from '../screen/thresholds.ts'

export interface NewClaim {
  id: string
  reference: string | null
  line: string | null
  lossLat: number | null
  lossLng: number | null
  /** ISO 8601, UTC: Postgres knows fewer ways to write a time than RFC 3339 has. */
  lossAt: string | null
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
  /** Media and positions are gone. */
  erasedAt: Date | null
}

export const CLAIM = `id, reference, line, loss_lat AS "lossLat", loss_lng AS "lossLng", loss_at AS "lossAt",
  risk_status AS "riskStatus", risk_score AS "riskScore", provenance_status AS "provenanceStatus",
  factor_codes AS "factorCodes", advisory_codes AS "advisoryCodes", created_at AS "createdAt", updated_at AS "updatedAt",
  erased_at AS "erasedAt"`

/** A claim as callers see it. */
export interface ListedClaim extends ClaimRow {
  openCaseId: string | null
}

const LISTED = `${CLAIM},
  (SELECT cases.id FROM cases WHERE cases.claim_id = claims.id AND cases.closed_at IS NULL) AS "openCaseId"`

/**
 * Makes the claims that are new and finds those whose reference exists; what a claim already states stays, what it did
 * not state is added. One that was erased, or is about to be, is closed: it is not among the answers. References must differ
 * and come sorted, so that two batches can't deadlock.
 */
export async function upsertClaims(
  tx: Tx,
  scope: Scope,
  claims: readonly NewClaim[],
): Promise<{ id: string; reference: string | null }[]> {
  return tx.query(
    `INSERT INTO claims (account_id, environment, id, reference, line, loss_lat, loss_lng, loss_at)
     SELECT $1, $2, * FROM unnest($3::text[], $4::text[], $5::text[], $6::float8[], $7::float8[], $8::timestamptz[])
     ON CONFLICT (account_id, environment, reference) DO UPDATE SET
       line = coalesce(claims.line, excluded.line), loss_lat = coalesce(claims.loss_lat, excluded.loss_lat),
       loss_lng = coalesce(claims.loss_lng, excluded.loss_lng), loss_at = coalesce(claims.loss_at, excluded.loss_at)
     WHERE claims.erasing_since IS NULL
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

/** Claims by their references, without locking them. */
export async function findByReferences(
  tx: Tx,
  references: readonly string[],
): Promise<{ id: string; reference: string; isClosed: boolean }[]> {
  if (references.length === 0) return []
  return tx.query(
    // One look into the index each: see findByExternalIds.
    `SELECT id, reference, erasing_since IS NOT NULL AS "isClosed" FROM unnest($1::text[]) AS wanted (name)
     CROSS JOIN LATERAL (SELECT * FROM claims WHERE reference = wanted.name LIMIT 1) AS claims`,
    [references],
  )
}

/** Moves the attestations that a batch has just inserted to another claim. */
export async function moveAttestations(
  tx: Tx,
  { batchId, from, to }: { batchId: string; from: string; to: string },
): Promise<void> {
  await tx.query('UPDATE attestations SET claim_id = $3 WHERE claim_id = $1 AND batch_id = $2', [from, batchId, to])
}

/**
 * Locks claims until the transaction ends, in the order of their references: whoever locks several does it so. One
 * without a reference is nobody else's. Foreign keys to them can be checked meanwhile.
 */
export async function lockClaims(tx: Tx, ids: readonly string[]): Promise<ClaimRow[]> {
  // The list behind a SELECT: see settleAll of the backlog.
  return tx.query<ClaimRow>(
    `SELECT ${CLAIM} FROM claims WHERE id = ANY((SELECT $1::text[])::text[]) ORDER BY reference, id FOR NO KEY UPDATE`,
    [ids],
  )
}

export async function updateStandings(tx: Tx, standings: ReadonlyMap<string, ClaimStanding>): Promise<void> {
  if (standings.size === 0) return
  const values = [...standings.values()]
  // Codes are words of ours: nothing in them needs quotes in an array's text.
  const textOf = (codes: readonly string[]) => `{${codes.join()}}`
  await tx.query(
    `UPDATE claims SET risk_status = new.risk_status, risk_score = new.risk_score,
       provenance_status = new.provenance_status, factor_codes = new.factor_codes::text[],
       advisory_codes = new.advisory_codes::text[], updated_at = now()
     FROM unnest((SELECT $1::text[]), $2::text[], $3::int[], $4::text[], $5::text[], $6::text[])
       AS new (id, risk_status, risk_score, provenance_status, factor_codes, advisory_codes)
     WHERE claims.id = new.id AND claims.id = ANY((SELECT $1::text[])::text[])`,
    [
      [...standings.keys()],
      values.map(({ riskStatus }) => riskStatus),
      values.map(({ riskScore }) => riskScore),
      values.map(({ provenanceStatus }) => provenanceStatus),
      values.map(({ factorCodes }) => textOf(factorCodes)),
      values.map(({ advisoryCodes }) => textOf(advisoryCodes)),
    ],
  )
}

export async function findClaim(tx: Tx, id: string): Promise<ListedClaim | undefined> {
  const { text, values } = selectClaim(id)
  const [row] = await tx.query<ListedClaim>(text, values)
  return row
}

/** Answers a `ListedClaim`, if there is one. */
export function selectClaim(id: string): Statement {
  return { text: `SELECT ${LISTED} FROM claims WHERE id = $1`, values: [id] }
}

export interface ClaimFilter {
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
export async function findClaims(
  tx: Tx,
  filter: ClaimFilter,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<ListedClaim[]> {
  const { where, values } = claimConditions(filter)
  if (before !== undefined) where.push(`id < $${values.push(before)}`)
  return tx.adhoc<ListedClaim>(
    `SELECT ${LISTED} FROM claims WHERE ${where.join(' AND ')} ORDER BY id DESC LIMIT $${values.push(limit)}`,
    values,
  )
}

export async function countClaims(tx: Tx, filter: ClaimFilter): Promise<number> {
  const { where, values } = claimConditions(filter)
  const [row] = await tx.adhoc<{ count: number }>(
    `SELECT count(*) AS count FROM claims WHERE ${where.join(' AND ')}`,
    values,
  )
  return row?.count ?? 0
}

function claimConditions(filter: ClaimFilter): { where: string[]; values: unknown[] } {
  const values: unknown[] = []
  const where = ['true']
  const add = (condition: (parameter: string) => string, value: unknown) => {
    if (value !== undefined) where.push(condition(`$${values.push(value)}`))
  }
  add((p) => `reference = ${p}`, filter.reference)
  // From attestations to their claims, and not the other way round, where there are few: as a join, a planner without
  // statistics walks through all claims instead. A device may have any number.
  add((p) => `id = (SELECT claim_id FROM attestations WHERE external_id = ${p})`, filter.externalId)
  add((p) => `id = ANY(ARRAY(SELECT claim_id FROM attestations WHERE batch_id = ${p}))`, filter.batchId)
  add((p) => `id IN (SELECT claim_id FROM attestations WHERE device_id = ${p})`, filter.deviceId)
  add((p) => `risk_status = ${p}`, filter.riskStatus)
  add((p) => `provenance_status = ${p}`, filter.provenanceStatus)
  const codes = FACTOR_CODES.some((code) => code === filter.factor) ? 'factor_codes' : 'advisory_codes'
  add((p) => `${codes} @> ARRAY[${p}::text]`, filter.factor)
  add((p) => `created_at >= ${p}`, filter.createdFrom)
  add((p) => `created_at < ${p}`, filter.createdBefore)
  return { where, values }
}

/** Adds codes to those of a claim, which is locked by it. A claim that was erased stays as it is. */
export async function addAdvisoryCodes(tx: Tx, claimId: string, codes: readonly ScreeningCode[]): Promise<void> {
  if (codes.length === 0) return
  // They are the last in the order of the table of factors.
  await tx.query(
    `UPDATE claims SET updated_at = now(), advisory_codes =
       array(SELECT code FROM unnest(advisory_codes) AS old (code) WHERE code <> ALL($3::text[]))
       || array(SELECT code FROM unnest($3::text[]) AS ours (code) WHERE code = ANY(advisory_codes) OR code = ANY($2))
     WHERE id = $1 AND erasing_since IS NULL AND NOT advisory_codes @> $2::text[]`,
    [claimId, codes, SCREENING_CODES],
  )
}
