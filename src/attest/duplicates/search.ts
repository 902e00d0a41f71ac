// Who else of the account has shown this picture. The hash lies in three pieces. Of two hashes that differ in at most six bits,
// the first piece differs in at most one, or the second in at most one, or the third in at most two: else there were seven.
// So 320 probes of three indexes find them all, and look at about ninety rows of a million.

import type { Tx } from '#src/platform/db/database.ts'

/** Differing bits up to which two pictures are one: what recompression, resizing or WebP cost. The probes hold up to 6. */
export const RADIUS_BITS = 6
/** Others that are looked at per index probe: a picture that everybody sends must not make each search slower. */
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

/** Other bytes in other claims that look alike, in no order. `hash` has 16 hexadecimal digits. */
export async function findSimilar(
  tx: Tx,
  own: { claimId: string; mediaId: string; hash: string },
): Promise<(Other & { distanceBits: number })[]> {
  return tx.query(SIMILAR, [own.hash, own.claimId, own.mediaId])
}

// As the columns band0 to band2 are made.
const BANDS = [
  { shift: 0, bits: 20, radius: 1 },
  { shift: 20, bits: 21, radius: 1 },
  { shift: 41, bits: 23, radius: 2 },
]

/** Every way in which up to `radius` (1 or 2) of `bits` bits can differ. */
function masksOf({ bits, radius }: { bits: number; radius: number }): number[] {
  const single = Array.from({ length: bits }, (_, bit) => 2 ** bit)
  const pairs = single.flatMap((one, index) => single.slice(index + 1).map((other) => one + other))
  return [0, ...single, ...(radius === 2 ? pairs : [])]
}

const ownHash = `('x' || $1::text)::bit(64)::bigint`

// The limit keeps the look-up what it is, one probe after the other, whatever the planner knows of the table.
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
