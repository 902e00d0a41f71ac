// The renderer's worker thread; it lays out one document. The pictures that it opens were written by this service and
// have 320 pixels at most; media/decoder.ts decodes untrusted ones.

import { parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '#src/platform/priority.ts'
import { MAX_DECODED_PIXELS, openImage } from '../media/sharp.ts'
import { layOut, type Picture } from './document.ts'
import type { RendererAnswer, Rendering } from './renderer.ts'
import type { PictureMissing } from './sentences.ts'
import { findTypeface } from './typeface.ts'

// A picture of 320 pixels takes about 20 KB.
const QUALITY = 82

lowerThreadPriority()
const answer = await render(workerData as Rendering).catch(
  (error: unknown): RendererAnswer => ({
    failure: error instanceof Error ? (error.stack ?? error.message) : 'unknown',
  }),
)
parentPort?.postMessage(answer, 'pdf' in answer ? [answer.pdf.buffer as ArrayBuffer] : [])

async function render({ signed, pictures }: Rendering): Promise<RendererAnswer> {
  const drawn = new Map<string, Picture | PictureMissing>()
  for (const [mediaId, picture] of Object.entries(pictures)) {
    drawn.set(mediaId, typeof picture === 'string' ? picture : await toJpeg(picture))
  }
  const pdf = await layOut(signed, drawn, findTypeface())
  // A separate copy: a Buffer may lie in a pool that must not be transferred to another thread.
  return { pdf: new Uint8Array(pdf) }
}

// PDF does not support WebP.
async function toJpeg(webp: Uint8Array): Promise<Picture | PictureMissing> {
  try {
    const image = openImage(Buffer.from(webp), { maxPixels: MAX_DECODED_PIXELS })
    const { data, info } = await image
      .flatten({ background: '#ffffff' })
      .jpeg({ quality: QUALITY })
      .toBuffer({ resolveWithObject: true })
    return { jpeg: data, width: info.width, height: info.height }
  } catch {
    return 'unreadable'
  }
}
