// Finds other claims of the account that show the same picture. The hash is stored in three bands. If two hashes differ
// in at most six bits, then the first band differs in at most one bit, or the second in at most one, or the third in at
// most two; otherwise at least seven bits differ. So 320 probes of three indexes find all of them, and read about
// ninety rows of a million.

import type { Tx } from '#src/platform/db/database.ts'

/**
 * Two pictures match up to this many differing bits: the effect of recompression, resizing or WebP. The probes cover up
 * to 6.
 */
export const RADIUS_BITS = 6
/** Candidates read per index probe: a picture that everyone submits must not make each search slower. */
export const MAX_MATCHES = 1_000

export interface Other {
  attestationId: string
  claimId: string
  /** Null: the same bytes. */
  distanceBits: number | null
}

/** The same bytes in other claims, oldest first, up to `MAX_MATCHES` before and as many after. */
export async function findSameMedia(
  tx: Tx,
  own: { attestationId: string; claimId: string; mediaId: string },
): Promise<Other[]> {
  return tx.query<Other>(
    `(SELECT attestation_id AS "attestationId", claim_id AS "claimId", NULL::int AS "distanceBits" FROM fingerprints
      WHERE media_id = $1 AND claim_id <> $2 AND attestation_id < $3 ORDER BY attestation_id LIMIT ${MAX_MATCHES})
     UNION ALL
     (SELECT attestation_id, claim_id, NULL FROM fingerprints
      WHERE media_id = $1 AND claim_id <> $2 AND attestation_id > $3 ORDER BY attestation_id LIMIT ${MAX_MATCHES})`,
    [own.mediaId, own.claimId, own.attestationId],
  )
}

/** Different bytes in other claims that look similar, in no order. `hash` has 16 hexadecimal digits. */
export async function findSimilar(
  tx: Tx,
  own: { claimId: string; mediaId: string; hash: string },
): Promise<(Other & { distanceBits: number })[]> {
  return tx.query(SIMILAR, [own.hash, own.claimId, own.mediaId])
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

const ownHash = `('x' || $1::text)::bit(64)::bigint`

// The limit forces one index probe after the other, whatever the planner knows of the table.
const probe = (band: (typeof BANDS)[number], index: number) => `
  SELECT found.* FROM unnest(ARRAY[${masksOf(band).join(', ')}]::bigint[]) AS mask
  CROSS JOIN LATERAL (
    SELECT attestation_id, claim_id, bit_count((hash # ${ownHash})::bit(64))::int AS distance FROM fingerprints
    WHERE hash IS NOT NULL AND band${index} = hashtextextended(
        current_setting('app.account_id') || current_setting('app.environment'), 0)
        # ((${ownHash} >> ${band.shift}) & ${2 ** band.bits - 1}) # mask
      AND bit_count((hash # ${ownHash})::bit(64)) <= ${RADIUS_BITS} AND claim_id <> $2 AND media_id <> $3
    LIMIT ${MAX_MATCHES}
  ) AS found`

const SIMILAR = `
  SELECT attestation_id AS "attestationId", claim_id AS "claimId", distance AS "distanceBits" FROM (
    ${BANDS.map(probe).join(' UNION ')}
  ) AS found`
