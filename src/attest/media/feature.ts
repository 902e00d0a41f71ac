import { createReadAudit } from '#src/account/audit/reads.ts'
import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { DAY_MS, finishRule, HOUR_MS } from '#src/platform/retention.ts'
import { createC2paReader } from './c2pa.ts'
import { PUBLIC_AUTHORITIES, PUBLIC_SIGNERS, readTrustAnchors } from './c2pa-trust.ts'
import type { MediaSettings } from './config.ts'
import { createDecoder } from './decoder.ts'
import { createEraser } from './erase.ts'
import { createInspector } from './inspector.ts'
import { createMedia } from './media.ts'
import { NOTES } from './notes.ts'
import { mediaRoutes } from './routes.ts'

export type MediaFeature = ReturnType<typeof mediaFeature>

// A picture beyond the limits is its sender's fault, and the line names the request. Only a crash needs an operator.
const DECODER_ENDS = { idle: 'debug', slow: 'info', timeout: 'info', memory: 'info', crashed: 'warn' } as const
const UNREFERENCED_DAYS = 7
// Same time as for unreferenced media. After a restore from a backup, bytes that are newer than the backup have no row;
// within these days the operator can still recover them.
const STRAY_DAYS = 7

/** Uploaded photos and videos: their bytes, the facts that parsers read, and their erasure. */
export function mediaFeature(p: Platform, { C2PA_TRUST_ANCHORS: signers = PUBLIC_SIGNERS }: MediaSettings) {
  const inspector = createInspector()
  const decoder = createDecoder({
    onEnded: (ended) => p.log[DECODER_ENDS[ended.reason]](ended, 'decoder process ended'),
  })
  const c2pa = createC2paReader({
    anchors: () => readTrustAnchors(signers),
    authorities: () => readTrustAnchors(PUBLIC_AUTHORITIES),
  })
  p.onClose(() => inspector.close(), 'inspector')
  p.onClose(() => c2pa.close(), 'c2pa')
  p.onClose(() => decoder.close(), 'decoder')
  const eraser = createEraser(p)
  const media = createMedia({ ...p, inspector, decoder })
  const perTenant = { per: 'tenant', everyMs: HOUR_MS } as const
  return defineFeature(
    {
      name: 'media',
      data: [
        {
          table: 'media',
          key: ['id'],
          blobs: { sha256: 't.sha256', contentType: 't.content_type', where: "t.state = 'stored'" },
        },
      ],
      routes: mediaRoutes(media, createReadAudit(p)),
      notes: NOTES,
      retention: [
        finishRule('erasures_of_media', eraser.finishUnfinished),
        { ...perTenant, what: 'unreferenced_media', days: UNREFERENCED_DAYS, purge: eraser.eraseUnreferenced },
        { ...perTenant, what: 'erased_media', days: null, purge: eraser.purgeErased },
        // Once a day, because it lists the whole store.
        { ...perTenant, what: 'stray_blobs', everyMs: DAY_MS, days: STRAY_DAYS, purge: eraser.eraseStrays },
      ],
    },
    { media, eraser, inspector, c2pa, decoder },
  )
}
