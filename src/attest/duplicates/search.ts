// Finds other claims of the account that show the same picture. The hash is stored in three bands. If two hashes differ
// in at most six bits, then the first band differs in at most one bit, or the second in at most one, or the third in at
// most two; otherwise at least seven bits differ. So 320 probes of three indexes find all of them. They find pictures, which
// are confirmed before they count (confirm.ts). The claims that show each are read in the order of their ids from an index
// alone, one probe for each claim, however many captures of the picture it has, and at most ten times as many claims as are
// counted.

import type { Tx } from '#src/platform/db/database.ts'

/**
 * Two pictures match up to this many differing bits: the effect of recompression, resizing or WebP. The probes cover up
 * to 6.
 */
export const RADIUS_BITS = 6
/** Other claims that an attestation's findings name, of each kind. */
export const MAX_NAMED = 10
/**
 * Claims that are counted of each kind: a picture that everyone submits must not make each search slower, and an adjuster
 * looks at ten.
 */
export const MAX_MATCHES = 100
// Factor between the claims that are read of each kind and the claims that are counted. Claims in between have shown
// the picture later than the attestation that is compared.
const READ_PER_MATCH = 10
// Earlier attestations of its own claim with the same media: the first may still wait, or have failed.
const OWN_READ = 10

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
}

/** Another picture whose hash differs in few bits. */
export interface Alike {
  mediaId: string
  distance: number
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

export interface Search {
  /**
   * Pictures within `RADIUS_BITS` of the hash (16 hexadecimal digits), the nearest first: up to as many as claims are counted.
   */
  findAlike(tx: Tx, own: { mediaId: string; hash: string }): Promise<Alike[]>
  /** Claims that show the same bytes, or one of the pictures that are the same. */
  findClaims(tx: Tx, own: Searched, same: readonly Alike[]): Promise<Found>
}

/**
 * A search that counts up to `maxMatches` claims with an earlier attestation of the same bytes, and as many that show a
 * similar picture: those with the lowest ids, of the nearest pictures first. A claim with the same bytes among them is
 * not counted as similar.
 */
export function createSearch(maxMatches: number = MAX_MATCHES): Search {
  const alike = `SELECT media_id AS "mediaId", distance FROM (${alikeOf(maxMatches)}) AS pictures
    ORDER BY distance, media_id LIMIT ${maxMatches}`
  const claims = textOf(maxMatches)
  return {
    findAlike: (tx, { mediaId, hash }) => tx.query<Alike>(alike, [mediaId, hash]),
    async findClaims(tx, { attestationId, claimId, mediaId }, same) {
      const own = [attestationId, claimId, mediaId]
      const pictures = [same.map((one) => one.mediaId), same.map(({ distance }) => distance)]
      const [found] = await tx.query<Found>(claims, [...own, ...pictures])
      if (found === undefined) throw new Error('a search returned no row')
      return found
    },
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

const ownHash = `('x' || $2::text)::bit(64)::bigint`

// The limit forces one index probe after the other, whatever the planner knows of the table. It bounds what thousands of
// different pictures of a white page cost.
const probe = (band: (typeof BANDS)[number], index: number, limit: number) => `
  SELECT found.* FROM unnest(ARRAY[${masksOf(band).join(', ')}]::bigint[]) AS mask
  CROSS JOIN LATERAL (
    SELECT media_id, bit_count((hash # ${ownHash})::bit(64))::int AS distance FROM pictures
    WHERE hash IS NOT NULL AND band${index} = hashtextextended(
        current_setting('app.account_id') || current_setting('app.environment'), 0)
        # ((${ownHash} >> ${band.shift}) & ${2 ** band.bits - 1}) # mask
      AND bit_count((hash # ${ownHash})::bit(64)) <= ${RADIUS_BITS} AND media_id <> $1
    LIMIT ${limit}
  ) AS found`

const alikeOf = (limit: number) => BANDS.map((band, index) => probe(band, index, limit)).join(' UNION ')

const nearest = (claims: string) =>
  `(SELECT claim_id, attestation_id, distance FROM ${claims} ORDER BY distance, attestation_id LIMIT ${MAX_NAMED})`

/**
 * The first attestation with the media in the first claim, by its id, that is `from`: 'claim_id > $2' are those after $2. Several at once,
 * columns that are not in the index, or a single claim, and the planner may read all of the media, of which a claim may have
 * ten thousand where most media have one.
 */
const firstOf = (media: string, from: string) =>
  `SELECT claim_id, attestation_id FROM fingerprints WHERE media_id = ${media} AND ${from} ORDER BY claim_id, attestation_id LIMIT 1`

// $1: the attestation, $2: its claim, $3: its media. $4, $5: other media that show the same picture, and their distances.
//
// `laterMedia`: an attestation of a claim that comes after `limit` others, whichever single claim is left out of them, is in
// no finding of a later one; so `same` reads one more than count. Nor does it change one if an earlier attestation of its
// own claim with the same media has been compared: later ones know of that.
const textOf = (limit: number) => `
  WITH RECURSIVE showing (claim_id, attestation_id) AS (
    SELECT claim_id, attestation_id FROM (${firstOf('$3', `claim_id > ''`)}) AS first
    UNION ALL
    SELECT following.claim_id, following.attestation_id
    FROM showing CROSS JOIN LATERAL (${firstOf('$3', 'claim_id > showing.claim_id')}) AS following
  ), same AS MATERIALIZED (
    SELECT claim_id, attestation_id, row_number() OVER (ORDER BY claim_id) <= ${limit} AS is_counted
    FROM (SELECT * FROM (SELECT * FROM showing LIMIT ${READ_PER_MATCH * limit}) AS read
      WHERE attestation_id < $1 AND claim_id <> $2 LIMIT ${limit + 1}) AS others
  ), exact AS (
    SELECT claim_id, attestation_id, NULL::int AS distance FROM same WHERE is_counted
  ), alike AS MATERIALIZED (
    SELECT $4::text[] AS media, $5::int[] AS distances
  ), showing_alike (place, claim_id, attestation_id) AS (
    SELECT 1, '' COLLATE "C", NULL::text COLLATE "C"
    UNION ALL
    SELECT following.* FROM showing_alike AS last CROSS JOIN LATERAL (
      (SELECT last.place, claim_id, attestation_id
       FROM (${firstOf('(SELECT media FROM alike)[last.place]', 'claim_id > last.claim_id')}) AS of_media)
      UNION ALL SELECT last.place + 1, '', NULL WHERE last.place < cardinality((SELECT media FROM alike))
      LIMIT 1) AS following
  ), own (claim_id, attestation_id) AS (
    SELECT * FROM (${firstOf('$3', 'claim_id >= $2')}) AS first
    UNION ALL
    SELECT following.*
    FROM own CROSS JOIN LATERAL (${firstOf('$3', '(claim_id, attestation_id) > (own.claim_id, own.attestation_id)')}) AS following
  ), near AS MATERIALIZED (
    SELECT DISTINCT ON (claim_id) claim_id, attestation_id, distance FROM (
      SELECT claim_id, attestation_id, (SELECT distances FROM alike)[place] AS distance
      FROM (SELECT * FROM showing_alike LIMIT ${READ_PER_MATCH * limit}) AS read
      WHERE attestation_id < $1 AND claim_id <> $2 LIMIT ${limit}) AS others
    WHERE claim_id NOT IN (SELECT claim_id FROM exact)
    ORDER BY claim_id, distance, attestation_id
  )
  SELECT (SELECT count(*)::int FROM exact) AS "exactCount", (SELECT count(*)::int FROM near) AS "similarCount",
    (SELECT coalesce(jsonb_agg(jsonb_build_object('claimId', claim_id, 'attestationId', attestation_id,
        'distanceBits', distance)), '[]') FROM (${nearest('exact')} UNION ALL ${nearest('near')}) AS named) AS findings,
    CASE WHEN (SELECT count(*) > ${limit} FROM same WHERE claim_id < $2)
        OR EXISTS (SELECT FROM (SELECT * FROM own LIMIT ${OWN_READ}) AS read
          CROSS JOIN LATERAL (SELECT state, not_comparable FROM fingerprints WHERE attestation_id = read.attestation_id LIMIT 1) AS known
          WHERE claim_id = $2 AND attestation_id < $1 AND state = 'compared' AND not_comparable IS DISTINCT FROM 'failed') THEN '{}'
      ELSE ARRAY(SELECT media_id FROM (SELECT $3 AS media_id UNION ALL SELECT unnest(media) FROM alike) AS matching
        CROSS JOIN LATERAL (SELECT FROM fingerprints
          WHERE media_id = matching.media_id AND attestation_id > $1 AND claim_id <> $2 LIMIT 1) AS later)
      END AS "laterMedia"`
