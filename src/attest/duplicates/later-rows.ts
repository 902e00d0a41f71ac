// Later attestations whose comparison may not have seen an earlier one.

import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { RUNNING } from '#src/platform/jobs/backlog.ts'
import type { Searched } from './search.ts'

export interface Later extends Pick<Searched, 'attestationId' | 'claimId'> {
  /** What they show: the same media, and those that look similar. */
  media: readonly string[]
}

/**
 * Later attestations of other claims that show one of the media, by id, and whose comparison may not have seen `own`: up
 * to `limit` that are compared, and all that may be in comparison now.
 */
export async function findLater(
  tx: Tx,
  scope: Scope,
  own: Later,
  { after, limit }: { after: string; limit: number },
): Promise<{ compared: string[]; running: string[] }> {
  const rows = await tx.query<{ id: string; isRunning: boolean }>(
    // In one statement, so that a comparison that ends meanwhile is in one of the two: its job runs from before its
    // search until its end.
    `(SELECT later.id, false AS "isRunning" FROM unnest((SELECT $1::text[])) AS shown (media_id)
      CROSS JOIN LATERAL (SELECT attestation_id AS id FROM fingerprints
        WHERE media_id = shown.media_id AND attestation_id > $5 AND claim_id <> $3 AND state = 'compared'
        ORDER BY attestation_id LIMIT $6) AS later ORDER BY 1 LIMIT $6)
     UNION ALL
     (SELECT later.id, true FROM jobs
      CROSS JOIN LATERAL (SELECT attestation_id AS id, media_id FROM fingerprints
        WHERE attestation_id = jobs.payload ->> 'attestationId' AND attestation_id > $2 AND claim_id <> $3
          AND state <> 'compared' LIMIT 1) AS later
      WHERE queue = 'compare' AND lane = $4 AND ${RUNNING} AND later.media_id = ANY($1))`,
    [own.media, own.attestationId, own.claimId, scope.accountId, after, limit],
  )
  const idsOf = (isRunning: boolean) => rows.filter((row) => row.isRunning === isRunning).map(({ id }) => id)
  return { compared: idsOf(false), running: idsOf(true) }
}
