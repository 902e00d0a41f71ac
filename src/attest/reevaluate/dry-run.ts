// What another policy would change for evaluated claims. Computed from the facts stored with their results, by the same
// pure functions as an evaluation; nothing is written.

import { setImmediate as turn } from 'node:timers/promises'
import { CLAIM, type ClaimRow } from '#src/attest/claims/claim-rows.ts'
import type { Policy } from '#src/attest/factors/facts.ts'
import { type AttestationStanding, aggregate, type ClaimStanding } from '#src/attest/factors/judge.ts'
import { movementOf } from '#src/attest/factors/standing.ts'
import { ADVISORIES, type AdvisoryCode } from '#src/attest/factors/table.ts'
import { type RiskPolicyDocument, toPolicy } from '#src/attest/policy/policy.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { boundsOfRange } from '#src/platform/db/id-ranges.ts'
import type { Pager } from '#src/platform/http/page.ts'
import type { Scope } from '#src/platform/ids.ts'
import { judgeBy, STORED_RESULT, type StoredResult } from './affected.ts'

/** The most claims that one call examines; the next page continues. */
const MAX_CLAIMS_LOOKED = 2_000
const MAX_RESULTS_LOOKED = 10_000
/** Claims with more results are not evaluated here: a single one would hold the call for seconds. */
const MAX_RESULTS_OF_CLAIM = 500
// Claims per statement. The facts of a result have about 2 KB.
const STEP_CLAIMS = 20

export interface DryRunRequest {
  document: RiskPolicyDocument
  created_gte?: string | undefined
  created_lt?: string | undefined
  /** Changed claims per page. */
  limit: number
  cursor?: string | undefined
}

export interface ClaimChange {
  claim: Pick<ClaimRow, 'id' | 'reference'>
  before: ClaimStanding
  after: ClaimStanding
}

export interface DryRun {
  changes: ClaimChange[]
  looked: number
  /** Claims that need their media for a re-evaluation, or that have too many results. */
  unknown: number
  nextCursor: string | null
}

/** @throws {Failure} `invalid_request` at `?cursor`. */
export async function dryRun(
  { db, pager }: { db: Pick<Database, 'tenant'>; pager: Pager },
  scope: Scope,
  { cursor, limit, document, ...range }: DryRunRequest,
): Promise<DryRun> {
  const binding = { route: 'POST /v1/account/risk-policy/dry-run', scope, query: { ...range, document } }
  const policy = toPolicy(document, 0)
  const done: DryRun = { changes: [], looked: 0, unknown: 0, nextCursor: null }
  let before = pager.decode(cursor, binding)
  let results = 0
  for (;;) {
    const from = before
    const page = await db.tenant(scope, (tx) => loadClaims(tx, scope, range, from))
    for (const looked of page) {
      done.looked += 1
      results += looked.results.length
      before = looked.claim.id
      const change = changeOf(looked, policy)
      if (change === 'unknown') done.unknown += 1
      else if (change !== undefined) done.changes.push(change)
      const isFull = done.changes.length >= limit || done.looked >= MAX_CLAIMS_LOOKED || results >= MAX_RESULTS_LOOKED
      if (isFull) return { ...done, nextCursor: pager.cursorAfter(before, binding) }
    }
    if (page.length < STEP_CLAIMS) return done
    // Yields to other work of this process.
    await turn()
  }
}

type Stored = StoredResult & { isErased: boolean }
interface Looked {
  claim: ClaimRow
  results: Stored[]
}

// One statement reads a claim and its results from one snapshot.
async function loadClaims(
  tx: Tx,
  { environment }: Scope,
  range: Pick<DryRunRequest, 'created_gte' | 'created_lt'>,
  before: string | undefined,
): Promise<Looked[]> {
  const [from, to] = [dateOf(range.created_gte), dateOf(range.created_lt)]
  const rows = await tx.query<ClaimRow & Pick<Looked, 'results'>>(
    `SELECT ${CLAIM}, (
       SELECT coalesce(json_agg(result ORDER BY result.id), '[]') FROM (
         SELECT ${STORED_RESULT}, id, erased_at IS NOT NULL AS "isErased" FROM attestations
         WHERE claim_id = claims.id AND status = 'evaluated' ORDER BY id LIMIT $5) AS result) AS results
     FROM claims
     WHERE risk_status <> 'pending' AND id >= $1 AND id < $2
       AND ($3::timestamptz IS NULL OR created_at >= $3) AND ($4::timestamptz IS NULL OR created_at < $4)
     ORDER BY id DESC LIMIT $6`,
    [
      ...boundsOfRange({ type: 'clm', environment }, { from, to }, before),
      from ?? null,
      to ?? null,
      MAX_RESULTS_OF_CLAIM + 1,
      STEP_CLAIMS,
    ],
  )
  return rows.map(({ results, ...claim }) => ({ claim, results }))
}

function changeOf({ claim, results }: Looked, policy: Required<Policy>): ClaimChange | 'unknown' | undefined {
  if (results.length > MAX_RESULTS_OF_CLAIM) return 'unknown'
  const { riskStatus, riskScore, provenanceStatus, factorCodes, advisoryCodes } = claim
  if (riskStatus === 'pending' || riskScore === null || provenanceStatus === null) return undefined
  const standings: AttestationStanding[] = []
  for (const result of results) {
    // An erased result stays as it is.
    const standing = result.isErased ? result : judgeBy(result, policy)
    if (standing === undefined) return 'unknown'
    standings.push(standing)
  }
  const standing = aggregate(standings)
  if (standing === null) return undefined
  const before = { riskStatus, riskScore, provenanceStatus, factorCodes, advisoryCodes }
  const after = { ...standing, advisoryCodes: withOwn(claim, results, standing) }
  if (!movementOf(claim, after).isRowChanged) return undefined
  return { claim: { id: claim.id, reference: claim.reference }, before, after }
}

// A claim may have codes that none of its results has, such as those of a screening; no policy removes them.
function withOwn(claim: ClaimRow, results: readonly Stored[], { advisoryCodes }: ClaimStanding): AdvisoryCode[] {
  const ofResults = new Set(results.flatMap((result) => result.advisoryFactors.map(({ code }) => code)))
  const kept = new Set([...advisoryCodes, ...claim.advisoryCodes.filter((code) => !ofResults.has(code))])
  return ADVISORIES.filter((code) => kept.has(code))
}

// Postgres parses fewer notations than RFC 3339 allows, and no year 0.
function dateOf(time: string | undefined): Date | undefined {
  return time === undefined ? undefined : new Date(time)
}
