import { defineFeature, type Platform } from '#src/platform/feature.ts'
import type { MediaFeature } from '../media/feature.ts'
import { createDuplicates } from './duplicates.ts'
import { createDuplicateFindings } from './findings.ts'
import { createHasher } from './hasher.ts'
import { collectDuplicates } from './metrics.ts'
import { NOTES } from './notes.ts'
import { duplicateRoutes } from './routes.ts'

export type DuplicatesFeature = ReturnType<typeof duplicatesFeature>

// How long an evaluated attestation may wait for its comparison on an idle system.
const COMPARE_EVERY_MS = 1_000

/** Finds the same media, or similar pictures, in other claims of the account. */
export function duplicatesFeature(p: Platform, { decoder }: Pick<MediaFeature, 'decoder'>) {
  const duplicates = createDuplicates({ ...p, hasher: createHasher(decoder) })
  const findings = createDuplicateFindings(p)
  return defineFeature(
    {
      name: 'duplicates',
      routes: duplicateRoutes(findings),
      notes: NOTES,
      tasks: [
        {
          name: 'compare',
          everyMs: COMPARE_EVERY_MS,
          start: () => async (signal) => {
            while ((await duplicates.round(signal)) > 0 && !signal.aborted);
          },
        },
      ],
      collect: { clock: (registry) => collectDuplicates(registry, p.db) },
    },
    { duplicates, findings },
  )
}
