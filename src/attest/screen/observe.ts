import { createReadMedia, type MediaFactsDeps } from '#src/attest/media/media-facts.ts'
import { declaredProvenance } from '../media/declared.ts'
import type { ScreenDeps } from './screen.ts'

/** What media declare about how they were made, read as an evaluation reads it. */
export function createObserve(deps: MediaFactsDeps): ScreenDeps['observe'] {
  const readMedia = createReadMedia(deps)
  return async (job, { mediaSha256, createdAt }) =>
    declaredProvenance(await readMedia(job, { mediaSha256, acceptedAt: createdAt }))
}
