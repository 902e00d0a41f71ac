// The inside of the renderer: lays out the one document that it was started for.

import { parentPort, workerData } from 'node:worker_threads'
import { MAX_DECODED_PIXELS, openImage } from '../media/sharp.ts'
import { layOut, type Picture } from './document.ts'
import type { RendererAnswer, Rendering } from './renderer.ts'
import { findTypeface } from './typeface.ts'

// A picture of 320 pixels takes some 20 KB.
const QUALITY = 82

const answer = await render(workerData as Rendering).catch(
  (error: unknown): RendererAnswer => ({
    failure: error instanceof Error ? (error.stack ?? error.message) : 'unknown',
  }),
)
parentPort?.postMessage(answer, 'pdf' in answer ? [answer.pdf.buffer as ArrayBuffer] : [])

async function render({ signed, thumbnails }: Rendering): Promise<RendererAnswer> {
  const pictures = new Map<string, Picture>()
  for (const [mediaId, webp] of Object.entries(thumbnails)) {
    const picture = await toJpeg(webp)
    if (picture !== undefined) pictures.set(mediaId, picture)
  }
  const pdf = await layOut(signed, pictures, findTypeface())
  // A copy of its own: a Buffer may lie in a pool that must not be handed to another thread.
  return { pdf: new Uint8Array(pdf) }
}

// PDF has no WebP.
async function toJpeg(webp: Uint8Array): Promise<Picture | undefined> {
  try {
    const image = openImage(Buffer.from(webp), { maxPixels: MAX_DECODED_PIXELS })
    const { data, info } = await image
      .flatten({ background: '#ffffff' })
      .jpeg({ quality: QUALITY })
      .toBuffer({ resolveWithObject: true })
    return { jpeg: data, width: info.width, height: info.height }
  } catch {
    return undefined
  }
}
