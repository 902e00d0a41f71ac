// Makes the files of vectors that follow from code: signatures with fixed keys, trees, packets. `npm run vectors` writes them;
// a test compares them with what is checked in. The other files are written by hand, or were computed by other programs.

import { writeFileSync } from 'node:fs'
import { formatVectors, pathOfVectors, type VectorFile } from './file.ts'
import { makeCheckpoints, makeEntries } from './made/checkpoints.ts'
import { makeExports } from './made/exports.ts'
import { makeDocuments, makePhotos, makeVideos } from './made/packets.ts'
import { makeAssertions } from './made/passkeys.ts'
import { makeTokens } from './made/tokens.ts'
import { makeConsistencyRefused, makeInclusionRefused } from './made/tree-proofs.ts'

export const MADE: Record<string, () => VectorFile | Promise<VectorFile>> = {
  'ledger/checkpoints': makeCheckpoints,
  'ledger/consistency-refused': makeConsistencyRefused,
  'ledger/entries': makeEntries,
  'ledger/exports': makeExports,
  'ledger/inclusion-refused': makeInclusionRefused,
  'packets/documents': makeDocuments,
  'packets/photos': makePhotos,
  'packets/videos': makeVideos,
  'passkeys/assertions': makeAssertions,
  'tokens/offline': makeTokens,
}

if (import.meta.main) {
  for (const [name, make] of Object.entries(MADE)) {
    const file = await make()
    writeFileSync(pathOfVectors(name), formatVectors(file))
    console.log(`${name}: ${file.cases.length} cases`)
  }
}
