// When a score arrives after a capture of the same bytes was evaluated, the attestation is re-evaluated.

import { requestReevaluation } from '#src/attest/causes/request.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { ScreeningRow } from './rows.ts'

export async function rejudgeAttested(
  tx: Tx,
  scope: Scope,
  { id, mediaId, mediaSha256 }: Pick<ScreeningRow, 'id' | 'mediaId' | 'mediaSha256'>,
): Promise<void> {
  // Photos screened in bulk may have no attestation at all; then there is nothing to re-evaluate.
  const attested = await tx.query('SELECT FROM attestations WHERE media_id = $1 LIMIT 1', [mediaId])
  if (attested.length === 0) return
  await requestReevaluation(tx, scope, { cause: 'screening', mediaSha256: mediaSha256.toString('hex'), key: id })
}
