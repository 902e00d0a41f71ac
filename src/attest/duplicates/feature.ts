import { defineFeature, type Platform } from '#src/platform/feature.ts'
import type { MediaFeature } from '../media/feature.ts'
import { createCompare } from './compare.ts'
import { createDuplicateFindings } from './findings.ts'
import { createHasher } from './hasher.ts'
import { NOTES } from './notes.ts'
import { duplicateRoutes } from './routes.ts'
import { unreferencedPictures } from './unreferenced.ts'

export type DuplicatesFeature = ReturnType<typeof duplicatesFeature>

/** Finds the same media, or similar pictures, in other claims of the account. */
export function duplicatesFeature(p: Platform, { decoder }: Pick<MediaFeature, 'decoder'>) {
  const findings = createDuplicateFindings(p)
  return defineFeature(
    {
      name: 'duplicates',
      data: [
        { table: 'fingerprints', key: ['attestation_id'] },
        { table: 'pictures', key: ['media_id'] },
        { table: 'duplicate_findings', key: ['attestation_id', 'other_claim_id'] },
      ],
      routes: duplicateRoutes(findings),
      notes: NOTES,
      retention: [unreferencedPictures(p)],
      work: { compare: () => createCompare({ ...p, hasher: createHasher(decoder) }) },
    },
    { findings },
  )
}
