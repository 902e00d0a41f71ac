// The renderer's worker thread; it lays out one document at a time. The pictures that it opens were written by this service and
// have 320 pixels at most; media/decoder.ts decodes untrusted ones.

import { parentPort } from 'node:worker_threads'
import { lowerThreadPriority } from '#src/platform/priority.ts'
import { MAX_DECODED_PIXELS, openImage } from '../media/sharp.ts'
import type { ThreadAnswer } from '../media/threads.ts'
import { layOut, type Picture } from './document.ts'
import type { Rendering } from './renderer.ts'
import type { PictureMissing } from './sentences.ts'
import { findTypeface } from './typeface.ts'

// A picture of 320 pixels takes about 20 KB.
const QUALITY = 82

const face = findTypeface()

lowerThreadPriority()
parentPort?.on('message', async (rendering: Rendering) => {
  try {
    const value = await render(rendering)
    answer({ op: 'done', inspection: { ok: true, value } }, [value.buffer])
  } catch (error) {
    const detail = error instanceof Error ? (error.stack ?? error.message) : 'unknown'
    answer({ op: 'done', inspection: { ok: false, code: 'unreadable', detail } })
  }
})
answer({ op: 'ready' })

function answer(message: ThreadAnswer<Uint8Array>, transferred: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transferred)
}

async function render({ signed, pictures }: Rendering): Promise<Uint8Array<ArrayBuffer>> {
  const drawn = new Map<string, Picture | PictureMissing>()
  for (const [mediaId, picture] of Object.entries(pictures)) {
    drawn.set(mediaId, typeof picture === 'string' ? picture : await toJpeg(picture))
  }
  const pdf = await layOut(signed, drawn, face)
  // A separate copy: a Buffer may lie in a pool that must not be transferred to another thread.
  return new Uint8Array(pdf)
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
