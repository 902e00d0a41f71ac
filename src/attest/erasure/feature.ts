import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { finishRule } from '#src/platform/retention.ts'
import type { MediaFeature } from '../media/feature.ts'
import { createClaimErasure } from './erase.ts'
import { NOTES } from './notes.ts'
import { claimErasureRoutes } from './routes.ts'

export type ErasureFeature = ReturnType<typeof erasureFeature>

/** Erasure of a claim: its media and coordinates are deleted, hashes and results stay. */
export function erasureFeature(p: Platform, { eraser }: Pick<MediaFeature, 'eraser'>) {
  const erasure = createClaimErasure({ ...p, eraser })
  return defineFeature(
    {
      name: 'erasure',
      routes: claimErasureRoutes(erasure),
      notes: NOTES,
      retention: [finishRule('erasures_of_claims', erasure.finishUnfinished)],
    },
    { erasure },
  )
}
