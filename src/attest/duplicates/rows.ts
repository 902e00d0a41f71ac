import type { Tx } from '#src/platform/db/database.ts'
import type { Environment, Scope } from '#src/platform/ids.ts'

export type NotComparable = 'video' | 'no_decoder' | 'too_large' | 'unreadable' | 'timeout' | 'crashed' | 'flat'
export type FingerprintState = 'due' | 'hashed' | 'compared' | 'recheck'

/** Marks evaluated attestations for hashing and comparison; does nothing for those already marked. */
export async function insertFingerprints(tx: Tx, scope: Scope, attestationIds: readonly string[]): Promise<void> {
  if (attestationIds.length === 0) return
  await tx.query(
    // One primary key lookup each: with an array the planner scans all attestations of the account. The array stands in
    // a subquery: see settleAll of the backlog.
    `INSERT INTO fingerprints (account_id, environment, attestation_id, claim_id, media_id)
     SELECT $1, $2, judged.id, claim_id, media_id FROM unnest((SELECT $3::text[])) AS judged (id)
     CROSS JOIN LATERAL (SELECT claim_id, media_id, erased_at FROM attestations WHERE id = judged.id LIMIT 1) AS known
     WHERE erased_at IS NULL
     ON CONFLICT ON CONSTRAINT fingerprints_pkey DO NOTHING`,
    [scope.accountId, scope.environment, attestationIds],
  )
}

/** Deletes the hashes of the attestations, and every finding that names one of them. */
export async function eraseFingerprints(tx: Tx, attestationIds: readonly string[]): Promise<void> {
  const touched = await tx.query<{ id: string; exactCount: number; similarCount: number }>(
    `SELECT attestation_id AS id, count(*) FILTER (WHERE distance_bits IS NULL) AS "exactCount",
       count(*) FILTER (WHERE distance_bits IS NOT NULL) AS "similarCount"
     FROM duplicate_findings WHERE other_attestation_id = ANY($1) GROUP BY 1 ORDER BY 1`,
    [attestationIds],
  )
  await tx.query('DELETE FROM fingerprints WHERE attestation_id = ANY($1)', [attestationIds])
  // Count one less now and recheck: another finding may take the place of the deleted one.
  for (const { id, exactCount, similarCount } of touched) {
    await tx.query(
      `UPDATE fingerprints SET exact_count = greatest(0, exact_count - $2), similar_count = greatest(0, similar_count - $3),
         state = CASE WHEN state = 'compared' THEN 'recheck' ELSE state END, leased_until = NULL
       WHERE attestation_id = $1`,
      [id, exactCount, similarCount],
    )
  }
}

export interface Waiting {
  accountId: string
  environment: Environment
  attestationId: string
}

/**
 * Leases waiting rows, up to `perTenant` of each tenant and `limit` in all, starting at the tenant after `after`.
 * Through the system role, because the tenants with waiting rows are not known before.
 */
export async function takeWaiting(
  tx: Tx,
  { after, perTenant, limit }: { after: Scope | undefined; perTenant: number; limit: number },
): Promise<Waiting[]> {
  const taken = await tx.query<Waiting>(
    `WITH RECURSIVE tenants AS (
       (SELECT account_id, environment FROM fingerprints
        WHERE state <> 'compared' AND (account_id, environment) > ($1::text, $2::text)
        ORDER BY account_id, environment LIMIT 1)
       UNION ALL
       SELECT following.* FROM tenants CROSS JOIN LATERAL (
         SELECT account_id, environment FROM fingerprints
         WHERE state <> 'compared' AND (account_id, environment) > (tenants.account_id, tenants.environment)
         ORDER BY account_id, environment LIMIT 1) AS following
     )
     SELECT mine.* FROM tenants CROSS JOIN LATERAL (
       SELECT account_id AS "accountId", environment, attestation_id AS "attestationId" FROM fingerprints
       WHERE state <> 'compared' AND account_id = tenants.account_id AND environment = tenants.environment
         AND (leased_until IS NULL OR leased_until < now())
       ORDER BY attestation_id LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED) AS mine
     LIMIT $4`,
    [after?.accountId ?? '', after?.environment ?? '', perTenant, limit],
  )
  const tenants = Map.groupBy(taken, ({ accountId, environment }) => `${accountId} ${environment}`)
  await Promise.all(
    [...tenants.values()].map((rows) =>
      tx.query(
        `UPDATE fingerprints SET leased_until = now() + interval '2 minutes'
         WHERE account_id = $1 AND environment = $2 AND attestation_id = ANY($3)`,
        [rows[0]?.accountId, rows[0]?.environment, rows.map(({ attestationId }) => attestationId)],
      ),
    ),
  )
  return taken
}

/** Releases leased rows that were not begun. */
export async function release(tx: Tx, attestationIds: readonly string[]): Promise<void> {
  await tx.query('UPDATE fingerprints SET leased_until = NULL WHERE attestation_id = ANY($1)', [attestationIds])
}

export interface DueMedia {
  /** How often reading its media failed. */
  attempts: number
  /** How often hashing has begun without an end, this time included. */
  starts: number
  /** 64 lower-case hexadecimal digits. */
  sha256: string
  contentType: string
}

/** Records that hashing begins and returns what to hash; undefined when it is not due, or gone. */
export async function beginHash(tx: Tx, attestationId: string): Promise<DueMedia | undefined> {
  const [row] = await tx.query<DueMedia>(
    `WITH begun AS (
       UPDATE fingerprints SET starts = starts + 1 WHERE attestation_id = $1 AND state = 'due'
       RETURNING media_id, attempts, starts
     )
     SELECT begun.attempts, begun.starts, encode(m.sha256, 'hex') AS sha256, m.content_type AS "contentType" FROM begun
     CROSS JOIN LATERAL (SELECT * FROM media WHERE id = begun.media_id LIMIT 1) m`,
    [attestationId],
  )
  return row
}

/** Copies the hash of the same bytes from another attestation. False when there is none. */
export async function copyHash(tx: Tx, attestationId: string): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE fingerprints own SET hash = known.hash, not_comparable = known.not_comparable, state = 'hashed'
     FROM (SELECT hash, not_comparable FROM fingerprints
       WHERE media_id = (SELECT media_id FROM fingerprints WHERE attestation_id = $1) AND state <> 'due' LIMIT 1) known
     WHERE own.attestation_id = $1 AND own.state = 'due' RETURNING own.attestation_id`,
    [attestationId],
  )
  return rows.length === 1
}

/** @param result a hash of 16 hexadecimal digits, or why there is none. */
export async function storeHash(
  tx: Tx,
  attestationId: string,
  result: { hash: string } | { notComparable: NotComparable },
): Promise<void> {
  await tx.query(
    `UPDATE fingerprints SET hash = ('x' || $2::text)::bit(64)::bigint, not_comparable = $3, state = 'hashed'
     WHERE attestation_id = $1 AND state = 'due'`,
    [attestationId, 'hash' in result ? result.hash : null, 'hash' in result ? null : result.notComparable],
  )
}

/** Delays the next attempt: `baseSeconds`, doubled with each attempt up to `capSeconds`. */
export async function postpone(
  tx: Tx,
  attestationId: string,
  { baseSeconds, capSeconds }: { baseSeconds: number; capSeconds: number },
): Promise<void> {
  await tx.query(
    `UPDATE fingerprints SET attempts = attempts + 1, starts = 0,
       leased_until = now() + least($2::int * 2 ^ least(attempts, 20), $3) * interval '1 second'
     WHERE attestation_id = $1 AND state <> 'compared'`,
    [attestationId, baseSeconds, capSeconds],
  )
}

export interface Comparing {
  attestationId: string
  claimId: string
  mediaId: string
  /** 16 hexadecimal digits; null when there is none. */
  hash: string | null
  state: 'hashed' | 'recheck'
}

/** Locks a fingerprint that is due for comparison until the transaction ends; undefined when it is not due, or gone. */
export async function lockComparing(tx: Tx, attestationId: string): Promise<Comparing | undefined> {
  const [row] = await tx.query<Comparing>(
    `SELECT attestation_id AS "attestationId", claim_id AS "claimId", media_id AS "mediaId", state,
       lpad(to_hex(hash), 16, '0') AS hash
     FROM fingerprints WHERE attestation_id = $1 AND state IN ('hashed', 'recheck') FOR NO KEY UPDATE`,
    [attestationId],
  )
  return row
}

/** Marks later attestations for a new comparison, because theirs may not have seen this one. */
export async function recheck(tx: Tx, attestationIds: readonly string[]): Promise<void> {
  if (attestationIds.length === 0) return
  // Waits for a comparison that is under way; the next statement sees its result.
  await tx.query(
    'SELECT 1 FROM fingerprints WHERE attestation_id = ANY($1) ORDER BY attestation_id FOR NO KEY UPDATE',
    [attestationIds],
  )
  await tx.query(
    `UPDATE fingerprints SET state = 'recheck', leased_until = NULL WHERE attestation_id = ANY($1) AND state = 'compared'`,
    [attestationIds],
  )
}

export interface NewFinding {
  claimId: string
  attestationId: string
  /** Null: the same bytes. */
  distanceBits: number | null
}

/** Replaces an attestation's findings. The counts may exceed the number of stored findings. */
export async function storeFindings(
  tx: Tx,
  scope: Scope,
  attestationId: string,
  { findings, exactCount, similarCount }: { findings: readonly NewFinding[]; exactCount: number; similarCount: number },
): Promise<void> {
  await Promise.all([
    tx.query('DELETE FROM duplicate_findings WHERE attestation_id = $1', [attestationId]),
    findings.length > 0 &&
      tx.query(
        `INSERT INTO duplicate_findings
           (account_id, environment, attestation_id, other_claim_id, other_attestation_id, distance_bits)
         SELECT $1, $2, $3, * FROM unnest($4::text[], $5::text[], $6::smallint[])`,
        [
          scope.accountId,
          scope.environment,
          attestationId,
          findings.map(({ claimId }) => claimId),
          findings.map(({ attestationId: other }) => other),
          findings.map(({ distanceBits }) => distanceBits),
        ],
      ),
    tx.query(
      `UPDATE fingerprints SET state = 'compared', leased_until = NULL, attempts = 0, exact_count = $2, similar_count = $3
       WHERE attestation_id = $1`,
      [attestationId, exactCount, similarCount],
    ),
  ])
}

export interface ComparedRow {
  attestationId: string
  mediaId: string
  state: FingerprintState
  notComparable: NotComparable | null
  exactCount: number
  similarCount: number
  /** Nearest first. */
  earlier: NewFinding[]
  /** Attestations whose findings name this one, oldest first. */
  later: NewFinding[]
}

/** The findings of a claim's attestations, newest first. */
export async function findCompared(
  tx: Tx,
  claimId: string,
  { before, limit, named }: { before: string | undefined; limit: number; named: number },
): Promise<ComparedRow[]> {
  return tx.query<ComparedRow>(
    `SELECT attestation_id AS "attestationId", media_id AS "mediaId", state, not_comparable AS "notComparable",
       exact_count AS "exactCount", similar_count AS "similarCount",
       coalesce((SELECT jsonb_agg(jsonb_build_object('claimId', other_claim_id, 'attestationId', other_attestation_id,
           'distanceBits', distance_bits) ORDER BY distance_bits NULLS FIRST, other_attestation_id)
         FROM duplicate_findings d WHERE d.attestation_id = f.attestation_id), '[]') AS earlier,
       coalesce((SELECT jsonb_agg(jsonb_build_object('claimId', claim_id, 'attestationId', attestation_id,
           'distanceBits', distance_bits) ORDER BY attestation_id)
         FROM (SELECT d.attestation_id, d.distance_bits, theirs.claim_id FROM duplicate_findings d
           CROSS JOIN LATERAL (SELECT claim_id FROM fingerprints WHERE attestation_id = d.attestation_id LIMIT 1) theirs
           WHERE d.other_attestation_id = f.attestation_id ORDER BY d.attestation_id LIMIT $4) AS named), '[]') AS later
     FROM fingerprints f WHERE claim_id = $1 AND ($2::text IS NULL OR attestation_id < $2)
     ORDER BY attestation_id DESC LIMIT $3`,
    [claimId, before ?? null, limit, named],
  )
}

export async function isClaim(tx: Tx, id: string): Promise<boolean> {
  return (await tx.query('SELECT 1 FROM claims WHERE id = $1', [id])).length === 1
}

/** How many rows wait, in all accounts; counting stops at `limit`. */
export async function countWaiting(tx: Tx, limit: number): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT FROM fingerprints WHERE state <> 'compared' LIMIT $1) AS waiting`,
    [limit],
  )
  return row?.count ?? 0
}
