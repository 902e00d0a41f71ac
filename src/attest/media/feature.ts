import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { DAY_MS, finishRule, HOUR_MS } from '#src/platform/retention.ts'
import { createC2paReader } from './c2pa.ts'
import { readTrustAnchors } from './c2pa-trust.ts'
import { createDecoder } from './decoder.ts'
import { createEraser } from './erase.ts'
import { createInspector } from './inspector.ts'
import { createMedia } from './media.ts'
import { mediaRoutes } from './routes.ts'

export type MediaFeature = ReturnType<typeof mediaFeature>

export interface MediaSettings {
  C2PA_TRUST_ANCHORS?: string | undefined
}

// A picture over the limits is its sender's affair, and the line names the request. Only a crash needs an operator.
const DECODER_ENDS = { idle: 'debug', slow: 'info', timeout: 'info', memory: 'info', crashed: 'warn' } as const
const UNREFERENCED_DAYS = 7
// As long as media without a reference. A database restored from a backup lacks the rows of what came after it: for these
// days its operator can still bring them back.
const STRAY_DAYS = 7

/** Uploaded photos and videos: their bytes, what parsers read in them, and their erasure. */
export function mediaFeature(p: Platform, { C2PA_TRUST_ANCHORS: anchors }: MediaSettings) {
  const inspector = createInspector()
  const decoder = createDecoder({
    onEnded: (ended) => p.log[DECODER_ENDS[ended.reason]](ended, 'a process that decodes pictures ended'),
  })
  const c2pa = createC2paReader({ anchors: () => (anchors === undefined ? [] : readTrustAnchors(anchors)) })
  p.onClose(() => inspector.close())
  p.onClose(() => c2pa.close())
  p.onClose(() => decoder.close())
  const eraser = createEraser(p)
  const media = createMedia({ ...p, inspector, decoder })
  const perTenant = { per: 'tenant', everyMs: HOUR_MS } as const
  return defineFeature(
    {
      name: 'media',
      routes: mediaRoutes(media),
      retention: [
        finishRule('erasures_of_media', eraser.finishUnfinished),
        { ...perTenant, what: 'unreferenced_media', days: UNREFERENCED_DAYS, purge: eraser.eraseUnreferenced },
        { ...perTenant, what: 'erased_media', days: null, purge: eraser.purgeErased },
        // Once a day: it lists the whole store.
        { ...perTenant, what: 'stray_blobs', everyMs: DAY_MS, days: STRAY_DAYS, purge: eraser.eraseStrays },
      ],
    },
    { media, eraser, inspector, c2pa, decoder },
  )
}
