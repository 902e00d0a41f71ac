// Who else of the account has shown this picture. 64 bits are four words of 16: of two hashes that differ in up to 7 bits, one
// word differs in at most one. So 17 probes of each word's index find all of them, about a thousand rows of a million.

import type { Tx } from '#src/platform/db/database.ts'

/** Differing bits up to which two pictures are one: what recompression, resizing or WebP cost. Search holds up to 7. */
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

// No bit of a word differs, or one of its sixteen.
const MASKS = [0, ...Array.from({ length: 16 }, (_, bit) => 1 << bit)]

const ownHash = `('x' || $1::text)::bit(64)::bigint`

const probe = (index: number) => `
  SELECT found.* FROM unnest(ARRAY[${MASKS.join(', ')}]::bigint[]) AS mask
  CROSS JOIN LATERAL (
    SELECT attestation_id, claim_id, bit_count((hash # ${ownHash})::bit(64))::int AS distance FROM fingerprints
    WHERE hash IS NOT NULL AND band${index} = hashtextextended(
        current_setting('app.account_id') || current_setting('app.environment'), 0)
        # ((${ownHash} >> ${16 * index}) & 65535) # mask
      AND bit_count((hash # ${ownHash})::bit(64)) <= ${RADIUS_BITS} AND claim_id <> $2 AND media_id <> $3
    LIMIT ${MAX_MATCHES}
  ) AS found`

const SIMILAR = `
  SELECT attestation_id AS "attestationId", claim_id AS "claimId", distance AS "distanceBits" FROM (
    ${[0, 1, 2, 3].map(probe).join(' UNION ')}
  ) AS found`
