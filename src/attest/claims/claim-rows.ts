import type { Statement, Tx } from '#src/platform/db/database.ts'
import { conditionOfAny, conditionsOfRange, countOf, type TimeRange } from '#src/platform/db/id-ranges.ts'
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
  /** ISO 8601, UTC: Postgres parses fewer notations than RFC 3339 allows. */
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
  /** When its media and positions were erased. */
  erasedAt: Date | null
}

export const CLAIM = `id, reference, line, loss_lat AS "lossLat", loss_lng AS "lossLng", loss_at AS "lossAt",
  risk_status AS "riskStatus", risk_score AS "riskScore", provenance_status AS "provenanceStatus",
  factor_codes AS "factorCodes", advisory_codes AS "advisoryCodes", created_at AS "createdAt", updated_at AS "updatedAt",
  erased_at AS "erasedAt"`

/** A claim as the API shows it. */
export interface ListedClaim extends ClaimRow {
  openCaseId: string | null
}

const LISTED = `${CLAIM},
  (SELECT cases.id FROM cases WHERE cases.claim_id = claims.id AND cases.closed_at IS NULL) AS "openCaseId"`

/**
 * Inserts new claims and finds those whose reference exists. What a claim already states stays; what it does not state
 * is added. A claim that is erased, or about to be, is closed and not among the results. References must be distinct
 * and sorted, so that two batches can't deadlock.
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

/** Finds claims by reference without locking them. */
export async function findByReferences(
  tx: Tx,
  references: readonly string[],
): Promise<{ id: string; reference: string; isClosed: boolean }[]> {
  if (references.length === 0) return []
  return tx.query(
    // One index lookup per reference: see findByExternalIds.
    `SELECT id, reference, erasing_since IS NOT NULL AS "isClosed" FROM unnest($1::text[]) AS wanted (name)
     CROSS JOIN LATERAL (SELECT * FROM claims WHERE reference = wanted.name LIMIT 1) AS claims`,
    [references],
  )
}

/** Moves attestations that a batch has just inserted to another claim. */
export async function moveAttestations(
  tx: Tx,
  { batchId, from, to }: { batchId: string; from: string; to: string },
): Promise<void> {
  await tx.query('UPDATE attestations SET claim_id = $3 WHERE claim_id = $1 AND batch_id = $2', [from, batchId, to])
}

/**
 * Locks claims until the transaction ends. Every transaction that locks several does it in the order of their
 * references; a claim without a reference belongs to one attestation only. Foreign keys to the claims can still be
 * checked meanwhile.
 */
export async function lockClaims(tx: Tx, ids: readonly string[]): Promise<ClaimRow[]> {
  // The array stands in a subquery: see settleAll of the backlog.
  return tx.query<ClaimRow>(
    `SELECT ${CLAIM} FROM claims WHERE id = ANY((SELECT $1::text[])::text[]) ORDER BY reference, id FOR NO KEY UPDATE`,
    [ids],
  )
}

export async function updateStandings(tx: Tx, standings: ReadonlyMap<string, ClaimStanding>): Promise<void> {
  if (standings.size === 0) return
  const values = [...standings.values()]
  // Codes are our own words, so an array literal needs no quotes around them.
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

// A whole text: see settings.ts.
const SELECT_CLAIM = `SELECT ${LISTED} FROM claims WHERE id = $1`

/** Selects at most one `ListedClaim`. */
export function selectClaim(id: string): Statement {
  return { text: SELECT_CLAIM, values: [id] }
}

export interface ClaimFilter extends TimeRange {
  reference?: string | undefined
  externalId?: string | undefined
  batchId?: string | undefined
  /** Any of these; the same for `provenanceStatuses` and `lines`. */
  riskStatuses?: readonly string[] | undefined
  provenanceStatuses?: readonly string[] | undefined
  lines?: readonly string[] | undefined
  scoreFrom?: number | undefined
  scoreBelow?: number | undefined
  /** A case that is open. */
  hasCase?: boolean | undefined
  factor?: string | undefined
  deviceId?: string | undefined
  updatedFrom?: Date | undefined
  updatedBefore?: Date | undefined
}

export const CLAIM_ORDERS = ['created', 'score', 'updated'] as const

/** A claim has a score once a capture of it is evaluated: by it, the list has no others. */
export interface ClaimOrder {
  by: (typeof CLAIM_ORDERS)[number]
  direction: 'asc' | 'desc'
}

/** The last claim of the page before. `value` is of the column that the list is ordered by, as `place` of a row has it. */
export interface ClaimPlace {
  id: string
  value: string
}

export type PlacedClaim = ListedClaim & { place: string }

// As text with all digits: a Date has milliseconds, and Postgres compares microseconds.
const ORDER_COLUMNS = {
  created: undefined,
  score: { column: 'risk_score', type: 'integer', text: 'risk_score::text' },
  updated: {
    column: 'updated_at',
    type: 'timestamptz',
    text: `to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`,
  },
} as const

export async function findClaims(
  tx: Tx,
  scope: Scope,
  filter: ClaimFilter,
  { order, after, limit }: { order: ClaimOrder; after: ClaimPlace | undefined; limit: number },
): Promise<PlacedClaim[]> {
  const { where, values } = claimConditions(scope, filter)
  const by = ORDER_COLUMNS[order.by]
  const direction = order.direction === 'asc' ? 'ASC' : 'DESC'
  const beyond = order.direction === 'asc' ? '>' : '<'
  if (order.by === 'score') where.push('risk_score IS NOT NULL')
  if (after !== undefined && by === undefined) where.push(`id ${beyond} $${values.push(after.id)}`)
  if (after !== undefined && by !== undefined) {
    const value = `$${values.push(after.value)}::${by.type}`
    where.push(`(${by.column}, id) ${beyond} (${value}, $${values.push(after.id)}::text)`)
  }
  const columns = by === undefined ? `id ${direction}` : `${by.column} ${direction}, id ${direction}`
  return tx.adhoc<PlacedClaim>(
    `SELECT ${LISTED}, ${by?.text ?? `''`} AS place FROM claims WHERE ${where.join(' AND ')}
     ORDER BY ${columns} LIMIT $${values.push(limit)}`,
    values,
  )
}

export async function countClaims(tx: Tx, scope: Scope, filter: ClaimFilter): Promise<number> {
  const { where, values } = claimConditions(scope, filter)
  const [row] = await tx.adhoc<{ count: number }>(countOf(`claims WHERE ${where.join(' AND ')}`), values)
  return row?.count ?? 0
}

function claimConditions({ environment }: Scope, filter: ClaimFilter): { where: string[]; values: unknown[] } {
  const values: unknown[] = []
  const where = ['true']
  const add = (condition: (parameter: string) => string, value: unknown) => {
    if (value !== undefined) where.push(condition(`$${values.push(value)}`))
  }
  add((p) => `reference = ${p}`, filter.reference)
  // From the few attestations to their claims: with a join, a planner without statistics scans all claims instead.
  // Not so for a device, which may have any number of attestations, those that it signed under another name included.
  // Each of the two conditions has its index.
  add((p) => `id = (SELECT claim_id FROM attestations WHERE external_id = ${p})`, filter.externalId)
  add((p) => `id = ANY(ARRAY(SELECT claim_id FROM attestations WHERE batch_id = ${p}))`, filter.batchId)
  add(
    (p) => `id IN (SELECT claim_id FROM attestations WHERE device_id = ${p}
       UNION SELECT claim_id FROM attestations WHERE signer_id = ${p})`,
    filter.deviceId,
  )
  const addAny = (column: string, wanted: readonly string[] | undefined) => {
    if (wanted !== undefined) where.push(conditionOfAny(values, column, wanted))
  }
  addAny('risk_status', filter.riskStatuses)
  addAny('provenance_status', filter.provenanceStatuses)
  addAny('line', filter.lines)
  add((p) => `risk_score >= ${p}`, filter.scoreFrom)
  add((p) => `risk_score < ${p}`, filter.scoreBelow)
  add((p) => `updated_at >= ${p}`, filter.updatedFrom)
  add((p) => `updated_at < ${p}`, filter.updatedBefore)
  if (filter.hasCase !== undefined) {
    const open = 'SELECT FROM cases WHERE cases.claim_id = claims.id AND cases.closed_at IS NULL'
    where.push(filter.hasCase ? `EXISTS (${open})` : `NOT EXISTS (${open})`)
  }
  const codes = FACTOR_CODES.some((code) => code === filter.factor) ? 'factor_codes' : 'advisory_codes'
  add((p) => `${codes} @> ARRAY[${p}::text]`, filter.factor)
  where.push(...conditionsOfRange(values, { type: 'clm', environment }, filter))
  return { where, values }
}

/** Adds codes to a claim and locks it. An erased claim stays as it is. */
export async function addAdvisoryCodes(tx: Tx, claimId: string, codes: readonly ScreeningCode[]): Promise<void> {
  if (codes.length === 0) return
  // These codes are the last in the order of the factor table.
  await tx.query(
    `UPDATE claims SET updated_at = now(), advisory_codes =
       array(SELECT code FROM unnest(advisory_codes) AS old (code) WHERE code <> ALL($3::text[]))
       || array(SELECT code FROM unnest($3::text[]) AS ours (code) WHERE code = ANY(advisory_codes) OR code = ANY($2))
     WHERE id = $1 AND erasing_since IS NULL AND NOT advisory_codes @> $2::text[]`,
    [claimId, codes, SCREENING_CODES],
  )
}
