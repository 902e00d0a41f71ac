import { defineFeature, type Platform } from '#src/platform/feature.ts'
import type { HardwareFeature } from '../hardware/feature.ts'
import type { MediaFeature } from '../media/feature.ts'
import { createEvidence, createThumbnailReader } from './evidence.ts'
import { createTimeline } from './moments.ts'
import { NOTES } from './notes.ts'
import { createRenderer } from './renderer.ts'
import { evidenceRoutes } from './routes.ts'

// A document of a hundred photos takes a second of processor time.
const RENDERER_THREADS = 2

export type EvidenceFeature = ReturnType<typeof evidenceFeature>

type Below = Pick<MediaFeature, 'media'> & Pick<HardwareFeature, 'revocations'>

/** Everything known about a claim in one signed packet, as JSON and as PDF. */
export function evidenceFeature(p: Platform, { media, revocations }: Below) {
  const renderer = createRenderer({ threads: RENDERER_THREADS })
  p.onClose(() => renderer.close(), 'renderer')
  const evidence = createEvidence({
    ...p,
    signRecord: p.signingKeys.signRecord,
    jwks: p.signingKeys.jwks,
    revocations,
    thumbnail: createThumbnailReader(media),
    renderPdf: renderer.renderPdf,
  })
  return defineFeature(
    { name: 'evidence', routes: evidenceRoutes(evidence, createTimeline(p)), notes: NOTES },
    { evidence },
  )
}
