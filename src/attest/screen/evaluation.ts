// Where a screening meets the evaluation of captures: it reads media as an evaluation does, and a score that arrives
// after one causes another.

import { requestReevaluation } from '#src/attest/causes/request.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { declaredProvenance } from '../media/declared.ts'
import { createReadMedia, type MediaFactsDeps } from '../media/media-facts.ts'
import type { ScreeningRow } from './rows.ts'
import type { ScreenDeps } from './screen.ts'

/** What media declare about how they were made, read as an evaluation reads it. */
export function createObserve(deps: MediaFactsDeps): ScreenDeps['observe'] {
  const readMedia = createReadMedia(deps)
  return async (job, { mediaSha256, createdAt }) =>
    declaredProvenance(await readMedia(job, { mediaSha256, acceptedAt: createdAt }))
}

/** Re-evaluates the attestations of the screened bytes, once for bytes that were screened together. */
export async function rejudgeAttested(
  tx: Tx,
  scope: Scope,
  screenings: readonly Pick<ScreeningRow, 'id' | 'mediaId' | 'mediaSha256'>[],
): Promise<void> {
  // Photos screened in bulk may have no attestation at all; then there is nothing to re-evaluate.
  const attested = await tx.query<{ id: string }>(
    `SELECT id FROM unnest((SELECT $1::text[])) AS screened (id)
     WHERE EXISTS (SELECT FROM attestations WHERE media_id = screened.id OFFSET 0)`,
    [[...new Set(screenings.map(({ mediaId }) => mediaId))]],
  )
  const ids = new Set(attested.map(({ id }) => id))
  const causes = new Map(
    screenings.flatMap(({ id, mediaId, mediaSha256 }) => (ids.has(mediaId) ? [[mediaSha256.toString('hex'), id]] : [])),
  )
  for (const [mediaSha256, key] of causes) {
    await requestReevaluation(tx, scope, { cause: 'screening', mediaSha256, key })
  }
}
