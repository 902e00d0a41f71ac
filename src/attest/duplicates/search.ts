// Finds other claims of the account that show the same picture. The hash is stored in three bands. If two hashes differ
// in at most six bits, then the first band differs in at most one bit, or the second in at most one, or the third in at
// most two; otherwise at least seven bits differ. So 320 probes of three indexes find all of them. They find pictures;
// the attestations of each are read oldest first from an index alone, and no more of them than are counted, however
// many show one picture.

import type { Tx } from '#src/platform/db/database.ts'

/**
 * Two pictures match up to this many differing bits: the effect of recompression, resizing or WebP. The probes cover up
 * to 6.
 */
export const RADIUS_BITS = 6
/** Other claims that an attestation's findings name, of each kind. */
export const MAX_NAMED = 10
/**
 * Attestations that are read of each kind: a picture that everyone submits must not make each search slower. With 1,000 a
 * search of such a picture takes 11 ms of a core, with 100 it takes 4 ms, and an adjuster looks at ten.
 */
export const MAX_MATCHES = 100

export interface Other {
  attestationId: string
  claimId: string
  /** Null: the same bytes. */
  distanceBits: number | null
}

export interface Searched {
  attestationId: string
  claimId: string
  mediaId: string
  /** 16 hexadecimal digits; null: only the same bytes are searched. */
  hash: string | null
}

export interface Found {
  /** The nearest attestation of each of the nearest earlier claims, the oldest of equals. */
  findings: Other[]
  /** These may exceed the number of findings. */
  exactCount: number
  similarCount: number
  /** Matching media that later attestations of other claims show. Empty when those find enough without this one. */
  laterMedia: string[]
}

export type Search = (tx: Tx, own: Searched) => Promise<Found>

/**
 * A search that reads up to `maxMatches` earlier attestations with the same bytes, and as many that look similar: of the
 * nearest pictures, each one's oldest. A claim with the same bytes among them is not counted as similar.
 */
export function createSearch(maxMatches: number = MAX_MATCHES): Search {
  const sameBytes = textOf(maxMatches, `SELECT NULL::text AS media_id, 0 AS distance WHERE false`)
  const similarToo = textOf(maxMatches, alikeOf(maxMatches))
  return async (tx, { attestationId, claimId, mediaId, hash }) => {
    const own = [attestationId, claimId, mediaId]
    const [found] = await (hash === null
      ? tx.query<Found>(sameBytes, own)
      : tx.query<Found>(similarToo, [...own, hash]))
    if (found === undefined) throw new Error('a search returned no row')
    return found
  }
}

// Defined like the columns band0 to band2.
const BANDS = [
  { shift: 0, bits: 20, radius: 1 },
  { shift: 20, bits: 21, radius: 1 },
  { shift: 41, bits: 23, radius: 2 },
]

/** Every mask with 1 to `radius` (1 or 2) of `bits` bits set, and the empty one. */
function masksOf({ bits, radius }: { bits: number; radius: number }): number[] {
  const single = Array.from({ length: bits }, (_, bit) => 2 ** bit)
  const pairs = single.flatMap((one, index) => single.slice(index + 1).map((other) => one + other))
  return [0, ...single, ...(radius === 2 ? pairs : [])]
}

const ownHash = `('x' || $4::text)::bit(64)::bigint`

// The limit forces one index probe after the other, whatever the planner knows of the table. It bounds what thousands of
// different pictures of a white page cost.
const probe = (band: (typeof BANDS)[number], index: number, limit: number) => `
  SELECT found.* FROM unnest(ARRAY[${masksOf(band).join(', ')}]::bigint[]) AS mask
  CROSS JOIN LATERAL (
    SELECT media_id, bit_count((hash # ${ownHash})::bit(64))::int AS distance FROM pictures
    WHERE hash IS NOT NULL AND band${index} = hashtextextended(
        current_setting('app.account_id') || current_setting('app.environment'), 0)
        # ((${ownHash} >> ${band.shift}) & ${2 ** band.bits - 1}) # mask
      AND bit_count((hash # ${ownHash})::bit(64)) <= ${RADIUS_BITS} AND media_id <> $3
    LIMIT ${limit}
  ) AS found`

const alikeOf = (limit: number) => BANDS.map((band, index) => probe(band, index, limit)).join(' UNION ')

const nearest = (claims: string) =>
  `(SELECT claim_id, attestation_id, distance FROM ${claims} ORDER BY distance, attestation_id LIMIT ${MAX_NAMED})`

// $1: the attestation, $2: its claim, $3: its media. An attestation that comes after `limit` others, whichever single
// claim is left out of them, is in no finding of a later one. So `same` reads a few more than count.
const textOf = (limit: number, alike: string) => `
  WITH same AS MATERIALIZED (
    SELECT claim_id, min(attestation_id) AS attestation_id, min(place) <= ${limit} AS is_counted, count(*) AS captures
    FROM (SELECT claim_id, attestation_id, row_number() OVER (ORDER BY attestation_id) AS place FROM (
      SELECT claim_id, attestation_id FROM fingerprints
      WHERE media_id = $3 AND attestation_id < $1 AND claim_id <> $2
      ORDER BY attestation_id LIMIT ${limit + Math.ceil(limit / 10)}) AS oldest) AS placed
    GROUP BY claim_id
  ), exact AS (
    SELECT claim_id, attestation_id, NULL::int AS distance FROM same WHERE is_counted
  ), alike AS MATERIALIZED (
    SELECT media_id, distance FROM (${alike}) AS pictures ORDER BY distance, media_id LIMIT ${limit}
  ), near AS MATERIALIZED (
    SELECT DISTINCT ON (claim_id) claim_id, attestation_id, distance FROM (
      SELECT oldest.*, distance FROM alike CROSS JOIN LATERAL (
        SELECT claim_id, attestation_id FROM fingerprints
        WHERE media_id = alike.media_id AND attestation_id < $1 AND claim_id <> $2
        ORDER BY attestation_id LIMIT ${limit}) AS oldest
      ORDER BY distance, media_id, attestation_id LIMIT ${limit}) AS nearest
    WHERE claim_id NOT IN (SELECT claim_id FROM exact)
    ORDER BY claim_id, distance, attestation_id
  )
  SELECT (SELECT count(*)::int FROM exact) AS "exactCount", (SELECT count(*)::int FROM near) AS "similarCount",
    (SELECT coalesce(jsonb_agg(jsonb_build_object('claimId', claim_id, 'attestationId', attestation_id,
        'distanceBits', distance)), '[]') FROM (${nearest('exact')} UNION ALL ${nearest('near')}) AS named) AS findings,
    CASE WHEN (SELECT sum(captures) - max(captures) >= ${limit} FROM same) THEN '{}'
      ELSE ARRAY(SELECT media_id FROM (SELECT $3 AS media_id UNION ALL SELECT media_id FROM alike) AS matching
        CROSS JOIN LATERAL (SELECT FROM fingerprints
          WHERE media_id = matching.media_id AND attestation_id > $1 AND claim_id <> $2 LIMIT 1) AS later)
      END AS "laterMedia"`
